// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_TRUE_SOURCES_HPP
#define KASTOR_SRC_IO_EVALUATION_TRUE_SOURCES_HPP

#include <cstdint>
#include <kastor/io/cross_match.hpp>
#include <kastor/io/evaluation.hpp>
#include <string>
#include <vector>

#include "io/evaluation/measured_values.hpp"

namespace kastor::io {
namespace detail {

/// A true source, in pixels and in the units of the truth.
struct TrueRow {
  std::size_t row = 0;  ///< in the file, from 0
  double x = 0, y = 0;
  double snr = 0;
  double peak_snr = 0;                 ///< peak over noise; the same as `snr` if that is not known
  double flux_int = 0, flux_peak = 0;  ///< NaN if there is none
  double major = 0, minor = 0;         ///< FWHM; NaN if there is none
  bool has_width = true;               ///< whether its shape has an FWHM
  bool wide_wings = false;             ///< a Moffat profile
  bool usable = false;                 ///< its pixel can be used
  bool isolated = false;
};

}  // namespace detail

struct Truth::State {
  std::string path;
  EvaluatedImage image;
  detail::FluxFrame frame;
  std::string beam_from;
  std::vector<detail::TrueRow> rows;  ///< without those that are left out
  std::int64_t left_out = 0;
  std::vector<std::uint8_t> usable;  ///< (ny, nx), 1 or 0
  std::int64_t usable_pixels = 0;
  double median_size = 0;    ///< [pixel]; NaN if there are no sizes
  double beam_fwhm = 0;      ///< of a circular beam of the same area [pixel]; 0 if not known
  std::string size_trouble;  ///< why there are no sizes; empty if there may be
  std::vector<std::string> notes;

  /// The index into `usable` of the pixel at a position; none outside of the image.
  [[nodiscard]] std::optional<std::size_t> pixel_at(double x, double y) const;
};

}  // namespace kastor::io

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_EVALUATION_EVALUATION_SUPPORT_HPP
#define KASTOR_TESTS_IO_EVALUATION_EVALUATION_SUPPORT_HPP

#include <cstdint>
#include <kastor/io/evaluation.hpp>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "fits_support.hpp"

/// Truths and catalogues as text, and their evaluation.
namespace evaluation_support {

using kastor::io::evaluate;
using kastor::io::EvaluatedImage;
using kastor::io::Evaluation;
using kastor::io::EvaluationParams;
using kastor::io::MeasuredQuantity;
using kastor::io::Truth;
using testing_support::ScratchDirectory;
using testing_support::write_bytes;

inline constexpr const char* truth_head =
    "x,y,flux_peak,flux_int,fwhm,minor,angle,shape,rms,snr,group\n";

inline std::string gaussian(double x, double y, double snr, int group = 0, double fwhm = 5) {
  return fmt::format("{},{},{},{},{},{},0,gaussian,1,{},{}\n", x, y, snr, 2 * snr, fwhm, fwhm, snr,
                     group);
}

/// 200 x 100 pixels; columns from 190 on are blank.
inline EvaluatedImage image_in(const std::string& unit = "Jy/beam") {
  EvaluatedImage image;
  image.ny = 100;
  image.nx = 200;
  image.unit = unit;
  image.row = [](std::int64_t y, std::span<double> values) {
    for (std::size_t x = 0; x < values.size(); ++x) {
      values[x] = x >= 190 ? std::numeric_limits<double>::quiet_NaN()
                           : ((x + static_cast<std::size_t>(y)) % 2 == 0 ? 1.0 : -1.0);
    }
  };
  return image;
}

/// The default parameters but for one.
template <class Value>
EvaluationParams with(Value EvaluationParams::*member, const std::type_identity_t<Value>& value) {
  EvaluationParams params;
  params.*member = value;
  return params;
}

struct Files {
  std::string truth, catalogue, inverted = {};
};

inline Evaluation evaluation_of(const Files& files, const EvaluationParams& params = {},
                                double min_snr = 0, const EvaluatedImage& image = image_in()) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("t.csv"), files.truth);
  write_bytes(scratch.file("c.csv"), files.catalogue);
  const Truth truth(scratch.file("t.csv"), image, min_snr);
  if (files.inverted.empty()) return evaluate(truth, {scratch.file("c.csv")}, nullptr, params);
  write_bytes(scratch.file("i.csv"), files.inverted);
  const kastor::io::EvaluatedCatalogue inverted{scratch.file("i.csv")};
  return evaluate(truth, {scratch.file("c.csv")}, &inverted, params);
}

inline const kastor::io::Measure& measure_of(const Evaluation& e, MeasuredQuantity quantity) {
  return e.measures.at(static_cast<std::size_t>(quantity));
}

}  // namespace evaluation_support

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_RAW_BEAM_HPP
#define KASTOR_SRC_IO_SKY_RAW_BEAM_HPP

#include <kastor/io/beam.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io::detail {

/// The numbers of a header or a table, unchecked.
struct RawBeam {
  std::optional<double> major;  // [deg]
  std::optional<double> minor;  // [deg]
  std::optional<double> angle;  // [deg]
  std::string found;            // a width that is no number, for messages: BMAJ is 'x'
};

/// Turns numbers into a usable beam; none, with a note, if they are not a beam. `where` completes
/// "the beam of ...".
[[nodiscard]] std::optional<Beam> usable_beam(const RawBeam& raw, const std::string& where,
                                              std::vector<std::string>& notes);

/// Whether the header says that each plane has its own beam, in a table BEAMS (CASAMBM = T). CASA
/// writes such images.
[[nodiscard]] bool has_many_beams(const std::vector<std::string>& header_cards);

}  // namespace kastor::io::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_BEAM_CARDS_HPP
#define KASTOR_APPS_FIND_BEAM_CARDS_HPP

#include <kastor/io/beam.hpp>
#include <kastor/io/header_card.hpp>
#include <vector>

namespace kastor::cli {

/// The beam that was used, wherever it comes from, for the header of a map.
inline std::vector<io::HeaderCard> beam_cards(const io::BeamReading& reading) {
  if (!reading.beam) return {};
  const io::Beam& beam = *reading.beam;
  return {{"BMAJ", beam.major_deg, "[deg] major axis of the beam, FWHM"},
          {"BMIN", beam.minor_deg, "[deg] minor axis of the beam, FWHM"},
          {"BPA", beam.position_angle_deg, "[deg] position angle, north through east"}};
}

}  // namespace kastor::cli

#endif

// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report_parts.hpp"

#include <cmath>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {

std::string unit_behind(const io::FitsImage& image) {
  return image.hdu.unit.empty() ? "" : " " + one_line(image.hdu.unit);
}

std::string size_text(const io::FitsImage& image) {
  std::string text =
      fmt::format("{}: {} columns x {} rows", one_line(name_of(image)), image.nx, image.ny);
  return image.plane ? text + fmt::format(", plane {}", *image.plane) : text;
}

std::string beam_text(const io::Beam& beam) {
  std::string text =
      fmt::format("beam {:.4g}\" x {:.4g}\"", beam.major_deg * 3600, beam.minor_deg * 3600);
  if (!std::isfinite(beam.position_angle_deg)) return text;
  return text + fmt::format(" at {:.4g} deg", beam.position_angle_deg);
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/options/photometry_options.hpp"

#include "cli/options/options.hpp"
#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {

void PhotometryOptionsParser::add_to(CommandLine& line) {
  line.heading("Photometry (--preset sextractor; weights also with radio)");
  line.real(
      "--gain", "G", {0, false, largest_real, "a finite number above 0"},
      [this](double gain) { m_given.gain = gain; },
      "Set the electrons per image unit, for the photon noise\n"
      "of the sources in the errors. Default: no photon\nnoise.");
  line.real(
      "--zero-point", "ZP", finite_range(), [this](double zero) { m_given.zero_point = zero; },
      "Set the magnitude of a flux_auto of 1, in the unit of\n"
      "that column, for the columns mag_auto and mag_err.\nDefault: no magnitudes.");
  line.value(
      "--weight", "FILE.fits", [this](const std::string& path) { m_weight = path; },
      "Use the relative weights in this image: the noise is\n"
      "that of the mesh times sqrt(median weight / weight).\n"
      "Pixels of weight 0 are excluded.");
  add_given_part(line, "--weight", m_weight_part);
  line.value(
      "--exposure", "FILE.fits", [this](const std::string& path) { m_exposure = path; },
      "The same with times of exposure as weights.");
  add_given_part(line, "--exposure", m_exposure_part);
}

PhotometryOptions PhotometryOptionsParser::resolved(bool has_rms) const {
  PhotometryOptions options = m_given;
  options.weight = given_file("--weight", m_weight, m_weight_part);
  const auto exposure = given_file("--exposure", m_exposure, m_exposure_part);
  if (options.weight && exposure)
    throw UsageError("--exposure: found with --weight; expected one of them");
  if (exposure) {
    options.weight = exposure;
    options.is_exposure = true;
  }
  if (options.weight && has_rms) {
    throw UsageError(
        fmt::format("{}: found with --rms, which gives the noise; expected one of "
                    "them (--rms-kind weight reads weights that are not relative)",
                    options.weight_option()));
  }
  return options;
}

std::string photometry_options_as_typed(const PhotometryOptions& options) {
  std::string text;
  if (options.gain) text += fmt::format(" --gain {}", *options.gain);
  if (options.zero_point) text += fmt::format(" --zero-point {}", *options.zero_point);
  if (options.weight) text += given_as_typed(options.weight_option(), *options.weight);
  return text;
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/options/detection_options.hpp"

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr const char* k_none = "none";
constexpr const char* k_sextractor = "sextractor";
/// A kernel of 127 pixels holds 8 standard deviations of this width [pixel].
constexpr double k_widest_filter = 37.38;

FilterKernel parse_filter_kernel(const std::string& text) {
  if (text == k_none) return NoFilter{};
  if (text == k_sextractor) return SextractorFilter{};
  if (text.empty()) {
    throw UsageError(
        "--filter-kernel: found ''; expected none, sextractor, a number or a FITS file");
  }
  if (!looks_like_a_number(text)) return FilterFile{text};
  return GaussianFilter{parse_real(
      "--filter-kernel", text, {0, false, k_widest_filter, "a width above 0, up to 37.38 pixels"})};
}

}  // namespace

std::string name_of(const FilterKernel& kernel) {
  if (const auto* file = std::get_if<FilterFile>(&kernel)) return file->path;
  if (const auto* gaussian = std::get_if<GaussianFilter>(&kernel))
    return fmt::format("{}", gaussian->fwhm);
  return std::holds_alternative<SextractorFilter>(kernel) ? k_sextractor : k_none;
}

void DetectionOptionsParser::add_to(CommandLine& line) {
  line.value(
      "--detect-image", "FILE.fits", [this](const std::string& path) { m_image = path; },
      "Find islands in this image of the same pixels, above\n"
      "its own background and noise, and measure them in\nIMAGE.");
  add_given_part(line, "--detect-image", m_part);
  line.value(
      "--filter-kernel", "KERNEL",
      [this](const std::string& text) { m_kernel = parse_filter_kernel(text); },
      "Find islands in the image correlated with KERNEL,\n"
      "above the noise that is left: none, the FWHM [pixel]\n"
      "of a Gaussian (best that of the stars), sextractor\n"
      "(the 3 x 3 pixels of that program), or a FITS image.\n"
      "Default: none (radio), 3 (sextractor).");
}

DetectionOptions DetectionOptionsParser::resolved(const FilterKernel& otherwise) const {
  DetectionOptions options;
  options.image = given_file("--detect-image", m_image, m_part);
  options.kernel = m_kernel.value_or(otherwise);
  return options;
}

std::string detection_as_typed(const DetectionOptions& options, bool filters) {
  std::string text;
  if (options.image) text += given_as_typed("--detect-image", *options.image);
  if (options.has_filter() || filters) text += " --filter-kernel " + name_of(options.kernel);
  return text;
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/options/component_options.hpp"

#include <algorithm>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr const char* k_no_components = "none";

/// Whether components are switched off. \throws UsageError if they are, and asked for
bool are_switched_off(const ComponentOptions& given, bool has_shape) {
  const auto& files = given.files;
  if (std::find(files.begin(), files.end(), k_no_components) == files.end()) return false;
  const char* other = files.size() > 1 ? "another --components"
                      : given.model    ? "--model"
                      : given.residual ? "--fit-residual"
                      : has_shape      ? "--shape"
                                       : nullptr;
  if (other == nullptr) return true;
  throw UsageError(
      fmt::format("--components: found none with {}; expected none alone, or a file", other));
}

}  // namespace

void ComponentOptionsParser::add_deblending_to(CommandLine& line) {
  line.heading("Deblending (--preset radio or sextractor)");
  line.choice(
      "--deblend", {"on", "off"}, [this](const std::string& word) { m_deblends = word == "on"; },
      "Split islands into the parts around their peaks, and\n"
      "measure each. The column parent_id names the island.\n"
      "Default: off (radio), on (sextractor).");
  line.real(
      "--deblend-contrast", "C", {0, true, 1, "a number from 0 to 1"},
      [this](double contrast) { m_contrast = contrast; },
      "Require the light of a peak, above the saddle to its\n"
      "neighbours, to be more than C times the island's.\n"
      "Default: 0 (radio), 0.005 (sextractor).");
  line.real(
      "--deblend-prominence", "P", {0, true, largest_real, "a finite number, 0 or more"},
      [this](double prominence) { m_prominence = prominence; },
      "Require a peak to be P times the local noise above\n"
      "that saddle. Default: 0 (radio; without a beam, whose\n"
      "noise has peaks of its own, 2), 4 (sextractor).");
}

void ComponentOptionsParser::add_components_to(CommandLine& line) {
  line.heading("Components (--preset radio or sextractor)");
  line.values("--components", "FILE|none", m_given.files,
              "Fit Gaussians to the islands and write their\n"
              "catalogue; suffixes and folders are those of -o, and\n"
              ".skymodel (BBS, DP3, LSMTool). May be repeated. none\n"
              "fits nothing. Default: radio fits them for the report,\n"
              "sextractor does not.");
  add_shape(line);
  line.value(
      "--model", "FILE.fits", [this](const std::string& path) { m_given.model = path; },
      "Write the sum of the components, without background.");
  line.value(
      "--fit-residual", "FILE.fits", [this](const std::string& path) { m_given.residual = path; },
      "Write the image less its background and components.");
}

void ComponentOptionsParser::add_fitting_to(CommandLine& line) {
  line.heading("Components (--preset radio or sextractor)");
  line.choice(
      "--components", {"on", "off"}, [this](const std::string& word) { m_fits = word == "on"; },
      "Fit Gaussians to the islands. Default: on (radio), off\n(sextractor).");
  add_shape(line);
}

void ComponentOptionsParser::add_shape(CommandLine& line) {
  line.choice(
      "--shape", {"free", "beam"},
      [this](const std::string& word) { m_has_beam_shape = word == "beam"; },
      "Fit the shapes of components, or fix them at that of\nthe beam. Default: free.", "free");
}

ComponentOptions ComponentOptionsParser::resolved(const ComponentDefaults& standard) const {
  ComponentOptions options = m_given;
  const bool is_off = are_switched_off(options, m_has_beam_shape.has_value());
  if (is_off) options.files.clear();
  options.reports = m_fits.value_or(standard.fits && !is_off);
  options.has_beam_shape = m_has_beam_shape.value_or(false);
  options.deblends = m_deblends.value_or(standard.deblends);
  options.contrast = m_contrast.value_or(standard.contrast);
  options.prominence = m_prominence ? m_prominence : standard.prominence;
  const bool fits = options.reports || options.are_asked_for();
  if (m_has_beam_shape && !fits) {
    throw UsageError(m_fits
                         ? "--shape: found with --components off; expected one of them"
                         : "--shape: found without components; expected --components, --model or "
                           "--fit-residual beside it");
  }
  if ((m_contrast || m_prominence) && !fits && !options.deblends) {
    throw UsageError(fmt::format(
        "--deblend-{}: found where islands are neither split nor fitted; expected --deblend on or "
        "--components beside it",
        m_contrast ? "contrast" : "prominence"));
  }
  return options;
}

std::string component_options_as_typed(const ComponentOptions& options, bool deblends) {
  std::string text;
  if (options.deblends || deblends)
    text += fmt::format(" --deblend {}", options.deblends ? "on" : "off");
  if (options.deblends || options.contrast > 0)
    text += fmt::format(" --deblend-contrast {}", options.contrast);
  const double given = options.prominence.value_or(0);
  if (options.deblends || given > 0) {
    text +=
        fmt::format(" --deblend-prominence {}", options.deblends ? options.used_prominence : given);
  }
  if (options.has_beam_shape) text += " --shape beam";
  return text;
}

}  // namespace kastor::cli

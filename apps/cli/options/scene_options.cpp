// SPDX-License-Identifier: Apache-2.0
#include "cli/options/scene_options.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr double largest_value = 1e30;  // no pixel overflows a float

constexpr std::array<std::pair<std::string_view, NoiseKind>, 4> noise_kinds = {
    {{"bell", NoiseKind::bell},
     {"beam", NoiseKind::beam},
     {"condon", NoiseKind::condon},
     {"white", NoiseKind::white}}};

using Where = Unobserved::Where;
constexpr std::array<std::pair<std::string_view, Where>, 3> unobserved_parts = {
    {{"circle", Where::outside_circle}, {"border", Where::border}, {"half", Where::half}}};

template <class Words>
std::vector<std::string> words_of(const Words& pairs) {
  std::vector<std::string> words;
  for (const auto& [word, value] : pairs) words.emplace_back(word);
  return words;
}

template <class Words>
auto value_of_word(const Words& pairs, std::string_view word) {
  for (const auto& [each, value] : pairs)
    if (each == word) return value;
  return pairs[0].second;
}

template <class Words, class Value>
std::string_view word_of(const Words& pairs, Value value) {
  for (const auto& [word, each] : pairs)
    if (each == value) return word;
  return "";
}

void take_gradient(const std::string& text, SkyParams& sky) {
  const auto comma = text.find(',');
  const auto x = whole_number<double>(text.substr(0, comma));
  const auto y =
      comma == std::string::npos ? std::nullopt : whole_number<double>(text.substr(comma + 1));
  if (!x || !y || !(std::abs(*x) <= largest_value) || !(std::abs(*y) <= largest_value)) {
    throw UsageError("--level-gradient: found '" + text + "'; expected two numbers, as in 1e-5,0");
  }
  sky.level_gradient_x = *x;
  sky.level_gradient_y = *y;
}

void add_noise_options(CommandLine& line, SkyParams& sky) {
  line.heading("Noise and sky level");
  line.choice(
      "--noise-kind", words_of(noise_kinds),
      [&sky](const std::string& word) { sky.noise_kind = value_of_word(noise_kinds, word); },
      "Set how the noise of neighbouring pixels is related:\n"
      "beam: its autocorrelation is the beam; condon: it is\n"
      "white noise convolved with the beam; white: not at\n"
      "all; bell: as beam, but faster, and rarely beyond 4\n"
      "standard deviations. Default: bell.",
      "bell");
  line.real(
      "--noise-gradient", "G", {0, true, 0.99, "a number from 0 to 0.99"},
      [&sky](double gradient) { sky.noise_gradient = gradient; },
      "Let the noise rise from 1-G times --noise at the left\n"
      "edge to 1+G times at the right one. Default: 0.",
      "0");
  line.real(
      "--level", "VALUE", {-largest_value, true, largest_value, "a number from -1e30 to 1e30"},
      [&sky](double level) { sky.level = level; },
      "Set the sky level in the middle of the image [unit of\nthe image]. Default: 0.", "0");
  line.value(
      "--level-gradient", "GX,GY", [&sky](const std::string& text) { take_gradient(text, sky); },
      "Let the level rise by GX a pixel to the right and by\nGY a pixel upwards. Default: 0,0.",
      "0,0");
}

void add_instrument_options(CommandLine& line, SkyParams& sky) {
  line.heading("Instrument");
  line.real(
      "--primary-beam", "FWHM", {2, true, largest_value, "a number from 2 to 1e30"},
      [&sky](double fwhm) { sky.primary_beam.fwhm = fwhm; },
      "Let a Gaussian primary beam of this FWHM [pixel] make\n"
      "sources fainter away from the middle.");
  line.flag("--primary-beam-corrected", sky.primary_beam.corrected,
            "Divide the primary beam out: true fluxes, and noise\nthat rises outwards.");
  line.real(
      "--bowls", "FRACTION", {0, true, 1, "a number from 0 to 1"},
      [&sky](double fraction) { sky.bowl_fraction = fraction; },
      "Put each source wider than two beams into a negative\n"
      "bowl that has this fraction of its flux. Default: 0.",
      "0");
  line.real(
      "--bowl-size", "FWHM", {2, true, 1e5, "a number from 2 to 1e5"},
      [&sky](double fwhm) { sky.bowl_fwhm = fwhm; },
      "Set the FWHM of the bowls [pixel]. Default: 100.", "100");
  line.real(
      "--gain", "G", {0, false, largest_value, "a number above 0 and up to 1e30"},
      [&sky](double gain) { sky.detector.gain = gain; },
      "Make an optical image [adu]: Poisson counts of the sky\n"
      "level and the sources, at G counts per adu, instead of\n"
      "--noise. --beam is the seeing.");
  line.real(
      "--read-noise", "R", {0, true, largest_value, "a number from 0 to 1e30"},
      [&sky](double noise) { sky.detector.read_noise = noise; },
      "Add the noise of the read-out [count]. Default: 0.", "0");
  line.choice(
      "--unobserved", words_of(unobserved_parts),
      [&sky](const std::string& word) {
        sky.unobserved.where = value_of_word(unobserved_parts, word);
      },
      "Leave pixels without data: outside of the largest\n"
      "circle, in a border of an eighth of the shorter side,\n"
      "or in the right half.");
  line.value(
      "--unobserved-value", "VALUE",
      [&sky](const std::string& text) {
        sky.unobserved.value = text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                             : parse_real("--unobserved-value", text,
                                                          {-largest_value, true, largest_value,
                                                           "nan, or a number from -1e30 to 1e30"});
      },
      "Set what these pixels hold. Default: nan.", "nan");
}

}  // namespace

void add_scene_options(CommandLine& line, SimulateOptions& options) {
  line.values("--add", "KIND:count=N[,...]", options.added,
              "Add sources of one kind; may be given several times,\n"
              "see below. Then --sources-per-mpx is 0 by default.");
  add_noise_options(line, options.sky);
  add_instrument_options(line, options.sky);
  line.check([&line, &options] {
    for (const auto& text : options.added) options.populations.push_back(parse_population(text));
    if ((line.given("--add") || line.given("--gain")) && !line.given("--sources-per-mpx"))
      options.sky.sources_per_mpx = 0;
    const SkyParams& sky = options.sky;
    const auto needs = [&](bool is_set, const char* option, const char* other) {
      if (is_set && !line.given(other))
        throw UsageError(std::string(option) + ": found no " + other + "; expected both");
    };
    needs(sky.detector.read_noise > 0, "--read-noise", "--gain");
    needs(!std::isnan(sky.unobserved.value), "--unobserved-value", "--unobserved");
    needs(sky.bowl_fwhm != SkyParams().bowl_fwhm, "--bowl-size", "--bowls");
    needs(sky.primary_beam.corrected, "--primary-beam-corrected", "--primary-beam");
    for (const char* option :
         {"--noise", "--noise-kind", "--noise-gradient", "--primary-beam-corrected"}) {
      if (line.given("--gain") && line.given(option))
        throw UsageError(std::string(option) +
                         ": found --gain, whose counts are the noise; expected one of them");
    }
    const bool dark =
        sky.detector.gain > 0 ? sky.level <= 0 && sky.detector.read_noise <= 0 : sky.noise <= 0;
    if (!options.populations.empty() && dark)
      throw UsageError("--add: found no noise, but an S/N of sources; expected noise above 0");
  });
}

std::string scene_as_typed(const SimulateOptions& options) {
  const SkyParams& sky = options.sky;
  const SkyParams standard;
  std::string text;
  for (const auto& added : options.added) text += " --add " + added;
  const auto add = [&text](const char* option, double value, double usual) {
    if (value != usual) text += fmt::format(" {} {}", option, value);
  };
  if (sky.noise_kind != standard.noise_kind)
    text += fmt::format(" --noise-kind {}", word_of(noise_kinds, sky.noise_kind));
  add("--noise-gradient", sky.noise_gradient, 0);
  add("--level", sky.level, 0);
  if (sky.level_gradient_x != 0 || sky.level_gradient_y != 0)
    text += fmt::format(" --level-gradient {},{}", sky.level_gradient_x, sky.level_gradient_y);
  add("--primary-beam", sky.primary_beam.fwhm, 0);
  if (sky.primary_beam.corrected) text += " --primary-beam-corrected";
  add("--bowls", sky.bowl_fraction, 0);
  add("--bowl-size", sky.bowl_fwhm, standard.bowl_fwhm);
  add("--gain", sky.detector.gain, 0);
  add("--read-noise", sky.detector.read_noise, 0);
  if (sky.unobserved.where != Where::nowhere) {
    text += fmt::format(" --unobserved {} --unobserved-value {}",
                        word_of(unobserved_parts, sky.unobserved.where), sky.unobserved.value);
  }
  return text;
}

}  // namespace kastor::cli

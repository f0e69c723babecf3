// SPDX-License-Identifier: Apache-2.0
#include "evaluate/evaluate_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/options/numbers.hpp"
#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr const char* list_of_numbers = "numbers that rise from 0 or more, as in 0,4,5,10";

/// Numbers between commas, 0 or more, each above the one before.
std::vector<double> parse_rising(const std::string& option, const std::string& text,
                                 const char* expected) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto fail = [&] {
      throw UsageError(option + ": found '" + text + "'; expected " + expected);
    };
    double number = 0;
    try {
      number = parse_real("", text.substr(at, comma - at), {0, true, largest_real, ""});
    } catch (const UsageError&) {
      fail();
    }
    if (!numbers.empty() && number <= numbers.back()) fail();
    numbers.push_back(number);
    at = comma + 1;
  }
  return numbers;
}

void add_evaluation(CommandLine& line, EvaluateOptions& options) {
  line.heading("Evaluation");
  line.value(
      "--truth", "FILE", [&options](const std::string& path) { options.truth = path; },
      "Compare with the true sources in this table, as\n'kastor simulate sky' writes it.");
  line.requires_option("--truth");
  line.values("--inverted", "CATALOGUE", options.inverted,
              "Count the false detections in this catalogue of the\n"
              "inverted image too. May be repeated, in the order of\nthe catalogues.");
  line.real(
      "--radius", "ARCSEC", {0, false, 648000, "a number above 0 and up to 648000"},
      [&options](double radius) { options.params.radius_arcsec = radius; },
      "Match within this radius on the sky [arcsec].");
  line.real(
      "--pixels", "PIXELS", {0, false, largest_real, "a finite number above 0"},
      [&options](double radius) { options.params.radius = radius; },
      "Match within this radius [pixel]. Default: half the\nmedian size of the true sources.");
  line.excludes("--radius", "--pixels");
  line.real(
      "--min-snr", "S", {0, true, largest_real, "a finite number, 0 or more"},
      [&options](double snr) { options.min_snr = snr; },
      "Leave out true sources below this S/N. Default: 0.", "0");
  line.value(
      "--pool", "LOW,HIGH",
      [&options](const std::string& text) {
        const char* expected = "two numbers, the first 0 or more and below the second";
        const auto pool = parse_rising("--pool", text, expected);
        if (pool.size() != 2) {
          throw UsageError("--pool: found '" + text + "'; expected " + expected);
        }
        options.params.pool_low = pool[0];
        options.params.pool_high = pool[1];
      },
      "Pool the measures of true sources of S/N LOW to below\nHIGH. Default: 10,50.", "10,50");
  line.value(
      "--bins", "LIST",
      [&options](const std::string& text) {
        options.params.bins = parse_rising("--bins", text, list_of_numbers);
      },
      "Set the limits of the bins of S/N, as in 0,4,5,10; the\n"
      "last bin is open. Default:\n"
      "0,2,3,3.5,4,4.5,5,5.5,6,7,8,10,15,20,30,50,100.",
      "0,2,3,3.5,4,4.5,5,5.5,6,7,8,10,15,20,30,50,100");
}

void add_output(CommandLine& line, EvaluateOptions& options) {
  line.heading("Output");
  line.value(
      "-o,--output", "FILE", [&options](const std::string& path) { options.output = path; },
      "Write the pairs of true and found sources; the suffix\n"
      "selects the format: .csv, .ecsv, .fits, .fit, .vot,\n"
      ".votable, .xml or .cat.");
  add_overwrite_flag(line, options.find.overwrite);
  add_json_flag(line, options.find.json);
  add_run_options(line, options.find.run);
}

/// A catalogue that exists is not searched for; but it says something of the image.
void refuse_search_options(const CommandLine& line) {
  constexpr std::array<std::string_view, 6> of_the_image = {"--seed",       "--mask", "--mask-hdu",
                                                            "--mask-plane", "--box",  "--beam"};
  auto names = IslandOptionsParser::search_names();
  for (const char* name : {"--preset", "--threshold", "--about", "--level", "--connectivity",
                           "--min-pixels", "--kappa", "--max-passes"})
    names.emplace_back(name);
  for (const auto& name : names) {
    const bool is_of_image =
        std::find(of_the_image.begin(), of_the_image.end(), name) != of_the_image.end();
    if (is_of_image || !line.given(name)) continue;
    throw UsageError(name +
                     ": found with CATALOGUE; expected it without, where it says how the image is "
                     "searched");
  }
}

void settle(const CommandLine& line, const IslandOptionsParser& islands, EvaluateOptions& options) {
  if (options.output) {
    (void)pairs_format(*options.output);
    if (options.catalogues.size() > 1) {
      throw UsageError(fmt::format("-o: found with {} catalogues; expected one at most",
                                   options.catalogues.size()));
    }
  }
  if (options.inverted.size() > options.catalogues.size()) {
    throw UsageError(
        fmt::format("--inverted: found {} for {} of the image; expected CATALOGUE for each",
                    options.inverted.size(), options.catalogues.size()));
  }
  if (!options.searches()) refuse_search_options(line);
  auto& find = options.find;
  find.images = {find.input.path};
  settle_islands(line, islands, find);
  settle_search(options);
  if (!options.searches() && line.given("--seed"))
    options.params.threshold = find.islands.find.seed;
}

}  // namespace

io::TableFormat pairs_format(const std::string& path) {
  if (const auto format = io::table_format_of(path)) return *format;
  throw UsageError("-o: found '" + path +
                   "', whose suffix names no format; expected .csv, .fits, .fit, .vot, "
                   ".votable, .xml, .ecsv or .cat");
}

void settle_search(EvaluateOptions& options) {
  auto& islands = options.find.islands;
  if (islands.preset == Preset::lesson) return;
  islands.find.negative = true;
  // Islands that are dropped for their size are not among those expected; nor is the noise of
  // another or of a filtered image known here.
  const auto& detection = islands.detection;
  const bool keeps_all = islands.find.min_pixels <= 1 && !islands.min_beams && !detection.image &&
                         !detection.has_filter();
  if (options.searches() && keeps_all) options.params.threshold = islands.find.seed;
}

bool parse_evaluate(Arguments arguments, EvaluateOptions& options) {
  CommandLine line("kastor evaluate",
                   "Test catalogues of an image against its true sources: completeness,\n"
                   "reliability, false detections, and bias, scatter and errors of the measures.\n"
                   "Without CATALOGUE, search the image as 'kastor find' does.\n");
  IslandOptionsParser islands(Preset::radio);
  line.positional("IMAGE", options.find.input.path, "FITS image in which the sources were found.");
  line.optional_positionals("CATALOGUE", options.catalogues,
                            "Catalogues of the image, by any program: FITS table,\n"
                            "VOTable, ECSV or CSV.");
  add_part_options(line, options.find.input.read);
  add_blank_option(line, options.find.input,
                   "Default: a constant that fills a part of the\nimage, which none switches off.");
  add_unit_option(line, options.find.unit);
  add_evaluation(line, options);
  add_find_options(line, options.find.find);
  islands.add_search_to(line);
  add_output(line, options);
  line.closing(
      "Rows and true sources are paired one to one as by 'kastor compare', in pixels of\n"
      "the image. Completeness and measures are those of isolated sources: none other\n"
      "within two beams or sizes, no group, not cut by an edge or a blank region. Their\n"
      "S/N is the true one. Unpaired rows near a true source are fragments of it, all\n"
      "others are false detections. These are counted in the inverted image, too:\n"
      "negative islands, or --inverted.\n"
      "\n"
      "Intervals hold 68.3 %: Wilson's for shares, Garwood's for counts. A pull is\n"
      "(measured - true) / error; its width is 1 if errors are right. --seed with\n"
      "CATALOGUE says at which threshold it was made, for the false detections that\n"
      "noise leads to expect. With CATALOGUE, --mask and --box limit where sources\n"
      "count, and --beam replaces the header's; other options of the search are\n"
      "refused.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky --noise-kind beam -o sky.fits\n"
      "  kastor evaluate sky.fits --truth sky_truth.csv\n"
      "  kastor find sky.fits --preset radio --negative -o found.fits\n"
      "  kastor evaluate sky.fits found.fits --truth sky_truth.csv --json");
  line.check([&] { settle(line, islands, options); });
  return line.parse(arguments);
}

/// With CATALOGUE: where sources count, and the threshold of the catalogue.
std::string image_options_as_typed(const IslandOptions& islands,
                                   const io::EvaluationParams& params) {
  std::string text;
  if (islands.mask) text += given_as_typed("--mask", *islands.mask);
  if (const auto& box = islands.box)
    text += fmt::format(" --box {},{},{},{}", box->x_min, box->x_max, box->y_min, box->y_max);
  if (islands.beam) text += " --beam " + *islands.beam;
  if (params.threshold) text += fmt::format(" --seed {}", *params.threshold);
  return text;
}

std::string evaluate_options_as_typed(const EvaluateOptions& options) {
  std::string text = "kastor evaluate" + input_options_as_typed(options.find.input);
  if (options.find.unit) text += " --unit " + *options.find.unit;
  for (const auto& catalogue : options.catalogues) text += " " + catalogue;
  text += " --truth " + options.truth;
  for (const auto& catalogue : options.inverted) text += " --inverted " + catalogue;
  const auto& params = options.params;
  if (params.radius_arcsec) text += fmt::format(" --radius {}", *params.radius_arcsec);
  if (params.radius) text += fmt::format(" --pixels {}", *params.radius);
  text +=
      fmt::format(" --min-snr {} --pool {},{}", options.min_snr, params.pool_low, params.pool_high);
  if (!options.searches()) return text + image_options_as_typed(options.find.islands, params);
  return text + " " +
         (options.find.islands.preset == Preset::lesson
              ? find_options_as_typed(options.find.find)
              : island_options_as_typed(options.find.islands));
}

}  // namespace kastor::cli

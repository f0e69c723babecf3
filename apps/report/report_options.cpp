// SPDX-License-Identifier: Apache-2.0
#include "report/report_options.hpp"

#include <algorithm>
#include <cctype>

#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

bool names_a_page(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return path.ends_with(".html") || path.ends_with(".htm");
}

void add_catalogues(CommandLine& line, ReportOptions& options) {
  line.heading("Other catalogues");
  line.value(
      "--truth", "CATALOGUE", [&options](const std::string& path) { options.truth = path; },
      "Show completeness, reliability and errors against the\n"
      "true sources in this table, as by 'kastor evaluate'.");
  line.value(
      "--reference", "CATALOGUE", [&options](const std::string& path) { options.reference = path; },
      "Show flux ratios and offsets from this catalogue of\n"
      "the same sky, by any program, as by 'kastor compare'.");
  add_match_options(line, options.match);
}

void add_page(CommandLine& line, ReportOptions& options) {
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.html", [&options](const std::string& path) { options.page = path; },
      "Write the page: one HTML file that loads nothing.");
  line.requires_option("-o");
  line.value(
      "--python", "PATH", [&options](const std::string& path) { options.python = path; },
      "Use this interpreter, which has astropy, matplotlib\n"
      "and Jinja2. Default: the environment variable\nKASTOR_PYTHON, else python3.");
  add_overwrite_flag(line, options.find.overwrite);
  add_run_options(line, options.find.run);
}

void settle_report(const CommandLine& line, const IslandOptionsParser& islands,
                   ReportOptions& options) {
  if (!options.page.empty() && !names_a_page(options.page)) {
    throw UsageError("-o: found '" + options.page +
                     "', whose suffix names no format; expected .html or .htm");
  }
  if (options.match.radius && !options.truth && !options.reference) {
    const std::string name = line.given("--radius") ? "--radius" : "--pixels";
    throw UsageError(name +
                     ": found without a catalogue to match; expected --truth or "
                     "--reference beside it");
  }
  options.find.images = {options.find.input.path};
  settle_islands(line, islands, options.find);
}

}  // namespace

bool parse_report(Arguments arguments, ReportOptions& options) {
  CommandLine line(
      "kastor report",
      "Search an image as 'kastor find' does, and write a page about it: the sky with\n"
      "its sources, background and noise, counts, and how it was made.\n");
  IslandOptionsParser islands(Preset::radio);
  line.positional("IMAGE", options.find.input.path,
                  "FITS image: plain, .gz, .bz2 or tile-compressed.");
  add_part_options(line, options.find.input.read);
  add_blank_option(line, options.find.input,
                   "Default: a constant that fills a part of the\n"
                   "image, which none switches off; with --preset lesson\nnone.");
  add_unit_option(line, options.find.unit);
  add_catalogues(line, options);
  add_find_options(line, options.find.find);
  islands.add_report_to(line);
  add_page(line, options);
  line.closing(
      "The page is drawn by Python, which kastor starts, with matplotlib and astropy.\n"
      "It asks no network, and neither does the page. Temporary files, among them the\n"
      "maps of background and noise, go to TMPDIR, else to /tmp.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky --noise-kind beam -o sky.fits\n"
      "  kastor report sky.fits --truth sky_truth.csv -o sky.html\n"
      "  kastor report sky.fits --preset sextractor --cell 32 -o other.html");
  line.check([&] { settle_report(line, islands, options); });
  return line.parse(arguments);
}

std::vector<std::string> ReportOptions::inputs() const {
  auto files = given_files_of(find);
  files.push_back(find.input.path);
  for (const auto& catalogue : {truth, reference})
    if (catalogue) files.push_back(*catalogue);
  return files;
}

EvaluateOptions ReportOptions::evaluation() const {
  EvaluateOptions options;
  options.truth = truth.value();
  options.find = find;
  options.find.json = true;
  options.find.islands.components = {};
  options.output = "pairs.fits";
  (match.frame == io::MatchFrame::sky ? options.params.radius_arcsec : options.params.radius) =
      match.radius;
  settle_search(options);
  return options;
}

CompareOptions ReportOptions::comparison(const std::string& found) const {
  CompareOptions options;
  options.catalogues[0].path = reference.value();
  options.catalogues[1].path = found;
  options.params = match;
  options.output = "matches.fits";
  options.json = true;
  return options;
}

}  // namespace kastor::cli

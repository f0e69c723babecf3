// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.hpp"

#include <algorithm>
#include <kastor/io/catalogue_comparison.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/table_writer.hpp>
#include <kastor/version.hpp>
#include <string>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "compare/comparison_report.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

/// Parses "ra=RAJ2000,dec=DEJ2000,origin=1".
io::ColumnNames parse_columns(const std::string& option, const std::string& text) {
  io::ColumnNames columns;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    at = comma + 1;
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const auto fail = [&](const std::string& found) {
      throw UsageError(option + ": found " + found +
                       "; expected a list such as ra=RAJ2000,dec=DEJ2000, with keys among id, ra, "
                       "dec, x, y, flux_peak, flux_int, flux_sum, snr, rms, size and origin");
    };
    if (value.empty()) fail("'" + item + "'");
    if (key == "origin") {
      if (columns.pixel_origin) fail("origin twice");
      if (value != "0" && value != "1") fail("'" + item + "', where origin is 0 or 1");
      columns.pixel_origin = value == "1" ? 1 : 0;
      continue;
    }
    const auto quantity = io::source_quantity_named(key);
    if (!quantity) fail("'" + item + "'");
    if (!columns.names.emplace(*quantity, value).second) fail(key + " twice");
  }
  return columns;
}

void add_columns_option(CommandLine& line, const std::string& name, ComparedCatalogue& catalogue,
                        const std::string& help) {
  line.value(
      name, "LIST",
      [name, &catalogue](const std::string& text) {
        catalogue.columns = parse_columns(name, text);
        catalogue.columns_as_typed = text;
      },
      help);
}

void add_selection(CommandLine& line, const std::string& number, io::Selection& selection) {
  line.real(
      "--min-flux" + number, "F", finite_range(),
      [&selection](double flux) { selection.min_flux = flux; },
      "Select rows of CAT" + number +
          " with a flux of F or more\n(peak, else integrated, else sum).");
  line.real(
      "--min-snr" + number, "S", finite_range(),
      [&selection](double snr) { selection.min_snr = snr; },
      "Select rows of CAT" + number + " with an S/N of S or more.");
}

io::TableFormat matches_format(const std::string& path) {
  const auto format = io::table_format_of(path);
  if (!format) {
    throw UsageError("-o: found '" + path +
                     "', whose suffix names no format; expected .csv, .fits, .fit, .vot, "
                     ".votable, .xml, .ecsv or .cat");
  }
  return *format;
}

bool parse(Arguments arguments, CompareOptions& options) {
  CommandLine line("kastor compare",
                   "Match the sources of two catalogues and print completeness, reliability,\n"
                   "position offsets and flux ratios. CAT1 is the reference (the truth), CAT2 the\n"
                   "catalogue to test.\n");
  line.positional("CAT1", options.catalogues[0].path,
                  "The reference: FITS table, VOTable, ECSV or CSV.");
  line.positional("CAT2", options.catalogues[1].path, "The catalogue to test.");
  line.heading("Input");
  add_columns_option(line, "--columns1", options.catalogues[0],
                     "Name the columns of CAT1, as in\nra=RAJ2000,dec=DEJ2000; see below.");
  add_columns_option(line, "--columns2", options.catalogues[1], "Name the columns of CAT2.");
  line.heading("Matching");
  add_match_options(line, options.params);
  line.heading("Selection");
  add_selection(line, "1", options.params.select[0]);
  add_selection(line, "2", options.params.select[1]);
  line.heading("Output");
  line.value(
      "-o,--output", "FILE", [&options](const std::string& path) { options.output = path; },
      "Write the matched pairs; the suffix selects the\n"
      "format: .csv, .ecsv, .fits, .fit, .vot, .votable, .xml\nor .cat.");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Each source has at most one partner: the two closest sources of all are the\n"
      "first pair, the two closest of those left the next, within the radius. The\n"
      "default radius is half the median size (FWHM) of the sources in CAT1, else in\n"
      "CAT2, else 5 arcsec or 3 pixels. Positions are compared on the sky if both\n"
      "catalogues have sky positions, else in pixels.\n"
      "\n"
      "Columns are recognised by the names that Kastor, Aegean, PyBDSF, Selavy,\n"
      "SExtractor, SEP, photutils, Gaia, SIMBAD and VizieR give them. The keys of LIST\n"
      "are id, ra, dec, x, y, flux_peak, flux_int, flux_sum (of pixels), snr, rms and\n"
      "size; origin=1 means that x and y count from 1. Units are those of the file, but\n"
      "fluxes in Jy, mJy and so on are selected and compared in Jy. Sizes count only if\n"
      "their unit is known. Sexagesimal text is hours in right ascension and degrees in\n"
      "declination. Galactic positions are converted; those of B1950 only match others\n"
      "of B1950. Rows without a position are counted and left out. Rows count from 0.\n"
      "\n"
      "Offsets and flux ratios are given by their median and sigma, which is 1.4826\n"
      "times the median absolute deviation.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o found.csv\n"
      "  kastor compare sky_truth.csv found.csv\n"
      "  kastor compare sky_truth.csv found.csv --min-flux1 0.1 -o matches.csv");
  line.check([&] {
    if (options.output) (void)matches_format(*options.output);
  });
  return line.parse(arguments);
}

std::string options_as_typed(const CompareOptions& options) {
  std::string text = "kastor compare";
  for (const auto& catalogue : options.catalogues) text += " " + catalogue.path;
  const auto& params = options.params;
  if (params.radius) {
    text += fmt::format(" --{} {}", params.frame == io::MatchFrame::sky ? "radius" : "pixels",
                        *params.radius);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& columns = options.catalogues[i].columns_as_typed;
    const auto& select = params.select[i];
    if (!columns.empty()) text += fmt::format(" --columns{} {}", i + 1, columns);
    if (select.min_flux) text += fmt::format(" --min-flux{} {}", i + 1, *select.min_flux);
    if (select.min_snr) text += fmt::format(" --min-snr{} {}", i + 1, *select.min_snr);
  }
  return text;
}

}  // namespace

void add_match_options(CommandLine& line, io::ComparisonParams& params) {
  line.real(
      "--radius", "ARCSEC", {0, false, 648000, "a number above 0 and up to 648000"},
      [&params](double radius) {
        params.frame = io::MatchFrame::sky;
        params.radius = radius;
      },
      "Match on the sky, within this radius [arcsec].");
  line.real(
      "--pixels", "PIXELS", {0, false, largest_real, "a finite number above 0"},
      [&params](double radius) {
        params.frame = io::MatchFrame::pixels;
        params.radius = radius;
      },
      "Match in pixels, within this radius [pixel].");
  line.excludes("--radius", "--pixels");
}

std::string compare_catalogues(Session& session, const CompareOptions& options,
                               const std::string& pairs) {
  const auto& [reference, tested] = options.catalogues;
  session.steps().begin("read");
  const auto first = io::read_source_list(reference.path, reference.columns);
  const auto second = io::read_source_list(tested.path, tested.columns);
  session.steps().end();

  session.steps().begin("match");
  const auto comparison = io::compare_catalogues(first, second, options.params);
  session.steps().end();

  if (options.output) {
    const ScopedStep step(session.steps(), "write");
    io::Provenance provenance;
    provenance.version = version();
    provenance.command_line = options_as_typed(options);
    io::write_table(pairs, matches_format(*options.output),
                    io::matches_table(first, second, comparison), provenance);
  }
  return options.json ? comparison_json(first, second, comparison)
                      : comparison_text(first, second, comparison);
}

void run_compare(Arguments arguments) {
  CompareOptions options;
  if (!parse(arguments, options)) return;
  const auto& [reference, tested] = options.catalogues;
  io::OutputSet outputs;
  std::string temporary;
  if (options.output) {
    temporary = outputs.add(*options.output, overwrite_policy(options.overwrite),
                            {reference.path, tested.path});
  }

  Session session(options.run);
  const std::string text = compare_catalogues(session, options, temporary);
  session.end_progress();
  print_result(text);
  outputs.commit();
  session.close(options.output && !options.json ? wrote_note({*options.output}) : "", 0);
}

}  // namespace kastor::cli

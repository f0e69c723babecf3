// SPDX-License-Identifier: Apache-2.0
// Writes tables, region files and maps with awkward content into the folder given, and what they
// hold, as written by no code of Kastor, into samples.json.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/regions_writer.hpp>
#include <kastor/io/table_writer.hpp>
#include <kastor/io/wcs.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "header_examples.hpp"

namespace {

using nlohmann::json;
using namespace kastor::io;

using Doubles = std::numeric_limits<double>;
using Integers = std::numeric_limits<std::int64_t>;

const Provenance k_provenance = {
    .version = "1.2.3",
    .command_line = "kastor find \"a & b\" <c> --about 'median'; circle(1,2,3) {x} \xc3\xa9",
    .input = "/data/it's a \"sky\" & more, \xe6\x98\x9f.fits",
    .input_datasum = 4294967295u,
    .input_hdu = 2,
    .unit = "Jy/beam"};

constexpr const char* rotated_header =
    "CTYPE1  = 'RA---SIN'\nCTYPE2  = 'DEC--SIN'\nCTYPE3  = 'FREQ    '\n"
    "CRVAL1  = 266.4168333333333\nCRVAL2  = -29.00780555555556\nCRVAL3  = 1.4E9\n"
    "CRPIX1  = 2.5\nCRPIX2  = 1.5\nCDELT1  = -0.01\nCDELT2  = 0.01\n"
    "PC1_1   = 0.8\nPC1_2   = -0.6\nPC2_1   = 0.6\nPC2_2   = 0.8\n"
    "RADESYS = 'FK5     '\nEQUINOX = 2000.0\nBMAJ    = 0.02\nBMIN    = 0.01\nBPA     = 30.0\n"
    "BUNIT   = 'JY/BEAM '\nBTYPE   = 'Intensity'\nOBJECT  = 'Sgr A'\n";

std::vector<std::string> rotated_cards() {
  std::istringstream lines(rotated_header);
  std::vector<std::string> cards;
  for (std::string card; std::getline(lines, card);) {
    card.resize(80, ' ');
    cards.push_back(card);
  }
  return cards;
}

constexpr std::pair<const char*, SkyFrame> frames[] = {{"icrs", SkyFrame::icrs},
                                                       {"fk5", SkyFrame::fk5},
                                                       {"fk4", SkyFrame::fk4},
                                                       {"galactic", SkyFrame::galactic},
                                                       {"ecliptic", SkyFrame::ecliptic}};

Table awkward_table() {
  return {
      "islands",
      "A table with all that <tables> & their \"readers\" dislike: it's long, too; \xc3\xa9",
      {{"id", "", "meta.id;meta.main", "number",
        std::vector<std::int64_t>{1, -1, 0, Integers::max(), Integers::min(), 9007199254740993}},
       {"ra", "deg", "pos.eq.ra;meta.main", "right ascension",
        std::vector<double>{0.1, 359.99999999999994, Doubles::quiet_NaN(), 1e-300,
                            Doubles::denorm_min(), 266.41683333333333}},
       {"flux", "Jy/beam", "phot.flux.density", "peak, \"quoted\" & <tagged>; it's \\ #1",
        std::vector<double>{1.0 / 3.0, Doubles::infinity(), -Doubles::infinity(), -0.0,
                            Doubles::max(), Doubles::epsilon()}},
       {"name", "", "meta.id", "",
        std::vector<std::string>{"J1745-2900", "comma, \"quotes\" and it's", "", "# hash",
                                 "<b>&amp;</b> ]]> \\n {x: 1}", std::string(300, 'x') + ";"}},
       {"note", "", "", "beyond ASCII",
        std::vector<std::string>{"\xc3\xa9toile", "\xce\xb1 Cen", "\xe6\x98\x9f",
                                 "\xf0\x9f\x94\xad", "nan", "plain"}},
       {"blank", "", "", "blanks at the ends",
        std::vector<std::string>{" a", "b ", " ", "", "a  b", "\t\n"}}},
      SkyFrame::icrs};
}

Table empty_table() {
  Table table = awkward_table();
  for (TableColumn& column : table.columns)
    std::visit([](auto& values) { values.clear(); }, column.values);
  table.description.clear();
  return table;
}

Table one_string_column() {
  return {"names", "", {{"name", "", "", "", std::vector<std::string>{"", "a", ""}}}};
}

kastor::Catalogue some_sources() {
  return {{1, 0.1, 1.0 / 3.0, 1e-300, 12345.678, 0, 1, 2, 3, 4, 5, 6},
          {2, Doubles::quiet_NaN(), -7.5, -0.0, Doubles::max(), 2147483647, -1, 9007199254740993, 8,
           9, 10, 11}};
}

/// A pair in an island, a point, and a row without a measurement, in a rotated image.
Table some_components() {
  constexpr double nan = Doubles::quiet_NaN();
  kastor::Components components(4);
  for (std::size_t i = 0; i < components.size(); ++i) {
    auto& c = components[i];
    c.id = c.group_id = static_cast<std::int64_t>(i) + 1;
    c.island_id = i < 2 ? 1 : c.id;
    c.gaussian = {
        3.0 - static_cast<double>(i), 40.0 + 3.0 * static_cast<double>(i), 50, 0.3, 0.1, 0.4};
    for (std::size_t k = 0; k < 6; ++k) c.covariance[7 * k] = 1e-4;
    c.rms = 0.1;
    c.n_pix = 47;
    c.group_size = 1;
  }
  components[2].flags = kastor::component_beam_shape;
  components[3].gaussian = {nan, nan, nan, nan, nan, nan};
  const Wcs wcs(rotated_cards(), {1, 2});
  TableParams params;
  params.wcs = &wcs;
  params.beam.beam = Beam{0.02, 0.01, 30};
  params.beam.origin = BeamOrigin::header;
  params.unit = "Jy/beam";
  params.frequency = 1.4e9;
  params.name_prefix = "KASTOR";
  return component_table(components, params).table;
}

json values_of(const std::vector<std::int64_t>& values) { return values; }
json values_of(const std::vector<std::string>& values) { return values; }
/// As bits, so that no text stands between.
json values_of(const std::vector<double>& values) {
  json bits = json::array();
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

json json_of(const Table& table) {
  constexpr std::array<const char*, 3> types = {"int64", "float64", "string"};
  json columns = json::array();
  for (const TableColumn& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"unit", column.unit},
                       {"ucd", column.ucd},
                       {"description", column.description},
                       {"type", types[column.values.index()]},
                       {"values", std::visit([](const auto& values) { return values_of(values); },
                                             column.values)}});
  }
  return {{"name", table.name}, {"description", table.description}, {"columns", columns}};
}

void write_tables(const std::string& folder, json& samples) {
  for (const auto& [stem, table] :
       {std::pair{"awkward", awkward_table()}, std::pair{"empty", empty_table()},
        std::pair{"names", one_string_column()}, std::pair{"components", some_components()}}) {
    for (const char* ending : {".fits", ".vot", ".ecsv", ".csv"}) {
      const std::string path = folder + "/" + stem + ending;
      write_table(path, table_format_of(path).value(), table, k_provenance);
    }
    samples["tables"][stem] = json_of(table);
  }
  for (const char* ending : {".fits", ".vot", ".ecsv", ".csv"}) {
    const std::string path = folder + "/catalogue" + ending;
    write_catalogue(path, table_format_of(path).value(), some_sources(), k_provenance);
  }
  samples["tables"]["catalogue"] = json_of(catalogue_table(some_sources(), k_provenance.unit));
  for (const auto& [name, frame] : frames) {
    Table table = awkward_table();
    table.frame = frame;
    for (const char* ending : {".vot", ".ecsv", ".fits"}) {
      const std::string path = folder + "/frame_" + name + ending;
      write_table(path, table_format_of(path).value(), table, k_provenance);
    }
  }
}

std::vector<Region> some_regions(bool sky) {
  const double nan = Doubles::quiet_NaN();
  return {{sky ? 83.633 : 40.0, sky ? 22.0145 : 50.0, 30.0, 10.0, 45.0, "1"},
          {sky ? 0.0 : 0.0, sky ? -89.5 : 0.0, 1.5, 1.25, -30.0, "J0000-8930 it's {one}; #2"},
          {nan, 1.0, 2.0, 1.0, 0.0, "nowhere"},
          {sky ? 359.999999999 : 1e5, sky ? 45.0 : 12.25, nan, nan, nan, "a point, [x=1]"},
          {sky ? 12.5 : 3.0, sky ? 0.0 : 4.0, 5.0, 4.0, 170.0, ""}};
}

void write_region_files(const std::string& folder, json& samples) {
  for (const char* ending : {".reg", ".crtf"}) {
    const auto write = [&](const std::string& stem, std::optional<SkyFrame> frame) {
      const std::string path = folder + "/" + stem + ending;
      write_regions(path, region_format_of(path).value(), some_regions(frame.has_value()), frame,
                    k_provenance);
      write_regions(folder + "/no_" + stem + ending, region_format_of(path).value(), {}, frame, {});
    };
    for (const auto& [name, frame] : frames) write(name, frame);
    write("image", std::nullopt);
  }
  for (const bool sky : {true, false}) {
    json regions = json::array();
    for (const Region& region : some_regions(sky)) {
      if (!std::isfinite(region.x)) continue;
      regions.push_back({{"x", region.x},
                         {"y", region.y},
                         {"semi_major", region.semi_major},
                         {"semi_minor", region.semi_minor},
                         {"angle", region.angle},
                         {"text", region.text}});
    }
    samples["regions"][sky ? "sky" : "image"] = regions;
  }
}

/// The noise and the signal-to-noise ratio of an image, with its coordinates.
void write_maps(const std::string& folder, json& samples) {
  const auto input = rotated_cards();
  const auto cards = kept_cards(input, {1, 2});
  const std::vector<double> rms = {1e-3, 2e-3, Doubles::quiet_NaN(), 1.0 / 3.0, 0.0, 1e-300};
  const std::vector<float> snr = {-5.5f, 3.0f, std::numeric_limits<float>::quiet_NaN(),
                                  1e30f, 0.1f, -0.0f};
  write_image(folder + "/rms.fits", PixelRows<double>{rms.data(), 2, 3, 3}, cards, k_provenance,
              {{"BTYPE", std::string("noise"), "kind of map"}});
  Provenance none = k_provenance;
  none.unit.clear();
  write_image(folder + "/snr.fits", PixelRows<float>{snr.data(), 2, 3, 3}, cards, none,
              {{"BTYPE", std::string("signal-to-noise"), "kind of map"}});
  samples["maps"] = {{"input", input},
                     {"rms", values_of(rms)},
                     {"snr", values_of(std::vector<double>(snr.begin(), snr.end()))}};
}

/// Headers in many forms: the cards that go into outputs, and positions by the input's own.
void write_headers(json& samples) {
  const std::vector<PixelPosition> pixels{{99, 79}, {0, 0}, {49, 120}, {150.5, 30.25}, {199, 159}};
  for (const auto& [name, text] : testing_support::header_examples()) {
    const auto cards = testing_support::cards_of(text);
    json positions = json::array();
    const auto sky = Wcs(cards, {1, 2}).to_sky(pixels);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      positions.push_back({pixels[i].x, pixels[i].y, sky[i].longitude, sky[i].latitude});
    samples["headers"][name] = {
        {"input", cards}, {"kept", kept_cards(cards, {1, 2})}, {"positions", positions}};
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::cerr << "kastor_samples: found " << count - 1 << " arguments; expected a folder\n";
    return 2;
  }
  const std::string folder = arguments[1];
  json samples;
  samples["provenance"] = {{"version", k_provenance.version},
                           {"options", k_provenance.command_line},
                           {"input", k_provenance.input},
                           {"datasum", k_provenance.input_datasum},
                           {"hdu", k_provenance.input_hdu}};
  write_tables(folder, samples);
  write_region_files(folder, samples);
  write_maps(folder, samples);
  write_headers(samples);
  std::ofstream(folder + "/samples.json") << samples;
  return 0;
} catch (const std::exception& error) {
  std::cerr << "kastor_samples: " << error.what() << '\n';
  return 1;
}

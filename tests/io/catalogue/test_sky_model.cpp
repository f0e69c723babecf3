// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/provenance_check.hpp>
#include <kastor/io/sky_model.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "component_support.hpp"
#include "fits_support.hpp"
#include "io/sky/sexagesimal_text.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace component_support;
using kastor::io::Table;
using kastor::io::write_sky_model;
using testing_support::contains;
using testing_support::error_of;
using testing_support::Header;
using testing_support::k_nan;
using testing_support::read_all;
using testing_support::real_value;
using testing_support::ScratchDirectory;

std::vector<std::string> lines_of(const Table& table) {
  const ScratchDirectory scratch;
  kastor::io::Provenance provenance;
  provenance.command_line = "--format x";  // no reader may take it as the line of the names
  write_sky_model(scratch.file("a"), table, provenance);
  std::vector<std::string> lines;
  std::istringstream stream(read_all(scratch.file("a")));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');)
    fields.push_back(field.substr(field.find_first_not_of(' ')));
  return fields;
}

/// One that is resolved, one of the beam's shape, one without a position.
Components resolved_and_point() {
  Components list = {ellipse(9, 6.5, 20), fixed_shape(ellipse(5, 4, 0)), ellipse(9, 6, 0)};
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].id = static_cast<std::int64_t>(i) + 5;
    list[i].island_id = 3;
  }
  list[1].flags = kastor::component_beam_shape;
  list[2].gaussian.x = k_nan;
  return list;
}

TEST(SkyModel, HasOneLineForEachComponent) {
  auto params = params_of(10, 8, 30);
  params.frequency = 1.4e9;
  const auto table = table_on({}, resolved_and_point(), params).table;
  auto lines = lines_of(table);
  EXPECT_EQ(lines.front(),
            "FORMAT = Name, Type, Ra, Dec, I, MajorAxis, MinorAxis, Orientation, "
            "OrientationIsAbsolute='true', ReferenceFrequency='1400000000', SpectralIndex='[]'");
  std::string left_out;
  while (lines[1].starts_with("#")) {
    if (lines[1].starts_with("# left out")) left_out = lines[1];
    lines.erase(lines.begin() + 1);
  }
  EXPECT_EQ(left_out, "# left out, without a position, a flux or a shape: 1");
  ASSERT_EQ(lines.size(), 3u);
  const auto gaussian = fields_of(lines[1]);
  ASSERT_EQ(gaussian.size(), 11u);
  EXPECT_EQ(gaussian[0], "i3_c5");
  EXPECT_EQ(gaussian[1], "GAUSSIAN");
  EXPECT_EQ(gaussian[2], kastor::io::detail::hours_text(real_value(table, "ra_deg_cont"), 6));
  EXPECT_EQ(gaussian[3],
            kastor::io::detail::degrees_text(real_value(table, "dec_deg_cont"), 6, '.'));
  EXPECT_EQ(std::stod(gaussian[4]), real_value(table, "flux_int"));
  EXPECT_EQ(std::stod(gaussian[5]), real_value(table, "maj_axis_deconv"));
  EXPECT_EQ(std::stod(gaussian[6]), real_value(table, "min_axis_deconv"));
  EXPECT_EQ(std::stod(gaussian[7]), real_value(table, "pos_ang_deconv"));
  EXPECT_EQ(gaussian[8], "true");
  EXPECT_EQ(gaussian[9], "1400000000");
  EXPECT_EQ(gaussian[10], "[]");
  const auto point = fields_of(lines[2]);
  EXPECT_EQ(point[1], "POINT");
  EXPECT_EQ(point[5], "0");
  EXPECT_EQ(std::stod(point[4]), real_value(table, "flux_int", 1));
}

TEST(SkyModel, HasJanskysWhateverTheUnitAndNoFrequencyWithoutOne) {
  const auto table = table_on({}, {ellipse(9, 6.5, 20)}, params_of(10, 8, 30, "mJy/beam")).table;
  const auto lines = lines_of(table);
  EXPECT_EQ(lines.front().find("ReferenceFrequency"), std::string::npos);
  EXPECT_DOUBLE_EQ(std::stod(fields_of(lines.back())[4]), real_value(table, "flux_int") / 1000);
  EXPECT_EQ(fields_of(lines.back()).size(), 10u);
}

TEST(SkyModel, HasFittedShapesWithoutABeam) {
  auto params = params_of(10);
  params.beam = {};
  params.unit = "Jy/pixel";
  const auto table = table_on({}, {ellipse(9, 6.5, 20)}, params).table;
  EXPECT_EQ(std::stod(fields_of(lines_of(table).back())[5]), real_value(table, "maj_axis"));
}

TEST(SkyModel, RefusesWhatIsNoSkyModel) {
  const ScratchDirectory scratch;
  const auto error = [&](const Table& table) {
    return error_of([&] { write_sky_model(scratch.file("a"), table, {}); });
  };
  const Components one = {ellipse(9, 6.5, 20)};
  EXPECT_SAYS(error(component_table(one, params_of(10)).table), "no right ascensions");
  EXPECT_SAYS(error(table_on({}, one, params_of(10, 8, 0, "K")).table),
              "found fluxes without a unit for a sky model; expected Jy");
  auto other = table_on({}, one, params_of(10)).table;
  other.frame = kastor::io::SkyFrame::fk4;
  EXPECT_SAYS(error(other), "positions in another frame");
  EXPECT_SAYS(error(testing_support::table_on({}, {}).table), "columns of components");
  EXPECT_EQ(scratch.entries(), 0u);
}

TEST(SkyModel, IsRecognisedByItsProvenance) {
  using kastor::io::has_provenance;
  using kastor::io::SkyModelFormat;
  const ScratchDirectory scratch;
  kastor::io::Provenance provenance;
  provenance.command_line = "kastor find --seed 5";
  const auto table = table_on({}, {ellipse(9, 6.5, 20)}, params_of(10)).table;
  write_sky_model(scratch.file("a"), table, provenance);
  EXPECT_TRUE(has_provenance(scratch.file("a"), SkyModelFormat::makesourcedb, provenance));
  provenance.command_line += " --negative";
  EXPECT_FALSE(has_provenance(scratch.file("a"), SkyModelFormat::makesourcedb, provenance));
}

TEST(SkyModel, TheEndingChoosesTheFormat) {
  using kastor::io::sky_model_format_of;
  EXPECT_TRUE(sky_model_format_of("a.skymodel"));
  EXPECT_TRUE(sky_model_format_of("A.SkyModel"));
  EXPECT_FALSE(sky_model_format_of("a.sky"));
}

}  // namespace

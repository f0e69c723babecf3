// SPDX-License-Identifier: Apache-2.0
#include "measure/measurement_report.hpp"

#include <algorithm>
#include <cmath>

#include "cli/report/format.hpp"
#include "cli/report/json.hpp"
#include "cli/report/report_parts.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

double measured_snr(const Component& row) {
  return row.gaussian.peak / std::sqrt(row.covariance[0]);
}

/// The counts of apertures alone.
MeasuredCounts counts_of_apertures(const std::vector<ApertureFlux>& fluxes) {
  MeasuredCounts counts;
  counts.mean_snr = std::nan("");
  for (const auto& flux : fluxes) {
    const bool is_measured = (flux.flags & aperture_no_pixels) == 0;
    ++counts.rows;
    if (is_measured) ++counts.measured;
    if (is_measured && flux.flux < 0) ++counts.negative;
    if (is_measured) continue;
    ++((flux.flags & aperture_missing) != 0 ? counts.blank : counts.off_image);
  }
  return counts;
}

std::string shapes_used(const Measurement& measurement) {
  if (measurement.components.empty()) return "";
  return measurement.list.shape_columns.empty() ? "beam" : measurement.list.shape_columns;
}

std::string fit_lines(const Measurement& m, const MeasureOptions& options,
                      const MeasuredCounts& counts) {
  if (m.components.empty()) return "fits       none: there is no beam\n";
  std::string text = fmt::format("fits       {} free, shapes from {}; {}, the largest of {}\n",
                                 name_of(options.free), one_line(shapes_used(m)),
                                 count_of(counts.groups, "group"), counts.largest_group);
  if (counts.measured > 0)
    text +=
        fmt::format("S/N        {:.4g} on average, {} below 0\n", counts.mean_snr, counts.negative);
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format("           {} {}\n", count_of(count, "row"), what);
  };
  add(counts.repeated, "of the same place and shape as an earlier one");
  add(counts.split, "in groups that were fitted in parts");
  add(counts.not_converged, "whose fit did not converge");
  return text;
}

}  // namespace

MeasuredCounts counts_of(const Measurement& measurement) {
  if (measurement.components.empty()) return counts_of_apertures(measurement.apertures[0].fluxes);
  MeasuredCounts counts;
  double sum = 0;
  for (const Component& row : measurement.components) {
    const auto has = [&](ComponentFlag flag) { return (row.flags & flag) != 0; };
    ++counts.rows;
    if (has(component_off_image)) {
      ++counts.off_image;
    } else if (has(component_no_pixels)) {
      ++counts.blank;
    } else {
      ++counts.measured;
      sum += measured_snr(row);
    }
    if (has(component_same_place)) ++counts.repeated;
    if (has(component_negative)) ++counts.negative;
    if (has(component_group_split)) ++counts.split;
    if (has(component_not_converged)) ++counts.not_converged;
    counts.groups = std::max(counts.groups, row.group_id);
    counts.largest_group = std::max(counts.largest_group, std::int64_t{row.group_size});
  }
  counts.mean_snr = sum / static_cast<double>(counts.measured);
  return counts;
}

std::string measurement_text(const Measurement& m, const MeasureOptions& options) {
  const auto counts = counts_of(m);
  std::string text = fmt::format("image      {}\n", size_text(m.found.image));
  if (m.found.sky.beam.beam)
    text += fmt::format("beam       {}\n", beam_text(*m.found.sky.beam.beam).substr(5));
  text += fmt::format("list       {}: {}, {} measured, {} off the image, {} blank\n",
                      one_line(m.list.list.path), count_of(counts.rows, "row"), counts.measured,
                      counts.off_image, counts.blank);
  text += fit_lines(m, options, counts);
  text += fmt::format("noise      {}, correlated over {:.4g} pixels\n", name_of(m.noise.kind),
                      m.noise.pixels);
  for (const auto& aperture : m.apertures) {
    std::int64_t cut = 0;
    for (const auto& flux : aperture.fluxes) cut += flux.flags != 0 ? 1 : 0;
    text += fmt::format("aperture   {} pixels: {} cut by an edge or blank pixels\n",
                        aperture.radius, cut);
  }
  for (const auto& note : m.table.notes) text += "note: " + one_line(note) + "\n";
  return text;
}

std::string measurement_json(const Measurement& m, const MeasureOptions& options) {
  const auto counts = counts_of(m);
  const bool has_fits = !m.components.empty();
  Json apertures = Json::array();
  for (const auto& aperture : m.apertures) {
    std::int64_t at_edge = 0, missing = 0;
    for (const auto& flux : aperture.fluxes) {
      at_edge += (flux.flags & aperture_at_edge) != 0 ? 1 : 0;
      missing += (flux.flags & aperture_missing) != 0 ? 1 : 0;
    }
    apertures.push_back({{"radius", Json::parse(aperture.radius)},
                         {"noise_factor", finite_or_null(aperture.noise_factor)},
                         {"at_edge", at_edge},
                         {"with_missing_pixels", missing}});
  }
  const Json json = {{"file", m.found.image.path},
                     {"hdu", m.found.image.hdu.index},
                     {"list", m.list.list.path},
                     {"rows", counts.rows},
                     {"measured", counts.measured},
                     {"off_image", counts.off_image},
                     {"blank", counts.blank},
                     {"repeated", counts.repeated},
                     {"negative", counts.negative},
                     {"free", has_fits ? Json(name_of(options.free)) : Json(nullptr)},
                     {"shapes", text_or_null(shapes_used(m))},
                     {"mean_snr", finite_or_null(counts.mean_snr)},
                     {"groups", counts.groups},
                     {"largest_group", counts.largest_group},
                     {"in_split_groups", counts.split},
                     {"not_converged", counts.not_converged},
                     {"noise", name_of(m.noise.kind)},
                     {"noise_pixels", finite_or_null(m.noise.pixels)},
                     {"apertures", apertures},
                     {"notes", m.table.notes}};
  return json_line(json);
}

}  // namespace kastor::cli

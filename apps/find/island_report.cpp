// SPDX-License-Identifier: Apache-2.0
#include "find/island_report.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/io/island_hash.hpp>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/json.hpp"
#include "cli/report/report_parts.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "find/shown_table.hpp"

namespace kastor::cli {
namespace {

std::vector<ShownColumn> shown_columns(const io::Table& table) {
  std::vector<ShownColumn> shown = {{"island_id", "id", 8, "{:.0f}"}};
  const auto either = [&](const ShownColumn& a, const ShownColumn& b) {
    shown.push_back(column_of(table, a.name) != nullptr ? a : b);
  };
  either({"ra_deg_cont", "ra", 12, "{:.6f}"}, {"x_cen", "x_cen", 11, "{:.3f}"});
  either({"dec_deg_cont", "dec", 12, "{:.6f}"}, {"y_cen", "y_cen", 11, "{:.3f}"});
  shown.push_back({"flux_peak", "flux_peak", 12, "{:.5g}"});
  const auto is_known = [&table](const char* name) {
    const auto* flux = column_of(table, name);
    if (flux == nullptr) return false;
    const auto& values = std::get<std::vector<double>>(flux->values);
    return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  // The total; if no island has one, what is above the threshold, under its own name.
  const char* flux = "flux_sum";
  if (is_known("flux_iso")) flux = "flux_iso";
  if (is_known("flux_int")) flux = "flux_int";
  if (is_known("flux_auto")) flux = "flux_auto";  // the total of what is no Gaussian, as stars
  shown.push_back({flux, flux, 12, "{:.5g}"});
  shown.push_back({"snr", "snr", 9, "{:.2f}"});
  shown.push_back({"n_pix", "n_pix", 8, "{:.0f}"});
  shown.push_back({"flags", "flags", 6, "{:.0f}"});
  return shown;
}

std::string background_text(const IslandReport& report) {
  const std::string unit = unit_behind(report.image);
  if (!report.mesh) return "background and noise as given\n";
  std::string text = fmt::format(
      "background {:.5g}{}, noise {:.5g}{} (medians of {} of {} x {} pixels", report.mesh->level,
      unit, report.mesh->rms, unit, count_of(report.mesh->cells, "cell"),
      report.options.mesh.cell_width, report.options.mesh.cell_height);
  if (report.mesh->filled > 0)
    text += fmt::format(", {} filled from neighbours", report.mesh->filled);
  text += ")\n";
  if (report.options.background) text += "the background used is that of --background\n";
  if (report.options.rms) text += "the noise used is that of --rms\n";
  if (report.options.photometry.weight)
    text += fmt::format("the noise used follows {}; that above is at the median weight\n",
                        report.options.photometry.weight_option());
  return text;
}

std::string detection_text(const IslandReport& report) {
  const DetectionOptions& detection = report.options.detection;
  std::string text;
  if (detection.image && report.detection.mesh) {
    text += fmt::format("found in {}: background {:.5g}, noise {:.5g}\n",
                        one_line(given_name(*detection.image, report.image.path)),
                        report.detection.mesh->level, report.detection.mesh->rms);
  }
  if (detection.has_filter()) {
    text += fmt::format("filter {}", one_line(name_of(detection.kernel)));
    if (report.detection.scale() > 0)
      text += fmt::format(": noise {:.4f} of that before", report.detection.scale());
    text += "\n";
  }
  return text;
}

std::string noise_text(const NoiseUsed& noise) {
  std::string text = fmt::format("noise correlated over {:.3g} pixels", noise.pixels);
  if (!std::isnan(noise.beams)) text += fmt::format(", {:.3g} beam areas", noise.beams);
  return text + fmt::format(" (--noise {})", name_of(noise.kind));
}

Json noise_json(const NoiseUsed& noise) {
  return {{"kind", name_of(noise.kind)},
          {"area_pixels", noise.pixels},
          {"area_beams", finite_or_null(noise.beams)}};
}

std::string dropped_text(const IslandReport& report) {
  const auto dropped = report.result.positive.dropped + report.result.negative.dropped;
  if (dropped == 0) return "";
  std::string why = "no seed";
  if (report.options.find.min_pixels > 1)
    why += fmt::format(" or fewer than {} pixels", report.options.find.min_pixels);
  if (report.options.find.drop_at_edge) why += " or at the edge";
  return fmt::format("; {} dropped ({})", dropped, why);
}

std::string heading(const IslandReport& report) {
  const auto& find = report.options.find;
  std::string text = size_text(report.image) + "\n" + background_text(report);
  text += detection_text(report);
  if (report.beam.beam) text += beam_text(*report.beam.beam) + "\n";
  text += noise_text(report.noise) + "\n";
  const bool is_split = report.options.components.deblends;
  text +=
      fmt::format("{} above {:g} times the noise with a peak above {:g} times, {}-connected",
                  count_of(is_split ? report.unsplit : report.result.positive.islands, "island"),
                  find.flood, find.seed, static_cast<int>(find.connectivity));
  text += dropped_text(report) + "\n";
  if (is_split) text += "split into " + count_of(report.result.positive.islands, "source") + "\n";
  if (find.negative) {
    const char* what = is_split ? "negative source" : "negative island";
    text += count_of(report.result.negative.islands, what) + "\n";
  }
  if (report.components) text += components_line(*report.components);
  return text;
}

Json given_or_null(const std::optional<GivenMap>& given, const IslandReport& report, RmsKind kind) {
  if (!given) return nullptr;
  if (const auto* number = std::get_if<double>(&*given)) return *number;
  const auto name = given_name(std::get<GivenFile>(*given), report.image.path);
  return kind == RmsKind::rms ? name : name + ", " + name_of(kind);
}

Json background_json(const IslandReport& report) {
  Json json = {{"given", given_or_null(report.options.background, report, RmsKind::rms)},
               {"given_rms", given_or_null(report.options.rms, report, report.options.rms_kind)}};
  const bool mesh = report.mesh.has_value();
  json["level"] = mesh ? finite_or_null(report.mesh->level) : Json(nullptr);
  json["rms"] = mesh ? finite_or_null(report.mesh->rms) : Json(nullptr);
  json["cell"] = mesh ? Json({report.options.mesh.cell_height, report.options.mesh.cell_width})
                      : Json(nullptr);
  json["cells"] = mesh ? Json(report.mesh->cells) : Json(nullptr);
  json["filled"] = mesh ? Json(report.mesh->filled) : Json(nullptr);
  json["masked"] =
      mesh ? Json(report.mesh->masks_sources ? report.mesh->source_cells : 0) : Json(nullptr);
  return json;
}

Json detection_json(const IslandReport& report) {
  const DetectionOptions& options = report.options.detection;
  const auto& mesh = report.detection.mesh;
  return {{"image", options.image ? Json(given_name(*options.image, report.image.path)) : Json()},
          {"level", mesh ? finite_or_null(mesh->level) : Json()},
          {"rms", mesh ? finite_or_null(mesh->rms) : Json()},
          {"filter", options.has_filter() ? Json(name_of(options.kernel)) : Json()},
          {"filtered_noise", report.detection.filtered_noise
                                 ? finite_or_null(*report.detection.filtered_noise)
                                 : Json()}};
}

Json deblending_json(const IslandReport& report) {
  const ComponentOptions& options = report.options.components;
  if (!options.deblends) return nullptr;
  return {{"islands", report.unsplit},
          {"contrast", options.contrast},
          {"prominence", options.used_prominence}};
}

Json beam_json(const io::BeamReading& reading) {
  if (!reading.beam) return nullptr;
  return {{"major_arcsec", reading.beam->major_deg * 3600},
          {"minor_arcsec", reading.beam->minor_deg * 3600},
          {"position_angle_deg", finite_or_null(reading.beam->position_angle_deg)}};
}

}  // namespace

std::string islands_text(const IslandReport& report) {
  std::string text = heading(report);
  for (const auto& note : report.table.notes) text += "note: " + message_line(note) + "\n";
  const io::Table& table = report.table.table;
  if (!report.result.islands.empty()) {
    text +=
        table_text(table, shown_columns(table), 20, "brightest peaks", "all, brightest peak first");
  }
  if (report.components) text += components_table_text(*report.components);
  return text;
}

std::string islands_json(const IslandReport& report) {
  const auto& find = report.options.find;
  const ComponentsReport* components = report.components;
  const Json json = {
      {"file", report.image.path},
      {"hdu", report.image.hdu.index},
      {"preset", name_of(report.options.preset)},
      {"seed", find.seed},
      {"flood", find.flood},
      {"connectivity", static_cast<int>(find.connectivity)},
      {"background", background_json(report)},
      {"detection", detection_json(report)},
      {"beam", beam_json(report.beam)},
      {"noise", noise_json(report.noise)},
      {"deblending", deblending_json(report)},
      {"sources", report.result.positive.islands},
      {"negative", find.negative ? Json(report.result.negative.islands) : Json(nullptr)},
      {"dropped", report.result.positive.dropped + report.result.negative.dropped},
      {"foreground_pixels", report.result.positive.foreground_pixels},
      {"catalogue_hash", io::island_hash(report.result.islands)},
      {"components", components != nullptr ? components_json(*components) : Json()},
      {"component_hash", components != nullptr ? Json(components->hash) : Json()},
      {"notes", message_lines(report.table.notes)}};
  return json_line(json);
}

}  // namespace kastor::cli

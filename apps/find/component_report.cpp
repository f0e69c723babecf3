// SPDX-License-Identifier: Apache-2.0
#include "find/component_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "find/shown_table.hpp"

namespace kastor::cli {
namespace {

std::int64_t count_with(const Components& components, std::uint32_t flag) {
  return std::count_if(components.begin(), components.end(),
                       [flag](const Component& each) { return (each.flags & flag) != 0; });
}

std::int64_t islands_of(const Components& components) {
  std::set<std::int64_t> islands;
  for (const Component& each : components) islands.insert(each.island_id);
  return static_cast<std::int64_t>(islands.size());
}

std::int64_t groups_of(const Components& components) {
  std::int64_t groups = 0;
  for (const Component& each : components) groups = std::max(groups, each.group_id);
  return groups;
}

std::vector<ShownColumn> shown_component_columns(const io::Table& table) {
  std::vector<ShownColumn> shown = {{"component_id", "id", 8, "{:.0f}"},
                                    {"island_id", "island", 7, "{:.0f}"}};
  const auto either = [&](const ShownColumn& a, const ShownColumn& b) {
    shown.push_back(column_of(table, a.name) != nullptr ? a : b);
  };
  either({"ra_deg_cont", "ra", 12, "{:.6f}"}, {"x_cen", "x_cen", 11, "{:.3f}"});
  either({"dec_deg_cont", "dec", 12, "{:.6f}"}, {"y_cen", "y_cen", 11, "{:.3f}"});
  shown.push_back({"flux_peak", "flux_peak", 11, "{:.5g}"});
  const auto& flux = std::get<std::vector<double>>(column_of(table, "flux_int")->values);
  if (std::any_of(flux.begin(), flux.end(), [](double v) { return std::isfinite(v); })) {
    shown.push_back({"flux_int", "flux_int", 11, "{:.5g}"});
    shown.push_back({"flux_int_err", "flux_err", 9, "{:.2g}", false});
  } else {
    shown.push_back({"flux_peak_err", "peak_err", 9, "{:.2g}", false});
  }
  either({"maj_axis", "major", 7, "{:.4g}"}, {"maj_axis_pix", "major", 7, "{:.4g}"});
  either({"min_axis", "minor", 7, "{:.4g}", false}, {"min_axis_pix", "minor", 7, "{:.4g}", false});
  shown.push_back({"flags", "flags", 6, "{:.0f}"});
  return shown;
}

}  // namespace

std::string components_line(const ComponentsReport& report) {
  const Components& components = report.components;
  std::string text = fmt::format("{} fitted to {}", count_of(components.size(), "component"),
                                 count_of(islands_of(components), "island"));
  if (report.has_beam_shape) text += " with the shape of the beam";
  const auto add = [&](std::uint32_t flag, const char* what) {
    const auto count = count_with(components, flag);
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  if (!report.has_beam_shape) add(component_beam_shape, "with the shape of the beam");
  add(component_from_moments, "estimated from moments");
  add(component_not_converged, "not converged");
  return text + "\n";
}

std::string components_table_text(const ComponentsReport& report) {
  if (report.components.empty()) return "";
  return table_text(report.table, shown_component_columns(report.table), 10, "brightest components",
                    "all components, brightest first");
}

Json components_json(const ComponentsReport& report) {
  const Components& components = report.components;
  return {{"shape", report.has_beam_shape ? "beam" : "free"},
          {"count", components.size()},
          {"islands", islands_of(components)},
          {"groups", groups_of(components)},
          {"beam_shape", count_with(components, component_beam_shape)},
          {"from_moments", count_with(components, component_from_moments)},
          {"not_converged", count_with(components, component_not_converged)}};
}

}  // namespace kastor::cli

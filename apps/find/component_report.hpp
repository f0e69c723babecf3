// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_COMPONENT_REPORT_HPP
#define KASTOR_APPS_FIND_COMPONENT_REPORT_HPP

#include <kastor/component.hpp>
#include <kastor/io/table.hpp>
#include <string>

#include "cli/report/json.hpp"

namespace kastor::cli {

/// What `kastor find` reports on components.
struct ComponentsReport {
  const Components& components;
  const io::Table& table;
  bool has_beam_shape;  ///< all shapes were fixed
  std::string hash;
};

/// The counts, a line.
[[nodiscard]] std::string components_line(const ComponentsReport& report);
/// The brightest ones; empty if there are none.
[[nodiscard]] std::string components_table_text(const ComponentsReport& report);
[[nodiscard]] Json components_json(const ComponentsReport& report);

}  // namespace kastor::cli

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_JSON_HPP
#define KASTOR_APPS_CLI_REPORT_JSON_HPP

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

/// Common to all JSON of the command: members keep their order, and a missing value is null.
namespace kastor::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

[[nodiscard]] inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// The JSON on one line. Invalid UTF-8, which a file name may contain, is replaced.
[[nodiscard]] inline std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kastor::cli

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_WORDS_HPP
#define KASTOR_APPS_CLI_REPORT_WORDS_HPP

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

namespace kastor::cli {

/// "12 sources", "1 source"
template <std::integral Number>
[[nodiscard]] std::string count_of(Number n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// The words, separated by `separator`.
[[nodiscard]] inline std::string joined(const std::vector<std::string>& words,
                                        const char* separator) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// "a", "a or b", "a, b or c"
[[nodiscard]] inline std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

}  // namespace kastor::cli

#endif

// SPDX-License-Identifier: Apache-2.0
#include "binding/words.hpp"

#include <cctype>

namespace kastor::python {
namespace {

bool is_name(char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c == '-'; }

/// Removes " (see 'kastor find --help')".
void drop_help(std::string& text) {
  const auto begin = text.find(" (see 'kastor ");
  if (begin == std::string::npos) return;
  const auto end = text.find(')', begin);
  if (end != std::string::npos) text.erase(begin, end + 1 - begin);
}

}  // namespace

std::string in_words_of_python(std::string text) {
  drop_help(text);
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || (text[at - 1] != '-' && !is_name(text[at - 1]));
    if (!begins || text.compare(at, 2, "--") != 0 || at + 2 == text.size() ||
        !is_name(text[at + 2]) || text[at + 2] == '-') {
      words += text[at++];
      continue;
    }
    std::string name;
    for (at += 2; at < text.size() && is_name(text[at]); ++at)
      name += text[at] == '-' ? '_' : text[at];
    words += name == "overwrite" ? "overwrite=True" : name;
  }
  return words;
}

}  // namespace kastor::python

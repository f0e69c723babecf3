// SPDX-License-Identifier: Apache-2.0
#include "cli/help/description.hpp"

#include <algorithm>
#include <utility>

namespace kastor::cli {
namespace {

/// Collects descriptions during describe(), else null. One thread describes the commands, before
/// any other thread starts.
std::vector<CommandDescription>* wanted = nullptr;

bool is_word(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

}  // namespace

std::vector<std::string> words_of_label(const std::string& label) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= label.size();) {
    const auto end = std::min(label.find('|', begin), label.size());
    const std::string part = label.substr(begin, end - begin);
    if (is_word(part)) words.push_back(part);
    begin = end + 1;
  }
  return words;
}

bool label_names_a_file(const std::string& label) {
  for (const char* name : {"FILE", "PATH", "CATALOGUE", "IMAGE", "CAT1", "CAT2"}) {
    if (label.find(name) != std::string::npos) return true;
  }
  return false;
}

std::vector<CommandDescription> describe(const std::function<void()>& job) {
  std::vector<CommandDescription> descriptions;
  auto* const before = std::exchange(wanted, &descriptions);
  try {
    job();
  } catch (...) {
    wanted = before;
    throw;
  }
  wanted = before;
  return descriptions;
}

bool take_description(const std::function<CommandDescription()>& make) {
  if (wanted == nullptr) return false;
  wanted->push_back(make());
  return true;
}

}  // namespace kastor::cli

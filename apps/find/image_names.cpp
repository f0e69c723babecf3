// SPDX-License-Identifier: Apache-2.0
#include "find/image_names.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <kastor/error.hpp>
#include <string_view>

#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

void add_lines(const std::string& path, std::vector<std::string>& names) {
  const auto fail = [&](const char* found) {
    throw Error(one_line(path) + ": " + found + "; expected a list of images, one name per line");
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail("no such file");
  if (!S_ISREG(info.st_mode)) fail("is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot be read");
  const std::size_t before = names.size();
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    names.push_back(line);
  }
  if (stream.bad()) fail("cannot be read");
  if (names.size() == before) fail("names no image");
}

/// Removes one of the suffixes, whatever its case.
bool take_ending(std::string_view& name, const std::vector<std::string_view>& endings) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  };
  for (const auto ending : endings) {
    // A name that consists of the suffix only keeps it.
    if (name.size() <= ending.size()) continue;
    const auto tail = name.substr(name.size() - ending.size());
    if (!std::equal(tail.begin(), tail.end(), ending.begin(), same)) continue;
    name.remove_suffix(ending.size());
    return true;
  }
  return false;
}

}  // namespace

bool is_list(const std::string& word) { return word.size() > 1 && word.front() == '@'; }

std::vector<std::string> image_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const auto& word : words) {
    if (is_list(word)) {
      add_lines(word.substr(1), names);
    } else {
      names.push_back(word);
    }
  }
  return names;
}

std::string stem_of(const std::string& path) {
  const auto slash = path.rfind('/');
  std::string_view name = path;
  if (slash != std::string::npos) name.remove_prefix(slash + 1);
  (void)take_ending(name, {".gz", ".bz2", ".fz"});
  (void)take_ending(name, {".fits", ".fit", ".fts"});
  return std::string(name);
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "find/resume.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <kastor/io/provenance_check.hpp>
#include <variant>

namespace kastor::cli {
namespace {

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

Standing standing_of(const StagedCatalogue& target, const io::Provenance& provenance) {
  if (!exists(target.path)) return Standing::missing;
  const auto* table = std::get_if<io::TableFormat>(&target.format);
  if (table != nullptr && *table == io::TableFormat::csv) return Standing::silent;
  const bool same =
      std::visit([&](auto format) { return io::has_provenance(target.path, format, provenance); },
                 target.format);
  return same ? Standing::same : Standing::other;
}

}  // namespace

Resumption resumption_of(const std::vector<Standing>& catalogues) {
  const auto count = [&](Standing standing) {
    return std::count(catalogues.begin(), catalogues.end(), standing);
  };
  if (count(Standing::other) > 0) return Resumption::conflict;
  if (count(Standing::silent) > 0 && count(Standing::same) == 0) return Resumption::conflict;
  if (count(Standing::missing) > 0 || catalogues.empty()) return Resumption::go_on;
  return Resumption::skip;
}

bool any_exists(const std::vector<StagedCatalogue>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [](const auto& target) { return exists(target.path); });
}

std::vector<Standing> standing_of(const std::vector<StagedCatalogue>& targets,
                                  const io::Provenance& provenance) {
  std::vector<Standing> standing;
  for (const auto& target : targets) standing.push_back(standing_of(target, provenance));
  return standing;
}

}  // namespace kastor::cli

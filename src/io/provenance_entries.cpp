// SPDX-License-Identifier: Apache-2.0
#include "provenance_entries.hpp"

#include "unicode.hpp"

namespace kastor::io::detail {

std::vector<ProvenanceEntry> provenance_entries(const Provenance& provenance) {
  std::vector<ProvenanceEntry> entries = {{"creator", "kastor"},
                                          {"kastor_version", provenance.version}};
  if (!provenance.input.empty()) {
    entries.push_back({"input", provenance.input});
    entries.push_back({"input_hdu", std::int64_t{provenance.input_hdu}});
    entries.push_back({"input_datasum", std::int64_t{provenance.input_datasum}});
  }
  if (!provenance.command_line.empty()) entries.push_back({"options", provenance.command_line});
  return entries;
}

std::string text_of(const ProvenanceEntry& entry) {
  if (const auto* text = std::get_if<std::string>(&entry.value)) return clean_text(*text);
  return std::to_string(std::get<std::int64_t>(entry.value));
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "io/output/provenance_entries.hpp"

#include "io/table/unicode.hpp"

namespace kastor::io::detail {

std::vector<ProvenanceEntry> provenance_entries(const Provenance& provenance) {
  std::vector<ProvenanceEntry> entries;
  entries.push_back({"creator", "kastor"});
  entries.push_back({"kastor_version", clean_text(provenance.version)});
  if (!provenance.input.empty()) {
    entries.push_back({"input", clean_text(provenance.input)});
    entries.push_back({"input_hdu", std::to_string(provenance.input_hdu), true});
    entries.push_back({"input_datasum", std::to_string(provenance.input_datasum), true});
  }
  if (!provenance.command_line.empty())
    entries.push_back({"options", clean_text(provenance.command_line)});
  return entries;
}

}  // namespace kastor::io::detail

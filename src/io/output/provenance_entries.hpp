// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_PROVENANCE_ENTRIES_HPP
#define KASTOR_SRC_IO_OUTPUT_PROVENANCE_ENTRIES_HPP

#include <kastor/io/provenance.hpp>
#include <string>
#include <vector>

namespace kastor::io::detail {

struct ProvenanceEntry {
  const char* name;
  std::string value;  ///< passed through `clean_text()`
  bool is_number = false;
};

/// The provenance in the text formats; the same as `HeaderText::add_provenance()` writes.
[[nodiscard]] std::vector<ProvenanceEntry> provenance_entries(const Provenance& provenance);

/// An entry as a line of the format, including the line end.
[[nodiscard]] std::string votable_line(const ProvenanceEntry& entry);
[[nodiscard]] std::string ecsv_line(const ProvenanceEntry& entry);
[[nodiscard]] std::string regions_line(const ProvenanceEntry& entry);

}  // namespace kastor::io::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_PROVENANCE_ENTRIES_HPP
#define KASTOR_SRC_IO_OUTPUT_PROVENANCE_ENTRIES_HPP

#include <kastor/io/provenance.hpp>
#include <string>
#include <vector>

namespace kastor::io::detail {

struct ProvenanceEntry {
  const char* name;
  std::string value;  ///< clean (see `clean_text()`)
  bool is_number = false;
};

/// What the text formats say of an output's origin; the same as `HeaderText::add_provenance()`.
[[nodiscard]] std::vector<ProvenanceEntry> provenance_entries(const Provenance& provenance);

/// One of them as a line of its format, its end included.
[[nodiscard]] std::string votable_line(const ProvenanceEntry& entry);
[[nodiscard]] std::string ecsv_line(const ProvenanceEntry& entry);
[[nodiscard]] std::string regions_line(const ProvenanceEntry& entry);

}  // namespace kastor::io::detail

#endif

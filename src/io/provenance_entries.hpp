// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PROVENANCE_ENTRIES_HPP
#define KASTOR_SRC_IO_PROVENANCE_ENTRIES_HPP

#include <cstdint>
#include <kastor/io/provenance.hpp>
#include <string>
#include <variant>
#include <vector>

namespace kastor::io::detail {

struct ProvenanceEntry {
  const char* name;
  std::variant<std::string, std::int64_t> value;
};

/// What the text formats say of an output's origin; the same as `HeaderText::add_provenance()`.
[[nodiscard]] std::vector<ProvenanceEntry> provenance_entries(const Provenance& provenance);

/// The value as text, clean (see `clean_text()`).
[[nodiscard]] std::string text_of(const ProvenanceEntry& entry);

}  // namespace kastor::io::detail

#endif

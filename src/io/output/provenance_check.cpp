// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fstream>
#include <kastor/error.hpp>
#include <kastor/io/provenance_check.hpp>
#include <string_view>
#include <vector>

#include "io/fits/header_text.hpp"
#include "io/fits/input_file.hpp"
#include "io/output/provenance_entries.hpp"

namespace kastor::io {
namespace {

constexpr std::size_t k_card = 80;
// Bytes of a text file to search: all formats have their provenance before the first row. The
// columns of the widest table need less than half of it.
constexpr std::size_t k_most_head = std::size_t{1} << 18;

using Cards = std::vector<std::string>;

/// The cards before END, without the name of the input and LONGSTRN. Empty if there is no END.
Cards cards_of(std::string_view header) {
  Cards cards;
  bool named = false;
  for (std::size_t at = 0; at + k_card <= header.size(); at += k_card) {
    const std::string_view card = header.substr(at, k_card);
    if (card.starts_with("END     ")) return cards;
    if (card.starts_with("LONGSTRN")) continue;  // stands before the first long string
    named = card.starts_with("INPUT   =") || (named && card.starts_with("CONTINUE"));
    if (!named) cards.emplace_back(card);
  }
  return {};
}

/// The cards of the first extension, which holds the table, after a primary header of one block.
Cards cards_of_table(std::istream& stream) {
  std::string header;
  std::array<char, detail::k_fits_block> block;
  stream.ignore(block.size());
  while (header.size() < k_most_head && stream.read(block.data(), block.size())) {
    header.append(block.data(), block.size());
    const Cards cards = cards_of(header);
    if (!cards.empty()) return cards;
  }
  return {};
}

bool fits_says(std::istream& stream, Provenance provenance) {
  provenance.input = "any";
  detail::HeaderText header;
  header.add_provenance(provenance);
  const Cards wanted = cards_of(header.finish());
  const Cards cards = cards_of_table(stream);
  const auto found = std::search(cards.begin(), cards.end(), wanted.begin(), wanted.end());
  if (found == cards.end()) return false;
  // If the options fill their last card, they may continue in the next one.
  const auto next = found + static_cast<std::ptrdiff_t>(wanted.size());
  return wanted.back().ends_with(' ') || next == cards.end() || !next->starts_with("HISTORY ") ||
         next->starts_with("HISTORY pixels are 0-based");
}

using EntryLine = std::string (*)(const detail::ProvenanceEntry&);

bool text_says(std::istream& stream, const Provenance& provenance, EntryLine line_of) {
  std::string head(k_most_head, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  const auto entries = detail::provenance_entries(provenance);
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return std::string_view(entry.name) == "input" ||
           head.find("\n" + line_of(entry)) != std::string::npos;
  });
}

template <class Says>
bool of_file(const std::string& path, const Says& says) {
  try {
    auto stream = detail::open_regular_file(path, "an output of Kastor");
    return says(stream);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool has_provenance(const std::string& path, TableFormat format, const Provenance& provenance) {
  return of_file(path, [&](std::istream& stream) {
    switch (format) {
      case TableFormat::fits:
        return fits_says(stream, provenance);
      case TableFormat::votable:
        return text_says(stream, provenance, detail::votable_line);
      case TableFormat::ecsv:
        return text_says(stream, provenance, detail::ecsv_line);
      case TableFormat::ascii_head:
        return text_says(stream, provenance, detail::regions_line);
      case TableFormat::csv:
        break;
    }
    return false;
  });
}

bool has_provenance(const std::string& path, SkyModelFormat, const Provenance& provenance) {
  return has_provenance(path, RegionFormat::ds9, provenance);
}

bool has_provenance(const std::string& path, RegionFormat, const Provenance& provenance) {
  return of_file(path, [&](std::istream& stream) {
    return text_says(stream, provenance, detail::regions_line);
  });
}

}  // namespace kastor::io

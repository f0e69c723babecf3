// SPDX-License-Identifier: Apache-2.0
#include "io/fits/header_scan.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "io/fits/fits_file.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::int64_t k_block = 2880;
constexpr std::size_t k_card = 80;
// CFITSIO stores the lengths of this many axes, and does not check whether a header has more (4.2
// to 4.6).
constexpr long k_max_axes = 99;

/// What is wrong with one card; empty if nothing is.
std::string card_fault(std::string_view card) {
  if (card.starts_with("NAXIS   =")) {
    const auto first = card.find_first_not_of(" +0", 9);
    if (first == std::string_view::npos) return "";
    const auto digits = card.find_first_not_of("0123456789", first) - first;
    if (digits > 2) return fmt::format("NAXIS is more than {}", k_max_axes);
  }
  return "";
}

}  // namespace

std::string header_fault(const FitsFile& file, std::int64_t offset) {
  std::array<char, k_block> block;
  for (std::int64_t at = offset;; at += k_block) {
    const auto length = file.read_bytes(at, reinterpret_cast<std::byte*>(block.data()), k_block);
    for (std::size_t card = 0; card + k_card <= length; card += k_card) {
      const std::string_view text(block.data() + card, k_card);
      if (text.starts_with("END     ")) return "";
      std::string fault = card_fault(text);
      if (!fault.empty()) return fault;
    }
    if (length < k_block) return "";
  }
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "io/fits/header_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "io/fits/card_values.hpp"
#include "io/fits/fits_file.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::int64_t k_scanned_block = 2880;
constexpr std::size_t k_scanned_card = 80;
// CFITSIO stores the lengths of this many axes, and does not check whether a header has more (4.2
// to 4.6).
constexpr long k_max_axes = 99;

// Every look for a keyword that is not there goes through the whole header, so that one of 360,000
// cards takes seconds; no file has so many.
constexpr std::int64_t k_max_header = 10000 * k_scanned_block;
// Its message about an integer that it cannot read has room for this many characters of the value
// (CFITSIO 4.2).
constexpr std::size_t k_max_integer = 28;

/// The value field of a card.
struct CardValue {
  std::string_view text;  // with its quotes
  bool is_string = false;
  bool is_closed = false;  // for strings: there is a quote at the end
};

CardValue value_in_card(std::string_view card) {
  CardValue value;
  const auto first = card.find_first_not_of(' ', 10);
  if (card.substr(8, 2) != "= " || first == std::string_view::npos) return value;
  value.is_string = card[first] == '\'';
  if (!value.is_string) {
    value.text = card.substr(first, std::min(card.find_first_of(" /", first), card.size()) - first);
    return value;
  }
  for (std::size_t i = first + 1; i < card.size() && !value.is_closed; ++i) {
    if (card[i] != '\'') continue;
    const bool is_doubled = i + 1 < card.size() && card[i + 1] == '\'';
    value.is_closed = !is_doubled;
    value.text = card.substr(first, i + 1 - first);
    i += is_doubled ? 1 : 0;
  }
  if (!value.is_closed) value.text = card.substr(first, card.find_last_not_of(' ') + 1 - first);
  return value;
}

/// Whether the keyword is `stem` and a number.
bool is_numbered(std::string_view keyword, std::string_view stem) {
  return keyword.starts_with(stem) && keyword.size() > stem.size() &&
         keyword.find_first_not_of("0123456789", stem.size()) == std::string_view::npos;
}

bool is_any_of(std::string_view keyword, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), keyword) != names.end();
}

/// Whether CFITSIO would have to complain about the integer in more room than it has. It takes
/// blanks behind an integer in a string, but counts them when it complains.
bool is_long_integer(const CardValue& value) {
  if (value.text.size() <= k_max_integer) return false;
  std::string_view text = value.text;
  if (!value.is_string || !value.is_closed) return true;
  text = text.substr(1, text.size() - 2);
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  constexpr std::size_t most_digits = 18;  // that always fit 64 bits
  return text.empty() || text.size() > most_digits ||
         text.find_first_not_of("0123456789") != std::string_view::npos;
}

/// What CFITSIO must not see in one header. It finds the structure of a table from all cards, and
/// that of a tile-compressed image as soon as it comes to its HDU.
class HeaderScan {
 public:
  /// What is wrong with the card; empty if nothing is.
  std::string add(std::string_view card) {
    const CardValue value = value_in_card(card);
    const std::string keyword = trimmed(card.substr(0, 8));
    if (keyword == "NAXIS" && has_many_digits(value.text))
      return fmt::format("NAXIS is more than {}", k_max_axes);
    if (keyword == "XTENSION")
      m_is_table = value.text.starts_with("'BINTABLE") || value.text.starts_with("'TABLE") ||
                   value.text.starts_with("'A3DTABLE") || !value.is_closed;
    if (is_any_of(keyword, {"BLANK", "EXTVER", "PCOUNT", "GCOUNT"}) && is_long_integer(value))
      return fmt::format("{} is not a number", keyword);
    if (!m_is_table) return "";
    // Only of a compressed image does CFITSIO look at these.
    if (keyword.starts_with('Z')) {
      std::string fault = tile_fault(keyword, value);  // ZIMAGE may come after the fault
      if (m_tile_fault.empty()) m_tile_fault = std::move(fault);
      return "";
    }
    const bool is_column = keyword.starts_with('T');
    if ((is_column || is_any_of(keyword, {"XTENSION", "EXTNAME"})) && has_no_end(value))
      return fmt::format("the string of {} has no closing quote", keyword);
    if (is_column && !value.is_string && value.text.size() >= 69)
      return fmt::format("the value of {} has {} characters", keyword, value.text.size());
    return "";
  }

  /// Likewise of the whole header.
  [[nodiscard]] std::string end() const {
    if (!m_is_compressed) return "";
    if (!m_tile_fault.empty()) return m_tile_fault;
    return m_is_rice && m_has_no_block ? "BLOCKSIZE (ZVAL1) is not 1 or more" : "";
  }

 private:
  /// What is wrong with a card of a compressed image.
  std::string tile_fault(const std::string& keyword, const CardValue& value) {
    if (keyword == "ZIMAGE")
      m_is_compressed = m_is_compressed || value.text.substr(0, 2).find('T') < 2;
    if (has_no_end(value)) return fmt::format("the string of {} has no closing quote", keyword);
    if (keyword == "ZCMPTYPE") m_is_rice = value.text.starts_with("'RICE");
    if (keyword == "ZVAL1") m_has_no_block = m_has_no_block || !is_number(value, 1);
    const bool is_tile = is_numbered(keyword, "ZTILE");
    const bool is_integer = is_tile ||
                            is_any_of(keyword, {"ZBITPIX", "ZNAXIS", "ZDITHER0", "ZBLANK"}) ||
                            is_numbered(keyword, "ZNAXIS") || is_numbered(keyword, "ZVAL");
    if (is_integer && is_long_integer(value)) return fmt::format("{} is not a number", keyword);
    if (is_tile && !is_number(value, 1)) return fmt::format("{} is not 1 or more", keyword);
    return "";
  }
  static bool has_no_end(const CardValue& value) {
    return value.is_string && !value.is_closed && value.text.size() >= 70;
  }
  /// 100 or more
  static bool has_many_digits(std::string_view text) {
    const auto first = std::min(text.find_first_not_of("+0'"), text.size());
    return std::min(text.find_first_not_of("0123456789", first), text.size()) - first > 2;
  }
  static bool is_number(const CardValue& value, double least) {
    const auto number = leading_number(value.text);
    return number && *number >= least && *number < 0x1p62;
  }

  bool m_is_table = false;
  bool m_is_compressed = false;
  std::string m_tile_fault;  // the first one
  bool m_is_rice = false;
  bool m_has_no_block = false;
};

/// Whether it is the last card; some writers fill it and the block with NULs.
bool is_end(std::string_view card) {
  const std::string_view keyword = card.substr(0, 8);
  return keyword.starts_with("END") &&
         keyword.find_first_not_of(std::string_view(" \0", 2), 3) == std::string_view::npos;
}

bool has_end(std::string_view block) {
  for (std::size_t card = 0; card + k_scanned_card <= block.size(); card += k_scanned_card)
    if (is_end(block.substr(card, k_scanned_card))) return true;
  return false;
}

/// Whether it cannot be a part of a header, which is text.
bool is_no_text(std::string_view block) {
  const auto others = std::count_if(block.begin(), block.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e;
  });
  return static_cast<std::size_t>(others) > block.size() / 2;
}

}  // namespace

std::string header_fault(const FitsFile& file, std::int64_t offset) {
  std::array<char, k_scanned_block> block;
  HeaderScan scan;
  for (std::int64_t at = offset;; at += k_scanned_block) {
    const auto length =
        file.read_bytes(at, reinterpret_cast<std::byte*>(block.data()), k_scanned_block);
    // The search would go on to the end of the file.
    if (at > offset && length == k_scanned_block && is_no_text({block.data(), length}) &&
        !has_end({block.data(), length}))
      return "the header has no END card";
    for (std::size_t card = 0; card + k_scanned_card <= length; card += k_scanned_card) {
      const std::string_view text(block.data() + card, k_scanned_card);
      if (is_end(text)) return scan.end();
      std::string fault = scan.add(text);
      if (!fault.empty()) return fault;
    }
    if (length < k_scanned_block) return "";
    if (at - offset >= k_max_header)
      return fmt::format("the header has no END card in {} bytes", at - offset + k_scanned_block);
  }
}

}  // namespace kastor::io::detail

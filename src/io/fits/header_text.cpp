// SPDX-License-Identifier: Apache-2.0
#include "io/fits/header_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::size_t k_card_length = 80;
// Number of characters between the quotes of a string in a card.
constexpr std::size_t k_string = 68;

/// Splits a text into pieces of at most `length` characters to be put between quotes. Quotes in the
/// text are doubled, and the two are never separated.
std::vector<std::string> quoted_pieces(std::string_view text, std::size_t length) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    const std::string_view written = c == '\'' ? std::string_view("''") : std::string_view(&c, 1);
    if (pieces.back().size() + written.size() > length) pieces.emplace_back();
    pieces.back() += written;
  }
  return pieces;
}

}  // namespace

void HeaderText::add_raw(std::string_view card) {
  std::string text = printable_ascii(card);
  text.resize(k_card_length, ' ');
  if (text.starts_with("CONTINUE") && !m_continues) {
    // Readers of before FITS 4.0 want to be told that the convention is used.
    m_continues = true;
    const std::string first = m_text.substr(m_text.size() - k_card_length);
    m_text.resize(m_text.size() - k_card_length);
    add_string("LONGSTRN", "OGIP 1.0", "long strings by CONTINUE");
    m_text += first;
  }
  m_text += text;
}

void HeaderText::add_value(std::string_view keyword, std::string_view value,
                           std::string_view comment) {
  const std::string separator = comment.empty() ? "" : " / ";
  add_raw(fmt::format("{:<8}= {:>20}{}{}", keyword, value, separator, comment));
}

void HeaderText::add_logical(std::string_view keyword, bool value) {
  add_value(keyword, value ? "T" : "F", "");
}

void HeaderText::add_integer(std::string_view keyword, std::int64_t value,
                             std::string_view comment) {
  add_value(keyword, fmt::format("{}", value), comment);
}

void HeaderText::add_real(std::string_view keyword, double value, std::string_view comment) {
  if (!std::isfinite(value)) return add_string(keyword, fmt::format("{}", value), comment);
  // The shortest text that gives the same value, with the decimal point of a real number.
  std::string text = upper_case(fmt::format("{}", value));
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('E'), text.size()), ".0");
  add_value(keyword, text, comment);
}

void HeaderText::add_string(std::string_view keyword, std::string_view value,
                            std::string_view comment) {
  const std::string text = printable_ascii(value);
  auto pieces = quoted_pieces(text, k_string);
  if (pieces.size() == 1) {
    // At least eight characters, which XTENSION has always required.
    const std::string separator = comment.empty() ? "" : " / ";
    const std::string quoted = fmt::format("'{:<8}'", pieces[0]);
    return add_raw(fmt::format("{:<8}= {:<20}{}{}", keyword, quoted, separator, comment));
  }
  pieces = quoted_pieces(text, k_string - 1);  // room for the '&'
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string start = i == 0 ? fmt::format("{:<8}= ", keyword) : "CONTINUE  ";
    add_raw(fmt::format("{}'{}{}'", start, pieces[i], i + 1 < pieces.size() ? "&" : ""));
  }
}

void HeaderText::add_commentary(std::string_view keyword, std::string_view text) {
  constexpr std::size_t length = k_card_length - 8;
  for (std::size_t at = 0; at < text.size(); at += length) {
    add_raw(fmt::format("{:<8}{}", keyword, text.substr(at, length)));
  }
}

void HeaderText::add(const HeaderCard& card) {
  if (const auto* text = std::get_if<std::string>(&card.value)) {
    add_string(card.keyword, *text, card.comment);
  } else if (const auto* number = std::get_if<double>(&card.value)) {
    add_real(card.keyword, *number, card.comment);
  } else {
    add_integer(card.keyword, std::get<std::int64_t>(card.value), card.comment);
  }
}

void HeaderText::add_history(std::string_view text) { add_commentary("HISTORY", text); }

void HeaderText::add_comment(std::string_view text) { add_commentary("COMMENT", text); }

void HeaderText::add_provenance(const Provenance& provenance) {
  add_string("CREATOR", "kastor", "program that wrote this file");
  add_string("KASTORV", provenance.version, "version of Kastor");
  if (!provenance.input.empty()) {
    add_string("INPUT", provenance.input, "input file");
    add_integer("INHDU", provenance.input_hdu, "HDU of the input, 0 is the primary");
    add_integer("INSUM", provenance.input_datasum, "FITS DATASUM of that HDU");
  }
  if (!provenance.command_line.empty()) add_history("kastor options: " + provenance.command_line);
}

std::string HeaderText::finish() const {
  std::string text = m_text + "END";
  text.resize(text.size() + fits_fill(text.size()), ' ');
  return text;
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "io/table/text_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace kastor::io::detail {
namespace {

// Amount of text that is kept before it is written.
constexpr std::size_t k_most_kept = std::size_t{1} << 16;

}  // namespace

void TextFile::add(std::string_view text) {
  m_text += text;
  if (m_text.size() < k_most_kept) return;
  m_file.write(m_text.data(), m_text.size());
  m_text.clear();
}

void TextFile::add(std::int64_t value) { fmt::format_to(std::back_inserter(m_text), "{}", value); }

void TextFile::add_digits(double value) {
  if (std::isnan(value)) return add("nan");
  fmt::format_to(std::back_inserter(m_text), "{:.17g}", value);
}

void TextFile::add_shortest(double value) {
  if (std::isnan(value)) return add("nan");
  fmt::format_to(std::back_inserter(m_text), "{}", value);
}

void TextFile::close() {
  m_file.write(m_text.data(), m_text.size());
  m_text.clear();
  m_file.close();
}

}  // namespace kastor::io::detail

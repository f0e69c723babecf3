// SPDX-License-Identifier: Apache-2.0
#include "io/table/unicode.hpp"

#include <algorithm>

#include "io/text.hpp"

namespace kastor::io::detail {

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : (lead >= 0xe0 ? 3 : 2);
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const std::uint32_t least = length == 2 ? 0x80 : (length == 3 ? 0x800 : 0x10000);
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

namespace {

/// Forbidden in XML 1.0 or YAML 1.1, or taken as a line end by some readers.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029 ||
         code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

/// Shows no sign of its own but changes how others look: marks and overrides of the direction of
/// writing (UAX #9), interlinear annotation, tags. Joiners are kept, which some scripts need.
bool is_invisible(std::uint32_t code) {
  return code == 0x061c || code == 0x200b || code == 0x200e || code == 0x200f ||
         (code >= 0x202a && code <= 0x202e) || code == 0x2060 ||
         (code >= 0x2066 && code <= 0x206f) || (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xe0000 && code <= 0xe007f);
}

/// The text as UTF-8; characters for which `is_bad(code)` become '?'.
template <class Predicate>
std::string cleaned(std::string_view text, const Predicate& is_bad) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.length == 0) {
      result += "\xef\xbf\xbd";
    } else if (is_bad(character.code)) {
      result += '?';
    } else {
      result += text.substr(0, character.length);
    }
    text.remove_prefix(std::max<std::size_t>(1, character.length));
  }
  return result;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string clean_text(std::string_view text) { return cleaned(text, is_control); }

std::string one_line(std::string_view text) {
  return cleaned(text, [](std::uint32_t code) { return is_control(code) || is_invisible(code); });
}

std::string shortened(std::string_view text) {
  constexpr std::string_view gap = "...";
  if (text.size() <= k_longest_message) return std::string(text);
  // The end is kept, since it says what was expected.
  std::size_t head = k_longest_message / 2;
  std::size_t tail = text.size() - (k_longest_message - head - gap.size());
  while (head > 0 && continues_character(text[head])) --head;
  while (tail < text.size() && continues_character(text[tail])) ++tail;
  return std::string(text.substr(0, head)).append(gap).append(text.substr(tail));
}

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    if (length > 0) {
      result += text.substr(0, length);
    } else {
      const unsigned code = static_cast<unsigned char>(text.front());
      result += static_cast<char>(0xc0u | (code >> 6));
      result += static_cast<char>(0x80u | (code & 0x3fu));
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace kastor::io::detail

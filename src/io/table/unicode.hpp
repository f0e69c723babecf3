// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_UNICODE_HPP
#define KASTOR_SRC_IO_TABLE_UNICODE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kastor::io::detail {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< bytes; 0 if this is not UTF-8
};
/// The first character of a non-empty text (RFC 3629: no overlong forms, no surrogates).
[[nodiscard]] Character first_character(std::string_view text);

/// The text in a form that every text format can hold on one line: UTF-8 in which control
/// characters, line ends and non-characters become '?', and invalid bytes become U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text);

/// The text as UTF-8: bytes that are not UTF-8 are taken as Latin-1.
[[nodiscard]] std::string as_utf8(std::string_view text);

[[nodiscard]] bool is_ascii(std::string_view text);

}  // namespace kastor::io::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TEXT_HPP
#define KASTOR_SRC_IO_TEXT_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// The text in a form that a message can hold, whatever the name of a file or the bytes of a
/// header: UTF-8 on one line, in which invalid bytes become U+FFFD, and '?' stands for what
/// `clean_text()` replaces and for characters that only change how others look, such as the order
/// of writing.
[[nodiscard]] std::string one_line(std::string_view text);

/// Bytes of a message. A name may have 4096, and the text of a header any number.
inline constexpr std::size_t k_longest_message = 980;

/// UTF-8 of at most `k_longest_message` bytes: "..." in the place of the middle of a longer text.
[[nodiscard]] std::string shortened(std::string_view text);

/// The text in a form that FITS header cards can hold: printable ASCII only.
[[nodiscard]] inline std::string printable_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code > 0x7e) c = '?';
  }
  return result;
}

/// The name of an output in messages: the target, if `path` is one of OutputSet's temporary names
/// (`.NAME.kastor-XXXXXX.tmp`).
[[nodiscard]] inline std::string shown_output(std::string_view path) {
  constexpr std::string_view infix = ".kastor-";
  constexpr std::string_view suffix = ".tmp";
  const std::size_t tail = infix.size() + 6 + suffix.size();
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  const bool temporary = path.size() > name + 1 + tail && path[name] == '.' &&
                         path.ends_with(suffix) &&
                         path.substr(path.size() - tail, infix.size()) == infix;
  if (!temporary) return one_line(path);
  return one_line(path.substr(0, name)) +
         one_line(path.substr(name + 1, path.size() - tail - name - 1));
}

/// The text without trailing blanks, which are not significant in FITS strings.
[[nodiscard]] inline std::string trimmed(std::string_view text) {
  const auto last = text.find_last_not_of(' ');
  return std::string(last == std::string_view::npos ? std::string_view{}
                                                    : text.substr(0, last + 1));
}

/// ASCII upper case, independent of the locale.
[[nodiscard]] inline std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

}  // namespace kastor::io::detail

#endif

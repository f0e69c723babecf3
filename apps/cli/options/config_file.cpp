// SPDX-License-Identifier: Apache-2.0
#include "cli/options/config_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <kastor/error.hpp>
#include <optional>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr std::string_view bare_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::size_t most_bytes = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits of a number that may have single underscores between them; empty if `text` is
/// something else.
std::string digits_of(std::string_view text) {
  std::string digits;
  char before = '_';
  for (const char c : text) {
    if (!is_digit(c) && (c != '_' || before == '_')) return {};
    if (c != '_') digits += c;
    before = c;
  }
  return before == '_' ? std::string{} : digits;
}

/// Removes the characters up to one of `ends` from `text`, and returns them.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  const auto taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

/// Parses TOML's decimal integers and floats: no leading zeros, digits on both sides of the point.
std::optional<ConfigValue> number_of(std::string_view text) {
  std::string sign;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  if (text == "inf" || text == "nan")
    return ConfigValue{ConfigType::real, sign + std::string(text)};
  std::string number = digits_of(take_until(text, ".eE"));
  if (number.empty() || (number.size() > 1 && number.front() == '0')) return std::nullopt;
  if (text.empty()) return ConfigValue{ConfigType::integer, sign + number};
  if (text.front() == '.') {
    text.remove_prefix(1);
    const std::string fraction = digits_of(take_until(text, "eE"));
    if (fraction.empty()) return std::nullopt;
    number += "." + fraction;
  }
  if (!text.empty()) {
    text.remove_prefix(1);
    std::string exponent_sign;
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
      exponent_sign = text.substr(0, 1);
      text.remove_prefix(1);
    }
    const std::string exponent = digits_of(text);
    if (exponent.empty()) return std::nullopt;
    number += "e" + exponent_sign + exponent;
  }
  return ConfigValue{ConfigType::real, sign + number};
}

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int following = code < 0x800 ? 1 : (code < 0x10000 ? 2 : 3);
  constexpr std::uint32_t marks[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(marks[following] | (code >> (6 * following)));
  for (int i = following - 1; i >= 0; --i)
    text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : m_path(path), m_text(text) {}

  std::vector<ConfigEntry> entries() {
    std::vector<ConfigEntry> entries;
    for (skip_empty_lines(); !at_end(); skip_empty_lines()) {
      entries.push_back(entry());
      const auto& last = entries.back();
      const auto first = std::find_if(entries.begin(), entries.end() - 1,
                                      [&](const auto& other) { return other.key == last.key; });
      if (first != entries.end() - 1) {
        fail(last.line,
             fmt::format("{}: given more than once; expected at most once (also in line {})",
                         last.key, first->line));
      }
    }
    return entries;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw UsageError(place_in_config(m_path, line) + what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(m_line, what); }

  [[nodiscard]] bool at_end() const { return m_at == m_text.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\n' : m_text[m_at]; }
  [[nodiscard]] bool at_line_end() const {
    return peek() == '\n' || (peek() == '\r' && m_text.substr(m_at, 2) == "\r\n");
  }

  void skip_blanks() {
    while (!at_end() && (peek() == ' ' || peek() == '\t')) ++m_at;
  }
  void skip_comment() {
    skip_blanks();
    if (peek() == '#') m_at = std::min(m_text.find('\n', m_at), m_text.size());
  }
  void skip_line_end() {
    if (at_end()) return;
    m_at += peek() == '\r' ? 2 : 1;
    ++m_line;
  }
  void skip_empty_lines() {
    for (skip_comment(); !at_end() && at_line_end(); skip_comment()) skip_line_end();
  }

  /// The text at this position, for a message.
  [[nodiscard]] std::string rest_of_line() const {
    const auto end = std::min(m_text.find('\n', m_at), m_text.size());
    std::string rest(m_text.substr(m_at, end - m_at));
    while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ')) rest.pop_back();
    return rest.empty() ? "the end of the line" : "'" + rest + "'";
  }

  ConfigEntry entry() {
    const int line = m_line;
    const std::string found = rest_of_line();
    if (peek() == '[') {
      fail("found the table " + found + "; expected lines of the form key = value, without tables");
    }
    std::string name = key();
    skip_blanks();
    if (name.empty() || at_end() || peek() != '=') {
      fail("found " + found + "; expected a line of the form key = value");
    }
    ++m_at;
    skip_blanks();
    ConfigEntry entry{std::move(name), line, peek() == '[', {}};
    if (entry.is_array) {
      entry.values = array(entry.key);
    } else {
      entry.values.push_back(value(entry.key));
    }
    skip_comment();
    if (!at_line_end()) {
      fail(entry.key + ": found " + rest_of_line() +
           " after the value; expected the end of the line");
    }
    return entry;
  }

  std::string key() {
    if (peek() == '"' || peek() == '\'') return string("the key");
    const auto end = std::min(m_text.find_first_not_of(bare_characters, m_at), m_text.size());
    std::string name(m_text.substr(m_at, end - m_at));
    m_at = end;
    return name;
  }

  std::vector<ConfigValue> array(const std::string& key) {
    std::vector<ConfigValue> values;
    const int line = m_line;
    ++m_at;
    for (skip_empty_lines(); peek() != ']'; skip_empty_lines()) {
      if (at_end()) fail(line, key + ": found an unclosed list; expected ']'");
      values.push_back(value(key));
      skip_empty_lines();
      if (peek() == ',') {
        ++m_at;
      } else if (!at_end() && peek() != ']') {
        fail(key + ": found " + rest_of_line() + " in the list; expected ',' or ']'");
      }
    }
    ++m_at;
    return values;
  }

  ConfigValue value(const std::string& key) {
    if (peek() == '"' || peek() == '\'') return {ConfigType::string, string(key)};
    const auto end = std::min(m_text.find_first_of(",]# \t\r\n", m_at), m_text.size());
    const std::string_view word = m_text.substr(m_at, end - m_at);
    const auto number = number_of(word);
    const bool boolean = word == "true" || word == "false";
    if (!number && !boolean) {
      fail(key + ": found " + rest_of_line() +
           "; expected a number, true, false, a quoted string, or a list of them in []");
    }
    m_at = end;
    return number ? *number : ConfigValue{ConfigType::boolean, std::string(word)};
  }

  std::string string(const std::string& key) {
    const std::string found = rest_of_line();
    const char quote = peek();
    if (m_text.substr(m_at, 3) == std::string(3, quote)) {
      fail(key + ": found " + found +
           "; expected a string on one line, in single or double quotes");
    }
    std::string text;
    for (++m_at; peek() != quote || at_end(); ++m_at) {
      if (at_end() || at_line_end()) {
        fail(key + ": found " + found + "; expected a closing " + quote);
      }
      if (quote == '"' && peek() == '\\') {
        escape(key, text);
      } else {
        text += peek();
      }
    }
    ++m_at;
    if (text.find('\0') != std::string::npos) {
      fail(key + ": found a string with a NUL character; expected none");
    }
    return text;
  }

  /// Stops at the last character of the escape.
  void escape(const std::string& key, std::string& text) {
    constexpr std::string_view letters = "btnfr\"\\";
    constexpr std::string_view meanings = "\b\t\n\f\r\"\\";
    ++m_at;
    const char letter = peek();
    if (const auto which = letters.find(letter); which != std::string_view::npos) {
      text += meanings[which];
      return;
    }
    const std::size_t digits = letter == 'u' ? 4 : (letter == 'U' ? 8 : 0);
    const auto code_text = m_text.substr(std::min(m_at + 1, m_text.size()), digits);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(code_text.data(), code_text.data() + code_text.size(), code, 16);
    const bool whole = end == code_text.data() + digits && digits != 0 && error == std::errc{};
    if (!whole || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      fail(key + ": found the escape \\" + rest_of_line() +
           "; expected an escape of TOML, or a string in single quotes, which has none");
    }
    append_utf8(text, code);
    m_at += digits;
  }

  const std::string& m_path;
  std::string_view m_text;
  std::size_t m_at = 0;
  int m_line = 1;
};

}  // namespace

std::string place_in_config(const std::string& path, int line) {
  return fmt::format("{}:{}: ", path, line);
}

std::vector<ConfigEntry> parse_config(const std::string& path, std::string_view text) {
  return Reader(path, text).entries();
}

std::vector<ConfigEntry> read_config(const std::string& path) {
  if (path.empty()) throw UsageError("--config: found ''; expected a file name");
  const auto fail = [&](const std::string& found) {
    throw Error(path + ": " + found + "; expected a configuration file (TOML)");
  };
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    fail(errno == ENOENT ? "no such file"
                         : std::string("cannot be read (") + std::strerror(errno) + ")");
  }
  if (S_ISDIR(status.st_mode)) fail("is a directory");
  if (!S_ISREG(status.st_mode)) fail("is not a regular file");
  if (static_cast<std::uintmax_t>(status.st_size) > most_bytes) {
    fail(fmt::format("has {} bytes, more than {}", status.st_size, most_bytes));
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.eof()) {
    fail(std::string("cannot be read (") + std::strerror(errno != 0 ? errno : EIO) + ")");
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_config(path, text);
}

std::string config_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace kastor::cli

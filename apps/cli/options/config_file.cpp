// SPDX-License-Identifier: Apache-2.0
#include "cli/options/config_file.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are those of toml++
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// NOLINTEND(readability-identifier-naming)
#include <sys/stat.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <kastor/error.hpp>
#include <optional>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"
#include "io/table/unicode.hpp"

namespace kastor::cli {
namespace {

constexpr std::string_view bare_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::size_t most_bytes = 1 << 20;
constexpr const char* value_words =
    "a number of at most 64 bits, true, false, a quoted string, or a list of them in []";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The entries of toml++'s table in the order of the file, and Kastor's messages for what is no
/// TOML or more than options need.
class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : m_path(path), m_text(text) {}

  std::vector<ConfigEntry> entries() const {
    require_utf8();
    const auto parsed = toml::parse(m_text);
    if (!parsed) refuse(parsed.error());
    std::vector<std::pair<const toml::key*, const toml::node*>> nodes;
    for (const auto& [key, node] : parsed.table()) nodes.emplace_back(&key, &node);
    const auto begin = [](const auto& node) { return node.first->source().begin; };
    std::sort(nodes.begin(), nodes.end(),
              [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
    std::vector<ConfigEntry> entries;
    for (const auto& [key, node] : nodes) entries.push_back(entry(*key, *node));
    return entries;
  }

 private:
  struct Place {
    std::string key;
    std::size_t value;  ///< where the value begins in the text
    std::size_t line;   ///< from 1
  };

  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw UsageError(place_in_config(m_path, static_cast<int>(line)) + what);
  }
  [[noreturn]] void fail_no_entry(std::size_t line) const {
    const std::size_t at = start_of(line);
    fail(line, quoted(at).starts_with("'[")
                   ? "found the table " + quoted(at) +
                         "; expected lines of the form key = value, without tables"
                   : "found " + quoted(at) + "; expected a line of the form key = value");
  }

  void require_utf8() const {
    std::size_t line = 1;
    for (std::size_t at = 0; at < m_text.size(); ++line) {
      const auto end = std::min(m_text.find('\n', at), m_text.size());
      const auto text = m_text.substr(at, end - at);
      if (io::detail::as_utf8(text) != text)
        fail(line, "found bytes that are not UTF-8; expected UTF-8, as TOML is");
      at = end + 1;
    }
  }

  [[nodiscard]] std::size_t start_of(std::size_t line) const {
    std::size_t at = 0;
    for (; line > 1; --line) at = std::min(m_text.find('\n', at), m_text.size() - 1) + 1;
    return at;
  }

  /// toml++ counts characters in a line, not bytes.
  [[nodiscard]] std::size_t offset_of(const toml::source_position& position) const {
    std::size_t at = start_of(position.line);
    for (auto column = position.column; column > 1 && at < m_text.size(); --column) {
      do {
        ++at;
      } while (at < m_text.size() && (static_cast<unsigned char>(m_text[at]) & 0xc0) == 0x80);
    }
    return at;
  }

  /// The text from `at` to the end of its line, in quotes, for a message.
  [[nodiscard]] std::string quoted(std::size_t at) const {
    while (at < m_text.size() && is_blank(m_text[at])) ++at;
    std::string rest(m_text.substr(at, m_text.find('\n', at) - at));
    while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ')) rest.pop_back();
    return rest.empty() ? "the end of the line" : "'" + rest + "'";
  }

  [[nodiscard]] bool is_line_end(std::size_t at) const {
    return at >= m_text.size() || m_text[at] == '\n' || m_text[at] == '\r';
  }

  ConfigEntry entry(const toml::key& key, const toml::node& node) const {
    const auto line = key.source().begin.line;
    const std::string name(key.str());
    const auto* table = node.as_table();
    if ((table != nullptr && !table->is_inline()) || quoted(start_of(line)).starts_with("'[")) {
      fail_no_entry(line);
    }
    ConfigEntry entry{name, static_cast<int>(line), node.is_array(), {}};
    if (const auto* array = node.as_array()) {
      for (const auto& element : *array) entry.values.push_back(value(name, element));
    } else {
      entry.values.push_back(value(name, node));
    }
    return entry;
  }

  ConfigValue value(const std::string& key, const toml::node& node) const {
    const auto begin = node.source().begin;
    if (const auto* text = node.as_string()) {
      if (text->get().find('\0') != std::string::npos)
        fail(begin.line, key + ": found a string with a NUL character; expected none");
      return {ConfigType::string, text->get()};
    }
    if (const auto* number = node.as_integer())
      return {ConfigType::integer, std::to_string(number->get())};
    // With a point, so that 2.0 stays no integer.
    if (const auto* number = node.as_floating_point())
      return {ConfigType::real, fmt::format("{:#}", number->get())};
    if (const auto* boolean = node.as_boolean())
      return {ConfigType::boolean, boolean->get() ? "true" : "false"};
    fail(begin.line, key + ": found " + quoted(offset_of(begin)) + "; expected " + value_words);
  }

  /// The key of a line of the form key = value.
  [[nodiscard]] std::optional<Place> entry_in(std::size_t line) const {
    std::size_t at = start_of(line);
    const auto skip_blanks = [&] {
      while (at < m_text.size() && is_blank(m_text[at])) ++at;
    };
    skip_blanks();
    const char quote = at < m_text.size() ? m_text[at] : '\n';
    const bool is_quoted = quote == '"' || quote == '\'';
    if (is_quoted) ++at;
    const auto end =
        std::min(is_quoted ? m_text.find(quote, at) : m_text.find_first_not_of(bare_characters, at),
                 m_text.size());
    std::string key(m_text.substr(at, end - at));
    at = std::min(end + (is_quoted ? 1 : 0), m_text.size());
    skip_blanks();
    if (key.empty() || at == m_text.size() || m_text[at] != '=') return std::nullopt;
    ++at;
    skip_blanks();
    return Place{std::move(key), at, line};
  }

  /// The entry in which toml++ stopped at a line: the last one above which all is TOML.
  [[nodiscard]] std::optional<Place> entry_before(std::size_t last) const {
    for (std::size_t line = last; line >= 1; --line) {
      auto place = entry_in(line);
      if (!place && line != last) continue;
      const auto above = toml::parse(m_text.substr(0, start_of(line)));
      if (!above) continue;
      if (!place) return std::nullopt;
      const auto first = above.table().find(place->key);
      if (first != above.table().cend()) {
        fail(line, fmt::format("{}: given more than once; expected at most once (also in line {})",
                               place->key, first->first.source().begin.line));
      }
      return place;
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse(const toml::parse_error& error) const {
    const auto position = error.source().begin;
    const auto place = entry_before(position.line);
    if (!place) fail_no_entry(position.line);
    const std::size_t at = offset_of(position);
    const auto fail_value = [&, line = place->line](const std::string& what) {
      fail(line, place->key + ": found " + what);
    };
    if (is_line_end(place->value)) fail_value(quoted(place->value) + "; expected " + value_words);
    const char first = m_text[place->value];
    const bool is_string = first == '"' || first == '\'';
    if (ends_before(*place, at))
      fail_value(quoted(at) + " after the value; expected the end of the line");
    if (is_string && is_line_end(at))
      fail_value(quoted(place->value) + "; expected a closing " + first);
    const auto escape = m_text.rfind('\\', at);
    if (first == '"' && escape != std::string_view::npos && escape > place->value) {
      fail_value("the escape " + quoted(escape) +
                 "; expected an escape of TOML, or a string in single quotes, which has none");
    }
    if (first == '[' && at >= m_text.size()) fail_value("an unclosed list; expected ']'");
    if (first != '[' && first != '{' && !is_string)
      fail_value(quoted(place->value) + "; expected " + value_words);
    fail(position.line, place->key + ": found " + quoted(word_at(at)) + "; expected TOML (" +
                            std::string(error.description()) + ")");
  }

  /// Whether the value is whole before `at`, where the next word begins.
  [[nodiscard]] bool ends_before(const Place& place, std::size_t at) const {
    if (at <= place.value || at >= m_text.size()) return false;
    if (!is_blank(m_text[at - 1]) && m_text[at] != ',' && m_text[at] != ']') return false;
    const std::string value =
        "value = " + std::string(m_text.substr(place.value, at - place.value));
    return toml::parse(value).succeeded();
  }

  [[nodiscard]] std::size_t word_at(std::size_t at) const {
    const auto before = at == 0 ? at : m_text.find_last_of(",[]{}= \t\n", at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }

  const std::string& m_path;
  std::string_view m_text;
};

}  // namespace

std::string place_in_config(const std::string& path, int line) {
  return fmt::format("{}:{}: ", path, line);
}

std::vector<ConfigEntry> parse_config(const std::string& path, std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
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

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <fstream>
#include <kastor/error.hpp>
#include <string_view>

#include "io/fits/input_file.hpp"
#include "io/table/table_numbers.hpp"
#include "io/table/table_readers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

// Longest part of a field that is shown in a message.
constexpr std::size_t k_shown = 40;
// Rows that are read ahead, at most, to find a value in each column.
constexpr std::size_t k_most_ahead = 1000;

std::string shown(std::string_view field) {
  return one_line(field.substr(0, k_shown)) + (field.size() > k_shown ? "..." : "");
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Splits a line into fields. The views are valid until the next line is split.
class Splitter {
 public:
  /// ' ' means any number of blanks and tabs
  explicit Splitter(char delimiter) : m_delimiter(delimiter) {}

  /// False if a quoted field is not closed.
  bool split(std::string_view line, std::vector<std::string_view>& fields) {
    fields.clear();
    m_unescaped.clear();
    std::size_t at = 0;
    for (;;) {
      while (at < line.size() && skipped(line[at])) ++at;
      if (m_delimiter == ' ' && at == line.size()) return true;
      std::string_view field;
      if (at < line.size() && line[at] == '"') {
        if (!quoted(line, at, field)) return false;
        while (at < line.size() && !ends_field(line[at])) ++at;
      } else {
        const auto begin = at;
        while (at < line.size() && !ends_field(line[at])) ++at;
        field = without_blanks(line.substr(begin, at - begin));
      }
      fields.push_back(field);
      if (at == line.size()) return true;
      ++at;
    }
  }

 private:
  [[nodiscard]] bool skipped(char c) const {
    return is_blank(c) && (c != m_delimiter || m_delimiter == ' ');
  }
  [[nodiscard]] bool ends_field(char c) const {
    return m_delimiter == ' ' ? is_blank(c) : c == m_delimiter;
  }

  /// `at` moves from the opening quote to after the closing one; "" within means a quote.
  bool quoted(std::string_view line, std::size_t& at, std::string_view& field) {
    const auto begin = ++at;
    bool escaped = false;
    for (; at < line.size(); ++at) {
      if (line[at] != '"') continue;
      if (line.substr(at, 2) != "\"\"") break;
      escaped = true;
      ++at;
    }
    if (at >= line.size()) return false;
    field = line.substr(begin, at - begin);
    ++at;
    if (!escaped) return true;
    std::string plain;
    for (std::size_t i = 0; i < field.size(); ++i) {
      plain += field[i];
      if (field[i] == '"') ++i;
    }
    m_unescaped.push_back(std::move(plain));
    field = m_unescaped.back();
    return true;
  }

  char m_delimiter;
  std::deque<std::string> m_unescaped;  // a deque: its elements do not move
};

char delimiter_of(std::string_view header) {
  if (header.find(',') != std::string_view::npos) return ',';
  return without_blanks(header).find('\t') != std::string_view::npos ? '\t' : ' ';
}

/// "ra [deg]": a name followed by its unit in brackets.
TableColumn column_of(std::string_view text) {
  TableColumn column;
  const auto bracket = text.find('[');
  if (bracket != std::string_view::npos && bracket > 0 && text.ends_with(']')) {
    column.unit = without_blanks(text.substr(bracket + 1, text.size() - bracket - 2));
    text = without_blanks(text.substr(0, bracket));
  }
  column.name = text;
  return column;
}

/// Whether every field is like "[deg]" or "--": a line of units below the names.
bool are_units(const std::vector<std::string_view>& fields) {
  return std::all_of(fields.begin(), fields.end(), [](std::string_view field) {
    return field == "--" || (field.starts_with('[') && field.ends_with(']'));
  });
}

/// "   3 ALPHA_J2000  Right ascension of barycenter (J2000)  [deg]"
struct NumberedColumn {
  std::size_t number;
  TableColumn column;
};
std::optional<NumberedColumn> numbered_column(std::string_view comment) {
  std::vector<std::string_view> words;
  Splitter(' ').split(comment, words);
  if (words.size() < 2) return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] =
      std::from_chars(words[0].data(), words[0].data() + words[0].size(), number);
  if (error != std::errc{} || end != words[0].data() + words[0].size()) return std::nullopt;
  NumberedColumn found{number, {}};
  found.column.name = words[1];
  const auto text = without_blanks(comment);
  const auto bracket = text.rfind('[');
  if (bracket != std::string_view::npos && text.ends_with(']'))
    found.column.unit = text.substr(bracket + 1, text.size() - bracket - 2);
  return found;
}

class TextTable {
 public:
  explicit TextTable(const std::string& path)
      : m_path(path), m_stream(open_regular_file(path, "a catalogue")) {}

  std::optional<TableFromFile> read(const ColumnChoice& choose) {
    std::string line;
    const bool any = next_filled(line);
    find_columns(any ? line : "");
    if (any && m_first_is_data) m_ahead.push_back({m_line, line});
    if (!m_first_is_data) take_line_of_units();
    find_types();
    const auto requests = choose(m_columns);
    if (requests.empty()) return std::nullopt;

    TableFromFile found{empty_table(m_columns, requests), m_format, one_line(m_path)};
    found.table.frame = frame_of(found.table);
    Splitter splitter(m_delimiter);
    std::vector<std::string_view> fields;
    while (next_row(line)) {
      split(splitter, line, fields);
      append(fields, requests, found.table);
      found.lines.push_back(m_line);
    }
    if (m_stream.bad()) fail("cannot be read to its end; expected a catalogue");
    return found;
  }

 private:
  bool next(std::string& line) {
    if (!std::getline(m_stream, line)) return false;
    if (++m_line == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  /// Reads the next line that is neither empty nor a comment. Keeps the comments before the first
  /// one.
  bool next_filled(std::string& line) {
    while (next(line)) {
      const auto text = without_blanks(line);
      if (text.empty()) continue;
      if (!text.starts_with('#')) {
        m_head_ended = true;
        return true;
      }
      if (!m_head_ended) {
        auto comment = text.substr(1);
        if (comment.starts_with(' ')) comment.remove_prefix(1);
        m_comments.emplace_back(comment);
      }
    }
    return false;
  }

  /// The next line of data: of those read ahead, then of the file.
  bool next_row(std::string& line) {
    if (m_ahead.empty()) return next_filled(line);
    m_line = m_ahead.front().number;
    line = std::move(m_ahead.front().text);
    m_ahead.pop_front();
    return true;
  }

  bool read_ahead() {
    std::string line;
    if (!next_filled(line)) return false;
    m_ahead.push_back({m_line, std::move(line)});
    return true;
  }

  /// VizieR's text: below the names a line of units, and then a line of dashes.
  void take_line_of_units() {
    if (!read_ahead() || !read_ahead()) return;
    Splitter splitter(m_delimiter);
    std::vector<std::string_view> fields;
    const auto is_dashes = [](std::string_view field) {
      return !field.empty() && field.find_first_not_of('-') == std::string_view::npos;
    };
    const bool good = splitter.split(m_ahead[1].text, fields) && fields.size() == m_width &&
                      std::all_of(fields.begin(), fields.end(), is_dashes) &&
                      m_ahead[1].text.find("---") != std::string::npos &&
                      splitter.split(m_ahead[0].text, fields) && fields.size() == m_width;
    if (!good) return;
    for (std::size_t i = 0; i < m_width; ++i) m_columns[i].unit = fields[i];
    m_ahead.clear();
  }

  /// A column is numbers or text as its first value is; columns without any among the first rows
  /// remain unknown.
  void find_types() {
    std::vector<bool> known(m_columns.size());
    std::size_t unknown = m_columns.size();
    Splitter splitter(m_delimiter);
    std::vector<std::string_view> fields;
    for (std::size_t row = 0; unknown > 0 && row < k_most_ahead; ++row) {
      if (row == m_ahead.size() && !read_ahead()) return;
      if (!splitter.split(m_ahead[row].text, fields)) return;  // refused later, with its line
      for (std::size_t i = 0; i < std::min(fields.size(), m_columns.size()); ++i) {
        if (known[i] || means_none(fields[i])) continue;
        known[i] = true;
        --unknown;
        if (number_of(fields[i])) {
          m_columns[i].values = std::vector<double>();
        } else {
          m_columns[i].values = std::vector<std::string>();
        }
      }
    }
  }

  /// \param first  the first line that is not a comment; may be empty
  void find_columns(const std::string& first) {
    if (!m_comments.empty() && m_comments.front().starts_with("%ECSV")) {
      auto header = parse_ecsv_header(m_comments);
      m_format = TableFileFormat::ecsv;
      m_delimiter = header.delimiter;
      m_columns = std::move(header.columns);
      m_frames = std::move(header.frames);
      m_width = m_columns.size();
      return;  // the first line repeats the names
    }
    if (find_numbered_columns(first)) return;
    m_delimiter = delimiter_of(first);
    Splitter splitter(m_delimiter);
    std::vector<std::string_view> fields;
    if (!splitter.split(first, fields))
      fail(fmt::format("line {} has an unclosed quoted field; expected a closing \"", m_line));
    m_first_is_data = first.empty() || std::any_of(fields.begin(), fields.end(), is_plain_number);
    m_width = fields.size();
    if (!m_first_is_data) {
      for (const auto field : fields) m_columns.push_back(column_of(field));
      return;
    }
    find_names_in_comments(first.empty());
  }

  bool find_numbered_columns(std::string_view first) {
    for (const auto& comment : m_comments) {
      const auto found = numbered_column(comment);
      // Missing numbers are further elements of an array.
      if (!found || found->number <= m_columns.size() || found->number > m_columns.size() + 1000) {
        if (m_columns.empty()) continue;
        break;
      }
      if (m_columns.empty() && found->number != 1) continue;
      m_columns.resize(found->number - 1);
      m_columns.push_back(found->column);
    }
    std::vector<std::string_view> fields;
    Splitter(' ').split(first, fields);
    // A single line might be a sentence that begins with a number.
    const bool fits = m_columns.size() > 1 && (first.empty() || fields.size() >= m_columns.size());
    if (!fits) {
      m_columns.clear();
      return false;
    }
    m_delimiter = ' ';
    m_first_is_data = true;
    m_width = first.empty() ? m_columns.size() : fields.size();
    m_columns.resize(m_width);
    return true;
  }

  /// The last comment with as many fields as the data; if there are no data, the last comment.
  void find_names_in_comments(bool without_data) {
    std::vector<std::string> units;
    for (auto comment = m_comments.rbegin(); comment != m_comments.rend(); ++comment) {
      if (without_blanks(*comment).empty()) continue;
      if (without_data) m_delimiter = delimiter_of(*comment);
      Splitter splitter(m_delimiter);
      std::vector<std::string_view> fields;
      if (!splitter.split(*comment, fields)) continue;
      if (!without_data && fields.size() != m_width) continue;
      if (are_units(fields)) {
        units.assign(fields.begin(), fields.end());
        continue;
      }
      for (const auto field : fields) m_columns.push_back(column_of(field));
      m_width = m_columns.size();
      if (units.size() == m_width) {
        for (std::size_t i = 0; i < m_width; ++i) {
          if (units[i] != "--") m_columns[i].unit = units[i].substr(1, units[i].size() - 2);
        }
      }
      return;
    }
    fail("has no header line; expected the column names, as in ra,dec,flux_peak");
  }

  /// The frame of the first column that is a part of one with a frame, else of the whole table.
  [[nodiscard]] std::optional<SkyFrame> frame_of(const Table& table) const {
    for (const auto& column : table.columns) {
      const auto dot = column.name.rfind('.');
      if (dot == std::string::npos) continue;
      for (const auto& [name, frame] : m_frames) {
        if (!name.empty() && name == column.name.substr(0, dot)) return frame;
      }
    }
    for (const auto& [name, frame] : m_frames) {
      if (name.empty()) return frame;
    }
    return std::nullopt;
  }

  void split(Splitter& splitter, std::string_view line, std::vector<std::string_view>& fields) {
    if (!splitter.split(line, fields))
      fail(fmt::format("line {} has an unclosed quoted field; expected a closing \"", m_line));
    // Some writers put a delimiter after the last field.
    if (fields.size() == m_width + 1 && fields.back().empty()) fields.pop_back();
    if (fields.size() != m_width) {
      fail(fmt::format("line {} has {} field{}; expected {}, one for each column", m_line,
                       fields.size(), fields.size() == 1 ? "" : "s", m_width));
    }
  }

  void append(const std::vector<std::string_view>& fields,
              const std::vector<ColumnRequest>& requests, Table& table) const {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto& column = table.columns[i];
      const auto field = fields[requests[i].column];
      if (auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
        texts->emplace_back(field);
        continue;
      }
      const auto value = number_of(field);
      if (!value) {
        fail(fmt::format("line {}: {} is '{}'; expected a number", m_line, one_line(column.name),
                         shown(field)));
      }
      std::get<std::vector<double>>(column.values).push_back(*value);
    }
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(one_line(m_path) + ": " + message);
  }

  std::string m_path;
  std::ifstream m_stream;
  std::int64_t m_line = 0;  // of the line at hand
  struct Line {
    std::int64_t number;
    std::string text;
  };
  std::deque<Line> m_ahead;  // lines of data that were read to know the columns
  bool m_head_ended = false;
  std::vector<std::string> m_comments;

  TableFileFormat m_format = TableFileFormat::text;
  char m_delimiter = ',';
  std::vector<TableColumn> m_columns;
  std::vector<std::pair<std::string, std::optional<SkyFrame>>> m_frames;  // of ECSV
  std::size_t m_width = 0;  // number of fields in a line
  bool m_first_is_data = false;
};

}  // namespace

std::optional<TableFromFile> read_text_table(const std::string& path, const ColumnChoice& choose) {
  return TextTable(path).read(choose);
}

}  // namespace kastor::io::detail

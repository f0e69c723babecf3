// SPDX-License-Identifier: Apache-2.0
// ECSV (Enhanced Character-Separated Values 1.0, Astropy Proposal for Enhancement 6): the header is
// YAML. Only the form that is used for tables is read: a list of columns, each a mapping in braces
// or with one key per line.
#include <algorithm>
#include <string_view>

#include "io/table/table_numbers.hpp"
#include "io/table/table_readers.hpp"

namespace kastor::io::detail {
namespace {

std::string unquoted(std::string_view text) {
  text = without_blanks(text);
  const bool quoted = text.size() > 1 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  if (!quoted) return std::string(text);
  const char quote = text.front();
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const bool tab = quote == '"' && text.substr(i, 2) == "\\t";
    plain += tab ? '\t' : text[i];
    if (tab || (quote == '\'' && text.substr(i, 2) == "''")) ++i;
  }
  return plain;
}

void take(std::string_view pair, TableColumn& column) {
  const auto colon = pair.find(':');
  if (colon == std::string_view::npos) return;
  const auto key = without_blanks(pair.substr(0, colon));
  auto value = without_blanks(pair.substr(colon + 1));
  if (value.starts_with('!')) {  // a tag, as in "!astropy.units.Unit {unit: mJy}"
    const auto brace = value.find('{');
    if (brace == std::string_view::npos || !value.ends_with('}')) return;
    value = value.substr(brace + 1, value.size() - brace - 2);
    value.remove_prefix(std::min(value.find(':') + 1, value.size()));
  }
  if (key == "name") column.name = unquoted(value);
  if (key == "unit") column.unit = unquoted(value);
  if (key == "description") column.description = unquoted(value);
}

/// Reads the pairs of "{name: a, unit: deg, ...}", split at the commas of the outermost braces.
TableColumn flow_mapping(std::string_view text) {
  TableColumn column;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') {
      const bool opens = without_blanks(text.substr(begin, i - begin)).ends_with(':');
      if (opens) quote = c;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if ((c == ',' && depth == 1) || (c == '}' && depth == 0)) {
      take(text.substr(begin, i - begin), column);
      begin = i + 1;
    }
  }
  return column;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// A line of the meta: "frame: fk4" of the table, or within astropy's description of a column of
/// several parts, whose name is `mixin`.
void take_frame(std::string_view line, std::string& mixin, EcsvHeader& header) {
  constexpr std::size_t indent_of_mixin = 4;
  auto text = without_blanks(line);
  if (text.starts_with("- ")) text = without_blanks(text.substr(2));
  const auto indent = indent_of(line);
  if (indent == indent_of_mixin && text.ends_with(':'))
    mixin = unquoted(text.substr(0, text.size() - 1));
  if (indent < indent_of_mixin) mixin.clear();
  if (!text.starts_with("frame:")) return;
  header.frames.emplace_back(mixin, frame_called(unquoted(text.substr(text.find(':') + 1))));
}

}  // namespace

EcsvHeader parse_ecsv_header(const std::vector<std::string>& lines) {
  EcsvHeader header;
  bool in_columns = false;
  std::string mixin;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const auto text = without_blanks(line);
    if (indent_of(line) == 0 && !text.starts_with("-")) {
      in_columns = text == "datatype:";
      if (text.starts_with("delimiter:")) {
        const auto delimiter = unquoted(text.substr(text.find(':') + 1));
        if (!delimiter.empty()) header.delimiter = delimiter.front();
      }
      continue;
    }
    if (!in_columns) {
      take_frame(line, mixin, header);
      continue;
    }
    if (!text.starts_with("- ")) {
      // A key of the previous column; keys with more indentation belong to a mapping within it.
      if (!header.columns.empty() && indent_of(line) <= 2) take(text, header.columns.back());
      continue;
    }
    std::string item(without_blanks(text.substr(2)));
    if (!item.starts_with('{')) {
      header.columns.emplace_back();
      take(item, header.columns.back());
      continue;
    }
    // A long mapping continues on the following lines.
    while (std::count(item.begin(), item.end(), '{') > std::count(item.begin(), item.end(), '}') &&
           i + 1 < lines.size()) {
      item += ' ';
      item += without_blanks(lines[++i]);
    }
    header.columns.push_back(flow_mapping(item));
  }
  return header;
}

}  // namespace kastor::io::detail

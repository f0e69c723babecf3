// SPDX-License-Identifier: Apache-2.0
#include "io/table/votable_binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <kastor/error.hpp>
#include <limits>
#include <map>

#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

/// The layout of a field in a row.
struct Layout {
  std::size_t element = 0;  // size of an element [byte]; 0: bits
  std::size_t count = 1;    // number of elements
  bool variable = false;    // preceded by a count of four bytes
};

Layout layout_of(const VotableField& field) {
  static const std::map<std::string_view, std::size_t> sizes = {
      {"boolean", 1}, {"bit", 0},    {"unsignedByte", 1}, {"short", 2},
      {"int", 4},     {"long", 8},   {"char", 1},         {"unicodeChar", 2},
      {"float", 4},   {"double", 8}, {"floatComplex", 8}, {"doubleComplex", 16}};
  const auto size = sizes.find(field.datatype);
  if (size == sizes.end()) {
    throw Error(fmt::format("the field {} has the datatype '{}'; expected a datatype of VOTable",
                            one_line(field.column.name), one_line(field.datatype)));
  }
  Layout layout{size->second, 1, field.arraysize.find('*') != std::string::npos};
  // "8", "3x2", "*", "16*", "3x*"
  std::string_view rest = field.arraysize;
  while (!rest.empty() && rest != "*") {
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool last = rest.empty() || rest == "*";
    if (error != std::errc{} || n > 1u << 30 || (!last && rest.front() != 'x') ||
        (layout.count *= n) > 1u << 30) {  // NOLINT(bugprone-assignment-in-if-condition)
      throw Error(
          fmt::format("the field {} has the arraysize '{}'; expected a size such as 8, 3x2 or *",
                      one_line(field.column.name), one_line(field.arraysize)));
    }
    if (!last) rest.remove_prefix(1);
  }
  return layout;
}

template <class Unsigned>
Unsigned big_endian(std::string_view bytes) {
  Unsigned value = 0;
  for (const char c : bytes.substr(0, sizeof(Unsigned)))
    value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(c));
  return value;
}

/// The bytes of rows, read one field after another.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : m_rest(bytes) {}

  [[nodiscard]] bool at_end() const { return m_rest.empty(); }

  std::string_view take(std::size_t size, std::size_t row) {
    if (m_rest.size() < size) {
      throw Error(fmt::format("the binary data end within row {}; expected whole rows", row));
    }
    const auto bytes = m_rest.substr(0, size);
    m_rest.remove_prefix(size);
    return bytes;
  }

  std::string_view take(const Layout& layout, std::size_t row) {
    const auto count = layout.variable ? big_endian<std::uint32_t>(take(4, row)) : layout.count;
    return take(layout.element == 0 ? (count + 7) / 8 : count * layout.element, row);
  }

 private:
  std::string_view m_rest;
};

std::int64_t integer_of(std::string_view bytes, const std::string& datatype) {
  if (datatype == "unsignedByte") return big_endian<std::uint8_t>(bytes);
  if (datatype == "short") return static_cast<std::int16_t>(big_endian<std::uint16_t>(bytes));
  if (datatype == "int") return static_cast<std::int32_t>(big_endian<std::uint32_t>(bytes));
  return static_cast<std::int64_t>(big_endian<std::uint64_t>(bytes));
}

double number_in(std::string_view bytes, const VotableField& field) {
  if (field.datatype == "float") return std::bit_cast<float>(big_endian<std::uint32_t>(bytes));
  if (field.datatype == "double") return std::bit_cast<double>(big_endian<std::uint64_t>(bytes));
  const auto value = integer_of(bytes, field.datatype);
  if (!field.null.empty() && field.null == std::to_string(value))
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(value);
}

std::string text_in(std::string_view bytes, const VotableField& field) {
  if (field.datatype == "char") return std::string(bytes.substr(0, bytes.find('\0')));
  if (field.datatype == "unicodeChar") {  // UCS-2; other than ASCII is only for display
    std::string text;
    for (; bytes.size() >= 2; bytes.remove_prefix(2)) {
      const auto code = big_endian<std::uint16_t>(bytes);
      if (code == 0) break;
      text += code < 0x80 ? static_cast<char>(code) : '?';
    }
    return text;
  }
  if (!is_number(field)) return "";
  if (field.datatype == "float" || field.datatype == "double")
    return fmt::format("{}", number_in(bytes, field));
  std::string text = std::to_string(integer_of(bytes, field.datatype));
  return !field.null.empty() && text == field.null ? "" : text;
}

}  // namespace

bool is_number(const VotableField& field) {
  const auto& type = field.datatype;
  const bool one = field.arraysize.empty() || field.arraysize == "1";
  return one && (type == "unsignedByte" || type == "short" || type == "int" || type == "long" ||
                 type == "float" || type == "double");
}

void append_binary_rows(std::string_view bytes, bool with_null_flags,
                        const std::vector<VotableField>& fields,
                        const std::vector<ColumnRequest>& requests, Table& table) {
  std::vector<Layout> layouts;
  layouts.reserve(fields.size());
  for (const auto& field : fields) layouts.push_back(layout_of(field));
  std::vector<std::string_view> values(fields.size());
  std::vector<bool> is_null(fields.size());
  Cursor cursor(bytes);
  for (std::size_t row = 1; !cursor.at_end(); ++row) {
    if (with_null_flags) {
      const auto flags = cursor.take((fields.size() + 7) / 8, row);
      for (std::size_t i = 0; i < fields.size(); ++i)
        is_null[i] = (static_cast<unsigned char>(flags[i / 8]) >> (7 - i % 8) & 1) != 0;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) values[i] = cursor.take(layouts[i], row);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto from = requests[i].column;
      auto& column = table.columns[i];
      if (auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
        texts->push_back(is_null[from] ? "" : text_in(values[from], fields[from]));
      } else {
        std::get<std::vector<double>>(column.values)
            .push_back(is_null[from] ? std::numeric_limits<double>::quiet_NaN()
                                     : number_in(values[from], fields[from]));
      }
    }
  }
}

}  // namespace kastor::io::detail

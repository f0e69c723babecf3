// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/tile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <kastor/error.hpp>
#include <string_view>

#include "io/fits/byte_order.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::int64_t k_most_columns = 999;  // FITS 4.0, 7.3.1

/// Bytes of a value of a binary table's column; 0 for an unknown code.
int size_of_type(char code) {
  constexpr std::string_view codes = "LXBAIJKEDCM";
  constexpr int sizes[] = {1, 1, 1, 1, 2, 4, 8, 4, 8, 8, 16};
  const auto at = codes.find(code);
  return at == std::string_view::npos ? 0 : sizes[at];
}

/// Parses TFORMn: "16A", "1PB(1024)", "D".
/// \param width  of the field in a row [byte]
/// \return false if it is none, or not possible
bool parse_form(std::string_view form, TileColumn& column, std::int64_t& width) {
  form = form.substr(std::min(form.find_first_not_of(' '), form.size()));
  std::int64_t repeat = 1;
  const auto digits = std::min(form.find_first_not_of("0123456789"), form.size());
  if (digits > 9) return false;
  const std::string_view number = form.substr(0, digits);
  if (digits > 0) (void)std::from_chars(number.data(), number.data() + number.size(), repeat);
  form.remove_prefix(digits);
  if (form.empty()) return false;
  char code = upper_case(form.substr(0, 1))[0];
  if (code == 'P' || code == 'Q') {
    column.descriptor = code == 'P' ? 4 : 8;
    if (repeat > 1 || form.size() < 2) return false;
    width = repeat * 2 * column.descriptor;
    code = upper_case(form.substr(1, 1))[0];
  } else {
    width = code == 'X' ? (repeat + 7) / 8 : repeat * size_of_type(code);
  }
  column.type = code;
  column.size = size_of_type(code);
  return column.size > 0;
}

std::int64_t required_integer(const FitsFile& file, const char* keyword) {
  const auto value = stated_integer(file, keyword);
  if (!value) file.fail(fmt::format("there is no {}; expected one in a table", keyword));
  if (*value < 0) file.fail(fmt::format("{}={}; expected 0 or more", keyword, *value));
  return *value;
}

}  // namespace

std::optional<std::int64_t> stated_integer(const FitsFile& file, const char* keyword) {
  const auto value = read_integer(file, keyword);
  if (!value && has_keyword(file, keyword))
    file.fail(fmt::format("{} is not a number; expected an integer", keyword));
  return value;
}

TileTable::TileTable(const FitsFile& file) : m_file(file) {
  read_layout();
  m_row_data.resize(static_cast<std::size_t>(m_rows * m_row_bytes));
  const auto start = file.data_unit().start;
  if (file.read_bytes(start, m_row_data.data(), m_row_data.size()) != m_row_data.size())
    file.fail("data truncated while they were read; expected a file that does not change");
}

void TileTable::read_layout() {
  m_row_bytes = required_integer(m_file, "NAXIS1");
  m_rows = required_integer(m_file, "NAXIS2");
  const std::int64_t extra = std::max<std::int64_t>(0, read_integer(m_file, "PCOUNT").value_or(0));
  const auto unit = m_file.data_unit();
  const std::int64_t held = std::max<std::int64_t>(0, m_file.size() - unit.start);
  std::int64_t table = 0;
  const bool huge = __builtin_mul_overflow(m_row_bytes, m_rows, &table) ||
                    __builtin_add_overflow(table, extra, &m_bytes);
  if (huge || m_bytes > held || unit.end < unit.start) {
    m_file.fail(
        fmt::format("data truncated: header says {} bytes, file holds {}; expected the whole image",
                    huge ? "more than 2^63" : fmt::format("{}", m_bytes), held));
  }
  const std::int64_t heap = stated_integer(m_file, "THEAP").value_or(table);
  if (heap < table || heap > m_bytes)
    m_file.fail(fmt::format("THEAP={}; expected {} to {}", heap, table, m_bytes));
  m_heap = unit.start + heap;
  m_heap_end = std::min(unit.end, m_file.size());
  read_columns(m_row_bytes);
}

void TileTable::read_columns(std::int64_t row_bytes) {
  const std::int64_t count = required_integer(m_file, "TFIELDS");
  if (count > k_most_columns)
    m_file.fail(fmt::format("TFIELDS={}; expected at most {}", count, k_most_columns));
  std::int64_t offset = 0;
  for (std::int64_t i = 1; i <= count; ++i) {
    TileColumn column;
    column.name = upper_case(read_string(m_file, fmt::format("TTYPE{}", i).c_str()).value_or(""));
    const auto form = read_string(m_file, fmt::format("TFORM{}", i).c_str()).value_or("");
    std::int64_t width = 0;
    if (!parse_form(form, column, width))
      m_file.fail(fmt::format("TFORM{}='{}'; expected the form of a column", i, form));
    const double scale = read_double(m_file, fmt::format("TSCAL{}", i).c_str()).value_or(1);
    const double zero = read_double(m_file, fmt::format("TZERO{}", i).c_str()).value_or(0);
    column.is_scaled = scale != 1 || zero != 0;
    column.offset = offset;
    offset += width;
    if (width > 0) m_columns.push_back(std::move(column));
  }
  if (offset != row_bytes) {
    m_file.fail(fmt::format("the columns have {} bytes, a row {} (NAXIS1); expected as many",
                            offset, row_bytes));
  }
}

const TileColumn* TileTable::column(const char* name) const {
  const auto at = std::find_if(m_columns.begin(), m_columns.end(),
                               [&](const TileColumn& column) { return column.name == name; });
  if (at == m_columns.end()) return nullptr;
  if (at->is_scaled) {
    m_file.fail(
        fmt::format("the column {} has a scale (TSCALn, TZEROn); expected none in the table "
                    "of a compressed image",
                    at->name));
  }
  return &*at;
}

HeapPiece TileTable::piece(const TileColumn& column, std::int64_t row) const {
  const std::byte* field = m_row_data.data() + row * m_row_bytes + column.offset;
  std::uint64_t count = 0;
  std::uint64_t at = 0;
  if (column.descriptor == 4) {
    count = load_big_endian<std::uint32_t>(field);
    at = load_big_endian<std::uint32_t>(field + 4);
  } else {
    count = load_big_endian<std::uint64_t>(field);
    at = load_big_endian<std::uint64_t>(field + 8);
  }
  if (count == 0) return {m_heap, 0};
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(0, m_heap_end - m_heap));
  if (at > room || count > (room - at) / static_cast<std::uint64_t>(column.size)) {
    throw Error(fmt::format("{} has {} values at byte {} of the table's heap of {} bytes",
                            column.name, count, at, room));
  }
  return {m_heap + static_cast<std::int64_t>(at), static_cast<std::int64_t>(count)};
}

double TileTable::number(const TileColumn& column, std::int64_t row) const {
  const std::byte* field = m_row_data.data() + row * m_row_bytes + column.offset;
  if (column.descriptor == 0) {
    switch (column.type) {
      case 'B':
        return static_cast<double>(load_big_endian<std::uint8_t>(field));
      case 'I':
        return static_cast<double>(load_big_endian<std::int16_t>(field));
      case 'J':
        return static_cast<double>(load_big_endian<std::int32_t>(field));
      case 'K':
        return static_cast<double>(load_big_endian<std::int64_t>(field));
      case 'E':
        return static_cast<double>(load_big_endian<float>(field));
      case 'D':
        return load_big_endian<double>(field);
      default:
        break;
    }
  }
  throw Error(fmt::format("the column {} does not hold one number per row", column.name));
}

std::optional<std::int64_t> TileTable::integer(const TileColumn& column, std::int64_t row) const {
  if (column.descriptor == 0 && column.type == 'K') {
    return load_big_endian<std::int64_t>(m_row_data.data() + row * m_row_bytes + column.offset);
  }
  const double value = number(column, row);
  if (!(value >= -0x1p63 && value < 0x1p63)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? std::optional(whole) : std::nullopt;
}

}  // namespace kastor::io::detail

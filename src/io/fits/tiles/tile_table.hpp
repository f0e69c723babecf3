// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_TILE_TABLE_HPP
#define KASTOR_SRC_IO_FITS_TILES_TILE_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/fits/fits_file.hpp"

namespace kastor::io::detail {

/// A column of a binary table (FITS 4.0, 7.3), found by its name.
struct TileColumn {
  std::string name;
  std::int64_t offset = 0;  // of the field in a row [byte]
  int descriptor = 0;       // bytes of each number of its descriptor, 4 (P) or 8 (Q); 0: none
  char type = ' ';          // of the values: B, I, J, K, E, D or another code
  int size = 0;             // of a value [byte]
  bool is_scaled = false;   // by TSCALn or TZEROn
};

/// Where values of a column of variable length are.
struct HeapPiece {
  std::int64_t begin = 0;  // in the unpacked file [byte]
  std::int64_t count = 0;  // number of values
};

/// The binary table that holds the tiles of a tile-compressed image (FITS 4.0, 10.1), in the
/// current HDU: a row for each tile. Every offset is checked.
class TileTable {
 public:
  /// Reads the rows, not the heap. \throws kastor::Error
  explicit TileTable(const FitsFile& file);

  [[nodiscard]] std::int64_t rows() const { return m_rows; }
  /// Bytes of rows and heap that the header states.
  [[nodiscard]] std::int64_t bytes() const { return m_bytes; }
  /// None if there is no such column. \throws kastor::Error if it has a scale
  [[nodiscard]] const TileColumn* column(const char* name) const;
  /// Of a column of variable length; `row` from 0. \throws kastor::Error if it is not in the heap,
  /// without the file's name
  [[nodiscard]] HeapPiece piece(const TileColumn& column, std::int64_t row) const;
  /// The first value in the field. \throws kastor::Error  types other than B, I, J, K, E and D,
  /// without the file's name
  [[nodiscard]] double number(const TileColumn& column, std::int64_t row) const;
  /// The same of integers, exact in 64 bits; none for other numbers than integers.
  [[nodiscard]] std::optional<std::int64_t> integer(const TileColumn& column,
                                                    std::int64_t row) const;

 private:
  void read_layout();
  void read_columns(std::int64_t row_bytes);

  const FitsFile& m_file;
  std::vector<TileColumn> m_columns;
  std::int64_t m_rows = 0;
  std::int64_t m_row_bytes = 0;
  std::int64_t m_bytes = 0;
  std::int64_t m_heap = 0;      // in the unpacked file
  std::int64_t m_heap_end = 0;  // likewise
  std::vector<std::byte> m_row_data;
};

/// The value of an integer keyword of the current HDU; none if it is missing.
/// \throws kastor::Error if it is not an integer
[[nodiscard]] std::optional<std::int64_t> stated_integer(const FitsFile& file, const char* keyword);

}  // namespace kastor::io::detail

#endif

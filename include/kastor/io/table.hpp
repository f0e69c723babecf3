// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_HPP
#define KASTOR_IO_TABLE_HPP

#include <cstdint>
#include <kastor/io/header_card.hpp>
#include <kastor/io/sky_frame.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kastor::io {

/// One column of a table, with its metadata.
struct TableColumn {
  /// Integers, real numbers or strings.
  using Values =
      std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

  std::string name;  ///< unique in its table
  /// In the spelling of the FITS and VOUnit standards (deg, arcsec, Jy, pixel); may be empty.
  std::string unit;
  std::string ucd;          ///< UCD1+; may be empty
  std::string description;  ///< one sentence
  Values values;            ///< one per row; NaN if a value does not exist
};

/// A table, as all writers accept it.
struct Table {
  std::string name;                  ///< what the rows are, as in `islands`
  std::string description;           ///< one sentence
  std::vector<TableColumn> columns;  ///< all of the same length
  /// Frame of the columns whose UCDs are positions on the sky (pos.eq, pos.galactic, pos.ecliptic).
  std::optional<SkyFrame> frame = std::nullopt;
  /// Metadata of the whole table: keywords in FITS, PARAMs in VOTable, meta in ECSV.
  std::vector<HeaderCard> cards = {};
};

}  // namespace kastor::io

#endif

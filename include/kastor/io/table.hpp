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

/// One column of a table with all that a reader may want to know of it.
struct TableColumn {
  /// Whole numbers, numbers or texts.
  using Values =
      std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

  std::string name;  ///< unique in its table
  /// As the FITS and VOUnit standards spell it (deg, arcsec, Jy, pixel); or empty.
  std::string unit;
  std::string ucd;          ///< UCD1+; or empty
  std::string description;  ///< one sentence
  Values values;            ///< one a row; NaN is a value that does not exist
};

/// A table as all the writers understand it.
struct Table {
  std::string name;                  ///< what a row is, as in `islands`
  std::string description;           ///< one sentence
  std::vector<TableColumn> columns;  ///< all of the same length
  /// Of the columns whose UCDs are positions on the sky (pos.eq, pos.galactic, pos.ecliptic).
  std::optional<SkyFrame> frame = std::nullopt;
  /// What else is to be said of all rows, as keywords in FITS, PARAMs in VOTable, meta in ECSV.
  std::vector<HeaderCard> cards = {};
};

}  // namespace kastor::io

#endif

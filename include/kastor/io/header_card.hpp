// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_HEADER_CARD_HPP
#define KASTOR_IO_HEADER_CARD_HPP

#include <cstdint>
#include <string>
#include <variant>

namespace kastor::io {

/// One keyword that Kastor adds to the header of an output.
struct HeaderCard {
  std::string keyword;                                    ///< a FITS keyword
  std::variant<std::string, double, std::int64_t> value;  ///< in the unit that the comment gives
  std::string comment;                                    ///< may be empty
};

}  // namespace kastor::io

#endif

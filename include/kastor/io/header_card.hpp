// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_HEADER_CARD_HPP
#define KASTOR_IO_HEADER_CARD_HPP

#include <cstdint>
#include <string>
#include <variant>

namespace kastor::io {

/// One keyword of ours for an output's header.
struct HeaderCard {
  std::string keyword;                                    ///< as in FITS
  std::variant<std::string, double, std::int64_t> value;  ///< in the unit that the comment says
  std::string comment;                                    ///< may be empty
};

}  // namespace kastor::io

#endif

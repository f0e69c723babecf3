// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_HEADER_CARD_HPP
#define KASTOR_IO_HEADER_CARD_HPP

#include <cstdint>
#include <string>
#include <variant>

namespace kastor::io {

/// One keyword of ours for an output's header.
struct HeaderCard {
  std::string keyword;
  std::variant<std::string, double, std::int64_t> value;
  std::string comment;
};

}  // namespace kastor::io

#endif

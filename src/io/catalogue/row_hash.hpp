// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_ROW_HASH_HPP
#define KASTOR_SRC_IO_CATALOGUE_ROW_HASH_HPP

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <kastor/io/sha256.hpp>
#include <string>

namespace kastor::io::detail {

/// SHA-256 over integers and IEEE doubles, each as eight bytes, the least significant first. Every
/// NaN counts as 0x7ff8000000000000.
class RowHash {
 public:
  void add(std::int64_t value) { put(std::bit_cast<std::uint64_t>(value)); }
  void add(double value) {
    put(std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value));
  }
  [[nodiscard]] std::string hex_digest() { return m_hash.hex_digest(); }

 private:
  void put(std::uint64_t bits) {
    std::array<std::uint8_t, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    m_hash.update(bytes.data(), bytes.size());
  }

  Sha256 m_hash;
};

}  // namespace kastor::io::detail

#endif

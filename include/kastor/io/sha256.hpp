// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SHA256_HPP
#define KASTOR_IO_SHA256_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kastor::io {

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
class Sha256 {
 public:
  /// Adds `size` bytes.
  void update(const void* data, std::size_t size);

  /// The digest as 64 lower-case hex digits. Nothing may be added afterwards.
  [[nodiscard]] std::string hex_digest();

 private:
  void compress(const std::uint8_t* block);

  // Initial hash value (FIPS 180-4, 5.3.3).
  std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> m_block{};
  std::size_t m_filled = 0;    // bytes waiting in m_block
  std::uint64_t m_length = 0;  // bytes so far
};

}  // namespace kastor::io

#endif

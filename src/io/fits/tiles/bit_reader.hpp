// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_BIT_READER_HPP
#define KASTOR_SRC_IO_FITS_TILES_BIT_READER_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "io/fits/byte_order.hpp"

namespace kastor::io::detail {

/// Reads bits, the most significant one of each byte first, and knows where they end.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> data) : m_data(data) {}

  /// Whether `count` bits, at most 32, are left.
  [[nodiscard]] bool has(int count) {
    if (m_held < count) refill();
    return m_held >= count;
  }

  /// The next `count` bits, from 1 to 32, with zeros after the last one. `has(count)` was called.
  [[nodiscard]] std::uint32_t peek(int count) const {
    return static_cast<std::uint32_t>(m_window >> (64 - count));
  }

  /// Goes on by `count` bits, at most 32, of which `has` or `held` said that they are left.
  void skip(int count) {
    m_window <<= count;
    m_held -= count;
  }

  /// The next `count` bits, from 0 to 32, of which `has` said that they are left.
  [[nodiscard]] std::uint32_t take(int count) {
    if (count == 0) return 0;
    const std::uint32_t bits = peek(count);
    skip(count);
    return bits;
  }

  /// Goes on past zeros and the one after them.
  /// \param zeros  their number
  /// \return false if the data end before a one
  [[nodiscard]] bool skip_zeros(std::uint32_t& zeros) {
    zeros = 0;
    while (m_window == 0) {
      zeros += static_cast<std::uint32_t>(m_held);
      m_held = 0;
      refill();
      if (m_held == 0) return false;
    }
    const int more = std::countl_zero(m_window);
    zeros += static_cast<std::uint32_t>(more);
    m_window = m_window << more << 1;
    m_held -= more + 1;
    return true;
  }

  /// The number of bits that were read already and are left, without those not looked at yet.
  [[nodiscard]] int held() const { return m_held; }

  /// Goes on to the beginning of a byte.
  void align() { skip(m_held % 8); }

 private:
  /// Bits of the window after the `m_held` first are zero.
  void refill() {
    if (m_data.size() - m_next >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, m_data.data() + m_next, sizeof word);
      const int bytes = (64 - m_held) / 8;
      if (bytes == 0) return;
      // Only whole bytes are taken.
      word = big_endian(word) >> (64 - 8 * bytes) << (64 - 8 * bytes);
      m_window |= word >> m_held;
      m_held += 8 * bytes;
      m_next += static_cast<std::size_t>(bytes);
      return;
    }
    for (; m_held <= 56 && m_next < m_data.size(); m_held += 8)
      m_window |= std::uint64_t{m_data[m_next++]} << (56 - m_held);
  }

  std::span<const std::uint8_t> m_data;
  std::size_t m_next = 0;  // the first byte that is not in the window
  std::uint64_t m_window = 0;
  int m_held = 0;
};

}  // namespace kastor::io::detail

#endif

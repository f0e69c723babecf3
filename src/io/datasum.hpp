// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_DATASUM_HPP
#define KASTOR_SRC_IO_DATASUM_HPP

#include <cstddef>
#include <cstdint>

#include "byte_order.hpp"

namespace kastor::io::detail {

/// The ones'-complement sum of a data unit's 32-bit words (FITS standard 4.0, appendix J), from
/// pieces of any length.
class Datasum {
 public:
  void add(const std::byte* bytes, std::size_t count) {
    while (count > 0 && m_phase != 0) {
      add_byte(*bytes++);
      --count;
    }
    const std::size_t words = count / 4;
    for (std::size_t i = 0; i < words; ++i) {
      m_sum += load_big_endian<std::uint32_t>(bytes + 4 * i);
      // 2^31 words could reach 2^63: fold long before.
      if ((i & 0xfffffff) == 0xfffffff) fold();
    }
    fold();
    for (std::size_t i = 4 * words; i < count; ++i) add_byte(bytes[i]);
  }

  [[nodiscard]] std::uint32_t value() const {
    std::uint64_t sum = m_sum;
    while (sum >> 32 != 0) sum = (sum & 0xffffffff) + (sum >> 32);
    return static_cast<std::uint32_t>(sum);
  }

 private:
  void fold() { m_sum = (m_sum & 0xffffffff) + (m_sum >> 32); }
  void add_byte(std::byte byte) {
    m_sum += std::to_integer<std::uint64_t>(byte) << (24 - 8 * m_phase);
    m_phase = (m_phase + 1) % 4;
  }

  std::uint64_t m_sum = 0;
  int m_phase = 0;  // bytes of the current word already added
};

}  // namespace kastor::io::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_DATASUM_HPP
#define KASTOR_SRC_IO_FITS_DATASUM_HPP

#include <bit>
#include <cstdint>

namespace kastor::io::detail {

/// The ones'-complement sum of the 32-bit words of a data unit (FITS standard 4.0, appendix J),
/// computed from pieces of any length in any order. Such a sum is a sum modulo 2^32 - 1, except
/// that "all zero" and "all one" differ; no addition turns a non-zero sum into "all zero".
class Datasum {
 public:
  /// \param offset        position of the piece in the data unit [byte]
  /// \param sum_of_words  sum of the 32-bit words, counted from the first byte of the piece; the
  /// last word is padded with zeros
  void add(std::int64_t offset, std::uint64_t sum_of_words) {
    // For a piece that begins within a word: modulo 2^32 - 1, moving bytes is a rotation.
    m_sum += std::rotr(folded(sum_of_words), static_cast<int>(8 * (offset % 4)));
  }
  void add(const Datasum& other) { m_sum += other.value(); }

  [[nodiscard]] std::uint32_t value() const { return folded(m_sum); }

 private:
  static std::uint32_t folded(std::uint64_t sum) {
    while (sum >> 32 != 0) sum = (sum & 0xffffffff) + (sum >> 32);
    return static_cast<std::uint32_t>(sum);
  }

  std::uint64_t m_sum = 0;
};

}  // namespace kastor::io::detail

#endif

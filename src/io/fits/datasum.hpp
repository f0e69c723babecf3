// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_DATASUM_HPP
#define KASTOR_SRC_IO_FITS_DATASUM_HPP

#include <bit>
#include <cstdint>

namespace kastor::io::detail {

/// The ones'-complement sum of a data unit's 32-bit words (FITS standard 4.0, appendix J), from
/// pieces of any length in any order: such a sum is one modulo 2^32 - 1, where only "all zero" and
/// "all one" are told apart, and no addition of them makes the first out of anything else.
class Datasum {
 public:
  /// \param offset        of the piece in the data unit [byte]
  /// \param sum_of_words  the 32-bit words, counted from the piece's first byte; the last one is
  ///                      filled with zeros
  void add(std::int64_t offset, std::uint64_t sum_of_words) {
    // A piece that begins within a word: modulo 2^32 - 1, moving bytes is a rotation.
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

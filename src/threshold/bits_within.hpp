// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_THRESHOLD_BITS_WITHIN_HPP
#define KASTOR_THRESHOLD_BITS_WITHIN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/interval.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"

namespace kastor::detail {

/// The bits of the pixels of a word that lie in an interval; bits beyond the end of the row are 0.
template <class Exec, class T>
[[nodiscard]] KOKKOS_FUNCTION std::uint64_t bits_within(const core::WordRows<T>& rows,
                                                        std::int64_t w,
                                                        const core::Interval<T>& interval) {
  const auto word = rows.word(w);
  std::uint64_t bits = 0;
  core::for_each_pack<core::pack_width_v<Exec>>(word.pixels, word.n, [&](const auto& pack, int j) {
    bits |= core::bits_where(pack, [&](T x) { return interval.contains(x); }) << j;
  });
  return bits;
}

}  // namespace kastor::detail

#endif

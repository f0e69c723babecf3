// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SPARSE_MASK_HPP
#define KASTOR_DETAIL_SPARSE_MASK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/mask_lines.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/threshold.hpp>
#include <string>

namespace kastor::detail {

/// A bit mask that is filled again and again, and which lines of it have a bit. Grows to the
/// largest image; whatever the shape, lines that were never touched are 0.
template <class Exec>
class SparseMask {
 public:
  explicit SparseMask(const Exec& space) : m_space(space) {}

  void reserve(std::int64_t ny, std::int64_t nx) {
    m_mask.ny = ny;
    m_mask.nx = nx;
    const std::int64_t per_row = m_mask.words_per_row();
    const std::int64_t whole_lines = MaskLines::count(ny * per_row) * MaskLines::words;
    const std::int64_t bytes = MaskLines::size(whole_lines);
    if (whole_lines > static_cast<std::int64_t>(m_words.extent(0)) ||
        bytes > static_cast<std::int64_t>(m_touched.extent(0))) {
      grow(m_touched, m_space, "kastor::threshold::touched_lines", bytes);
      grow(m_words, m_space, "kastor::threshold::mask", whole_lines);
      touch_all();
    }
    m_mask.words = decltype(m_mask.words)(m_words.data(), static_cast<std::size_t>(ny),
                                          static_cast<std::size_t>(per_row));
  }
  /// For those who write all words of the mask. Enqueues only.
  void touch_all() const { Kokkos::deep_copy(m_space, m_touched, std::uint8_t{1}); }

  [[nodiscard]] const BitMask<Exec>& mask() const { return m_mask; }
  [[nodiscard]] MaskLines lines() const { return {m_touched.data()}; }

 private:
  Exec m_space;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_words;
  Kokkos::View<std::uint8_t*, typename Exec::memory_space> m_touched;
  BitMask<Exec> m_mask;
};

}  // namespace kastor::detail

#endif

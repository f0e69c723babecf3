// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_PREFETCH_PIXELS_HPP
#define KASTOR_SRC_PREFETCH_PIXELS_HPP

#include <cstddef>
#include <cstdint>

namespace kastor::detail {

/// Asks for 64 pixels a page after these, since hardware does not look past the end of a page. Not
/// into the nearest cache, which waits for a dozen lines at a time and no more: that is fewer than
/// a loop at the speed of the memory needs.
template <class T>
[[gnu::always_inline]] inline void prefetch_pixels_after(const T* pixels) {
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(pixels) + page;
  for (std::size_t line = 0; line < sizeof(T); ++line)  // of 64 bytes
    // NOLINTNEXTLINE(performance-no-int-to-ptr): may lie past the end, and is never read
    __builtin_prefetch(reinterpret_cast<const void*>(at + 64 * line), 0, 2);
}

}  // namespace kastor::detail

#endif

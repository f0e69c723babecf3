// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_APPENDER_HPP
#define KASTOR_SRC_APPENDER_HPP

#include <bit>
#include <cstdint>

namespace kastor::detail {

/// A list under construction. Copies, not references: a store to the list could otherwise change
/// them, for all that the compiler knows.
template <class T>
struct Appender {
  T* list;
  std::int64_t n;

  Appender(T* l, std::int64_t in_list) : list(l), n(in_list) {}

  static constexpr int always = 4;

  /// Appends those of 64 pixels whose bits are set: usually a few, so four are written in any case
  /// rather than mispredict the end of a loop. If there are more nothing is appended, and the
  /// result is false.
  [[gnu::always_inline]] bool append(const T* pixels, std::uint64_t bits) {
    const int found = std::popcount(bits);
    T* end = list + n;
#pragma GCC unroll 4
    for (int k = 0; k < always; ++k, bits &= bits - 1)
      end[k] = pixels[std::countr_zero(bits | std::uint64_t{1} << 63)];
    n += found > always ? 0 : found;
    return found <= always;
  }
};

}  // namespace kastor::detail

#endif

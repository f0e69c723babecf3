// SPDX-License-Identifier: Apache-2.0
#include "io/fits/piece.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

namespace kastor::io::detail {
namespace {

[[nodiscard]] std::uint64_t sum_words(const std::byte* bytes, std::size_t length) {
  const std::size_t words = length / 4;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += load_big_endian<std::uint32_t>(bytes + 4 * i);
  for (std::size_t i = 4 * words; i < length; ++i)
    sum += std::to_integer<std::uint64_t>(bytes[i]) << (24 - 8 * (i % 4));
  return sum;
}

/// Decodes floats in one pass: the swapped word is stored and summed.
template <class T>
[[nodiscard]] std::uint64_t decode_floats(const std::byte* bytes, std::size_t count,
                                          const Scaling& scaling, T* out) {
  using Word = typename UnsignedOfSize<sizeof(T)>::type;
  std::uint64_t sum = 0;
  // Each pixel is read before it is written, and pixels do not overlap.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = load_big_endian<Word>(bytes + sizeof(T) * i);
    if constexpr (sizeof(T) == 8) {
      sum += (word & 0xffffffff) + (word >> 32);
    } else {
      sum += word;
    }
    out[i] = std::bit_cast<T>(word);
  }
  scale_floats(count, scaling, out);
  return sum;
}

}  // namespace

template <class Raw, class T>
std::uint64_t decode_piece(const std::byte* bytes, std::size_t count, const Scaling& scaling,
                           T* out) {
  if constexpr (std::is_same_v<Raw, T>) {
    return decode_floats(bytes, count, scaling, out);
  } else {
    decode<Raw>(bytes, count, scaling, out);
    return sum_words(bytes, sizeof(Raw) * count);
  }
}

std::uint64_t sum_piece(const std::byte* bytes, std::size_t length) {
  return sum_words(bytes, length);
}

#define KASTOR_INSTANTIATE(RAW, T) \
  template std::uint64_t decode_piece<RAW, T>(const std::byte*, std::size_t, const Scaling&, T*);
KASTOR_INSTANTIATE(std::uint8_t, float)
KASTOR_INSTANTIATE(std::int16_t, float)
KASTOR_INSTANTIATE(float, float)
KASTOR_INSTANTIATE(std::int32_t, double)
KASTOR_INSTANTIATE(std::int64_t, double)
KASTOR_INSTANTIATE(double, double)

}  // namespace kastor::io::detail

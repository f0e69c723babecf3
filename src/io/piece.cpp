// SPDX-License-Identifier: Apache-2.0
#include "piece.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define KASTOR_HAS_X86_LEVELS 1
#else
#define KASTOR_HAS_X86_LEVELS 0
#endif

namespace kastor::io::detail {
namespace {

[[gnu::always_inline]] inline std::uint64_t sum_any(const std::byte* bytes, std::size_t length) {
  const std::size_t words = length / 4;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += load_big_endian<std::uint32_t>(bytes + 4 * i);
  for (std::size_t i = 4 * words; i < length; ++i)
    sum += std::to_integer<std::uint64_t>(bytes[i]) << (24 - 8 * (i % 4));
  return sum;
}

/// Floats in one pass: the swapped word is what is stored and what is added.
template <class T>
[[gnu::always_inline]] inline std::uint64_t decode_floats_any(const std::byte* bytes,
                                                              std::size_t count,
                                                              const Scaling& scaling, T* out) {
  using Word = typename UnsignedOfSize<sizeof(T)>::type;
  std::uint64_t sum = 0;
  // Each pixel is read before it is written, and no other one lies there.
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

template <class Raw, class T>
[[gnu::always_inline]] inline std::uint64_t decode_any(const std::byte* bytes, std::size_t count,
                                                       const Scaling& scaling, T* out) {
  if constexpr (std::is_same_v<Raw, T>) {
    return decode_floats_any(bytes, count, scaling, out);
  } else {
    decode<Raw>(bytes, count, scaling, out);
    return sum_any(bytes, sizeof(Raw) * count);
  }
}

#if KASTOR_HAS_X86_LEVELS

template <class Raw, class T>
[[gnu::target("avx2,bmi")]] std::uint64_t decode_avx2(const std::byte* bytes, std::size_t count,
                                                      const Scaling& scaling, T* out) {
  return decode_any<Raw>(bytes, count, scaling, out);
}
template <class Raw, class T>
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] std::uint64_t decode_avx512(
    const std::byte* bytes, std::size_t count, const Scaling& scaling, T* out) {
  return decode_any<Raw>(bytes, count, scaling, out);
}
[[gnu::target("avx2,bmi")]] std::uint64_t sum_avx2(const std::byte* bytes, std::size_t length) {
  return sum_any(bytes, length);
}
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] std::uint64_t sum_avx512(
    const std::byte* bytes, std::size_t length) {
  return sum_any(bytes, length);
}

#endif

}  // namespace

template <class Raw, class T>
std::uint64_t decode_piece(const std::byte* bytes, std::size_t count, const Scaling& scaling,
                           T* out, [[maybe_unused]] HostLevel level) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return decode_avx512<Raw>(bytes, count, scaling, out);
  if (level == HostLevel::avx2) return decode_avx2<Raw>(bytes, count, scaling, out);
#endif
  return decode_any<Raw>(bytes, count, scaling, out);
}

std::uint64_t sum_piece(const std::byte* bytes, std::size_t length,
                        [[maybe_unused]] HostLevel level) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return sum_avx512(bytes, length);
  if (level == HostLevel::avx2) return sum_avx2(bytes, length);
#endif
  return sum_any(bytes, length);
}

#define KASTOR_INSTANTIATE(RAW, T)                                                               \
  template std::uint64_t decode_piece<RAW, T>(const std::byte*, std::size_t, const Scaling&, T*, \
                                              HostLevel);
KASTOR_INSTANTIATE(std::uint8_t, float)
KASTOR_INSTANTIATE(std::int16_t, float)
KASTOR_INSTANTIATE(float, float)
KASTOR_INSTANTIATE(std::int32_t, double)
KASTOR_INSTANTIATE(std::int64_t, double)
KASTOR_INSTANTIATE(double, double)

}  // namespace kastor::io::detail

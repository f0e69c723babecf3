// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/rice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <kastor/error.hpp>

#include "io/fits/tiles/bit_reader.hpp"

namespace kastor::io::detail {
namespace {

/// The code's parameters for integers of `Bytes` bytes.
template <int Bytes>
struct RiceCode {
  static constexpr int value_bits = 8 * Bytes;
  /// Of the number that precedes each block: 0 for a block of one value, otherwise 1 more than the
  /// number of low bits that are stored as they are.
  static constexpr int head_bits = Bytes == 1 ? 3 : Bytes == 2 ? 4 : 5;
  /// That number for a block in which all bits are.
  static constexpr std::uint32_t plain_head = Bytes == 1 ? 7 : Bytes == 2 ? 15 : 26;

  /// The integer of these low bits.
  static std::int32_t value_of(std::uint32_t bits) {
    if constexpr (Bytes == 1) return static_cast<std::uint8_t>(bits);
    if constexpr (Bytes == 2) return static_cast<std::int16_t>(static_cast<std::uint16_t>(bits));
    return static_cast<std::int32_t>(bits);
  }
};

[[noreturn]] void fail_short_rice(std::size_t found, std::size_t expected) {
  throw Error(fmt::format("the RICE_1 data end after {} of {} values", found, expected));
}

/// Differences are stored as 0, -1, 1, -2, ... = 0, 1, 2, 3, ...
std::uint32_t difference_of(std::uint32_t code) {
  return (code & 1) == 0 ? code >> 1 : ~(code >> 1);
}

template <int Bytes>
void decode_rice_values(std::span<const std::uint8_t> data, std::size_t block_size,
                        std::span<std::int32_t> out) {
  using Code = RiceCode<Bytes>;
  BitReader bits(data);
  if (!bits.has(Code::value_bits)) fail_short_rice(0, out.size());
  // Sums wrap around, as the encoder's differences did; bits above those of a value do not matter.
  std::uint32_t last = bits.take(Code::value_bits);
  for (std::size_t i = 0; i < out.size();) {
    const std::size_t end = i + std::min(block_size, out.size() - i);
    if (!bits.has(Code::head_bits)) fail_short_rice(i, out.size());
    const std::uint32_t head = bits.take(Code::head_bits);
    if (head == 0) {
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(i),
                out.begin() + static_cast<std::ptrdiff_t>(end), Code::value_of(last));
      i = end;
    } else if (head == Code::plain_head) {
      for (; i < end; ++i) {
        if (!bits.has(Code::value_bits)) fail_short_rice(i, out.size());
        last += difference_of(bits.take(Code::value_bits));
        out[i] = Code::value_of(last);
      }
    } else if (head < Code::plain_head) {
      const int low_bits = static_cast<int>(head) - 1;
      for (; i < end; ++i) {
        std::uint32_t high = 0;
        if (!bits.skip_zeros(high) || !bits.has(low_bits)) fail_short_rice(i, out.size());
        last += difference_of((high << low_bits) | bits.take(low_bits));
        out[i] = Code::value_of(last);
      }
    } else {
      throw Error(fmt::format(
          "the RICE_1 data are damaged: a block begins with {} after {} of {} values; expected 0 "
          "to {}",
          head, i, out.size(), Code::plain_head));
    }
  }
}

}  // namespace

void decode_rice(std::span<const std::uint8_t> data, int block_size, int bytes_per_value,
                 std::span<std::int32_t> out) {
  if (block_size < 1)
    throw Error(fmt::format("the block size of RICE_1 is {}; expected at least 1", block_size));
  const auto size = static_cast<std::size_t>(block_size);
  switch (bytes_per_value) {
    case 1:
      return decode_rice_values<1>(data, size, out);
    case 2:
      return decode_rice_values<2>(data, size, out);
    case 4:
      return decode_rice_values<4>(data, size, out);
    default:
      throw Error(
          fmt::format("the bytes per value of RICE_1 are {}; expected 1, 2 or 4", bytes_per_value));
  }
}

}  // namespace kastor::io::detail

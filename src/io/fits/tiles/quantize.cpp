// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <kastor/error.hpp>
#include <limits>

namespace kastor::io::detail {
namespace {

constexpr std::size_t random_count = 10000;
using RandomNumbers = std::array<float, random_count>;

/// Park and Miller's random numbers from 0 to 1, as in appendix I of the standard, which says that
/// the last one is 1043618065 / (2^31 - 1).
RandomNumbers make_random_numbers() {
  constexpr std::uint64_t modulus = 2147483647;
  RandomNumbers numbers{};
  std::uint64_t state = 1;
  for (float& number : numbers) {
    state = state * 16807 % modulus;
    number = static_cast<float>(static_cast<double>(state) / static_cast<double>(modulus));
  }
  return numbers;
}

const RandomNumbers& random_numbers() {
  static const RandomNumbers numbers = make_random_numbers();
  return numbers;
}

/// \param offset  of the integer and its place: what is scaled
template <class T, class Offset>
void scale_values(std::span<const std::int32_t> values, const Quantization& by, bool exact_zeros,
                  Offset&& offset, std::span<T> out) {
  constexpr std::int32_t zero_value = -2147483646;  // of SUBTRACTIVE_DITHER_2
  const bool has_blank = by.blank.has_value();
  const std::int32_t blank = by.blank.value_or(0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int32_t value = values[i];
    T scaled = static_cast<T>(offset(static_cast<double>(value), i) * by.scale + by.zero);
    if (exact_zeros && value == zero_value) scaled = 0;
    if (has_blank && value == blank) scaled = std::numeric_limits<T>::quiet_NaN();
    out[i] = scaled;
  }
}

/// A tile's dither begins at a place of the list that the tile's number chooses, goes on to the end
/// of the list, then begins at another place, and so on.
template <class T>
void scale_dithered(std::span<const std::int32_t> values, const Quantization& by,
                    std::span<T> out) {
  const RandomNumbers& numbers = random_numbers();
  const bool exact_zeros = by.dither == Dither::subtractive_2;
  const auto first =
      static_cast<std::uint64_t>(by.tile - 1) + static_cast<std::uint64_t>(by.seed - 1);
  auto start = static_cast<std::size_t>(first % random_count);
  while (!values.empty()) {
    // The product is rounded to single precision, as CFITSIO does.
    const auto place = static_cast<std::size_t>(numbers[start] * 500.0F);
    const std::size_t count = std::min(values.size(), random_count - place);
    const float* dither = &numbers[place];
    // In this order: the sums round.
    scale_values(
        values.first(count), by, exact_zeros,
        [dither](double value, std::size_t i) {
          return value - static_cast<double>(dither[i]) + 0.5;
        },
        out.first(count));
    values = values.subspan(count);
    out = out.subspan(count);
    start = (start + 1) % random_count;
  }
}

}  // namespace

template <class T>
void undo_quantize(std::span<const std::int32_t> values, const Quantization& quantization,
                   std::span<T> out) {
  if (values.size() != out.size()) {
    throw Error(fmt::format("{} quantised integers for {} values; expected as many", values.size(),
                            out.size()));
  }
  if (quantization.dither == Dither::none) {
    scale_values(
        values, quantization, false, [](double value, std::size_t) { return value; }, out);
    return;
  }
  if (quantization.seed < 1)
    throw Error(fmt::format("ZDITHER0={}; expected 1 to 10000", quantization.seed));
  if (quantization.tile < 1)
    throw Error(fmt::format("the tile's number is {}; expected 1 or more", quantization.tile));
  scale_dithered(values, quantization, out);
}

template void undo_quantize(std::span<const std::int32_t>, const Quantization&, std::span<float>);
template void undo_quantize(std::span<const std::int32_t>, const Quantization&, std::span<double>);

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/bits.hpp"
#include "core/interval.hpp"
#include "core/ordered_key.hpp"
#include "core/pack.hpp"
#include "core/pixel_row.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

/// Everything that a comparison may get wrong, among other numbers.
template <class T>
std::vector<T> hard_pixels(std::size_t n) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special;
  for (const T x : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T(0), -T(0),
                    Limits::max(), Limits::denorm_min(), T(1), T(-1)})
    special.push_back(x);
  ts::Random random(4);
  std::vector<T> pixels(n);
  for (T& pixel : pixels) {
    pixel = random.below(3) == 0 ? special[static_cast<std::size_t>(random.below(9))]
                                 : static_cast<T>(random.gaussian());
  }
  return pixels;
}

constexpr std::int64_t offsets = 18;  // of the first pixel, so that packs lie at any address

/// A case is an address and a number of pixels, 0 to 64.
struct Case {
  std::int64_t offset, n;
  KOKKOS_FUNCTION explicit Case(std::int64_t i) : offset(i / 65), n(i % 65) {}
};
constexpr std::int64_t cases = offsets * 65;

template <class T, int W>
struct BitsWithin {
  const T* pixels;
  core::Interval<T> interval;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const Case c(i);
    std::uint64_t bits = 0;
    core::for_each_pack<W>(pixels + c.offset, c.n, [&](const auto& pack, int j) {
      bits |= core::bits_where(pack, [&](T x) { return interval.contains(x); }) << j;
    });
    return bits;
  }
};

template <class T, int W>
struct CountWithin {
  const T* pixels;
  core::Interval<T> interval;
  KOKKOS_FUNCTION int operator()(std::int64_t i) const {
    const Case c(i);
    int count = 0;
    core::for_each_pack<W>(pixels + c.offset, c.n, [&](const auto& pack, int) {
      count += core::count_where(pack, [&](T x) { return interval.contains(x); });
    });
    return count;
  }
};

template <class C, int W>
void bits_are_those_of_a_plain_loop() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto pixels = hard_pixels<T>(offsets + 64);
  const auto on_device = ts::to_device_list<Exec>(pixels);
  for (const core::Interval<T>& interval :
       {core::Interval<T>{}, core::Interval<T>{T(-0.5), T(0.5)}, core::Interval<T>{T(0), T(1)},
        core::Interval<T>{T(1), T(-1)}}) {
    const auto got = ts::map_on<Exec>(cases, BitsWithin<T, W>{on_device.data(), interval});
    const auto count = ts::map_on<Exec>(cases, CountWithin<T, W>{on_device.data(), interval});
    for (std::int64_t i = 0; i < cases; ++i) {
      const Case c(i);
      std::uint64_t want = 0;
      for (std::int64_t j = 0; j < c.n; ++j) {
        const T x = pixels[static_cast<std::size_t>(c.offset + j)];
        if (x > interval.low && x < interval.high) want |= std::uint64_t{1} << j;
      }
      ASSERT_EQ(got[static_cast<std::size_t>(i)], want)
          << "width " << W << ", " << c.n << " pixels from " << c.offset;
      ASSERT_EQ(count[static_cast<std::size_t>(i)], core::popcount(want));
    }
  }
}

/// The bits of a pixel, of which there is one NaN.
template <class T>
core::Key<T> bits_of(T x) {
  core::Key<T> bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

/// Pixel j of what is loaded of n pixels, copied once more through `store`.
template <class T, int W>
struct LoadSome {
  const T* pixels;
  std::int64_t n;
  T rest;
  KOKKOS_FUNCTION core::Key<T> operator()(std::int64_t i) const {
    const auto pack = core::Pack<T, W>::load(pixels + i / W, n, rest);
    core::Pack<T, W> copy;
    pack.store(copy.pixel);
    return Kokkos::bit_cast<core::Key<T>>(copy.pixel[i % W]);
  }
};
/// The same of whole packs at multiples of 16 bytes.
template <class T, int W>
struct LoadAligned {
  const T* pixels;
  KOKKOS_FUNCTION core::Key<T> operator()(std::int64_t i) const {
    constexpr int in_16_bytes = 16 / static_cast<int>(sizeof(T));
    const auto pack = core::Pack<T, W>::load(pixels + i / W * in_16_bytes);
    return Kokkos::bit_cast<core::Key<T>>(pack.pixel[i % W]);
  }
};

template <class C, int W>
void packs_hold_what_was_loaded() {
  using Exec = typename C::exec;
  using T = typename C::real;
  constexpr std::int64_t in_16_bytes = 16 / sizeof(T);
  const auto pixels = hard_pixels<T>(offsets * in_16_bytes + W);
  const auto on_device = ts::to_device_list<Exec>(pixels);
  for (const std::int64_t n : {-1, 0, 1, 2, W / 2, W - 1, W, W + 1, 1000}) {
    const auto got = ts::map_on<Exec>(offsets * W, LoadSome<T, W>{on_device.data(), n, T(-77)});
    for (std::int64_t i = 0; i < offsets * W; ++i) {
      const T want = i % W < n ? pixels[static_cast<std::size_t>(i / W + i % W)] : T(-77);
      ASSERT_EQ(got[static_cast<std::size_t>(i)], bits_of(want)) << "width " << W << ", " << n;
    }
  }
  const auto got = ts::map_on<Exec>(offsets * W, LoadAligned<T, W>{on_device.data()});
  for (std::int64_t i = 0; i < offsets * W; ++i) {
    ASSERT_EQ(got[static_cast<std::size_t>(i)],
              bits_of(pixels[static_cast<std::size_t>(i / W * in_16_bytes + i % W)]))
        << "width " << W;
  }
}

/// A number that depends on the order of the pixels.
template <class T>
struct FoldInOrder {
  const T* pixels;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const Case c(i);
    std::uint64_t folded = 1;
    core::for_each_in_order(pixels + c.offset, c.n, [&](T pixel) {
      folded = folded * 31 + std::uint64_t{Kokkos::bit_cast<core::Key<T>>(pixel)};
    });
    return folded;
  }
};

template <class T>
class Packs : public ::testing::Test {};
TYPED_TEST_SUITE(Packs, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Packs, OfARowComeInOrder) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto pixels = hard_pixels<T>(offsets + 64);
  const auto on_device = ts::to_device_list<Exec>(pixels);
  const auto got = ts::map_on<Exec>(cases, FoldInOrder<T>{on_device.data()});
  for (std::int64_t i = 0; i < cases; ++i) {
    const Case c(i);
    std::uint64_t want = 1;
    for (std::int64_t j = 0; j < c.n; ++j)
      want = want * 31 + std::uint64_t{bits_of(pixels[static_cast<std::size_t>(c.offset + j)])};
    ASSERT_EQ(got[static_cast<std::size_t>(i)], want) << c.n << " pixels from " << c.offset;
  }
}

template <class T>
struct ThereAndBack {
  const T* pixels;
  KOKKOS_FUNCTION core::Key<T> operator()(std::int64_t i) const {
    return Kokkos::bit_cast<core::Key<T>>(core::value_of<T>(core::key_of(pixels[i])));
  }
};

TYPED_TEST(Packs, HaveKeysInTheOrderOfTheirPixels) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto pixels = hard_pixels<T>(300);
  const auto on_device = ts::to_device_list<Exec>(pixels);
  const auto back = ts::map_on<Exec>(300, ThereAndBack<T>{on_device.data()});
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_EQ(back[i], bits_of(pixels[i]));
    for (const T other : pixels) {
      if (pixels[i] < other) {
        EXPECT_LT(core::key_of(pixels[i]), core::key_of(other)) << pixels[i] << ", " << other;
      }
    }
  }
  EXPECT_LT(core::key_of(-T(0)), core::key_of(T(0)));
}

TYPED_TEST(Packs, HaveTheBitsOfAPlainLoop) {
  bits_are_those_of_a_plain_loop<TypeParam, 4>();
  bits_are_those_of_a_plain_loop<TypeParam, 16>();
  bits_are_those_of_a_plain_loop<TypeParam, 64>();
}
TYPED_TEST(Packs, HoldWhatWasLoaded) {
  packs_hold_what_was_loaded<TypeParam, 4>();
  packs_hold_what_was_loaded<TypeParam, 16>();
  packs_hold_what_was_loaded<TypeParam, 64>();
}

}  // namespace

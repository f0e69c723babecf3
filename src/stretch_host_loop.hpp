// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// Sums of vectors of pixels that lie one behind the other, and of each pixel times its place. Sums
/// before are added up instead of products: the j-th of N vectors is in N - j of them.
template <class T>
struct StretchMoments {
  using V = Vectors<T>;
  using Wide = typename V::Wide;
  static constexpr int half = V::lanes / 2;
  Wide sum[2] = {}, sums[2] = {};
  alignas(64) static constexpr double counting[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                      8, 9, 10, 11, 12, 13, 14, 15};

  [[KASTOR_TARGET, gnu::always_inline]] void add(const typename V::Vector& pixels) {
    Wide halves[2];
    V::widen(pixels, halves);
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      sum[h] += halves[h];
      sums[h] += sum[h];
    }
  }
  /// x is the place of the first of the pixels of all vectors.
  [[KASTOR_TARGET, gnu::always_inline]] void total(std::int64_t x, std::int64_t vectors,
                                                   double& flux, double& x_moment) const {
    Wide fluxes{}, x_moments{};
    for (int h = 0; h < 2; ++h) {
      Wide at;
      std::memcpy(&at, counting + h * half, sizeof(at));
      at += static_cast<double>(x);
      fluxes += sum[h];
      x_moments += at * sum[h] + static_cast<double>(V::lanes) *
                                     (static_cast<double>(vectors) * sum[h] - sums[h]);
    }
    for (int k = 0; k < half; ++k) {
      flux += fluxes[k];
      x_moment += x_moments[k];
    }
  }
};
template <>
struct StretchMoments<double> {
  [[KASTOR_TARGET, gnu::always_inline]] void add(const Vectors<double>::Vector&) {}
  [[KASTOR_TARGET, gnu::always_inline]] void total(std::int64_t, std::int64_t, double&,
                                                   double&) const {}
};

/// See sum_stretch_on_host.
template <class T>
[[KASTOR_TARGET]] SumsOfStretch<T> sum_stretch(const Stretch<T>& stretch) {
  using V = Vectors<T>;
  SumsOfStretch<T> found{};
  for (std::int64_t r = 0; r < stretch.runs; ++r) {
    const std::int32_t n = stretch.end[r] - stretch.begin[r];
    found.n_pix += n;
    found.longest_run = std::max(found.longest_run, n);
  }
  const std::int64_t first = stretch.begin[0], last = stretch.end[stretch.runs - 1] - 1;
  const auto bits_of_word = [&](std::int64_t w) {
    std::uint64_t bits = stretch.words[w];
    if (w == first / 64) bits &= ~std::uint64_t{0} << first % 64;
    if (w == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
    return bits;
  };
  const auto one = V::all(stretch.pixels[first]), zero = V::all(T{0});
  auto low = one, high = one;
  StretchMoments<T> moments;
  // The last word of the row may have fewer pixels.
  const std::int64_t past = std::min(last / 64 + 1, stretch.nx / 64);
  for (std::int64_t w = first / 64; w < past; ++w) {
    const std::uint64_t bits = bits_of_word(w);
#pragma GCC unroll 4
    for (int k = 0; k < 64; k += V::lanes) {
      const auto mask = V::mask_of(bits >> k);
      const auto pixels = V::load(stretch.pixels + 64 * w + k);
      const auto x = V::choose(mask, pixels, one);
      low = x < low ? x : low;
      high = x > high ? x : high;
      moments.add(V::choose(mask, pixels, zero));
    }
  }
  found.lowest = V::lowest(low);
  found.highest = V::highest(high);
  moments.total(first / 64 * 64, (past - first / 64) * (64 / V::lanes), found.flux, found.x_moment);
  if (past <= last / 64) {
    for (std::uint64_t bits = bits_of_word(past); bits != 0; bits &= bits - 1) {
      const std::int64_t x = 64 * past + std::countr_zero(bits);
      const T pixel = stretch.pixels[x];
      found.lowest = std::min(found.lowest, pixel);
      found.highest = std::max(found.highest, pixel);
      if constexpr (sizeof(T) == sizeof(float)) {
        found.flux += static_cast<double>(pixel);
        found.x_moment += static_cast<double>(pixel) * static_cast<double>(x);
      }
    }
  }
  return found;
}

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_MOMENTS_HPP
#define KASTOR_SIGMA_CLIP_MOMENTS_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/fixed_point.hpp"
#include "core/image_passes.hpp"
#include "core/interval.hpp"
#include "core/launch.hpp"
#include "core/pack.hpp"
#include "core/ranks.hpp"
#include "core/word_rows.hpp"

/// Sums over the pixels of an interval, each by a read of the image.
namespace kastor::detail {

/// Joins `Functor::add(pack, value)` over all pixels of a band; packs are padded with NaN.
template <class Exec, class T, class Functor>
struct ReducePixels {
  using value_type = typename Functor::value_type;
  core::WordRows<T> rows;
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t w, value_type& value) const {
    const auto word = rows.word(w);
    core::for_each_pack<core::pack_width_v<Exec>>(
        word.pixels, word.n, [&](const auto& pack, int) { functor.add(pack, value); });
  }
  KOKKOS_FUNCTION void init(value_type& value) const { value = value_type{}; }
  KOKKOS_FUNCTION void join(value_type& into, const value_type& from) const { into += from; }
};

/// The same over all bands of an image, and all ranks.
template <class Exec, class T, class Functor>
[[nodiscard]] typename Functor::value_type reduce_image(const char* label, const Exec& space,
                                                        core::ImagePasses<Exec, T>& image,
                                                        const Functor& functor) {
  typename Functor::value_type total{};
  image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t) {
    const core::WordRows<T> rows(rows_of<T, Exec>(band));
    total +=
        core::reduce(label, space, rows.words(), ReducePixels<Exec, T, Functor>{rows, functor});
  });
  core::join_over(image.ranks(), total);
  return total;
}

template <class T>
struct CountInside {
  using value_type = core::MinMaxCount<T>;
  core::Interval<T> interval;

  template <class Pack>
  KOKKOS_FUNCTION void add(const Pack& pack, value_type& value) const {
    value_type mine;
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j) {
      const T x = pack.pixel[j];
      const bool in = interval.contains(x);
      mine.count += in ? 1 : 0;
      mine.min = (in & (x < mine.min)) ? x : mine.min;
      mine.max = (in & (x > mine.max)) ? x : mine.max;
    }
    value += mine;
  }
};

/// Sums of u and u^2 on a grid, with two limbs each.
struct Moments {
  core::Int128 sum, sum_rest, squares, squares_rest;

  KOKKOS_FUNCTION Moments& operator+=(const Moments& other) {
    sum += other.sum;
    sum_rest += other.sum_rest;
    squares += other.squares;
    squares_rest += other.squares_rest;
    return *this;
  }
};

template <class T>
struct AddMoments {
  using value_type = Moments;
  core::Interval<T> interval;
  core::Grid grid;

  template <class Pack>
  KOKKOS_FUNCTION void add(const Pack& pack, Moments& value) const {
    std::uint64_t s = 0, s_rest = 0, q = 0, q_rest = 0;
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j) {
      const T x = pack.pixel[j];
      const double u = interval.contains(x) ? grid.map(static_cast<double>(x)) : 0.0;
      const double uu = u * u;
      s += core::to_grid_biased(u);
      s_rest += core::to_grid_biased(core::grid_remainder(u));
      q += core::to_grid_biased(uu);
      q_rest += core::to_grid_biased(core::grid_remainder(uu));
    }
    value.sum.add(core::unbias(s, Pack::width));
    value.sum_rest.add(core::unbias(s_rest, Pack::width));
    value.squares.add(core::unbias(q, Pack::width));
    value.squares_rest.add(core::unbias(q_rest, Pack::width));
  }
};

/// Mean and population standard deviation of `count` pixels. The centre of the grid is within about
/// one std of the mean, so at most one bit cancels.
struct MeanAndStd {
  double mean, std;

  MeanAndStd(const Moments& m, const core::Grid& grid, std::int64_t count) {
    const auto n = static_cast<double>(count);
    const auto both = [](const core::Int128& whole, const core::Int128& rest) {
      return std::ldexp(whole.to_double(), -core::grid_bits) +
             std::ldexp(rest.to_double(), -2 * core::grid_bits);
    };
    const double sum = both(m.sum, m.sum_rest);
    const double squares = both(m.squares, m.squares_rest);
    mean = grid.centre + std::ldexp(sum / n, grid.exponent);
    const double variance = (squares - sum * (sum / n)) / n;
    std = variance > 0 ? std::ldexp(std::sqrt(variance), grid.exponent) : 0.0;
  }
};

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIFT_TAILS_HPP
#define KASTOR_DETAIL_SIFT_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/listed_tails.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/sift_host.hpp>

/// From the tails as a host gathered them to a list for every octave: counts, moves.
namespace kastor::detail {

/// For tails from the edges on, or all but their first `skipped` octaves. The pixels nearest to the
/// centre of an octave and all beyond are found by halving.
template <class T>
[[nodiscard]] TailBounds<T> tail_bounds(const GatheredBins<T>& bins, T low_edge, T high_edge,
                                        int skipped = 0) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  const auto centre = static_cast<T>(bins.centre);
  TailBounds<T> bounds{
      centre, {}, {}, {bins.octave_of(low_edge) + skipped, bins.octave_of(high_edge) + skipped}};
  const auto first_beyond = [&](int octave, T outermost) {
    const Key<T> near = key_of(centre), far = key_of(outermost);
    const bool upwards = near < far;
    const auto at = [&](Key<T> steps) {
      return value_of<T>(static_cast<Key<T>>(upwards ? near + steps : near - steps));
    };
    Key<T> least = 0, most = upwards ? far - near : near - far;
    while (least < most) {
      const Key<T> middle = least + (most - least) / 2;
      if (bins.octave_of(at(middle)) > octave) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    return at(most);
  };
  for (int i = 0; i < 2; ++i) {
    bounds.low[i] = first_beyond(bounds.first_octave[0] + i, -infinity);
    bounds.high[i] = first_beyond(bounds.first_octave[1] + i, infinity);
  }
  return bounds;
}

/// A list in chunks, a thread each; every chunk has a row of counts, then of next places.
template <class T>
struct SiftTails {
  static constexpr int lists = OctaveLists<T>::count;
  static constexpr int steps = 3;  ///< each for two octaves more, and fewer pixels

  GatheredBins<T> bins;
  TailBounds<T> bounds[steps];
  const T* pixels;
  std::int64_t blocks;
  std::int64_t chunks;
  std::int64_t* counts;  ///< (chunks, lists)
  T* sorted;             ///< null: they are counted

  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const { KOKKOS_IF_ON_HOST((sift(chunk);)) }

 private:
  using Sifted = SiftedTails<T>;

  void sift(std::int64_t chunk) const {
    std::int64_t* const mine = counts + chunk * lists;
    if (sorted == nullptr) std::fill(mine, mine + lists, 0);
    constexpr std::int64_t at_once = Sifted::most_pixels / cell_block;
    const std::int64_t end = blocks * (chunk + 1) / chunks;
    for (std::int64_t b = blocks * chunk / chunks; b < end; b += at_once) {
      const std::int64_t next = std::min(b + at_once, end);
      fetch_pixels(pixels + next * cell_block, std::min(at_once, end - next) * cell_block);
      sift(pixels + b * cell_block, (next - b) * cell_block, 0, mine);
    }
  }
  void sift(const T* from, std::int64_t n, int step, std::int64_t* mine) const {
    Sifted sifted;
    sift_on_host(best_host_level(), bounds[step], from, n, sifted);
    for (int i = 0; i < Sifted::near; ++i) {
      const int octave = std::min(bounds[step].first_octave[i / 2] + i % 2, TailOctaves::count - 1);
      std::int64_t& next = mine[OctaveLists<T>::list_of(i / 2, octave)];
      if (sorted != nullptr)
        std::memcpy(sorted + next, sifted.list[i],
                    static_cast<std::size_t>(sifted.n[i]) * sizeof(T));
      next += sifted.n[i];
    }
    T* const others = sifted.list[Sifted::near];
    const std::int64_t n_others = sifted.n[Sifted::near];
    constexpr std::int64_t few = 32;
    if (n_others > few && step + 1 < steps) {
      fill_block(others, n_others);
      sift(others, whole_blocks(n_others), step + 1, mine);
    } else {
      sift_one_by_one(others, n_others, mine);
    }
  }
  void sift_one_by_one(const T* from, std::int64_t n, std::int64_t* mine) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = from[i];
      const int octave = std::min(bins.octave_of(x), TailOctaves::count - 1);
      std::int64_t& next =
          mine[OctaveLists<T>::list_of(static_cast<double>(x) < bins.centre ? 0 : 1, octave)];
      if (sorted != nullptr) sorted[next] = x;
      ++next;
    }
  }
};

/// Puts n pixels, filled up to a whole block, into lists. `counts`: for as many chunks as threads;
/// `lists.pixels`: for n and a block for every list.
template <class Exec, class T>
void sift_tails(const Exec& space, const Brackets<T>& brackets, const T* pixels, std::int64_t n,
                std::int64_t* counts, OctaveLists<T>& lists) {
  constexpr std::int64_t least = 16384;  // pixels of a chunk
  const std::int64_t chunks = std::clamp<std::int64_t>(n / least, 1, space.concurrency());
  const IndexRange<Exec> range(space, 0, chunks);
  const GatheredBins<T> bins(brackets);
  SiftTails<T> sift{bins, {}, pixels, whole_blocks(n) / cell_block, chunks, counts, nullptr};
  for (int step = 0; step < SiftTails<T>::steps; ++step)
    sift.bounds[step] = tail_bounds(bins, brackets.low_edge, brackets.high_edge, 2 * step);
  Kokkos::parallel_for("kastor::sigma_clip::count_tails", range, sift);
  space.fence("kastor::sigma_clip::count_tails");
  constexpr int all = OctaveLists<T>::count;
  std::fill(lists.n, lists.n + all, 0);
  for (std::int64_t c = 0; c < chunks; ++c)
    for (int i = 0; i < all; ++i) lists.n[i] += counts[c * all + i];
  std::int64_t before = 0;
  for (int i = 0; i < all; ++i) {
    lists.begin[i] = before;
    if (lists.n[i] == 0) continue;  // most of them
    for (std::int64_t c = 0; c < chunks; ++c) {
      std::int64_t& next = counts[c * all + i];
      const std::int64_t here = next;
      next = before;
      before += here;
    }
    fill_block(lists.pixels + lists.begin[i], lists.n[i]);
    before = whole_blocks(before);
  }
  sift.sorted = lists.pixels;
  Kokkos::parallel_for("kastor::sigma_clip::sift_tails", range, sift);
  space.fence("kastor::sigma_clip::sift_tails");
}

}  // namespace kastor::detail

#endif

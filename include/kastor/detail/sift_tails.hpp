// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIFT_TAILS_HPP
#define KASTOR_DETAIL_SIFT_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/listed_tails.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/sift_host.hpp>

/// From the tails as a host gathered them to a list for every octave: counts, moves.
namespace kastor::detail {

/// For tails from the edges on. The pixels nearest to the centre of an octave and all beyond are
/// found by halving.
template <class T>
[[nodiscard]] TailBounds<T> tail_bounds(const GatheredBins<T>& bins, T low_edge, T high_edge) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  const auto centre = static_cast<T>(bins.centre);
  TailBounds<T> bounds{centre, {}, {}, {bins.octave_of(low_edge), bins.octave_of(high_edge)}};
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

  GatheredBins<T> bins;
  TailBounds<T> bounds;
  const T* pixels;
  std::int64_t blocks;
  std::int64_t chunks;
  std::int64_t* counts;  ///< (chunks, lists)
  T* sorted;             ///< null: they are counted

  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const { KOKKOS_IF_ON_HOST((sift(chunk);)) }

 private:
  void sift(std::int64_t chunk) const {
    std::int64_t* const mine = counts + chunk * lists;
    if (sorted == nullptr) std::fill(mine, mine + lists, 0);
    constexpr std::int64_t at_once = SiftedTails<T>::most_pixels / cell_block;
    const std::int64_t end = blocks * (chunk + 1) / chunks;
    SiftedTails<T> sifted;
    for (std::int64_t b = blocks * chunk / chunks; b < end; b += at_once) {
      sift_on_host(best_host_level(), bounds, pixels + b * cell_block,
                   std::min(at_once, end - b) * cell_block, sifted);
      for (int i = 0; i < SiftedTails<T>::near; ++i) {
        const int octave = std::min(bounds.first_octave[i / 2] + i % 2, TailOctaves::count - 1);
        std::int64_t& next = mine[OctaveLists<T>::list_of(i / 2, octave)];
        if (sorted != nullptr)
          std::memcpy(sorted + next, sifted.list[i],
                      static_cast<std::size_t>(sifted.n[i]) * sizeof(T));
        next += sifted.n[i];
      }
      const T* const others = sifted.list[SiftedTails<T>::near];
      for (std::int64_t i = 0; i < sifted.n[SiftedTails<T>::near]; ++i) {
        const T x = others[i];
        const int octave = std::min(bins.octave_of(x), TailOctaves::count - 1);
        std::int64_t& next =
            mine[OctaveLists<T>::list_of(static_cast<double>(x) < bins.centre ? 0 : 1, octave)];
        if (sorted != nullptr) sorted[next] = x;
        ++next;
      }
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
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> range(space, 0, chunks);
  const GatheredBins<T> bins(brackets);
  SiftTails<T> sift{bins,   tail_bounds(bins, brackets.low_edge, brackets.high_edge),
                    pixels, whole_blocks(n) / cell_block,
                    chunks, counts,
                    nullptr};
  Kokkos::parallel_for("kastor::sigma_clip::count_tails", range, sift);
  space.fence("kastor::sigma_clip::count_tails");
  std::int64_t before = 0;
  for (int i = 0; i < OctaveLists<T>::count; ++i) {
    lists.begin[i] = before;
    for (std::int64_t c = 0; c < chunks; ++c) {
      std::int64_t& next = counts[c * OctaveLists<T>::count + i];
      const std::int64_t here = next;
      next = before;
      before += here;
    }
    lists.n[i] = before - lists.begin[i];
    fill_block(lists.pixels + lists.begin[i], lists.n[i]);
    before = whole_blocks(before);
  }
  sift.sorted = lists.pixels;
  Kokkos::parallel_for("kastor::sigma_clip::sift_tails", range, sift);
  space.fence("kastor::sigma_clip::sift_tails");
}

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LISTED_TAILS_HPP
#define KASTOR_DETAIL_LISTED_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/near_limit.hpp>
#include <kastor/detail/take_part.hpp>

/// The tails as a host keeps them: a list for every octave.
namespace kastor::detail {

/// Lists of the octaves of the lower tail, then of the upper one, from the centre outwards.
template <class T>
struct OctaveLists {
  static constexpr int count = 2 * TailOctaves::count;
  [[nodiscard]] static constexpr int list_of(int side, int octave) {
    return side * TailOctaves::count + octave;
  }

  /// Places that so many pixels take at most.
  [[nodiscard]] static constexpr std::int64_t most_size(std::int64_t pixels) {
    return pixels + count * cell_block;
  }

  T* pixels;
  std::int64_t begin[count];  ///< multiples of a block; filled up to whole blocks
  std::int64_t n[count];

  /// Places taken.
  [[nodiscard]] std::int64_t size() const { return begin[count - 1] + whole_blocks(n[count - 1]); }
};

/// Adds up what lies in an interval, in parts.
template <class T>
struct AddListPart {
  using value_type = TailSums;

  const T* pixels;
  std::int64_t n;
  Interval<T> interval;
  double centre;
  int exponent;  ///< of the octave
  int side;

  KOKKOS_FUNCTION void operator()(std::int64_t part, TailSums& sums) const {
    KOKKOS_IF_ON_HOST((add(part, sums);))
  }
  KOKKOS_FUNCTION void init(TailSums& sums) const { sums = {}; }
  KOKKOS_FUNCTION void join(TailSums& into, const TailSums& from) const { into += from; }

 private:
  void add(std::int64_t part, TailSums& sums) const {
    const T* const from = pixels + part * host_list_part;
    const std::int64_t here = std::min(host_list_part, n - part * host_list_part);
    fetch_next_part(from, n - part * host_list_part);
    constexpr int most = 900;  // of exponents: a power of two and its inverse are doubles
    if (exponent < -most || exponent > most) return add_one_by_one(from, here, sums);
    const double scale = power_of_two(-exponent);
    HostIntervalSums<T> found{interval.low, interval.high, centre, side == 0 ? -scale : scale};
    const std::int64_t whole = whole_blocks(here);
    add_interval_on_host(best_host_level(), from, whole, found);
    sums.count += found.count;
    sums.sum.add(unbias(found.sum, whole));
    sums.squares.add(unbias(found.squares, whole));
  }
  void add_one_by_one(const T* from, std::int64_t here, TailSums& sums) const {
    const TailTerm<T> term(centre, exponent);
    FewTailSums few;
    for (std::int64_t i = 0; i < here; ++i) term.add(from[i], interval.contains(from[i]), few);
    few.move_to(sums);
  }
};

/// Adds up what lies between some pixels and the centre, and keeps those.
template <class T>
struct KeepListPart {
  struct Kept {
    TailSums inner;
    typename TakePart<T>::Counts counts;
  };
  using value_type = Kept;

  AddListPart<T> add;
  TakePart<T> take;

  KOKKOS_FUNCTION void operator()(std::int64_t part, Kept& kept) const {
    add(part, kept.inner);
    take(part, kept.counts);
  }
  KOKKOS_FUNCTION void init(Kept& kept) const {
    add.init(kept.inner);
    take.init(kept.counts);
  }
  KOKKOS_FUNCTION void join(Kept& into, const Kept& from) const {
    add.join(into.inner, from.inner);
    take.join(into.counts, from.counts);
  }
};

/// The extremes of what lies in an interval, in parts.
template <class T>
struct FindListExtent {
  using value_type = Extent<T>;

  const T* pixels;
  std::int64_t n;  ///< whole blocks
  Interval<T> interval;

  KOKKOS_FUNCTION void operator()(std::int64_t part, Extent<T>& extent) const {
    KOKKOS_IF_ON_HOST((find(part, extent);))
  }
  KOKKOS_FUNCTION void init(Extent<T>& extent) const { extent = {}; }
  KOKKOS_FUNCTION void join(Extent<T>& into, const Extent<T>& from) const { into += from; }

 private:
  void find(std::int64_t part, Extent<T>& extent) const {
    const std::int64_t begin = part * host_list_part;
    const HostExtent<T> some = extent_on_host(best_host_level(), interval.low, interval.high,
                                              pixels + begin, std::min(host_list_part, n - begin));
    extent += Extent<T>{some.count, some.min, some.max};
  }
};

template <class Exec, class T>
class ListedTails {
 public:
  static constexpr int sides = 2;  ///< the lower and the upper tail

  /// The lists stay where they are. `near`: of either tail; nobody else's meanwhile.
  ListedTails(const Exec& space, const GatheredBins<T>& bins, const OctaveLists<T>& lists,
              NearLimit<T> (&near)[sides])
      : m_space(space), m_bins(bins), m_lists(&lists), m_near(near) {
    for (int side = 0; side < sides; ++side) {
      near[side].begin(side);
      TailPart before{0, 0, 0};
      for (int octave = 0; octave < TailOctaves::count; ++octave) {
        m_before[side][octave] = before;
        if (n_of(side, octave) == 0) continue;
        m_used[side] = octave + 1;
        const TailSums all =
            sums_of({list_of(side, octave), n_of(side, octave), {}}, side, octave, {});
        before = with_octave(before, octave, all);
      }
      m_before[side][TailOctaves::count] = before;
    }
  }

  /// Whether every pixel of the tails is in the list of its octave.
  [[nodiscard]] bool hold_all() const {
    return n_of(0, TailOctaves::count - 1) == 0 && n_of(1, TailOctaves::count - 1) == 0;
  }

  /// What each tail has within an interval: true, it is always known.
  bool within(const Interval<T>& interval, TailPart (&parts)[sides]) const {
    for (int side = 0; side < sides; ++side) {
      const int octave = octave_of_limit(side, interval);
      parts[side] = octave < m_used[side]
                        ? with_octave(m_before[side][octave], octave,
                                      sums_within(limit_of(side, interval), side, octave))
                        : m_before[side][TailOctaves::count];
    }
    return true;
  }

  /// The outermost pixels within an interval, of each tail that has any there. As above.
  bool find_outermost(const Interval<T>& interval, T (&extreme)[sides]) const {
    for (int side = 0; side < sides; ++side) {
      const int limit = octave_of_limit(side, interval);
      for (int octave = std::min(limit, m_used[side] - 1); octave >= 0; --octave) {
        if (n_of(side, octave) == 0) continue;
        const Extent<T> found = extent_of(side, octave, interval);
        if (found.count == 0) continue;
        extreme[side] = side == 0 ? found.min : found.max;
        break;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] Extent<T> extent_of(int side, int octave, const Interval<T>& interval) const {
    const FindListExtent<T> find{list_of(side, octave), whole_blocks(n_of(side, octave)), interval};
    return reduce_list("kastor::sigma_clip::find_outermost", m_space, list_parts(find.n), find);
  }
  [[nodiscard]] std::int64_t n_of(int side, int octave) const {
    return m_lists->n[OctaveLists<T>::list_of(side, octave)];
  }
  [[nodiscard]] const T* list_of(int side, int octave) const {
    return m_lists->pixels + m_lists->begin[OctaveLists<T>::list_of(side, octave)];
  }
  [[nodiscard]] static T limit_of(int side, const Interval<T>& interval) {
    return side == 0 ? interval.low : interval.high;
  }
  /// Those before it are whole within the limit.
  [[nodiscard]] int octave_of_limit(int side, const Interval<T>& interval) const {
    const T limit = limit_of(side, interval);
    if (!Interval<T>{}.contains(limit)) return TailOctaves::count;
    return m_bins.octave_of(limit);
  }
  [[nodiscard]] TailPart with_octave(const TailPart& before, int octave,
                                     const TailSums& sums) const {
    return {before.count + sums.count, before.sum + m_bins.in_grid_units(sums.sum, octave, false),
            before.squares + m_bins.in_grid_units(sums.squares, octave, true)};
  }

  using Pixels = typename NearLimit<T>::Pixels;

  [[nodiscard]] AddListPart<T> adding(const Pixels& pixels, int side, int octave,
                                      const Interval<T>& interval) const {
    return {pixels.list, pixels.n, interval, m_bins.centre, m_bins.exponent_of(octave), side};
  }
  [[nodiscard]] TailSums sums_of(const Pixels& pixels, int side, int octave,
                                 const Interval<T>& interval) const {
    TailSums sums = reduce_list("kastor::sigma_clip::add_tail", m_space, list_parts(pixels.n),
                                adding(pixels, side, octave, interval));
    return sums += pixels.inner;
  }

  /// Of the limit's octave.
  [[nodiscard]] TailSums sums_within(T limit, int side, int octave) const {
    NearLimit<T>& near = m_near[side];
    Pixels pixels = near.pixels_for(octave, limit, {list_of(side, octave), n_of(side, octave), {}});
    typename NearLimit<T>::Choice choice;
    if (near.narrows(limit, pixels, choice)) narrow(pixels, side, octave, limit, choice);
    const TailSums sums = sums_of(
        pixels, side, octave,
        side == 0 ? Interval<T>{limit, Interval<T>{}.high} : Interval<T>{Interval<T>{}.low, limit});
    near.note(limit, sums.count);
    return sums;
  }
  /// To those of a choice, unless they are too many.
  void narrow(Pixels& pixels, int side, int octave, T limit,
              const typename NearLimit<T>::Choice& choice) const {
    NearLimit<T>& near = m_near[side];
    T* const to = near.to_keep();
    std::int64_t next = 0;
    const KeepListPart<T> keep{adding(pixels, side, octave, choice.inner),
                               {pixels.list, whole_blocks(pixels.n), choice.kept, to,
                                NearLimit<T>::room, &next, m_space.concurrency() == 1}};
    auto kept = reduce_list("kastor::sigma_clip::keep", m_space, list_parts(pixels.n), keep);
    const std::int64_t n = kept.counts.between;
    if (n > NearLimit<T>::room) return near.give_up(limit);
    fill_block(to, n);
    pixels = near.keep(choice, n, kept.inner += pixels.inner);
  }

  Exec m_space;
  GatheredBins<T> m_bins;
  const OctaveLists<T>* m_lists;
  NearLimit<T>* m_near;
  TailPart m_before[sides][TailOctaves::count + 1];  ///< over the octaves before
  int m_used[sides] = {};  ///< octaves that hold pixels, or lie before one that does
};

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PREDICT_CLIP_HPP
#define KASTOR_DETAIL_PREDICT_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/clip_sample.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/mask_lines.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <string>
#include <vector>

/// From the image to the brackets: a few hundred pixels, the histogram of the sample, the clip of
/// the histogram.
namespace kastor::detail {

struct ClipRequest {
  double kappa;
  int max_passes;
  double widen;  ///< of the safety margins: 1 at first, then more
  ClipLevel level;

  /// How many failed before: of no more than two it matters.
  [[nodiscard]] int attempt() const { return widen <= 1 ? 0 : (widen <= 3 ? 1 : 2); }
};

/// All of it in memory of Exec; the counters that later kernels add to are cleared on the way.
template <class T>
struct PredictionSpace {
  T* rough_values;  ///< (rough_size)
  RoughScale<T>* rough;
  std::uint32_t* histogram;  ///< (SampleBins::count)
  std::uint32_t* count;      ///< (SampleBins::count + 1)
  std::int64_t* sum;         ///< (SampleSums::size)
  std::int64_t* squares;     ///< (SampleSums::size)
  Brackets<T>* brackets;

  [[nodiscard]] KOKKOS_FUNCTION SampleSums sums() const { return {count, sum, squares}; }
};

template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION SampleBins sample_bins(const RoughScale<T>& rough) {
  return {rough.centre, rough.scale > 0 ? 1 / rough.scale : 0.0};
}

/// Numbers of pixels, and sums, of a few bins.
struct BinSums {
  std::int64_t count = 0, sum = 0, squares = 0;

  KOKKOS_FUNCTION void add(std::uint32_t n, int bin) {
    // Of 32 bits, as the number: a device multiplies 64 in many instructions.
    const std::int32_t middle = SampleBins::middle_of(bin);
    const std::int64_t of_bin = std::int64_t{static_cast<std::int32_t>(n)} * middle;
    count += n;
    sum += of_bin;
    // With half of the largest sample in an outermost bin it overflows, and nothing is foreseen.
    squares = static_cast<std::int64_t>(static_cast<std::uint64_t>(squares) +
                                        static_cast<std::uint64_t>(of_bin) *
                                            static_cast<std::uint64_t>(std::int64_t{middle}));
  }
  /// As what lies before a bin.
  template <class T>
  KOKKOS_FUNCTION void put(const PredictionSpace<T>& space, int bin) const {
    space.count[bin] = static_cast<std::uint32_t>(count);
    space.sum[SampleSums::place_of(bin)] = sum;
    space.squares[SampleSums::place_of(bin)] = squares;
  }
};

// ------------------------------------------------------------------------------------ devices

/// Words that threads clear beside each other.
struct ClearWords {
  std::uint64_t* words;
  std::int64_t count;

  KOKKOS_FUNCTION void clear(std::int64_t rank, std::int64_t size) const {
    for (std::int64_t i = rank; i < count; i += size) words[i] = 0;
  }
};
/// The lines of a mask that were touched.
struct ClearLines {
  std::uint64_t* mask;
  std::int64_t words;
  MaskLines lines;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const {
    return (words + MaskLines::words - 1) / MaskLines::words;
  }
  KOKKOS_FUNCTION void clear(std::int64_t rank, std::int64_t size) const {
#ifdef __CUDA_ARCH__
    clear_by_lanes(rank, size);
#else
    for (std::int64_t line = rank; line < count(); line += size) {
      if (lines.touched[line] == 0) continue;
      for (int k = 0; k < MaskLines::words; ++k) mask[line * MaskLines::words + k] = 0;
      lines.touched[line] = 0;
    }
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  /// The lanes of a warp look at lines side by side, and clear them together: neighbours write
  /// neighbours. All must call it, whole warps of them.
  __device__ void clear_by_lanes(std::int64_t rank, std::int64_t size) const {
    constexpr int pieces = MaskLines::words / 2;  // of a line, a pair of words each
    const int lane = this_lane();
    const std::int64_t n = count();
    KASTOR_KEEP_LOOP
    for (std::int64_t line = rank; line - lane < n; line += size) {
      const bool is_touched = line < n && lines.touched[line] != 0;
      const std::uint32_t touched = lanes_where(is_touched);
      if (touched == 0) continue;
      KASTOR_UNROLL
      for (int p = 0; p < pieces; ++p) {
        const int piece = p * lanes + lane;
        if ((touched >> (piece / pieces) & 1) == 0) continue;
        std::uint64_t* const to = mask + (line - lane) * MaskLines::words + 2 * piece;
        to[0] = 0;
        to[1] = 0;
      }
      if (is_touched) lines.touched[line] = 0;
    }
  }
#endif
};
template <class V>
[[nodiscard]] KOKKOS_FUNCTION ClearWords words_of(V* values, std::int64_t n) {
  static_assert(sizeof(V) % sizeof(std::uint64_t) == 0 && alignof(V) == alignof(std::uint64_t));
  return {reinterpret_cast<std::uint64_t*>(values),
          n * static_cast<std::int64_t>(sizeof(V) / sizeof(std::uint64_t))};
}

/// What the kernels after the sample add to.
template <class T>
struct ClipCounters {
  GatherTotals* totals;     ///< (teams)
  SegmentCounts* segments;  ///< (teams)
  int teams;
  PageCounts sort;
  TailSummaries<T> tails;

  KOKKOS_FUNCTION void clear(int rank, int size) const {
    for (int i = rank; i < teams; i += size) segments[i] = {0, 0};
    for (int i = rank; i < SortedPages<T>::bins; i += size) sort.of_bin[i] = 0;
    for (int i = rank; i < PageCounts::tail_bins; i += size) sort.of_tail[i] = sort.placed[i] = 0;
    if (rank == 0) *sort.joined = 0;
    words_of(totals, teams).clear(rank, size);
    words_of(tails.bins, 2 * TailOctaves::bins).clear(rank, size);
    words_of(tails.groups, 2 * TailOctaves::groups).clear(rank, size);
    words_of(tails.octaves, 2 * TailOctaves::count).clear(rank, size);
  }
};

/// The histogram is 0 before the first clip, and a late kernel of each clears it for the next.
struct ClearHistogram {
  std::uint32_t* histogram;
  KOKKOS_FUNCTION void operator()(int bin) const { histogram[bin] = 0; }
};

/// Work space of a team that looks for the rough scale.
template <class T>
struct RoughSpace {
  using Pack = PixelPack<T>;
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  Pack packs[rough_size / Pack::size];  ///< of pixels; what is not finite is infinity
  T sorted[rough_size];
  RoughFlags flags;
  int finite;

  /// Takes a pixel, for each of its `rough_size` places, before a barrier.
  KOKKOS_FUNCTION void take(int i, T x) {
    packs[i / Pack::size].pixel[i % Pack::size] = Interval<T>{}.contains(x) ? x : infinity;
    if (i < RoughFlags::words) flags.word[i] = 0;
    if (i == 0) {
      flags.any = 0;
      finite = rough_size;
    }
  }
  /// All of the team must call it. `rough`: known after a barrier.
  template <bool OfPeaks, class Member>
  KOKKOS_FUNCTION void describe(const TeamCrew<Member>& crew, RoughScale<T>& rough) {
    for (int i = crew.rank(); i < rough_size; i += crew.size()) {
      const T x = packs[i / Pack::size].pixel[i % Pack::size];
      const int place = place_of(i, x);
      sorted[place] = x;
      if (!(x < infinity)) Kokkos::atomic_min(&finite, place);
    }
    crew.barrier();
    describe_sorted<OfPeaks>(crew, sorted, finite, flags, rough);
  }

 private:
  /// Where a pixel comes when they are sorted, found by counting; equal ones keep their order. The
  /// lanes of a warp have pixels of one block, so that only there the places are compared.
  [[nodiscard]] KOKKOS_FUNCTION int place_of(int i, T x) const {
    constexpr int block = lanes;
    const int own = i - i % block;
    int before[Pack::size] = {};
    for_each(0, own, [&](T other, int, int c) { count_if_not_greater(other, x, before[c]); });
    for_each(own, own + block, [&](T other, int k, int c) {
      before[c] += ((other < x) | ((other == x) & (k < i))) ? 1 : 0;
    });
    for_each(own + block, rough_size,
             [&](T other, int, int c) { count_if_less(other, x, before[c]); });
    int sum = 0;
    KASTOR_UNROLL
    for (int c = 0; c < Pack::size; ++c) sum += before[c];
    return sum;
  }
  /// Calls `visit(pixel, k, k % Pack::size)` for those from one pack to another.
  template <class Visit>
  KOKKOS_FUNCTION void for_each(int begin, int end, const Visit& visit) const {
    KASTOR_UNROLL_BY_4
    for (int k = begin; k < end; k += Pack::size) {
      const Pack pack = packs[k / Pack::size];
      KASTOR_UNROLL
      for (int c = 0; c < Pack::size; ++c) visit(pack.pixel[c], k + c, c);
    }
  }
};

/// One team, once for every band; the first time more teams, to clear the counters.
template <class T, class Exec, bool OfPeaks>
struct FindRoughScale {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 1024;
  static constexpr int teams_at_once = 1;
  static constexpr int scratch_bytes = sizeof(RoughSpace<T>) + 16;

  SampledRows<T> band;
  Stride stride;
  bool last_band;
  PredictionSpace<T> space;
  ClipCounters<T> counters;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    const int rank = crew.rank();
    const int size = crew.size();
    // One team looks at the image.
    if (team.league_rank() > 0) {
      counters.clear((team.league_rank() - 1) * size + rank, (team.league_size() - 1) * size);
      return;
    }
    const SampleRange range(band, stride.stride, stride.count);
    for (std::int64_t i = range.begin + rank; i < range.end; i += size) {
      if (i < rough_size) space.rough_values[i] = band.at(i * stride.stride);
    }
    if (!last_band) return;
    team.team_barrier();
    RoughSpace<T>& rough = *scratch_of<RoughSpace<T>>(team);
    const int n = static_cast<int>(stride.count < rough_size ? stride.count : rough_size);
    for (int i = rank; i < rough_size; i += size)
      rough.take(i, i < n ? space.rough_values[i] : rough.infinity);
    team.team_barrier();
    rough.template describe<OfPeaks>(crew, *space.rough);
  }
};

template <class T, class Exec>
struct CountSample {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 256;
  static constexpr int teams_at_once = 1;
  static constexpr int scratch_bytes = SampleBins::count * sizeof(std::uint32_t) + 16;

  SampledRows<T> band;
  Stride stride;
  PredictionSpace<T> space;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto* const mine = scratch_of<std::uint32_t>(team, SampleBins::count);
    const int rank = team.team_rank();
    const int size = team.team_size();
    for (int b = rank; b < SampleBins::count; b += size) mine[b] = 0;
    team.team_barrier();
    const SampleBins bin_of = sample_bins(*space.rough);
    const SampleRange range(band, stride.stride, stride.count);
    const std::int64_t step = std::int64_t{team.league_size()} * size;
    KASTOR_UNROLL_BY_4
    for (std::int64_t i = range.begin + team.league_rank() * size + rank; i < range.end;
         i += step) {
      const T x = band.at(i * stride.stride);
      if (Interval<T>{}.contains(x)) (void)scratch_fetch_add(&mine[bin_of(x)], 1U);
    }
    team.team_barrier();
    for (int b = rank; b < SampleBins::count; b += size) {
      if (mine[b] != 0) Kokkos::atomic_add(&space.histogram[b], mine[b]);
    }
  }
};

/// Both at once, for an image in one band: every team finds the rough scale by itself, while its
/// pixels of the sample are under way. One more kernel, and to be told, take longer.
template <class T, class Exec, bool OfPeaks>
struct CountSampleOfOneBand {
  using Member = TeamMember<Exec>;
  static constexpr int threads = rough_size;
  static constexpr int teams_at_once = 1;
  static constexpr int clearing = 16;  ///< more teams, which clear the counters
  static constexpr int at_once = 4;    ///< pixels of a thread
  struct Space {
    std::uint32_t histogram[SampleBins::count];
    RoughSpace<T> rough;
    RoughScale<T> scale;
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  SampledRows<T> band;
  Stride rough, sample;
  PredictionSpace<T> space;
  ClipCounters<T> counters;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    const int rank = crew.rank();
    const int sampling = team.league_size() - clearing;
    const int place = team.league_rank() * threads + rank;
    if (team.league_rank() >= sampling)
      return counters.clear(place - sampling * threads, clearing * threads);
    Space& here = *scratch_of<Space>(team);
    const std::int64_t step = std::int64_t{sampling} * threads;
    const int n = static_cast<int>(rough.count < rough_size ? rough.count : rough_size);
    const T of_rough = rank < n ? band.at(rank * rough.stride) : here.rough.infinity;
    T pixel[at_once]{};
    KASTOR_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const std::int64_t i = place + k * step;
      if (i < sample.count) pixel[k] = band.at(i * sample.stride);
    }
    for (int b = rank; b < SampleBins::count; b += threads) here.histogram[b] = 0;
    here.rough.take(rank, of_rough);
    team.team_barrier();
    here.rough.template describe<OfPeaks>(crew, here.scale);
    team.team_barrier();
    const SampleBins bin_of = sample_bins(here.scale);
    const auto count = [&](T x) {
      if (Interval<T>{}.contains(x)) (void)scratch_fetch_add(&here.histogram[bin_of(x)], 1U);
    };
    int bin[at_once];
    bool all_near = true;
    KASTOR_UNROLL
    for (int k = 0; k < at_once; ++k) {
      bin[k] = bin_of.near_bin(pixel[k]);
      const bool is_there = place + k * step < sample.count;
      all_near &= !is_there | (bin[k] != SampleBins::none);
      if (!is_there) bin[k] = SampleBins::none;
    }
    KASTOR_UNROLL
    for (int k = 0; k < at_once; ++k) {
      if (bin[k] != SampleBins::none) (void)scratch_fetch_add(&here.histogram[bin[k]], 1U);
    }
    if (!all_near) {
      // Short code: it runs once and has to be fetched first.
      KASTOR_KEEP_LOOP
      for (std::int64_t k = 0; k < at_once; ++k) {
        if (bin[0] == SampleBins::none && place + k * step < sample.count) count(pixel[0]);
        KASTOR_UNROLL
        for (int next = 1; next < at_once; ++next) {
          pixel[next - 1] = pixel[next];
          bin[next - 1] = bin[next];
        }
      }
    }
    KASTOR_UNROLL_BY_4
    for (std::int64_t i = place + at_once * step; i < sample.count; i += step)
      count(band.at(i * sample.stride));
    team.team_barrier();
    for (int b = rank; b < SampleBins::count; b += threads) {
      if (here.histogram[b] != 0) Kokkos::atomic_add(&space.histogram[b], here.histogram[b]);
    }
    if (place == 0) *space.rough = here.scale;
  }
};

/// One team; the others clear.
template <class T, class Exec>
struct BracketFromHistogram {
  using Member = TeamMember<Exec>;
  static constexpr int threads = SampleSums::threads;
  static constexpr int teams_at_once = 1;
  struct Space {
    SumsBeforeSpace<std::int64_t, 3, threads> sums;
    std::uint32_t count[SampleBins::count + 1];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  ClipRequest request;
  PredictionSpace<T> global;
  ClearLines clearing;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (team.league_rank() > 0) {
      clearing.clear(std::int64_t{team.league_rank() - 1} * threads + team.team_rank(),
                     std::int64_t{team.league_size() - 1} * threads);
      return;
    }
    // The counts are searched again and again.
    PredictionSpace<T> space = global;
    auto* const scratch = scratch_of<Space>(team);
    space.count = scratch->count;
    constexpr int share = SampleSums::stretch;
    const int rank = team.team_rank();
    std::uint32_t n[share];
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) {
      const int bin = rank + k * threads;
      n[k] = bin < SampleBins::count ? space.histogram[bin] : 0;
    }
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) {
      if (rank + k * threads <= SampleBins::count) space.count[rank + k * threads] = n[k];
    }
    team.team_barrier();
    // A thread has bins side by side, an odd number of them, so that no two of a warp meet at a
    // bank. Loops: the code runs once and has to be fetched first.
    static_assert(share % 2 == 1);
    const int first = rank * share;
    const int past = first + share <= SampleBins::count ? first + share : SampleBins::count + 1;
    BinSums mine;
    KASTOR_KEEP_LOOP
    for (int bin = first; bin < past; ++bin) mine.add(space.count[bin], bin);
    std::int64_t sums[3] = {mine.count, mine.sum, mine.squares};
    sums_before(TeamCrew<Member>(team), scratch->sums, sums);
    BinSums before{sums[0], sums[1], sums[2]};
    KASTOR_KEEP_LOOP
    for (int bin = first; bin < past; ++bin) {
      const std::uint32_t here = space.count[bin];
      before.put(space, bin);
      before.add(here, bin);
    }
    team.team_barrier();
    if (team.team_rank() >= predicting_threads) return;
    // Their own, which nothing else that they read can be.
    const RoughScale<T> rough = *space.rough;
    Brackets<T> brackets;
    bracket(rough, space.sums(), request.kappa, request.max_passes, request.widen, request.level,
            brackets);
    if (team.team_rank() == 0) *space.brackets = brackets;
  }
};

// -------------------------------------------------------------------------------------- hosts

/// A thread counts a chunk of a band's part of the sample.
template <class T>
struct CountSampleOnHost {
  SampledRows<T> band;
  Stride stride;
  PredictionSpace<T> space;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    std::uint32_t mine[SampleBins::count] = {};
    KOKKOS_IF_ON_HOST((count(chunk, mine);))
    // Each from another bin on, or all threads would queue up at the same ones.
    const auto first = static_cast<int>(chunk * SampleBins::count / chunks);
    for (int k = 0; k < SampleBins::count; ++k) {
      const int b = (first + k) % SampleBins::count;
      if (mine[b] == 0) continue;
      if (chunks == 1) {
        space.histogram[b] += mine[b];
      } else {
        Kokkos::atomic_add(&space.histogram[b], mine[b]);
      }
    }
  }

 private:
  void count(std::int64_t chunk, std::uint32_t* mine) const {
    const SampleBins bin_of = sample_bins(*space.rough);
    const NearBins near = bin_of.near();
    const SampleRange range(band, stride.stride, stride.count);
    const std::int64_t n = range.end - range.begin;
    const std::int64_t end = range.begin + n * (chunk + 1) / chunks;
    // One after the other: the memory, the arithmetic, the histogram, each as fast as it can be.
    constexpr int at_once = 128;
    T pixels[at_once];
    std::int32_t bins[at_once];
    for (std::int64_t i = range.begin + n * chunk / chunks; i < end; i += at_once) {
      const int here = end - i < at_once ? static_cast<int>(end - i) : at_once;
      for (int k = 0; k < here; ++k) {
        const std::int64_t later = std::min(i + k + at_once, end - 1);
        __builtin_prefetch(band.where(later * stride.stride), 0, 2);
        pixels[k] = band.at((i + k) * stride.stride);
      }
      near_bins_on_host(best_host_level(), near, pixels, here, bins);
      for (int k = 0; k < here; ++k) {
        if (SampleBins::is_near(bins[k])) {
          ++mine[bins[k]];
        } else if (Interval<T>{}.contains(pixels[k])) {
          ++mine[bin_of(pixels[k])];
        }
      }
    }
  }
};

/// Everything but the histogram.
template <class T>
void rough_scale_on_host(std::vector<T>& values, bool of_peaks, const PredictionSpace<T>& space) {
  std::erase_if(values, [](T x) { return !Interval<T>{}.contains(x); });
  std::sort(values.begin(), values.end());
  RoughFlags flags{};
  const auto n = static_cast<int>(values.size());
  of_peaks ? describe_sorted<true>(Alone{}, values.data(), n, flags, *space.rough)
           : describe_sorted<false>(Alone{}, values.data(), n, flags, *space.rough);
  std::fill(space.histogram, space.histogram + SampleBins::count, 0U);
}
template <class T>
void bracket_on_host(const ClipRequest& request, const PredictionSpace<T>& space) {
  BinSums before;
  for (int b = 0; b < SampleBins::count; ++b) {
    before.put(space, b);
    before.add(space.histogram[b], b);
  }
  before.put(space, SampleBins::count);
  bracket(*space.rough, space.sums(), request.kappa, request.max_passes, request.widen,
          request.level, *space.brackets);
}

}  // namespace kastor::detail

#endif

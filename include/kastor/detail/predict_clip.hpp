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
#include <string>
#include <vector>

/// From the image to the brackets: a few hundred pixels, the histogram of the sample, the clip of
/// the histogram.
namespace kastor::detail {

struct ClipRequest {
  double kappa;
  int max_passes;
  double widen;  ///< of the safety margins
  ClipLevel level;
};

/// All of it in memory of Exec; the counters that later kernels add to are cleared on the way.
template <class T>
struct PredictionSpace {
  T* rough_values;  ///< (rough_size)
  RoughScale<T>* rough;
  std::uint32_t* histogram;  ///< (SampleBins::count)
  std::uint32_t* count;      ///< (SampleBins::count + 1), and so the next two
  std::int64_t* sum;
  std::int64_t* squares;
  Brackets<T>* brackets;

  [[nodiscard]] KOKKOS_FUNCTION SampleSums sums() const { return {count, sum, squares}; }
};

template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION SampleBins sample_bins(const RoughScale<T>& rough) {
  return {rough.centre, rough.scale > 0 ? 1 / rough.scale : 0.0};
}

/// Sums before each bin of a stretch of bins, given those before the stretch.
template <class T>
struct BinStretch {
  int first, last;
  std::int64_t count = 0, sum = 0, squares = 0;  // of the stretch

  KOKKOS_FUNCTION BinStretch(const PredictionSpace<T>& space, int f, int l) : first(f), last(l) {
    for (int b = first; b < last; ++b) add(space.histogram[b], b);
  }
  KOKKOS_FUNCTION void add(std::uint32_t n, int bin) {
    const std::int64_t middle = SampleBins::middle_of(bin);
    count += n;
    sum += n * middle;
    squares += n * (middle * middle);
  }
  KOKKOS_FUNCTION void write(const PredictionSpace<T>& space, std::int64_t count_before,
                             std::int64_t sum_before, std::int64_t squares_before) {
    count = count_before;
    sum = sum_before;
    squares = squares_before;
    for (int b = first; b < last; ++b) {
      put(space, b);
      add(space.histogram[b], b);
    }
    if (last == SampleBins::count) put(space, last);
  }

 private:
  KOKKOS_FUNCTION void put(const PredictionSpace<T>& space, int bin) const {
    space.count[bin] = static_cast<std::uint32_t>(count);
    space.sum[bin] = sum;
    space.squares[bin] = squares;
  }
};

// ------------------------------------------------------------------------------------ devices

/// Counters that are zero before the read.
struct ReadCounters {
  GatherTotals* totals;
  SegmentCounts* segments;
  int teams;
  std::uint64_t* bins;
  int bin_count;
  WideTailSums* octaves;  ///< (2, TailOctaves::count)
  std::uint32_t* tickets;
};

/// One team, once for every band.
template <class T, class Exec>
struct FindRoughScale {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 256;
  static constexpr int scratch_bytes =
      rough_size * static_cast<int>(2 * sizeof(T) + 2 * sizeof(int)) + 16;

  SampledRows<T> band;
  Stride stride;
  bool first_band, last_band;
  PredictionSpace<T> space;
  ReadCounters counters;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    const int rank = crew.rank();
    const int size = crew.size();
    if (first_band) clear(rank, size);
    const SampleRange range(band, stride.stride, stride.count);
    for (std::int64_t i = range.begin + rank; i < range.end; i += size) {
      if (i < rough_size) space.rough_values[i] = band.at(i * stride.stride);
    }
    if (!last_band) return;
    team.team_barrier();
    const int bytes = scratch_bytes - 16;
    auto* values = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    T* sorted = values + rough_size;
    int* flags = reinterpret_cast<int*>(sorted + rough_size);
    const int n = static_cast<int>(stride.count < rough_size ? stride.count : rough_size);
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    for (int i = rank; i < n; i += size) {
      const T x = space.rough_values[i];
      values[i] = Interval<T>{}.contains(x) ? x : infinity;
    }
    team.team_barrier();
    // Sorted by counting the smaller ones; what is not finite comes last.
    int finite = 0;
    for (int i = rank; i < n; i += size) {
      const T x = values[i];
      finite += x < infinity ? 1 : 0;
      int before = 0;
      for (int k = 0; k < n; ++k) {
        const T other = values[k];
        before += (other < x) | ((other == x) & (k < i)) ? 1 : 0;
      }
      sorted[before] = x;
    }
    finite = crew.sum(finite);
    team.team_barrier();
    describe_sorted(crew, sorted, finite, flags, *space.rough);
  }

 private:
  KOKKOS_FUNCTION void clear(int rank, int size) const {
    for (int i = rank; i < SampleBins::count; i += size) space.histogram[i] = 0;
    for (int i = rank; i < counters.teams; i += size) counters.segments[i] = {0, 0};
    for (int i = rank; i < counters.bin_count; i += size) counters.bins[i] = 0;
    for (int i = rank; i < 2 * TailOctaves::count; i += size) counters.octaves[i] = WideTailSums{};
    if (rank == 0) {
      *counters.totals = GatherTotals{};
      *counters.tickets = 0;
    }
  }
};

template <class T, class Exec>
struct CountSample {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 256;
  static constexpr int scratch_bytes = SampleBins::count * sizeof(std::uint32_t) + 8;

  SampledRows<T> band;
  Stride stride;
  PredictionSpace<T> space;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int bytes = scratch_bytes - 8;
    auto* mine = static_cast<std::uint32_t*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
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
      if (Interval<T>{}.contains(x)) Kokkos::atomic_inc(&mine[bin_of(x)]);
    }
    team.team_barrier();
    for (int b = rank; b < SampleBins::count; b += size) {
      if (mine[b] != 0) Kokkos::atomic_add(&space.histogram[b], mine[b]);
    }
  }
};

/// One team.
template <class T, class Exec>
struct BracketFromHistogram {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 256;
  static constexpr int scratch_bytes = (SampleBins::count + 1) * sizeof(std::uint32_t) + 8;
  ClipRequest request;
  PredictionSpace<T> global;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    // The counts are searched again and again.
    PredictionSpace<T> space = global;
    const int bytes = scratch_bytes - 8;
    space.count = static_cast<std::uint32_t*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
    constexpr int share = (SampleBins::count + threads - 1) / threads;
    const int rank = team.team_rank();
    const int first = rank * share < SampleBins::count ? rank * share : SampleBins::count;
    const int last = first + share < SampleBins::count ? first + share : SampleBins::count;
    BinStretch<T> stretch(space, first, last);
    const std::int64_t count = team.team_scan(stretch.count);
    const std::int64_t sum = team.team_scan(stretch.sum);
    const std::int64_t squares = team.team_scan(stretch.squares);
    if (first < last) stretch.write(space, count, sum, squares);
    team.team_barrier();
    if (rank == 0)
      bracket(*space.rough, space.sums(), request.kappa, request.max_passes, request.widen,
              request.level, *space.brackets);
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
    const SampleBins bin_of = sample_bins(*space.rough);
    const SampleRange range(band, stride.stride, stride.count);
    const std::int64_t n = range.end - range.begin;
    const std::int64_t end = range.begin + n * (chunk + 1) / chunks;
    for (std::int64_t i = range.begin + n * chunk / chunks; i < end; ++i) {
      const T x = band.at(i * stride.stride);
      if (Interval<T>{}.contains(x)) ++mine[bin_of(x)];
    }
    for (int b = 0; b < SampleBins::count; ++b) {
      if (mine[b] == 0) continue;
      if (chunks == 1) {
        space.histogram[b] += mine[b];
      } else {
        Kokkos::atomic_add(&space.histogram[b], mine[b]);
      }
    }
  }
};

/// Everything but the histogram.
template <class T>
void rough_scale_on_host(std::vector<T>& values, const PredictionSpace<T>& space) {
  std::erase_if(values, [](T x) { return !Interval<T>{}.contains(x); });
  std::sort(values.begin(), values.end());
  int flags[rough_size];
  describe_sorted(Alone{}, values.data(), static_cast<int>(values.size()), flags, *space.rough);
  std::fill(space.histogram, space.histogram + SampleBins::count, 0U);
}
template <class T>
void bracket_on_host(const ClipRequest& request, const PredictionSpace<T>& space) {
  BinStretch<T>(space, 0, SampleBins::count).write(space, 0, 0, 0);
  bracket(*space.rough, space.sums(), request.kappa, request.max_passes, request.widen,
          request.level, *space.brackets);
}

}  // namespace kastor::detail

#endif

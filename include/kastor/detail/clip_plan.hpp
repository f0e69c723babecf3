// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_PLAN_HPP
#define KASTOR_DETAIL_CLIP_PLAN_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/clip_parts.hpp>
#include <kastor/detail/device_clip.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/listed_tails.hpp>
#include <kastor/detail/listed_window.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/reread_clip.hpp>
#include <kastor/detail/sift_tails.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/work_shares.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// The clip as a sequence of kernels that nobody waits for in between:
///
///   rough scale   one team     quartiles of 256 pixels, of an image in several bands
///   sample        many teams   every so many pixels into a histogram, N^(2/3) in all
///   brackets      one team     the clip of the histogram: where limits and medians can be
///   read          many teams   THE read of the image: sums inside, the rest gathered
///   sort          many teams   the gathered pixels into bins, page by page
///   join          many teams   the tails of all pages, and their sums
///   expect        some teams   every pass, roughly, to look up what it will ask
///   refine        some teams   or of a large image the bins that passes look in, into parts
///   replay        one team     every pass, exactly, from those answers or from sums and bins
///
/// A host keeps lists instead of sorting and joining: see sift_tails.hpp.
///
/// Every step is exact or checked: the sums are integers, and the replay knows when a limit or a
/// median falls where pixels were not gathered. Then, or if the lists were too short, the host
/// starts again with longer lists or wider brackets, which rest on other pixels, and at last reads
/// the image in every pass.
namespace kastor::detail {

template <class Exec, class T>
class ClipPlan {
 public:
  static constexpr bool on_host = is_host_space_v<Exec>;
  using Bins = GatheredBins<T>;

  /// \throws Error if a parameter is out of its range.
  ClipPlan(const Exec& space, const SigmaClipParams& params)
      : m_space(space),
        m_params(params),
        m_teams(on_host ? 1 : teams_of(space)),
        m_small("kastor::sigma_clip::work", space),
        m_outcome(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::sigma_clip::outcome")),
        m_selector(space) {
    KASTOR_EXPECTS(
        "kastor::SigmaClipper", params.kappa > 0 && std::isfinite(params.kappa),
        "kappa is " + std::to_string(params.kappa) + "; expected a finite number above 0");
    KASTOR_EXPECTS("kastor::SigmaClipper", params.max_passes >= 0,
                   "max_passes is " + std::to_string(params.max_passes) + "; expected 0 or more");
    m_small_parts.lay_out(m_small, m_teams, !on_host);
    if constexpr (!on_host)
      Kokkos::parallel_for("kastor::sigma_clip::clear_histogram",
                           Kokkos::RangePolicy<Exec>(m_space, 0, SampleBins::count),
                           ClearHistogram{m_small_parts.prediction.histogram});
  }

  /// Enqueues the clip of an image. If a mask is given, a host marks in it the pixels that may be
  /// above `level`, and has its answer at once; a device, if the clip starts, clears it and marks
  /// those that are certainly above.
  void start(Bands<T, Exec> bands, const ClipLevel& level, MaskRows mask) {
    m_shape = shape_of<T, Exec>("kastor::sigma_clip", bands);
    m_level = level;
    m_mask = mask;
    m_outcome().decided = 0;
    m_outcome().candidates_hold = 0;
    m_started = false;
    if (pixels() < smallest_sampled) return;
    reserve(std::max<std::int64_t>(pixels() / 8, std::min<std::int64_t>(pixels(), 1 << 20)));
    enqueue(bands, 1.0);
  }

  /// False for images that are read in every pass, by `finish`.
  [[nodiscard]] bool started() const { return m_started; }
  /// After a fence of the space.
  [[nodiscard]] bool decided() const { return m_outcome().decided != 0; }
  /// The foreground is what was marked or listed and is above the level.
  [[nodiscard]] bool candidates_hold() const { return m_outcome().candidates_hold != 0; }

  /// On a host, if the candidates hold: clears the bits of those that are not above the level.
  void clear_borderline() const requires on_host {
    Kokkos::parallel_for("kastor::threshold::clear_borderline",
                         Range(m_space, 0, m_borderline_count),
                         ClearBorderline<T>{m_borderline.data(), m_outcome().foreground_above});
  }

  /// For the kernels of a device that follow `start`.
  [[nodiscard]] const ClipOutcome<T>* outcome_on_device() const { return m_small_parts.outcome; }
  [[nodiscard]] int teams() const { return m_teams; }
  [[nodiscard]] Segmented<T> lists() const {
    return {m_list.data(), m_capacity, m_candidates.data(), m_candidate_capacity,
            m_small_parts.segments};
  }

  /// Whatever it takes. Fences. \throws Error if no pixel is finite.
  [[nodiscard]] SigmaClipResult finish(Bands<T, Exec> bands) {
    if (m_started && !decided()) try_again(bands);
    SigmaClipResult result;
    if (m_started && decided()) {
      result = m_outcome().result;
      result.route = ClipRoute::bracketed;
      if constexpr (!on_host) make_room_for_candidates();
    } else {
      result.kappa = m_params.kappa;
      result.pixels = pixels();
      reread_clip<Exec, T>(m_space, bands, m_selector, m_params, result);
      result.route = ClipRoute::reread;
    }
    KASTOR_EXPECTS("kastor::sigma_clip", result.blank < result.pixels,
                   "all " + std::to_string(result.pixels) +
                       " pixels are blank; expected at least one finite pixel");
    return result;
  }

 private:
  using Read = GatherByTeams<T, Exec>;
  using Sort = SortIntoPages<T, Exec>;
  using Values = Kokkos::View<T*, typename Exec::memory_space>;
  using Range = IndexRange<Exec>;
  static constexpr std::int64_t smallest_sampled = 16384;  ///< smaller images are read as often

  struct HostReplay {
    OctaveLists<T> octaves;
    NearLimit<T> near[ListedTails<Exec, T>::sides];
    SmallList<T> few;
  };

  [[nodiscard]] std::int64_t pixels() const { return m_shape.ny * m_shape.nx; }

  /// Of the read: of what the device holds, as many as leave registers enough; odd, so that the
  /// tiles of a team do not lie below each other in an image as wide as a power of two.
  [[nodiscard]] static int teams_of(const Exec& space) {
    const int at_once = processors_of(space) * Read::teams_at_once;
    return (std::clamp(at_once, 2, Sort::most_segments) - 1) | 1;
  }

  // ------------------------------------------------------------------------------------- memory

  /// Room for so many gathered pixels.
  void reserve(std::int64_t wanted) {
    if constexpr (on_host) {
      m_capacity = std::max(m_capacity, wanted);
      grow(m_list, m_space, "kastor::sigma_clip::gathered", GatheredLists<T>::size(m_capacity));
      grow(m_sorted, m_space, "kastor::sigma_clip::sorted",
           OctaveLists<T>::most_size(m_capacity) + cell_block);
      if (m_mask.words != nullptr)
        grow(m_borderline, m_space, "kastor::sigma_clip::borderline",
             std::max<std::int64_t>(4096, pixels() / 64));
      if (!m_host_replay) m_host_replay = std::make_unique<HostReplay>();
    } else {
      // A whole tile more, since a small image may be no more than a tile a team.
      reserve_segments(std::min(wanted, std::int64_t{1} << 31) / m_teams + Read::tile);
    }
  }
  void reserve_segments(std::int64_t capacity) {
    constexpr std::int64_t most = 0xffffffff;  // places in the sorted list have 32 bits
    if (capacity > most / m_teams) throw std::length_error("kastor::sigma_clip");
    m_capacity = std::max(m_capacity, capacity);
    m_candidate_capacity = std::max(m_candidate_capacity, m_capacity / 4);
    grow(m_list, m_space, "kastor::sigma_clip::gathered", m_capacity * m_teams);
    grow(m_sorted, m_space, "kastor::sigma_clip::sorted", m_capacity * m_teams);
    m_page_size = page_size();
    const std::int64_t most_gathered = std::min(m_capacity * m_teams, pixels());
    grow(m_page_begins, m_space, "kastor::sigma_clip::pages",
         (most_gathered / m_page_size + 1) * SortedPages<T>::row);
    grow(m_candidates, m_space, "kastor::sigma_clip::candidates", m_candidate_capacity * m_teams);
  }

  /// For an image like the last one. Very many take as long to list as another read of the image.
  void make_room_for_candidates() {
    const std::int64_t most = m_outcome().most_candidates;
    const std::int64_t too_many =
        std::min(pixels() / m_teams / 16 + Read::tile / 4, m_no_memory_for);
    if (most <= m_candidate_capacity || most >= too_many) return;
    m_candidate_capacity = most + most / 8;
    try {
      grow(m_candidates, m_space, "kastor::sigma_clip::candidates", m_candidate_capacity * m_teams);
    } catch (const std::exception&) {  // the mask is made by that read
      m_no_memory_for = most;
      m_candidate_capacity = 0;
      m_candidates = {};
    }
  }

  /// Pixels of a page: of few, there are more pages, so that many teams sort.
  [[nodiscard]] std::int32_t page_size() const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(pixels() / 2048 / 64 * 64, 2048, Sort::most_pixels));
  }

  // -------------------------------------------------------------------------------------- steps

  void enqueue(Bands<T, Exec> bands, double widen) {
    const ClipRequest request{m_params.kappa, m_params.max_passes, widen, m_level};
    m_started = true;
    if constexpr (on_host) {
      run_on_host(bands, request);
    } else {
      enqueue_on_device(bands, request);
    }
  }

  template <class Visit>
  void for_each_band(Bands<T, Exec> bands, const Visit& visit) const {
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const Rows<T> rows = rows_of<T, Exec>(band);
      if (rows.ny > 0 && rows.nx > 0) visit(SampledRows<T>{rows, first_row * rows.nx}, first_row);
      first_row += rows.ny;
    }
  }

  void enqueue_on_device(Bands<T, Exec> bands, const ClipRequest& request) {
    const std::int64_t words = m_mask.words == nullptr ? 0 : m_shape.ny * m_mask.per_row;
    const CandidateMask mask{static_cast<std::uint64_t>(m_shape.nx),
                             static_cast<std::uint64_t>(m_mask.per_row), m_mask.words,
                             m_mask.lines};
    const DeviceClip<T> clip{
        m_small_parts, m_teams,
        lists(),       {m_sorted.data(), m_page_begins.data(), m_small_parts.pages, m_page_size},
        pixels(),      {m_mask.words, words, m_mask.lines},
        mask,          m_outcome.data()};
    clip.template enqueue<Exec>(
        TeamLauncher<Exec>{m_space},
        [&](const auto& visit) {
          for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) { visit(band); });
        },
        request);
  }

  void run_on_host(Bands<T, Exec> bands, const ClipRequest& request) {
    const ClipParts<T>& p = m_small_parts;
    predict_on_host(bands, request);
    const Brackets<T>& brackets = *p.prediction.brackets;
    ClipOutcome<T>& outcome = m_outcome();
    outcome = ClipOutcome<T>{};
    outcome.usable = brackets.usable;
    if (brackets.usable == 0) return;
    std::int64_t sum = 0, in_tails = 0, in_window = 0;
    const bool alone = m_space.concurrency() == 1;
    const GatheredLists<T> lists{m_list.data(), m_capacity, &sum, &in_tails, &in_window, alone};
    m_borderline_count = 0;
    const BorderlinePixels<T> borderline{m_borderline.data(),
                                         static_cast<std::int64_t>(m_borderline.extent(0)),
                                         &m_borderline_count, alone};
    InsideSums inside;
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t first_row) {
      const MaskRows mask{m_mask.words, m_mask.lines, m_mask.per_row, first_row};
      const GatherOnHost<T> read(band.rows, mask, brackets, lists, borderline,
                                 m_space.concurrency());
      inside += reduce_indices("kastor::sigma_clip::read", m_space, read.count(), read);
    });
    m_space.fence("kastor::sigma_clip::read");
    outcome.longest_list = sum;
    if (outcome.longest_list > m_capacity) return;
    outcome.result.pixels = pixels();
    outcome.result.kappa = m_params.kappa;
    replay_on_host(request, {brackets, inside}, lists);
    // Every pixel was compared with the candidate level, wherever that is.
    outcome.candidates_hold = outcome.decided != 0 && m_mask.words != nullptr &&
                                      outcome.foreground_above >= brackets.candidate &&
                                      outcome.foreground_above <= brackets.certain &&
                                      m_borderline_count <= borderline.capacity
                                  ? 1
                                  : 0;
  }

  void predict_on_host(Bands<T, Exec> bands, const ClipRequest& request) {
    const PredictionSpace<T>& space = m_small_parts.prediction;
    const RoughPixels rough = rough_pixels(pixels(), request.attempt());
    const Stride sample = sample_stride(pixels(), request.attempt());
    m_rough.clear();
    m_rough.reserve(rough_size);
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const SampleRange range(band, rough.stride, std::min<std::int64_t>(rough.count, rough_size));
      for (std::int64_t i = range.begin; i < range.end; ++i)
        __builtin_prefetch(band.where(i * rough.stride));
      for (std::int64_t i = range.begin; i < range.end; ++i)
        m_rough.push_back(band.at(i * rough.stride));
    });
    rough_scale_on_host(m_rough, rough.of_peaks, space);
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const std::int64_t chunks =
          std::clamp<std::int64_t>(sample.count / 4096, 1, m_space.concurrency());
      Kokkos::parallel_for("kastor::sigma_clip::sample", Range(m_space, 0, chunks),
                           CountSampleOnHost<T>{band, sample, space, chunks});
    });
    m_space.fence("kastor::sigma_clip::sample");
    bracket_on_host(request, space);
  }

  void replay_on_host(const ClipRequest& request, const Gathered<T>& gathered,
                      const GatheredLists<T>& lists) {
    const std::int64_t in_tails = *lists.in_tails, in_window = *lists.in_window;
    T* const window = lists.window(in_window);
    fill_block(lists.values, in_tails);
    fill_block(window, in_window);
    grow(m_chunk_counts, m_space, "kastor::sigma_clip::chunk_counts",
         std::int64_t{m_space.concurrency()} * OctaveLists<T>::count);
    const Bins bins(gathered.brackets);
    HostReplay& host = *m_host_replay;
    host.octaves.pixels = m_sorted.data();
    sift_tails(m_space, gathered.brackets, lists.values, in_tails, m_chunk_counts.data(),
               host.octaves);
    const ListedTails<Exec, T> tails(m_space, bins, host.octaves, host.near);
    const ListedWindow<Exec, T> medians(m_space, window, in_window, gathered.brackets.window_low,
                                        gathered.brackets.window_high,
                                        m_sorted.data() + host.octaves.size(), host.few);
    replay(gathered, tails, medians, request.kappa, request.max_passes, request.level, m_outcome());
  }

  /// Longer lists, or wider brackets up to three times, whether lists were too short or not: hosts
  /// and devices, whose lists differ, have to take the same brackets in the end. Fences.
  void try_again(Bands<T, Exec> bands) {
    double widen = 1;
    for (int failed = 0;;) {
      const ClipOutcome<T> last = m_outcome();
      if (last.usable == 0) return;
      if (last.longest_list > m_capacity) {
        try {
          on_host ? reserve(last.longest_list + last.longest_list / 8)
                  : reserve_segments(last.longest_list + last.longest_list / 8);
        } catch (const std::exception&) {  // no memory for them, or too many
          m_capacity = m_candidate_capacity = 0;
          m_list = m_sorted = {};
          m_page_begins = {};
          m_candidates = {};
          return;
        }
      } else {
        if (++failed > 3) return;
        widen *= 3;
      }
      m_outcome().decided = 0;
      enqueue(bands, widen);
      m_space.fence("kastor::sigma_clip::try_again");
      if (decided()) return;
    }
  }

  Exec m_space;
  SigmaClipParams m_params;
  int m_teams;
  PartitionedMemory<Exec> m_small;
  ClipParts<T> m_small_parts{};
  Kokkos::View<ClipOutcome<T>, HostReadable<Exec>> m_outcome;
  RankSelector<Exec, T> m_selector;
  Values m_list, m_sorted;
  std::int64_t m_capacity = 0;  ///< of the list, or of a team's segment
  Kokkos::View<Candidate<T>*, typename Exec::memory_space> m_candidates;
  std::int64_t m_candidate_capacity = 0;
  std::int64_t m_no_memory_for =
      std::numeric_limits<std::int64_t>::max();  ///< candidates of a team
  Kokkos::View<std::uint16_t*, typename Exec::memory_space> m_page_begins;
  std::int32_t m_page_size = 0;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> m_chunk_counts;
  std::vector<T> m_rough;
  std::unique_ptr<HostReplay> m_host_replay;
  Kokkos::View<BorderlinePixel<T>*, typename Exec::memory_space> m_borderline;
  std::int64_t m_borderline_count = 0;

  Shape m_shape;
  ClipLevel m_level;
  MaskRows m_mask;
  bool m_started = false;
};

}  // namespace kastor::detail

#endif

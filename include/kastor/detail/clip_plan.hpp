// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_PLAN_HPP
#define KASTOR_DETAIL_CLIP_PLAN_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/join_tails.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/reread_clip.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/sort_on_host.hpp>
#include <kastor/sigma_clip.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// The clip as a sequence of kernels that nobody waits for in between:
///
///   rough scale   one team     quartiles of 256 pixels
///   sample        many teams   every so many pixels into a histogram, N^(2/3) in all
///   brackets      one team     the clip of the histogram: where limits and medians can be
///   read          many teams   THE read of the image: sums inside, the rest gathered
///   sort          many teams   the gathered pixels into bins, page by page
///   join          many teams   the tails of all pages, and their sums
///   replay        one team     every pass, exactly, from sums and bins
///
/// Every step is exact or checked: the sums are integers, and the replay knows when a limit or a
/// median falls where pixels were not gathered. Then, or if the lists were too short, the host
/// starts again with longer lists or wider brackets, and at last reads the image in every pass.
namespace kastor::detail {

/// Device: one team, the last step.
template <class T, class Exec>
struct ReplayByTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = ReplaySpace<T>::threads;
  static constexpr int scratch_bytes = sizeof(ReplaySpace<T>) + 16;

  ClipRequest request;
  const Brackets<T>* brackets;
  const GatherResult* read;
  std::int64_t capacity, candidate_capacity;
  const std::uint64_t* window_begin;
  const T* tails;
  TailSummaries<T> summaries;
  SortedPages<T> pages;
  std::int64_t pixels;
  ClipOutcome<T>* outcome;   ///< for the next kernels
  ClipOutcome<T>* reported;  ///< for the host

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    ClipOutcome<T> made{};
    made.result.pixels = pixels;
    made.result.kappa = request.kappa;
    const int bytes = scratch_bytes - 16;
    auto* space = static_cast<ReplaySpace<T>*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    // Of what was not read there is nothing yet, and nobody looks at it.
    const Gathered<T, PagedWindow<T>> gathered{*brackets, read->totals.sums(), window_begin,
                                               tails,     summaries,           {pages}};
    made.usable = gathered.brackets.usable;
    if (made.usable != 0) {
      made.longest_list = read->longest_list;
      if (made.longest_list <= capacity)
        replay(crew, gathered, *space, request.kappa, request.max_passes, request.level, made);
      if (read->most_candidates > candidate_capacity) made.candidates_hold = 0;
    }
    if (crew.rank() == 0) *outcome = *reported = made;
  }
};

template <class Exec, class T>
class ClipPlan {
 public:
  static constexpr bool on_host = is_host_space_v<Exec>;
  using Bins = GatheredBins<T>;

  /// \throws Error if a parameter is out of its range.
  ClipPlan(const Exec& space, const SigmaClipParams& params)
      : m_space(space),
        m_params(params),
        // Of what the device holds, as many as leave registers enough; odd, so that the tiles of
        // a team do not lie below each other in an image as wide as a power of two.
        m_teams(on_host
                    ? 1
                    : (std::clamp(space.concurrency() / (8 * Read::threads) * Read::teams_at_once,
                                  2, Sort::most_segments) -
                       1) |
                          1),
        m_small("kastor::sigma_clip::work", space),
        m_outcome(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::sigma_clip::outcome")),
        m_list_count(Kokkos::view_alloc(space, Kokkos::WithoutInitializing,
                                        "kastor::sigma_clip::list_count")),
        m_selector(space) {
    KASTOR_EXPECTS(
        "kastor::SigmaClipper", params.kappa > 0 && std::isfinite(params.kappa),
        "kappa is " + std::to_string(params.kappa) + "; expected a finite number above 0");
    KASTOR_EXPECTS("kastor::SigmaClipper", params.max_passes >= 0,
                   "max_passes is " + std::to_string(params.max_passes) + "; expected 0 or more");
    lay_out();
  }

  /// Enqueues the clip of an image. If a mask is given, a host marks in it the pixels that may be
  /// above `level`, and has its answer at once; a device clears it, if the clip starts.
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
  /// The foreground is what was marked and is above the level.
  [[nodiscard]] bool candidates_hold() const { return m_outcome().candidates_hold != 0; }
  [[nodiscard]] const ClipOutcome<T>& outcome() const { return m_outcome(); }

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
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  static constexpr std::int64_t smallest_sampled = 16384;  ///< smaller images are read as often

  [[nodiscard]] std::int64_t pixels() const { return m_shape.ny * m_shape.nx; }

  // ------------------------------------------------------------------------------------- memory

  struct Parts {
    PredictionSpace<T> prediction;
    std::uint64_t* begin;  ///< of bins: all of a host's, a device's of the window
    PageCounts counts;
    std::uint32_t* pages;
    TailSummaries<T> summaries;
    GatherTotals* totals;
    SegmentCounts* segments;
    GatherResult* read;
    ClipOutcome<T>* outcome;
  };

  void lay_out() {
    const auto part = [this](auto*& pointer, std::int64_t count) { m_small.add(pointer, count); };
    for (const bool measuring : {true, false}) {
      m_small.begin(measuring);
      PredictionSpace<T>& p = m_small_parts.prediction;
      part(p.rough_values, rough_size);
      part(p.rough, 1);
      part(p.histogram, SampleBins::count);
      part(p.count, SampleBins::count + 1);
      part(p.sum, SampleSums::size);
      part(p.squares, SampleSums::size);
      part(p.brackets, 1);
      part(m_small_parts.begin, Bins::count + 1);
      part(m_small_parts.counts.of_bin, on_host ? 0 : SortedPages<T>::bins);
      part(m_small_parts.counts.of_tail, on_host ? 0 : PageCounts::tail_bins);
      part(m_small_parts.counts.joined, 1);
      part(m_small_parts.pages, 1);
      part(m_small_parts.summaries.bins, 2 * TailOctaves::bins);
      part(m_small_parts.summaries.groups, 2 * TailOctaves::groups);
      part(m_small_parts.summaries.octaves, 2 * TailOctaves::count);
      part(m_small_parts.totals, m_teams);
      part(m_small_parts.segments, m_teams);
      part(m_small_parts.read, 1);
      part(m_small_parts.outcome, 1);
    }
  }

  /// Room for so many gathered pixels.
  void reserve(std::int64_t wanted) {
    if constexpr (on_host) {
      m_capacity = std::max(m_capacity, wanted);
      grow(m_list, m_space, "kastor::sigma_clip::gathered", m_capacity);
      grow(m_sorted, m_space, "kastor::sigma_clip::sorted", m_capacity);
    } else {
      // A whole tile more, since a small image may be no more than a tile a team.
      reserve_segments(std::min(wanted, std::int64_t{1} << 31) / m_teams + Read::tile);
    }
  }
  void reserve_segments(std::int64_t capacity) {
    constexpr std::int64_t most = 0xffffffff;  // places in the sorted list have 32 bits
    if (capacity > most / m_teams) throw std::length_error("kastor::sigma_clip");
    m_capacity = std::max(m_capacity, capacity);
    m_candidate_capacity = m_capacity / 4;
    grow(m_list, m_space, "kastor::sigma_clip::gathered", m_capacity * m_teams);
    grow(m_sorted, m_space, "kastor::sigma_clip::sorted", m_capacity * m_teams);
    m_page_size = page_size();
    const std::int64_t most_gathered = std::min(m_capacity * m_teams, pixels());
    grow(m_page_begins, m_space, "kastor::sigma_clip::pages",
         (most_gathered / m_page_size + 1) * SortedPages<T>::row);
    grow(m_candidates, m_space, "kastor::sigma_clip::candidates", m_candidate_capacity * m_teams);
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
    const Parts& p = m_small_parts;
    const Stride rough(pixels(), rough_size);
    const Stride sample(pixels(), sample_size(pixels()));
    const auto policy = [this]<class Kernel>(int league, const Kernel&) {
      return Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Kernel::threads, 1>>(m_space, league,
                                                                                Kernel::threads)
          .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes));
    };
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const FindRoughScale<T, Exec> kernel{
          band,
          rough,
          band.past() == pixels(),
          p.prediction,
          {p.totals, p.segments, m_teams, p.counts, SortedPages<T>::bins, p.summaries.octaves}};
      const int clearing = band.first_pixel == 0 ? 8 : 0;
      Kokkos::parallel_for("kastor::sigma_clip::rough_scale", policy(1 + clearing, kernel), kernel);
    });
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const CountSample<T, Exec> kernel{band, sample, p.prediction};
      const int teams = static_cast<int>(
          std::clamp<std::int64_t>(sample.count / (4 * kernel.threads), 1, m_teams));
      Kokkos::parallel_for("kastor::sigma_clip::sample", policy(teams, kernel), kernel);
    });
    // One team works for long, so the mask is cleared meanwhile.
    const std::int64_t words = m_mask.words == nullptr ? 0 : m_shape.ny * m_mask.per_row;
    const BracketFromHistogram<T, Exec> predict{request, p.prediction, {m_mask.words, words}};
    const auto clearing = static_cast<int>(
        std::min<std::int64_t>((words + 4 * predict.threads - 1) / (4 * predict.threads), m_teams));
    Kokkos::parallel_for("kastor::sigma_clip::brackets", policy(1 + clearing, predict), predict);
    const Brackets<T>* brackets = p.prediction.brackets;
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const std::int64_t most = Read::most_tiles * m_teams;
      const std::int64_t rows_at_once = std::max<std::int64_t>(1, most * Read::tile / band.rows.nx);
      for (std::int64_t y = 0; y < band.rows.ny; y += rows_at_once) {
        const Rows<T> rows{band.rows.data + y * band.rows.pitch,
                           std::min(rows_at_once, band.rows.ny - y), band.rows.nx, band.rows.pitch};
        const Segments<T> tiles(rows, Read::tile);
        const Read kernel{tiles, static_cast<std::uint64_t>(band.first_pixel + y * rows.nx),
                          brackets, lists(), p.totals};
        Kokkos::parallel_for(
            "kastor::sigma_clip::read",
            Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Read::threads, Read::teams_at_once>>(
                m_space, static_cast<int>(std::min<std::int64_t>(m_teams, tiles.count())),
                Read::threads)
                .set_scratch_size(0, Kokkos::PerTeam(Read::scratch_bytes)),
            kernel);
      }
    });
    const SortedPages<T> pages{m_sorted.data(), m_page_begins.data(), p.pages, m_page_size};
    const Sort sort{brackets, lists(), m_teams, pages, p.counts};
    Kokkos::parallel_for(
        "kastor::sigma_clip::sort",
        Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sort::threads, Sort::teams_at_once>>(
            m_space, std::max(1, m_teams / Read::teams_at_once * Sort::teams_at_once),
            Sort::threads)
            .set_scratch_size(0, Kokkos::PerTeam(Sort::scratch_bytes(m_teams))),
        sort);
    // The lists are in the pages, and their memory is free for the tails.
    T* const tails = m_list.data();
    const auto join_by = [&]<int Threads>(std::integral_constant<int, Threads>) {
      using Join = JoinTails<T, Exec, Threads>;
      const Join join{brackets,    pages,    p.counts,   p.begin, tails,
                      p.summaries, p.totals, p.segments, m_teams, p.read};
      Kokkos::parallel_for(
          "kastor::sigma_clip::join",
          Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Threads, Join::teams_at_once>>(
              m_space, Join::teams, Threads)
              .set_scratch_size(0, Kokkos::PerTeam(Join::scratch_bytes)),
          join);
    };
    // Of many pages a team would have to look through more than it can have under way.
    constexpr std::int64_t many = std::int64_t{1} << 26;
    if (pixels() < many) {
      join_by(std::integral_constant<int, 256>{});
    } else {
      join_by(std::integral_constant<int, 512>{});
    }
    const ReplayByTeam<T, Exec> replayed{
        request,     brackets, p.read,   m_capacity, m_candidate_capacity, p.begin, tails,
        p.summaries, pages,    pixels(), p.outcome,  m_outcome.data()};
    Kokkos::parallel_for("kastor::sigma_clip::replay", policy(1, replayed), replayed);
  }

  void run_on_host(Bands<T, Exec> bands, const ClipRequest& request) {
    const Parts& p = m_small_parts;
    predict_on_host(bands, request);
    const Brackets<T>& brackets = *p.prediction.brackets;
    ClipOutcome<T>& outcome = m_outcome();
    outcome = ClipOutcome<T>{};
    outcome.usable = brackets.usable;
    if (brackets.usable == 0) return;
    m_list_count() = 0;
    InsideSums inside;
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t first_row) {
      const bool marks = m_mask.words != nullptr;
      const MaskRows mask{marks ? m_mask.words + first_row * m_mask.per_row : nullptr,
                          m_mask.per_row};
      const GatherOnHost<T, Exec> read(band.rows, mask, brackets, {m_list, m_list_count});
      InsideSums found;
      Kokkos::parallel_reduce("kastor::sigma_clip::read", Range(m_space, 0, read.count()), read,
                              found);
      inside += found;
    });
    m_space.fence("kastor::sigma_clip::read");
    const auto gathered = static_cast<std::int64_t>(m_list_count());
    outcome.longest_list = gathered;
    if (gathered > m_capacity) return;
    sort_on_host(brackets, gathered);
    const Gathered<T, ListedWindow<T>> all{
        brackets, inside, p.begin, m_sorted.data(), p.summaries, {m_sorted.data(), p.begin}};
    outcome.result.pixels = pixels();
    outcome.result.kappa = m_params.kappa;
    if (!m_replay_space) m_replay_space = std::make_unique<ReplaySpace<T>>();
    replay(Alone{}, all, *m_replay_space, request.kappa, request.max_passes, request.level,
           outcome);
    // Every pixel was compared with the candidate level, wherever that is.
    outcome.candidates_hold = outcome.decided != 0 && m_mask.words != nullptr &&
                                      outcome.foreground_above >= brackets.candidate
                                  ? 1
                                  : 0;
  }

  void predict_on_host(Bands<T, Exec> bands, const ClipRequest& request) {
    const PredictionSpace<T>& space = m_small_parts.prediction;
    const Stride rough(pixels(), rough_size);
    const Stride sample(pixels(), sample_size(pixels()));
    m_rough.clear();
    m_rough.reserve(rough_size);
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const SampleRange range(band, rough.stride, rough.count);
      for (std::int64_t i = range.begin; i < std::min<std::int64_t>(range.end, rough_size); ++i)
        m_rough.push_back(band.at(i * rough.stride));
    });
    rough_scale_on_host(m_rough, space);
    for_each_band(bands, [&](const SampledRows<T>& band, std::int64_t) {
      const std::int64_t chunks =
          std::clamp<std::int64_t>(sample.count / 4096, 1, m_space.concurrency());
      Kokkos::parallel_for("kastor::sigma_clip::sample", Range(m_space, 0, chunks),
                           CountSampleOnHost<T>{band, sample, space, chunks});
    });
    m_space.fence("kastor::sigma_clip::sample");
    bracket_on_host(request, space);
  }

  void sort_on_host(const Brackets<T>& brackets, std::int64_t gathered) {
    const Parts& p = m_small_parts;
    const std::int64_t chunks = std::clamp<std::int64_t>(gathered / 8192, 1, m_space.concurrency());
    grow(m_chunk_counts, m_space, "kastor::sigma_clip::chunk_counts",
         std::int64_t{m_space.concurrency()} * Bins::count);
    const SortOnHost<T> sort{Bins(brackets), m_list.data(),         gathered,
                             chunks,         m_chunk_counts.data(), m_sorted.data()};
    Kokkos::parallel_for("kastor::sigma_clip::count", Range(m_space, 0, chunks),
                         CountOnHost<T>{sort});
    m_space.fence("kastor::sigma_clip::count");
    std::uint64_t before = 0;
    for (int b = 0; b < Bins::count; ++b) {
      p.begin[b] = before;
      for (std::int64_t c = 0; c < chunks; ++c) {
        std::uint64_t& next = m_chunk_counts(static_cast<std::size_t>(c * Bins::count + b));
        const std::uint64_t n = next;
        next = before;
        before += n;
      }
    }
    p.begin[Bins::count] = before;
    Kokkos::parallel_for("kastor::sigma_clip::sort", Range(m_space, 0, chunks),
                         ScatterOnHost<T>{sort});
    std::fill(p.summaries.octaves, p.summaries.octaves + 2 * TailOctaves::count, WideTailSums{});
    Kokkos::parallel_for("kastor::sigma_clip::summarise",
                         Range(m_space, 0, SummariseOnHost<T>::groups),
                         SummariseOnHost<T>{Bins(brackets), p.begin, m_sorted.data(), p.summaries});
    m_space.fence("kastor::sigma_clip::summarise");
  }

  /// Longer lists, then wider brackets. Fences.
  void try_again(Bands<T, Exec> bands) {
    double widen = 1;
    for (int attempt = 0; attempt < 3; ++attempt) {
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
  Parts m_small_parts{};
  Kokkos::View<ClipOutcome<T>, HostReadable<Exec>> m_outcome;
  Kokkos::View<std::uint64_t, typename Exec::memory_space> m_list_count;
  RankSelector<Exec, T> m_selector;
  Values<T, Exec> m_list, m_sorted;
  std::int64_t m_capacity = 0;  ///< of the list, or of a team's segment
  Kokkos::View<Candidate<T>*, typename Exec::memory_space> m_candidates;
  std::int64_t m_candidate_capacity = 0;
  Kokkos::View<std::uint16_t*, typename Exec::memory_space> m_page_begins;
  std::int32_t m_page_size = 0;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_chunk_counts;
  std::vector<T> m_rough;
  std::unique_ptr<ReplaySpace<T>> m_replay_space;

  Shape m_shape;
  ClipLevel m_level;
  MaskRows m_mask;
  bool m_started = false;
};

}  // namespace kastor::detail

#endif

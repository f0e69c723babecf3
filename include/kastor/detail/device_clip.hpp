// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_DEVICE_CLIP_HPP
#define KASTOR_DETAIL_DEVICE_CLIP_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/detail/candidate_mask.hpp>
#include <kastor/detail/clip_parts.hpp>
#include <kastor/detail/expect_clip.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/join_tails.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/refine_bins.hpp>
#include <kastor/detail/replay_by_team.hpp>
#include <kastor/detail/sort_into_pages.hpp>

/// The kernels of a device's clip, one after the other.
namespace kastor::detail {

/// What they work with, all of it in memory of the device.
template <class T>
struct DeviceClip {
  ClipParts<T> parts;
  int teams;  ///< of the read, one segment each
  Segmented<T> lists;
  SortedPages<T> pages;
  std::int64_t pixels;
  ClearLines clearing;       ///< the mask of the foreground
  CandidateMask mask;        ///< the same, for the read
  ClipOutcome<T>* reported;  ///< which the host can read after a fence
  /// Of many pixels' pages a team of the join would have more to look through than it can have
  /// under way, unless it is a large one.
  std::int64_t many = std::int64_t{1} << 26;
  std::uint32_t most_alone = 1U << 15;              ///< see JoinTails
  std::uint32_t least_share = 1U << 13;             ///< the same
  std::int64_t most_copied = PagedWindow<T>::room;  ///< of a window's bin; not more
  /// Bins of fewer pixels in all are not worth a kernel.
  std::int64_t least_refined = std::int64_t{1} << 26;
  std::int64_t least_in_refined = 4096;  ///< see RefineBins

  /// `launch(label, league, kernel)` enqueues; `for_each_band(visit)` calls `visit(SampledRows<T>)`
  /// for the bands of the image. \tparam Exec has the teams.
  template <class Exec, class Launch, class ForEachBand>
  void enqueue(const Launch& launch, const ForEachBand& for_each_band,
               const ClipRequest& request) const {
    predict<Exec>(launch, for_each_band, request);
    for_each_band([&](const SampledRows<T>& band) { read<Exec>(launch, band); });
    // As many teams as the device holds at once.
    using Sort = SortIntoPages<T, Exec>;
    launch("kastor::sigma_clip::sort", std::max(1, processors<Exec>() * Sort::teams_at_once),
           Sort{brackets(), lists, teams, pages, parts.counts});
    if (pixels < many) {
      join<JoinTails<T, Exec, 256>>(launch);
    } else {
      join<JoinTails<T, Exec, 512>>(launch);
    }
    const PagedWindow<T> window{pages, parts.begin, parts.of_a_bin,
                                std::min(most_copied, PagedWindow<T>::room)};
    using Expect = ExpectClip<T, Exec>;
    launch("kastor::sigma_clip::expect", Expect::teams,
           Expect{request, brackets(), parts.read, lists.capacity, tails(), parts.summaries,
                  parts.counts, window, parts.expected, parts.prediction.histogram});
    const bool refines = pixels >= least_refined;
    using Refine = RefineBins<T, Exec>;
    if (refines)
      launch("kastor::sigma_clip::refine", Refine::teams,
             Refine{request, brackets(), parts.read, lists.capacity, tails(),
                    lists.capacity * teams, parts.summaries, parts.counts, window, parts.expected,
                    parts.refined_tails, parts.refined_window, least_in_refined});
    launch("kastor::sigma_clip::replay", 1,
           ReplayByTeam<T, Exec>{
               request, brackets(), parts.read, lists.capacity, lists.candidate_capacity, tails(),
               parts.summaries, window, parts.expected, refines ? parts.refined_tails : nullptr,
               refines ? parts.refined_window : nullptr, pixels, parts.outcome, reported});
  }

 private:
  [[nodiscard]] const Brackets<T>* brackets() const { return parts.prediction.brackets; }
  /// Of the device; the number of the read's teams was made odd.
  template <class Exec>
  [[nodiscard]] int processors() const {
    return (teams + 1) / GatherByTeams<T, Exec>::teams_at_once;
  }
  [[nodiscard]] bool is_whole(const SampledRows<T>& band) const {
    return band.first_pixel == 0 && band.past() == pixels;
  }
  /// Once the lists are in the pages, their memory is free.
  [[nodiscard]] T* tails() const { return lists.gathered; }

  template <class Exec, class Launch, class ForEachBand>
  void predict(const Launch& launch, const ForEachBand& for_each_band,
               const ClipRequest& request) const {
    const RoughPixels rough = rough_pixels(pixels, request.attempt());
    const Stride sample = sample_stride(pixels, request.attempt());
    const ClipCounters<T> counters{parts.totals, parts.segments, teams, parts.counts,
                                   parts.summaries};
    const auto sampling = [&](int threads) {
      return static_cast<int>(std::clamp<std::int64_t>(sample.count / (4 * threads), 1, teams));
    };
    const auto look_at = [&]<bool OfPeaks>(const SampledRows<T>& band) {
      if (is_whole(band)) {
        using Sample = CountSampleOfOneBand<T, Exec, OfPeaks>;
        launch("kastor::sigma_clip::sample", sampling(Sample::threads) + Sample::clearing,
               Sample{band, rough, sample, parts.prediction, counters});
        return;
      }
      const FindRoughScale<T, Exec, OfPeaks> kernel{band, rough, band.past() == pixels,
                                                    parts.prediction, counters};
      constexpr int by_others = 16;
      launch("kastor::sigma_clip::rough_scale", band.first_pixel == 0 ? 1 + by_others : 1, kernel);
    };
    for_each_band([&](const SampledRows<T>& band) {
      rough.of_peaks ? look_at.template operator()<true>(band)
                     : look_at.template operator()<false>(band);
    });
    for_each_band([&](const SampledRows<T>& band) {
      if (is_whole(band)) return;
      const CountSample<T, Exec> kernel{band, sample, parts.prediction};
      launch("kastor::sigma_clip::sample", sampling(kernel.threads), kernel);
    });
    // One team works for long, so the mask is cleared meanwhile, by other processors.
    const BracketFromHistogram<T, Exec> kernel{request, parts.prediction, clearing};
    const std::int64_t by_team = kernel.threads;
    const std::int64_t others = std::max(1, processors<Exec>() - 1);
    const std::int64_t teams_that_clear =
        std::min<std::int64_t>((clearing.count() + by_team - 1) / by_team, others);
    launch("kastor::sigma_clip::brackets", 1 + static_cast<int>(teams_that_clear), kernel);
  }

  template <class Exec, class Launch>
  void read(const Launch& launch, const SampledRows<T>& band) const {
    using Read = GatherByTeams<T, Exec>;
    const CandidateMask marked = pixels < CandidateMask::too_many_pixels ? mask : CandidateMask{};
    const std::int64_t rows_at_once =
        std::max<std::int64_t>(1, Read::most_tiles * teams * Read::tile / band.rows.nx);
    for (std::int64_t y = 0; y < band.rows.ny; y += rows_at_once) {
      const Rows<T> rows{band.rows.data + y * band.rows.pitch,
                         std::min(rows_at_once, band.rows.ny - y), band.rows.nx, band.rows.pitch};
      const Segments<T> tiles(rows, Read::tile);
      const Read kernel{tiles,        static_cast<std::uint64_t>(band.first_pixel + y * rows.nx),
                        brackets(),   lists,
                        parts.totals, marked};
      launch("kastor::sigma_clip::read",
             static_cast<int>(std::min<std::int64_t>(teams, tiles.count())), kernel);
    }
  }

  template <class Join, class Launch>
  void join(const Launch& launch) const {
    const int helpers = std::max(1, teams / 2);
    launch("kastor::sigma_clip::join", Join::teams + helpers,
           Join{brackets(), pages, parts.counts, parts.begin, tails(), lists.capacity * teams,
                parts.summaries, parts.totals, parts.segments, teams, parts.read, most_alone,
                least_share});
  }
};

}  // namespace kastor::detail

#endif

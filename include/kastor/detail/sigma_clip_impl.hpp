// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIGMA_CLIP_IMPL_HPP
#define KASTOR_DETAIL_SIGMA_CLIP_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/clip_population.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/radix_sort.hpp>
#include <kastor/detail/select.hpp>
#include <kastor/detail/window_ranks.hpp>
#include <kastor/sigma_clip.hpp>
#include <vector>

namespace kastor::detail {

/// The plain iteration over a population's answers. False: a bracket failed and nothing is decided.
template <class T, class Population>
[[nodiscard]] bool iterate_clip(Population& population, const SigmaClipParams& params,
                                SigmaClipResult& result) {
  Interval<T> interval;
  std::optional<std::int64_t> count = population.count_inside(interval);
  if (!count) return false;
  KASTOR_EXPECTS("kastor::sigma_clip", *count > 0,
                 "all " + std::to_string(result.pixels) +
                     " pixels are blank; expected at least one finite pixel");
  result.blank = result.pixels - *count;
  result.passes = 0;
  result.converged = result.degenerate = false;
  while (true) {
    const std::optional<Statistics> now = population.statistics();
    if (!now) return false;
    ++result.passes;
    if (result.passes == 1) result.all = *now;
    result.clipped = *now;
    const Interval<T> limits = interval_between<T>(now->median - params.kappa * now->std,
                                                   now->median + params.kappa * now->std);
    interval = {std::max(interval.low, limits.low), std::min(interval.high, limits.high)};
    if (!(interval.low < interval.high)) {
      result.degenerate = true;
      return true;
    }
    count = population.count_inside(interval);
    if (!count) return false;
    result.degenerate = *count == 0;
    result.converged = *count == now->count;
    if (result.degenerate || result.converged || result.passes == params.max_passes) return true;
  }
}

template <class T, class Exec>
struct TakeSample {
  Rows<T> rows;
  std::int64_t first_pixel;  ///< flat index of the band's first pixel in the image
  std::int64_t stride;
  Values<T, Exec> sample;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t at = i * stride - first_pixel;
    sample(i) = rows.data[(at / rows.nx) * rows.pitch + at % rows.nx];
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct SigmaClipper<Exec, T>::Plan {
  using Counter = Kokkos::View<std::uint64_t, typename Exec::memory_space>;
  static constexpr std::int64_t sample_size = 32768;
  static constexpr std::int64_t smallest_sampled =
      4 * sample_size;                           ///< reread smaller images: they lie in the cache
  static constexpr double most_gathered = 0.11;  ///< of the capacity of 1/8 of the pixels

  Plan(const Exec& s, const SigmaClipParams& p)
      : space(s),
        params(p),
        sample(Kokkos::view_alloc(s, Kokkos::WithoutInitializing, "kastor::sigma_clip::sample"),
               sample_size),
        tails{{}, Counter(Kokkos::view_alloc(s, "kastor::sigma_clip::tail_count"))},
        window{{}, Counter(Kokkos::view_alloc(s, "kastor::sigma_clip::window_count"))},
        selector(s),
        ranks(s),
        team_gatherer(s) {
    sample_on_host.reserve(sample_size);
    sample_spare.reserve(sample_size);
  }

  void reserve(std::int64_t pixels) {
    const std::int64_t wanted = pixels / 8 + 1;
    if (static_cast<std::int64_t>(tails.values.extent(0)) >= wanted) return;
    const auto grow = [&](detail::Values<T, Exec>& list, const std::string& label) {
      list = {};
      list = detail::Values<T, Exec>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                     static_cast<std::size_t>(wanted));
    };
    grow(tails.values, "kastor::sigma_clip::tails");
    grow(window.values, "kastor::sigma_clip::window");
    ranks.reserve(wanted);
    if constexpr (!is_host_space_v<Exec>) team_gatherer.reserve(pixels);
  }

  /// A fixed-stride sample of the finite pixels, sorted. The stride depends on the image's shape
  /// alone.
  void take_sample(Bands<T, Exec> bands, const detail::Shape& shape) {
    // Odd, so that it does not run along the columns of images whose width is a power of two.
    const std::int64_t stride = (shape.ny * shape.nx / sample_size) | 1;
    std::int64_t first_pixel = 0;
    std::int64_t taken = 0;
    for (const auto& band : bands) {
      const auto rows = detail::rows_of<T, Exec>(band);
      const std::int64_t past = first_pixel + rows.ny * rows.nx;
      const std::int64_t end = std::min(sample_size, (past + stride - 1) / stride);
      Kokkos::parallel_for(
          "kastor::sigma_clip::take_sample",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, taken, end),
          detail::TakeSample<T, Exec>{rows, first_pixel, stride, sample});
      first_pixel = past;
      taken = end;
    }
    sample_on_host.resize(static_cast<std::size_t>(taken));
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        sample_on_host.data(), sample_on_host.size());
    Kokkos::deep_copy(space, host,
                      Kokkos::subview(sample, Kokkos::make_pair(std::int64_t{0}, taken)));
    space.fence("kastor::sigma_clip::take_sample");
    const detail::Interval<T> finite;
    std::erase_if(sample_on_host, [&](T x) { return !finite.contains(x); });
    detail::radix_sort(sample_on_host, sample_spare);
  }

  /// The one read of the image. Fences.
  [[nodiscard]] detail::CoreSums gather(Bands<T, Exec> bands,
                                        const detail::GatherOutsideCore<T, Exec>& rule,
                                        std::uint64_t& in_tails) {
    detail::CoreSums core;
    if constexpr (!is_host_space_v<Exec>) {
      if (team_gatherer(bands, rule, core, in_tails)) return core;
    }
    Kokkos::deep_copy(space, tails.count, std::uint64_t{0});
    Kokkos::deep_copy(space, window.count, std::uint64_t{0});
    core = detail::reduce_bands<Exec, T>("kastor::sigma_clip::gather", space, bands, rule);
    Kokkos::deep_copy(space, in_tails, tails.count);
    space.fence("kastor::sigma_clip::gather");
    return core;
  }

  /// The bracketed route; false if a bracket failed.
  [[nodiscard]] bool bracketed(Bands<T, Exec> bands, const detail::Brackets<T>& brackets,
                               SigmaClipResult& result) {
    const detail::Grid grid(static_cast<double>(brackets.centre),
                            static_cast<double>(brackets.low_edge),
                            static_cast<double>(brackets.high_edge));
    if (!grid.single_step()) return false;
    std::uint64_t in_tails = 0;
    const detail::CoreSums core =
        gather(bands, {brackets, grid.centre, grid.scale, tails, window}, in_tails);
    const bool stored = !brackets.window_is_one_value();
    if (in_tails > tails.values.extent(0) ||
        (stored && static_cast<std::uint64_t>(core.window) > window.values.extent(0))) {
      return false;
    }
    const std::int64_t in_window = stored ? core.window : 0;
    if (stored)
      ranks.sort_into_bins(window.values, in_window, brackets.window_low, brackets.window_high);
    detail::BracketedPopulation<Exec, T> population(
        space, bands, brackets, core, grid,
        detail::as_one_row<T, Exec>(tails.values, static_cast<std::int64_t>(in_tails)),
        detail::as_one_row<T, Exec>(window.values, in_window), ranks);
    return detail::iterate_clip<T>(population, params, result);
  }

  [[nodiscard]] SigmaClipResult run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::sigma_clip");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::sigma_clip", bands);
    SigmaClipResult result;
    result.kappa = params.kappa;
    result.pixels = shape.ny * shape.nx;
    if (result.pixels >= smallest_sampled) {
      reserve(result.pixels);
      take_sample(bands, shape);
      for (const double widen : {1.0, 3.0}) {
        const auto brackets =
            detail::brackets_from_sample(sample_on_host, params.kappa, params.max_passes, widen);
        if (!brackets || brackets->gathered > most_gathered) break;
        if (bracketed(bands, *brackets, result)) {
          result.route = ClipRoute::bracketed;
          return result;
        }
      }
    }
    detail::RereadPopulation<Exec, T> population(space, bands, selector);
    (void)detail::iterate_clip<T>(population, params, result);  // no brackets, so none can fail
    result.route = ClipRoute::reread;
    return result;
  }

  Exec space;
  SigmaClipParams params;
  detail::Values<T, Exec> sample;
  std::vector<T> sample_on_host;
  std::vector<T> sample_spare;
  detail::AppendList<T, Exec> tails;
  detail::AppendList<T, Exec> window;
  detail::RankSelector<Exec, T> selector;
  detail::WindowRanks<Exec, T> ranks;
  std::conditional_t<is_host_space_v<Exec>, detail::NoTeamGatherer, detail::TeamGatherer<Exec, T>>
      team_gatherer;
};

template <class Exec, Real T>
SigmaClipper<Exec, T>::SigmaClipper(const Exec& space, const SigmaClipParams& params) {
  KASTOR_EXPECTS("kastor::SigmaClipper", params.kappa > 0 && std::isfinite(params.kappa),
                 "kappa is " + std::to_string(params.kappa) + "; expected a finite number above 0");
  KASTOR_EXPECTS("kastor::SigmaClipper", params.max_passes >= 0,
                 "max_passes is " + std::to_string(params.max_passes) + "; expected 0 or more");
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
SigmaClipper<Exec, T>::~SigmaClipper() = default;
template <class Exec, Real T>
SigmaClipper<Exec, T>::SigmaClipper(SigmaClipper&&) noexcept = default;
template <class Exec, Real T>
SigmaClipper<Exec, T>& SigmaClipper<Exec, T>::operator=(SigmaClipper&&) noexcept = default;

template <class Exec, Real T>
SigmaClipResult SigmaClipper<Exec, T>::operator()(const ConstImage<T, Exec>& image) {
  return m_plan->run(Bands<T, Exec>(&image, 1));
}
template <class Exec, Real T>
SigmaClipResult SigmaClipper<Exec, T>::operator()(Bands<T, Exec> bands) {
  return m_plan->run(bands);
}

}  // namespace kastor

#endif

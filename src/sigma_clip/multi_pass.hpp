// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_MULTI_PASS_HPP
#define KASTOR_SIGMA_CLIP_MULTI_PASS_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/sigma_clip.hpp>

#include "sigma_clip/moments.hpp"
#include "sigma_clip/rank_selector.hpp"

/// The clip that reads the image for every question: for small images, and for images whose clip
/// cannot be predicted.
namespace kastor::detail {

/// The statistics of the pixels in an interval, which must hold at least one.
template <class Exec, class T>
[[nodiscard]] Statistics statistics_within(const Exec& space, core::ImagePasses<Exec, T>& image,
                                           RankSelector<Exec, T>& select,
                                           const core::Interval<T>& interval,
                                           const core::MinMaxCount<T>& inside) {
  const std::int64_t n = inside.count;
  const auto [a, b] = select(image, interval, (n - 1) / 2, n % 2 == 0);
  Statistics s;
  s.count = n;
  s.min = core::without_sign_of_zero(static_cast<double>(inside.min));
  s.max = core::without_sign_of_zero(static_cast<double>(inside.max));
  s.median =
      core::without_sign_of_zero(core::midpoint(static_cast<double>(a), static_cast<double>(b)));
  // The centre is a pixel, because its distances to other pixels are exact more often than those of
  // the median.
  const core::Grid grid(static_cast<double>(a), s.min, s.max);
  const MeanAndStd sums(reduce_image<Exec, T>("kastor::sigma_clip::moments", space, image,
                                              AddMoments<T>{interval, grid}),
                        grid, n);
  s.mean = core::without_sign_of_zero(sums.mean);
  s.std = sums.std;
  return s;
}

/// The plain iteration. Fences. If no pixel is finite, all pixels of the result are blank.
template <class Exec, class T>
[[nodiscard]] SigmaClipResult multi_pass_clip(const Exec& space, core::ImagePasses<Exec, T>& image,
                                              RankSelector<Exec, T>& select,
                                              const SigmaClipParams& params) {
  SigmaClipResult result;
  result.kappa = params.kappa;
  result.pixels = image.pixels();
  result.route = ClipRoute::multi_pass;
  const auto count = [&](const core::Interval<T>& interval) {
    return reduce_image<Exec, T>("kastor::sigma_clip::count_inside", space, image,
                                 CountInside<T>{interval});
  };
  core::Interval<T> interval;
  core::MinMaxCount<T> inside = count(interval);
  result.blank = result.pixels - inside.count;
  if (inside.count == 0) return result;
  for (;;) {
    const Statistics now = statistics_within(space, image, select, interval, inside);
    ++result.passes;
    if (result.passes == 1) result.all = now;
    result.clipped = now;
    const auto limits = core::interval_between<T>(now.median - params.kappa * now.std,
                                                  now.median + params.kappa * now.std);
    interval = {std::max(interval.low, limits.low), std::min(interval.high, limits.high)};
    result.degenerate = !(interval.low < interval.high);
    if (result.degenerate) return result;
    inside = count(interval);
    result.degenerate = inside.count == 0;
    result.converged = inside.count == now.count;
    if (result.degenerate || result.converged || result.passes == params.max_passes) return result;
  }
}

}  // namespace kastor::detail

#endif

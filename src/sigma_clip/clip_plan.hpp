// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_CLIP_PLAN_HPP
#define KASTOR_SIGMA_CLIP_CLIP_PLAN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/sigma_clip.hpp>

#include "sigma_clip/clip_steps.hpp"
#include "sigma_clip/rank_selector.hpp"

/// The clip of an image in memory: the kernels of `ClipSteps` without a fence in between.
///
/// Every step is exact or checked: sums are integers, and the replay detects a limit or a median
/// that falls where pixels were not gathered. After that, or if the lists were too short, the host
/// starts again with longer lists, or with wider brackets from a different sample. As a last resort
/// every pass reads the image.
namespace kastor::detail {

/// Smaller images take the multi-pass route.
inline constexpr std::int64_t smallest_sampled = 16384;
/// So many brackets may fail before every pass reads the image.
inline constexpr int most_failures = 3;

/// Instantiated only in clip_plan.cpp.
template <class Exec, class T>
class ClipPlan {
 public:
  /// \throws Error if a parameter is out of its range.
  ClipPlan(const Exec& space, const SigmaClipParams& params);

  /// Enqueues the clip of an image, unless the image is so small that `finish` reads it in every
  /// pass. Marks the pixels that may be above `level` in `mask` (words of the whole image, row by
  /// row), unless it is null.
  void start(Bands<T, Exec> bands, const ClipLevel& level, std::uint64_t* mask);

  [[nodiscard]] bool started() const { return m_started; }
  /// Whether the clip has succeeded; to be called after a fence of the space.
  [[nodiscard]] bool decided() const { return m_steps.outcome().decided != 0; }
  /// The outcome, for kernels that are enqueued after `start`.
  [[nodiscard]] const ClipOutcome<T>* outcome() const { return m_steps.parts().outcome; }

  /// Completes the clip, with further attempts or reads if necessary. Fences. \throws Error if no
  /// pixel is finite.
  [[nodiscard]] SigmaClipResult finish(Bands<T, Exec> bands);

 private:
  void enqueue(Bands<T, Exec> bands, int attempt);
  /// `visit(band, pixels before it, whether it is the last)` for the bands that have pixels.
  template <class Visit>
  void for_each_band(Bands<T, Exec> bands, const Visit& visit) const;
  /// Tries again with longer lists, or with wider brackets up to three times. Fences.
  void try_again(Bands<T, Exec> bands);

  Exec m_space;
  SigmaClipParams m_params;
  ClipSteps<Exec, T> m_steps;
  RankSelector<Exec, T> m_selector;

  std::int64_t m_pixels = 0;
  ClipLevel m_level;
  std::uint64_t* m_mask = nullptr;
  std::int64_t m_words = 0;  ///< words of the mask
  bool m_started = false;
};

/// \throws Error if no pixel is finite.
void expect_finite_pixels(const SigmaClipResult& result);

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_PASS_CLIP_HPP
#define KASTOR_SIGMA_CLIP_PASS_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <kastor/image.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/threshold.hpp>

#include "core/image_passes.hpp"
#include "sigma_clip/clip_steps.hpp"
#include "sigma_clip/rank_selector.hpp"

namespace kastor::detail {

/// What takes the candidates of the foreground, band after band, from the read of a clip.
template <class Exec, class T>
struct CandidateTaker {
  /// A read begins: what was taken is of no use.
  std::function<void()> begin;
  /// A band, its first row, and its mask of candidates. May fence; the mask is used again after it.
  std::function<void(const ConstImage<T, Exec>&, std::int64_t, const BitMask<Exec>&)> take;
};

/// The clip of an image that is read in passes: in bands that come one after another, by one or
/// several ranks. The steps and the bits are those of `ClipPlan`; between them, the host looks at
/// what was found, and ranks add up their counts. Instantiated only in pass_clip.cpp.
template <class Exec, class T>
class PassClip {
 public:
  /// \throws Error if a parameter is out of its range.
  PassClip(const Exec& space, const SigmaClipParams& params);

  /// Collective. Fences. \param candidates  null if nobody takes them
  /// \param memory  for the lists of gathered pixels, about [bytes]
  /// \throws Error if no pixel is finite; ResourceError if the memory does not suffice
  [[nodiscard]] SigmaClipResult operator()(core::ImagePasses<Exec, T>& image,
                                           const ClipLevel& level, std::int64_t memory,
                                           const CandidateTaker<Exec, T>* candidates);
  /// Whether all of the foreground was among the candidates that were taken.
  [[nodiscard]] bool candidates_hold() const { return m_candidates_hold; }

 private:
  using Image = core::ImagePasses<Exec, T>;
  enum class Attempt { decided, failed, hopeless };
  [[nodiscard]] Attempt attempt(Image& image, const ClipRequest& request, std::int64_t memory,
                                const CandidateTaker<Exec, T>* candidates);
  void sample(Image& image, const ClipRequest& request);
  /// Reads the samples alone, where that takes less than all rows. \param places  of the sample
  template <class Add>
  void for_each_sample(Image& image, const SamplePlaces& places, const Add& add);
  /// How many pixels of the own rows will be gathered, according to the sample.
  [[nodiscard]] std::int64_t expected_pixels(Image& image) const;
  void read(Image& image, const CandidateTaker<Exec, T>* candidates);
  /// Whether each segment has room for its pixels; if not, it has been made.
  [[nodiscard]] bool have_room(Image& image);
  void replay(Image& image, const ClipRequest& request);

  Exec m_space;
  SigmaClipParams m_params;
  ClipSteps<Exec, T> m_steps;
  RankSelector<Exec, T> m_selector;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_mask;
  bool m_candidates_hold = false;
};

}  // namespace kastor::detail

#endif

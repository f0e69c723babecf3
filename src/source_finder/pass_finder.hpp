// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SOURCE_FINDER_PASS_FINDER_HPP
#define KASTOR_SOURCE_FINDER_PASS_FINDER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/source_finder.hpp>
#include <vector>

#include "core/image_passes.hpp"
#include "label/keep_runs.hpp"
#include "label/label_listed.hpp"
#include "measure/source_runs.hpp"
#include "sigma_clip/pass_clip.hpp"
#include "source_finder/rank_borders.hpp"

namespace kastor::detail {

[[nodiscard]] ClipLevel level_of(const FindParams& params);
/// \throws Error if a parameter of the threshold is out of its range.
void check_threshold(const FindParams& params);

/// The pipeline on an image that is read in passes, whose rows several ranks may share. The read of
/// the clip keeps the candidates of the foreground as runs with their pixels. So threshold, labels
/// and measures need the image no more, unless the threshold is below the candidates, or these take
/// too much memory. Instantiated only in pass_finder.cpp.
template <class Exec, class T>
class PassFinder {
 public:
  /// \throws Error if a parameter is out of its range.
  PassFinder(const Exec& space, const FindParams& params);

  /// Collective. Fences. The sources are those whose first pixel is in own rows.
  /// \param memory  for lists of pixels, about [bytes]
  [[nodiscard]] FoundSources operator()(core::ImagePasses<Exec, T>& image, std::int64_t memory);

 private:
  using Image = core::ImagePasses<Exec, T>;
  using Totals = Kokkos::View<SourceTotals<T>*, typename Exec::memory_space>;

  /// Lists the foreground: from what was kept, or by another pass.
  void find_foreground(Image& image, double threshold);
  [[nodiscard]] RunLists<Exec>& foreground() { return m_uses_parts ? m_parts : m_kept.lists(); }
  [[nodiscard]] SourceRuns runs(std::int64_t components);
  /// Sweeps over the pixels of all runs, in memory or by a pass over the image.
  template <class Sweep>
  void sweep(Image& image, const char* label);
  void find_components(Image& image);
  [[nodiscard]] std::vector<BorderRun> runs_of_row(std::int64_t own_row);
  [[nodiscard]] RankBorder<T> border(Image& image);
  void join_ranks(Image& image);
  void send_sums(Image& image);
  [[nodiscard]] std::span<const Source> make_rows(Image& image);

  Exec m_space;
  FindParams m_params;
  PassClip<Exec, T> m_clip;
  KeptRuns<Exec, T> m_kept;
  RunLists<Exec> m_parts;     ///< of what was kept, those above the threshold
  bool m_uses_parts = false;  ///< the foreground are these
  bool m_has_values = false;  ///< every rank has the pixels of its foreground
  ListedLabeller<Exec> m_label;
  std::int64_t m_memory = 0;
  std::int64_t m_components = 0;
  Totals m_totals;
  Kokkos::View<std::int32_t*, typename Exec::memory_space> m_top_row;
  Kokkos::View<std::uint8_t*, typename Exec::memory_space> m_is_elsewhere;
  std::vector<JoinedPart<T>> m_joined;
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> m_chosen;
  Kokkos::View<std::int64_t, core::HostReadableSpace<Exec>> m_chosen_count;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_mask;
  Kokkos::View<Source*, core::HostReadableSpace<Exec>> m_rows;
};

}  // namespace kastor::detail

#endif

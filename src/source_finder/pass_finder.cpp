// SPDX-License-Identifier: Apache-2.0
#include "source_finder/pass_finder.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <string>

#include "core/host_list.hpp"
#include "core/launch.hpp"
#include "core/ranks.hpp"
#include "core/upload.hpp"
#include "measure/make_source_rows.hpp"
#include "measure/sum_sources.hpp"
#include "source_finder/component_kernels.hpp"

namespace kastor::detail {

ClipLevel level_of(const FindParams& params) {
  return {params.threshold, params.about == ThresholdAbout::median, params.level.has_value(),
          params.level.value_or(0)};
}

void check_threshold(const FindParams& params) {
  KASTOR_EXPECTS(
      "kastor::SourceFinder", std::isfinite(params.threshold),
      "the threshold is " + std::to_string(params.threshold) + "; expected a finite number");
  KASTOR_EXPECTS(
      "kastor::SourceFinder", !params.level || std::isfinite(*params.level),
      "the level is " + std::to_string(params.level.value_or(0)) + "; expected a finite number");
}

template <class Exec, class T>
PassFinder<Exec, T>::PassFinder(const Exec& space, const FindParams& params)
    : m_space(space),
      m_params(params),
      m_clip(space, params.clip),
      m_kept(space),
      m_label(space),
      m_chosen_count(
          Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::find_sources::chosen")) {
  check_threshold(params);
}

template <class Exec, class T>
FoundSources PassFinder<Exec, T>::operator()(Image& image, std::int64_t memory) {
  const Kokkos::Profiling::ScopedRegion region("kastor::find_sources");
  m_memory = memory;
  const ClipLevel level = level_of(m_params);
  const CandidateTaker<Exec, T> keep{
      [&] { m_kept.begin(m_memory / 4); },
      [&](const ConstImage<T, Exec>& band, std::int64_t row, const BitMask<Exec>& mask) {
        m_kept.add(band, row, mask);
      }};
  FoundSources result;
  result.clip = m_clip(image, level, memory / 4 * 3, &keep);
  result.threshold = level.of(result.clip.clipped.median, result.clip.clipped.std);
  find_foreground(image, result.threshold);
  std::uint64_t pixels[] = {static_cast<std::uint64_t>(foreground().pixels)};
  core::sum_over(image.ranks(), pixels);
  result.foreground_pixels = static_cast<std::int64_t>(pixels[0]);
  find_components(image);
  if (image.ranks() != nullptr) join_ranks(image);
  sweep<SumSources<Exec, T, ListedPixels<T>>>(image, "kastor::find_sources::sum_runs");
  if (image.ranks() != nullptr) send_sums(image);
  result.sources = make_rows(image);
  return result;
}

template <class Exec, class T>
void PassFinder<Exec, T>::find_foreground(Image& image, double threshold) {
  std::uint64_t lacks[] = {m_clip.candidates_hold() && m_kept.has_values() ? 0U : 1U};
  core::sum_over(image.ranks(), lacks);
  m_uses_parts = m_has_values = lacks[0] == 0;
  if (m_uses_parts) {
    core::agree_on(image.ranks(), "threshold", [&] {
      m_kept.parts_within(core::Interval<T>{core::bound_below<T>(threshold)}, m_parts);
    });
    return;
  }
  m_kept.begin(m_memory / 2);
  image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t row) {
    BitMask<Exec> mask;
    mask.ny = static_cast<std::int64_t>(band.extent(0));
    mask.nx = static_cast<std::int64_t>(band.extent(1));
    core::grow(m_mask, m_space, "kastor::find_sources::mask", mask.ny * mask.words_per_row());
    mask.words = decltype(mask.words)(m_mask.data(), static_cast<std::size_t>(mask.ny),
                                      static_cast<std::size_t>(mask.words_per_row()));
    threshold_into<Exec, T>(m_space, band, threshold, mask, 0);
    m_kept.add(band, row, mask);
  });
  lacks[0] = m_kept.has_values() ? 0 : 1;
  core::sum_over(image.ranks(), lacks);
  m_has_values = lacks[0] == 0;
}

template <class Exec, class T>
SourceRuns PassFinder<Exec, T>::runs(std::int64_t components) {
  const RunLists<Exec>& lists = foreground();
  SourceRuns runs(lists.begin.data(), lists.end.data(), lists.row.data(), lists.label.data(),
                  lists.first_run.data(), components);
  runs.top_row = m_top_row.data();
  return runs;
}

template <class Exec, class T>
template <class Sweep>
void PassFinder<Exec, T>::sweep(Image& image, const char* label) {
  const RunLists<Exec>& lists = foreground();
  const auto over = [&](const ListedPixels<T>& pixels) {
    if (pixels.past == pixels.first) return;
    const std::int64_t workers = core::workers_of(m_space, pixels.past - pixels.first);
    core::for_each(label, m_space, workers,
                   Sweep{{runs(m_components), m_totals.data(), workers, pixels}});
  };
  if (m_has_values) {
    over({0, lists.runs, m_kept.values(), 0, 0, lists.value_at.data()});
    return;
  }
  const auto first_of_row = core::host_copy(m_space, m_label.first_of_row().data(),
                                            image.past_row() - image.first_row() + 1);
  image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t row) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    const auto first = static_cast<std::size_t>(row - image.first_row());
    over({first_of_row[first], first_of_row[first + static_cast<std::size_t>(rows.ny)], rows.data,
          rows.pitch, row, nullptr});
  });
}

template <class Exec, class T>
void PassFinder<Exec, T>::find_components(Image& image) {
  core::agree_on(image.ranks(), "label", [&] {
    RunLists<Exec>& lists = foreground();
    m_components = m_label(lists, image.first_row(), image.past_row(),
                           m_params.label.connectivity == Connectivity::eight);
    core::grow(m_totals, m_space, "kastor::find_sources::totals", m_components);
    core::grow(m_top_row, m_space, "kastor::find_sources::top_row", m_components);
    core::grow(m_is_elsewhere, m_space, "kastor::find_sources::is_elsewhere", m_components);
    core::for_each("kastor::find_sources::begin_components", m_space, m_components,
                   BeginComponents<T>{lists.row.data(), lists.first_run.data(), m_totals.data(),
                                      m_top_row.data(), m_is_elsewhere.data()});
  });
  sweep<FindSourceExtents<Exec, T, ListedPixels<T>>>(image, "kastor::find_sources::find_extents");
}

template <class Exec, class T>
std::vector<BorderRun> PassFinder<Exec, T>::runs_of_row(std::int64_t own_row) {
  const RunLists<Exec>& lists = foreground();
  const auto range = core::host_copy(m_space, m_label.first_of_row().data() + own_row, 2);
  const std::int64_t count = std::int64_t{range[1]} - range[0];
  const auto begin = core::host_copy(m_space, lists.begin.data() + range[0], count);
  const auto end = core::host_copy(m_space, lists.end.data() + range[0], count);
  const auto label = core::host_copy(m_space, lists.label.data() + range[0], count);
  std::vector<BorderRun> runs;
  for (std::size_t i = 0; i < begin.size(); ++i) runs.push_back({begin[i], end[i], label[i]});
  return runs;
}

template <class Exec, class T>
RankBorder<T> PassFinder<Exec, T>::border(Image& image) {
  RankBorder<T> border;
  const std::int64_t rows = image.past_row() - image.first_row();
  if (rows == 0) return border;
  border.first_row = runs_of_row(0);
  border.last_row = runs_of_row(rows - 1);
  std::vector<std::uint32_t> labels;
  for (const auto* row : {&border.first_row, &border.last_row})
    for (const BorderRun& run : *row) labels.push_back(run.label);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const RunLists<Exec>& lists = foreground();
  const auto on_device = core::upload(m_space, "kastor::find_sources::border_labels", labels);
  core::HostList<Exec, BorderPart<T>> parts(m_space, "kastor::find_sources::border_parts",
                                            static_cast<std::int64_t>(labels.size()));
  core::for_each("kastor::find_sources::read_border", m_space,
                 static_cast<std::int64_t>(labels.size()),
                 ReadBorderParts<T>{on_device.data(), lists.begin.data(), lists.row.data(),
                                    lists.first_run.data(), m_totals.data(), parts.data()});
  border.parts = parts.take(m_space);
  return border;
}

template <class Exec, class T>
void PassFinder<Exec, T>::join_ranks(Image& image) {
  RankBorder<T> mine;
  core::agree_on(image.ranks(), "borders", [&] { mine = border(image); });
  RankBorders<T> borders(*image.ranks(), mine, image.past_row() > image.first_row());
  m_joined = borders.joined(m_params.label.connectivity == Connectivity::eight);
  const auto joined = core::upload(m_space, "kastor::find_sources::joined", m_joined);
  core::for_each("kastor::find_sources::take_joined", m_space,
                 static_cast<std::int64_t>(m_joined.size()),
                 TakeJoined<T>{joined.data(), image.ranks()->rank(), m_totals.data(),
                               m_top_row.data(), m_is_elsewhere.data()});
  m_space.fence("kastor::find_sources: components are joined");
}

template <class Exec, class T>
void PassFinder<Exec, T>::send_sums(Image& image) {
  const int me = image.ranks()->rank();
  const auto joined = core::upload(m_space, "kastor::find_sources::joined", m_joined);
  const auto count = static_cast<std::int64_t>(m_joined.size());
  core::HostList<Exec, PartSums> list(m_space, "kastor::find_sources::part_sums", count);
  core::for_each("kastor::find_sources::read_sums", m_space, count,
                 ReadSums<T>{joined.data(), m_totals.data(), list.data()});
  std::vector<PartSums> sums = list.take(m_space);
  // A part that is the component itself has its sums in place.
  std::size_t n = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].owner != me || sums[i].of != m_joined[i].label) sums[n++] = sums[i];
  sums.resize(n);
  std::vector<PartSums> mine;
  for (const auto& of_rank : core::gather_lists<PartSums>(*image.ranks(), sums))
    for (const PartSums& part : of_rank)
      if (part.owner == me) mine.push_back(part);
  const auto parts = core::upload(m_space, "kastor::find_sources::part_sums", mine);
  core::for_each("kastor::find_sources::add_sums", m_space, static_cast<std::int64_t>(mine.size()),
                 AddSums<T>{parts.data(), m_totals.data()});
  m_space.fence("kastor::find_sources: sums are joined");
}

template <class Exec, class T>
std::span<const Source> PassFinder<Exec, T>::make_rows(Image& image) {
  m_chosen_count() = 0;
  core::agree_on(image.ranks(), "rows", [&] {
    core::grow(m_chosen, m_space, "kastor::find_sources::chosen", m_components);
    const Shape shape = image.shape();
    if (m_components > 0)
      core::scan("kastor::find_sources::choose", m_space, m_components,
                 ChooseComponents<T>{m_totals.data(), m_top_row.data(), m_is_elsewhere.data(),
                                     static_cast<std::uint64_t>(m_params.label.min_pixels),
                                     m_params.label.drop_at_edge, shape.ny, shape.nx, m_components,
                                     m_chosen.data(), m_chosen_count.data()});
    m_space.fence("kastor::find_sources: sources are chosen");
    core::grow(m_rows, m_space, "kastor::find_sources::rows", m_chosen_count());
  });
  const std::int64_t n = m_chosen_count();
  const std::int64_t before = image.ranks() != nullptr ? image.ranks()->sum_before(n) : 0;
  using Make = MakeSourceRows<Exec, T>;
  const Make make{runs(n), m_totals.data(), m_rows.data(), m_chosen.data(), before};
  core::for_each_group<Make::threads>("kastor::find_sources::make_rows", m_space,
                                      {make.groups(m_space), Make::scratch_bytes}, make);
  m_space.fence("kastor::find_sources: rows are made");
  return {m_rows.data(), static_cast<std::size_t>(n)};
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::PassFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)

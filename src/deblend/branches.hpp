// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_BRANCHES_HPP
#define KASTOR_DEBLEND_BRANCHES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <span>

#include "core/launch.hpp"
#include "core/merge_sort.hpp"
#include "core/plan_memory.hpp"
#include "deblend/basins.hpp"
#include "deblend/child_runs.hpp"
#include "deblend/flat_pixels.hpp"
#include "deblend/join_branches.hpp"
#include "deblend/saddles.hpp"

namespace kastor::detail {

/// So many basins of an island are told apart: the rest is one lane's work.
inline constexpr std::uint32_t most_basins = 65536;

/// What the host learns at its fences.
struct BranchCounts {
  std::uint64_t basins, pixels, peaks;
  SaddleCounts saddles;
};
struct ShowSaddleCounts {
  const SaddleCounts* counts;
  BranchCounts* on_host;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { on_host->saddles = *counts; }
};

/// Finds the branches of islands that stand for themselves.
template <class Exec, Real T>
class Branches {
 public:
  Branches(const Exec& space, const DeblendParams& params)
      : m_space(space),
        m_params(params),
        m_saddle_counts(
            Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::deblend::saddles")),
        m_counts(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::deblend::found")) {
  }

  /// One row for each branch, by island. For at least one island. Fences.
  [[nodiscard]] std::span<const PeakRow> find(Bands<T, Exec> bands,
                                              const Background<Exec, T>& background, Side side,
                                              const RunLabels<Exec>& labels) {
    m_islands = labels.components;
    list_pixels(labels);
    take_deviations(bands, background, side);
    find_basins(labels, background.rms);
    if (m_basins > most_basins) merge_lowest();
    count_pixels();
    if (m_basins > m_islands) join();
    return make_rows();
  }
  [[nodiscard]] const FlatPixels& pixels() const { return m_pixels; }
  [[nodiscard]] ChildOfPixel child() const { return {m_basin_of.data(), m_child_of.data()}; }

 private:
  void list_pixels(const RunLabels<Exec>& labels) {
    const std::int64_t words_per_row = (labels.nx + 63) / 64;
    const std::int64_t words = labels.ny * words_per_row;
    core::grow(m_words, m_space, "kastor::deblend::words", words);
    core::grow(m_before, m_space, "kastor::deblend::before", words + 1);
    m_room = labels.foreground_pixels;
    core::grow(m_deviations, m_space, "kastor::deblend::deviations", m_room);
    core::grow(m_up, m_space, "kastor::deblend::up", m_room);
    core::grow(m_basin_of, m_space, "kastor::deblend::basin_of", m_room);
    m_pixels = {m_words.data(), m_before.data(), labels.ny, labels.nx, words_per_row};
    core::for_each("kastor::deblend::keep_islands", m_space, words,
                   KeepIslands<Exec>{labels, m_words.data()});
    const CountBefore count{m_words.data(), m_before.data(), words};
    core::scan("kastor::deblend::count_before", m_space, count.blocks(), count);
  }
  [[nodiscard]] std::int64_t pieces() const {
    return m_pixels.word_count() * WordPieces<Exec>::of_word;
  }

  void take_deviations(Bands<T, Exec> bands, const Background<Exec, T>& background, Side side) {
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const TakeDeviations<Exec, T> take{
          m_pixels, background, side, rows_of<T, Exec>(band), first_row, m_deviations.data()};
      core::for_each("kastor::deblend::take_deviations", m_space, take.pieces(), take);
      first_row += take.band.ny;
    }
  }

  void find_basins(const RunLabels<Exec>& labels, const PixelMap<Exec, T>& rms) {
    core::for_each("kastor::deblend::link_up", m_space, pieces(),
                   LinkUp<Exec>{m_pixels, labels, at_corners(), m_deviations.data(), m_up.data()});
    reserve_basins(std::max<std::int64_t>(1024, 2 * m_islands));
    do {
      core::scan("kastor::deblend::list_peaks", m_space, m_pixels.word_count(),
                 ListPeaks<Exec>{m_pixels, labels, m_deviations.data(), m_up.data(), m_peaks.data(),
                                 m_basin_room, &m_counts().basins});
      m_space.fence("kastor::deblend::peaks");
      m_basins = static_cast<std::int64_t>(m_counts().basins);
    } while (!reserve_basins(m_basins));
    const PeakPixel* const sorted =
        core::merge_sort("kastor::deblend::sort_peaks", m_space, m_peaks.data(),
                         m_spare_peaks.data(), m_basins, HigherPeak{});
    core::grow(m_first_basin, m_space, "kastor::deblend::first_basin", m_islands + 1);
    core::for_each("kastor::deblend::make_basins", m_space, m_basins,
                   MakeBasins<Exec, T>{rms, sorted, m_basins, m_list.data(), m_first_basin.data(),
                                       m_basin_of.data()});
    core::for_each("kastor::deblend::climb", m_space, m_room,
                   ClimbToPeaks{m_pixels, m_up.data(), m_basin_of.data()});
  }
  /// False if there was no room for so many; there is now.
  bool reserve_basins(std::int64_t basins) {
    if (basins <= m_basin_room) return true;
    m_basin_room = basins + basins / 8;
    core::grow(m_peaks, m_space, "kastor::deblend::peaks", m_basin_room);
    core::grow(m_spare_peaks, m_space, "kastor::deblend::peaks", m_basin_room);
    core::grow(m_list, m_space, "kastor::deblend::basins", m_basin_room);
    core::grow(m_child_of, m_space, "kastor::deblend::child_of", m_basin_room);
    core::grow(m_rows, m_space, "kastor::deblend::rows", m_basin_room);
    return false;
  }
  [[nodiscard]] bool at_corners() const { return m_params.connectivity == Connectivity::eight; }
  [[nodiscard]] Borders<Exec> borders() const {
    return {m_pixels, at_corners(), m_deviations.data(), m_basin_of.data(), m_list.data()};
  }

  void merge_lowest() {
    const MergeLowest rule{m_first_basin.data(), most_basins};
    const CountLowest count{rule, m_list.data()};
    const auto left = [&] {
      return core::reduce("kastor::deblend::count_lowest", m_space, m_basins, count);
    };
    // The pixels of an island may be of several parts, some of them without a high basin.
    for (std::int64_t before = -1, now = left(); now > 0 && now != before;) {
      core::for_each("kastor::deblend::link_lowest", m_space, pieces(),
                     LinkLowest<Exec>{borders(), rule, m_list.data()});
      core::for_each("kastor::deblend::move_lowest", m_space, m_room,
                     MoveLowest{m_pixels, m_list.data(), m_basin_of.data()});
      before = now;
      now = left();
    }
  }
  void count_pixels() {
    const std::int64_t workers = core::workers_of(m_space, m_room);
    core::for_each("kastor::deblend::count_pixels", m_space, workers,
                   CountBasins<Exec>{m_pixels, m_basin_of.data(), m_list.data(), workers});
  }

  /// Joins the branches of islands that have several basins.
  void join() {
    const auto of_islands = [&](auto& list, const char* label) {
      core::grow(list, m_space, label, m_islands);
    };
    of_islands(m_saddles_of, "kastor::deblend::saddles_of");
    of_islands(m_pixels_of, "kastor::deblend::pixels_of");
    core::for_each("kastor::deblend::clear_parts", m_space, m_islands,
                   ClearParts{m_saddles_of.data(), m_pixels_of.data()});
    list_pixels_of_several();
    find_saddles();
    const PixelByHeight* const by_height = asks_for_pixels(m_params) ? sort_pixels() : nullptr;
    core::for_each("kastor::deblend::join", m_space, m_islands,
                   JoinBranches{m_params, m_list.data(), sort_saddles(), m_saddles_of.data(),
                                by_height, m_pixels_of.data(), m_basin_of.data()});
  }

  void list_pixels_of_several() {
    if (!asks_for_pixels(m_params)) return;
    core::grow(m_by_height, m_space, "kastor::deblend::by_height", m_room);
    core::grow(m_spare_by_height, m_space, "kastor::deblend::by_height", m_room);
    const ListPixels list{m_pixels,
                          m_room,
                          m_deviations.data(),
                          m_basin_of.data(),
                          m_list.data(),
                          m_first_basin.data(),
                          m_by_height.data(),
                          &m_counts().pixels};
    core::scan("kastor::deblend::list_pixels", m_space, list.blocks(), list);
  }
  [[nodiscard]] const PixelByHeight* sort_pixels() {
    const auto n = static_cast<std::int64_t>(m_counts().pixels);
    const PixelByHeight* const sorted =
        core::merge_sort("kastor::deblend::sort_pixels", m_space, m_by_height.data(),
                         m_spare_by_height.data(), n, HigherPixel{});
    core::for_each("kastor::deblend::find_parts", m_space, n,
                   FindParts<PixelByHeight>{sorted, n, m_pixels_of.data()});
    return sorted;
  }

  /// Fills the list of saddles and fences.
  void find_saddles() {
    while (m_table_bits < 60 && (std::int64_t{1} << m_table_bits) < 4 * m_basins) ++m_table_bits;
    while (true) {
      const std::int64_t places = std::int64_t{1} << m_table_bits;
      core::grow(m_pairs, m_space, "kastor::deblend::pairs", places);
      core::grow(m_keys, m_space, "kastor::deblend::keys", places);
      core::grow(m_saddle_pixels, m_space, "kastor::deblend::saddle_pixels", places);
      core::grow(m_places, m_space, "kastor::deblend::places", places);
      const SaddleTable table{m_pairs.data(),  m_keys.data(),          m_saddle_pixels.data(),
                              m_places.data(), m_saddle_counts.data(), m_table_bits};
      core::for_each("kastor::deblend::clear_table", m_space, places, ClearTable{table});
      core::for_each("kastor::deblend::raise_saddles", m_space, pieces(),
                     RaiseSaddles<Exec>{borders(), table});
      core::for_each("kastor::deblend::find_saddle_pixels", m_space, pieces(),
                     FindSaddlePixels<Exec>{borders(), table});
      core::for_each("kastor::deblend::show_counts", m_space, 1,
                     ShowSaddleCounts{m_saddle_counts.data(), m_counts.data()});
      m_space.fence("kastor::deblend::saddles");
      if (m_counts().saddles.is_full == 0) return list_saddles(table);
      ++m_table_bits;
    }
  }
  void list_saddles(const SaddleTable& table) {
    m_saddle_count = m_counts().saddles.pairs;
    core::grow(m_saddles, m_space, "kastor::deblend::saddles", m_saddle_count);
    core::grow(m_spare_saddles, m_space, "kastor::deblend::saddles", m_saddle_count);
    core::for_each("kastor::deblend::list_saddles", m_space, m_saddle_count,
                   ListSaddles{table, m_deviations.data(), m_list.data(), m_saddles.data()});
  }
  [[nodiscard]] const Saddle* sort_saddles() {
    const Saddle* const sorted =
        core::merge_sort("kastor::deblend::sort_saddles", m_space, m_saddles.data(),
                         m_spare_saddles.data(), m_saddle_count, HigherSaddle{});
    core::for_each("kastor::deblend::find_parts", m_space, m_saddle_count,
                   FindParts<Saddle>{sorted, m_saddle_count, m_saddles_of.data()});
    return sorted;
  }

  [[nodiscard]] std::span<const PeakRow> make_rows() {
    core::scan("kastor::deblend::make_rows", m_space, m_basins,
               MakePeakRows{m_list.data(), m_first_basin.data(), m_basins, m_child_of.data(),
                            m_rows.data(), &m_counts().peaks});
    core::for_each("kastor::deblend::follow_owners", m_space, m_basins,
                   FollowOwners{m_list.data(), m_child_of.data()});
    m_space.fence("kastor::deblend::rows");
    return {m_rows.data(), static_cast<std::size_t>(m_counts().peaks)};
  }

  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;
  Exec m_space;
  DeblendParams m_params;
  FlatPixels m_pixels{};
  std::int64_t m_islands = 0, m_basins = 0, m_saddle_count = 0;
  std::int64_t m_room = 0;        ///< of the lists of pixels
  std::int64_t m_basin_room = 0;  ///< of the lists of basins
  int m_table_bits = 10;
  Kokkos::View<SaddleCounts, typename Exec::memory_space> m_saddle_counts;
  Kokkos::View<BranchCounts, core::HostReadableSpace<Exec>> m_counts;
  List<std::uint64_t> m_words;
  List<std::uint32_t> m_before, m_up, m_basin_of;
  List<double> m_deviations;
  List<PeakPixel> m_peaks, m_spare_peaks;
  List<Basin> m_list;
  List<std::uint32_t> m_child_of, m_first_basin;
  Kokkos::View<PeakRow*, core::HostReadableSpace<Exec>> m_rows;
  List<std::uint64_t> m_pairs, m_keys;
  List<std::uint32_t> m_saddle_pixels, m_places;
  List<Saddle> m_saddles, m_spare_saddles;
  List<PartOfIsland> m_saddles_of, m_pixels_of;
  List<PixelByHeight> m_by_height, m_spare_by_height;
};

}  // namespace kastor::detail

#endif

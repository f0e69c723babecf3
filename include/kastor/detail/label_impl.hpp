// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_IMPL_HPP
#define KASTOR_DETAIL_LABEL_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/label_by_one_team.hpp>
#include <kastor/detail/label_device.hpp>
#include <kastor/detail/label_host.hpp>
#include <kastor/detail/label_lines.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/unite_device.hpp>
#include <kastor/detail/unite_in_tiles.hpp>
#include <kastor/detail/work_shares.hpp>
#include <kastor/label.hpp>
#include <limits>
#include <string>

namespace kastor::detail {

/// Host: index = word of the mask, whose pixels are written in order. Device: index = pixel, so
/// that neighbours write neighbours.
template <class Exec, class Label>
struct WriteLabels {
  RunLabels<Exec> labels;
  Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space> image;

  [[nodiscard]] std::int64_t count() const {
    return labels.ny * (is_host_space_v<Exec> ? labels.mask.words_per_row() : labels.nx);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (is_host_space_v<Exec>) {
      const std::int64_t per_row = (labels.nx + 63) / 64;
      write_word(i / per_row, i % per_row, labels.first_in_word(i));
    } else {
      const std::int64_t y = i / labels.nx;
      const std::int64_t x = i % labels.nx;
      image(y, x) = static_cast<Label>(labels.at(y, x));
    }
  }
  KOKKOS_FUNCTION void write_word(std::int64_t y, std::int64_t w, std::uint32_t begun) const {
    const MaskRow row{labels.mask.words.data() + y * ((labels.nx + 63) / 64)};
    const std::uint64_t bits = row.words[w];
    const std::uint64_t starts = row.starts(w);
    const std::int64_t width = labels.nx - 64 * w < 64 ? labels.nx - 64 * w : 64;
    for (std::int64_t k = 0; k < width; ++k) {
      begun += static_cast<std::uint32_t>((starts >> k) & 1);
      image(y, 64 * w + k) =
          (bits >> k) & 1 ? static_cast<Label>(labels.label(begun - 1)) : Label{0};
    }
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec>
struct Labeller<Exec>::Plan {
  using Policy = detail::IndexRange<Exec>;
  template <class T>
  using List = typename RunLabels<Exec>::template List<T>;

  Plan(const Exec& s, const LabelParams& p)
      : space(s),
        params(p),
        counts(Kokkos::view_alloc(s, Kokkos::WithoutInitializing, "kastor::label::counts")),
        counts_on_host(
            Kokkos::view_alloc(s, Kokkos::WithoutInitializing, "kastor::label::counts_on_host")) {
    const std::int64_t parts = is_host_space_v<Exec> ? host_parts() : most_teams();
    detail::grow(runs_in_part, space, "kastor::label::runs_in_part", parts);
    detail::grow(pixels_in_part, space, "kastor::label::pixels_in_part", parts);
    detail::grow(roots_in_part, space, "kastor::label::roots_in_part", parts);
    detail::grow(dropped_in_part, space, "kastor::label::dropped_in_part", parts);
  }

  /// One part if there is one thread: it then need not count before it numbers.
  [[nodiscard]] std::int64_t host_parts() const {
    return space.concurrency() == 1 ? 1 : 4 * std::int64_t{space.concurrency()};
  }
  /// As many as a device holds at once; their totals must fit a team's scratch memory.
  [[nodiscard]] std::int64_t most_teams() const {
    return std::clamp(space.concurrency() / detail::TilesOfRuns::threads, 1, 4096);
  }

  void reserve(std::int64_t runs) {
    capacity = std::min(std::max(capacity, runs), most_runs);
    detail::grow(labels.begin, space, "kastor::label::begin", capacity);
    detail::grow(labels.end, space, "kastor::label::end", capacity);
    detail::grow(labels.row, space, "kastor::label::row", capacity);
    detail::grow(labels.label, space, "kastor::label::label", capacity);
    detail::grow(labels.first_run, space, "kastor::label::first_run", capacity);
    detail::grow(parent, space, "kastor::label::parent", capacity);
    detail::grow(rank, space, "kastor::label::rank", capacity);
    if (drops()) detail::grow(pixels_of_set, space, "kastor::label::pixels_of_set", capacity);
    if (lists_labelled()) detail::grow(labelled, space, "kastor::label::labelled", capacity);
  }
  void reserve_few() {
    const std::int64_t least = std::max<std::int64_t>(4096, labels.ny * labels.nx / 1024);
    few_room = std::min(std::max({few_room, least, expected_components}), most_runs);
    detail::grow(few_counted, space, "kastor::label::few_counted", few_room);
    detail::grow(few_runs, space, "kastor::label::few_runs",
                 few_room * std::int64_t{detail::FewRuns::most});
    detail::grow(few_others, space, "kastor::label::few_others", 1);
  }
  [[nodiscard]] bool drops() const {
    return params.min_pixels > 1 || params.drop_at_edge || seeds.data() != nullptr;
  }
  /// So that the warps of a device need not look at what is dropped.
  [[nodiscard]] bool lists_labelled() const { return !is_host_space_v<Exec> && drops(); }
  [[nodiscard]] std::uint32_t* list_of_labelled() const {
    return lists_labelled() ? labelled.data() : nullptr;
  }

  /// None of so few runs that one team labels them: they are soon measured anyhow.
  [[nodiscard]] detail::FewRuns few() const {
    if (!lists_few || by_one_team) return {};
    return {few_counted.data(), few_runs.data(), few_others.data(),
            static_cast<std::uint32_t>(few_room)};
  }

  [[nodiscard]] detail::RunTable table() const {
    const BitMask<Exec>& mask = labels.mask;
    const detail::MaskWords words{mask.words.data(), mask.ny * mask.words_per_row(),
                                  mask.words_per_row(), lines};
    return {
        words,
        labels.first_in_word.data(),
        labels.begin.data(),
        labels.end.data(),
        labels.row.data(),
        labels.label.data(),
        labels.first_run.data(),
        parent.data(),
        rank.data(),
        drops() ? pixels_of_set.data() : nullptr,
        static_cast<std::uint64_t>(params.min_pixels),
        seeds.data(),
        params.drop_at_edge,
        counts.data(),
        counts_on_host.data(),
        {runs_in_part.data(), pixels_in_part.data(), roots_in_part.data(), dropped_in_part.data()},
        capacity,
        list_of_labelled(),
        few()};
  }

  [[nodiscard]] std::int32_t reach() const {
    return params.connectivity == Connectivity::eight ? 1 : 0;
  }

  void count_pixels(const detail::RunTable& table, std::int64_t workers) {
    if (!drops()) return;
    detail::enqueue_range<Policy>(space, "kastor::label::count_pixels", workers,
                                  detail::CountPixels<Exec>{table, workers, labels.ny, labels.nx});
  }

  void enqueue_in_parts(const detail::RunTable& table) requires is_host_space_v<Exec> {
    const std::int64_t parts = host_parts();
    const detail::PartsOfRows rows{table, parts, labels.ny, reach()};
    if (parts > 1) {
      detail::for_each_index("kastor::label::count_runs", space, parts,
                             detail::CountRunsInParts{rows});
    }
    detail::for_each_index("kastor::label::connect_rows", space, parts,
                           detail::ConnectRowsInParts{rows});
    if (parts > 1)
      detail::for_each_index("kastor::label::unite_seams", space, parts, detail::UniteSeams{rows});
    count_pixels(table, parts);
    detail::for_each_index("kastor::label::rank_roots", space, parts,
                           detail::RankRootsInParts<Exec>{table, parts});
    detail::for_each_index("kastor::label::label_runs", space, parts,
                           detail::LabelRunsInParts<Exec>{table, parts});
  }

  void enqueue_by_teams(const detail::RunTable& table) requires(!is_host_space_v<Exec>) {
    using Runs = detail::TilesOfRuns;
    const auto parts_of = [](std::int64_t count, std::int64_t part) {
      return std::max<std::int64_t>(1, (count + part - 1) / part);
    };
    const detail::TeamLauncher<Exec> launch{space};
    int word_teams = 0;
    const auto number = [&]<class Tiles, class Count, class Number>(std::int64_t count) {
      const std::int64_t tiles = parts_of(count, Tiles::tile);
      const Tiles of_team{table, parts_of(tiles, most_teams())};
      word_teams = static_cast<int>(parts_of(tiles, of_team.tiles_per_team));
      launch("kastor::label::count_runs", word_teams, Count{of_team});
      launch("kastor::label::number_runs", word_teams, Number{of_team});
    };
    // What a device has in its cache it reads sooner than it lists lines.
    constexpr std::int64_t large = std::int64_t{1} << 20;
    if (table.words.lines.touched == nullptr || table.words.count < large) {
      number.template operator()<detail::TilesOfWords, detail::CountRunsByTeams<Exec>,
                                 detail::NumberRunsByTeams<Exec>>(table.words.count);
    } else {
      number.template operator()<detail::TilesOfLines, detail::CountRunsInLines<Exec>,
                                 detail::NumberRunsInLines<Exec>>(
          detail::MaskLines::count(table.words.count));
    }
    const std::int64_t workers =
        Runs::threads * std::min(most_teams(), parts_of(table.capacity, Runs::threads));
    if (by_one_team) {
      launch("kastor::label::label_by_one_team", 1,
             detail::LabelByOneTeam<Exec>{table, labels.ny, labels.nx, reach(), word_teams});
      return;
    }
    const Runs runs{table};
    using Label = detail::LabelRunsByTeams<Exec>;
    const auto run_teams = static_cast<int>(std::min<std::int64_t>(
        workers / Runs::threads, detail::processors_of(space) * Label::teams_at_once));
    if (unites_in_tiles) {
      const detail::MaskTiles tiles{table, labels.ny, reach(), guests.data()};
      using InTiles = detail::UniteInTiles<Exec>;
      launch("kastor::label::unite_in_tiles", InTiles::teams(labels.ny, table.words.per_row),
             InTiles{tiles});
      const detail::UniteAcrossSeams seams({table, workers, labels.nx, reach()}, labels.ny,
                                           guests.data());
      detail::enqueue_range<Policy>(space, "kastor::label::unite_across_seams", seams.workers(),
                                    seams);
    } else {
      detail::enqueue_range<Policy>(space, "kastor::label::unite", workers,
                                    detail::UniteWithRowAbove{table, workers, labels.nx, reach()});
    }
    count_pixels(table, workers);
    launch("kastor::label::rank_roots", run_teams, detail::RankRootsByTeams<Exec>{runs});
    launch("kastor::label::label_runs", run_teams,
           Label{runs, word_teams, Label::scratch_for(run_teams)});
  }

  /// `seed_mask`: null words if none is needed.
  void enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask,
               const detail::MaskLines& lines_of_mask = {}, bool to_measure = false) {
    const Kokkos::Profiling::ScopedRegion region("kastor::label");
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    KASTOR_EXPECTS("kastor::label", mask.ny <= largest && mask.nx < largest,
                   "the mask is " + std::to_string(mask.ny) + " x " + std::to_string(mask.nx) +
                       " pixels; expected fewer than 2147483647 rows and columns");
    if (labels.ny != mask.ny || labels.nx != mask.nx) expected_runs = mask.ny * mask.nx / 1024;
    by_one_team = !is_host_space_v<Exec> && expected_runs <= most_runs_of_one_team;
    const std::int64_t words = mask.ny * mask.words_per_row();
    unites_in_tiles = !is_host_space_v<Exec> && !by_one_team && expected_runs >= crowded * words;
    labels.ny = mask.ny;
    labels.nx = mask.nx;
    labels.mask = mask;
    seeds = seed_mask.words;
    lines = lines_of_mask;
    labels.runs = labels.components = labels.dropped = labels.foreground_pixels = 0;
    detail::grow(labels.first_in_word, space, "kastor::label::first_in_word", words + 1);
    if (!is_host_space_v<Exec>)
      detail::grow(guests, space, "kastor::label::guests",
                   mask.ny * detail::MaskTiles::columns_of(mask.words_per_row()));
    reserve(std::max<std::int64_t>(4096, mask.ny * mask.nx / 256));
    lists_few = to_measure && !is_host_space_v<Exec>;
    if (lists_few) reserve_few();
    if constexpr (is_host_space_v<Exec>) {
      enqueue_in_parts(table());
    } else {
      enqueue_by_teams(table());
    }
  }

  [[nodiscard]] bool finish() {
    const LabelCounts& found = counts_on_host();
    KASTOR_EXPECTS(
        "kastor::label", found.runs <= std::uint64_t{most_runs},
        "the mask has " + std::to_string(found.runs) + " runs; expected at most 4294967294");
    const auto runs = static_cast<std::int64_t>(found.runs);
    // Falls slowly: to be wrong costs more than many teams do for few runs.
    expected_runs = std::max(runs, expected_runs / 8 * 7);
    const bool has_room = runs <= capacity;
    if (!has_room) reserve(runs + runs / 8);
    if (!has_room || (by_one_team && runs > most_runs_of_one_team)) return false;
    labels.runs = runs;
    labels.components = found.components;
    expected_components = labels.components / 8 * 9;
    labels.dropped = found.dropped;
    labels.foreground_pixels = static_cast<std::int64_t>(found.pixels);
    return true;
  }

  void check(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask) const {
    KASTOR_EXPECTS("kastor::label", seed_mask.ny == mask.ny && seed_mask.nx == mask.nx,
                   "the mask of seeds is " + std::to_string(seed_mask.ny) + " x " +
                       std::to_string(seed_mask.nx) + " pixels; expected " +
                       std::to_string(mask.ny) + " x " + std::to_string(mask.nx) + " as the mask");
  }

  const RunLabels<Exec>& run(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask) {
    do {
      enqueue(mask, seed_mask);
      space.fence("kastor::label::counts");
    } while (!finish());
    return labels;
  }

  /// Their numbers fit 32 bits, and one more is no run's.
  static constexpr std::int64_t most_runs = std::numeric_limits<std::uint32_t>::max() - 1;
  Exec space;
  LabelParams params;
  RunLabels<Exec> labels;
  std::int64_t capacity = 0;  ///< of the lists of runs
  std::int64_t expected_runs =
      0;                     ///< about as many as the last masks had, or a guess for a new shape
  bool by_one_team = false;  ///< the last enqueue; then only so many runs are labelled:
  static constexpr std::int64_t most_runs_of_one_team = detail::LabelByOneTeam<Exec>::most_runs;
  bool unites_in_tiles = false;  ///< the last enqueue: where a word of the mask has so many runs
  static constexpr std::int64_t crowded = 2;
  Kokkos::View<LabelCounts, typename Exec::memory_space> counts;
  Kokkos::View<LabelCounts, detail::HostReadable<Exec>> counts_on_host;
  List<std::uint64_t> runs_in_part;
  List<std::uint64_t> pixels_in_part;
  List<std::uint32_t> roots_in_part;
  List<std::uint32_t> dropped_in_part;
  List<std::uint32_t> parent;
  List<std::uint32_t> guests;  ///< see MaskTiles
  List<std::uint32_t> rank;
  List<std::uint64_t> pixels_of_set;
  List<std::uint32_t> labelled;
  bool lists_few = false;  ///< the last enqueue
  std::int64_t few_room = 0;
  std::int64_t expected_components = 0;  ///< somewhat more than the last mask had
  List<std::uint32_t> few_counted;       ///< see FewRuns
  List<std::uint32_t> few_runs;
  List<std::uint32_t> few_others;
  decltype(BitMask<Exec>::words) seeds;  ///< of the call
  detail::MaskLines lines;               ///< of the call's mask
};

template <class Exec>
Labeller<Exec>::Labeller(const Exec& space, const LabelParams& params) {
  KASTOR_EXPECTS(
      "kastor::Labeller",
      params.connectivity == Connectivity::four || params.connectivity == Connectivity::eight,
      "the connectivity is " + std::to_string(static_cast<int>(params.connectivity)) +
          "; expected 4 or 8");
  KASTOR_EXPECTS("kastor::Labeller", params.min_pixels >= 1,
                 "min_pixels is " + std::to_string(params.min_pixels) + "; expected 1 or more");
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec>
Labeller<Exec>::~Labeller() = default;
template <class Exec>
Labeller<Exec>::Labeller(Labeller&&) noexcept = default;
template <class Exec>
Labeller<Exec>& Labeller<Exec>::operator=(Labeller&&) noexcept = default;

template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::operator()(const BitMask<Exec>& mask) {
  return m_plan->run(mask, {});
}
template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::operator()(const BitMask<Exec>& mask,
                                                  const BitMask<Exec>& seeds) {
  m_plan->check(mask, seeds);
  return m_plan->run(mask, seeds);
}
template <class Exec>
void Labeller<Exec>::enqueue(const BitMask<Exec>& mask) {
  m_plan->enqueue(mask, {});
}
template <class Exec>
void Labeller<Exec>::enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seeds) {
  m_plan->check(mask, seeds);
  m_plan->enqueue(mask, seeds);
}
template <class Exec>
void Labeller<Exec>::enqueue_to_measure(const BitMask<Exec>& mask, const detail::MaskLines& lines) {
  m_plan->enqueue(mask, {}, lines, true);
}
template <class Exec>
bool Labeller<Exec>::finish() {
  return m_plan->finish();
}
template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::labels() const {
  return m_plan->labels;
}
template <class Exec>
const LabelCounts* Labeller<Exec>::counts() const {
  return m_plan->counts.data();
}
template <class Exec>
detail::FewRuns Labeller<Exec>::few_runs() const {
  return m_plan->few();
}
template <class Exec>
const std::uint32_t* Labeller<Exec>::labelled_runs() const {
  return m_plan->list_of_labelled();
}

template <class Exec, class Label>
void write_labels(
    const Exec& space, const RunLabels<Exec>& labels,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& image) {
  KASTOR_EXPECTS("kastor::write_labels",
                 static_cast<std::int64_t>(image.extent(0)) == labels.ny &&
                     static_cast<std::int64_t>(image.extent(1)) == labels.nx,
                 "the image is " + std::to_string(image.extent(0)) + " x " +
                     std::to_string(image.extent(1)) + " pixels; expected " +
                     std::to_string(labels.ny) + " x " + std::to_string(labels.nx));
  KASTOR_EXPECTS("kastor::write_labels",
                 labels.components <= std::int64_t{std::numeric_limits<Label>::max()},
                 std::to_string(labels.components) + " labels do not fit the pixels of the image");
  const detail::WriteLabels<Exec, Label> write{labels, image};
  Kokkos::parallel_for("kastor::label::write_labels",
                       detail::IndexRange<Exec>(space, 0, write.count()), write);
}

}  // namespace kastor

#endif

// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <kastor/streamed_island_finder.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/image_shape.hpp"
#include "core/row_reader.hpp"
#include "islands/island_search.hpp"
#include "islands/strip_rules.hpp"
#include "islands/strip_sets.hpp"

namespace kastor {

namespace {

constexpr const char* name_of_streamed_finder = "kastor::StreamedIslandFinder";

/// The islands on one side of the background, as strips give them.
struct GivenIslands {
  struct Entry {
    Island island;
    std::int32_t first_column;
    std::int64_t place;  ///< among those given
  };
  std::vector<Entry> entries;
  std::vector<std::int64_t> of_strip;  ///< indices of the islands that the last strip gives
  IslandCounts counts;

  /// \param sets  that the strip gives, those that are dropped included
  void take(std::span<const Island> found, const std::int32_t* first_columns, bool drop_at_edge,
            const detail::StripRules& rules, std::int64_t sets, std::int64_t& given) {
    of_strip.clear();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Island& island = found[i];
      const bool is_dropped = drop_at_edge && (island.flags & island_at_edge) != 0;
      if (is_dropped || !rules.gives(island.y_min, island.y_max)) continue;
      of_strip.push_back(static_cast<std::int64_t>(i));
      entries.push_back({island, first_columns[i], given++});
    }
    const auto islands = static_cast<std::int64_t>(of_strip.size());
    counts.islands += islands;
    counts.dropped += sets - islands;
  }
  /// Appends the islands in raster order of their first pixels.
  void move_to(StreamedIslands& all) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.island.y_min, a.first_column) < std::pair(b.island.y_min, b.first_column);
    });
    for (Entry& entry : entries) {
      entry.island.id = static_cast<std::int64_t>(all.result.islands.size()) + 1;
      all.result.islands.push_back(entry.island);
      all.given.push_back(entry.place);
    }
    entries.clear();
  }
};

/// The part of a mask that belongs to some rows; an empty mask stays empty.
template <class Exec>
[[nodiscard]] BitMask<Exec> rows_of_mask(const BitMask<Exec>& mask, std::int64_t first,
                                         std::int64_t count) {
  if (mask.words.data() == nullptr) return {};
  BitMask<Exec> rows;
  rows.ny = count;
  rows.nx = mask.nx;
  rows.words = decltype(rows.words)(mask.words.data() + first * mask.words_per_row(),
                                    static_cast<std::size_t>(count),
                                    static_cast<std::size_t>(mask.words_per_row()));
  return rows;
}

}  // namespace

template <class Exec, Real T>
struct StreamedIslandFinder<Exec, T>::Plan {
  Plan(const Exec& space, const IslandParams& p, const StreamParams& s)
      : params(p),
        stream(s),
        reader(space),
        detection_reader(space),
        search(space, without_edges(p)),
        judge(space, p.connectivity) {}

  /// All that a call is given. `detection` has no source if there is no detection image.
  struct Call {
    RowSource<T>& source;
    const Background<Exec, T>& background;
    const StreamedDetection<Exec, T>& detection;
    const RowRange& rows;
    const IslandVisitor<Exec, T>& visitor;
    const BitMask<Exec>& region;
  };

  [[nodiscard]] StreamedIslands run(const Call& call) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::find_islands::stream");
    const detail::Shape image{call.source.ny(), call.source.nx()};
    check(image, call);
    above = below = {};
    given = 0;
    StreamedIslands all;
    if (image.nx > 0) {
      const std::int64_t row = bytes_of_row(image.nx, call.detection.source != nullptr);
      const std::int64_t margin = std::max<std::int64_t>(1, call.visitor.reach);
      const std::int64_t most = most_rows(image, margin, row);
      const std::int64_t wanted = stream.band_rows == 0 ? most : stream.band_rows;
      const auto start = detail::StripRules::before(
          call.rows.first, std::min(call.rows.past, image.ny), margin, image.ny);
      auto rules = start.after(start.end, wanted, most);
      while (rules.is_needed()) {
        expect_progress(rules, row);
        rules = rules.after(search_strip(rules, call), wanted, most);
      }
    }
    all.result.positive = above.counts;
    all.result.negative = below.counts;
    all.result.islands.reserve(above.entries.size() + below.entries.size());
    above.move_to(all);
    below.move_to(all);
    return all;
  }

  /// The labels of a strip know only its own border, so islands at the edge are dropped later.
  [[nodiscard]] static IslandParams without_edges(IslandParams params) {
    params.drop_at_edge = false;
    return params;
  }

  void check(const detail::Shape& image, const Call& call) const {
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    const char* const name = name_of_streamed_finder;
    KASTOR_EXPECTS(name, image.ny < largest && image.nx < largest,
                   "the image is " + std::to_string(image.ny) + " x " + std::to_string(image.nx) +
                       " pixels; expected fewer than 2147483647 rows and columns");
    const core::ImageShape shape{name, image};
    shape.expect_background<Exec, T>(call.background);
    shape.expect_region(call.region);
    if (call.detection.source != nullptr) {
      shape.expect("the detection image is", call.detection.source->ny(),
                   call.detection.source->nx());
      shape.expect_background<Exec, T>(call.detection.background, "detection ");
    }
    const RowRange& rows = call.rows;
    const std::int64_t past = std::min(rows.past, image.ny);
    KASTOR_EXPECTS(name,
                   rows.first >= 0 && rows.first <= past &&
                       (rows.past == past || rows.past == RowRange().past),
                   "the rows are " + std::to_string(rows.first) + " to " +
                       std::to_string(rows.past) + ", the last not included; expected some of " +
                       std::to_string(image.ny) + " rows");
    KASTOR_EXPECTS(
        name, call.visitor.reach >= 0,
        "the reach is " + std::to_string(call.visitor.reach) + " rows; expected 0 or more");
  }

  /// Memory for a row: its pixels, and their shares in masks, runs, labels and islands of a sky.
  [[nodiscard]] std::int64_t bytes_of_row(std::int64_t nx, bool has_detection) const {
    const std::int64_t pixels = (has_detection ? 2 : 1) * static_cast<std::int64_t>(sizeof(T));
    return nx * (2 * pixels + (params.negative ? 3 : 2)) / 2 + 1;
  }
  /// Rows that fit into memory. \throws ResourceError if no island fits
  [[nodiscard]] std::int64_t most_rows(const detail::Shape& image, std::int64_t margin,
                                       std::int64_t row) const {
    const std::int64_t most = stream.memory / row;
    const std::int64_t fewest = std::min(image.ny, 2 * margin + 1);
    if (most < fewest) {
      throw ResourceError(std::string(name_of_streamed_finder) + ": an island of one row with " +
                          std::to_string(margin) + " rows above and below takes " +
                          std::to_string(fewest * row) + " bytes of memory; expected at most " +
                          std::to_string(stream.memory) + ", the memory that was given");
    }
    return most;
  }
  /// \throws ResourceError if what is open is too tall
  void expect_progress(const detail::StripRules& rules, std::int64_t row) const {
    if (rules.end > rules.seen) return;
    const std::int64_t rows = rules.seen - rules.margin + 1 - rules.from;
    throw ResourceError(std::string(name_of_streamed_finder) + ": the island that begins in row " +
                        std::to_string(rules.from) + " has " + std::to_string(rows) +
                        " rows or more, which take " +
                        std::to_string((rules.seen + 1 - rules.begin) * row) +
                        " bytes of memory; expected at most " + std::to_string(stream.memory) +
                        ", the memory that was given");
  }

  /// Returns the first row of the topmost open set.
  [[nodiscard]] std::int64_t search_strip(const detail::StripRules& rules, const Call& call) {
    const std::int64_t count = rules.end - rules.begin;
    IslandStrip<Exec, T> strip;
    strip.first_row = rules.begin;
    strip.ny = rules.ny;
    strip.image = reader.read(call.source, rules.begin, count);
    strip.background = call.background.rows(rules.begin, count);
    strip.region = rows_of_mask(call.region, rules.begin, count);
    const bool has_detection = call.detection.source != nullptr;
    ConstImage<T, Exec> detection;
    if (has_detection) {
      detection = detection_reader.read(*call.detection.source, rules.begin, count);
      strip.detection.bands = Bands<T, Exec>(&detection, 1);
      strip.detection.background = call.detection.background.rows(rules.begin, count);
    }
    strip.found =
        search.run(detail::Shape{count, call.source.nx()}, Bands<T, Exec>(&strip.image, 1),
                   strip.background, has_detection ? &strip.detection : nullptr, strip.region,
                   detail::StripRows{rules.begin, rules.ny});
    std::int64_t open_from = take(search.positive, strip.found.above, rules, above);
    if (params.negative)
      open_from = std::min(open_from, take(search.negative, strip.found.below, rules, below));
    if (call.visitor.visit) {
      strip.above = search.positive.label.labels();
      if (params.negative) strip.below = search.negative.label.labels();
      strip.given_above = above.of_strip;
      strip.given_below = below.of_strip;
      call.visitor.visit(strip);
    }
    return open_from;
  }
  [[nodiscard]] std::int64_t take(const detail::IslandsOfSide<Exec, T>& side,
                                  std::span<const Island> found, const detail::StripRules& rules,
                                  GivenIslands& into) {
    const detail::StripSets sets =
        judge.judge(side.foreground, rules, into.counts.foreground_pixels);
    into.take(found, judge.first_columns(side.label.labels()), params.drop_at_edge, rules,
              sets.given, given);
    return sets.open_from;
  }

  IslandParams params;
  StreamParams stream;
  core::RowReader<Exec, T> reader, detection_reader;
  detail::IslandSearch<Exec, T> search;
  detail::StripJudge<Exec> judge;
  GivenIslands above, below;
  std::int64_t given = 0;  ///< islands given so far
};

template <class Exec, Real T>
StreamedIslandFinder<Exec, T>::StreamedIslandFinder(const Exec& space, const IslandParams& params,
                                                    const StreamParams& stream) {
  detail::expect_islands(name_of_streamed_finder, params);
  core::expect_stream(name_of_streamed_finder, stream);
  m_plan = std::make_unique<Plan>(space, params, stream);
}
template <class Exec, Real T>
StreamedIslandFinder<Exec, T>::~StreamedIslandFinder() = default;
template <class Exec, Real T>
StreamedIslandFinder<Exec, T>::StreamedIslandFinder(StreamedIslandFinder&&) noexcept = default;
template <class Exec, Real T>
StreamedIslandFinder<Exec, T>& StreamedIslandFinder<Exec, T>::operator=(
    StreamedIslandFinder&&) noexcept = default;

template <class Exec, Real T>
StreamedIslands StreamedIslandFinder<Exec, T>::operator()(RowSource<T>& source,
                                                          const Background<Exec, T>& background,
                                                          const RowRange& rows,
                                                          const IslandVisitor<Exec, T>& visitor,
                                                          const BitMask<Exec>& region) {
  const StreamedDetection<Exec, T> none;
  return m_plan->run(typename Plan::Call{source, background, none, rows, visitor, region});
}
template <class Exec, Real T>
StreamedIslands StreamedIslandFinder<Exec, T>::operator()(
    const StreamedDetection<Exec, T>& detection, RowSource<T>& source,
    const Background<Exec, T>& background, const RowRange& rows,
    const IslandVisitor<Exec, T>& visitor, const BitMask<Exec>& region) {
  KASTOR_EXPECTS(name_of_streamed_finder, detection.source != nullptr,
                 "the detection image has no source; expected one");
  return m_plan->run(typename Plan::Call{source, background, detection, rows, visitor, region});
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::StreamedIslandFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)

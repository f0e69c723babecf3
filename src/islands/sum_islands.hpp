// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_SUM_ISLANDS_HPP
#define KASTOR_ISLANDS_SUM_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/island.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

#include "core/bits.hpp"
#include "core/group.hpp"
#include "core/keyed_sums.hpp"
#include "core/tile_list.hpp"
#include "islands/island_sums.hpp"
#include "islands/nearby_background.hpp"

/// Measures islands in three sweeps over their runs: extents and largest numbers, which set the
/// grids; sums, and the position of the peak; moments about the peak. A detection image of its own
/// is swept once more, for the signal to noise.
namespace kastor::detail {

/// The result of labelling, as kernels access it.
struct LabelledRuns {
  const std::int32_t* begin;
  const std::int32_t* end;
  const std::int32_t* row;
  const std::uint32_t* label;
  const std::uint32_t* first_run;
  const std::uint32_t* first_in_word;
  const LabelCounts* counts;
  std::int64_t run_room, island_room;

  template <class Exec>
  LabelledRuns(const RunLabels<Exec>& labels, const LabelCounts* of_labels, std::int64_t islands)
      : begin(labels.begin.data()),
        end(labels.end.data()),
        row(labels.row.data()),
        label(labels.label.data()),
        first_run(labels.first_run.data()),
        first_in_word(labels.first_in_word.data()),
        counts(of_labels),
        run_room(static_cast<std::int64_t>(labels.begin.extent(0))),
        island_room(islands) {}

  /// The number of islands; 0 if a list is too short, since the caller then starts again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t islands() const {
    const std::int64_t found = counts->components;
    const bool has_room =
        counts->runs <= static_cast<std::uint64_t>(run_room) && found <= island_room;
    return has_room ? found : 0;
  }
  /// Row of an island's first pixel.
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t y_min(std::int64_t island) const {
    return row[first_run[island]];
  }
};

/// The place in an image of a strip of it, whose rows kernels count from 0. In memory, the strip is
/// the image.
struct StripRows {
  std::int64_t first = 0;  ///< row of the image that is row 0 of the strip
  std::int64_t ny = 0;     ///< rows of the image
};

/// Pixels [begin, end) of a row.
struct Run {
  std::int32_t begin, end, y;
  std::uint32_t label;
};

/// The runs of a band, and access to their pixels.
template <class Exec, Real T>
struct RunsOfBand {
  LabelledRuns runs;
  IslandSums* islands;
  Background<Exec, T> background;
  Side side;
  bool is_detection;           ///< of the image in which the islands were found
  const std::uint64_t* blank;  ///< mask of all bands
  std::int64_t ny, nx;         ///< shape of all bands together
  StripRows strip;             ///< their place in the image
  Rows<T> band;
  std::int64_t first_row;

  static constexpr int threads = 128;
  static constexpr int groups_at_once = 5;  ///< groups per multiprocessor of a device
  static constexpr int runs_of_tile = threads;
  using InIslands = core::TileList<Exec, runs_of_tile>;
  static_assert(runs_of_tile <= InIslands::max_places);
  static constexpr int scratch_bytes = sizeof(typename InIslands::Space);

  [[nodiscard]] core::GroupShape shape(const Exec& space) const {
    return {core::groups_for(space, runs.run_room, runs_of_tile, 4 * groups_at_once),
            scratch_bytes};
  }

  /// Adds `sweep.part_of(run)` to the island of each run of a group's share. Most runs are noise
  /// and belong to no island.
  template <class Sweep>
  KOKKOS_FUNCTION void sweep_over(const core::Group<Exec>& group, const Sweep& sweep) const {
    using Part = typename Sweep::Part;
    if (runs.islands() == 0) return;
    const std::int64_t words_per_row = (nx + 63) / 64;
    const auto add = [this](std::uint32_t label, const Part& part) {
      part.add_to(Sweep::total_of(islands[label - 1]));
    };
    core::KeyedSums<Part, decltype(add)> sums(add);
    InIslands in_islands(group, *group.template scratch<typename InIslands::Space>());
    const std::int64_t begin = runs.first_in_word[first_row * words_per_row];
    const std::int64_t past = runs.first_in_word[(first_row + band.ny) * words_per_row];
    for (std::int64_t tile = begin + group.index() * runs_of_tile; tile < past;
         tile += group.count() * runs_of_tile) {
      const auto take = [&](int place, std::uint32_t label) {
        const std::int64_t i = tile + place;
        sums.take(label, sweep.part_of(Run{runs.begin[i], runs.end[i], runs.row[i], label}));
      };
      const auto n = static_cast<int>(past - tile < runs_of_tile ? past - tile : runs_of_tile);
      group.for_each(n, [&](int i) {
        const std::uint32_t label = runs.label[tile + i];
        if (label != 0)
          in_islands.add(
              1, [i](int) { return i; }, [label](int) { return label; }, take);
      });
      in_islands.share([&](int place) { take(place, runs.label[tile + place]); });
    }
    sums.flush();
  }

  /// `visit(x, value, level, rms)` for the pixels of a run, from left to right.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_pixel(const Run& run, const Visit& visit) const {
    NearbyBackground<Exec, T> nearby(background);
    const T* const pixels = band.data + (run.y - first_row) * band.pitch;
    for (std::int32_t x = run.begin; x < run.end; ++x) {
      const LevelAndRms here = nearby(run.y, x);
      visit(x, static_cast<double>(pixels[x]), here.level, here.rms);
    }
  }
};

template <class Exec, Real T>
struct FindExtents {
  using Part = IslandExtents;
  RunsOfBand<Exec, T> runs;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    runs.sweep_over(group, *this);
  }
  KOKKOS_FUNCTION static Part& total_of(IslandSums& island) { return island.extents; }

  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run) const {
    Part part;
    part.n_pix = part.longest_run = run.end - run.begin;
    part.x_min = run.begin;
    part.x_max = run.end - 1;
    part.y_max = run.y;
    part.flags = flags_of(run);
    runs.for_each_pixel(run, [&](std::int32_t, double value, double level, double rms) {
      const double up = deviation(runs.side, value, level);
      part.deviation.raise(Kokkos::fabs(up));
      part.peak.raise(up);
      part.value.raise(Kokkos::fabs(value));
      part.level.raise(Kokkos::fabs(level));
      part.rms.raise(rms);
      if (runs.is_detection) part.snr.raise(up / rms);
    });
    return part;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t flags_of(const Run& run) const {
    const std::int64_t words_per_row = (runs.nx + 63) / 64;
    const std::int64_t row = runs.strip.first + run.y;
    const bool at_edge =
        run.begin == 0 || run.end == runs.nx || row == 0 || row == runs.strip.ny - 1;
    const std::int64_t left = run.begin > 0 ? run.begin - 1 : 0;
    const std::int64_t right = run.end < runs.nx ? run.end + 1 : runs.nx;
    const std::int64_t last = run.y + 1 < runs.ny ? run.y + 1 : run.y;
    bool near_blank = false;
    for (std::int64_t y = run.y > 0 ? run.y - 1 : 0; y <= last; ++y)
      near_blank |= core::any_between(runs.blank + y * words_per_row, left, right);
    return (at_edge ? island_at_edge : 0U) | (near_blank ? island_near_blank : 0U);
  }
};

/// The runs are those of the detection image.
template <class Exec, Real T>
struct FindDetectionSnr {
  using Part = DetectionSnr;
  RunsOfBand<Exec, T> runs;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    runs.sweep_over(group, *this);
  }
  KOKKOS_FUNCTION static IslandExtents& total_of(IslandSums& island) { return island.extents; }

  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run) const {
    Part part;
    runs.for_each_pixel(run, [&](std::int32_t, double value, double level, double rms) {
      part.snr.raise(deviation(runs.side, value, level) / rms);
    });
    return part;
  }
};

template <class Exec, Real T>
struct SumFluxes {
  using Part = IslandFluxes;
  RunsOfBand<Exec, T> runs;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    runs.sweep_over(group, *this);
  }
  KOKKOS_FUNCTION static Part& total_of(IslandSums& island) { return island.fluxes; }

  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run) const {
    const IslandExtents& extents = runs.islands[run.label - 1].extents;
    const bool finite = extents.finite();
    const double peak = extents.peak.value();
    const UnitScale of_flux(extents.deviation), of_value(extents.value), of_level(extents.level),
        of_rms(extents.rms);
    double flux = 0, raw = 0, sum_of_level = 0, squared_rms = 0;
    std::int32_t peak_x = -1;
    runs.for_each_pixel(run, [&](std::int32_t x, double value, double level, double rms) {
      const double up = deviation(runs.side, value, level);
      if (up == peak && peak_x < 0) peak_x = x;
      const double noise = of_rms(rms);
      flux += finite ? of_flux(up) : 0;
      raw += of_value(value);
      sum_of_level += of_level(level);
      squared_rms += noise * noise;
    });
    const int bits = core::bit_width(extents.longest_run);
    return {FineSum::of(flux, bits), FineSum::of(raw, bits), FineSum::of(sum_of_level, bits),
            FineSum::of(squared_rms, bits),
            peak_x < 0 ? RasterPlace() : RasterPlace(run.y, peak_x)};
  }
};

template <class Exec, Real T>
struct SumMoments {
  using Part = IslandMoments;
  RunsOfBand<Exec, T> runs;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    runs.sweep_over(group, *this);
  }
  KOKKOS_FUNCTION static Part& total_of(IslandSums& island) { return island.moments; }

  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run) const {
    const IslandSums& island = runs.islands[run.label - 1];
    if (!island.extents.finite()) return {};
    const AboutPeak about(island.extents, island.fluxes.peak, runs.runs.y_min(run.label - 1));
    const UnitScale of_flux(island.extents.deviation);
    double flux = 0, along_x = 0, along_xx = 0;
    runs.for_each_pixel(run, [&](std::int32_t x, double value, double level, double) {
      const double up = of_flux(deviation(runs.side, value, level));
      const auto dx = static_cast<double>(x - about.x);
      flux += up;
      along_x += up * dx;
      along_xx += up * dx * dx;
    });
    const auto dy = static_cast<double>(run.y - about.y);
    const int bits = about.bits;
    return {FineSum::of(along_x, bits + about.x_bits), FineSum::of(flux * dy, bits + about.y_bits),
            FineSum::of(along_xx, bits + 2 * about.x_bits),
            FineSum::of(along_x * dy, bits + about.x_bits + about.y_bits),
            FineSum::of(flux * dy * dy, bits + 2 * about.y_bits)};
  }
};

}  // namespace kastor::detail

#endif

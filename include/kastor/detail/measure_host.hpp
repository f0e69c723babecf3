// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_HOST_HPP
#define KASTOR_DETAIL_MEASURE_HOST_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/run_host.hpp>
#include <kastor/detail/stretch_host.hpp>

/// The sweeps of measure_sources.hpp where a host's thread goes through many runs: those that are a
/// stretch it takes as one, others it puts together in batches, and what it can sum in the first
/// sweep without rounding it need not look at again.
namespace kastor::detail {

/// Goes through a worker's share of the runs.
template <class T, class Exec>
class BatchesOfRuns {
 public:
  explicit BatchesOfRuns(const BandRuns<T, Exec>& band) : m_band(band) {}

  /// Goes through the runs that are part of a component: `stretch_at(runs, i, past)` says how many
  /// of those from i on it has taken together; 0: then `take(i, run)` has to take the one.
  template <class StretchAt, class Take>
  void for_each_run(std::int64_t worker, const StretchAt& stretch_at, const Take& take) {
    const MeasuredRuns runs = m_band.runs;  // or they would be read again for every run
    const RunLoop<Exec> share = m_band.loop(worker);
    if (share.first >= share.past) return;
    m_next = m_band.left.stretches.of_worker(worker, share.first);
    for (std::int64_t i = share.first; i < share.past; ++i) {
      const std::int64_t n = stretch_at(runs, i, share.past);
      if (n > 0) {
        i += n - 1;
      } else if (runs.label[i] != 0) {
        take(i, runs.run(i));
      }
    }
  }

  /// Adds a run to those of a batch, and asks for its pixels: hardware does not guess where they
  /// are. The result is its place in the batch.
  template <class Batch>
  int add_to(Batch& batch, std::int64_t i, const Run& run) const {
    const int r = batch.used++;
    const std::int32_t n = run.end - run.begin;
    const T* const pixels = m_band.row_of(run.row) + run.begin;
    constexpr std::int32_t in_line = 64 / sizeof(T);
    const std::int32_t ahead = n < 4 * in_line ? n : 4 * in_line;  // the rest it does guess
    for (std::int32_t k = 0; k < ahead; k += in_line) __builtin_prefetch(pixels + k);
    batch.pixels[r] = pixels;
    batch.n[r] = n;
    batch.run[r] = i;
    return r;
  }

  /// Whether the first sweep sums a run, unless it is part of a stretch.
  [[nodiscard]] bool is_summed_at_once(const Run& run) const {
    return FoundSums<T>::are_of_use && m_band.left.sums != nullptr &&
           run.end - run.begin >= SummedRuns<T>::fewest;
  }

  /// Gives `sums` what `part_of(r)` says of the runs of a batch: once for several in a row that are
  /// of one component.
  template <class Batch, class Sums, class PartOf>
  void take_all(Batch& batch, Sums& sums, const PartOf& part_of) const {
    for (int r = 0; r < batch.used;) {
      const std::uint32_t label = m_band.runs.label[batch.run[r]];
      auto part = part_of(r);
      for (++r; r < batch.used && m_band.runs.label[batch.run[r]] == label; ++r)
        part.join(part_of(r));
      sums.take(label, part);
    }
    batch.used = 0;
  }

 protected:
  const BandRuns<T, Exec>& m_band;
  FoundStretch<T>* m_next = nullptr;  ///< of the worker's; null: it has no runs
  HostLevel m_level = best_host_level();
};

template <class T, class Exec>
class ExtentsOnHost : BatchesOfRuns<T, Exec> {
 public:
  using Sweep = FindExtents<T, Exec>;
  ExtentsOnHost(const BandRuns<T, Exec>& band, const typename Sweep::Add& add)
      : BatchesOfRuns<T, Exec>(band), m_sums(add) {}

  void sweep(std::int64_t worker) {
    this->for_each_run(
        worker,
        [this](const MeasuredRuns& runs, std::int64_t i, std::int64_t past) {
          const std::int64_t n = this->m_band.left.stretches.length_from(runs, i, past);
          if (n > 0) take_stretch(i, n);
          return n;
        },
        [this](std::int64_t i, const Run& run) {
          if (this->is_summed_at_once(run)) {
            this->add_to(m_long, i, run);
            if (m_long.used == m_long.most) finish(m_long);
          } else {
            this->add_to(m_short, i, run);
            if (m_short.used == m_short.most) finish(m_short);
          }
        });
    if (this->m_next != nullptr) *this->m_next = FoundStretch<T>::none();
    finish(m_short);
    finish(m_long);
    m_sums.flush();
  }

 private:
  template <class Runs>
  struct Batch : Runs {
    std::int64_t run[RunBatch<T>::most];
  };
  template <class Runs>
  void finish(Batch<Runs>& batch) {
    if constexpr (std::is_same_v<Runs, SummedRuns<T>>) {
      extremes_and_sums_on_host(this->m_level, batch);
      for (int r = 0; r < batch.used; ++r)
        this->m_band.left.sums[batch.run[r]] = {batch.flux[r], batch.x_moment[r], batch.lowest[r]};
    } else {
      extremes_on_host(this->m_level, batch);
    }
    for (int r = 0; r < batch.used; ++r) this->m_band.left.highest[batch.run[r]] = batch.highest[r];
    this->take_all(batch, m_sums, [this, &batch](int r) {
      return Sweep::part(this->m_band.runs.run(batch.run[r]), batch.lowest[r], batch.highest[r]);
    });
  }

  void take_stretch(std::int64_t i, std::int64_t n) {
    const MeasuredRuns& runs = this->m_band.runs;
    const FoundStretches<T>& found = this->m_band.left.stretches;
    Run all = runs.run(i);
    all.end = runs.end[i + n - 1];
    const SumsOfStretch<T> sums = sum_stretch_on_host<T>(
        this->m_level, {this->m_band.row_of(all.row), found.mask + all.row * found.words_per_row,
                        runs.nx, runs.begin + i, runs.end + i, n});
    *this->m_next++ = {i, n, all, sums};
    typename Sweep::Part part = Sweep::part(all, sums.lowest, sums.highest);
    part.n_pix = sums.n_pix;
    part.longest_run = sums.longest_run;
    m_sums.take(all.label, part);
  }

  SetSums<typename Sweep::Part, typename Sweep::Add> m_sums;
  Batch<ExtremesOfRuns<T>> m_short;
  Batch<SummedRuns<T>> m_long;
};

template <class T, class Exec>
class SumsOnHost : BatchesOfRuns<T, Exec> {
 public:
  using Sweep = SumRuns<T, Exec>;
  SumsOnHost(const BandRuns<T, Exec>& band, const typename Sweep::Add& add)
      : BatchesOfRuns<T, Exec>(band), m_sums(add) {}

  void sweep(std::int64_t worker) {
    this->for_each_run(
        worker,
        [this](const MeasuredRuns&, std::int64_t i, std::int64_t) {
          return i == this->m_next->first ? take_stretch(*this->m_next++) : 0;
        },
        [this](std::int64_t i, const Run& run) {
          if (!this->is_summed_at_once(run) || !take_sums(i, run)) take_pixels(i, run);
        });
    finish(m_short);
    finish(m_long);
    m_sums.flush();
  }

 private:
  static constexpr int long_run = 16;

  struct Batch : SumsOfRuns<T> {
    std::int64_t run[RunBatch<T>::most];
    /// The components that grids were last set for, most often that of the next run too.
    std::uint32_t label[RunBatch<T>::most] = {};
    std::int32_t x_min[RunBatch<T>::most], y_min[RunBatch<T>::most];
    T peak[RunBatch<T>::most];
  };

  /// How the terms of a component are added up.
  struct Grid {
    std::uint32_t label;
    std::int32_t x_min, y_min;
    T peak;
    double scale, scale_more;
    double flux_per_unit, x_per_unit, y_per_unit;

    /// Whether multiples of a pixel's last place, and of it times a distance, are whole even
    /// numbers of units: then the half that is added to those before they are cut off changes none.
    [[nodiscard]] bool holds(double last_place) const {
      return last_place * scale * scale_more * std::min(x_per_unit, y_per_unit) >= 2;
    }
  };

  void take_pixels(std::int64_t i, const Run& run) {
    Batch& batch = run.end - run.begin < long_run ? m_short : m_long;
    const int r = this->add_to(batch, i, run);
    if (batch.label[r] != run.label) set_grid(batch, r, grid_of(run.label));
    batch.x[r] = run.begin - batch.x_min[r];
    batch.y[r] = run.row - batch.y_min[r];
    if (batch.used == batch.most) finish(batch);
  }
  [[nodiscard]] Grid grid_of(std::uint32_t label) const {
    const Component<T>& c = this->m_band.components[label - 1];
    const std::int32_t y_min = this->m_band.runs.y_min(label - 1);
    const ComponentGrid<T> grid(c, y_min);
    const int half = -grid.pixel / 2;
    return {label,
            c.x_min,
            y_min,
            value_of<T>(c.peak),
            power_of_two(half),
            power_of_two(-grid.pixel - half),
            WideSum::per_unit(grid.flux_bits),
            WideSum::per_unit(grid.x_bits),
            WideSum::per_unit(grid.y_bits)};
  }
  static void set_grid(Batch& batch, int r, const Grid& grid) {
    batch.label[r] = grid.label;
    batch.x_min[r] = grid.x_min;
    batch.y_min[r] = grid.y_min;
    batch.peak[r] = grid.peak;
    batch.scale[r] = grid.scale;
    batch.scale_more[r] = grid.scale_more;
    batch.flux_per_unit[r] = grid.flux_per_unit;
    batch.x_per_unit[r] = grid.x_per_unit;
    batch.y_per_unit[r] = grid.y_per_unit;
  }
  void finish(Batch& batch) {
    sum_runs_on_host(this->m_level, batch);
    this->take_all(batch, m_sums, [this, &batch](int r) {
      const std::int64_t i = batch.run[r];
      const bool may_peak = this->m_band.left.highest[i] == batch.peak[r];
      return typename Sweep::Part{
          WideSum::of_units(batch.flux[r]), WideSum::of_units(batch.x_moment[r]),
          WideSum::of_units(batch.y_moment[r]),
          may_peak ? peak_in(this->m_band.runs.run(i), batch.peak[r]) : no_place};
    });
  }

  /// The result is the number of its runs.
  std::int64_t take_stretch(const FoundStretch<T>& found) {
    const auto& [first, n, all, sums] = found;
    const Grid& grid = known_grid(all.label);
    if (!(found.sums_are_exact() && grid.holds(power_of_two(found.last_place())))) {
      std::fill_n(this->m_band.left.highest + first, n, sums.highest);
      for (std::int64_t i = first; i < first + n; ++i) take_pixels(i, this->m_band.runs.run(i));
      return n;
    }
    const Units units = units_of(sums.flux, sums.x_moment - grid.x_min * sums.flux, all.row, grid);
    m_sums.take(all.label, {WideSum::of_whole(units.flux), WideSum::of_whole(units.x_moment),
                            WideSum::of_whole(units.y_moment),
                            sums.highest == grid.peak ? peak_in(found) : no_place});
    return n;
  }
  /// False: a sum may have been rounded.
  bool take_sums(std::int64_t i, const Run& run) {
    const FoundSums<T>& sums = this->m_band.left.sums[i];
    const Grid& grid = known_grid(run.label);
    const auto x = static_cast<double>(run.begin - grid.x_min);
    const auto y = static_cast<double>(run.row - grid.y_min);
    const auto n = static_cast<double>(run.end - run.begin);
    constexpr double last_place = 1.0 / (1 << 24);  // of the lowest, or less
    if (!sums.are_exact(std::max(x + 2 * n, y)) ||
        !grid.holds(static_cast<double>(sums.lowest) * last_place))
      return false;
    const Units units = units_of(sums.flux, sums.x_moment + x * sums.flux, run.row, grid);
    const auto whole = [](double sum) { return WideSum::of_units(static_cast<std::int64_t>(sum)); };
    m_sums.take(run.label,
                {whole(units.flux), whole(units.x_moment), whole(units.y_moment),
                 this->m_band.left.highest[i] == grid.peak ? peak_in(run, grid.peak) : no_place});
    return true;
  }
  struct Units {
    double flux, x_moment, y_moment;
  };
  /// Of sums that were not rounded, x_moment from the component's first column.
  [[nodiscard]] static Units units_of(double flux, double x_moment, std::int32_t row,
                                      const Grid& grid) {
    const double scale = grid.scale * grid.scale_more;
    const auto y = static_cast<double>(row - grid.y_min);
    return {flux * scale * grid.flux_per_unit, x_moment * scale * grid.x_per_unit,
            flux * y * scale * grid.y_per_unit};
  }
  /// Components side by side take turns.
  [[nodiscard]] const Grid& known_grid(std::uint32_t label) {
    Grid& grid = m_grids[label % grids];
    if (grid.label != label) grid = grid_of(label);
    return grid;
  }
  [[nodiscard]] std::uint64_t peak_in(const FoundStretch<T>& found) {
    if (found_before(found.all)) return no_place;
    std::uint64_t at = no_place;
    for (std::int64_t i = found.first; at == no_place && i < found.first + found.runs; ++i)
      at = peak_in(this->m_band.runs.run(i), found.sums.highest);
    return at;
  }
  [[nodiscard]] std::uint64_t peak_in(const Run& run, T peak) {
    if (found_before(run)) return no_place;
    const std::int64_t place =
        find_on_host(this->m_level, peak, this->m_band.row_of(run.row) + run.begin,
                     std::int64_t{run.end} - run.begin);
    if (place < 0) return no_place;
    m_label_of_peak = run.label;
    return m_peak_at = RasterPlace::of(run.row, run.begin + static_cast<std::int32_t>(place));
  }
  /// A peak is not looked for again: all pixels may be equal.
  [[nodiscard]] bool found_before(const Run& run) const {
    return m_label_of_peak == run.label && m_peak_at < RasterPlace::of(run.row, run.begin);
  }

  static constexpr auto no_place = ~std::uint64_t{0};
  SetSums<typename Sweep::Part, typename Sweep::Add> m_sums;
  Batch m_short, m_long;  ///< side by side, runs should be of about the same length
  static constexpr std::uint32_t grids = 64;
  Grid m_grids[grids]{};  ///< of the last components
  std::uint32_t m_label_of_peak = 0;
  std::uint64_t m_peak_at = 0;
};

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_HOST_HPP
#define KASTOR_DETAIL_MEASURE_HOST_HPP

#include <cstdint>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/run_host.hpp>

/// The sweeps of measure_sources.hpp where a host's thread goes through many runs: it puts them
/// together in batches.
namespace kastor::detail {

/// Goes through a worker's share of the runs.
template <class T, class Exec>
class BatchesOfRuns {
 public:
  explicit BatchesOfRuns(const BandRuns<T, Exec>& band) : m_band(band) {}

  /// Calls `visit(i, run)` for the runs that are part of a component.
  template <class Visit>
  void for_each_run(std::int64_t worker, const Visit& visit) const {
    const MeasuredRuns runs = m_band.runs;  // or they would be read again for every run
    const RunLoop<Exec> share = m_band.loop(worker);
    for (std::int64_t i = share.first; i < share.past; ++i) {
      if (runs.label[i] != 0) visit(i, runs.run(i));
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
  HostLevel m_level = best_host_level();
};

template <class T, class Exec>
class ExtentsOnHost : BatchesOfRuns<T, Exec> {
 public:
  using Sweep = FindExtents<T, Exec>;
  ExtentsOnHost(const BandRuns<T, Exec>& band, const typename Sweep::Add& add)
      : BatchesOfRuns<T, Exec>(band), m_sums(add) {}

  void sweep(std::int64_t worker) {
    this->for_each_run(worker, [this](std::int64_t i, const Run& run) {
      this->add_to(m_batch, i, run);
      if (m_batch.used == m_batch.most) finish_batch();
    });
    finish_batch();
    m_sums.flush();
  }

 private:
  struct Batch : ExtremesOfRuns<T> {
    std::int64_t run[RunBatch<T>::most];
  };
  void finish_batch() {
    extremes_on_host(this->m_level, m_batch);
    for (int r = 0; r < m_batch.used; ++r)
      this->m_band.highest[m_batch.run[r]] = m_batch.highest[r];
    this->take_all(m_batch, m_sums, [this](int r) {
      return Sweep::part(this->m_band.runs.run(m_batch.run[r]), m_batch.lowest[r],
                         m_batch.highest[r]);
    });
  }

  SetSums<typename Sweep::Part, typename Sweep::Add> m_sums;
  Batch m_batch;
};

template <class T, class Exec>
class SumsOnHost : BatchesOfRuns<T, Exec> {
 public:
  using Sweep = SumRuns<T, Exec>;
  SumsOnHost(const BandRuns<T, Exec>& band, const typename Sweep::Add& add)
      : BatchesOfRuns<T, Exec>(band), m_sums(add) {}

  void sweep(std::int64_t worker) {
    this->for_each_run(worker, [this](std::int64_t i, const Run& run) {
      take(run.end - run.begin < long_run ? m_short : m_long, i, run);
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

  void take(Batch& batch, std::int64_t i, const Run& run) {
    const int r = this->add_to(batch, i, run);
    if (batch.label[r] != run.label) set_grid(batch, r, run.label);
    batch.x[r] = run.begin - batch.x_min[r];
    batch.y[r] = run.row - batch.y_min[r];
    if (batch.used == batch.most) finish(batch);
  }
  void set_grid(Batch& batch, int r, std::uint32_t label) const {
    const Component<T>& c = this->m_band.components[label - 1];
    batch.label[r] = label;
    batch.x_min[r] = c.x_min;
    batch.y_min[r] = this->m_band.runs.y_min(label - 1);
    const ComponentGrid<T> grid(c, batch.y_min[r]);
    const int half = -grid.pixel / 2;
    batch.scale[r] = power_of_two(half);
    batch.scale_more[r] = power_of_two(-grid.pixel - half);
    batch.peak[r] = value_of<T>(c.peak);
    batch.flux_per_unit[r] = WideSum::per_unit(grid.flux_bits);
    batch.x_per_unit[r] = WideSum::per_unit(grid.x_bits);
    batch.y_per_unit[r] = WideSum::per_unit(grid.y_bits);
  }
  void finish(Batch& batch) {
    sum_runs_on_host(this->m_level, batch);
    this->take_all(batch, m_sums, [this, &batch](int r) {
      return typename Sweep::Part{WideSum::of_units(batch.flux[r]),
                                  WideSum::of_units(batch.x_moment[r]),
                                  WideSum::of_units(batch.y_moment[r]), peak_in(batch, r)};
    });
  }
  /// Not looked for where it was found before already: all pixels may be equal.
  [[nodiscard]] std::uint64_t peak_in(const Batch& batch, int r) {
    constexpr auto none = ~std::uint64_t{0};
    if (this->m_band.highest[batch.run[r]] != batch.peak[r]) return none;
    const Run run = this->m_band.runs.run(batch.run[r]);
    if (m_label_of_peak == run.label && m_peak_at < RasterPlace::of(run.row, run.begin))
      return none;
    const std::int64_t place =
        find_on_host(this->m_level, batch.peak[r], batch.pixels[r], batch.n[r]);
    m_label_of_peak = run.label;
    return m_peak_at = RasterPlace::of(run.row, run.begin + static_cast<std::int32_t>(place));
  }

  SetSums<typename Sweep::Part, typename Sweep::Add> m_sums;
  Batch m_short, m_long;  ///< side by side, runs should be of about the same length
  std::uint32_t m_label_of_peak = 0;
  std::uint64_t m_peak_at = 0;
};

}  // namespace kastor::detail

#endif

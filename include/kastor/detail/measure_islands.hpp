// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_ISLANDS_HPP
#define KASTOR_DETAIL_MEASURE_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/fine_sum.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/make_rows.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/pixels_of_runs.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/share_adder.hpp>
#include <kastor/detail/usable_pixels.hpp>
#include <kastor/island.hpp>
#include <kastor/pixel_map.hpp>
#include <span>

/// The figures of islands, in three sweeps over their runs: extents and largest numbers, which set
/// the grids; sums, and where the peak is; moments about the peak.
namespace kastor::detail {

/// Numbers >= 0 have the order of their bits.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t bits_of_magnitude(double x) {
  return Kokkos::bit_cast<std::uint64_t>(x);
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION double magnitude_of(std::uint64_t bits) {
  return Kokkos::bit_cast<double>(bits);
}
KOKKOS_INLINE_FUNCTION void raise(std::uint64_t& most, double x) {
  const std::uint64_t bits = bits_of_magnitude(x);
  most = bits > most ? bits : most;
}

/// Largest numbers of an island, as bits_of_magnitude.
struct IslandMost {
  std::uint64_t deviation, value, level, rms, snr;

  KOKKOS_FUNCTION void join(const IslandMost& other) {
    deviation = other.deviation > deviation ? other.deviation : deviation;
    value = other.value > value ? other.value : value;
    level = other.level > level ? other.level : level;
    rms = other.rms > rms ? other.rms : rms;
    snr = other.snr > snr ? other.snr : snr;
  }
};

/// What is added up for an island before it becomes a row. Empty between two calls: who makes the
/// row empties it.
struct IslandSums : RunExtents {
  std::uint32_t flags;
  std::uint32_t is_shared;  ///< hosts: not 0 if several workers add to it, see ShareAdder
  IslandMost most;
  std::uint64_t peak_at;
  FineSum flux, raw, level, squared_rms;
  FineSum x, y, xx, xy, yy;  ///< of the deviations, about the peak

  [[nodiscard]] KOKKOS_FUNCTION static IslandSums empty() {
    IslandSums sums{};
    static_cast<RunExtents&>(sums) = RunExtents::none();
    sums.peak_at = ~std::uint64_t{0};
    return sums;
  }
  /// Deviations of an island are > 0, so that all sums exist if the largest does.
  [[nodiscard]] KOKKOS_FUNCTION bool finite() const {
    return Kokkos::isfinite(magnitude_of(most.deviation));
  }
};

template <class Exec>
struct ClearIslands {
  IslandSums* islands;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { islands[i] = IslandSums::empty(); }
};

/// What all sweeps share. `AllKept`: they need the maps of no pixel; for devices, since code that
/// is hardly ever needed costs them registers.
template <class T, class Exec, bool AllKept>
struct IslandRuns {
  RunsOfBands<T, Exec> runs;
  IslandSums* islands;
  Background<Exec, T> background;
  Side side;
  std::int64_t ny;
  UsablePixels usable;
  KeptPixels kept;

  [[nodiscard]] KOKKOS_FUNCTION ShareAdder<IslandSums, Exec> adder_of(std::int64_t worker) const {
    if constexpr (is_host_space_v<Exec>) {
      return {runs, worker, islands};
    } else {
      return {runs.adder};
    }
  }
  /// Adds up what `part_of(run, pixels)` says of the runs of a worker.
  template <class Part, class Add, class PartOf>
  KOKKOS_FUNCTION void gather(std::int64_t worker, const Add& add, const PartOf& part_of) const {
    if constexpr (AllKept) {
      runs.template gather<Part>(
          worker, add, [&](const Run& run) { return part_of(run, PixelsOfWords(run, kept)); });
    } else {
      runs.template gather<Part>(worker, add, [&](const Run& run) {
        const KeptPixel* const here = kept.of(run);
        if (here != nullptr) return part_of(run, PixelsKept(run, here));
        if constexpr (is_host_space_v<Exec>) {
          return part_from_maps<Part>(run, part_of);
        } else {
          return part_of(run, pixels_of(run));
        }
      });
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION PixelsOfRun<Exec, T> pixels_of(const Run& run) const {
    return {runs.row_of(run.row), background, run};
  }
  /// Hosts: out of the way of what is common.
  template <class Part, class PartOf>
  [[gnu::noinline]] KOKKOS_FUNCTION Part part_from_maps(const Run& run,
                                                        const PartOf& part_of) const {
    return part_of(run, pixels_of(run));
  }
};

template <class T, class Exec, bool AllKept>
struct FindIslandExtents {
  IslandRuns<T, Exec, AllKept> of;

  struct Part : RunExtents {
    std::uint32_t flags;
    IslandMost most;
    KOKKOS_FUNCTION void join(const Part& other) {
      RunExtents::join(other);
      flags |= other.flags;
      most.join(other.most);
    }
  };
  struct Add {
    IslandSums* islands;
    ShareAdder<IslandSums, Exec> by_share;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      IslandSums& sums = islands[label - 1];
      const Adder<Exec> adder = by_share.of(label);
      part.add_to(sums, adder);
      if (part.flags != 0) adder.mark(&sums.flags, part.flags);
      adder.raise(&sums.most.deviation, part.most.deviation);
      adder.raise(&sums.most.value, part.most.value);
      adder.raise(&sums.most.level, part.most.level);
      adder.raise(&sums.most.rms, part.most.rms);
      adder.raise(&sums.most.snr, part.most.snr);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    if (worker == 0 && of.kept.taken_on_host != nullptr) *of.kept.taken_on_host = *of.kept.taken;
    const Add add{of.islands, of.adder_of(worker)};
    if constexpr (is_host_space_v<Exec>) add.by_share.find_shared();
    of.template gather<Part>(worker, add, [this](const Run& run, const auto& pixels) {
      return this->part_of(run, pixels);
    });
  }

  template <class Pixels>
  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run, const Pixels& pixels) const {
    IslandMost most{};
    pixels.for_each([&](std::int32_t, double value, double sky, double noise) {
      const double up = deviation(of.side, value, sky);
      raise(most.deviation, up);
      raise(most.value, Kokkos::fabs(value));
      raise(most.level, Kokkos::fabs(sky));
      raise(most.rms, noise);
      raise(most.snr, up / noise);
    });
    return {RunExtents::of(run.begin, run.end, run.row), flags_of(run.row, run.begin, run.end),
            most};
  }

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t flags_of(std::int64_t y, std::int64_t begin,
                                                       std::int64_t end) const {
    const std::int64_t nx = of.runs.runs.nx;
    const bool at_edge = begin == 0 || end == nx || y == 0 || y == of.ny - 1;
    const std::int64_t left = begin > 0 ? begin - 1 : 0;
    const std::int64_t right = end < nx ? end + 1 : nx;
    const std::int64_t below = y + 1 < of.ny ? y + 1 : y;
    bool near_blank = false;
    for (std::int64_t row = y > 0 ? y - 1 : 0; row <= below; ++row)
      near_blank |= of.usable.lacks_one(row, left, right);
    return (at_edge ? island_at_edge : 0U) | (near_blank ? island_near_blank : 0U);
  }
};

/// A number scaled by a power of two so that it lies in (-1, 1), in two exact steps.
struct UnitScale {
  int exponent;
  double first, second;

  KOKKOS_FUNCTION explicit UnitScale(std::uint64_t most)
      : exponent(exponent_above(magnitude_of(most))),
        first(power_of_two(-exponent / 2)),
        second(power_of_two(-exponent - -exponent / 2)) {}
  [[nodiscard]] KOKKOS_FUNCTION double operator()(double x) const { return x * first * second; }
};

template <class T, class Exec, bool AllKept>
struct SumIslands {
  IslandRuns<T, Exec, AllKept> of;

  struct Part {
    FineSum flux, raw, level, squared_rms;
    std::uint64_t peak_at;
    KOKKOS_FUNCTION void join(const Part& other) {
      flux.join(other.flux);
      raw.join(other.raw);
      level.join(other.level);
      squared_rms.join(other.squared_rms);
      peak_at = other.peak_at < peak_at ? other.peak_at : peak_at;
    }
  };
  struct Add {
    IslandSums* islands;
    ShareAdder<IslandSums, Exec> by_share;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      IslandSums& sums = islands[label - 1];
      const Adder<Exec> adder = by_share.of(label);
      part.flux.add_to(sums.flux, adder);
      part.raw.add_to(sums.raw, adder);
      part.level.add_to(sums.level, adder);
      part.squared_rms.add_to(sums.squared_rms, adder);
      if (part.peak_at != ~std::uint64_t{0}) adder.lower(&sums.peak_at, part.peak_at);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{of.islands, of.adder_of(worker)};
    of.template gather<Part>(worker, add, [this](const Run& run, const auto& pixels) {
      return part_of(run, pixels, of.islands[run.label - 1]);
    });
  }

  template <class Pixels>
  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run, const Pixels& pixels,
                                             const IslandSums& sums) const {
    const bool finite = sums.finite();
    const double peak = magnitude_of(sums.most.deviation);
    const UnitScale of_flux(sums.most.deviation);
    const UnitScale of_value(sums.most.value);
    const UnitScale of_level(sums.most.level);
    const UnitScale of_rms(sums.most.rms);
    double flux = 0;
    double raw = 0;
    double level = 0;
    double squared_rms = 0;
    std::int32_t peak_x = -1;
    pixels.for_each([&](std::int32_t x, double value, double sky, double rms) {
      const double noise = of_rms(rms);
      const double up = deviation(of.side, value, sky);
      if (up == peak && peak_x < 0) peak_x = x;
      flux += finite ? of_flux(up) : 0;
      raw += of_value(value);
      level += of_level(sky);
      squared_rms += noise * noise;
    });
    const int bits = bits_of(sums.longest_run);
    const std::uint64_t peak_at = peak_x < 0 ? ~std::uint64_t{0} : RasterPlace::of(run.row, peak_x);
    return {FineSum::of(flux, bits), FineSum::of(raw, bits), FineSum::of(level, bits),
            FineSum::of(squared_rms, bits), peak_at};
  }
};

/// Where an island's peak is, and the grids of its moments about it: a pixel is less than
/// 2^x_bits columns and 2^y_bits rows away.
struct AboutPeak {
  std::int32_t x, y;
  int bits, x_bits, y_bits;

  KOKKOS_FUNCTION AboutPeak(const IslandSums& sums, std::int32_t y_min)
      : x(RasterPlace::x(sums.peak_at)),
        y(RasterPlace::y(sums.peak_at)),
        bits(bits_of(sums.longest_run)),
        x_bits(bits_of(sums.x_max - x > x - sums.x_min ? sums.x_max - x : x - sums.x_min)),
        y_bits(bits_of(sums.y_max - y > y - y_min ? sums.y_max - y : y - y_min)) {}
};

template <class T, class Exec, bool AllKept>
struct SumIslandMoments {
  IslandRuns<T, Exec, AllKept> of;

  struct Part {
    FineSum x, y, xx, xy, yy;
    KOKKOS_FUNCTION void join(const Part& other) {
      x.join(other.x);
      y.join(other.y);
      xx.join(other.xx);
      xy.join(other.xy);
      yy.join(other.yy);
    }
  };
  struct Add {
    IslandSums* islands;
    ShareAdder<IslandSums, Exec> by_share;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      IslandSums& sums = islands[label - 1];
      const Adder<Exec> adder = by_share.of(label);
      part.x.add_to(sums.x, adder);
      part.y.add_to(sums.y, adder);
      part.xx.add_to(sums.xx, adder);
      part.xy.add_to(sums.xy, adder);
      part.yy.add_to(sums.yy, adder);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{of.islands, of.adder_of(worker)};
    of.template gather<Part>(worker, add, [this](const Run& run, const auto& pixels) {
      return part_of(run, pixels, of.islands[run.label - 1], of.runs.runs.y_min(run.label - 1));
    });
  }

  template <class Pixels>
  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const Run& run, const Pixels& pixels,
                                             const IslandSums& sums, std::int32_t y_min) const {
    if (!sums.finite()) return Part{};
    const AboutPeak about(sums, y_min);
    const UnitScale of_flux(sums.most.deviation);
    double flux = 0;
    double along_x = 0;
    double along_xx = 0;
    pixels.for_each_without_noise([&](std::int32_t x, double value, double sky) {
      const double up = of_flux(deviation(of.side, value, sky));
      const auto dx = static_cast<double>(x - about.x);
      flux += up;
      along_x += up * dx;
      along_xx += up * dx * dx;
    });
    const auto dy = static_cast<double>(run.row - about.y);
    return {FineSum::of(along_x, about.bits + about.x_bits),
            FineSum::of(flux * dy, about.bits + about.y_bits),
            FineSum::of(along_xx, about.bits + 2 * about.x_bits),
            FineSum::of(along_x * dy, about.bits + about.x_bits + about.y_bits),
            FineSum::of(flux * dy * dy, about.bits + 2 * about.y_bits)};
  }
};

template <class T, class Exec>
struct MakeIslands {
  using Row = Island;
  MeasuredRuns runs;
  IslandSums* islands;
  Row* rows;
  Background<Exec, T> background;
  KeptPixels kept;
  Side side;

  /// Empties the sums for the next call.
  [[nodiscard]] KOKKOS_FUNCTION Row take_row(std::int64_t i) const {
    const IslandSums sums = islands[i];
    islands[i] = IslandSums::empty();
    const AboutPeak about(sums, runs.y_min(i));
    Row row{};
    row.id = i + 1;
    row.n_pix = sums.n_pix;
    row.x_min = sums.x_min;
    row.x_max = sums.x_max;
    row.y_min = runs.y_min(i);
    row.y_max = sums.y_max;
    row.x_peak = about.x;
    row.y_peak = about.y;
    row.flags = sums.flags | (side == Side::below ? island_negative : 0U);
    measure_fluxes(sums, about, row);
    measure_shape(sums, about, row);
    return row;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static double nan() {
    return Kokkos::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
  }
  [[nodiscard]] KOKKOS_FUNCTION static double checked(double figure, Row& row) {
    if (Kokkos::isfinite(figure)) return figure;
    row.flags |= island_overflow;
    return nan();
  }

  KOKKOS_FUNCTION void measure_fluxes(const IslandSums& sums, const AboutPeak& about,
                                      Row& row) const {
    const double sign = side == Side::above ? 1 : -1;
    const auto n = static_cast<double>(sums.n_pix);
    const auto total = [&](const FineSum& sum, std::uint64_t most) {
      return scale_by_power_of_two(sum.total(about.bits), exponent_above(magnitude_of(most)));
    };
    const int rms_exponent = exponent_above(magnitude_of(sums.most.rms));
    row.flux_peak = checked(sign * magnitude_of(sums.most.deviation), row);
    row.flux_sum =
        sums.finite() ? checked(sign * total(sums.flux, sums.most.deviation), row) : nan();
    row.raw_sum = checked(total(sums.raw, sums.most.value), row);
    row.snr_peak = checked(magnitude_of(sums.most.snr), row);
    // Divided before it is scaled: a mean never overflows.
    row.background = scale_by_power_of_two(sums.level.total(about.bits) / n,
                                           exponent_above(magnitude_of(sums.most.level)));
    row.rms =
        scale_by_power_of_two(Kokkos::sqrt(sums.squared_rms.total(about.bits) / n), rms_exponent);
    const KeptPixel* const peak = kept.at(about.y, about.x);
    row.rms_at_peak = peak != nullptr ? peak->noise : background.rms(about.y, about.x);
    row.background_at_peak = peak != nullptr ? peak->sky : background.level(about.y, about.x);
  }

  KOKKOS_FUNCTION void measure_shape(const IslandSums& sums, const AboutPeak& about,
                                     Row& row) const {
    row.x_cen = row.y_cen = row.var_xx = row.var_xy = row.var_yy = nan();
    const double flux = sums.flux.total(about.bits);
    if (!sums.finite() || !(flux > 0)) {
      row.flags |= island_no_centre | island_no_shape;
      return;
    }
    const int bits = about.bits;
    const double x = sums.x.total(bits + about.x_bits) / flux;
    const double y = sums.y.total(bits + about.y_bits) / flux;
    const double xx = sums.xx.total(bits + 2 * about.x_bits) / flux - x * x;
    const double yy = sums.yy.total(bits + 2 * about.y_bits) / flux - y * y;
    row.x_cen = static_cast<double>(about.x) + x;
    row.y_cen = static_cast<double>(about.y) + y;
    row.var_xx = xx > 0 ? xx : 0;
    row.var_yy = yy > 0 ? yy : 0;
    row.var_xy = sums.xy.total(bits + about.x_bits + about.y_bits) / flux - x * y;
    // Pixels on a line, in any direction: but for roundings, the determinant is 0.
    const double product = row.var_xx * row.var_yy;
    if (!(product - row.var_xy * row.var_xy > 1e-12 * product)) row.flags |= island_no_shape;
  }
};

/// From labels to rows on the host, without a fence: `enqueue`, and after a fence `finish`, as
/// Measurer. `all_kept`: a device relies on it that all pixels were kept; if they were not, nothing
/// is measured.
template <class Exec, Real T>
class IslandMeasurer {
  using Policy = IndexRange<Exec>;

 public:
  IslandMeasurer(const Exec& space, Side side) : m_space(space), m_side(side) {}

  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const UsablePixels& usable, const KeptPixels& kept, const RunLabels<Exec>& labels,
               const LabelCounts* counts, const std::uint32_t* labelled, bool all_kept) {
    const Kokkos::Profiling::ScopedRegion region("kastor::islands::measure");
    m_most = std::max({m_most, std::int64_t{4096}, labels.ny * labels.nx / 8192});
    reserve_islands();
    grow(m_rows, m_space, "kastor::islands::rows", m_most);
    MeasuredRuns runs = runs_of(labels, counts, m_most);
    if (all_kept) runs.needs = kept.need();
    runs.labelled = labelled;
    const std::int64_t per_row = labels.mask.words_per_row();
    const std::int64_t workers = measuring_workers(m_space, runs.run_capacity);
    const auto sweep =
        [&]<bool AllKept, template <class, class, bool> class Measure>(const char* label) {
          for_each_group_of_bands<T, Exec>(
              bands, runs, per_row, workers, [&](const RunsOfBands<T, Exec>& some) {
                const IslandRuns<T, Exec, AllKept> of{
                    some, m_islands.data(), background, m_side, labels.ny, usable, kept};
                enqueue_range<Policy>(m_space, label, some.workers, Measure<T, Exec, AllKept>{of});
              });
        };
    const auto sweeps = [&]<bool AllKept>() {
      sweep.template operator()<AllKept, FindIslandExtents>("kastor::islands::find_extents");
      sweep.template operator()<AllKept, SumIslands>("kastor::islands::sum_runs");
      sweep.template operator()<AllKept, SumIslandMoments>("kastor::islands::sum_moments");
    };
    if constexpr (!is_host_space_v<Exec>) {
      if (all_kept) sweeps.template operator()<true>();
    }
    if (is_host_space_v<Exec> || !all_kept) sweeps.template operator()<false>();
    enqueue_rows(
        m_space, "kastor::islands::make_rows", m_most,
        MakeIslands<T, Exec>{runs, m_islands.data(), m_rows.data(), background, kept, m_side});
  }

  /// `before`: islands with lower ids. False: there were more islands than there was room for,
  /// which is now larger.
  [[nodiscard]] bool finish(std::int64_t islands, std::int64_t before) {
    if (islands > m_most) {
      m_most = islands + islands / 8;
      return false;
    }
    if (before != 0) {
      for (std::int64_t i = 0; i < islands; ++i) m_rows(i).id += before;
    }
    m_found = std::span<const Island>(m_rows.data(), static_cast<std::size_t>(islands));
    return true;
  }
  [[nodiscard]] std::span<const Island> rows() const { return m_found; }

 private:
  void reserve_islands() {
    if (static_cast<std::int64_t>(m_islands.extent(0)) >= m_most) return;
    grow(m_islands, m_space, "kastor::islands::sums", m_most);
    Kokkos::parallel_for("kastor::islands::clear", Policy(m_space, 0, m_most),
                         ClearIslands<Exec>{m_islands.data()});
  }

  Exec m_space;
  Side m_side;
  Kokkos::View<IslandSums*, typename Exec::memory_space> m_islands;
  Kokkos::View<Island*, HostReadable<Exec>> m_rows;
  std::int64_t m_most = 0;  ///< islands that there is room for
  std::span<const Island> m_found;
};

}  // namespace kastor::detail

#endif

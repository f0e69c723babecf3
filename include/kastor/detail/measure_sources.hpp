// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_SOURCES_HPP
#define KASTOR_DETAIL_MEASURE_SOURCES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/catalogue.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/found_stretches.hpp>
#include <kastor/detail/found_sums.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/pixels_of_lanes.hpp>
#include <kastor/detail/seen_runs.hpp>
#include <kastor/detail/share_adder.hpp>
#include <type_traits>

/// The two sweeps over the runs of components, and their rows.
namespace kastor::detail {

template <class T, class Exec>
class ExtentsOnHost;
template <class T, class Exec>
class SumsOnHost;

/// A sum of terms |t| < 2^bits as integers of 2^(bits - 62), in two halves that cannot overflow
/// with fewer than 2^32 terms.
struct WideSum {
  std::int64_t high;
  std::uint64_t low;

  /// For bits up to 64. Terms so small that the product is not exact round to 0.
  [[nodiscard]] KOKKOS_FUNCTION static WideSum of(double term, int bits) {
    return of_units(whole_floor_of(term * per_unit(bits) + 0.5));
  }
  [[nodiscard]] KOKKOS_FUNCTION static WideSum of_units(std::int64_t n) {
    return {n >> 32, static_cast<std::uint64_t>(n) & 0xffffffffU};
  }
  /// Of a whole number below 2^94 in size.
  [[nodiscard]] static WideSum of_whole(double units) {
    const double high = floor_of(units * power_of_two(-32));
    return {static_cast<std::int64_t>(high),
            static_cast<std::uint64_t>(units - high * power_of_two(32))};
  }
  /// A term times this, which is exact unless it is tiny, is in units.
  [[nodiscard]] KOKKOS_FUNCTION static double per_unit(int bits) { return power_of_two(62 - bits); }
  KOKKOS_FUNCTION void join(const WideSum& other) {
    high += other.high;
    low += other.low;
  }
  template <class Exec>
  KOKKOS_FUNCTION void add_to(WideSum& total, const Adder<Exec>& adder) const {
    adder.add(&total.high, high);
    adder.add(&total.low, low);
  }
  [[nodiscard]] KOKKOS_FUNCTION double total(int bits) const {
    Int128 sum;
    sum.low = static_cast<std::uint64_t>(high) << 32;
    sum.high = high >> 32;
    Int128 rest;
    rest.low = low;
    sum += rest;
    return scale_by_power_of_two(sum.to_double(), bits - 62);
  }
};

/// What is added up for a component before it becomes a row. Empty between two calls: who makes the
/// row empties it.
template <class T>
struct Component : RunExtents {
  Key<T> peak;       ///< key of the largest pixel
  Key<T> magnitude;  ///< key of the largest |pixel|, unless that is the peak
  std::uint64_t peak_at;
  WideSum flux;
  WideSum x_moment;
  WideSum y_moment;
  std::uint32_t runs_left;  ///< devices: of those counted, so many are still to be added up
  std::uint32_t is_shared;  ///< hosts: not 0 if several workers add to it, see ShareAdder

  [[nodiscard]] KOKKOS_FUNCTION static Component empty() {
    Component c{};
    static_cast<RunExtents&>(c) = RunExtents::none();
    c.peak_at = ~std::uint64_t{0};
    return c;
  }
};

template <class T, class Exec>
struct ClearComponents {
  Component<T>* components;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const { components[c] = Component<T>::empty(); }
};

/// What one sweep leaves for later: on hosts only, for kernels of devices should have few
/// arguments.
template <class T, bool OnHost>
struct LeftForSums {};
template <class T>
struct LeftForSums<T, true> {
  T* highest;  ///< pixel of every run that is summed for itself, or one that none of it exceeds
  FoundStretches<T> stretches;
  FoundSums<T>* sums;  ///< of every long run that is summed for itself; null: they are not found
};

template <class T, class Exec>
struct BandRuns : RunsOfBands<T, Exec> {
  Component<T>* components;
  LeftForSums<T, is_host_space_v<Exec>> left;
};

/// -0 counts as +0.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T plain_zero(T x) {
  return x == T{0} ? T{0} : x;
}

/// First sweep: extents and the largest pixels, all of them order-free. Devices count the runs as
/// well.
template <class T, class Exec>
struct FindExtents {
  BandRuns<T, Exec> band;

  struct Part : RunExtents {
    Key<T> peak, magnitude;

    [[nodiscard]] KOKKOS_FUNCTION static Part none() { return {RunExtents::none(), 0, 0}; }
    KOKKOS_FUNCTION void join(const Part& other) {
      RunExtents::join(other);
      peak = other.peak > peak ? other.peak : peak;
      magnitude = other.magnitude > magnitude ? other.magnitude : magnitude;
    }
  };
  struct Add {
    Component<T>* components;
    ShareAdder<Component<T>, Exec> by_share;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      Component<T>& c = components[label - 1];
      const Adder<Exec> adder = by_share.of(label);
      part.add_to(c, adder);
      adder.raise(&c.peak, part.peak);
      if (part.magnitude != part.peak) adder.raise(&c.magnitude, part.magnitude);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    if constexpr (is_host_space_v<Exec>) {
      KOKKOS_IF_ON_HOST((const Add add{band.components, {band, worker, band.components}};
                         add.by_share.find_shared();
                         ExtentsOnHost<T, Exec>(band, add).sweep(worker);))
    } else {
      Adder<Exec> adder = band.adder;
      adder.looks_first = band.has_many_runs();
      const Add add{band.components, {adder}};
      const auto tell = [this](std::uint32_t label, std::uint32_t n) {
        Kokkos::atomic_add(&band.components[label - 1].runs_left, n);
      };
      SeenRuns seen;
      if (band.runs.are_long()) {
        band.template gather_pieces<Part>(worker, add, [&](const Run& run, const RunPiece& piece) {
          if (piece.which == 0) seen.see(run.label, tell);
          return of_piece(run, band.row_of(run.row), piece);
        });
      } else {
        band.template gather<Part>(worker, add, [&](const Run& run) {
          seen.see(run.label, tell);
          return of(run, band.row_of(run.row));
        });
      }
      seen.flush(tell);
    }
  }

  [[nodiscard]] KOKKOS_FUNCTION static Part part(const Run& run, T lowest, T highest) {
    const T peak = plain_zero(highest);
    const T magnitude = -lowest > peak ? -lowest : plain_zero(peak);
    return {RunExtents::of(run.begin, run.end, run.row), key_of(peak), key_of(magnitude)};
  }

  [[nodiscard]] KOKKOS_FUNCTION static Part of(const Run& run, const T* pixels) {
    Extremes found(pixels[run.begin]);
    visit_short_run(pixels, run.begin + 1, run.end,
                    [&](std::int32_t, T pixel) { found.take(pixel); });
    return part(run, found.lowest, found.highest);
  }
  /// Of the first piece the extents are the run's.
  [[nodiscard]] KOKKOS_FUNCTION static Part of_piece(const Run& run, const T* pixels,
                                                     const RunPiece& piece) {
    Extremes found(pixels[run.begin]);
    visit_piece(pixels, run.begin, run.end, piece,
                [&](std::int32_t, T pixel) { found.take(pixel); });
    Part of_run = part(run, found.lowest, found.highest);
    if (piece.which > 0) static_cast<RunExtents&>(of_run) = RunExtents::none();
    return of_run;
  }

 private:
  struct Extremes {
    T lowest, highest;
    KOKKOS_FUNCTION explicit Extremes(T first) : lowest(first), highest(first) {}
    KOKKOS_FUNCTION void take(T pixel) {
      highest = pixel > highest ? pixel : highest;
      lowest = pixel < lowest ? pixel : lowest;
    }
  };
};

/// How a component's terms are scaled: pixels by 2^-pixel, so that they lie in [-1, 1], their sums
/// on grids of these bits.
template <class T>
struct ComponentGrid {
  int pixel;
  int flux_bits;
  int x_bits;
  int y_bits;

  KOKKOS_FUNCTION ComponentGrid(const Component<T>& c, std::int32_t y_min)
      : pixel(exponent_above(
            static_cast<double>(value_of<T>(c.peak > c.magnitude ? c.peak : c.magnitude)))),
        flux_bits(bits_of(c.longest_run)),
        x_bits(flux_bits + bits_of(c.x_max - c.x_min)),
        y_bits(flux_bits + bits_of(c.y_max - y_min)) {}
};

/// Pixels times 2^exponent, where that is about 1 for the largest of them: of floats by one
/// product, for their exponents are so small that the power is a double.
template <class T>
class PixelScale {
 public:
  KOKKOS_FUNCTION explicit PixelScale(int exponent)
      : m_first(power_of_two(first_of(exponent))),
        m_second(power_of_two(exponent - first_of(exponent))) {}
  [[nodiscard]] KOKKOS_FUNCTION double operator()(T pixel) const {
    const double scaled = static_cast<double>(pixel) * m_first;
    return is_one_product ? scaled : scaled * m_second;
  }

 private:
  static constexpr bool is_one_product = sizeof(T) == sizeof(float);
  [[nodiscard]] KOKKOS_FUNCTION static int first_of(int exponent) {
    return is_one_product ? exponent : exponent / 2;
  }

  double m_first, m_second;
};

/// Adds up pixels from left to right, scaled, and each times its distance from a column.
template <class T>
class ScaledSums {
 public:
  static constexpr std::int64_t most_columns = Kokkos::Experimental::finite_max_v<std::int32_t>;

  KOKKOS_FUNCTION ScaledSums(int exponent, std::int32_t distance)
      : m_scale(exponent), m_distance(static_cast<double>(distance)) {}

  KOKKOS_FUNCTION void take(T pixel) {
    const double v = m_scale(pixel);
    m_flux += v;
    m_moment += v * m_distance;
    m_distance += 1;  // in fewer instructions than a conversion
  }
  [[nodiscard]] KOKKOS_FUNCTION double flux() const { return m_flux; }
  [[nodiscard]] KOKKOS_FUNCTION double moment() const { return m_moment; }

 private:
  PixelScale<T> m_scale;
  double m_distance, m_flux = 0, m_moment = 0;
};

/// The same sums of floats, the same bits, with fused products. Both products are exact in a
/// double: of 24 bits and a power of two; of 24 bits and a distance of at most 29.
class FusedSums {
 public:
  static constexpr std::int64_t most_columns = std::int64_t{1} << 29;  ///< of an image

  KOKKOS_FUNCTION FusedSums(int exponent, std::int32_t distance)
      : m_scale(power_of_two(exponent)), m_distance(m_scale * static_cast<double>(distance)) {}

  KOKKOS_FUNCTION void take(float pixel) {
    const auto v = static_cast<double>(pixel);
    m_flux = Kokkos::fma(v, m_scale, m_flux);
    m_moment = Kokkos::fma(v, m_distance, m_moment);
    m_distance += m_scale;
  }
  [[nodiscard]] KOKKOS_FUNCTION double flux() const { return m_flux; }
  [[nodiscard]] KOKKOS_FUNCTION double moment() const { return m_moment; }

 private:
  double m_scale, m_distance;  ///< in units of the scale
  double m_flux = 0, m_moment = 0;
};
template <class T>
using SumsOfLongRun = std::conditional_t<sizeof(T) == sizeof(float), FusedSums, ScaledSums<T>>;

/// What runs add to the sums of a component.
struct SumsPart {
  WideSum flux, x_moment, y_moment;
  std::uint64_t peak_at;

  [[nodiscard]] KOKKOS_FUNCTION static SumsPart none() {
    return {{0, 0}, {0, 0}, {0, 0}, ~std::uint64_t{0}};
  }
  KOKKOS_FUNCTION void join(const SumsPart& other) {
    flux.join(other.flux);
    x_moment.join(other.x_moment);
    y_moment.join(other.y_moment);
    peak_at = other.peak_at < peak_at ? other.peak_at : peak_at;
  }
};

/// What the sums of a run must know of its component.
template <class T>
struct ComponentFrame {
  ComponentGrid<T> grid;
  T peak;
  std::int32_t x_min, y_min;

  KOKKOS_FUNCTION ComponentFrame(const Component<T>& c, std::int32_t first_row)
      : grid(c, first_row), peak(value_of<T>(c.peak)), x_min(c.x_min), y_min(first_row) {}
};

/// Sums and peak of one run; takes its pixels from left to right.
template <class T, class Sums>
class RunSums {
 public:
  KOKKOS_FUNCTION RunSums(const Run& run, const ComponentFrame<T>& frame)
      : m_grid(frame.grid),
        m_peak(frame.peak),
        m_y(run.row),
        m_y_distance(run.row - frame.y_min),
        m_sums(-m_grid.pixel, run.begin - frame.x_min) {}

  KOKKOS_FUNCTION void take(std::int32_t x, T pixel) {
    m_sums.take(pixel);
    m_peak_x = m_peak_x < 0 && pixel == m_peak ? x : m_peak_x;
  }
  /// Several side by side. Of those with the peak `settle` finds which it is.
  KOKKOS_FUNCTION void take(std::int32_t x, const PixelPack<T>& pack) {
    bool has_peak = false;
    KASTOR_UNROLL
    for (int k = 0; k < pack.size; ++k) {
      m_sums.take(pack.pixel[k]);
      has_peak |= pack.pixel[k] == m_peak;
    }
    m_peak_x = m_peak_x < 0 && has_peak ? x : m_peak_x;
  }
  /// After the last one; with the pixels of its row.
  KOKKOS_FUNCTION void settle(const T* pixels) {
    if (m_peak_x < 0) return;
    while (pixels[m_peak_x] != m_peak) ++m_peak_x;
  }
  [[nodiscard]] KOKKOS_FUNCTION SumsPart part() const {
    const double flux = m_sums.flux();
    return {WideSum::of(flux, m_grid.flux_bits), WideSum::of(m_sums.moment(), m_grid.x_bits),
            WideSum::of(flux * static_cast<double>(m_y_distance), m_grid.y_bits),
            m_peak_x < 0 ? ~std::uint64_t{0} : RasterPlace::of(m_y, m_peak_x)};
  }

 private:
  ComponentGrid<T> m_grid;
  T m_peak;
  std::int32_t m_y, m_y_distance, m_peak_x = -1;
  Sums m_sums;
};

/// Second sweep: the sums, and the first pixel that equals the peak.
template <class T, class Exec>
struct SumRuns {
  BandRuns<T, Exec> band;

  using Part = SumsPart;
  struct Add {
    Component<T>* components;
    ShareAdder<Component<T>, Exec> by_share;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      Component<T>& c = components[label - 1];
      const Adder<Exec> adder = by_share.of(label);
      part.flux.add_to(c.flux, adder);
      part.x_moment.add_to(c.x_moment, adder);
      part.y_moment.add_to(c.y_moment, adder);
      if (part.peak_at != ~std::uint64_t{0}) adder.lower(&c.peak_at, part.peak_at);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    if constexpr (is_host_space_v<Exec>) {
      KOKKOS_IF_ON_HOST((const Add add{band.components, {band, worker, band.components}};
                         SumsOnHost<T, Exec>(band, add).sweep(worker);))
    } else {
      const Add add{band.components, {band.adder}};
      // The last run's component is this one's, as a rule, where there are many.
      std::uint32_t known = 0;
      ComponentFrame<T> frame(Component<T>{}, 0);
      band.template gather<Part>(worker, add, [&](const Run& run) {
        if (run.label != known) {
          known = run.label;
          frame = frame_of(known);
        }
        return of(run, band.row_of(run.row), frame);
      });
    }
  }
#ifdef __CUDA_ARCH__
  /// The same by the lanes of a warp together, of long runs.
  __device__ void sum_together(std::int64_t worker, const PixelsOfLanes<T>& pixels_of_lanes) const {
    const Add add{band.components, {band.adder}};
    band.template gather_together<Part>(worker, add, [&](const Run& run) {
      RunSums<T, SumsOfLongRun<T>> sums(run, frame_of(run.label));
      const T* const pixels = band.row_of(run.row);
      pixels_of_lanes.visit(pixels, run.begin, run.end, sums);
      sums.settle(pixels);
      return sums.part();
    });
  }
#endif

  [[nodiscard]] KOKKOS_FUNCTION ComponentFrame<T> frame_of(std::uint32_t label) const {
    return {band.components[label - 1], band.runs.y_min(label - 1)};
  }
  [[nodiscard]] KOKKOS_FUNCTION static Part of(const Run& run, const T* pixels,
                                               const ComponentFrame<T>& frame) {
    RunSums<T, ScaledSums<T>> sums(run, frame);
    visit_run(pixels, run.begin, run.end, [&](std::int32_t x, T pixel) { sums.take(x, pixel); });
    return sums.part();
  }
};

template <class T>
struct MakeRows {
  using Row = Source;
  MeasuredRuns runs;
  Component<T>* components;
  Source* rows;

  /// Empties the component for the next call.
  [[nodiscard]] KOKKOS_FUNCTION Source take_row(std::int64_t i) const {
    const Component<T> c = components[i];
    components[i] = Component<T>::empty();
    return row_of(i, c, runs.y_min(i));
  }
  [[nodiscard]] KOKKOS_FUNCTION static Source row_of(std::int64_t i, const Component<T>& c,
                                                     std::int32_t y_min) {
    const ComponentGrid<T> grid(c, y_min);
    const double flux = c.flux.total(grid.flux_bits);
    const double nan = Kokkos::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
    Source s;
    s.id = i + 1;
    s.x_cen = flux == 0 ? nan : c.x_min + c.x_moment.total(grid.x_bits) / flux;
    s.y_cen = flux == 0 ? nan : y_min + c.y_moment.total(grid.y_bits) / flux;
    s.flux_sum = scale_by_power_of_two(flux, grid.pixel);
    s.flux_peak = static_cast<double>(value_of<T>(c.peak));
    s.x_peak = RasterPlace::x(c.peak_at);
    s.y_peak = RasterPlace::y(c.peak_at);
    s.n_pix = c.n_pix;
    s.x_min = c.x_min;
    s.x_max = c.x_max;
    s.y_min = y_min;
    s.y_max = c.y_max;
    return s;
  }
};

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_IMPL_HPP
#define KASTOR_DETAIL_MEASURE_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/measure.hpp>
#include <limits>
#include <string>

namespace kastor::detail {

/// The smallest b with n < 2^b.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int bits_of(std::int64_t n) {
  return 64 - Kokkos::countl_zero(static_cast<std::uint64_t>(n));
}

/// A sum of terms |t| < 2^bits as integers of 2^(bits - 62), in two halves that cannot overflow
/// with fewer than 2^32 terms.
struct WideSum {
  std::int64_t high;
  std::uint64_t low;

  KOKKOS_FUNCTION void atomic_add(double term, int bits) {
    const auto q =
        static_cast<std::int64_t>(Kokkos::floor(scale_by_power_of_two(term, 62 - bits) + 0.5));
    Kokkos::atomic_add(&high, q >> 32);
    Kokkos::atomic_add(&low, static_cast<std::uint64_t>(q) & 0xffffffffU);
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

/// What is added up for a component before it becomes a row.
template <class T>
struct Component {
  std::int64_t n_pix;
  std::int32_t x_min;
  std::int32_t x_max;
  std::int32_t y_max;
  std::int32_t longest_run;
  Key<T> peak;       ///< key of the largest pixel
  Key<T> magnitude;  ///< key of the largest |pixel|
  std::uint64_t peak_at;
  WideSum flux;
  WideSum x_moment;
  WideSum y_moment;
};

template <class T, class Exec>
using Components = Kokkos::View<Component<T>*, typename Exec::memory_space>;

template <class T, class Exec>
struct ClearComponents {
  Components<T, Exec> components;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    Component<T> empty{};
    constexpr auto beyond_any_column = Kokkos::Experimental::finite_max_v<std::int32_t>;
    empty.x_min = beyond_any_column;
    empty.x_max = empty.y_max = empty.longest_run = -1;
    empty.peak = empty.magnitude = 0;
    empty.peak_at = ~std::uint64_t{0};
    components(c) = empty;
  }
};

/// Rows of one band and the runs in them.
template <class T, class Exec>
struct BandRuns {
  Rows<T> rows;
  std::int64_t first_row;
  RunLabels<Exec> labels;
  Components<T, Exec> components;

  [[nodiscard]] KOKKOS_FUNCTION const T* row_of(std::int64_t run) const {
    return rows.data + (labels.row(run) - first_row) * rows.pitch;
  }
};

/// -0 counts as +0.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T plain_zero(T x) {
  return x == T{0} ? T{0} : x;
}

/// First sweep: extents and the largest pixels, all of them order-free.
template <class T, class Exec>
struct FindExtents {
  BandRuns<T, Exec> band;

  KOKKOS_FUNCTION void operator()(std::int64_t run) const {
    const std::uint32_t label = band.labels.label(run);
    if (label == 0) return;
    const std::int32_t begin = band.labels.begin(run);
    const std::int32_t end = band.labels.end(run);
    const T* pixels = band.row_of(run);
    T peak = pixels[begin];
    T lowest = pixels[begin];
    for (std::int32_t x = begin + 1; x < end; ++x) {
      peak = pixels[x] > peak ? pixels[x] : peak;
      lowest = pixels[x] < lowest ? pixels[x] : lowest;
    }
    peak = plain_zero(peak);
    const T magnitude = -lowest > peak ? -lowest : plain_zero(peak);
    Component<T>& c = band.components(label - 1);
    Kokkos::atomic_add(&c.n_pix, std::int64_t{end} - begin);
    Kokkos::atomic_min(&c.x_min, begin);
    Kokkos::atomic_max(&c.x_max, end - 1);
    Kokkos::atomic_max(&c.y_max, band.labels.row(run));
    Kokkos::atomic_max(&c.longest_run, end - begin);
    Kokkos::atomic_max(&c.peak, key_of(peak));
    Kokkos::atomic_max(&c.magnitude, key_of(magnitude));
  }
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
      : pixel(exponent_above(static_cast<double>(value_of<T>(c.magnitude)))),
        flux_bits(bits_of(c.longest_run)),
        x_bits(flux_bits + bits_of(c.x_max - c.x_min)),
        y_bits(flux_bits + bits_of(c.y_max - y_min)) {}
};

/// Second sweep: the sums, and the first pixel that equals the peak.
template <class T, class Exec>
struct SumRuns {
  BandRuns<T, Exec> band;

  KOKKOS_FUNCTION void operator()(std::int64_t run) const {
    const std::uint32_t label = band.labels.label(run);
    if (label == 0) return;
    const RunLabels<Exec>& labels = band.labels;
    const std::int32_t begin = labels.begin(run);
    const std::int32_t end = labels.end(run);
    const std::int32_t y = labels.row(run);
    const T* pixels = band.row_of(run);
    Component<T>& c = band.components(label - 1);
    const std::int32_t y_min = labels.row(labels.first_run(label - 1));
    const ComponentGrid<T> grid(c, y_min);
    const T peak = value_of<T>(c.peak);
    const int half = -grid.pixel / 2;
    const double scale = power_of_two(half);
    const double scale_more = power_of_two(-grid.pixel - half);
    double flux = 0;
    double x_moment = 0;
    std::int32_t peak_x = -1;
    for (std::int32_t x = end - 1; x >= begin; --x) peak_x = pixels[x] == peak ? x : peak_x;
    for (std::int32_t x = begin; x < end; ++x) {
      const double v = static_cast<double>(pixels[x]) * scale * scale_more;
      flux += v;
      x_moment += v * static_cast<double>(x - c.x_min);
    }
    c.flux.atomic_add(flux, grid.flux_bits);
    c.x_moment.atomic_add(x_moment, grid.x_bits);
    c.y_moment.atomic_add(flux * static_cast<double>(y - y_min), grid.y_bits);
    if (peak_x >= 0) {
      Kokkos::atomic_min(&c.peak_at,
                         static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(labels.nx) +
                             static_cast<std::uint64_t>(peak_x));
    }
  }
};

template <class T, class Exec>
struct MakeRows {
  RunLabels<Exec> labels;
  Components<T, Exec> components;
  Kokkos::View<Source*, typename Exec::memory_space> rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Component<T>& c = components(i);
    const std::int32_t y_min = labels.row(labels.first_run(i));
    const ComponentGrid<T> grid(c, y_min);
    const double flux = c.flux.total(grid.flux_bits);
    const double nan = Kokkos::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
    Source s;
    s.id = i + 1;
    s.x_cen = flux == 0 ? nan : c.x_min + c.x_moment.total(grid.x_bits) / flux;
    s.y_cen = flux == 0 ? nan : y_min + c.y_moment.total(grid.y_bits) / flux;
    s.flux_sum = scale_by_power_of_two(flux, grid.pixel);
    s.flux_peak = static_cast<double>(value_of<T>(c.peak));
    s.x_peak = static_cast<std::int64_t>(c.peak_at % static_cast<std::uint64_t>(labels.nx));
    s.y_peak = static_cast<std::int64_t>(c.peak_at / static_cast<std::uint64_t>(labels.nx));
    s.n_pix = c.n_pix;
    s.x_min = c.x_min;
    s.x_max = c.x_max;
    s.y_min = y_min;
    s.y_max = c.y_max;
    rows(i) = s;
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct Measurer<Exec, T>::Plan {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using SourceRows = Kokkos::View<Source*, typename Exec::memory_space>;

  explicit Plan(const Exec& s) : space(s) {}

  void reserve(std::int64_t wanted) {
    if (static_cast<std::int64_t>(components.extent(0)) >= wanted) return;
    components = {};
    rows = {};
    const auto n = static_cast<std::size_t>(wanted);
    components = detail::Components<T, Exec>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::components"), n);
    rows = SourceRows(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::rows"), n);
  }

  /// Number of runs above a row of the image.
  [[nodiscard]] std::int64_t runs_above(const RunLabels<Exec>& labels, std::int64_t row) const {
    if (row == 0) return 0;
    if (row == labels.ny) return labels.runs;
    std::uint32_t runs = 0;
    Kokkos::deep_copy(space, runs,
                      Kokkos::subview(labels.first_in_word, row * labels.mask.words_per_row()));
    space.fence("kastor::measure::runs_above");
    return runs;
  }

  template <template <class, class> class Sweep>
  void sweep(const std::string& label, Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
    std::int64_t first_row = 0;
    std::int64_t first_run = 0;
    for (const auto& band : bands) {
      const auto band_rows = detail::rows_of<T, Exec>(band);
      const std::int64_t past = runs_above(labels, first_row + band_rows.ny);
      Kokkos::parallel_for(label, Policy(space, first_run, past),
                           Sweep<T, Exec>{{band_rows, first_row, labels, components}});
      first_row += band_rows.ny;
      first_run = past;
    }
  }

  [[nodiscard]] Kokkos::View<const Source*, typename Exec::memory_space> run(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::measure", bands);
    KASTOR_EXPECTS("kastor::measure", shape.ny == labels.ny && shape.nx == labels.nx,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       " pixels; expected " + std::to_string(labels.ny) + " x " +
                       std::to_string(labels.nx) + " as the labels");
    const std::int64_t n = labels.components;
    reserve(n);
    if (n > 0) {
      const Policy all(space, 0, n);
      Kokkos::parallel_for("kastor::measure::clear", all,
                           detail::ClearComponents<T, Exec>{components});
      sweep<detail::FindExtents>("kastor::measure::find_extents", bands, labels);
      sweep<detail::SumRuns>("kastor::measure::sum_runs", bands, labels);
      Kokkos::parallel_for("kastor::measure::make_rows", all,
                           detail::MakeRows<T, Exec>{labels, components, rows});
    }
    return Kokkos::subview(rows, Kokkos::make_pair(std::int64_t{0}, n));
  }

  Exec space;
  detail::Components<T, Exec> components;
  SourceRows rows;
};

template <class Exec, Real T>
Measurer<Exec, T>::Measurer(const Exec& space) : m_plan(std::make_unique<Plan>(space)) {}
template <class Exec, Real T>
Measurer<Exec, T>::~Measurer() = default;
template <class Exec, Real T>
Measurer<Exec, T>::Measurer(Measurer&&) noexcept = default;
template <class Exec, Real T>
Measurer<Exec, T>& Measurer<Exec, T>::operator=(Measurer&&) noexcept = default;

template <class Exec, Real T>
Kokkos::View<const Source*, typename Exec::memory_space> Measurer<Exec, T>::operator()(
    const ConstImage<T, Exec>& image, const RunLabels<Exec>& labels) {
  return m_plan->run(Bands<T, Exec>(&image, 1), labels);
}
template <class Exec, Real T>
Kokkos::View<const Source*, typename Exec::memory_space> Measurer<Exec, T>::operator()(
    Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
  return m_plan->run(bands, labels);
}

template <class Exec>
Catalogue to_host(const Exec& space,
                  const Kokkos::View<const Source*, typename Exec::memory_space>& rows) {
  Catalogue catalogue(rows.extent(0));
  const Kokkos::View<Source*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      catalogue.data(), catalogue.size());
  Kokkos::deep_copy(space, host, rows);
  space.fence("kastor::measure::to_host");
  return catalogue;
}

}  // namespace kastor

#endif

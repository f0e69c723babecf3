// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_IMPL_HPP
#define KASTOR_DETAIL_MEASURE_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/measure.hpp>
#include <span>
#include <string>

namespace kastor::detail {

/// The smallest b with n < 2^b.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int bits_of(std::int64_t n) {
  return 64 - Kokkos::Experimental::countl_zero_builtin(static_cast<std::uint64_t>(n));
}

/// Adds to memory that others add to as well, unless the worker is alone.
template <class Exec>
struct Adder {
  bool alone;

  template <class V>
  KOKKOS_FUNCTION void add(V* at, V value) const {
    if (is_host_space_v<Exec> && alone) {
      *at += value;
    } else {
      Kokkos::atomic_add(at, value);
    }
  }
  /// Sets bits.
  template <class V>
  KOKKOS_FUNCTION void mark(V* at, V bits) const {
    if (is_host_space_v<Exec> && alone) {
      *at |= bits;
    } else {
      Kokkos::atomic_or(at, bits);
    }
  }
  template <class V>
  KOKKOS_FUNCTION void lower(V* at, V value) const {
    if (is_host_space_v<Exec> && alone) {
      *at = value < *at ? value : *at;
    } else {
      Kokkos::atomic_min(at, value);
    }
  }
  template <class V>
  KOKKOS_FUNCTION void raise(V* at, V value) const {
    if (is_host_space_v<Exec> && alone) {
      *at = value > *at ? value : *at;
    } else {
      Kokkos::atomic_max(at, value);
    }
  }
};

/// A sum of terms |t| < 2^bits as integers of 2^(bits - 62), in two halves that cannot overflow
/// with fewer than 2^32 terms.
struct WideSum {
  std::int64_t high;
  std::uint64_t low;

  [[nodiscard]] KOKKOS_FUNCTION static WideSum of(double term, int bits) {
    const auto q =
        static_cast<std::int64_t>(Kokkos::floor(scale_by_power_of_two(term, 62 - bits) + 0.5));
    return {q >> 32, static_cast<std::uint64_t>(q) & 0xffffffffU};
  }
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

  [[nodiscard]] KOKKOS_FUNCTION static Component empty() {
    Component c{};
    c.x_min = Kokkos::Experimental::finite_max_v<std::int32_t>;
    c.x_max = c.y_max = c.longest_run = -1;
    c.peak_at = ~std::uint64_t{0};
    return c;
  }
};

template <class T, class Exec>
struct ClearComponents {
  Component<T>* components;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const { components[c] = Component<T>::empty(); }
};

/// Runs and components as the kernels see them.
struct MeasuredRuns {
  const std::int32_t* begin;
  const std::int32_t* end;
  const std::int32_t* row;
  const std::uint32_t* label;
  const std::uint32_t* first_run;
  const std::uint32_t* first_in_word;
  std::int64_t nx;
  const LabelCounts* counts;  ///< null: the number is `components`
  std::int64_t run_capacity;  ///< of the lists of runs
  std::int64_t components;    ///< known to the host, or the most that there is room for

  /// None if a list is too short: the caller will measure again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const {
    if (counts == nullptr) return components;
    const bool fits = counts->runs <= static_cast<std::uint64_t>(run_capacity) &&
                      counts->components <= components;
    return fits ? std::int64_t{counts->components} : 0;
  }
  /// Row of a component's first pixel.
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t y_min(std::int64_t component) const {
    return row[first_run[component]];
  }
};

/// Pixel (0, 0) of the image, had its rows the pitch of the band.
template <class T>
struct BandOrigin {
  const T* data;
  std::int64_t pitch;
  std::int64_t first_row;
};

/// The runs of some bands that lie below one another.
template <class T, class Exec>
struct RunsOfBands {
  static constexpr int most_bands = 8;
  MeasuredRuns runs;
  std::int64_t workers;
  std::int64_t first_word;  ///< of the mask
  std::int64_t past_word;
  Adder<Exec> adder;
  int bands;
  BandOrigin<T> band[most_bands];

  [[nodiscard]] KOKKOS_FUNCTION RunLoop<Exec> loop(std::int64_t worker) const {
    if (runs.count() == 0) return RunLoop<Exec>(0, 1, 0, 0);
    return RunLoop<Exec>(worker, workers, runs.first_in_word[first_word],
                         runs.first_in_word[past_word]);
  }
  [[nodiscard]] KOKKOS_FUNCTION const T* row_of(std::int64_t y) const {
    BandOrigin<T> of_row = band[0];
    for (int b = 1; b < bands; ++b) {
      if (y >= band[b].first_row) of_row = band[b];
    }
    return of_row.data + (y - of_row.first_row) * of_row.pitch;
  }
};
template <class T, class Exec>
struct BandRuns : RunsOfBands<T, Exec> {
  Component<T>* components;
};

/// No more than there can be something to do for; neighbours on a host share no line often.
template <class Exec>
[[nodiscard]] std::int64_t measuring_workers(const Exec& space, std::int64_t most) {
  const std::int64_t threads = space.concurrency();
  if constexpr (is_host_space_v<Exec>) {
    return threads == 1 ? 1 : 4 * threads;
  } else {
    return std::max<std::int64_t>(1, std::min(most, threads));
  }
}

/// Calls `launch` for as many bands at once as fit the arguments of a kernel.
template <class T, class Exec, class Launch>
void for_each_group_of_bands(const Exec& space, Bands<T, Exec> bands, const MeasuredRuns& runs,
                             std::int64_t words_per_row, const Launch& launch) {
  RunsOfBands<T, Exec> some{};
  some.runs = runs;
  some.workers = measuring_workers(space, runs.run_capacity);
  some.adder = {some.workers == 1};
  std::int64_t row = 0;
  for (std::size_t b = 0; b < bands.size(); ++b) {
    const auto image = rows_of<T, Exec>(bands[b]);
    if (image.ny > 0) some.band[some.bands++] = {image.data, image.pitch, row};
    row += image.ny;
    const bool last = b + 1 == bands.size();
    if (some.bands == 0 || (!last && some.bands < some.most_bands)) continue;
    some.past_word = row * words_per_row;
    launch(some);
    some.first_word = some.past_word;
    some.bands = 0;
  }
}

/// -0 counts as +0.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T plain_zero(T x) {
  return x == T{0} ? T{0} : x;
}

/// Calls `visit(x, pixel)` from left to right. Of a long run many pixels are under way from memory
/// at once, which a device's thread would otherwise wait for one by one.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_run(const T* pixels, std::int32_t begin, std::int32_t end,
                               const Visit& visit) {
  constexpr int ahead = 16;
  std::int32_t x = begin;
  for (; x + ahead <= end; x += ahead) {
    T loaded[ahead];
    KASTOR_UNROLL
    for (int k = 0; k < ahead; ++k) loaded[k] = pixels[x + k];
    KASTOR_UNROLL
    for (int k = 0; k < ahead; ++k) visit(x + k, loaded[k]);
  }
  for (; x < end; ++x) visit(x, pixels[x]);
}

/// First sweep: extents and the largest pixels, all of them order-free.
template <class T, class Exec>
struct FindExtents {
  BandRuns<T, Exec> band;

  struct Part {
    std::int64_t n_pix;
    std::int32_t x_min, x_max, y_max, longest_run;
    Key<T> peak, magnitude;
    KOKKOS_FUNCTION void join(const Part& other) {
      n_pix += other.n_pix;
      x_min = other.x_min < x_min ? other.x_min : x_min;
      x_max = other.x_max > x_max ? other.x_max : x_max;
      y_max = other.y_max > y_max ? other.y_max : y_max;
      longest_run = other.longest_run > longest_run ? other.longest_run : longest_run;
      peak = other.peak > peak ? other.peak : peak;
      magnitude = other.magnitude > magnitude ? other.magnitude : magnitude;
    }
  };
  struct Add {
    Component<T>* components;
    Adder<Exec> adder;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      Component<T>& c = components[label - 1];
      adder.add(&c.n_pix, part.n_pix);
      adder.lower(&c.x_min, part.x_min);
      adder.raise(&c.x_max, part.x_max);
      adder.raise(&c.y_max, part.y_max);
      adder.raise(&c.longest_run, part.longest_run);
      adder.raise(&c.peak, part.peak);
      adder.raise(&c.magnitude, part.magnitude);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{band.components, band.adder};
    Gathered<Part, Add> gathered(add);
    const RunLoop<Exec> loop = band.loop(worker);
    for (std::int64_t run = loop.first; run < loop.past; run += loop.step) {
      const std::uint32_t label = band.runs.label[run];
      if (label != 0) gathered.take(label, of(run));
    }
    gathered.flush();
  }

  [[nodiscard]] KOKKOS_FUNCTION Part of(std::int64_t run) const {
    const std::int32_t begin = band.runs.begin[run];
    const std::int32_t end = band.runs.end[run];
    const std::int32_t y = band.runs.row[run];
    const T* pixels = band.row_of(y);
    T peak = pixels[begin];
    T lowest = pixels[begin];
    visit_run(pixels, begin + 1, end, [&](std::int32_t, T pixel) {
      peak = pixel > peak ? pixel : peak;
      lowest = pixel < lowest ? pixel : lowest;
    });
    peak = plain_zero(peak);
    const T magnitude = -lowest > peak ? -lowest : plain_zero(peak);
    return {std::int64_t{end} - begin, begin, end - 1, y, end - begin, key_of(peak),
            key_of(magnitude)};
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

  struct Part {
    WideSum flux, x_moment, y_moment;
    std::uint64_t peak_at;
    KOKKOS_FUNCTION void join(const Part& other) {
      flux.join(other.flux);
      x_moment.join(other.x_moment);
      y_moment.join(other.y_moment);
      peak_at = other.peak_at < peak_at ? other.peak_at : peak_at;
    }
  };
  struct Add {
    Component<T>* components;
    Adder<Exec> adder;
    KOKKOS_FUNCTION void operator()(std::uint32_t label, const Part& part) const {
      Component<T>& c = components[label - 1];
      part.flux.add_to(c.flux, adder);
      part.x_moment.add_to(c.x_moment, adder);
      part.y_moment.add_to(c.y_moment, adder);
      if (part.peak_at != ~std::uint64_t{0}) adder.lower(&c.peak_at, part.peak_at);
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{band.components, band.adder};
    Gathered<Part, Add> gathered(add);
    const RunLoop<Exec> loop = band.loop(worker);
    for (std::int64_t run = loop.first; run < loop.past; run += loop.step) {
      const std::uint32_t label = band.runs.label[run];
      if (label != 0) gathered.take(label, of(run, label));
    }
    gathered.flush();
  }

  [[nodiscard]] KOKKOS_FUNCTION Part of(std::int64_t run, std::uint32_t label) const {
    const std::int32_t begin = band.runs.begin[run];
    const std::int32_t end = band.runs.end[run];
    const std::int32_t y = band.runs.row[run];
    const T* pixels = band.row_of(y);
    const Component<T>& c = band.components[label - 1];
    const std::int32_t x_min = c.x_min;
    const std::int32_t y_min = band.runs.y_min(label - 1);
    const ComponentGrid<T> grid(c, y_min);
    const T peak = value_of<T>(c.peak);
    const int half = -grid.pixel / 2;
    const double scale = power_of_two(half);
    const double scale_more = power_of_two(-grid.pixel - half);
    double flux = 0;
    double x_moment = 0;
    std::int32_t peak_x = -1;
    visit_run(pixels, begin, end, [&](std::int32_t x, T pixel) {
      const double v = static_cast<double>(pixel) * scale * scale_more;
      flux += v;
      x_moment += v * static_cast<double>(x - x_min);
      peak_x = peak_x < 0 && pixel == peak ? x : peak_x;
    });
    const std::uint64_t peak_at =
        peak_x < 0 ? ~std::uint64_t{0}
                   : static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(band.runs.nx) +
                         static_cast<std::uint64_t>(peak_x);
    return {WideSum::of(flux, grid.flux_bits), WideSum::of(x_moment, grid.x_bits),
            WideSum::of(flux * static_cast<double>(y - y_min), grid.y_bits), peak_at};
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
    const std::int32_t y_min = runs.y_min(i);
    const ComponentGrid<T> grid(c, y_min);
    const double flux = c.flux.total(grid.flux_bits);
    const double nan = Kokkos::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
    Source s;
    s.id = i + 1;
    s.x_cen = flux == 0 ? nan : c.x_min + c.x_moment.total(grid.x_bits) / flux;
    s.y_cen = flux == 0 ? nan : y_min + c.y_moment.total(grid.y_bits) / flux;
    s.flux_sum = scale_by_power_of_two(flux, grid.pixel);
    s.flux_peak = static_cast<double>(value_of<T>(c.peak));
    s.x_peak = static_cast<std::int64_t>(c.peak_at % static_cast<std::uint64_t>(runs.nx));
    s.y_peak = static_cast<std::int64_t>(c.peak_at / static_cast<std::uint64_t>(runs.nx));
    s.n_pix = c.n_pix;
    s.x_min = c.x_min;
    s.x_max = c.x_max;
    s.y_min = y_min;
    s.y_max = c.y_max;
    return s;
  }
};

/// `Make`: with `Row`, `runs`, `rows` and `take_row(i)`, as MakeRows.
template <class Make, class Exec>
struct MakeRowsInParts {
  Make make;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const RunLoop<Exec> loop(worker, workers, 0, make.runs.count());
    for (std::int64_t i = loop.first; i < loop.past; i += loop.step)
      make.rows[i] = make.take_row(i);
  }
};

/// Rows go to the host's memory, so neighbouring threads must write neighbouring bytes: a team
/// makes its rows in scratch memory and copies them from there.
template <class Make, class Exec>
struct MakeRowsByTeams {
  using Row = typename Make::Row;
  static constexpr int threads = 128;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(Row)) + 16;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int words_in_piece = sizeof(Row) % 16 == 0 ? 2 : 1;
  struct alignas(8 * words_in_piece) Piece {
    std::uint64_t word[words_in_piece];
  };
  static constexpr int pieces = static_cast<int>(sizeof(Row) / sizeof(Piece));
  static_assert(sizeof(Row) % sizeof(Piece) == 0);

  Make make;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int bytes = threads * static_cast<int>(sizeof(Row));  // is taken by reference
    void* scratch = team.team_scratch(0).get_shmem_aligned(bytes, 16);
    const std::int64_t count = make.runs.count();
    const std::int64_t step = std::int64_t{team.league_size()} * threads;
    for (std::int64_t first = std::int64_t{team.league_rank()} * threads; first < count;
         first += step) {
      const std::int64_t i = first + team.team_rank();
      const auto here = static_cast<int>(count - first < threads ? count - first : threads);
      if (i < count) static_cast<Row*>(scratch)[team.team_rank()] = make.take_row(i);
      team.team_barrier();
      auto* rows = reinterpret_cast<Piece*>(make.rows + first);
      for (int p = team.team_rank(); p < here * pieces; p += threads)
        rows[p] = static_cast<const Piece*>(scratch)[p];
      team.team_barrier();
    }
  }
};

template <class Exec, class Make>
void enqueue_rows(const Exec& space, const std::string& label, std::int64_t most_rows,
                  const Make& make) {
  const std::int64_t workers = measuring_workers(space, most_rows);
  if constexpr (is_host_space_v<Exec>) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, workers),
        MakeRowsInParts<Make, Exec>{make, workers});
  } else {
    using ByTeams = MakeRowsByTeams<Make, Exec>;
    const std::int64_t teams = (workers + ByTeams::threads - 1) / ByTeams::threads;
    Kokkos::parallel_for(label,
                         Kokkos::TeamPolicy<Exec>(space, static_cast<int>(teams), ByTeams::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(ByTeams::scratch_bytes)),
                         ByTeams{make});
  }
}

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct Measurer<Exec, T>::Plan {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  template <class MemorySpace>
  using Rows = Kokkos::View<Source*, MemorySpace>;

  explicit Plan(const Exec& s) : space(s) {}

  template <class MemorySpace>
  void reserve_rows(Rows<MemorySpace>& list, std::int64_t wanted) {
    if (static_cast<std::int64_t>(list.extent(0)) >= wanted) return;
    list = {};
    list = Rows<MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::rows"),
        static_cast<std::size_t>(wanted));
  }
  void reserve_components(std::int64_t wanted) {
    if (static_cast<std::int64_t>(components.extent(0)) >= wanted) return;
    components = {};
    components = decltype(components)(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::components"),
        static_cast<std::size_t>(wanted));
    Kokkos::parallel_for("kastor::measure::clear", Policy(space, 0, wanted),
                         detail::ClearComponents<T, Exec>{components.data()});
  }

  template <template <class, class> class Sweep>
  void sweep(const std::string& label, Bands<T, Exec> bands, const detail::MeasuredRuns& runs,
             std::int64_t words_per_row) {
    detail::for_each_group_of_bands<T>(
        space, bands, runs, words_per_row, [&](const detail::RunsOfBands<T, Exec>& some) {
          Kokkos::parallel_for(label, Policy(space, 0, some.workers),
                               Sweep<T, Exec>{{some, components.data()}});
        });
  }

  void run(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts,
           std::int64_t most_components, Source* into) {
    const detail::MeasuredRuns runs{
        labels.begin.data(),
        labels.end.data(),
        labels.row.data(),
        labels.label.data(),
        labels.first_run.data(),
        labels.first_in_word.data(),
        labels.nx,
        counts,
        counts == nullptr ? labels.runs : static_cast<std::int64_t>(labels.begin.extent(0)),
        most_components};
    const std::int64_t per_row = labels.mask.words_per_row();
    sweep<detail::FindExtents>("kastor::measure::find_extents", bands, runs, per_row);
    sweep<detail::SumRuns>("kastor::measure::sum_runs", bands, runs, per_row);
    detail::enqueue_rows(space, "kastor::measure::make_rows", most_components,
                         detail::MakeRows<T>{runs, components.data(), into});
  }

  void check(Bands<T, Exec> bands, const RunLabels<Exec>& labels) const {
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::measure", bands);
    KASTOR_EXPECTS("kastor::measure", shape.ny == labels.ny && shape.nx == labels.nx,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       " pixels; expected " + std::to_string(labels.ny) + " x " +
                       std::to_string(labels.nx) + " as the labels");
  }

  [[nodiscard]] Kokkos::View<const Source*, typename Exec::memory_space> run(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    const std::int64_t n = labels.components;
    if (n > 0) {
      reserve_components(n);
      reserve_rows(rows, n);
      run(bands, labels, nullptr, n, rows.data());
    }
    return Kokkos::subview(rows, Kokkos::make_pair(std::int64_t{0}, n));
  }

  void enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    most_rows = std::max({most_rows, std::int64_t{4096}, labels.ny * labels.nx / 8192});
    reserve_components(most_rows);
    reserve_rows(rows_on_host, most_rows);
    run(bands, labels, counts, most_rows, rows_on_host.data());
  }

  [[nodiscard]] bool finish(std::int64_t n) {
    if (n > most_rows) {
      most_rows = n + n / 8;
      return false;
    }
    found = std::span<const Source>(rows_on_host.data(), static_cast<std::size_t>(n));
    return true;
  }

  Exec space;
  Kokkos::View<detail::Component<T>*, typename Exec::memory_space> components;
  Rows<typename Exec::memory_space> rows;
  Rows<detail::HostReadable<Exec>> rows_on_host;
  std::int64_t most_rows = 0;  ///< that there is room for on the host
  std::span<const Source> found;
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
template <class Exec, Real T>
void Measurer<Exec, T>::enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels,
                                const LabelCounts* counts) {
  m_plan->enqueue(bands, labels, counts);
}
template <class Exec, Real T>
bool Measurer<Exec, T>::finish(std::int64_t components) {
  return m_plan->finish(components);
}
template <class Exec, Real T>
std::span<const Source> Measurer<Exec, T>::rows() const {
  return m_plan->found;
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

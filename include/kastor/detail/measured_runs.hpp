// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURED_RUNS_HPP
#define KASTOR_DETAIL_MEASURED_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/adder.hpp>
#include <kastor/detail/few_runs.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/prefetch.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/image.hpp>
#include <kastor/label.hpp>

/// The runs of labelled components, as all that measures them goes through them.
namespace kastor::detail {

/// The smallest b with n < 2^b.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int bits_of(std::int64_t n) {
  return 64 - Kokkos::Experimental::countl_zero_builtin(static_cast<std::uint64_t>(n));
}

/// Where runs are, and how long: of one run, or of several.
struct RunExtents {
  std::int64_t n_pix;
  std::int32_t x_min, x_max, y_max, longest_run;

  [[nodiscard]] KOKKOS_FUNCTION static RunExtents none() {
    return {0, Kokkos::Experimental::finite_max_v<std::int32_t>, -1, -1, -1};
  }
  [[nodiscard]] KOKKOS_FUNCTION static RunExtents of(std::int32_t begin, std::int32_t end,
                                                     std::int32_t y) {
    return {std::int64_t{end} - begin, begin, end - 1, y, end - begin};
  }
  KOKKOS_FUNCTION void join(const RunExtents& other) {
    n_pix += other.n_pix;
    x_min = other.x_min < x_min ? other.x_min : x_min;
    x_max = other.x_max > x_max ? other.x_max : x_max;
    y_max = other.y_max > y_max ? other.y_max : y_max;
    longest_run = other.longest_run > longest_run ? other.longest_run : longest_run;
  }
  template <class Exec>
  KOKKOS_FUNCTION void add_to(RunExtents& total, const Adder<Exec>& adder) const {
    adder.add(&total.n_pix, n_pix);
    adder.lower(&total.x_min, x_min);
    adder.raise(&total.x_max, x_max);
    adder.raise(&total.y_max, y_max);
    adder.raise(&total.longest_run, longest_run);
  }
};

/// Pixels [begin, end) of a row.
struct Run {
  std::int32_t begin, end, row;
  std::uint32_t label;  ///< 0: of no component
};

/// One of 2^shift pieces of a run: every 2^shift-th pack of its pixels, so that workers side by
/// side read neighbouring ones. The first piece also has what lies outside whole packs; of a short
/// run some have no pixel.
struct RunPiece {
  std::int32_t which;
  int shift;
};

/// Where a pixel is, as a number that has raster order.
struct RasterPlace {
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t of(std::int32_t y, std::int32_t x) {
    return std::uint64_t{static_cast<std::uint32_t>(y)} << 32 | static_cast<std::uint32_t>(x);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t y(std::uint64_t place) {
    return static_cast<std::int32_t>(place >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t x(std::uint64_t place) {
    return static_cast<std::int32_t>(place & 0xffffffffU);
  }
};

/// What a kernel has counted must not be more than there is room for; null: there is room.
struct Need {
  const std::uint64_t* count = nullptr;
  std::uint64_t room = 0;
  [[nodiscard]] KOKKOS_FUNCTION bool is_met() const { return count == nullptr || *count <= room; }
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
  Need needs{};               ///< of whoever measures
  /// Devices: those that are part of a component, as many as `counts` says; null: any may be.
  const std::uint32_t* labelled = nullptr;
  /// Devices: components that somebody else measures; their runs are not looked at.
  FewRuns few{};

  /// None if the runs were not labelled or a list is too short: the caller will measure again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const {
    if (counts == nullptr) return components;
    const std::uint64_t found_runs = counts->runs;
    const std::int64_t found = counts->components;
    const bool has_room = found_runs <= static_cast<std::uint64_t>(run_capacity) &&
                          found <= components && needs.is_met();
    return has_room ? found : 0;
  }
  /// Devices: whether runs have many pixels, in the mean.
  [[nodiscard]] KOKKOS_FUNCTION bool are_long() const {
    constexpr std::uint64_t many = 32;
    return counts != nullptr && counts->pixels >= many * counts->runs;
  }
  /// All of it at once, for a device would wait for one read after the other.
  [[nodiscard]] KOKKOS_FUNCTION Run run(std::int64_t i) const {
    return {begin[i], end[i], row[i], label[i]};
  }
  /// Row of a component's first pixel.
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t y_min(std::int64_t component) const {
    return row[first_run[component]];
  }
};

/// `counts` is null if `labels` know how many runs and components there are.
template <class Exec>
[[nodiscard]] MeasuredRuns runs_of(const RunLabels<Exec>& labels, const LabelCounts* counts,
                                   std::int64_t most_components) {
  return {labels.begin.data(),
          labels.end.data(),
          labels.row.data(),
          labels.label.data(),
          labels.first_run.data(),
          labels.first_in_word.data(),
          labels.nx,
          counts,
          counts == nullptr ? labels.runs : static_cast<std::int64_t>(labels.begin.extent(0)),
          most_components,
          {}};
}

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
  static constexpr std::uint32_t no_label = ~std::uint32_t{0};  ///< there is no such component
  MeasuredRuns runs;
  std::int64_t workers;
  std::int64_t first_word;  ///< of the mask
  std::int64_t past_word;
  Adder<Exec> adder;
  int bands;
  BandOrigin<T> band[most_bands];

  /// Of the bands' runs, or of the list.
  [[nodiscard]] KOKKOS_FUNCTION RunLoop<Exec> loop(std::int64_t worker) const {
    if (!is_host_space_v<Exec> && runs.few.room > 0 && *runs.few.others == 0)
      return RunLoop<Exec>(worker, workers, 0, 0);
    if (is_listed()) {
      const std::uint32_t listed = runs.count() == 0 ? 0 : runs.counts->labelled_runs;
      return RunLoop<Exec>(worker, workers, 0, listed);
    }
    const std::uint32_t first = runs.first_in_word[first_word];
    const std::uint32_t past = runs.first_in_word[past_word];
    return RunLoop<Exec>(worker, workers, first, runs.count() == 0 ? first : past);
  }
  /// Devices: more than there are workers.
  [[nodiscard]] KOKKOS_FUNCTION bool has_many_runs() const {
    return runs.counts != nullptr && runs.counts->runs > static_cast<std::uint64_t>(workers);
  }
  [[nodiscard]] KOKKOS_FUNCTION const T* row_of(std::int64_t y) const {
    BandOrigin<T> of_row = band[0];
    for (int b = 1; b < bands; ++b) {
      if (y >= band[b].first_row) of_row = band[b];
    }
    return of_row.data + (y - of_row.first_row) * of_row.pitch;
  }

  /// Of runs `i`, `i` + `step`, ... of a loop; 0: it is of no component or of other bands, or the
  /// loop ends before it.
  template <int N>
  KOKKOS_FUNCTION void labels_at(std::int64_t i, const RunLoop<Exec>& share, std::uint32_t& last,
                                 std::uint32_t (&label)[N]) const {
    std::int64_t at[N];
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) {
      const std::int64_t which = i + k * share.step;
      at[k] = which < share.past ? index_of(which) : -1;
      label[k] = at[k] >= 0 ? runs.label[at[k]] : 0;
    }
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) {
      if (at[k] >= 0 && !(is_of_bands(runs.row[at[k]]) && is_wanted(label[k], last))) label[k] = 0;
    }
  }

  /// Calls `part_of(run)` for the runs of a worker's share that are part of a component, and adds
  /// up what it says.
  template <class Part, class Add, class PartOf>
  KOKKOS_FUNCTION void gather(std::int64_t worker, const Add& add, const PartOf& part_of) const {
    SetSums<Part, Add> sums(add);
    const RunLoop<Exec> share = loop(worker);
    std::uint32_t last = no_label;
    for (std::int64_t i = share.first; i < share.past; i += share.step) {
      const Run run = runs.run(index_of(i));
      if (is_wanted(run.label, last) && is_of_bands(run.row)) sums.take(run.label, part_of(run));
    }
    sums.flush();
  }

#ifdef __CUDA_ARCH__
  /// The same for the lanes of a warp, which call `part_of(run)` together: a lane without a run has
  /// one of no pixels, of some component, and what it says is not looked at.
  template <class Part, class Add, class PartOf>
  __device__ void gather_together(std::int64_t worker, const Add& add,
                                  const PartOf& part_of) const {
    SetSums<Part, Add> sums(add);
    const RunLoop<Exec> share = loop(worker);
    const int lane = this_lane();
    std::uint32_t last = no_label;
    KASTOR_KEEP_LOOP
    for (std::int64_t i = share.first; i - lane < share.past; i += share.step) {
      Run run = i < share.past ? runs.run(index_of(i)) : Run{};
      const bool has_run = is_wanted(run.label, last) && is_of_bands(run.row);
      if (!has_run) run = {0, 0, 0, 1};
      const Part part = part_of(run);
      if (has_run) sums.take(run.label, part);
    }
    join_lanes();
    sums.flush();
  }
#endif

  /// Devices: as `gather`, where each of few long runs is for several workers; calls
  /// `part_of(run, piece)`.
  template <class Part, class Add, class PartOf>
  KOKKOS_FUNCTION void gather_pieces(std::int64_t worker, const Add& add,
                                     const PartOf& part_of) const {
    SetSums<Part, Add> sums(add);
    const RunLoop<Exec> all = loop(0);
    const std::int64_t count = all.past - all.first;
    const int shift = shift_to_pieces(count);
    const std::int64_t pieces = std::int64_t{1} << shift;
    std::uint32_t last = no_label;
    for (std::int64_t i = worker; i < count << shift; i += workers) {
      const Run run = runs.run(index_of(all.first + (i >> shift)));
      const RunPiece piece{static_cast<std::int32_t>(i & (pieces - 1)), shift};
      if (is_wanted(run.label, last) && is_of_bands(run.row))
        sums.take(run.label, part_of(run, piece));
    }
    sums.flush();
  }

 private:
  /// So far the number of runs can be shifted before there are more pieces than workers.
  [[nodiscard]] KOKKOS_FUNCTION int shift_to_pieces(std::int64_t count) const {
    constexpr int most = 5;
    int shift = 0;
    while (shift < most && count << (shift + 1) <= workers) ++shift;
    return shift;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_listed() const {
    return !is_host_space_v<Exec> && runs.labelled != nullptr;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t index_of(std::int64_t i) const {
    return is_listed() ? runs.labelled[i] : i;
  }
  /// Part of a component that nobody else measures. `last` one that was: it need not be looked up.
  [[nodiscard]] KOKKOS_FUNCTION bool is_wanted(std::uint32_t label, std::uint32_t& last) const {
    if constexpr (is_host_space_v<Exec>) return label != 0;
    if (label == last) return true;
    if (label == 0 || runs.few.has(label - 1)) return false;
    last = label;
    return true;
  }
  /// The list is of all bands.
  [[nodiscard]] KOKKOS_FUNCTION bool is_of_bands(std::int32_t row) const {
    if (!is_listed()) return true;
    const std::int64_t word = row * ((runs.nx + 63) / 64);
    return word >= first_word && word < past_word;
  }
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
void for_each_group_of_bands(Bands<T, Exec> bands, const MeasuredRuns& runs,
                             std::int64_t words_per_row, std::int64_t workers,
                             const Launch& launch) {
  RunsOfBands<T, Exec> some{};
  some.runs = runs;
  some.workers = workers;
  some.adder = {workers == 1};
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

/// How many pixels lie before the next multiple of a pack's 16 bytes.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION std::int32_t pixels_before_pack(const T* pixels) {
  constexpr int size = PixelPack<T>::size;
  const auto past =
      static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(pixels) / sizeof(T) % size);
  return past == 0 ? 0 : size - past;
}

/// Calls `visit(x, pixel)` for the pixels of [begin, end), of which there are `Most` at most.
template <int Most, class T, class Visit>
KOKKOS_FUNCTION void visit_at_most(const T* pixels, std::int32_t begin, std::int32_t end,
                                   const Visit& visit) {
  const std::int32_t n = end - begin;  // begin + k might overflow
  T loaded[Most];
  KASTOR_UNROLL
  for (int k = 0; k < Most; ++k) loaded[k] = k < n ? pixels[begin + k] : T{0};
  KASTOR_UNROLL
  for (int k = 0; k < Most; ++k) {
    if (k < n) visit(begin + k, loaded[k]);
  }
}

/// The same for the first pixels of a run up to the last whole step of aligned packs, of which one
/// after the other is loaded, and of which more are asked for meanwhile. \return how far it came.
template <class T, class Visit>
[[nodiscard]] KOKKOS_FUNCTION std::int32_t visit_steps(const T* pixels, std::int32_t begin,
                                                       std::int32_t end, const Visit& visit) {
  using Pack = PixelPack<T>;
  constexpr int step = 16;
  constexpr int packs = step / Pack::size;
  constexpr int ahead = 128;
  const std::int32_t before = pixels_before_pack(pixels + begin);
  std::int32_t x = before < end - begin ? begin + before : end;
  visit_at_most<Pack::size>(pixels, begin, x, visit);
  KASTOR_KEEP_LOOP
  for (; end - x >= step; x += step) {
    if (end - x > ahead) prefetch(pixels + x + ahead);
    Pack loaded[packs];
    KASTOR_UNROLL
    for (int p = 0; p < packs; ++p) loaded[p] = reinterpret_cast<const Pack*>(pixels + x)[p];
    KASTOR_UNROLL
    for (int k = 0; k < step; ++k) visit(x + k, loaded[k / Pack::size].pixel[k % Pack::size]);
  }
  return x;
}

/// Devices: calls `visit(x, pixel)` from left to right. Of a long run many pixels are under way
/// from memory at once, which a thread would otherwise wait for one by one; and in packs, for a
/// device fetches the lines of all threads of a warp one after the other, again with every load.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_run(const T* pixels, std::int32_t begin, std::int32_t end,
                               const Visit& visit) {
  constexpr int most = 16;
  std::int32_t x = begin;
  if (end - begin >= most) x = visit_steps(pixels, begin, end, visit);
  visit_at_most<most>(pixels, x, end, visit);
}
/// The same for a visit that takes no time, of a run that is short, as a rule: with fewer registers
/// more threads are at work.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_short_run(const T* pixels, std::int32_t begin, std::int32_t end,
                                     const Visit& visit) {
  constexpr int ahead = 16;
  std::int32_t x = begin;
  for (; end - x >= ahead; x += ahead) {
    T loaded[ahead];
    KASTOR_UNROLL
    for (int k = 0; k < ahead; ++k) loaded[k] = pixels[x + k];
    KASTOR_UNROLL
    for (int k = 0; k < ahead; ++k) visit(x + k, loaded[k]);
  }
  visit_at_most<ahead>(pixels, x, end, visit);
}

/// The same for a visit that takes much longer than the read of a pixel: in one copy, for a device
/// would wait for the code of many.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_run_thoroughly(const T* pixels, std::int32_t begin, std::int32_t end,
                                          const Visit& visit) {
  T next = pixels[begin];
  KASTOR_KEEP_LOOP
  for (std::int32_t x = begin; x < end; ++x) {
    const T pixel = next;
    if (x + 1 < end) next = pixels[x + 1];
    visit(x, pixel);
  }
}

/// Calls `visit(x, pixel)` for the pixels of a piece of a run, in any order.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_piece(const T* pixels, std::int32_t begin, std::int32_t end,
                                 const RunPiece& piece, const Visit& visit) {
  using Pack = PixelPack<T>;
  constexpr int packs = 2;
  const std::int32_t head = pixels_before_pack(pixels + begin);
  const std::int32_t first = head < end - begin ? begin + head : end;
  const std::int32_t full = (end - first) / Pack::size;
  if (piece.which == 0) {
    visit_at_most<Pack::size>(pixels, begin, first, visit);
    visit_at_most<Pack::size>(pixels, first + full * Pack::size, end, visit);
  }
  const std::int32_t step = 1 << piece.shift;
  KASTOR_KEEP_LOOP
  for (std::int32_t k = piece.which; k < full; k += packs * step) {
    Pack loaded[packs];
    KASTOR_UNROLL
    for (int p = 0; p < packs; ++p) {
      const std::int32_t at = k + p * step < full ? k + p * step : k;
      loaded[p] = reinterpret_cast<const Pack*>(pixels + first)[at];
    }
    KASTOR_UNROLL
    for (int p = 0; p < packs; ++p) {
      if (k + p * step >= full) break;
      const std::int32_t x = first + (k + p * step) * Pack::size;
      KASTOR_UNROLL
      for (int c = 0; c < Pack::size; ++c) visit(x + c, loaded[p].pixel[c]);
    }
  }
}

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_IMPL_HPP
#define KASTOR_DETAIL_LABEL_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/union_find.hpp>
#include <kastor/label.hpp>
#include <limits>
#include <string>

namespace kastor::detail {

struct RunCount {
  std::uint64_t runs = 0;
  std::uint64_t pixels = 0;
  KOKKOS_FUNCTION RunCount& operator+=(const RunCount& other) {
    runs += other.runs;
    pixels += other.pixels;
    return *this;
  }
};

/// Numbers the runs in raster order: an exclusive scan of the run starts per word.
template <class Exec>
struct NumberRuns {
  using value_type = RunCount;
  const std::uint64_t* words;
  std::int64_t words_per_row;
  typename RunLabels<Exec>::template List<std::uint32_t> first_in_word;
  std::int64_t last;

  KOKKOS_FUNCTION void operator()(std::int64_t i, RunCount& before, bool final) const {
    if (final) first_in_word(i) = static_cast<std::uint32_t>(before.runs);
    const MaskRow row{words + i / words_per_row * words_per_row};
    before.runs += static_cast<std::uint64_t>(Kokkos::popcount(row.starts(i % words_per_row)));
    before.pixels += static_cast<std::uint64_t>(Kokkos::popcount(words[i]));
    if (final && i == last) first_in_word(i + 1) = static_cast<std::uint32_t>(before.runs);
  }
  KOKKOS_FUNCTION void init(RunCount& value) const { value = RunCount{}; }
  KOKKOS_FUNCTION void join(RunCount& into, const RunCount& from) const { into += from; }
};

/// Writes the runs that begin or end in a word.
template <class Exec>
struct FillRuns {
  RunLabels<Exec> labels;
  UnionFind<Exec> forest;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t per_row = (labels.nx + 63) / 64;
    const std::int64_t y = i / per_row;
    const std::int64_t w = i % per_row;
    const MaskRow row{labels.mask.words.data() + y * per_row};
    if (row.words[w] == 0) return;
    const std::uint32_t first = labels.first_in_word(i);
    const std::uint64_t starts = row.starts(w);
    std::uint32_t run = first;
    for (std::uint64_t rest = starts; rest != 0; rest &= rest - 1, ++run) {
      labels.begin(run) = static_cast<std::int32_t>(64 * w + Kokkos::countr_zero(rest));
      labels.row(run) = static_cast<std::int32_t>(y);
      forest.parent(run) = run;
    }
    for (std::uint64_t rest = row.ends(w, per_row); rest != 0; rest &= rest - 1) {
      const int bit = Kokkos::countr_zero(rest);
      const std::uint64_t up_to = ~std::uint64_t{0} >> (63 - bit);
      const auto begun = static_cast<std::uint32_t>(Kokkos::popcount(starts & up_to));
      labels.end(first + begun - 1) = static_cast<std::int32_t>(64 * w + bit + 1);
    }
  }
};

/// The runs of the row above that touch a run are consecutive: unites it with each.
template <class Exec>
struct UniteWithRowAbove {
  RunLabels<Exec> labels;
  UnionFind<Exec> forest;
  std::int32_t reach;  ///< 0: edges only, 1: corners too

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto run = static_cast<std::uint32_t>(i);
    const std::int64_t y = labels.row(run);
    if (y == 0) return;
    const std::int64_t per_row = (labels.nx + 63) / 64;
    const std::int64_t left = labels.begin(run) - reach > 0 ? labels.begin(run) - reach : 0;
    const std::int64_t right =
        labels.end(run) - 1 + reach < labels.nx ? labels.end(run) - 1 + reach : labels.nx - 1;
    const MaskRow above{labels.mask.words.data() + (y - 1) * per_row};
    const std::uint32_t* first_in_word = labels.first_in_word.data() + (y - 1) * per_row;
    const std::uint32_t past_last = first_in_word[right / 64] + above.starts_up_to(right);
    const std::uint32_t begun = first_in_word[left / 64] + above.starts_up_to(left);
    for (std::uint32_t other = begun - (above.test(left) ? 1 : 0); other < past_last; ++other) {
      forest.unite(run, other);
    }
  }
};

/// Halving paths here would undo a neighbour's store: a thread that read a path before it was
/// flattened could write an inner ancestor after.
template <class Exec>
struct Flatten {
  UnionFind<Exec> forest;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto run = static_cast<std::uint32_t>(i);
    Kokkos::atomic_store(&forest.parent(run), forest.root_of(run));
  }
};

/// Numbers the roots; their order is the raster order of the components' first pixels.
template <class Exec>
struct NumberRoots {
  RunLabels<Exec> labels;
  UnionFind<Exec> forest;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint32_t& count, bool final) const {
    const auto run = static_cast<std::uint32_t>(i);
    if (forest.parent(run) != run) return;
    if (final) labels.first_run(count) = run;
    ++count;
    if (final) labels.label(run) = count;
  }
};

template <class Exec>
struct CopyRootLabel {
  RunLabels<Exec> labels;
  UnionFind<Exec> forest;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto run = static_cast<std::uint32_t>(i);
    const std::uint32_t root = forest.parent(run);
    if (root != run) labels.label(run) = labels.label(root);
  }
};

template <class Exec>
struct CountPixels {
  RunLabels<Exec> labels;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> pixels;
  KOKKOS_FUNCTION void operator()(std::int64_t run) const {
    Kokkos::atomic_add(&pixels(labels.label(run) - 1),
                       std::int64_t{labels.end(run)} - labels.begin(run));
  }
};

/// Numbers the components that are large enough; `number` holds pixel counts before and labels
/// after.
template <class Exec>
struct NumberLarge {
  typename RunLabels<Exec>::template List<std::uint32_t> first_run;
  typename RunLabels<Exec>::template List<std::uint32_t> kept_first_run;
  typename RunLabels<Exec>::template List<std::uint32_t> number;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> pixels;
  std::int64_t min_pixels;
  KOKKOS_FUNCTION void operator()(std::int64_t c, std::uint32_t& count, bool final) const {
    const bool keep = pixels(c) >= min_pixels;
    if (final && keep) kept_first_run(count) = first_run(c);
    count += keep ? 1 : 0;
    if (final) number(c) = keep ? count : 0;
  }
};

template <class Exec>
struct Renumber {
  RunLabels<Exec> labels;
  typename RunLabels<Exec>::template List<std::uint32_t> number;
  KOKKOS_FUNCTION void operator()(std::int64_t run) const {
    labels.label(run) = number(labels.label(run) - 1);
  }
};

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
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  template <class V>
  static constexpr std::int64_t size(const V& v) {
    return static_cast<std::int64_t>(v.extent(0));
  }

  Plan(const Exec& s, const LabelParams& p) : space(s), params(p) {}

  template <class V>
  void grow(V& list, const std::string& label, std::int64_t wanted) {
    if (size(list) >= wanted) return;
    list = V{};
    list = V(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
             static_cast<std::size_t>(wanted));
  }

  void number_runs(const BitMask<Exec>& mask) {
    const std::int64_t words = mask.ny * mask.words_per_row();
    grow(labels.first_in_word, "kastor::label::first_in_word", words + 1);
    detail::RunCount total;
    if (words > 0) {
      Kokkos::parallel_scan("kastor::label::number_runs", Policy(space, 0, words),
                            detail::NumberRuns<Exec>{mask.words.data(), mask.words_per_row(),
                                                     labels.first_in_word, words - 1},
                            total);
      space.fence("kastor::label::number_runs");
    }
    KASTOR_EXPECTS(
        "kastor::label", total.runs < std::numeric_limits<std::uint32_t>::max(),
        "the mask has " + std::to_string(total.runs) + " runs; expected at most 4294967294");
    labels.runs = static_cast<std::int64_t>(total.runs);
    labels.foreground_pixels = static_cast<std::int64_t>(total.pixels);
  }

  void unite_runs(const BitMask<Exec>& mask) {
    grow(labels.begin, "kastor::label::begin", labels.runs);
    grow(labels.end, "kastor::label::end", labels.runs);
    grow(labels.row, "kastor::label::row", labels.runs);
    grow(labels.label, "kastor::label::label", labels.runs);
    grow(labels.first_run, "kastor::label::first_run", labels.runs);
    grow(forest.parent, "kastor::label::parent", labels.runs);
    const std::int64_t words = mask.ny * mask.words_per_row();
    const Policy runs(space, 0, labels.runs);
    Kokkos::parallel_for("kastor::label::fill_runs", Policy(space, 0, words),
                         detail::FillRuns<Exec>{labels, forest});
    Kokkos::parallel_for("kastor::label::unite_with_row_above", runs,
                         detail::UniteWithRowAbove<Exec>{
                             labels, forest, params.connectivity == Connectivity::eight ? 1 : 0});
    Kokkos::parallel_for("kastor::label::flatten", runs, detail::Flatten<Exec>{forest});
    std::uint32_t components = 0;
    Kokkos::parallel_scan("kastor::label::number_roots", runs,
                          detail::NumberRoots<Exec>{labels, forest}, components);
    space.fence("kastor::label::number_roots");
    labels.components = components;
    Kokkos::parallel_for("kastor::label::copy_root_label", runs,
                         detail::CopyRootLabel<Exec>{labels, forest});
  }

  void drop_small_components() {
    grow(pixels, "kastor::label::pixels", labels.components);
    grow(number, "kastor::label::number", labels.components);
    grow(spare_first_run, "kastor::label::first_run", size(labels.first_run));
    const Policy runs(space, 0, labels.runs);
    Kokkos::deep_copy(space, pixels, std::int64_t{0});
    Kokkos::parallel_for("kastor::label::count_pixels", runs,
                         detail::CountPixels<Exec>{labels, pixels});
    std::uint32_t kept = 0;
    Kokkos::parallel_scan("kastor::label::number_large", Policy(space, 0, labels.components),
                          detail::NumberLarge<Exec>{labels.first_run, spare_first_run, number,
                                                    pixels, params.min_pixels},
                          kept);
    space.fence("kastor::label::number_large");
    Kokkos::parallel_for("kastor::label::renumber", runs, detail::Renumber<Exec>{labels, number});
    std::swap(labels.first_run, spare_first_run);
    labels.components = kept;
  }

  const RunLabels<Exec>& run(const BitMask<Exec>& mask) {
    const Kokkos::Profiling::ScopedRegion region("kastor::label");
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    KASTOR_EXPECTS("kastor::label", mask.ny <= largest && mask.nx < largest,
                   "the mask is " + std::to_string(mask.ny) + " x " + std::to_string(mask.nx) +
                       " pixels; expected fewer than 2147483647 rows and columns");
    labels.ny = mask.ny;
    labels.nx = mask.nx;
    labels.mask = mask;
    labels.components = 0;
    number_runs(mask);
    if (labels.runs > 0) unite_runs(mask);
    if (labels.components > 0 && params.min_pixels > 1) drop_small_components();
    return labels;
  }

  Exec space;
  LabelParams params;
  RunLabels<Exec> labels;
  detail::UnionFind<Exec> forest;
  typename RunLabels<Exec>::template List<std::uint32_t> number;
  typename RunLabels<Exec>::template List<std::uint32_t> spare_first_run;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> pixels;
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
  return m_plan->run(mask);
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
  Kokkos::parallel_for(
      "kastor::label::write_labels",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, write.count()), write);
}

}  // namespace kastor

#endif

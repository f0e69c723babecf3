// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/mark_islands.hpp>
#include <kastor/detail/measure_islands.hpp>
#include <kastor/island_finder.hpp>
#include <string>

namespace kastor {

namespace {

[[nodiscard]] std::string shape_text(std::int64_t ny, std::int64_t nx) {
  return std::to_string(ny) + " x " + std::to_string(nx);
}

template <class Exec, class T>
void check_map(const PixelMap<Exec, T>& map, const char* name, const detail::Shape& shape) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  const std::string the_map = std::string("the ") + name + " map ";
  if (map.kind() == Kind::image) {
    const auto rows = detail::rows_of<T, Exec>(map.image());
    KASTOR_EXPECTS("kastor::find_islands", rows.ny == shape.ny && rows.nx == shape.nx,
                   the_map + "is " + shape_text(rows.ny, rows.nx) + " pixels; expected " +
                       shape_text(shape.ny, shape.nx) + " as the image");
  }
  if (map.kind() == Kind::surface) {
    const MeshSurface<Exec>& surface = map.surface();
    KASTOR_EXPECTS("kastor::find_islands", surface.nodes.size() > 0,
                   the_map + "has no nodes; expected at least one");
    KASTOR_EXPECTS("kastor::find_islands", surface.cell_height > 0 && surface.cell_width > 0,
                   the_map + "has cells of " + shape_text(surface.cell_height, surface.cell_width) +
                       " pixels; expected at least one");
  }
}

/// One side of the background.
template <class Exec, Real T>
struct IslandsOfSide {
  IslandsOfSide(const Exec& space, const IslandParams& params, detail::Side side)
      : label(space, LabelParams{params.connectivity, params.min_pixels, params.drop_at_edge}),
        measure(space, side) {}

  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const detail::UsablePixels& usable, const BitMask<Exec>& foreground,
               const BitMask<Exec>& seeds, const detail::KeptPixels& kept, bool all_kept) {
    label.enqueue(foreground, seeds);
    measure.enqueue(bands, background, usable, kept, label.labels(), label.counts(),
                    label.labelled_runs(), all_kept);
  }
  /// `before`: islands with lower ids. False: a list was too short and has grown.
  [[nodiscard]] bool finish(std::int64_t before) {
    return label.finish() && measure.finish(label.labels().components, before);
  }
  [[nodiscard]] IslandCounts counts() const {
    const RunLabels<Exec>& labels = label.labels();
    return {labels.components, labels.dropped, labels.foreground_pixels};
  }

  Labeller<Exec> label;
  detail::IslandMeasurer<Exec, T> measure;
};

}  // namespace

template <class Exec, Real T>
struct IslandFinder<Exec, T>::Plan {
  Plan(const Exec& s, const IslandParams& p)
      : space(s),
        params(p),
        kernels(s, p.graph),
        positive(s, p, detail::Side::above),
        negative(s, p, detail::Side::below) {}

  /// The masks lie behind one another.
  void reserve_masks(const detail::Shape& shape) {
    BitMask<Exec> mask;
    mask.ny = shape.ny;
    mask.nx = shape.nx;
    const std::int64_t words = mask.ny * mask.words_per_row();
    // Each begins at a multiple of 64 bytes.
    const std::int64_t pitch = (words + 7) / 8 * 8;
    BitMask<Exec>* const masks[] = {&usable, &foreground, &seeds, &negative_foreground,
                                    &negative_seeds};
    const std::int64_t count = params.negative ? 5 : 3;
    detail::grow(storage, space, "kastor::islands::masks", count * pitch);
    for (std::int64_t i = 0; i < count; ++i) {
      mask.words =
          decltype(mask.words)(storage.data() + i * pitch, static_cast<std::size_t>(mask.ny),
                               static_cast<std::size_t>(mask.words_per_row()));
      *masks[i] = mask;
    }
    detail::grow(limits, space, "kastor::islands::limits",
                 detail::patches_of<Exec>(mask.ny, mask.words_per_row()));
    detail::grow(kept_pixels, space, "kastor::islands::kept_pixels", words);
    detail::grow(first_kept, space, "kastor::islands::first_kept", words);
    detail::grow(taken, space, "kastor::islands::places_taken", 2);
    detail::grow(taken_on_host, space, "kastor::islands::places_taken_on_host", 1);
  }
  /// `kept`: bits of a word's pixels that have places, if not all of the foreground.
  [[nodiscard]] detail::KeptPixels places(const std::uint64_t* kept = nullptr) const {
    return {kept_pixels.data(),
            static_cast<std::int64_t>(kept_pixels.extent(0)),
            first_kept.data(),
            taken.data(),
            kept != nullptr ? kept : foreground.words.data(),
            kept != nullptr ? nullptr : negative_foreground.words.data(),
            foreground.words_per_row(),
            taken_on_host.data()};
  }

  void check(const detail::Shape& shape, const Background<Exec, T>& background,
             const BitMask<Exec>& region, const PixelCeilings<Exec, T>& ceilings) const {
    KASTOR_EXPECTS("kastor::find_islands",
                   ceilings.empty() || (ceilings.ny == shape.ny && ceilings.nx == shape.nx),
                   "the ceilings are those of " + shape_text(ceilings.ny, ceilings.nx) +
                       " pixels; expected " + shape_text(shape.ny, shape.nx) + " as the image");
    const auto count = static_cast<std::int64_t>(ceilings.values.extent(0));
    KASTOR_EXPECTS("kastor::find_islands",
                   ceilings.empty() || count >= detail::count_of_ceilings(shape),
                   "there are " + std::to_string(count) + " ceilings; expected " +
                       std::to_string(detail::count_of_ceilings(shape)) + " for " +
                       shape_text(shape.ny, shape.nx) + " pixels");
    check_map<Exec, T>(background.level, "level", shape);
    check_map<Exec, T>(background.rms, "rms", shape);
    if (region.words.data() == nullptr) return;
    KASTOR_EXPECTS("kastor::find_islands", region.ny == shape.ny && region.nx == shape.nx,
                   "the region is " + shape_text(region.ny, region.nx) + " pixels; expected " +
                       shape_text(shape.ny, shape.nx) + " as the image");
  }

  [[nodiscard]] static detail::UsablePixels usable_pixels(const detail::IslandMasks& masks) {
    return {masks.usable, masks.words_per_row, masks.none_blank};
  }
  struct Marked {
    detail::UsablePixels usable;
    detail::KeptPixels kept;
    bool by_ceilings;
  };
  /// Fills the masks.
  [[nodiscard]] Marked mark(Bands<T, Exec> bands, const detail::Shape& shape,
                            const Background<Exec, T>& background, const BitMask<Exec>& region,
                            const PixelCeilings<Exec, T>& ceilings) {
    const detail::Thresholds<Exec, T> thresholds{background, params.seed, params.flood};
    detail::IslandMasks masks{usable.words.data(),
                              foreground.words.data(),
                              seeds.words.data(),
                              negative_foreground.words.data(),
                              negative_seeds.words.data(),
                              usable.words_per_row(),
                              nullptr};
    if constexpr (!is_host_space_v<Exec>) {
      if (keeps_all && !params.negative &&
          detail::can_mark_by_ceilings(bands, background, ceilings)) {
        const std::int64_t words = shape.ny * masks.words_per_row;
        detail::grow(listed_words, space, "kastor::islands::listed_words", words);
        detail::grow(listed_bits, space, "kastor::islands::listed_bits", words);
        detail::grow(none_blank, space, "kastor::islands::none_blank",
                     (shape.ny + detail::UsablePixels::rows - 1) / detail::UsablePixels::rows *
                         masks.words_per_row);
        masks.none_blank = none_blank.data();
        const detail::KeptPixels kept = places(listed_bits.data());
        detail::mark_by_ceilings<Exec, T>(
            space, bands.front(), thresholds, region.words.data(), limits.data(), masks, kept,
            {listed_words.data(), taken.data() + 1, listed_bits.data()}, ceilings);
        return {usable_pixels(masks), kept, true};
      }
    }
    detail::mark_islands<Exec, T>(space, bands, shape, thresholds, region.words.data(),
                                  limits.data(), masks, places());
    return {usable_pixels(masks), places(), false};
  }

  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background, const Marked& marked) {
    if constexpr (!is_host_space_v<Exec>) taken_on_host(0) = 0;
    positive.enqueue(bands, background, marked.usable, foreground, seeds, marked.kept, keeps_all);
    if (params.negative)
      negative.enqueue(bands, background, marked.usable, negative_foreground, negative_seeds,
                       marked.kept, keeps_all);
  }
  /// False: to be done once more, with longer lists or because not all pixels were kept.
  [[nodiscard]] bool finish(const detail::KeptPixels& kept) {
    const bool relied_on_all = keeps_all;
    space.fence("kastor::find_islands");
    if constexpr (!is_host_space_v<Exec>) keeps_all = taken_on_host(0) <= kept.need().room;
    bool holds = positive.finish(0);
    if (params.negative) holds = negative.finish(positive.counts().islands) && holds;
    return holds && (keeps_all || !relied_on_all);
  }

  [[nodiscard]] FoundIslands run(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                 const BitMask<Exec>& region,
                                 const PixelCeilings<Exec, T>& ceilings) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::find_islands");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::find_islands", bands);
    check(shape, background, region, ceilings);
    reserve_masks(shape);
    Marked marked{};
    const auto mark_and_enqueue = [&] {
      marked = mark(bands, shape, background, region, ceilings);
      enqueue(bands, background, marked);
    };
    kernels(detail::place_of(bands), mark_and_enqueue);
    while (!finish(marked.kept)) {
      // Masks that were made by ceilings are of no use if there were too few places.
      if (keeps_all || !marked.by_ceilings) {
        enqueue(bands, background, marked);
      } else {
        mark_and_enqueue();
      }
    }
    FoundIslands found;
    found.above = positive.measure.rows();
    found.positive = positive.counts();
    if (params.negative) {
      found.below = negative.measure.rows();
      found.negative = negative.counts();
    }
    return found;
  }

  Exec space;
  IslandParams params;
  detail::KernelSequence<Exec> kernels;
  IslandsOfSide<Exec, T> positive;
  IslandsOfSide<Exec, T> negative;
  /// Grow to the largest image; the masks are parts of the first.
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> storage;
  Kokkos::View<detail::PatchLimits<T>*, typename Exec::memory_space> limits;
  Kokkos::View<detail::KeptPixel*, typename Exec::memory_space> kept_pixels;
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> first_kept;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> taken;  ///< places, words listed
  Kokkos::View<std::uint64_t*, detail::HostReadable<Exec>> taken_on_host;
  /// For `mark_by_ceilings`.
  Kokkos::View<detail::ListedWord*, typename Exec::memory_space> listed_words;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> listed_bits;
  Kokkos::View<std::uint8_t*, typename Exec::memory_space> none_blank;
  /// Devices: whether the pixels of all foreground were kept, the last time; a guess until the end
  /// of a call.
  bool keeps_all = !is_host_space_v<Exec>;
  BitMask<Exec> usable, foreground, seeds, negative_foreground, negative_seeds;
};

template <class Exec, Real T>
IslandFinder<Exec, T>::IslandFinder(const Exec& space, const IslandParams& params) {
  KASTOR_EXPECTS("kastor::IslandFinder", std::isfinite(params.flood) && params.flood >= 0,
                 "flood is " + std::to_string(params.flood) + "; expected a number of at least 0");
  KASTOR_EXPECTS("kastor::IslandFinder", std::isfinite(params.seed) && params.seed >= params.flood,
                 "seed is " + std::to_string(params.seed) +
                     "; expected a number of at least flood, which is " +
                     std::to_string(params.flood));
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
IslandFinder<Exec, T>::~IslandFinder() = default;
template <class Exec, Real T>
IslandFinder<Exec, T>::IslandFinder(IslandFinder&&) noexcept = default;
template <class Exec, Real T>
IslandFinder<Exec, T>& IslandFinder<Exec, T>::operator=(IslandFinder&&) noexcept = default;

template <class Exec, Real T>
FoundIslands IslandFinder<Exec, T>::find(const ConstImage<T, Exec>& image,
                                         const Background<Exec, T>& background,
                                         const BitMask<Exec>& region,
                                         const PixelCeilings<Exec, T>& ceilings) {
  return find(Bands<T, Exec>(&image, 1), background, region, ceilings);
}
template <class Exec, Real T>
FoundIslands IslandFinder<Exec, T>::find(Bands<T, Exec> bands,
                                         const Background<Exec, T>& background,
                                         const BitMask<Exec>& region,
                                         const PixelCeilings<Exec, T>& ceilings) {
  return m_plan->run(bands, background, region, ceilings);
}
template <class Exec, Real T>
IslandResult IslandFinder<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                               const Background<Exec, T>& background,
                                               const BitMask<Exec>& region,
                                               const PixelCeilings<Exec, T>& ceilings) {
  return (*this)(Bands<T, Exec>(&image, 1), background, region, ceilings);
}
template <class Exec, Real T>
IslandResult IslandFinder<Exec, T>::operator()(Bands<T, Exec> bands,
                                               const Background<Exec, T>& background,
                                               const BitMask<Exec>& region,
                                               const PixelCeilings<Exec, T>& ceilings) {
  const FoundIslands found = find(bands, background, region, ceilings);
  IslandResult result{{}, found.positive, found.negative};
  result.islands.reserve(found.above.size() + found.below.size());
  result.islands.assign(found.above.begin(), found.above.end());
  result.islands.insert(result.islands.end(), found.below.begin(), found.below.end());
  return result;
}
template <class Exec, Real T>
const RunLabels<Exec>& IslandFinder<Exec, T>::labels() const {
  return m_plan->positive.label.labels();
}
template <class Exec, Real T>
const RunLabels<Exec>& IslandFinder<Exec, T>::negative_labels() const {
  return m_plan->negative.label.labels();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::IslandFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)

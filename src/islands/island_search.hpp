// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_ISLAND_SEARCH_HPP
#define KASTOR_ISLANDS_ISLAND_SEARCH_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/image_shape.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "islands/mark.hpp"
#include "islands/measure_islands.hpp"

/// The search of an image, or of a strip of one: marks, labels, measures.
namespace kastor::detail {

/// \throws Error if a threshold is out of its range.
inline void expect_islands(const char* function, const IslandParams& params) {
  KASTOR_EXPECTS(
      function, std::isfinite(params.flood) && params.flood >= 0,
      "flood is " + std::to_string(params.flood) + "; expected a finite number, 0 or more");
  KASTOR_EXPECTS(function, std::isfinite(params.seed) && params.seed >= params.flood,
                 "seed is " + std::to_string(params.seed) +
                     "; expected a finite number, not below flood, which is " +
                     std::to_string(params.flood));
}

/// The islands on one side of the background.
template <class Exec, Real T>
struct IslandsOfSide {
  IslandsOfSide(const Exec& space, const IslandParams& params, Side side)
      : label(space, LabelParams{params.connectivity, params.min_pixels, params.drop_at_edge}),
        measure(space, side) {}

  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const Detection<Exec, T>* detection, const std::uint64_t* blank,
               const StripRows& strip) {
    label.enqueue(foreground, seeds);
    measure.enqueue(bands, background, detection, blank, label.labels(), label.counts(), strip);
  }
  /// `before`: number of islands with lower ids. False if a list was too short; it has grown.
  [[nodiscard]] bool finish(std::int64_t before) {
    return label.finish() && measure.finish(label.labels().components, before);
  }
  [[nodiscard]] IslandCounts counts() const {
    const RunLabels<Exec>& labels = label.labels();
    return {labels.components, labels.dropped, labels.foreground_pixels};
  }

  BitMask<Exec> foreground, seeds;
  Labeller<Exec> label;
  IslandMeasurer<Exec, T> measure;
};

template <class Exec, Real T>
struct IslandSearch {
  IslandSearch(const Exec& s, const IslandParams& p)
      : space(s), params(p), positive(s, p, Side::above), negative(s, p, Side::below) {}

  /// The masks are stored one after another in `storage`.
  void reserve_masks(const Shape& shape, bool has_detection) {
    std::vector<BitMask<Exec>*> masks{&blank, &positive.foreground, &positive.seeds};
    if (params.negative) masks.insert(masks.end(), {&negative.foreground, &negative.seeds});
    if (has_detection) masks.push_back(&measurable);
    const auto count = static_cast<std::int64_t>(masks.size());
    BitMask<Exec> mask;
    mask.ny = shape.ny;
    mask.nx = shape.nx;
    const std::int64_t words = mask.ny * mask.words_per_row();
    core::grow(storage, space, "kastor::islands::masks", count * words);
    for (std::int64_t i = 0; i < count; ++i) {
      mask.words =
          decltype(mask.words)(storage.data() + i * words, static_cast<std::size_t>(mask.ny),
                               static_cast<std::size_t>(mask.words_per_row()));
      *masks[static_cast<std::size_t>(i)] = mask;
    }
  }

  void check(const Shape& shape, const Background<Exec, T>& background,
             const Detection<Exec, T>* detection, const BitMask<Exec>& region) const {
    const core::ImageShape of_image{"kastor::find_islands", shape};
    of_image.expect_background<Exec, T>(background);
    if (detection != nullptr) {
      const auto other = shape_of<T, Exec>("kastor::find_islands", detection->bands);
      of_image.expect("the detection image is", other.ny, other.nx);
      of_image.expect_background<Exec, T>(detection->background, "detection ");
    }
    of_image.expect_region(region);
  }

  void mark(Bands<T, Exec> bands, const Patches& patches, const Thresholds<Exec, T>& thresholds,
            const std::uint64_t* region, bool both_sides) {
    core::grow(limits, space, "kastor::islands::limits", patches.count());
    mark_islands<Exec, T>(
        space, bands, patches, thresholds, region, limits.data(),
        {blank.words.data(), positive.foreground.words.data(), positive.seeds.words.data(),
         both_sides ? negative.foreground.words.data() : nullptr,
         both_sides ? negative.seeds.words.data() : nullptr});
  }
  /// The pixels of the region that can be measured: nothing is above infinite thresholds, so the
  /// marks are those of blank pixels. The marks that count overwrite them.
  [[nodiscard]] const std::uint64_t* mark_measurable(Bands<T, Exec> bands, const Shape& shape,
                                                     const Background<Exec, T>& background,
                                                     const std::uint64_t* region) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    mark(bands, {shape, background}, {background, infinity, infinity}, region, false);
    core::for_each("kastor::islands::not_blank", space, shape.ny * blank.words_per_row(),
                   NotBlank{blank.words.data(), measurable.words.data()});
    return measurable.words.data();
  }

  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const Detection<Exec, T>* detection, const StripRows& strip) {
    const std::uint64_t* const words = blank.words.data();
    positive.enqueue(bands, background, detection, words, strip);
    if (params.negative) negative.enqueue(bands, background, detection, words, strip);
  }
  /// False if a list was too short; it has grown.
  [[nodiscard]] bool finish() {
    space.fence("kastor::find_islands");
    bool had_room = positive.finish(0);
    if (params.negative) had_room = negative.finish(positive.counts().islands) && had_room;
    return had_room;
  }

  /// `detection`: null if the islands are to be found in the image itself.
  [[nodiscard]] FoundIslands run(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                 const Detection<Exec, T>* detection, const BitMask<Exec>& region) {
    const Shape shape = shape_of<T, Exec>("kastor::find_islands", bands);
    return run(shape, bands, background, detection, region, StripRows{0, shape.ny});
  }
  /// The same for a strip of an image. The arguments are those of the strip alone, but islands have
  /// the rows of the image and touch its edges only. An island that the border of the strip cuts is
  /// not entire. `drop_at_edge` must not be set: the labels know the border of the strip alone.
  [[nodiscard]] FoundIslands run(const Shape& shape, Bands<T, Exec> bands,
                                 const Background<Exec, T>& background,
                                 const Detection<Exec, T>* detection, const BitMask<Exec>& region,
                                 const StripRows& strip) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::find_islands");
    check(shape, background, detection, region);
    reserve_masks(shape, detection != nullptr);
    const std::uint64_t* usable = region.words.data();
    if (detection != nullptr) usable = mark_measurable(bands, shape, background, usable);
    const Background<Exec, T>& decides = detection != nullptr ? detection->background : background;
    mark(detection != nullptr ? detection->bands : bands, {shape, decides},
         {decides, params.seed, params.flood}, usable, params.negative);
    do {
      enqueue(bands, background, detection, strip);
    } while (!finish());
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
  IslandsOfSide<Exec, T> positive;
  IslandsOfSide<Exec, T> negative;
  BitMask<Exec> blank;
  BitMask<Exec> measurable;  ///< only with a detection image
  /// Both grow to the largest image; the masks are parts of `storage`.
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> storage;
  Kokkos::View<PatchLimits<T>*, typename Exec::memory_space> limits;
};

}  // namespace kastor::detail

#endif

// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <kastor/background.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <string>

#include "background/map_walk.hpp"
#include "core/launch.hpp"
#include "core/raster_walk.hpp"

namespace kastor::detail {
namespace {

std::string size_text(std::int64_t ny, std::int64_t nx) {
  return std::to_string(nx) + " x " + std::to_string(ny) + " pixels";
}

/// The shape of the image, which everything else must have.
struct MapShape {
  const char* function;
  std::int64_t ny, nx;

  template <class V>
  MapShape(const char* name, const V& image)
      : function(name),
        ny(static_cast<std::int64_t>(image.extent(0))),
        nx(static_cast<std::int64_t>(image.extent(1))) {}

  void expect(const char* what, std::int64_t other_ny, std::int64_t other_nx) const {
    KASTOR_EXPECTS(function, other_ny == ny && other_nx == nx,
                   std::string(what) + size_text(other_ny, other_nx) + "; expected " +
                       size_text(ny, nx) + ", as the image");
  }
  template <class V>
  void expect(const char* what, const V& view) const {
    expect(what, static_cast<std::int64_t>(view.extent(0)),
           static_cast<std::int64_t>(view.extent(1)));
  }
  template <class Exec, class T>
  void expect(const Background<Exec, T>& background) const {
    using Kind = typename PixelMap<Exec, T>::Kind;
    if (background.level.kind() == Kind::image) expect("the level is ", background.level.image());
    if (background.rms.kind() == Kind::image) expect("the rms is ", background.rms.image());
  }
  /// The shape of labels without components is not checked.
  template <class Exec>
  void expect(const RunLabels<Exec>& positive, const RunLabels<Exec>& negative) const {
    if (positive.components > 0) expect("the positive labels are ", positive.ny, positive.nx);
    if (negative.components > 0) expect("the negative labels are ", negative.ny, negative.nx);
  }
};

}  // namespace

/// The label of a pixel; 0 if nothing was labelled.
template <class Exec>
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t label_at(const RunLabels<Exec>& labels,
                                                           std::int64_t y, std::int64_t x) {
  return labels.components > 0 ? labels.at(y, x) : 0;
}

/// Writes the pixels of one worker, one after another. Each thread constructs its own `PixelWriter`
/// from the kernel's arguments; `writer(y, x)` writes a pixel.
template <class Exec, class PixelWriter>
struct WritePixels {
  typename PixelWriter::Arguments arguments;
  std::int64_t ny, nx, workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    PixelWriter write(arguments);
    const core::Share<Exec> share(worker, workers, 0, ny * nx);
    core::RasterWalk<> walk(share.first, share.step, nx);
    for (std::int64_t i = share.first; i < share.past; i += share.step) {
      write(walk.y(), walk.x());
      walk.step();
    }
  }
};

template <class PixelWriter, class Exec>
void write_pixels(const char* label, const Exec& space, std::int64_t ny, std::int64_t nx,
                  const typename PixelWriter::Arguments& arguments) {
  if (ny * nx == 0) return;
  const std::int64_t workers = core::workers_of(space, ny * nx);
  core::for_each(label, space, workers, WritePixels<Exec, PixelWriter>{arguments, ny, nx, workers});
}

template <class Exec, class T>
struct MapPixel {
  struct Arguments {
    PixelMap<Exec, T> map;
    MutableImage<T, Exec> image;
    std::int64_t first_row;
  };
  const Arguments& with;
  MapWalk<Exec, T> map;

  KOKKOS_FUNCTION explicit MapPixel(const Arguments& a) : with(a), map(a.map) {}
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) {
    with.image(y, x) = static_cast<T>(map(with.first_row + y, x));
  }
};

template <class Exec, class T>
struct SnrPixel {
  struct Arguments {
    ConstImage<T, Exec> image;
    Background<Exec, T> background;
    MutableImage<T, Exec> snr;
  };
  const Arguments& with;
  MapWalk<Exec, T> level, rms;

  KOKKOS_FUNCTION explicit SnrPixel(const Arguments& a)
      : with(a), level(a.background.level), rms(a.background.rms) {}
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) {
    const double noise = rms(y, x);
    const double deviation = static_cast<double>(with.image(y, x)) - level(y, x);
    const bool known = noise > 0 && Kokkos::isfinite(noise) && Kokkos::isfinite(deviation);
    with.snr(y, x) =
        known ? static_cast<T>(deviation / noise) : Kokkos::Experimental::quiet_NaN_v<T>;
  }
};

template <class Exec, class T>
struct ResidualPixel {
  struct Arguments {
    ConstImage<T, Exec> image;
    PixelMap<Exec, T> level;
    RunLabels<Exec> positive, negative;
    MutableImage<T, Exec> residual;
  };
  const Arguments& with;
  MapWalk<Exec, T> level;

  KOKKOS_FUNCTION explicit ResidualPixel(const Arguments& a) : with(a), level(a.level) {}
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) {
    const bool in_island = label_at(with.positive, y, x) != 0 || label_at(with.negative, y, x) != 0;
    with.residual(y, x) = in_island ? static_cast<T>(level(y, x)) : with.image(y, x);
  }
};

template <class Exec, class Label>
struct IdPixel {
  struct Arguments {
    RunLabels<Exec> positive, negative;
    LabelImage<Label, Exec> ids;
  };
  const Arguments& with;

  KOKKOS_FUNCTION explicit IdPixel(const Arguments& a) : with(a) {}
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) {
    std::int64_t id = label_at(with.positive, y, x);
    if (id == 0) {
      const std::int64_t below = label_at(with.negative, y, x);
      id = below == 0 ? 0 : with.positive.components + below;
    }
    with.ids(y, x) = static_cast<Label>(id);
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const MutableImage<T, Exec>& image,
              std::int64_t first_row) {
  KASTOR_EXPECTS("kastor::fill_map", first_row >= 0,
                 "the first row is " + std::to_string(first_row) + "; expected 0 or more");
  detail::write_pixels<detail::MapPixel<Exec, T>>(
      "kastor::background::fill_map", space, static_cast<std::int64_t>(image.extent(0)),
      static_cast<std::int64_t>(image.extent(1)), {map, image, first_row});
}

template <class Exec, Real T>
void fill_snr_map(const Exec& space, const ConstImage<T, Exec>& image,
                  const Background<Exec, T>& background, const MutableImage<T, Exec>& snr) {
  const detail::MapShape shape("kastor::fill_snr_map", image);
  shape.expect("the map is ", snr);
  shape.expect(background);
  detail::write_pixels<detail::SnrPixel<Exec, T>>("kastor::background::fill_snr_map", space,
                                                  shape.ny, shape.nx, {image, background, snr});
}

template <class Exec, Real T>
void fill_residual_map(const Exec& space, const ConstImage<T, Exec>& image,
                       const Background<Exec, T>& background, const RunLabels<Exec>& positive,
                       const RunLabels<Exec>& negative, const MutableImage<T, Exec>& residual) {
  const detail::MapShape shape("kastor::fill_residual_map", image);
  shape.expect("the map is ", residual);
  shape.expect(background);
  shape.expect(positive, negative);
  detail::write_pixels<detail::ResidualPixel<Exec, T>>(
      "kastor::background::fill_residual_map", space, shape.ny, shape.nx,
      {image, background.level, positive, negative, residual});
}

template <class Exec, class Label>
void write_island_labels(
    const Exec& space, const RunLabels<Exec>& positive, const RunLabels<Exec>& negative,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& ids) {
  const detail::MapShape shape("kastor::write_island_labels", ids);
  shape.expect(positive, negative);
  const std::int64_t largest = std::int64_t{positive.components} + negative.components;
  KASTOR_EXPECTS("kastor::write_island_labels", largest <= std::numeric_limits<Label>::max(),
                 "found " + std::to_string(largest) + " islands; expected at most " +
                     std::to_string(std::numeric_limits<Label>::max()) + " for this type of pixel");
  detail::write_pixels<detail::IdPixel<Exec, Label>>("kastor::background::write_island_labels",
                                                     space, shape.ny, shape.nx,
                                                     {positive, negative, ids});
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                            \
  template void kastor::fill_map<EXEC, T>(const EXEC&, const kastor::PixelMap<EXEC, T>&,       \
                                          const kastor::MutableImage<T, EXEC>&, std::int64_t); \
  template void kastor::fill_snr_map<EXEC, T>(const EXEC&, const kastor::ConstImage<T, EXEC>&, \
                                              const kastor::Background<EXEC, T>&,              \
                                              const kastor::MutableImage<T, EXEC>&);           \
  template void kastor::fill_residual_map<EXEC, T>(                                            \
      const EXEC&, const kastor::ConstImage<T, EXEC>&, const kastor::Background<EXEC, T>&,     \
      const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,                          \
      const kastor::MutableImage<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

#define KASTOR_INSTANTIATE(EXEC)                                                              \
  template void kastor::write_island_labels<EXEC, std::int32_t>(                              \
      const EXEC&, const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,            \
      const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename EXEC::memory_space>&); \
  template void kastor::write_island_labels<EXEC, std::int64_t>(                              \
      const EXEC&, const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,            \
      const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, typename EXEC::memory_space>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

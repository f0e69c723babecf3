// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <string>

namespace kastor {
namespace {

template <class Exec, class Kernel>
void for_each_pixel(const char* name, const Exec& space, std::int64_t ny, std::int64_t nx,
                    const Kernel& kernel) {
  Kokkos::parallel_for(name, detail::IndexRange<Exec>(space, 0, ny * nx), kernel);
}

std::string size_text(std::int64_t ny, std::int64_t nx) {
  return std::to_string(nx) + " x " + std::to_string(ny) + " pixels";
}

/// The shape that everything else must have.
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
                       size_text(ny, nx) + " as the image");
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
  /// Labels of nothing are not looked at.
  template <class Exec>
  void expect(const RunLabels<Exec>& positive, const RunLabels<Exec>& negative) const {
    if (positive.components > 0) expect("the positive labels are ", positive.ny, positive.nx);
    if (negative.components > 0) expect("the negative labels are ", negative.ny, negative.nx);
  }
};

/// The label of a pixel; nothing was labelled: 0.
template <class Exec>
KOKKOS_INLINE_FUNCTION std::int64_t label_at(const RunLabels<Exec>& labels, std::int64_t y,
                                             std::int64_t x) {
  return labels.components > 0 ? labels.at(y, x) : 0;
}

}  // namespace

namespace detail {

template <class Exec, class T>
struct FillSnr {
  ConstImage<T, Exec> image;
  Background<Exec, T> background;
  MutableImage<T, Exec> snr;
  std::int64_t nx;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / nx;
    const std::int64_t x = i % nx;
    const double rms = background.rms(y, x);
    const double deviation = static_cast<double>(image(y, x)) - background.level(y, x);
    const bool known = rms > 0 && Kokkos::isfinite(rms) && Kokkos::isfinite(deviation);
    snr(y, x) = known ? static_cast<T>(deviation / rms) : Kokkos::Experimental::quiet_NaN_v<T>;
  }
};

template <class Exec, class T>
struct FillResidual {
  ConstImage<T, Exec> image;
  Background<Exec, T> background;
  RunLabels<Exec> positive, negative;
  MutableImage<T, Exec> residual;
  std::int64_t nx;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / nx;
    const std::int64_t x = i % nx;
    const bool in_island = label_at(positive, y, x) != 0 || label_at(negative, y, x) != 0;
    residual(y, x) = in_island ? static_cast<T>(background.level(y, x)) : image(y, x);
  }
};

template <class Exec, class Label>
struct WriteIds {
  RunLabels<Exec> positive, negative;
  Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space> ids;
  std::int64_t nx;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / nx;
    const std::int64_t x = i % nx;
    std::int64_t id = label_at(positive, y, x);
    if (id == 0) {
      const std::int64_t below = label_at(negative, y, x);
      id = below == 0 ? 0 : positive.components + below;
    }
    ids(y, x) = static_cast<Label>(id);
  }
};

}  // namespace detail

template <class Exec, Real T>
void fill_snr_map(const Exec& space, const ConstImage<T, Exec>& image,
                  const Background<Exec, T>& background, const MutableImage<T, Exec>& snr) {
  const MapShape shape("kastor::fill_snr_map", image);
  shape.expect("the map is ", snr);
  shape.expect(background);
  for_each_pixel("kastor::fill_snr_map", space, shape.ny, shape.nx,
                 detail::FillSnr<Exec, T>{image, background, snr, shape.nx});
}

template <class Exec, Real T>
void fill_residual_map(const Exec& space, const ConstImage<T, Exec>& image,
                       const Background<Exec, T>& background, const RunLabels<Exec>& positive,
                       const RunLabels<Exec>& negative, const MutableImage<T, Exec>& residual) {
  const MapShape shape("kastor::fill_residual_map", image);
  shape.expect("the map is ", residual);
  shape.expect(background);
  shape.expect(positive, negative);
  for_each_pixel(
      "kastor::fill_residual_map", space, shape.ny, shape.nx,
      detail::FillResidual<Exec, T>{image, background, positive, negative, residual, shape.nx});
}

template <class Exec, class Label>
void write_island_labels(
    const Exec& space, const RunLabels<Exec>& positive, const RunLabels<Exec>& negative,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& ids) {
  const MapShape shape("kastor::write_island_labels", ids);
  shape.expect(positive, negative);
  const std::int64_t largest = positive.components + negative.components;
  KASTOR_EXPECTS("kastor::write_island_labels", largest <= std::numeric_limits<Label>::max(),
                 "found " + std::to_string(largest) + " islands; expected at most " +
                     std::to_string(std::numeric_limits<Label>::max()) + " in this type of image");
  for_each_pixel("kastor::write_island_labels", space, shape.ny, shape.nx,
                 detail::WriteIds<Exec, Label>{positive, negative, ids, shape.nx});
}

}  // namespace kastor

#define KASTOR_INSTANTIATE_MAPS(EXEC, T)                                                       \
  template void kastor::fill_snr_map<EXEC, T>(const EXEC&, const kastor::ConstImage<T, EXEC>&, \
                                              const kastor::Background<EXEC, T>&,              \
                                              const kastor::MutableImage<T, EXEC>&);           \
  template void kastor::fill_residual_map<EXEC, T>(                                            \
      const EXEC&, const kastor::ConstImage<T, EXEC>&, const kastor::Background<EXEC, T>&,     \
      const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,                          \
      const kastor::MutableImage<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE_MAPS)

#define KASTOR_INSTANTIATE_LABELS(EXEC)                                                       \
  template void kastor::write_island_labels<EXEC, std::int32_t>(                              \
      const EXEC&, const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,            \
      const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename EXEC::memory_space>&); \
  template void kastor::write_island_labels<EXEC, std::int64_t>(                              \
      const EXEC&, const kastor::RunLabels<EXEC>&, const kastor::RunLabels<EXEC>&,            \
      const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, typename EXEC::memory_space>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE_LABELS)

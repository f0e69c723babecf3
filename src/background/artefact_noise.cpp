// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/artefact_noise.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>
#include <vector>

#include "background/artefact_cells.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"

namespace kastor::detail {
namespace {

const char* const artefact_noise = "kastor::ArtefactNoise";
constexpr double most_pixels = 1e6;  ///< of a beam width, and of a radius in beam widths

void check_artefact_params(const ArtefactNoiseParams& params) {
  KASTOR_EXPECTS(
      artefact_noise, params.min_snr > 0 && std::isfinite(params.min_snr),
      "min_snr is " + std::to_string(params.min_snr) + "; expected a finite number above 0");
  KASTOR_EXPECTS(artefact_noise, params.beam_width > 0 && params.beam_width <= most_pixels,
                 "beam_width is " + std::to_string(params.beam_width) +
                     "; expected a number of pixels above 0, at most 1e6");
  KASTOR_EXPECTS(artefact_noise, params.radius >= 0 && params.radius <= most_pixels,
                 "radius is " + std::to_string(params.radius) +
                     "; expected a number of beam widths from 0 to 1e6");
}

void check_artefact_shape(const char* what, std::int64_t ny, std::int64_t nx, Shape image) {
  KASTOR_EXPECTS(artefact_noise, ny == image.ny && nx == image.nx,
                 std::string(what) + " is " + std::to_string(ny) + " x " + std::to_string(nx) +
                     " and the image " + std::to_string(image.ny) + " x " +
                     std::to_string(image.nx) + "; expected the same shape");
}

template <class Exec, class T>
void check_artefact_map(const char* what, const PixelMap<Exec, T>& map, Shape image) {
  if (map.kind() != PixelMap<Exec, T>::Kind::image) return;
  check_artefact_shape(what, static_cast<std::int64_t>(map.image().extent(0)),
                       static_cast<std::int64_t>(map.image().extent(1)), image);
}

[[nodiscard]] ArtefactCells artefact_cells(Shape image, double beam_width) {
  ArtefactCells cells;
  cells.image = image;
  cells.side = std::max<std::int64_t>(1, std::lround(2 * beam_width));
  cells.mesh = {(image.ny - 1) / cells.side + 1, (image.nx - 1) / cells.side + 1};
  return cells;
}

/// Marks the cells with their centre within `radius` pixels of a pixel, and their neighbours,
/// which their windows cover.
void mark_artefact_cells(const ArtefactCells& cells, double y, double x, double radius,
                         std::vector<ArtefactCellUse>& uses) {
  const auto side = static_cast<double>(cells.side);
  const auto centre = [side](std::int64_t i) {
    return (static_cast<double>(i) + 0.5) * side - 0.5;
  };
  const auto first = [&](double at) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>((at - radius) / side) - 2);
  };
  const auto past = [&](double at, std::int64_t count) {
    return std::min(count, static_cast<std::int64_t>(std::min(at + radius, 1e15) / side) + 3);
  };
  const std::int64_t j_past = past(y, cells.mesh.ny), i_past = past(x, cells.mesh.nx);
  for (std::int64_t j = first(y); j < j_past; ++j) {
    for (std::int64_t i = first(x); i < i_past; ++i) {
      const double dy = centre(j) - y, dx = centre(i) - x;
      if (dy * dy + dx * dx > radius * radius) continue;
      for (std::int64_t v = std::max<std::int64_t>(0, j - 1); v <= j + 1; ++v) {
        for (std::int64_t u = std::max<std::int64_t>(0, i - 1); u <= i + 1; ++u) {
          if (v >= cells.mesh.ny || u >= cells.mesh.nx) continue;
          auto& use = uses[static_cast<std::size_t>(v * cells.mesh.nx + u)];
          use =
              std::max(use, v == j && u == i ? ArtefactCellUse::near : ArtefactCellUse::neighbour);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct ArtefactNoise<Exec, T>::Plan {
  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;
  using HostUses = Kokkos::View<const detail::ArtefactCellUse*, Kokkos::HostSpace,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Plan(const Exec& s, const ArtefactNoiseParams& p) : space(s), params(p) {}

  [[nodiscard]] Background<Exec, T> run(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                        std::span<const Island> islands,
                                        const BitMask<Exec>& region) {
    const Kokkos::Profiling::ScopedRegion profiled("kastor::artefact_noise");
    const detail::Shape shape = detail::shape_of<T, Exec>(detail::artefact_noise, bands);
    detail::check_artefact_map("the level", background.level, shape);
    detail::check_artefact_map("the rms", background.rms, shape);
    const bool has_region = region.ny != 0 || region.nx != 0;
    if (has_region) detail::check_artefact_shape("the region", region.ny, region.nx, shape);
    summary = {};
    if (shape.ny == 0 || shape.nx == 0) return background;
    const auto cells = detail::artefact_cells(shape, params.beam_width);
    mark(cells, islands);
    if (summary.bright == 0) return background;
    estimate(cells, bands, background, region);
    write(cells, background.rms);
    return {background.level, PixelMap<Exec, T>(ConstImage<T, Exec>(raised))};
  }

  /// Finds the bright islands, and the cells that they need.
  void mark(const detail::ArtefactCells& cells, std::span<const Island> islands) {
    uses.clear();
    for (const Island& island : islands) {
      if (!(island.snr_peak > params.min_snr)) continue;
      KASTOR_EXPECTS(detail::artefact_noise,
                     island.y_peak >= 0 && island.y_peak < cells.image.ny && island.x_peak >= 0 &&
                         island.x_peak < cells.image.nx,
                     "the peak of island " + std::to_string(island.id) + " is at x = " +
                         std::to_string(island.x_peak) + ", y = " + std::to_string(island.y_peak) +
                         "; expected a pixel of the image");
      uses.resize(static_cast<std::size_t>(cells.count()), detail::ArtefactCellUse::none);
      ++summary.bright;
      detail::mark_artefact_cells(cells, island.y_peak, island.x_peak,
                                  params.radius * params.beam_width, uses);
    }
  }

  /// Enqueues the sums and factors of the cells.
  void estimate(const detail::ArtefactCells& cells, Bands<T, Exec> bands,
                const Background<Exec, T>& background, const BitMask<Exec>& region) {
    const std::int64_t n = cells.count();
    core::grow(device_uses, space, "kastor::artefact_noise::uses", n);
    core::grow(sums, space, "kastor::artefact_noise::sums", n);
    core::grow(factors, space, "kastor::artefact_noise::factors", n);
    const auto used = std::make_pair(std::size_t{0}, static_cast<std::size_t>(n));
    Kokkos::deep_copy(space, Kokkos::subview(device_uses, used),
                      HostUses(uses.data(), uses.size()));
    core::for_each("kastor::artefact_noise::clear", space, n, detail::ClearBelow{sums.data()});
    const bool has_region = region.ny != 0;
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const auto rows = detail::rows_of<T, Exec>(band);
      core::for_each("kastor::artefact_noise::sum", space, n,
                     detail::SumBelow<Exec, T>{cells, rows, first_row, background,
                                               has_region ? region.words.data() : nullptr,
                                               has_region ? region.words_per_row() : 0,
                                               device_uses.data(), sums.data()});
      first_row += rows.ny;
    }
    core::for_each("kastor::artefact_noise::raise_cells", space, n,
                   detail::RaiseCell{cells, device_uses.data(), sums.data(), factors.data()});
  }

  /// Writes the map, and waits for the summary.
  void write(const detail::ArtefactCells& cells, const PixelMap<Exec, T>& rms) {
    const auto ny = static_cast<std::size_t>(cells.image.ny);
    const auto nx = static_cast<std::size_t>(cells.image.nx);
    if (raised.extent(0) != ny || raised.extent(1) != nx) {
      raised = {};
      raised = Image<T, Exec>(
          Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::artefact_noise::raised"),
          ny, nx);
    }
    const std::int64_t workers = core::workers_of(space, cells.image.ny * cells.image.nx);
    const auto pixels = core::reduce(
        "kastor::artefact_noise::write", space, workers,
        detail::WriteRaised<Exec, T>{cells, rms, factors.data(), raised.data(), workers});
    summary.raised_pixels = pixels.count;
    summary.largest_factor = pixels.largest;
  }

  Exec space;
  ArtefactNoiseParams params;
  ArtefactNoiseSummary summary;
  std::vector<detail::ArtefactCellUse> uses;  // lives until the fence at the end of a call
  List<detail::ArtefactCellUse> device_uses;
  List<detail::BelowSum> sums;
  List<double> factors;
  Image<T, Exec> raised;
};

template <class Exec, Real T>
ArtefactNoise<Exec, T>::ArtefactNoise(const Exec& space, const ArtefactNoiseParams& params) {
  detail::check_artefact_params(params);
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
ArtefactNoise<Exec, T>::~ArtefactNoise() = default;
template <class Exec, Real T>
ArtefactNoise<Exec, T>::ArtefactNoise(ArtefactNoise&&) noexcept = default;
template <class Exec, Real T>
ArtefactNoise<Exec, T>& ArtefactNoise<Exec, T>::operator=(ArtefactNoise&&) noexcept = default;

template <class Exec, Real T>
Background<Exec, T> ArtefactNoise<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                                       const Background<Exec, T>& background,
                                                       std::span<const Island> islands,
                                                       const BitMask<Exec>& region) {
  return m_plan->run(Bands<T, Exec>(&image, 1), background, islands, region);
}
template <class Exec, Real T>
Background<Exec, T> ArtefactNoise<Exec, T>::operator()(Bands<T, Exec> bands,
                                                       const Background<Exec, T>& background,
                                                       std::span<const Island> islands,
                                                       const BitMask<Exec>& region) {
  return m_plan->run(bands, background, islands, region);
}
template <class Exec, Real T>
const ArtefactNoiseSummary& ArtefactNoise<Exec, T>::summary() const {
  return m_plan->summary;
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::ArtefactNoise<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

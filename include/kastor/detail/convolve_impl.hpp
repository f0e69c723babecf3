// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CONVOLVE_IMPL_HPP
#define KASTOR_DETAIL_CONVOLVE_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/convolve.hpp>
#include <kastor/detail/convolve_device.hpp>
#include <kastor/detail/convolve_host.hpp>
#include <kastor/detail/convolve_taps.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/work_shares.hpp>
#include <limits>
#include <string>
#include <utility>

namespace kastor::detail {

/// Extent of the result in one direction, and where its first pixel lies in mode full.
struct ResultRange {
  std::int64_t begin;
  std::int64_t extent;
};
[[nodiscard]] inline ResultRange result_range(ConvolveMode mode, std::int64_t image,
                                              std::int64_t kernel) {
  switch (mode) {
    case ConvolveMode::same:
      return {(kernel - 1) / 2, image};
    case ConvolveMode::valid:
      return {std::min(image, kernel) - 1, std::max(image, kernel) - std::min(image, kernel) + 1};
    case ConvolveMode::full:
      break;
  }
  return {0, image + kernel - 1};
}

/// Finite pixels as they are and with weight 1, the others as 0 with weight 0. The weights have a
/// margin of ones: beyond the image are zeros, which are as good as any.
template <class T>
struct SplitBlanks {
  Rows<T> image;
  T* values;
  T* weights;
  std::int64_t margin_y, margin_x;

  [[nodiscard]] std::int64_t weights_ny() const { return image.ny + 2 * margin_y; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t weights_nx() const { return image.nx + 2 * margin_x; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / weights_nx() - margin_y;
    const std::int64_t x = i % weights_nx() - margin_x;
    const bool inside = y >= 0 && y < image.ny && x >= 0 && x < image.nx;
    const T pixel = inside ? image.data[y * image.pitch + x] : T{0};
    const bool finite = Kokkos::isfinite(pixel);
    weights[i] = finite ? T{1} : T{0};
    if (inside) values[y * image.nx + x] = finite ? pixel : T{0};
  }
};

/// result *= sum_of_taps / weight
template <class T>
struct Renormalise {
  Target<T> result;
  const T* weights;
  T sum_of_taps;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / result.nx;
    T& pixel = result.data[y * result.pitch + i % result.nx];
    pixel = weights[i] == T{0} ? Kokkos::Experimental::quiet_NaN_v<T>
                               : pixel * (sum_of_taps / weights[i]);
  }
};

/// A host's tiles. Each worker has work space of its own.
template <class T>
struct ConvolveTiles {
  HostConvolution<T> convolution;
  std::int64_t rows, tiles_x;
  T* scratch;
  std::size_t scratch_per_worker;

  [[nodiscard]] std::int64_t count() const {
    return (convolution.result_ny + rows - 1) / rows * tiles_x;
  }
  [[nodiscard]] auto worker(std::int64_t k) const {
    T* const space = scratch + static_cast<std::size_t>(k) * scratch_per_worker;
    return [this, space](std::int64_t i) {
      const std::int64_t y = i / tiles_x * rows;
      const std::int64_t x = i % tiles_x * host_tile_width;
      convolve_tile(convolution,
                    HostTile{y, std::min(convolution.result_ny, y + rows), x,
                             std::min(convolution.result_nx, x + host_tile_width)},
                    space);
    };
  }
};

template <class T>
struct ConvolveSignalPieces {
  static constexpr std::int64_t piece = 32768;
  HostSignalConvolution<T> convolution;
  void operator()(std::int64_t i) const {
    convolve_signal_piece(convolution, i * piece,
                          std::min(convolution.result_length(), (i + 1) * piece));
  }
};

/// The kernel for Size x Size taps. Its taps travel with the launch, which Kokkos does for functors
/// of this size only if it is told that they are light. False if there are too many tiles for that.
template <int Size, class Exec, class T>
bool launch_square(const Exec& space, const Rows<T>& image, const Target<T>& result,
                   const TapOrigin& origin, const T* taps, bool onto) {
  constexpr std::int64_t pack = PixelPack<T>::size;
  using Kernel = ConvolveSquare<Exec, T, Size>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<tile_threads, 8>>;
  const std::int64_t shift = (origin.x % pack + pack) % pack;
  const std::int64_t tiles_x = (result.nx + shift + tile_width - 1) / tile_width;
  const std::int64_t tiles = tiles_x * ((result.ny + tile_height - 1) / tile_height);
  if (tiles > std::numeric_limits<int>::max()) return false;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0 && image.pitch % pack == 0;
  Kernel kernel{image, result, origin, shift, static_cast<int>(tiles_x), aligned, onto, {}, {}};
  std::copy_n(taps, Size, kernel.along_x);
  std::copy_n(taps + Size, Size, kernel.along_y);
  // 16 bytes more, as scratch memory is aligned to 8.
  const auto policy = Policy(space, static_cast<int>(tiles), tile_threads)
                          .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes + 16));
  Kokkos::parallel_for("kastor::convolve::square",
                       Kokkos::Experimental::require(
                           policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       kernel);
  return true;
}

/// True if there is a kernel for `size`, which has then been launched.
template <class Exec, class T, class... Arguments>
bool try_square(std::int64_t size, const Exec& space, const Arguments&... arguments) {
  bool found = false;
  const auto attempt = [&]<int Size>() {
    if (size == Size) found = launch_square<Size, Exec, T>(space, arguments...);
  };
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (attempt.template operator()<2 * I + 3>(), ...);
  }
  (std::make_integer_sequence<int, 15>{});  // 3, 5, ... 31
  return found;
}

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct Convolver<Exec, T>::Plan {
  using Policy = detail::IndexRange<Exec>;
  using List = Kokkos::View<T*, typename Exec::memory_space>;

  Plan(const Exec& s, const ConvolutionKernel& kernel, const ConvolveParams& p)
      : space(s), params(p), taps(detail::make_taps<T>(kernel, p.method)) {
    device_taps =
        List(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::convolve::taps"),
             taps.values.size());
    Kokkos::deep_copy(
        space, device_taps,
        Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            taps.values.data(), taps.values.size()));
    space.fence("kastor::convolve::taps");
  }

  [[nodiscard]] ImageShape result_shape(const ImageShape& image) const {
    if (image.ny <= 0 || image.nx <= 0) return {0, 0};
    KASTOR_EXPECTS(
        "kastor::convolve",
        params.mode != ConvolveMode::valid || (image.ny >= taps.ny && image.nx >= taps.nx) ||
            (image.ny <= taps.ny && image.nx <= taps.nx),
        "the image is " + std::to_string(image.ny) + " x " + std::to_string(image.nx) +
            " and the kernel " + std::to_string(taps.ny) + " x " + std::to_string(taps.nx) +
            " pixels; mode valid expects one of them to fit into the other");
    return {detail::result_range(params.mode, image.ny, taps.ny).extent,
            detail::result_range(params.mode, image.nx, taps.nx).extent};
  }

  [[nodiscard]] detail::TapOrigin origin_for(const detail::Rows<T>& image) const {
    return {detail::result_range(params.mode, image.ny, taps.ny).begin - (taps.ny - 1),
            detail::result_range(params.mode, image.nx, taps.nx).begin - (taps.nx - 1)};
  }

  void run(const ConstImage<T, Exec>& image_view, const MutableImage<T, Exec>& result_view) {
    const Kokkos::Profiling::ScopedRegion region("kastor::convolve");
    const auto image = detail::rows_of<T, Exec>(image_view);
    const auto written = detail::rows_of<T, Exec>(ConstImage<T, Exec>(result_view));
    const detail::Target<T> result{result_view.data(), written.ny, written.nx, written.pitch};
    const ImageShape wanted = result_shape({image.ny, image.nx});
    KASTOR_EXPECTS("kastor::convolve", result.ny == wanted.ny && result.nx == wanted.nx,
                   "the result is " + std::to_string(result.ny) + " x " +
                       std::to_string(result.nx) + " pixels; expected " +
                       std::to_string(wanted.ny) + " x " + std::to_string(wanted.nx));
    if (result.ny * result.nx == 0) return;
    const T* image_end = image.data + (image.ny - 1) * image.pitch + image.nx;
    const T* result_end = result.data + (result.ny - 1) * result.pitch + result.nx;
    KASTOR_EXPECTS("kastor::convolve", image_end <= result.data || result_end <= image.data,
                   "the image and the result share memory; expected two images apart");
    if (params.nan == NanTreatment::propagate) {
      sum(image, origin_for(image), result);
    } else {
      interpolate(image, result);
    }
  }

  void interpolate(const detail::Rows<T>& image, const detail::Target<T>& result) {
    detail::SplitBlanks<T> split{image, nullptr, nullptr, taps.ny - 1, taps.nx - 1};
    const std::int64_t weights_count = split.weights_ny() * split.weights_nx();
    detail::grow(values, space, "kastor::convolve::values", image.ny * image.nx);
    detail::grow(weights, space, "kastor::convolve::weights", weights_count);
    detail::grow(result_weights, space, "kastor::convolve::result_weights", result.ny * result.nx);
    split.values = values.data();
    split.weights = weights.data();
    Kokkos::parallel_for("kastor::convolve::split_blanks", Policy(space, 0, weights_count), split);

    const detail::TapOrigin origin = origin_for(image);
    sum({values.data(), image.ny, image.nx, image.nx}, origin, result);
    sum({weights.data(), split.weights_ny(), split.weights_nx(), split.weights_nx()},
        {origin.y + split.margin_y, origin.x + split.margin_x},
        {result_weights.data(), result.ny, result.nx, result.nx});
    Kokkos::parallel_for("kastor::convolve::renormalise", Policy(space, 0, result.ny * result.nx),
                         detail::Renormalise<T>{result, result_weights.data(), all_taps});
  }

  void sum(const detail::Rows<T>& image, const detail::TapOrigin& origin,
           const detail::Target<T>& result) {
    if constexpr (is_host_space_v<Exec>) {
      sum_on_host(image, origin, result);
    } else {
      sum_on_device(image, origin, result);
    }
  }

  void sum_on_host(const detail::Rows<T>& image, const detail::TapOrigin& origin,
                   const detail::Target<T>& result) requires is_host_space_v<Exec> {
    detail::ConvolveTiles<T> tiles{};
    tiles.convolution = {image.data, image.ny,  image.nx,     image.pitch,       result.data,
                         result.ny,  result.nx, result.pitch, origin.y,          origin.x,
                         taps.ny,    taps.nx,   taps.parts,   device_taps.data()};
    const std::int64_t threads = space.concurrency();
    tiles.tiles_x = (result.nx + detail::host_tile_width - 1) / detail::host_tile_width;
    // Tall tiles repeat little work at their upper ends; several per thread even out the load.
    const std::int64_t tallest =
        threads == 1 ? result.ny : result.ny * tiles.tiles_x / (4 * threads);
    tiles.rows = std::max<std::int64_t>({4 * taps.ny, 64, tallest});
    tiles.scratch_per_worker = detail::host_tile_scratch(taps.ny, taps.nx, taps.parts);
    detail::grow(scratch, space, "kastor::convolve::scratch",
                 detail::workers_for(space, tiles.count()) *
                     static_cast<std::int64_t>(tiles.scratch_per_worker));
    tiles.scratch = scratch.data();
    detail::for_each_index_of_workers("kastor::convolve::tiles", space, tiles.count(), tiles);
  }

  void sum_on_device(const detail::Rows<T>& image, const detail::TapOrigin& origin,
                     const detail::Target<T>& result) requires(!is_host_space_v<Exec>) {
    if (taps.parts == 0) {
      direct("kastor::convolve::direct", image, origin, result, device_taps.data(), taps.ny,
             taps.nx, false);
      return;
    }
    for (std::int64_t part = 0; part < taps.parts; ++part) {
      const std::int64_t first = part * (taps.nx + taps.ny);
      if (taps.nx == taps.ny && detail::try_square<Exec, T>(taps.nx, space, image, result, origin,
                                                            taps.values.data() + first, part > 0)) {
        continue;
      }
      detail::grow(along_x, space, "kastor::convolve::along_x", image.ny * result.nx);
      const detail::ConvolveAlongX<T> sum_along_x{image,
                                                  {along_x.data(), image.ny, result.nx, result.nx},
                                                  origin.x,
                                                  device_taps.data() + first,
                                                  static_cast<int>(taps.nx)};
      Kokkos::parallel_for("kastor::convolve::along_x", Policy(space, 0, sum_along_x.threads()),
                           sum_along_x);
      direct("kastor::convolve::along_y", {along_x.data(), image.ny, result.nx, result.nx},
             {origin.y, 0}, result, device_taps.data() + first + taps.nx, taps.ny, 1, part > 0);
    }
  }

  void direct(const std::string& label, const detail::Rows<T>& image,
              const detail::TapOrigin& origin, const detail::Target<T>& result, const T* list,
              std::int64_t taps_y, std::int64_t taps_x, bool onto) const
      requires(!is_host_space_v<Exec>) {
    const detail::ConvolveDirect<T> kernel{
        image, result, origin, list, static_cast<int>(taps_y), static_cast<int>(taps_x), onto};
    using Bounded =
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 6>>;
    Kokkos::parallel_for(label, Bounded(space, 0, kernel.threads()), kernel);
  }

  Exec space;
  ConvolveParams params;
  detail::Taps<T> taps;
  T all_taps = detail::sum_of_taps(taps);
  List device_taps;
  List scratch, along_x;                 // of the sums
  List values, weights, result_weights;  // of the interpolation
};

template <class Exec, Real T>
Convolver<Exec, T>::Convolver(const Exec& space, const ConvolutionKernel& kernel,
                              const ConvolveParams& params) {
  detail::check_kernel("kastor::Convolver", kernel);
  if (params.nan == NanTreatment::interpolate) {
    double sum = 0;
    double magnitudes = 0;
    for (const double tap : kernel.taps) {
      sum += tap;
      magnitudes += std::abs(tap);
    }
    KASTOR_EXPECTS("kastor::Convolver", std::abs(sum) > 1e-6 * magnitudes,
                   "the taps add up to " + std::to_string(sum) +
                       ", by which blank pixels cannot be interpolated; expected a kernel with a "
                       "sum, or NanTreatment::propagate");
  }
  m_plan = std::make_unique<Plan>(space, kernel, params);
}

template <class Exec, Real T>
Convolver<Exec, T>::~Convolver() = default;
template <class Exec, Real T>
Convolver<Exec, T>::Convolver(Convolver&&) noexcept = default;
template <class Exec, Real T>
Convolver<Exec, T>& Convolver<Exec, T>::operator=(Convolver&&) noexcept = default;

template <class Exec, Real T>
ImageShape Convolver<Exec, T>::result_shape(const ImageShape& image) const {
  return m_plan->result_shape(image);
}
template <class Exec, Real T>
void Convolver<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                    const MutableImage<T, Exec>& result) {
  m_plan->run(image, result);
}
template <class Exec, Real T>
ConvolveMethod Convolver<Exec, T>::method() const {
  return m_plan->taps.parts == 0 ? ConvolveMethod::direct : ConvolveMethod::separable;
}
template <class Exec, Real T>
std::int64_t Convolver<Exec, T>::parts() const {
  return m_plan->taps.parts;
}
template <class Exec, Real T>
double Convolver<Exec, T>::kernel_error() const {
  return m_plan->taps.kernel_error;
}

template <class Exec, Real T>
void convolve_signal_into(const Exec& space, const ConstSignal<T, Exec>& signal,
                          const ConstSignal<T, Exec>& taps, const MutableSignal<T, Exec>& result) {
  const Kokkos::Profiling::ScopedRegion region("kastor::convolve_signal");
  const std::size_t n = signal.extent(0);
  const std::size_t m = taps.extent(0);
  KASTOR_EXPECTS("kastor::convolve", n > 0 && m > 0,
                 "the signal has " + std::to_string(n) + " values and there are " +
                     std::to_string(m) + " taps; expected at least one of each");
  KASTOR_EXPECTS("kastor::convolve", result.extent(0) == n + m - 1,
                 "the result has " + std::to_string(result.extent(0)) + " values; expected " +
                     std::to_string(n + m - 1));
  const auto& longer = n >= m ? signal : taps;
  const auto& shorter = n >= m ? taps : signal;
  const auto length = static_cast<std::int64_t>(longer.extent(0));
  const auto shorter_length = static_cast<std::int64_t>(shorter.extent(0));
  if constexpr (is_host_space_v<Exec>) {
    using Pieces = detail::ConvolveSignalPieces<T>;
    const Pieces pieces{{longer.data(), length, shorter.data(), shorter_length, result.data()}};
    const std::int64_t count =
        (pieces.convolution.result_length() + Pieces::piece - 1) / Pieces::piece;
    detail::for_each_index("kastor::convolve_signal::pieces", space, count, pieces);
  } else {
    const detail::ConvolveSignal<T> kernel{longer.data(), length, shorter.data(), shorter_length,
                                           result.data()};
    Kokkos::parallel_for("kastor::convolve_signal::values",
                         detail::IndexRange<Exec>(space, 0, kernel.threads()), kernel);
  }
}

}  // namespace kastor

#endif

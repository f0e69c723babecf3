// SPDX-License-Identifier: Apache-2.0
#include "binding/functions.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <kastor/background.hpp>
#include <kastor/convolve.hpp>
#include <kastor/label.hpp>
#include <kastor/sigma_clip.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding/arrays.hpp"
#include "binding/runtime.hpp"
#include "cli/run/backends.hpp"
#include "cli/run/errors.hpp"

namespace kastor::python {
namespace {

using namespace nb::literals;
using On = std::optional<std::string>;

/// Calls `job(space, pixels)` with the pixels of the array where the backend reads them, without
/// the interpreter's lock.
template <class Job>
void on_pixels(const GivenArray& array, const On& on, std::uintptr_t stream, const Job& job) {
  const bool has_doubles = is_double(array);
  const bool is_far = is_on_device(array);
  const nb::gil_scoped_release released;
  Runtime& runtime = Runtime::get();
  runtime.run(runtime.backend(on), stream, [&](auto& place) {
    using Exec = std::remove_cvref_t<decltype(place.space)>;
    const auto call = [&](const auto& rows) {
      if constexpr (is_host_space_v<Exec>) {
        if (is_far) refuse_device_array();
        job(place.space, rows.template view<Exec>());
      } else if (is_far) {
        job(place.space, rows.template view<Exec>());
      } else {
        const auto copy = rows_on(place.space, rows.template view<Kokkos::Serial>());
        job(place.space, as_const_image<Exec>(copy));
      }
    };
    has_doubles ? call(rows_of<double>(array)) : call(rows_of<float>(array));
  });
}

/// A mask of the host as `Exec` reads it; empty if there is none.
template <class Exec>
BitMask<Exec> bits_on(const Exec& space, const std::optional<GivenArray>& bytes, std::int64_t ny,
                      std::int64_t nx) {
  if (!bytes) return {};
  const auto host = bits_of(*bytes, ny, nx);
  if constexpr (std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>) {
    return host;
  } else {
    auto mask = make_bit_mask(space, ny, nx);
    Kokkos::deep_copy(space, mask.words, host.words);
    space.fence("kastor::python: the mask is where it is used");
    return mask;
  }
}

nb::dict as_dict(const Statistics& statistics) {
  nb::dict dict;
  dict["count"] = statistics.count;
  dict["mean"] = statistics.mean;
  dict["std"] = statistics.std;
  dict["median"] = statistics.median;
  dict["min"] = statistics.min;
  dict["max"] = statistics.max;
  return dict;
}

nb::dict clip(const GivenArray& array, double kappa, int max_passes, const On& on,
              std::uintptr_t stream) {
  SigmaClipResult result;
  on_pixels(array, on, stream, [&](const auto& space, const auto& pixels) {
    result = sigma_clip(space, pixels, SigmaClipParams{kappa, max_passes});
  });
  nb::dict dict;
  dict["all"] = as_dict(result.all);
  dict["clipped"] = as_dict(result.clipped);
  dict["pixels"] = result.pixels;
  dict["blank"] = result.blank;
  dict["passes"] = result.passes;
  dict["converged"] = result.converged;
  dict["degenerate"] = result.degenerate;
  return dict;
}

BackgroundParams background_params(std::int64_t cell_height, std::int64_t cell_width, double kappa,
                                   int max_passes, const std::string& estimate, int filter,
                                   const std::string& interpolation, bool mask_large_sources,
                                   bool correct_clip) {
  BackgroundParams params;
  params.cell_height = cell_height;
  params.cell_width = cell_width;
  params.clip = {kappa, max_passes};
  params.estimate = estimate == "mode" ? BackgroundEstimate::mode : BackgroundEstimate::median;
  params.filter_height = params.filter_width = filter;
  params.interpolation =
      interpolation == "bicubic" ? MeshInterpolation::bicubic : MeshInterpolation::bilinear;
  params.mask_large_sources = mask_large_sources;
  params.correct_clip = correct_clip;
  return params;
}

/// A map on a mesh in plain memory. Arrays of Python own it for longer than Kokkos runs.
struct KeptSurface {
  std::int64_t cell_height = 1, cell_width = 1;
  bool positive = false;
  std::size_t rows = 0, columns = 0;
  std::vector<MeshNode> nodes;
};

template <class Exec>
KeptSurface kept_surface(const Exec& space, const MeshSurface<Exec>& surface) {
  KeptSurface kept{surface.cell_height,     surface.cell_width,      surface.positive,
                   surface.nodes.extent(0), surface.nodes.extent(1), {}};
  kept.nodes.resize(kept.rows * kept.columns);
  const MutableImage<MeshNode, Kokkos::DefaultHostExecutionSpace> nodes(kept.nodes.data(),
                                                                        kept.rows, kept.columns);
  Kokkos::deep_copy(space, nodes, surface.nodes);
  space.fence("kastor::python: the nodes of the mesh are kept");
  return kept;
}

template <class T>
HostMap<T> filled(const KeptSurface& kept, std::size_t ny, std::size_t nx) {
  HostMap<T> map{std::make_shared_for_overwrite<T[]>(ny * nx), ny, nx};
  Runtime& runtime = Runtime::get();
  std::string backend = runtime.backend({});
  if (backend == "cuda") backend = fastest_of_host();  // the nodes are on the host
  runtime.run(backend, 0, [&](auto& place) {
    using Exec = std::remove_cvref_t<decltype(place.space)>;
    if constexpr (is_host_space_v<Exec>) {
      const ConstImage<MeshNode, Exec> nodes(kept.nodes.data(), kept.rows, kept.columns);
      const MeshSurface<Exec> surface{kept.cell_height, kept.cell_width, kept.positive, nodes};
      fill_map<Exec, T>(place.space, PixelMap<Exec, T>(surface),
                        MutableImage<T, Exec>(map.values.get(), ny, nx));
      place.space.fence("kastor::python: the map is filled");
    }
  });
  return map;
}

/// A background as its mesh; maps are made when they are asked for.
struct Mesh {
  KeptSurface level, rms;
  BackgroundSummary summary;
  std::size_t ny = 0, nx = 0;
  bool has_doubles = false;

  [[nodiscard]] nb::object map(const KeptSurface& surface) const {
    return has_doubles ? map_of<double>(surface) : map_of<float>(surface);
  }
  template <class T>
  [[nodiscard]] nb::object map_of(const KeptSurface& surface) const {
    HostMap<T> map;
    {
      const nb::gil_scoped_release released;
      map = filled<T>(surface, ny, nx);
    }
    return as_array(map);
  }
};

Mesh background(const GivenArray& array, const std::optional<GivenArray>& mask,
                const BackgroundParams& params, const On& on, std::uintptr_t stream) {
  Mesh mesh;
  mesh.has_doubles = is_double(array);
  on_pixels(array, on, stream, [&](const auto& space, const auto& pixels) {
    using Exec = std::remove_cvref_t<decltype(space)>;
    using T = typename std::remove_cvref_t<decltype(pixels)>::non_const_value_type;
    mesh.ny = pixels.extent(0);
    mesh.nx = pixels.extent(1);
    BackgroundEstimator<Exec, T> estimator(space, params);
    const auto found = estimator(pixels, bits_on(space, mask, static_cast<std::int64_t>(mesh.ny),
                                                 static_cast<std::int64_t>(mesh.nx)));
    mesh.summary = estimator.summary();
    mesh.level = kept_surface(space, found.level);
    mesh.rms = kept_surface(space, found.rms);
  });
  return mesh;
}

Connectivity connectivity_of(int number) {
  if (number != 4 && number != 8)
    throw cli::UsageError("connectivity: found another number; expected 4 or 8");
  return number == 4 ? Connectivity::four : Connectivity::eight;
}

/// The labels of the pixels that are not 0, and how many there are.
nb::tuple labels(const GivenArray& bytes, int connectivity, const On& on) {
  const auto ny = static_cast<std::int64_t>(bytes.shape(0));
  const auto nx = static_cast<std::int64_t>(bytes.shape(1));
  const Connectivity connected = connectivity_of(connectivity);
  HostMap<std::int32_t> ids;
  std::int64_t count = 0;
  {
    const nb::gil_scoped_release released;
    Runtime& runtime = Runtime::get();
    runtime.run(runtime.backend(on), 0, [&](auto& place) {
      using Exec = std::remove_cvref_t<decltype(place.space)>;
      const auto mask = bits_on(place.space, std::optional(bytes), ny, nx);
      const auto runs = label(place.space, mask, connected);
      count = runs.components;
      if (count > std::numeric_limits<std::int32_t>::max())
        throw Error("label: found more than 2^31 - 1 components; expected fewer");
      const Image<std::int32_t, Exec> filled(
          Kokkos::view_alloc(place.space, Kokkos::WithoutInitializing, "kastor::python::labels"),
          static_cast<std::size_t>(ny), static_cast<std::size_t>(nx));
      write_labels<Exec, std::int32_t>(place.space, runs, filled);
      ids = copy_of(cli::readable_on_host(place.space, filled));
    });
  }
  return nb::make_tuple(as_array(ids), count);
}

/// The runs of the pixels that are not 0: row, first column, last column + 1, component from 1.
nb::tuple runs(const GivenArray& bytes, int connectivity, const On& on) {
  const auto ny = static_cast<std::int64_t>(bytes.shape(0));
  const auto nx = static_cast<std::int64_t>(bytes.shape(1));
  const Connectivity connected = connectivity_of(connectivity);
  std::vector<std::int32_t> row, begin, end;
  std::vector<std::uint32_t> component;
  std::int64_t count = 0;
  {
    const nb::gil_scoped_release released;
    Runtime& runtime = Runtime::get();
    runtime.run(runtime.backend(on), 0, [&](auto& place) {
      const auto mask = bits_on(place.space, std::optional(bytes), ny, nx);
      const auto found = label(place.space, mask, connected);
      count = found.components;
      const auto take = [&](const auto& list, auto& values) {
        values.resize(static_cast<std::size_t>(found.runs));
        using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
        const Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> kept(
            values.data(), values.size());
        Kokkos::deep_copy(place.space, kept,
                          Kokkos::subview(list, Kokkos::make_pair(std::size_t{0}, values.size())));
      };
      take(found.row, row);
      take(found.begin, begin);
      take(found.end, end);
      take(found.label, component);
      place.space.fence("kastor::python: the runs are kept");
    });
  }
  return nb::make_tuple(as_array(std::move(row)), as_array(std::move(begin)),
                        as_array(std::move(end)), as_array(std::move(component)), count);
}

nb::object convolved(const GivenArray& array, const ConvolutionKernel& kernel,
                     const ConvolveParams& params, const On& on, std::uintptr_t stream) {
  nb::object result;
  on_pixels(array, on, stream, [&](const auto& space, const auto& pixels) {
    const auto kept =
        copy_of(cli::readable_on_host(space, convolve(space, pixels, kernel, params)));
    const nb::gil_scoped_acquire acquired;
    result = as_array(kept);
  });
  return result;
}

ConvolutionKernel kernel_of(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& taps) {
  ConvolutionKernel kernel;
  kernel.ny = static_cast<std::int64_t>(taps.shape(0));
  kernel.nx = static_cast<std::int64_t>(taps.shape(1));
  kernel.taps.assign(taps.data(), taps.data() + taps.size());
  return kernel;
}

ConvolveParams convolve_params(const std::string& mode, const std::string& nan,
                               const std::string& method) {
  ConvolveParams params;
  if (method == "direct") params.method = ConvolveMethod::direct;
  if (method == "separable") params.method = ConvolveMethod::separable;
  params.mode = mode == "full"    ? ConvolveMode::full
                : mode == "valid" ? ConvolveMode::valid
                                  : ConvolveMode::same;
  params.nan = nan == "interpolate" ? NanTreatment::interpolate : NanTreatment::propagate;
  return params;
}

}  // namespace

void add_functions(nb::module_& m) {
  m.def("sigma_clip", &clip, "array"_a, "kappa"_a, "max_passes"_a, "on"_a = nb::none(),
        "stream"_a = 0);
  m.def(
      "background",
      [](const GivenArray& array, const std::optional<GivenArray>& mask, std::int64_t cell_height,
         std::int64_t cell_width, double kappa, int max_passes, const std::string& estimate,
         int filter, const std::string& interpolation, bool mask_large_sources, bool correct_clip,
         const On& on, std::uintptr_t stream) {
        return background(
            array, mask,
            background_params(cell_height, cell_width, kappa, max_passes, estimate, filter,
                              interpolation, mask_large_sources, correct_clip),
            on, stream);
      },
      "array"_a, "mask"_a.none(), "cell_height"_a, "cell_width"_a, "kappa"_a, "max_passes"_a,
      "estimate"_a, "filter"_a, "interpolation"_a, "mask_large_sources"_a, "correct_clip"_a,
      "on"_a = nb::none(), "stream"_a = 0);
  nb::class_<Mesh>(m, "Mesh")
      .def("level", [](const Mesh& mesh) { return mesh.map(mesh.level); })
      .def("rms", [](const Mesh& mesh) { return mesh.map(mesh.rms); })
      .def_prop_ro("global_level", [](const Mesh& mesh) { return mesh.summary.level; })
      .def_prop_ro("global_rms", [](const Mesh& mesh) { return mesh.summary.rms; });
  m.def("label", &labels, "mask"_a, "connectivity"_a, "on"_a = nb::none());
  m.def("runs", &runs, "mask"_a, "connectivity"_a, "on"_a = nb::none());
  m.def(
      "convolve",
      [](const GivenArray& array, const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& taps,
         const std::string& mode, const std::string& nan, const std::string& method, const On& on,
         std::uintptr_t stream) {
        return convolved(array, kernel_of(taps), convolve_params(mode, nan, method), on, stream);
      },
      "array"_a, "taps"_a, "mode"_a, "nan"_a, "method"_a, "on"_a = nb::none(), "stream"_a = 0);
}

}  // namespace kastor::python

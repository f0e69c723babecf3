// SPDX-License-Identifier: Apache-2.0
#include "fit/group_fitter.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <limits>
#include <numeric>
#include <utility>

#include "core/group.hpp"
#include "core/plan_memory.hpp"
#include "core/upload.hpp"
#include "fit/band_list.hpp"
#include "fit/ellipse_algebra.hpp"
#include "fit/fit_groups.hpp"
#include "fit/fit_region.hpp"
#include "fit/fit_work.hpp"

namespace kastor::detail {
namespace {

/// The box of pixels within a radius of a Gaussian's centre. The greatest |dx| of an ellipse is the
/// radius times the root of the variance along x.
struct RealBox {
  double x_min = std::numeric_limits<double>::infinity(), x_max = -x_min;
  double y_min = x_min, y_max = -x_min;

  void add(const Gaussian& shape, const Gaussian& centre, double radius_fwhm) {
    const double radius = radius_fwhm * fwhm_of_sigma;
    const double along_y = radius / shape.t;
    const double slope = shape.w / shape.t;
    const double along_x = radius / shape.u * std::sqrt(1 + slope * slope);
    x_min = std::min(x_min, centre.x - along_x);
    x_max = std::max(x_max, centre.x + along_x);
    y_min = std::min(y_min, centre.y - along_y);
    y_max = std::max(y_max, centre.y + along_y);
  }
  [[nodiscard]] bool is_within(std::int64_t ny, std::int64_t nx) const {
    return x_min >= -0.5 && y_min >= -0.5 && x_max <= static_cast<double>(nx) - 0.5 &&
           y_max <= static_cast<double>(ny) - 0.5;
  }
  /// The pixels whose centres lie in it, of an image.
  [[nodiscard]] RegionBox pixels(std::int64_t ny, std::int64_t nx) const {
    const auto first = [](double least, std::int64_t n) {
      return static_cast<std::int64_t>(std::ceil(std::clamp(least, 0.0, static_cast<double>(n))));
    };
    const auto last = [](double most, std::int64_t n) {
      return static_cast<std::int64_t>(
          std::floor(std::clamp(most, -1.0, static_cast<double>(n - 1))));
    };
    if (!(x_min <= x_max && y_min <= y_max)) return {0, -1, 0, -1};
    return {first(x_min, nx), last(x_max, nx), first(y_min, ny), last(y_max, ny)};
  }
};

[[nodiscard]] RegionBox joined(const RegionBox& a, const RegionBox& b) {
  if (a.width() <= 0 || a.height() <= 0) return b;
  if (b.width() <= 0 || b.height() <= 0) return a;
  return {std::min(a.x_min, b.x_min), std::max(a.x_max, b.x_max), std::min(a.y_min, b.y_min),
          std::max(a.y_max, b.y_max)};
}
[[nodiscard]] RegionBox common(const RegionBox& a, const RegionBox& b) {
  return {std::max(a.x_min, b.x_min), std::min(a.x_max, b.x_max), std::max(a.y_min, b.y_min),
          std::min(a.y_max, b.y_max)};
}

[[nodiscard]] PlacedGroup placed_group(const FitGroup& group,
                                       std::span<const FitComponent> components,
                                       const FitNoise& noise, std::int64_t ny, std::int64_t nx) {
  RealBox inner;
  RealBox outer;
  for (const FitComponent& component : components.subspan(static_cast<std::size_t>(group.first),
                                                          static_cast<std::size_t>(group.count))) {
    const Gaussian& start = component.start;
    for (const Gaussian* shape : {&start, &noise.beam}) {
      if (shape == &noise.beam && !noise.has_beam) continue;
      inner.add(*shape, start, group.radius);
      if (group.island_radius > 0) outer.add(*shape, start, group.island_radius);
    }
  }
  PlacedGroup placed{group, inner.pixels(ny, nx), 1, 0, inner.is_within(ny, nx) ? 0 : 1, 0};
  if (group.island_radius > 0) {
    const RegionBox island{group.x_min, group.x_max, group.y_min, group.y_max};
    placed.box = joined(placed.box, common(outer.pixels(ny, nx), island));
  }
  const std::int64_t longest = std::max(placed.box.width(), placed.box.height());
  const auto stride =
      std::max<std::int64_t>(1, (longest + most_region_rows - 1) / most_region_rows);
  placed.stride = static_cast<std::int32_t>(stride);
  const auto looked_at = [&](std::int64_t extent) {
    return std::max<std::int64_t>(0, (extent + stride - 1) / stride);
  };
  const std::int64_t pixels = looked_at(placed.box.width()) * looked_at(placed.box.height());
  placed.capacity =
      static_cast<std::int32_t>(std::min<std::int64_t>(most_fitted_pixels, (pixels + 7) / 8 * 8));
  return placed;
}

/// Groups that one kernel fits.
struct Batch {
  std::size_t begin, end;   ///< in the order
  std::int64_t memory = 0;  ///< numbers that the largest of them needs
  std::int32_t free = 6;    ///< free parameters of a component
  bool is_single = true;    ///< one component each
};

}  // namespace

template <class Exec, Real T>
struct GroupFitter<Exec, T>::Plan {
  Plan(const Exec& s, const FitNoise& n) : space(s), noise(n) {
    // So narrow that no other pixel is reached.
    if (noise.is_white) noise.correlation = {1, 0, 0, 1e3, 0, 1e3};
  }

  template <class V>
  using DeviceList = Kokkos::View<V*, typename Exec::memory_space>;
  template <class V>
  using HostReadable = Kokkos::View<V*, core::HostReadableSpace<Exec>>;

  void place(const FitImage<Exec, T>& image, std::span<const FitComponent> components,
             std::span<const FitGroup> all) {
    shape = shape_of<T, Exec>("kastor::fit", image.bands);
    placed.clear();
    covariances = 0;
    for (const FitGroup& group : all) {
      placed.push_back(placed_group(group, components, noise, shape.ny, shape.nx));
      placed.back().covariance = covariances;
      const std::int64_t parameters = std::int64_t{gaussian_parameters} * group.count;
      covariances += parameters * parameters;
    }
  }

  [[nodiscard]] std::int64_t memory_of(std::int32_t which) const {
    const PlacedGroup& group = placed[static_cast<std::size_t>(which)];
    return FitWork::size(group.group.count, group.capacity);
  }
  /// Sorts the groups so that those of one kernel need about as much memory.
  void make_batches(std::span<const FitComponent> components) {
    order.resize(placed.size());
    std::iota(order.begin(), order.end(), 0);
    const auto kind = [&](std::int32_t which) {
      const FitGroup& group = placed[static_cast<std::size_t>(which)].group;
      return Batch{0, 0, memory_of(which), components[static_cast<std::size_t>(group.first)].free,
                   group.count == 1};
    };
    const auto comes_before = [&](std::int32_t a, std::int32_t b) {
      const Batch x = kind(a);
      const Batch y = kind(b);
      if (x.free != y.free) return x.free > y.free;
      if (x.is_single != y.is_single) return !x.is_single;
      return x.memory > y.memory;
    };
    std::stable_sort(order.begin(), order.end(), comes_before);
    batches.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      Batch next = kind(order[i]);
      if (batches.empty() || batches.back().free != next.free ||
          batches.back().is_single != next.is_single || 2 * next.memory < batches.back().memory) {
        next.begin = i;
        batches.push_back(next);
      }
      batches.back().end = i + 1;
    }
  }

  /// How many groups of threads work at once: as many as the memory allows.
  [[nodiscard]] std::int64_t workers(const Batch& batch) const {
    constexpr std::int64_t work_limit = std::int64_t{1} << 25;  // 256 MiB
    const std::int64_t room = work_limit / batch.memory;
    const auto groups = static_cast<std::int64_t>(batch.end - batch.begin);
    return std::max<std::int64_t>(1, std::min(core::workers_of(space, groups), room));
  }

  template <int threads, int F>
  void launch(const FitRegion<Exec, T>& region, const Batch& batch, bool with_covariance) {
    using Fit = FitGroups<Exec, T, F>;
    const Fit fit{region,
                  on_device.groups.data(),
                  on_device.order.data() + batch.begin,
                  static_cast<std::int64_t>(batch.end - batch.begin),
                  memory.data(),
                  batch.memory,
                  fitted.data(),
                  outcomes.data(),
                  with_covariance ? matrices.data() : nullptr};
    const int bytes = Fit::scratch_numbers(threads) * static_cast<int>(sizeof(double));
    core::for_each_group<threads>("kastor::fit::groups", space, {workers(batch), bytes}, fit);
  }
  template <int threads>
  void launch(const FitRegion<Exec, T>& region, const Batch& batch, bool with_covariance) {
    if (batch.free == 6) return launch<threads, 6>(region, batch, with_covariance);
    if (batch.free == 3) return launch<threads, 3>(region, batch, with_covariance);
    launch<threads, 1>(region, batch, with_covariance);
  }

  void run(const FitImage<Exec, T>& image, std::span<const FitComponent> components,
           std::span<const FitGroup> groups, std::span<const Gaussian> fixed,
           bool with_covariance) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::fit::groups");
    place(image, components, groups);
    make_batches(components);
    core::upload_to(on_device.components, space, "kastor::fit::components", components);
    core::upload_to(on_device.groups, space, "kastor::fit::placed_groups",
                    std::span<const PlacedGroup>(placed));
    core::upload_to(on_device.order, space, "kastor::fit::order",
                    std::span<const std::int32_t>(order));
    core::upload_to(on_device.fixed, space, "kastor::fit::fixed", fixed);
    core::grow(fitted, space, "kastor::fit::fitted", static_cast<std::int64_t>(components.size()));
    core::grow(outcomes, space, "kastor::fit::outcomes", static_cast<std::int64_t>(groups.size()));
    if (with_covariance) core::grow(matrices, space, "kastor::fit::covariance", covariances);
    std::int64_t numbers = 0;
    for (const Batch& batch : batches) numbers = std::max(numbers, workers(batch) * batch.memory);
    core::grow(memory, space, "kastor::fit::work", numbers);
    const FitRegion<Exec, T> region{bands(space, image.bands),
                                    image.background,
                                    image.labels,
                                    {image.region, shape.nx},
                                    image.side,
                                    noise,
                                    on_device.components.data(),
                                    on_device.fixed.data()};
    for (const Batch& batch : batches) {
      if (batch.is_single) {
        launch<32>(region, batch, with_covariance);
      } else {
        launch<64>(region, batch, with_covariance);
      }
    }
    space.fence("kastor::fit::groups");
    fits.fitted.assign(fitted.data(), fitted.data() + components.size());
    fits.outcomes.assign(outcomes.data(), outcomes.data() + groups.size());
    if (with_covariance) fits.covariance.assign(matrices.data(), matrices.data() + covariances);
  }

  Exec space;
  FitNoise noise;
  Shape shape;
  BandList<Exec, T> bands;
  std::int64_t covariances = 0;  ///< numbers of all matrices
  std::vector<PlacedGroup> placed;
  std::vector<std::int32_t> order;
  std::vector<Batch> batches;
  struct {
    DeviceList<FitComponent> components;
    DeviceList<PlacedGroup> groups;
    DeviceList<std::int32_t> order;
    DeviceList<Gaussian> fixed;
  } on_device;
  DeviceList<double> memory;
  HostReadable<Gaussian> fitted;
  HostReadable<FitOutcome> outcomes;
  HostReadable<double> matrices;
  GroupFits fits;
};

template <class Exec, Real T>
GroupFitter<Exec, T>::GroupFitter(const Exec& space, const FitNoise& noise)
    : m_plan(std::make_unique<Plan>(space, noise)) {}
template <class Exec, Real T>
GroupFitter<Exec, T>::~GroupFitter() = default;
template <class Exec, Real T>
GroupFitter<Exec, T>::GroupFitter(GroupFitter&&) noexcept = default;
template <class Exec, Real T>
GroupFitter<Exec, T>& GroupFitter<Exec, T>::operator=(GroupFitter&&) noexcept = default;

template <class Exec, Real T>
const GroupFits& GroupFitter<Exec, T>::operator()(const FitImage<Exec, T>& image,
                                                  std::span<const FitComponent> components,
                                                  std::span<const FitGroup> groups,
                                                  std::span<const Gaussian> fixed,
                                                  bool with_covariance) {
  GroupFits& fits = m_plan->fits;
  fits.fitted.clear();
  fits.outcomes.clear();
  fits.covariance.clear();
  if (!groups.empty()) m_plan->run(image, components, groups, fixed, with_covariance);
  return fits;
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::GroupFitter<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MANY_MANY_PLAN_HPP
#define KASTOR_APPS_MANY_MANY_PLAN_HPP

#include <Kokkos_Core.hpp>
#include <chrono>
#include <kastor/image.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/island_plan.hpp"
#include "cli/outputs.hpp"
#include "cli/steps.hpp"
#include "many/found_image.hpp"
#include "many/read_image.hpp"

namespace kastor::cli {

/// Finds the sources of one image after the other on one instance. Its work space, and the memory
/// of a device for the image, serve all images of one shape and pixel type.
template <class Exec>
class ManyPlan {
 public:
  ManyPlan(const Exec& space, StepRecorder& steps) : m_space(space), m_steps(steps) {}

  /// Returns when the image's memory may be used again. Takes what `image` knows, but for its
  /// pixels. \throws kastor::Error and others
  [[nodiscard]] FoundImage operator()(ReadImage& image) {
    FoundImage found;
    std::visit(
        [&](const auto& host) {
          using T = typename std::decay_t<decltype(host)>::non_const_value_type;
          found = find(this->template work_for<T>(), image, host);
        },
        image.image.pixels);
    found.index = image.index;
    take_rest(image, found);
    return found;
  }

 private:
  template <class T>
  struct Work {
    Image<T, Exec> pixels;  // of a device
    std::optional<SourceFinder<Exec, T>> sources;
    std::optional<IslandPlan<Exec, T>> islands;
  };

  template <class T>
  Work<T>& work_for() {
    if constexpr (std::is_same_v<T, float>) {
      m_double = {};
      return m_float;
    } else {
      m_float = {};
      return m_double;
    }
  }

  template <class T, class HostView>
  FoundImage find(Work<T>& work, const ReadImage& image, const HostView& host) {
    try {
      const auto pixels = pixels_for(work, image, host);
      const auto start = std::chrono::steady_clock::now();
      FoundImage found;
      if (image.options.islands.preset == Preset::lesson) {
        found.found = find_sources(work, image, pixels);
      } else {
        found.found = find_islands(work, image, pixels);
      }
      found.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return found;
    } catch (...) {
      // Nothing may be left that works on the image; and the next one gets a plan of its own.
      work = {};
      m_space.fence("kastor::app: the image is free");
      throw;
    }
  }

  template <class T, class HostView>
  ConstImage<T, Exec> pixels_for(Work<T>& work, const ReadImage& image, const HostView& host) {
    if constexpr (is_host_space_v<Exec>) {
      return as_const_image<Exec>(host);
    } else {
      const ScopedStep step(m_steps, "upload");
      const auto& pinned = std::get<PinnedPixels<T>>(image.pinned);
      if (work.pixels.extent(0) != host.extent(0) || work.pixels.extent(1) != host.extent(1)) {
        work.pixels = {};
        work.pixels = Image<T, Exec>(
            Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, "kastor::app::image"),
            host.extent(0), host.extent(1));
      }
      Kokkos::deep_copy(m_space, work.pixels, pinned);
      return as_const_image<Exec>(work.pixels);
    }
  }

  template <class T>
  FindResult find_sources(Work<T>& work, const ReadImage& image,
                          const ConstImage<T, Exec>& pixels) {
    if (!work.sources) work.sources.emplace(m_space, image.options.find);
    const ScopedStep step(m_steps, "find");
    FindResult result;
    about_image(image.image, [&] { result = (*work.sources)(pixels); });
    return result;
  }

  template <class T>
  IslandsAndMesh find_islands(Work<T>& work, const ReadImage& image,
                              const ConstImage<T, Exec>& pixels) {
    const IslandOptions& options = image.options.islands;
    if (!work.islands || !work.islands->serves(options, image.image)) {
      work.islands.reset();
      work.islands.emplace(m_space, options, image.image);
    }
    IslandsAndMesh found;
    found.result = (*work.islands)(pixels, image.image, m_steps);
    found.mesh = work.islands->mesh();
    return found;
  }

  static void take_rest(ReadImage& image, FoundImage& found) {
    std::swap(found.image, image.image);
    std::swap(found.image.pixels, image.image.pixels);
    found.options = std::move(image.options);
    found.sky = std::move(image.sky);
  }

  Exec m_space;
  StepRecorder& m_steps;
  Work<float> m_float;
  Work<double> m_double;
};

}  // namespace kastor::cli

#endif

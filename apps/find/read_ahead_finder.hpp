// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_READ_AHEAD_FINDER_HPP
#define KASTOR_APPS_FIND_READ_AHEAD_FINDER_HPP

#include <Kokkos_Core.hpp>
#include <kastor/image.hpp>
#include <utility>
#include <variant>

#include "cli/report/steps.hpp"
#include "find/found_image.hpp"
#include "find/image_finder.hpp"
#include "find/read_image.hpp"

namespace kastor::cli {

/// An ImageFinder for images that were read ahead. It owns the device memory that each image in
/// turn is copied to.
template <class Exec>
class ReadAheadFinder {
 public:
  ReadAheadFinder(const Exec& space, StepRecorder& steps)
      : m_space(space), m_steps(steps), m_finder(space, steps) {}

  /// Moves the contents of `read` into the result, except for the pixels. When it returns, the
  /// memory of the image may be reused. \throws kastor::Error and others
  [[nodiscard]] FoundImage operator()(ReadImage& read) {
    FoundImage found;
    found.index = read.index;
    found.options = std::move(read.options);
    found.sky = std::move(read.sky);
    found.note_blanked(read.blanked);
    std::swap(found.image, read.image);
    std::swap(found.image.pixels, read.image.pixels);
    try {
      std::visit([&](const auto& host) { m_finder(on_device(read, host), found); },
                 read.image.pixels);
    } catch (...) {
      // The next image gets a plan, and all memory there is.
      m_finder.release();
      m_pixels = {};
      throw;
    }
    return found;
  }

 private:
  template <class HostView>
  auto on_device(const ReadImage& read, const HostView& host) {
    using T = typename HostView::non_const_value_type;
    if constexpr (is_host_space_v<Exec>) {
      return as_const_image<Exec>(host);
    } else {
      const ScopedStep step(m_steps, "upload");
      m_finder.template prepare_for<T>();
      auto* pixels = std::get_if<Image<T, Exec>>(&m_pixels);
      if (pixels == nullptr || pixels->extent(0) != host.extent(0) ||
          pixels->extent(1) != host.extent(1)) {
        m_pixels = Image<T, Exec>();  // first frees the memory
        m_pixels = Image<T, Exec>(
            Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, "kastor::app::image"),
            host.extent(0), host.extent(1));
        pixels = std::get_if<Image<T, Exec>>(&m_pixels);
      }
      Kokkos::deep_copy(m_space, *pixels, std::get<PinnedPixels<T>>(read.pinned));
      return as_const_image<Exec>(*pixels);
    }
  }

  Exec m_space;
  StepRecorder& m_steps;
  ImageFinder<Exec> m_finder;
  std::variant<Image<float, Exec>, Image<double, Exec>> m_pixels;
};

}  // namespace kastor::cli

#endif

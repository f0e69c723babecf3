// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_SOURCE_HPP
#define KASTOR_PYTHON_SOURCE_HPP

#include <cstdint>
#include <kastor/io/image_reader.hpp>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "binding/arrays.hpp"
#include "binding/runtime.hpp"
#include "cli/run/backends.hpp"
#include "cli/run/blank_pixels.hpp"
#include "find/found_image.hpp"

namespace kastor::python {

/// Where the pixels come from.
struct Source {
  std::optional<GivenArray> array;  ///< none: the file of this name
  std::string name;                 ///< of the array: what messages call it
  std::vector<std::string> cards;   ///< the header of the array
  std::uintptr_t stream = 0;        ///< on which the array is ready
};

/// Arrays in place of the files that options name, by the names of the options.
using Companions = std::map<std::string, GivenArray>;

/// Describes the array in `image`, if the source is one.
void describe(const Source& source, io::FitsImage& image);

/// Puts arrays in the place of the files of the options.
void take_companions(const Companions& companions, cli::IslandOptions& options);

/// A copy of the pixels that may be changed.
void own_pixels(io::FitsImage& image);

/// A copy of pixels on a device, of any layout, in memory of the host.
template <class Exec, class View>
[[nodiscard]] auto pixels_on_host(const Exec& space, const View& view) {
  using T = typename View::non_const_value_type;
  const Image<T, Exec> together(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::python::together"),
      view.extent(0), view.extent(1));
  Kokkos::deep_copy(space, together, view);
  const io::HostPixels<T> pixels(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::python::pixels"), view.extent(0),
      view.extent(1));
  Kokkos::deep_copy(space, pixels, together);
  space.fence("kastor::python: the pixels are on the host");
  return pixels;
}

/// Calls `job(pixels, blanked)` with the pixels of the array, which `found.image` describes, or of
/// the file, where `Exec` reads them.
template <class Exec, class Job>
void with_pixels(const Exec& space, const Source& source, cli::FoundImage& found, const Job& job) {
  const cli::InputOptions& input = found.options.input;
  if (source.array && is_on_device(*source.array)) {
    if constexpr (is_host_space_v<Exec>) {
      refuse_device_array();
    } else {
      const auto call = [&](const auto& view) {
        if (found.options.picture) found.image.pixels = pixels_on_host(space, view);
        job(view, 0);
      };
      if (is_double(*source.array)) {
        call(rows_of<double>(*source.array).template view<Exec>());
      } else {
        call(rows_of<float>(*source.array).template view<Exec>());
      }
    }
    return;
  }
  std::int64_t blanked = 0;
  if (!source.array) {
    if constexpr (!is_host_space_v<Exec>) {
      if (!input.blank && !found.options.picture) {
        io::LoadedImage<Exec> loaded;
        io::ImageReader<Exec> reader(space);
        reader(input.path, input.read, loaded);
        found.image = std::move(loaded.about);
        std::visit([&](const auto& view) { job(as_const_image<Exec>(view), 0); }, loaded.pixels);
        return;
      }
    }
    found.image = io::read_image(input.path, input.read);
  }
  // The array is the caller's: its pixels stay as they are.
  if (source.array && input.blank && input.blank->value) own_pixels(found.image);
  blanked = cli::blank_out(input, found.image);
  std::visit(
      [&](const auto& host) {
        const auto view = rows_on(space, host);
        job(as_const_image<Exec>(view), blanked);
      },
      found.image.pixels);
}

}  // namespace kastor::python

#endif

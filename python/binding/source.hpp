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

/// Calls `job(pixels, blanked)` with the pixels of the array, which `found.image` describes, or of
/// the file, where `Exec` reads them.
template <class Exec, class Job>
void with_pixels(const Exec& space, const Source& source, cli::FoundImage& found, const Job& job) {
  const cli::InputOptions& input = found.options.input;
  if (source.array && is_on_device(*source.array)) {
    if constexpr (is_host_space_v<Exec>) {
      refuse_device_array();
    } else if (is_double(*source.array)) {
      job(rows_of<double>(*source.array).template view<Exec>(), 0);
    } else {
      job(rows_of<float>(*source.array).template view<Exec>(), 0);
    }
    return;
  }
  std::int64_t blanked = 0;
  if (!source.array) {
    if constexpr (!is_host_space_v<Exec>) {
      if (!input.blank) {
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

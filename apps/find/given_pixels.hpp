// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_GIVEN_PIXELS_HPP
#define KASTOR_APPS_FIND_GIVEN_PIXELS_HPP

#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/threshold.hpp>
#include <optional>
#include <string>

#include "cli/options/island_options.hpp"
#include "cli/run/backends.hpp"

namespace kastor::cli {

/// Reads an image that the user gave for another one, such as a mask. \throws Error if it has
/// another shape
[[nodiscard]] io::FitsImage read_companion(const std::string& path, const io::FitsImage& image);

/// Its pixels as T, in the memory of `Exec`.
template <class T, class Exec>
[[nodiscard]] Image<T, Exec> companion_on(const Exec& space, const io::FitsImage& companion) {
  io::HostPixels<T> pixels(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::app::companion"),
      static_cast<std::size_t>(companion.ny), static_cast<std::size_t>(companion.nx));
  std::visit(
      [&](const auto& read) {
        for (std::size_t y = 0; y < pixels.extent(0); ++y) {
          for (std::size_t x = 0; x < pixels.extent(1); ++x)
            pixels(y, x) = static_cast<T>(read(y, x));
        }
      },
      companion.pixels);
  const auto readable = readable_on(space, pixels);
  return readable;
}

/// The usable pixels, within the box and not masked, as a bit mask on the host. Empty if all pixels
/// are usable. \throws Error if the mask cannot be read or has another shape, or if the box is not
/// within the image
[[nodiscard]] BitMask<Kokkos::DefaultHostExecutionSpace> usable_pixels(const IslandOptions& options,
                                                                       const io::FitsImage& image);

/// The usable pixels in the memory of `Exec`, and their complement. Both are empty if all pixels
/// are usable.
template <class Exec>
struct UsablePixels {
  BitMask<Exec> usable;
  BitMask<Exec> excluded;
};
template <class Exec>
[[nodiscard]] UsablePixels<Exec> usable_pixels_on(const Exec& space, const IslandOptions& options,
                                                  const io::FitsImage& image) {
  const auto host = usable_pixels(options, image);
  if (host.words.size() == 0) return {};
  UsablePixels<Exec> pixels{make_bit_mask(space, host.ny, host.nx),
                            make_bit_mask(space, host.ny, host.nx)};
  const auto inverse = make_bit_mask(Kokkos::DefaultHostExecutionSpace{}, host.ny, host.nx);
  for (std::size_t y = 0; y < host.words.extent(0); ++y) {
    for (std::size_t w = 0; w < host.words.extent(1); ++w) inverse.words(y, w) = ~host.words(y, w);
    // Bits beyond the width are 0.
    if (host.nx % 64 != 0)
      inverse.words(y, host.words.extent(1) - 1) &= ~std::uint64_t{0} >> (64 - host.nx % 64);
  }
  Kokkos::deep_copy(space, pixels.usable.words, host.words);
  Kokkos::deep_copy(space, pixels.excluded.words, inverse.words);
  space.fence("kastor::app: the mask is where it is used");
  return pixels;
}

}  // namespace kastor::cli

#endif

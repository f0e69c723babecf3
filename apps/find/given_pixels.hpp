// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_GIVEN_PIXELS_HPP
#define KASTOR_APPS_FIND_GIVEN_PIXELS_HPP

#include <kastor/constant_fill.hpp>
#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/threshold.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

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
/// are usable. Pixels that are not finite may be in either.
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

/// Takes the constants that fill a part of an image out of its usable pixels. Keeps the masks for
/// the next image of the same shape.
template <class Exec>
class FillExcluder {
 public:
  FillExcluder(const Exec& space, const UsablePixels<Exec>& given)
      : m_space(space), m_given(given) {}

  /// \param seed  a constant above so many times the noise is no fill
  template <class T>
  [[nodiscard]] const UsablePixels<Exec>& operator()(const ConstImage<T, Exec>& pixels,
                                                     double seed) {
    m_fill = find_constant_fill(m_space, pixels, {seed});
    if (m_fill.empty()) return m_given;
    if (m_left.usable.words.size() == 0) {
      const auto ny = static_cast<std::int64_t>(pixels.extent(0));
      const auto nx = static_cast<std::int64_t>(pixels.extent(1));
      m_left = {make_bit_mask(m_space, ny, nx), make_bit_mask(m_space, ny, nx)};
    }
    if (m_given.usable.words.size() != 0) {
      Kokkos::deep_copy(m_space, m_left.usable.words, m_given.usable.words);
      Kokkos::deep_copy(m_space, m_left.excluded.words, m_given.excluded.words);
    } else {
      threshold_into(m_space, pixels, -std::numeric_limits<double>::infinity(), m_left.usable);
      Kokkos::deep_copy(m_space, m_left.excluded.words, std::uint64_t{0});
    }
    exclude_fill(m_space, pixels, m_fill, m_left.usable, m_left.excluded);
    return m_left;
  }

  /// The pixels that are usable whatever they hold.
  [[nodiscard]] const UsablePixels<Exec>& given() const { return m_given; }
  /// The constants of the last image.
  [[nodiscard]] const std::vector<FillValue>& fill() const { return m_fill; }

 private:
  Exec m_space;
  UsablePixels<Exec> m_given, m_left;
  std::vector<FillValue> m_fill;
};

/// One sentence for each constant that was taken as blank.
[[nodiscard]] std::vector<std::string> fill_notes(const std::vector<FillValue>& fill);

}  // namespace kastor::cli

#endif

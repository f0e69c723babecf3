// SPDX-License-Identifier: Apache-2.0
#include "evaluate/usable_image.hpp"

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "find/fill_excluder.hpp"
#include "find/given_pixels.hpp"

namespace kastor::cli {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

bool is_usable(const BitMask<Host>& mask, std::size_t y, std::size_t x) {
  return mask.words.size() == 0 || ((mask.words(y, x / 64) >> (x % 64)) & 1U) != 0;
}

/// Both masks without the pixels that are not finite in the detection image.
template <class T>
UsablePixels<Host> finite_in(const Host& space, const ConstImage<T, Host>& detection,
                             const BitMask<Host>& usable) {
  const auto ny = static_cast<std::int64_t>(detection.extent(0));
  const auto nx = static_cast<std::int64_t>(detection.extent(1));
  const UsablePixels<Host> left{make_bit_mask(space, ny, nx), make_bit_mask(space, ny, nx)};
  Kokkos::deep_copy(space, left.usable.words, std::uint64_t{0});
  Kokkos::deep_copy(space, left.excluded.words, std::uint64_t{0});
  space.fence("kastor::app: the masks are filled here");
  for (std::size_t y = 0; y < detection.extent(0); ++y) {
    for (std::size_t x = 0; x < detection.extent(1); ++x) {
      const bool is_used = is_usable(usable, y, x) && std::isfinite(detection(y, x));
      const auto& words = is_used ? left.usable.words : left.excluded.words;
      words(y, x / 64) |= std::uint64_t{1} << (x % 64);
    }
  }
  return left;
}

/// The pixels that masks, the detection image and fill leave; empty if these leave all.
template <class T>
BitMask<Host> usable_of(const io::HostPixels<T>& pixels, FoundImage& image, bool searched) {
  const auto& options = image.options.islands;
  if (options.preset == Preset::lesson) return {};
  const Host space;
  GivenPixels<Host, T> given(options);
  given.read_for(space, image.image);
  UsablePixels<Host> masks{given.usable, given.excluded};
  FillExcluder<Host> exclude_fill(space), exclude_fill_there(space);
  const auto without_fill = [&](FillExcluder<Host>& exclude, const ConstImage<T, Host>& of,
                                const std::string& where) {
    if (!options.detects_fill) return;
    masks = exclude(of, masks, options.find.seed);
    if (searched) return;
    for (const auto& note : fill_notes(exclude.fill())) image.notes.push_back(where + note);
  };
  without_fill(exclude_fill, as_const_image<Host>(pixels), "");
  if (options.detection.image) {
    space.fence("kastor::app: the mask is where it is used");
    masks = finite_in(space, given.detection(), masks.usable);
    without_fill(exclude_fill_there, given.detection(), "in the detection image ");
  }
  space.fence("kastor::app: the mask is where it is used");
  return masks.usable;
}

}  // namespace

io::EvaluatedImage usable_image(FoundImage& image, bool searched) {
  io::EvaluatedImage result;
  result.ny = image.image.ny;
  result.nx = image.image.nx;
  result.wcs = image.sky.wcs ? &*image.sky.wcs : nullptr;
  result.beam = image.sky.beam.beam;
  result.unit = image.image.hdu.unit;
  std::visit(
      [&](const auto& pixels) {
        const auto usable = usable_of(pixels, image, searched);
        result.row = [pixels, usable](std::int64_t y, std::span<double> values) {
          const auto row = static_cast<std::size_t>(y);
          for (std::size_t x = 0; x < values.size(); ++x) {
            values[x] = is_usable(usable, row, x) ? static_cast<double>(pixels(row, x))
                                                  : std::numeric_limits<double>::quiet_NaN();
          }
        };
      },
      image.image.pixels);
  return result;
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "evaluate/usable_image.hpp"

#include <Kokkos_Core.hpp>
#include <limits>
#include <span>

#include "find/fill_excluder.hpp"
#include "find/given_pixels.hpp"

namespace kastor::cli {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// The pixels that masks and fill leave; empty if these leave all.
template <class T>
BitMask<Host> usable_of(const io::HostPixels<T>& pixels, FoundImage& image, bool searched) {
  const auto& options = image.options.islands;
  if (options.preset == Preset::lesson) return {};
  const Host space;
  GivenPixels<Host, T> given(options);
  given.read_for(space, image.image);
  const UsablePixels<Host> masks{given.usable, given.excluded};
  if (!options.detects_fill) return masks.usable;
  FillExcluder<Host> exclude_fill(space);
  const auto left = exclude_fill(as_const_image<Host>(pixels), masks, options.find.seed);
  if (!searched) {
    for (const auto& note : fill_notes(exclude_fill.fill())) image.notes.push_back(note);
  }
  space.fence("kastor::app: the mask is where it is used");
  return left.usable;
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
            const bool is_used =
                usable.words.size() == 0 || ((usable.words(row, x / 64) >> (x % 64)) & 1U) != 0;
            values[x] = is_used ? static_cast<double>(pixels(row, x))
                                : std::numeric_limits<double>::quiet_NaN();
          }
        };
      },
      image.image.pixels);
  return result;
}

}  // namespace kastor::cli

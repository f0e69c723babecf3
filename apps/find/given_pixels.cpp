// SPDX-License-Identifier: Apache-2.0
#include "find/given_pixels.hpp"

#include <kastor/error.hpp>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

void clear_bits(const BitMask<Host>& mask, std::int64_t y, std::int64_t x_begin,
                std::int64_t x_end) {
  for (std::int64_t x = x_begin; x < x_end; ++x)
    mask.words(y, x / 64) &= ~(std::uint64_t{1} << (x % 64));
}

void keep_box(const BitMask<Host>& mask, const PixelBox& box) {
  for (std::int64_t y = 0; y < mask.ny; ++y) {
    if (y < box.y_min || y > box.y_max) {
      clear_bits(mask, y, 0, mask.nx);
    } else {
      clear_bits(mask, y, 0, box.x_min);
      clear_bits(mask, y, box.x_max + 1, mask.nx);
    }
  }
}

}  // namespace

io::FitsImage read_companion(const std::string& path, const io::FitsImage& image) {
  auto companion = io::read_image(path);
  if (companion.ny != image.ny || companion.nx != image.nx) {
    throw Error(fmt::format("{}: found {} x {} pixels; expected {} x {}, as in {}",
                            name_of(companion), companion.nx, companion.ny, image.nx, image.ny,
                            name_of(image)));
  }
  return companion;
}

BitMask<Host> usable_pixels(const IslandOptions& options, const io::FitsImage& image) {
  if (!options.mask && !options.box) return {};
  if (options.box && (options.box->x_max >= image.nx || options.box->y_max >= image.ny)) {
    throw Error(fmt::format("{}: the box ends at column {} and row {}; expected at most {} and {}",
                            name_of(image), options.box->x_max, options.box->y_max, image.nx - 1,
                            image.ny - 1));
  }
  const auto usable = make_bit_mask(Host{}, image.ny, image.nx);
  Kokkos::deep_copy(usable.words, std::uint64_t{0});
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x)
      usable.words(y, x / 64) |= std::uint64_t{1} << (x % 64);
  }
  if (options.box) keep_box(usable, *options.box);
  if (options.mask) {
    const auto mask = read_companion(*options.mask, image);
    std::visit(
        [&](const auto& pixels) {
          for (std::int64_t y = 0; y < image.ny; ++y) {
            for (std::int64_t x = 0; x < image.nx; ++x) {
              // A blank pixel of the mask is not 0 either.
              if (!(pixels(y, x) == 0)) clear_bits(usable, y, x, x + 1);
            }
          }
        },
        mask.pixels);
  }
  return usable;
}

std::vector<std::string> fill_notes(const std::vector<FillValue>& fill) {
  std::vector<std::string> notes;
  for (const auto& value : fill) {
    const std::string pixels = count_of(value.pixels, "pixel");
    notes.push_back(
        value.low == value.high
            ? fmt::format("the constant {:.7g} of {} stands in place of sky and is taken as blank "
                          "(--blank-value none keeps it)",
                          value.low, pixels)
            : fmt::format("the neighbouring numbers {:.9g} to {:.9g} of {} stand in place of sky "
                          "and are taken as blank (--blank-value none keeps them)",
                          value.low, value.high, pixels));
  }
  return notes;
}

}  // namespace kastor::cli

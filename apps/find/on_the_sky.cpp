// SPDX-License-Identifier: Apache-2.0
#include "find/on_the_sky.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/frequency.hpp>
#include <kastor/io/island_table.hpp>
#include <numbers>

#include "cli/run/outputs.hpp"
#include "find/find_outputs.hpp"

namespace kastor::cli {
namespace {

constexpr double beams_in_cell = 20;
constexpr std::int64_t smallest_cell = 32;
constexpr std::int64_t usual_cell = 64;

/// Why an option that needs the beam's area cannot be used for this image.
std::string no_beam_in_pixels(const OnTheSky& sky, const std::string& option) {
  if (!sky.beam.beam) {
    return "found no beam for " + option + "; expected one in the header or --beam";
  }
  return "found a beam but no pixel scale; expected celestial coordinates for " + option +
         (sky.why_no_wcs.empty() ? "" : " (" + sky.why_no_wcs + ")");
}

}  // namespace

double beam_pixels_of(const OnTheSky& sky) {
  return sky.beam.beam && sky.wcs ? io::beam_area_in_pixels(*sky.beam.beam, *sky.wcs)
                                  : std::nan("");
}

OnTheSky look_at_header(const io::FitsImage& image, FindOptions& options) {
  OnTheSky sky;
  sky.beam = options.islands.beam ? io::parse_beam(*options.islands.beam) : io::read_beam(image);
  sky.wcs = wcs_of(image, sky.why_no_wcs);
  if (sky.wcs) sky.notes = sky.wcs->notes();
  const auto frequency = io::read_frequency(image);
  sky.frequency = frequency.hertz;
  if (!frequency.note.empty()) sky.notes.push_back(frequency.note);
  const double beam_pixels = beam_pixels_of(sky);
  IslandOptions& islands = options.islands;
  if (!islands.cell) {
    // The FWHM of a circular beam of the same area.
    const double width = std::sqrt(beam_pixels * 4 * std::numbers::ln2 / std::numbers::pi);
    const double side = beams_in_cell * width;
    const std::int64_t longest = std::max(image.nx, image.ny);
    const std::int64_t cell = side > 0 ? std::clamp(std::int64_t{std::lround(std::min(side, 1e9))},
                                                    smallest_cell, std::max(longest, smallest_cell))
                                       : usual_cell;
    islands.cell = MeshCell{cell, cell};
  }
  islands.mesh.cell_height = islands.cell->height;
  islands.mesh.cell_width = islands.cell->width;
  if (islands.min_beams) {
    if (!(beam_pixels > 0))
      throw Error(name_of(image) + ": " + no_beam_in_pixels(sky, "--min-beams"));
    islands.find.min_pixels = std::max(
        islands.find.min_pixels,
        static_cast<std::int64_t>(std::ceil(std::min(*islands.min_beams * beam_pixels, 9e18))));
  }
  const AssumedNoise noise = islands.noise;
  if ((noise == AssumedNoise::beam || noise == AssumedNoise::condon) && !(beam_pixels > 0)) {
    throw Error(name_of(image) + ": " +
                no_beam_in_pixels(sky, std::string("--noise ") + name_of(noise)));
  }
  return sky;
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "find/on_the_sky.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/frequency.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/pixel_beam.hpp>
#include <numbers>

#include "cli/report/format.hpp"
#include "cli/run/outputs.hpp"
#include "find/find_outputs.hpp"

namespace kastor::cli {
namespace {

constexpr double beams_in_cell = 20;
constexpr std::int64_t smallest_cell = 32;
constexpr std::int64_t usual_cell = 64;
/// Of peaks in noise that no beam has made smooth [rms].
constexpr double noise_prominence = 2;

/// Why an option that needs the beam's area cannot be used for this image.
std::string no_beam_in_pixels(const OnTheSky& sky, const std::string& option) {
  if (!sky.beam.beam) {
    return "found no beam for " + option + "; expected one in the header or --beam";
  }
  return "found a beam but no pixel scale; expected celestial coordinates for " + option +
         (sky.why_no_wcs.empty() ? "" : " (" + sky.why_no_wcs + ")");
}

/// The beam around the middle of the image; none if it is not known there.
std::optional<PixelEllipse> pixel_beam_of(const io::FitsImage& image, const OnTheSky& sky) {
  if (!sky.beam.beam || !sky.wcs) return std::nullopt;
  const auto ellipse = io::pixel_beam(
      *sky.beam.beam, *sky.wcs,
      {0.5 * static_cast<double>(image.nx - 1), 0.5 * static_cast<double>(image.ny - 1)});
  return ellipse.major > 0 && ellipse.minor > 0 ? std::optional(ellipse) : std::nullopt;
}

/// Completes what components need of the header. \throws Error if they were asked for, and the
/// beam is of no use
void settle_components(const io::FitsImage& image, OnTheSky& sky, FindOptions& options) {
  ComponentOptions& components = options.islands.components;
  if (!options.fits_components() && !components.deblends) return;
  sky.pixel_beam = pixel_beam_of(image, sky);
  components.used_prominence =
      components.prominence.value_or(sky.pixel_beam ? 0 : noise_prominence);
  if (!options.fits_components()) return;
  if (components.has_beam_shape && !sky.pixel_beam)
    throw Error(name_of(image) + ": " + no_beam_in_pixels(sky, "--shape beam"));
  const auto longest = static_cast<double>(std::max(image.nx, image.ny));
  if (!sky.pixel_beam || sky.pixel_beam->major <= longest) return;
  const std::string what = fmt::format(
      "found a beam of {:.4g} pixels, wider than the image of {} x {}; expected a "
      "smaller one in the header or --beam",
      sky.pixel_beam->major, image.nx, image.ny);
  if (components.are_asked_for()) throw Error(name_of(image) + ": " + what);
  components.reports = false;
  sky.notes.push_back("no components are fitted: " + what);
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
  // The FWHM of a circular beam of the same area.
  const double width = std::sqrt(beam_pixels * 4 * std::numbers::ln2 / std::numbers::pi);
  if (!islands.cell) {
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
  if (islands.adaptive_rms) {
    if (!(width > 0)) throw Error(name_of(image) + ": " + no_beam_in_pixels(sky, "--adaptive-rms"));
    islands.beam_width = width;
  }
  settle_components(image, sky, options);
  return sky;
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <kastor/io/fits_row_writer.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/simulate.hpp>
#include <kastor/version.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/overview.hpp"
#include "cli/options/simulate_options.hpp"
#include "cli/report/format.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "cli/run/truth_writer.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

constexpr double pixel_scale_deg = 2.0 / 3600;
constexpr double centre_ra_deg = 266.4;  // near the Galactic Centre
constexpr double centre_dec_deg = -29.0;

/// A gnomonic projection, north up and east left.
std::vector<io::HeaderCard> position_cards(const SkyParams& sky) {
  // FITS counts pixels from 1.
  const double middle_x = 0.5 * static_cast<double>(sky.nx + 1);
  const double middle_y = 0.5 * static_cast<double>(sky.ny + 1);
  return {{"CTYPE1", std::string("RA---TAN"), ""},
          {"CRPIX1", middle_x, "[pixel] reference pixel, from 1"},
          {"CRVAL1", centre_ra_deg, "[deg] right ascension of the reference pixel"},
          {"CDELT1", -pixel_scale_deg, "[deg] pixel increment"},
          {"CUNIT1", std::string("deg"), ""},
          {"CTYPE2", std::string("DEC--TAN"), ""},
          {"CRPIX2", middle_y, "[pixel] reference pixel, from 1"},
          {"CRVAL2", centre_dec_deg, "[deg] declination of the reference pixel"},
          {"CDELT2", pixel_scale_deg, "[deg] pixel increment"},
          {"CUNIT2", std::string("deg"), ""},
          {"RADESYS", std::string("ICRS"), ""}};
}

bool is_optical(const SkyParams& sky) { return sky.detector.gain > 0; }

std::vector<io::HeaderCard> sky_cards(const SkyParams& sky) {
  const double beam_deg = sky.beam_fwhm * pixel_scale_deg;
  std::vector<io::HeaderCard> cards = {{"OBJECT", std::string("kastor simulate sky"), "simulated"}};
  if (is_optical(sky)) {
    cards.push_back({"GAIN", sky.detector.gain, "[count/adu] gain"});
    cards.push_back({"RDNOISE", sky.detector.read_noise, "[count] noise of the read-out"});
  } else {
    cards.push_back({"BMAJ", beam_deg, "[deg] major axis of the beam, FWHM"});
    cards.push_back({"BMIN", beam_deg, "[deg] minor axis of the beam, FWHM"});
    cards.push_back({"BPA", 0.0, "[deg] position angle of the beam"});
  }
  const auto positions = position_cards(sky);
  cards.insert(cards.end(), positions.begin(), positions.end());
  return cards;
}

io::Provenance provenance(const std::string& command, const std::string& unit) {
  io::Provenance provenance;
  provenance.version = version();
  provenance.command_line = command;
  provenance.unit = unit;
  return provenance;
}

/// What is made at a time: larger bands are not faster.
constexpr std::int64_t band_bytes = std::int64_t{1} << 28;

/// A kind of image: its file, and the memory that rows of it take besides their pixels [byte].
struct Target {
  std::string file;
  std::string command;
  std::string unit;
  std::vector<io::HeaderCard> cards;
  std::function<std::int64_t(std::int64_t)> work_bytes;
};

/// Writes an image by bands of rows, which `fill(space, first row, rows)` fills on the backend.
template <class T, class Fill>
void make_image_as(Session& session, const SimulateOptions& options, const Target& target,
                   const Fill& fill) {
  const Size& size = options.size;
  session.on_backend([&](const auto& space) {
    using Exec = std::decay_t<decltype(space)>;
    // A device has a copy of the host's.
    const std::int64_t row = size.width * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t row_bytes = is_host_space_v<Exec> ? row : 2 * row;
    const std::int64_t wanted = std::max<std::int64_t>(1, band_bytes / row);
    const std::int64_t band =
        rows_within(options.memory, std::min(size.height, wanted),
                    [&](std::int64_t rows) { return rows * row_bytes + target.work_bytes(rows); });
    const Image<T, Exec> image(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::simulated"),
        static_cast<std::size_t>(band), static_cast<std::size_t>(size.width));
    io::FitsRowWriter<T> writer(target.file, size.height, size.width, {},
                                provenance(target.command, target.unit), target.cards);
    for (std::int64_t first = 0; first < size.height; first += band) {
      const std::int64_t count = std::min(band, size.height - first);
      const auto rows =
          Kokkos::subview(image, Kokkos::make_pair(std::int64_t{0}, count), Kokkos::ALL());
      session.steps().begin("simulate");
      fill(space, first, rows);
      const auto host = readable_on_host(space, rows);
      session.steps().end();
      const ScopedStep step(session.steps(), "write");
      writer.write(first, io::pixel_rows(host));
    }
    writer.close();
  });
}

template <class Fill>
void make_image(Session& session, const SimulateOptions& options, const Target& target,
                const Fill& fill) {
  if (options.type == PixelType::float32) {
    make_image_as<float>(session, options, target, fill);
  } else {
    make_image_as<double>(session, options, target, fill);
  }
}

std::int64_t pixels_of(const Size& size) { return size.width * size.height; }

/// "dir/sky_truth.csv" for "dir/sky.fits".
std::string truth_path(const std::string& image_path) {
  return image_path.substr(0, image_path.rfind('.')) + "_truth.csv";
}

void simulate_sky_file(Arguments arguments) {
  SimulateOptions options;
  if (!parse_sky(arguments, options)) return;
  options.sky.nx = options.size.width;
  options.sky.ny = options.size.height;
  const std::string truth_target = truth_path(options.output);
  io::OutputSet outputs;
  const std::string image_file = outputs.add(options.output, overwrite_policy(options.overwrite));
  const std::string truth_file = outputs.add(truth_target, overwrite_policy(options.overwrite));

  Session session(options.run);
  session.steps().begin("truth");
  auto truth = sky_truth(options.sky);
  const auto added = population_truth(options.sky, options.populations);
  truth.insert(truth.end(), added.begin(), added.end());
  session.steps().end();
  const Target target{image_file, sky_as_typed(options),
                      is_optical(options.sky) ? "adu" : "JY/BEAM", sky_cards(options.sky),
                      [&](std::int64_t rows) { return sky_work_bytes(options.sky, truth, rows); }};
  make_image(session, options, target,
             [&](const auto& space, std::int64_t first, const auto& rows) {
               using Exec = std::decay_t<decltype(space)>;
               simulate_sky_rows<Exec>(space, options.sky, truth, first, rows);
             });
  write_truth(truth_file, truth);
  outputs.commit();
  session.close(
      fmt::format("{}: {} true sources", wrote_note({options.output, truth_target}), truth.size()),
      pixels_of(options.size));
}

void simulate_diracs_file(Arguments arguments) {
  SimulateOptions options;
  options.type = PixelType::float64;
  if (!parse_diracs(arguments, options)) return;
  io::OutputSet outputs;
  const std::string image_file = outputs.add(options.output, overwrite_policy(options.overwrite));

  Session session(options.run);
  const Target target{
      image_file, diracs_as_typed(options), "", {}, [](std::int64_t) { return std::int64_t{0}; }};
  make_image(session, options, target,
             [&](const auto& space, std::int64_t first, const auto& rows) {
               using Exec = std::decay_t<decltype(space)>;
               simulate_diracs<Exec>(space, options.spacing, rows, first);
             });
  outputs.commit();
  session.close(wrote_note({options.output}), pixels_of(options.size));
}

}  // namespace

void run_simulate(Arguments arguments) {
  const auto kind = std::find_if(arguments.begin(), arguments.end(), [](std::string_view word) {
    return word == "sky" || word == "diracs";
  });
  const bool help = asks_for_help(arguments);
  if (help && kind == arguments.end()) {
    show_overview(simulate_overview());
  } else if (kind != arguments.end() && (help || kind == arguments.begin())) {
    // With --help, options may precede the kind, and they are kept.
    const auto rest = help ? arguments : arguments.subspan(1);
    if (std::string_view(*kind) == "sky") {
      simulate_sky_file(rest);
    } else {
      simulate_diracs_file(rest);
    }
  } else {
    const std::string found =
        arguments.empty() ? "no kind of image"
                          : "'" + std::string(arguments.front()) + "', which is no kind of image";
    throw UsageError("simulate: found " + found +
                     "; expected sky or diracs (see 'kastor simulate --help')");
  }
}

}  // namespace kastor::cli

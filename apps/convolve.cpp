// SPDX-License-Identifier: Apache-2.0
#include <kastor/convolve.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/output_set.hpp>
#include <optional>
#include <string>
#include <variant>

#include "cli/options/options.hpp"
#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/kernel_file.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

constexpr const char* lesson_name = "lesson";

struct ConvolveOptions {
  InputOptions input;
  std::optional<double> sigma;
  std::int64_t size = 0;  // 0: chosen from sigma
  std::string kernel;
  ConvolveParams params{ConvolveMode::same};
  std::string output;
  bool overwrite = false;
  RunOptions run;
};

ConvolveMode mode_of(const std::string& word) {
  return word == "full" ? ConvolveMode::full
                        : (word == "same" ? ConvolveMode::same : ConvolveMode::valid);
}
const char* word_of(ConvolveMode mode) {
  return mode == ConvolveMode::full ? "full" : (mode == ConvolveMode::same ? "same" : "valid");
}

ConvolveMethod method_of(const std::string& word) {
  return word == "automatic"
             ? ConvolveMethod::automatic
             : (word == "direct" ? ConvolveMethod::direct : ConvolveMethod::separable);
}
const char* word_of(ConvolveMethod method) {
  return method == ConvolveMethod::automatic
             ? "automatic"
             : (method == ConvolveMethod::direct ? "direct" : "separable");
}

void add_kernel_options(CommandLine& line, ConvolveOptions& options) {
  line.heading("Kernel");
  line.real(
      "--gaussian", "SIGMA", {0, false, 1e6, "a finite number above 0, in pixels"},
      [&options](double sigma) { options.sigma = sigma; },
      "Use a circular Gaussian of this standard deviation\n"
      "[pixel], normalised to a sum of 1.");
  line.integer(
      "--size", "N", {1, most_kernel_pixels, "an odd integer from 1 to 127"},
      [&options](std::int64_t n) { options.size = n; },
      "Set the width of the Gaussian kernel [pixel], odd, up\n"
      "to 127. Default: 8 SIGMA rounded up to an odd number.");
  line.value(
      "--kernel", "FILE.fits|lesson",
      [&options](const std::string& text) { options.kernel = text; },
      "Use this image as the kernel, as it is, up to 127 x\n"
      "127 pixels; or 'lesson', the kernel of the course\n"
      "behind 'find --preset lesson': 15 x 15 pixels of\n"
      "exp(-(x^2 + y^2) / 2) with x and y from -2 to 2, not\n"
      "normalised.");
  line.excludes("--kernel", "--gaussian");
  line.excludes("--kernel", "--size");
}

void add_convolve_options(CommandLine& line, ConvolveOptions& options) {
  line.heading("Convolution");
  line.choice(
      "--mode", {"same", "full", "valid"},
      [&options](const std::string& word) { options.params.mode = mode_of(word); },
      "Keep the shape of the image (same), all pixels that\n"
      "the kernel reaches (full), or those where it lies\n"
      "within the image (valid). The image is 0 beyond its\n"
      "edges. Default: same.",
      word_of(options.params.mode));
  line.choice(
      "--nan", {"propagate", "interpolate"},
      [&options](const std::string& word) {
        options.params.nan =
            word == "propagate" ? NanTreatment::propagate : NanTreatment::interpolate;
      },
      "Blank every pixel that the kernel reaches from a blank\n"
      "one (propagate), or ignore blank pixels and scale up\n"
      "the other weights (interpolate). Default: propagate.",
      "propagate");
  line.choice(
      "--method", {"automatic", "direct", "separable"},
      [&options](const std::string& word) { options.params.method = method_of(word); },
      "Convolve tap by tap (direct), along x and then along y\n"
      "in as many terms as the kernel needs (separable), or\n"
      "by the faster of the two (automatic). Default:\nautomatic.",
      word_of(options.params.method));
}

/// Checks that the options fit together.
void check(const CommandLine& line, const ConvolveOptions& options) {
  if (line.given("-o")) require_fits_ending("-o", options.output);
  if (options.size % 2 == 0 && options.size != 0) {
    throw UsageError(
        fmt::format("--size: found '{}'; expected an odd integer from 1 to 127", options.size));
  }
  if (options.size != 0 && !options.sigma) {
    throw UsageError("--size: found without --gaussian; expected both");
  }
  if (options.sigma && options.size == 0 && 8 * *options.sigma > most_kernel_pixels) {
    throw UsageError(fmt::format(
        "--gaussian: found '{}', too wide for a kernel of 127 pixels; expected 15.875 or less, or "
        "--size",
        *options.sigma));
  }
}

bool parse(Arguments arguments, ConvolveOptions& options) {
  CommandLine line("kastor convolve", "Convolve an image with a kernel.\n");
  add_input_options(line, options.input);
  add_kernel_options(line, options);
  add_convolve_options(line, options);
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.fits", [&options](const std::string& path) { options.output = path; },
      "Write the image to this file (required), with the\npixel type of the input.");
  line.requires_option("-o");
  add_overwrite_flag(line, options.overwrite);
  add_run_options(line, options.run);
  line.closing(
      "The world coordinates of the input are kept, and shifted where the mode changes\n"
      "the shape. The beam (BMAJ, BMIN, BPA) is dropped, as it no longer applies.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor convolve sky.fits --gaussian 2 -o smooth.fits\n"
      "  kastor convolve sky.fits --kernel lesson --mode full -o lesson.fits");
  line.check([&] { check(line, options); });
  if (!line.parse(arguments)) return false;
  if (!options.sigma && options.kernel.empty()) {
    throw UsageError(
        "convolve: found no kernel; expected --gaussian SIGMA, --kernel FILE.fits or --kernel "
        "lesson");
  }
  return true;
}

ConvolutionKernel make_kernel(const ConvolveOptions& options) {
  if (options.sigma) return gaussian_kernel(*options.sigma, options.size);
  if (options.kernel == lesson_name) return lesson_kernel();
  return read_kernel(options.kernel, options.input.read.max_unpacked);
}

/// The options that determine the result, as typed.
std::string as_typed(const ConvolveOptions& options) {
  std::string text = "kastor convolve" + input_options_as_typed(options.input);
  if (options.sigma) {
    text += fmt::format(" --gaussian {}", *options.sigma);
    if (options.size != 0) text += fmt::format(" --size {}", options.size);
  } else {
    text += " --kernel " + options.kernel;
  }
  return text +
         fmt::format(" --mode {} --nan {} --method {}", word_of(options.params.mode),
                     options.params.nan == NanTreatment::propagate ? "propagate" : "interpolate",
                     word_of(options.params.method));
}

/// The shift of the image within the result [pixel]. The middle of an even kernel is between two
/// pixels.
double shift(ConvolveMode mode, std::int64_t image, std::int64_t kernel) {
  const double middle = 0.5 * static_cast<double>(kernel - 1);
  const std::int64_t whole = (kernel - 1) / 2;
  switch (mode) {
    case ConvolveMode::full:
      return middle;
    case ConvolveMode::same:
      return middle - static_cast<double>(whole);
    case ConvolveMode::valid:
      break;
  }
  return middle - static_cast<double>(std::min(image, kernel) - 1);
}

struct ConvolveJob {
  const ConvolveOptions& options;
  const ConvolutionKernel& kernel;
  const io::FitsImage& image;
  const std::string& temporary;
  Session& session;
  std::string how;

  template <class Exec, class Pixels>
  void run(const Exec& space, const Pixels& pixels) {
    using T = typename Pixels::non_const_value_type;
    session.steps().begin("convolve");
    Convolver<Exec, T> convolver(space, kernel, options.params);
    ImageShape shape;
    about_image(image, [&] { shape = convolver.result_shape({image.ny, image.nx}); });
    const Image<T, Exec> result(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::convolved"),
        static_cast<std::size_t>(shape.ny), static_cast<std::size_t>(shape.nx));
    convolver(as_const_image<Exec>(pixels), result);
    const auto on_host = readable_on_host(space, result);
    session.steps().end();
    how = convolver.parts() == 0 ? "direct" : "separable in " + count_of(convolver.parts(), "term");
    const ScopedStep step(session.steps(), "write");
    const auto cards = io::cards_without_beam(io::kept_cards(image.header_cards, image.fits_axes));
    io::write_image(temporary, io::pixel_rows(on_host),
                    io::moved_cards(cards, shift(options.params.mode, image.nx, kernel.nx),
                                    shift(options.params.mode, image.ny, kernel.ny)),
                    provenance_of(image, as_typed(options), image.hdu.unit));
  }
};

}  // namespace

void run_convolve(Arguments arguments) {
  ConvolveOptions options;
  if (!parse(arguments, options)) return;
  std::vector<std::string> inputs{options.input.path};
  if (!options.kernel.empty() && options.kernel != lesson_name) inputs.push_back(options.kernel);
  io::OutputSet outputs;
  const std::string temporary =
      outputs.add(options.output, overwrite_policy(options.overwrite), inputs);

  Session session(options.run);
  session.steps().begin("read");
  const ConvolutionKernel kernel = make_kernel(options);
  session.steps().end();

  io::FitsImage image;
  ConvolveJob job{options, kernel, image, temporary, session, {}};
  session.on_image(options.input, HostPixels::not_needed, image,
                   [&](const auto& space, const auto& pixels) { job.run(space, pixels); });
  outputs.commit();
  session.close(fmt::format("{}: {} x {} kernel, {}", wrote_note({options.output}), kernel.nx,
                            kernel.ny, job.how),
                pixels_of(image));
}

}  // namespace kastor::cli

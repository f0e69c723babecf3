// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/fits_image.hpp>
#include <kastor/sigma_clip.hpp>

#include "cli/options/options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/blank_pixels.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct StatsOptions {
  InputOptions input;
  SigmaClipParams clip;
  RunOptions run;
  bool json = false;
};

bool parse(Arguments arguments, StatsOptions& options) {
  CommandLine line("kastor stats",
                   "Print mean, median, standard deviation (population), minimum and maximum of\n"
                   "an image, for all finite pixels and after kappa-sigma clipping.\n");
  add_input_options(line, options.input);
  add_blank_option(line, options.input, "Default: none.");
  add_clip_options(line, options.clip);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Values are in the image unit (BUNIT). Blank pixels (NaN, infinite, BLANK) are\n"
      "ignored. Each pass of the clipping keeps the pixels strictly within the limits.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor stats sky.fits");
  return line.parse(arguments);
}

}  // namespace

void run_stats(Arguments arguments) {
  StatsOptions options;
  if (!parse(arguments, options)) return;

  Session session(options.run);
  io::FitsImage image;
  SigmaClipResult clip;
  session.on_image(options.input, HostPixels::not_needed, image,
                   [&](const auto& space, const auto& pixels) {
                     const ScopedStep step(session.steps(), "clip");
                     about_image(image, [&] { clip = sigma_clip(space, pixels, options.clip); });
                   });

  session.end_progress();
  print_result(options.json ? stats_json(image, clip) : stats_text(image, clip));
  session.close(blank_note(options.input, session.blanked()), pixels_of(image));
}

}  // namespace kastor::cli

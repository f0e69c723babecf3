// SPDX-License-Identifier: Apache-2.0
#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "find/artefact_pass.hpp"

namespace kastor::cli {

std::string artefact_note_of(const ArtefactNoiseSummary& summary, double min_snr,
                             std::int64_t before, std::int64_t after) {
  if (summary.bright == 0)
    return fmt::format("no peak is above {:g} times the noise: --adaptive-rms changed nothing",
                       min_snr);
  if (summary.raised_pixels == 0)
    return fmt::format(
        "around {} above {:g} times the noise, the pixels below the background show no artefacts: "
        "--adaptive-rms raised no noise",
        count_of(summary.bright, "peak"), min_snr);
  return fmt::format(
      "around {} above {:g} times the noise, the noise of {} is raised, up to {:.2f} times "
      "(--adaptive-rms): {} of {} {}",
      count_of(summary.bright, "peak"), min_snr, count_of(summary.raised_pixels, "pixel"),
      summary.largest_factor, after, count_of(before, "island"), after == 1 ? "remains" : "remain");
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/options/noise_option.hpp"

#include <string>

namespace kastor::cli {

const char* name_of(AssumedNoise kind) {
  switch (kind) {
    case AssumedNoise::beam:
      return "beam";
    case AssumedNoise::condon:
      return "condon";
    case AssumedNoise::white:
      return "white";
    case AssumedNoise::measured:
      break;
  }
  return "auto";
}

void add_noise_option(CommandLine& line, AssumedNoise& kind) {
  line.choice(
      "--noise", {"auto", "beam", "condon", "white"},
      [&kind](const std::string& word) {
        kind = word == "beam"     ? AssumedNoise::beam
               : word == "condon" ? AssumedNoise::condon
               : word == "white"  ? AssumedNoise::white
                                  : AssumedNoise::measured;
      },
      "Set the correlation of the noise that errors are\n"
      "computed with: as the beam, white noise convolved with\n"
      "the beam (condon), or none (white). Default: auto,\n"
      "measured from the image.",
      name_of(kind));
}

}  // namespace kastor::cli

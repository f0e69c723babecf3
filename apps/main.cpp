// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <kastor/io/output_set.hpp>
#include <kastor/version.hpp>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/errors.hpp"
#include "cli/streams.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct Subcommand {
  std::string_view name;
  const char* summary;
  void (*run)(Arguments);
};

constexpr std::array subcommands{
    Subcommand{"find", "find and measure the sources of an image", run_find},
    Subcommand{"stats", "statistics of an image, before and after kappa-sigma clipping", run_stats},
    Subcommand{"label", "write an image of source labels", run_label},
    Subcommand{"convolve", "convolve an image with a kernel", run_convolve},
    Subcommand{"simulate", "write a simulated image", run_simulate},
    Subcommand{"view", "draw an image, and sources over it, as a PNG picture", run_view},
    Subcommand{"bench", "time every step of the job on this machine's backends", run_bench},
    Subcommand{"compare", "match two catalogues: completeness, extra sources, offsets",
               run_compare},
    Subcommand{"info", "this kastor's backends and libraries, or the HDUs of a file", run_info},
    Subcommand{"primes", "prime numbers by trial division: a small example of a kernel",
               run_primes},
};

std::string main_help() {
  std::string text =
      "Kastor finds and measures the sources in astronomical images (FITS), with the\n"
      "same result on one core, on many, and on a GPU.\n"
      "\n"
      "Usage: kastor SUBCOMMAND [OPTIONS...]\n"
      "       kastor --version\n"
      "\n"
      "Subcommands:\n";
  for (const auto& subcommand : subcommands) {
    text += "  ";
    text += subcommand.name;
    text.append(12 - subcommand.name.size(), ' ');
    text += subcommand.summary;
    text += '\n';
  }
  text +=
      "\n"
      "'kastor SUBCOMMAND --help' lists the options. Results go to stdout, everything\n"
      "else to stderr.\n"
      "\n"
      "Exit codes:\n"
      "  0           done\n"
      "  1           failure: files, data, memory or devices\n"
      "  2           wrong usage: the command line itself\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o sources.csv\n";
  return text;
}

const Subcommand* find_subcommand(std::string_view name) {
  const auto* found = std::find_if(subcommands.begin(), subcommands.end(),
                                   [name](const auto& s) { return s.name == name; });
  return found == subcommands.end() ? nullptr : found;
}

std::string subcommand_names() {
  std::string names;
  for (const auto& subcommand : subcommands) {
    names += names.empty() ? "" : ", ";
    names += subcommand.name;
  }
  return names;
}

/// Answered whatever else is given: the help of the first word that is a subcommand, else that of
/// the command.
void run_help(Arguments arguments) {
  for (const std::string_view word : arguments) {
    if (const auto* subcommand = find_subcommand(word)) {
      subcommand->run(arguments);
      return;
    }
  }
  print_result(main_help());
}

void run(Arguments arguments) {
  if (asks_for_help(arguments)) {
    run_help(arguments);
    return;
  }
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "--version" && arguments.size() == 1) {
    print_result(std::string("kastor ") + version() + "\n");
    return;
  }
  const auto* subcommand = find_subcommand(first);
  if (subcommand == nullptr) {
    throw UsageError("found " + (arguments.empty() ? "nothing" : "'" + first + "'") +
                     " where a subcommand belongs; expected one of " + subcommand_names() +
                     " (see 'kastor --help')");
  }
  subcommand->run(arguments.subspan(1));
}

}  // namespace
}  // namespace kastor::cli

int main(int argc, char** argv) {
  return kastor::cli::run_guarded([=] {
    kastor::cli::make_streams_safe();
    kastor::io::install_signal_cleanup();
    kastor::cli::run(
        kastor::cli::Arguments(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  });
}

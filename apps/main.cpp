// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <kastor/io/output_set.hpp>
#include <kastor/version.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/manual.hpp"
#include "cli/help/overview.hpp"
#include "cli/options/command_line.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/ranks.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct Subcommand {
  std::string_view name;
  const char* summary;
  void (*run)(Arguments);
};

/// For the build; it is not in the help.
constexpr std::string_view write_manual_option = "--write-manual";

constexpr std::array subcommands{
    Subcommand{"find", "find and measure the sources in an image", run_find},
    Subcommand{"measure", "measure fluxes at given positions", run_measure},
    Subcommand{"stats", "print image statistics before and after kappa-sigma clipping", run_stats},
    Subcommand{"label", "write an image of source labels", run_label},
    Subcommand{"convolve", "convolve an image with a kernel", run_convolve},
    Subcommand{"simulate", "write a simulated image", run_simulate},
    Subcommand{"view", "draw an image and its sources as a PNG picture", run_view},
    Subcommand{"bench", "time every step on every backend of this machine", run_bench},
    Subcommand{"compare", "match two catalogues: completeness, reliability, offsets", run_compare},
    Subcommand{"evaluate", "test catalogues of an image against the truth", run_evaluate},
    Subcommand{"report", "write a page about an image and its sources", run_report},
    Subcommand{"info", "show backends and libraries, or the HDUs of a FITS file", run_info},
    Subcommand{"primes", "print prime numbers: the smallest example of a kernel", run_primes},
};

CommandDescription main_overview() {
  CommandDescription about;
  about.name = "kastor";
  about.purpose =
      "Kastor finds and measures the sources in astronomical images (FITS), with\n"
      "bit-identical results on one core, on many cores and on a GPU.\n";
  about.usage = {"kastor SUBCOMMAND [OPTIONS...]", "kastor --version"};
  about.parts_heading = "Subcommands";
  for (const auto& subcommand : subcommands) {
    about.parts.push_back({std::string(subcommand.name), subcommand.summary});
  }
  about.closing =
      "'kastor SUBCOMMAND --help' lists the options of a subcommand, and\n"
      "'kastor SUBCOMMAND --dump-config' prints them as a file for --config.\n"
      "Results go to stdout, everything else to stderr.\n"
      "\n"
      "Exit codes:\n"
      "  0           done\n"
      "  1           failure: files, data, memory, devices or the environment\n"
      "  2           wrong usage: the command line, or a file given to --config\n"
      "\n"
      "Environment:\n"
      "  OMP_NUM_THREADS   number of CPU threads, unless --threads is given\n"
      "  KASTOR_FONT       TrueType font of the text in pictures\n"
      "  KASTOR_MPI        off: processes of one launcher (mpirun, srun) do not work\n"
      "                    together\n"
      "  KASTOR_PYTHON     Python of 'kastor report' and 'kastor bench --peers'\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o sources.csv";
  return about;
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

/// Shows the help of the first word that is a subcommand, else that of the command, whatever else
/// is given.
void run_help(Arguments arguments) {
  for (const std::string_view word : arguments) {
    if (const auto* subcommand = find_subcommand(word)) {
      subcommand->run(arguments);
      return;
    }
  }
  show_overview(main_overview());
}

/// Appends the description of the command of these words, and then those of its parts.
void describe_with_parts(std::vector<std::string> words, std::vector<CommandDescription>& all) {
  words.emplace_back("--help");
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  auto about = describe([&] { run_help(arguments); }).at(0);
  words.pop_back();
  const auto parts = about.parts;
  all.push_back(std::move(about));
  for (const auto& part : parts) {
    words.push_back(part.name);
    describe_with_parts(words, all);
    words.pop_back();
  }
}

std::vector<CommandDescription> describe_all() {
  std::vector<CommandDescription> all;
  describe_with_parts({}, all);
  return all;
}

void run(Arguments arguments) {
  if (asks_for_help(arguments)) {
    run_help(arguments);
    return;
  }
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == write_manual_option && arguments.size() == 2) {
    write_manual(describe_all(), arguments[1]);
    return;
  }
  if (first == "--version" && arguments.size() == 1) {
    print_result(std::string("kastor ") + version() + "\n");
    return;
  }
  const auto* subcommand = find_subcommand(first);
  if (subcommand == nullptr) {
    throw UsageError((arguments.empty() ? "found no subcommand"
                                        : "found '" + first + "', which is not a subcommand") +
                     "; expected one of " + subcommand_names() + " (see 'kastor --help')");
  }
  if (first != "find") expect_one_process(("kastor " + first).c_str());
  subcommand->run(arguments.subspan(1));
}

}  // namespace
}  // namespace kastor::cli

int main(int argc, char** argv) {
  return kastor::cli::run_launched([=] {
    return kastor::cli::run_guarded([=] {
      kastor::cli::make_streams_safe();
      kastor::io::install_signal_cleanup();
      const kastor::cli::Arguments all(argv, static_cast<std::size_t>(argc));
      const auto arguments = all.subspan(argc > 0 ? 1 : 0);
      kastor::cli::compare_ranks(arguments);
      kastor::cli::run(arguments);
    });
  });
}

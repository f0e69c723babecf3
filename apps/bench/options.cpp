// SPDX-License-Identifier: Apache-2.0
#include "bench/options.hpp"

#include "cli/run/errors.hpp"

namespace kastor::bench {

bool parse(cli::Arguments arguments, BenchOptions& options) {
  cli::CommandLine line(
      "kastor bench",
      "Time every step of convolving and of finding sources on every backend of this\n"
      "machine, compare their results bit by bit, and print the table.\n");
  line.integer(
      "--size", "N", {1, 100'000, "an integer from 1 to 100000"},
      [&options](std::int64_t n) { options.size = n; },
      "Pixels of both sides of the images; default 2048.", std::to_string(options.size));
  add_type_option(line, options.type);
  line.integer(
      "--repeats", "N", {1, 100'000, "an integer from 1 to 100000"},
      [&options](std::int64_t n) { options.rules.repeats = static_cast<int>(n); },
      "Runs of each step, at least; default 10. More for\n"
      "short steps, fewer for those that take seconds.",
      std::to_string(options.rules.repeats));
  line.heading("Comparison");
  line.flag("--peers", options.peers,
            "Time NumPy, SciPy and, where it is, CuPy on the same\nimages too.");
  line.value(
      "--python", "PATH", [&options](const std::string& path) { options.python = path; },
      "The interpreter that has them; default: KASTOR_PYTHON\nof the environment, else python3.");
  add_json_flag(line, options.json);
  std::vector<std::string> on;
  add_run_options(line, options.run, on);
  line.closing(
      "Times are those of work on images in the backend's memory; for a device also\n"
      "with the copies to and from it. --timings adds fences to every step, which the\n"
      "figures then include. Exit code 1 if the results of two backends differ.\n"
      "\n"
      "Example:\n"
      "  kastor bench --size 512");
  line.check([&] {
    options.on = choose_backends(options.run, on);
    if (options.python && !options.peers) {
      throw cli::UsageError("--python: found without --peers; expected both or neither");
    }
  });
  return line.parse(arguments);
}

}  // namespace kastor::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/options.hpp"

#include "cli/run/errors.hpp"

namespace kastor::bench {

bool parse(cli::Arguments arguments, BenchOptions& options) {
  cli::CommandLine line(
      "kastor bench",
      "Time every step of convolution and of source finding on every backend of this\n"
      "machine, compare the results bit by bit, and print a table.\n");
  line.integer(
      "--size", "N", {1, 100'000, "an integer from 1 to 100000"},
      [&options](std::int64_t n) { options.size = n; },
      "Set width and height of the images [pixel]. Default:\n2048.", std::to_string(options.size));
  add_type_option(line, options.type);
  line.integer(
      "--repeats", "N", {1, 100'000, "an integer from 1 to 100000"},
      [&options](std::int64_t n) { options.rules.repeats = static_cast<int>(n); },
      "Run each step at least N times; more often if it is\n"
      "short, but less often if it takes seconds. Default:\n10.",
      std::to_string(options.rules.repeats));
  line.heading("Comparison");
  line.flag("--peers", options.peers,
            "Time NumPy, SciPy and, if available, CuPy on the same\nimages too.");
  line.value(
      "--python", "PATH", [&options](const std::string& path) { options.python = path; },
      "Use this interpreter for --peers. Default: the\n"
      "environment variable KASTOR_PYTHON, else python3.");
  add_json_flag(line, options.json);
  std::vector<std::string> on;
  add_run_options(line, options.run, on);
  line.closing(
      "Times are for images in the memory of the backend; for a device, also with the\n"
      "copies to and from it. --timings adds fences to every step, which the times then\n"
      "include. The exit code is 1 if the results of two backends differ.\n"
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

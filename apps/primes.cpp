// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <kastor/primes.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/report/streams.hpp"
#include "cli/run/session.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct PrimesOptions {
  std::int64_t upto = 10'000;
  bool count = false;
  bool json = false;
  RunOptions run;
};

bool parse(Arguments arguments, PrimesOptions& options) {
  CommandLine line("kastor primes",
                   "Print the prime numbers up to N, found by trial division with one thread per\n"
                   "candidate: the smallest example of a kernel (see docs/guide.md).\n");
  line.integer(
      "--upto", "N", {0, most_primes_upto, "an integer from 0 to 100000000"},
      [&options](std::int64_t n) { options.upto = n; }, "Test the numbers up to N. Default: 10000.",
      std::to_string(options.upto));
  line.heading("Output");
  line.flag("--count", options.count, "Print only the number of primes.");
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "The primes are printed in ascending order, one per line. The keys of --json are\n"
      "upto, count and primes; with --count, primes is null.\n"
      "\n"
      "Example:\n"
      "  kastor primes --upto 100");
  return line.parse(arguments);
}

std::string as_json(const PrimesOptions& options, const std::vector<std::int64_t>& primes) {
  const nlohmann::ordered_json json = {
      {"upto", options.upto},
      {"count", primes.size()},
      {"primes", options.count ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(primes)}};
  return json.dump() + "\n";
}

std::string as_text(const PrimesOptions& options, const std::vector<std::int64_t>& primes) {
  if (options.count) return std::to_string(primes.size()) + "\n";
  std::string text;
  for (const auto prime : primes) text += std::to_string(prime) + "\n";
  return text;
}

}  // namespace

void run_primes(Arguments arguments) {
  PrimesOptions options;
  if (!parse(arguments, options)) return;

  Session session(options.run);
  std::vector<std::int64_t> primes;
  session.on_backend([&](const auto& space) {
    const ScopedStep step(session.steps(), "primes");
    primes = primes_up_to(space, options.upto);
  });

  session.end_progress();
  print_result(options.json ? as_json(options, primes) : as_text(options, primes));
  session.close("", options.upto + 1);
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "binding/functions.hpp"
#include "binding/runtime.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/errors.hpp"
#include "subcommands.hpp"

namespace kastor::python {
namespace {

using Subcommand = void (*)(cli::Arguments);

/// Runs a subcommand in this process on the fastest backend, and returns what it would print on
/// stdout.
std::string run(const std::string& name, std::vector<std::string> arguments) {
  static const std::map<std::string, Subcommand> subcommands{
      {"compare", cli::run_compare}, {"evaluate", cli::run_evaluate},
      {"find", cli::run_find},       {"info", cli::run_info},
      {"measure", cli::run_measure}, {"simulate", cli::run_simulate}};
  const auto found = subcommands.find(name);
  if (found == subcommands.end()) throw cli::UsageError("there is no subcommand " + name);
  const nanobind::gil_scoped_release released;
  Runtime& runtime = Runtime::get();
  const auto given = std::find(arguments.begin(), arguments.end(), "--on");
  const bool is_given = given != arguments.end() && given + 1 != arguments.end();
  const std::string backend =
      runtime.backend(is_given ? std::optional(*(given + 1)) : std::nullopt);
  if (name == "evaluate" && !is_given) arguments.insert(arguments.begin(), {"--on", backend});
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  std::string printed;
  runtime.run(backend, 0, [&](const auto&) {
    const cli::CapturedResults captured;
    found->second(pointers);
    printed = captured.text();
  });
  return printed;
}

}  // namespace

void add_command(nanobind::module_& m) {
  m.def("run", &run, nanobind::arg("name"), nanobind::arg("arguments"));
}

}  // namespace kastor::python

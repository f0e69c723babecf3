// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_CHILD_PROCESS_HPP
#define KASTOR_APPS_CLI_RUN_CHILD_PROCESS_HPP

#include <functional>
#include <string>
#include <vector>

namespace kastor::cli {

/// Runs a program, which is searched on PATH if its name has no '/', with an empty stdin and with
/// stderr discarded. Passes each line of its stdout to `take` as it arrives.
/// Returns its exit code, or 128 + N if signal N ended it. \throws Error if it cannot be started
int run_program(const std::vector<std::string>& words,
                const std::function<void(const std::string&)>& take);

}  // namespace kastor::cli

#endif

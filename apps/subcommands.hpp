// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_SUBCOMMANDS_HPP
#define KASTOR_APPS_SUBCOMMANDS_HPP

#include "cli/options/command_line.hpp"

/// The subcommands, one file each. `arguments` is what follows the name of the subcommand; failures
/// are exceptions.
namespace kastor::cli {

void run_find(Arguments arguments);
void run_convolve(Arguments arguments);
void run_stats(Arguments arguments);
void run_label(Arguments arguments);
void run_simulate(Arguments arguments);
void run_view(Arguments arguments);
void run_bench(Arguments arguments);
void run_compare(Arguments arguments);
void run_evaluate(Arguments arguments);
void run_measure(Arguments arguments);
void run_report(Arguments arguments);
void run_info(Arguments arguments);
void run_primes(Arguments arguments);

}  // namespace kastor::cli

#endif

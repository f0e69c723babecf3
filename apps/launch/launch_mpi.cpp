// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cstdio>
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/mpi/communicator.hpp>

#include "cli/run/errors.hpp"
#include "cli/run/ranks.hpp"

namespace kastor::cli {

int run_launched(const std::function<int()>& run) {
  // Without a launcher MPI is not started, which takes longer than the search of a small image.
  if (launched_processes() == 1) return run();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  int code = exit_failure;
  {
    mpi::Communicator all(MPI_COMM_WORLD);
    const RanksInUse in_use(all);
    code = run();
    // The others wait for this process, and would wait in MPI_Finalize as well.
    if (code == exit_failure && !all.has_failed()) MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}

}  // namespace kastor::cli

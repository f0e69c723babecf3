// SPDX-License-Identifier: Apache-2.0
// Another MPI code, whose ranks are Kastor's.
#include <mpi.h>

#include <cstdio>
#include <kastor/mpi/communicator.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);  // Kastor never starts or ends MPI
  {
    kastor::mpi::Communicator ranks(MPI_COMM_WORLD);
    const auto before = ranks.sum_before(5);
    if (ranks.rank() + 1 == ranks.size()) {
      std::printf("%d ranks, %d rows before the last\n", ranks.size(), static_cast<int>(before));
    }
  }
  return MPI_Finalize();
}

// SPDX-License-Identifier: Apache-2.0
// The example of docs/linking.md: the sources of an image that lies on several processes, compared
// with those of one process: mpirun -n N find_over_ranks
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <kastor/kastor.hpp>
#include <kastor/mpi/communicator.hpp>
#include <utility>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<float**, Kokkos::LayoutRight>;  // (y, x), x fastest

// example-begin mpi-find
/// The sources of an image of which each process has a band of rows, the first process the first.
kastor::FindResult sources_of(MPI_Comm comm, const Exec& stream, const Field& own_band) {
  kastor::mpi::Communicator ranks(comm);
  kastor::SourceFinder<Exec, float> find(stream, kastor::FindParams(), ranks);
  kastor::FindResult found = find(own_band);
  // The sky, the threshold and the totals are those of the image, and so are rows and ids.
  std::printf("rank %d of %d: %zu sources above %g\n", ranks.rank(), ranks.size(),
              found.sources.size(), found.threshold);
  return found;
}
// example-end mpi-find

bool is_same(const kastor::Source& a, const kastor::Source& b) {
  return a.id == b.id && a.n_pix == b.n_pix && a.flux_sum == b.flux_sum &&
         a.flux_peak == b.flux_peak && a.x_cen == b.x_cen && a.y_cen == b.y_cen &&
         a.x_peak == b.x_peak && a.y_peak == b.y_peak && a.x_min == b.x_min && a.x_max == b.x_max &&
         a.y_min == b.y_min && a.y_max == b.y_max;
}

/// Whether the processes, one after the other, find what one finds alone.
bool find_the_same() {
  kastor::SkyParams sky;
  sky.ny = 400;
  sky.nx = 300;
  sky.sources_per_mpx = 400;
  const Field whole("whole", 400, 300);
  kastor::simulate_sky(Exec(), sky, kastor::sky_truth(sky), whole);
  const kastor::Catalogue expected = kastor::find_sources(Exec(), whole).sources;

  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto rows = std::make_pair(400 * rank / size, 400 * (rank + 1) / size);
  const kastor::FindResult found =
      sources_of(MPI_COMM_WORLD, Exec(), Kokkos::subview(whole, rows, Kokkos::ALL));

  kastor::mpi::Communicator ranks(MPI_COMM_WORLD);
  const auto n = static_cast<std::int64_t>(found.sources.size());
  const std::int64_t first = ranks.sum_before(n);
  std::uint64_t total = static_cast<std::uint64_t>(n);
  ranks.sum({&total, 1});
  bool same = total == expected.size() && first + n <= static_cast<std::int64_t>(total);
  for (std::int64_t i = 0; same && i < n; ++i) {
    same = is_same(found.sources[static_cast<std::size_t>(i)],
                   expected[static_cast<std::size_t>(first + i)]);
  }
  std::uint64_t wrong = same ? 0 : 1;
  ranks.sum({&wrong, 1});
  return wrong == 0 && total > 10;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool same = false;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    same = find_the_same();
  }
  MPI_Finalize();
  return same ? 0 : 1;
}

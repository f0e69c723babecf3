// SPDX-License-Identifier: Apache-2.0
// Another Kokkos code, which finds the sources in a View of its own on a stream of its own.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <kastor/kastor.hpp>

using Exec = Kokkos::DefaultExecutionSpace;
using Image = Kokkos::View<float**, Kokkos::LayoutRight>;  // (y, x), x fastest

struct Cross {  // five pixels: 1 in the centre and 0.75 around it
  Image image;
  KOKKOS_FUNCTION void operator()(int source) const {
    const int y = 10 + 12 * source, x = 10 + 20 * source;
    image(y, x) = 1.0F;
    image(y - 1, x) = image(y + 1, x) = image(y, x - 1) = image(y, x + 1) = 0.75F;
  }
};

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);  // Kastor never starts or ends Kokkos
  const Exec stream = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  const Image image(Kokkos::view_alloc(stream, "consumer::image"), 48, 64);
  Kokkos::parallel_for("consumer::fill", Kokkos::RangePolicy<Exec>(stream, 0, 3), Cross{image});

  const auto mask = kastor::threshold(stream, image, 0.5);
  const auto labels = kastor::label(stream, mask, kastor::Connectivity::four);
  const kastor::Catalogue catalogue = kastor::measure(stream, image, labels);

  std::printf("kastor %s found %zu sources on %s\n", kastor::version(), catalogue.size(),
              Exec::name());
  for (const kastor::Source& source : catalogue) {
    std::printf("source %d: %d pixels, sum %.1f, centre (%.1f, %.1f)\n", int(source.id),
                int(source.n_pix), source.flux_sum, source.x_cen, source.y_cen);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Another Kokkos code that labels and measures a View of its own.
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <kastor/kastor.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  using Exec = Kokkos::DefaultExecutionSpace;
  const Exec space;

  Kokkos::View<float**, Kokkos::LayoutRight, Exec::memory_space> image("consumer::image", 48, 64);
  Kokkos::parallel_for(
      "consumer::fill", Kokkos::RangePolicy<Exec>(space, 0, 3), KOKKOS_LAMBDA(const int source) {
        // Three crosses of five pixels: 1 in the centre and 0.75 around it.
        const int y = 10 + 12 * source;
        const int x = 10 + 20 * source;
        image(y, x) = 1.0f;
        image(y - 1, x) = image(y + 1, x) = image(y, x - 1) = image(y, x + 1) = 0.75f;
      });

  const auto mask = kastor::threshold(space, image, 0.5);
  const auto labels = kastor::label(space, mask, kastor::Connectivity::four);
  const kastor::Catalogue catalogue = kastor::measure(space, image, labels);

  std::printf("kastor %s found %zu sources\n", kastor::version(), catalogue.size());
  for (const kastor::Source& source : catalogue) {
    std::printf("source %d: %d pixels, sum %.1f, centre (%.1f, %.1f)\n", static_cast<int>(source.id),
                static_cast<int>(source.n_pix), source.flux_sum, source.x_cen, source.y_cen);
  }
  return 0;
}

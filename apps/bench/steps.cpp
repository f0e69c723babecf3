// SPDX-License-Identifier: Apache-2.0
#include "bench/steps.hpp"

#include <kastor/sigma_clip.hpp>
#include <kastor/simulate.hpp>

#include "cli/run/backends.hpp"

namespace kastor::bench {
namespace {

std::vector<Step> all_steps() {
  std::vector<Step> all;
  for (const auto& group : {convolution_steps(), sky_steps(), source_steps(), prime_steps()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

template <class T>
io::HostPixels<T> host_image(const std::string& label, std::int64_t size) {
  const auto extent = static_cast<std::size_t>(size);
  return io::HostPixels<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), extent, extent);
}

/// Makes the default sky, as `kastor simulate sky --size N` writes it.
template <class T, class Exec>
void make_sky(const Exec& space, Images& images) {
  const auto host = host_image<T>("kastor::app::sky", images.size);
  const Image<T, Exec> image = Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, typename Exec::memory_space{}), host);
  SkyParams params;
  params.ny = images.size;
  params.nx = images.size;
  simulate_sky<Exec, T>(space, params, sky_truth(params), image);
  images.level = 5 * sigma_clip(space, image).clipped.std;
  Kokkos::deep_copy(space, host, image);
  images.sky = host;
}

template <class Exec>
void make_dirac(const Exec& space, Images& images) {
  images.dirac = host_image<double>("kastor::app::dirac", images.size);
  const Image<double, Exec> image = Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, typename Exec::memory_space{}), images.dirac);
  simulate_diracs<Exec, double>(space, 16, image);
  Kokkos::deep_copy(space, images.dirac, image);
}

}  // namespace

const std::vector<Step>& steps() {
  static const std::vector<Step> all = all_steps();
  return all;
}

Images make_images(const std::string& backend, std::int64_t size, bool float64) {
  Images images;
  images.size = size;
  cli::on_backend(backend, [&](const auto& space) {
    make_dirac(space, images);
    if (float64) {
      make_sky<double>(space, images);
    } else {
      make_sky<float>(space, images);
    }
    space.fence("kastor::app: the images are on the host");
  });
  return images;
}

}  // namespace kastor::bench

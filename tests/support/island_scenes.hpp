// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ISLAND_SCENES_HPP
#define KASTOR_TESTS_ISLAND_SCENES_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/pixel_map.hpp>
#include <limits>

#include "device.hpp"
#include "generators.hpp"
#include "islands_naive.hpp"

namespace testing_support {

template <class Exec>
kastor::MeshSurface<Exec> to_device_surface(const HostMesh& mesh) {
  const auto nodes = new_image<Exec, kastor::MeshNode>("test::nodes", mesh.nodes.ny, mesh.nodes.nx);
  Kokkos::deep_copy(nodes, view_of(mesh.nodes));
  return {mesh.cell_height, mesh.cell_width, mesh.positive, nodes};
}

template <class Exec, class T>
struct DeviceMap {
  kastor::Image<T, Exec> owner;
  kastor::PixelMap<Exec, T> map;

  explicit DeviceMap(const HostMap<T>& host) : map(host.constant) {
    if (host.mesh.nodes.ny > 0) {
      map = to_device_surface<Exec>(host.mesh);
    } else if (host.image.ny > 0) {
      owner = to_device<Exec>(host.image);
      map = kastor::ConstImage<T, Exec>(owner);
    }
  }
};

template <class T>
HostMap<T> constant_map(double value) {
  HostMap<T> map;
  map.constant = value;
  return map;
}

/// Nodes about `mean`, derivatives of the same scatter.
inline HostMesh random_mesh(std::int64_t ny, std::int64_t nx, std::int64_t cell_height,
                            std::int64_t cell_width, double mean, double scatter, bool positive,
                            std::uint64_t seed) {
  Random random(seed);
  HostMesh mesh;
  mesh.cell_height = cell_height;
  mesh.cell_width = cell_width;
  mesh.positive = positive;
  mesh.nodes = HostGrid<kastor::MeshNode>((ny + cell_height - 1) / cell_height,
                                          (nx + cell_width - 1) / cell_width);
  for (kastor::MeshNode& node : mesh.nodes.values) {
    node = {mean + scatter * random.gaussian(), scatter * random.gaussian(),
            scatter * random.gaussian(), scatter * random.gaussian()};
  }
  return mesh;
}

template <class T>
struct Scene {
  HostImage<T> image;
  HostBackground<T> background;
  HostMask region;
};

enum class Maps { constants, images, meshes, mesh_and_image, other_mesh };
constexpr Maps all_maps[] = {Maps::constants, Maps::images, Maps::meshes, Maps::mesh_and_image,
                             Maps::other_mesh};

/// A sky of blobs of both signs over a background of the kind asked for, noise, blank pixels.
template <class T>
Scene<T> make_scene(Maps maps, std::int64_t ny, std::int64_t nx, std::uint64_t seed,
                    bool blanks = true) {
  Scene<T> scene;
  Random random(seed);
  HostMap<T>& level = scene.background.level;
  HostMap<T>& rms = scene.background.rms;
  switch (maps) {
    case Maps::constants:
      level.constant = 3.25;
      rms.constant = 0.75;
      break;
    case Maps::images:
    case Maps::mesh_and_image:
      level.image = HostImage<T>(ny, nx);
      rms.image = HostImage<T>(ny, nx);
      for (T& pixel : level.image.values) pixel = static_cast<T>(2 + 0.1 * random.gaussian());
      for (T& pixel : rms.image.values) {
        pixel = static_cast<T>(0.5 + random.uniform());
        if (blanks && random.below(500) == 0)
          pixel = random.below(2) == 0 ? T(0) : std::numeric_limits<T>::quiet_NaN();
      }
      if (maps == Maps::mesh_and_image) level.mesh = random_mesh(ny, nx, 40, 37, 5, 1, false, seed);
      break;
    case Maps::meshes:
      level.mesh = random_mesh(ny, nx, 32, 64, -4, 2, false, seed);
      rms.mesh = random_mesh(ny, nx, 32, 64, 1, 0.2, true, seed + 1);
      break;
    case Maps::other_mesh:
      // Steps smaller than a patch; an rms that is negative in places.
      level.mesh = random_mesh(ny, nx, 7, 11, 10, 3, false, seed);
      rms.mesh = random_mesh(ny, nx, 100, 9, 1, 1, false, seed + 1);
      break;
  }
  scene.image = HostImage<T>(ny, nx);
  HostGrid<double> sky(ny, nx);
  for (double& pixel : sky.values) pixel = random.gaussian();
  for (std::int64_t blob = 0; blob < ny * nx / 300; ++blob) {
    const std::int64_t yc = random.below(ny);
    const std::int64_t xc = random.below(nx);
    const double size = 0.5 + 2 * random.uniform();
    const double height = (blob % 3 == 0 ? -1 : 1) * std::exp(1 + 2 * random.uniform());
    for (std::int64_t y = std::max<std::int64_t>(0, yc - 8); y < std::min(ny, yc + 9); ++y) {
      for (std::int64_t x = std::max<std::int64_t>(0, xc - 8); x < std::min(nx, xc + 9); ++x) {
        const auto r2 = static_cast<double>((y - yc) * (y - yc) + (x - xc) * (x - xc));
        sky(y, x) += height * std::exp(-r2 / (2 * size * size));
      }
    }
  }
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const double noise = std::fabs(rms(y, x));
      scene.image(y, x) = static_cast<T>(level(y, x) + (noise < 100 ? noise : 1) * sky(y, x));
      if (blanks && random.below(400) == 0) {
        scene.image(y, x) = random.below(2) == 0 ? std::numeric_limits<T>::quiet_NaN()
                                                 : std::numeric_limits<T>::infinity();
      }
    }
  }
  return scene;
}

/// A scene where kernels can work on it.
template <class Exec, class T>
struct DeviceScene {
  kastor::Image<T, Exec> image;
  DeviceMap<Exec, T> level, rms;
  kastor::Background<Exec, T> background;
  kastor::BitMask<Exec> region;

  explicit DeviceScene(const Scene<T>& scene)
      : image(to_device<Exec>(scene.image)),
        level(scene.background.level),
        rms(scene.background.rms),
        background{level.map, rms.map} {
    if (scene.region.ny > 0) region = to_device_mask<Exec>(scene.region);
  }
};

template <class T>
Scene<T> scene_of(const HostImage<T>& image, double level = 0, double rms = 1) {
  return {image, {constant_map<T>(level), constant_map<T>(rms)}, {}};
}

}  // namespace testing_support

#endif

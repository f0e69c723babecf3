// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_HOST_NODES_HPP
#define KASTOR_TESTS_HOST_NODES_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/background.hpp>
#include <string>

#include "compare.hpp"
#include "naive.hpp"

namespace testing_support {

/// The nodes of a mesh, on the host.
struct HostNodes {
  HostGrid<kastor::MeshNode> level, rms;
};

template <class Exec>
[[nodiscard]] HostGrid<kastor::MeshNode> to_host_nodes(const kastor::MeshSurface<Exec>& surface) {
  const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, surface.nodes);
  HostGrid<kastor::MeshNode> grid(static_cast<std::int64_t>(copy.extent(0)),
                                  static_cast<std::int64_t>(copy.extent(1)));
  for (std::int64_t j = 0; j < grid.ny; ++j)
    for (std::int64_t i = 0; i < grid.nx; ++i) grid(j, i) = copy(j, i);
  return grid;
}

/// After a fence of all.
template <class Exec, class T>
[[nodiscard]] HostNodes nodes_of(const kastor::BackgroundMesh<Exec, T>& mesh) {
  Exec{}.fence("test::background");
  return {to_host_nodes(mesh.level), to_host_nodes(mesh.rms)};
}

inline ::testing::AssertionResult same_bits(const HostNodes& a, const HostNodes& b) {
  FieldComparison comparison;
  const auto add = [&](const char* map, const auto& p, const auto& q) {
    comparison.field("rows", p.ny, q.ny).field("columns", p.nx, q.nx);
    for (std::size_t i = 0; i < std::min(p.values.size(), q.values.size()); ++i) {
      const std::string name = map + std::to_string(i);
      comparison.field(name.c_str(), p.values[i].value, q.values[i].value)
          .field((name + " d2x").c_str(), p.values[i].d2x, q.values[i].d2x)
          .field((name + " d2y").c_str(), p.values[i].d2y, q.values[i].d2y)
          .field((name + " d2x2y").c_str(), p.values[i].d2x2y, q.values[i].d2x2y);
    }
  };
  add("level ", a.level, b.level);
  add("rms ", a.rms, b.rms);
  return comparison.result();
}

}  // namespace testing_support

#endif

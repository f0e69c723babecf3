// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_CELL_ESTIMATES_HPP
#define KASTOR_TESTS_CELL_ESTIMATES_HPP

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/estimate_cells.hpp>
#include <kastor/detail/work_shares.hpp>
#include <string>
#include <vector>

#include "naive.hpp"

/// The figures of an image's cells, however they are come by.
namespace testing_support {

namespace kd = kastor::detail;

template <class T>
kd::CellImage<T> cells_of(const HostImage<T>& host, std::int64_t size) {
  kd::CellImage<T> image;
  image.rows.one = {host.values.data(), host.nx, 0};
  image.image = {host.ny, host.nx};
  image.cell = {size, size};
  image.mesh = {(host.ny - 1) / size + 1, (host.nx - 1) / size + 1};
  return image;
}

struct Estimated {
  explicit Estimated(std::int64_t cells)
      : values(static_cast<std::size_t>(cells), {-1, -1}),
        valid(static_cast<std::size_t>(cells), 2) {}
  [[nodiscard]] kd::CellOutput output() { return {values.data(), valid.data(), &counts}; }

  std::vector<kd::CellValue> values;
  std::vector<std::uint8_t> valid;
  kd::CellCounts counts{0, 0};
  std::uint32_t unfinished = 0;  ///< cells whose excerpts did not say all
};

inline constexpr kd::CellRules usual{3.0, 0, kastor::BackgroundEstimate::mode, 0.25};

template <class T>
Estimated on_host(const kd::CellImage<T>& image, const kd::CellRules& rules = usual) {
  Estimated found(image.mesh.ny * image.mesh.nx);
  const std::size_t bytes = kd::HostCellRoom<T>::bytes(image.cell.ny * image.cell.nx);
  std::vector<double> room(bytes / sizeof(double) + 1);
  const kd::EstimateCell<T> estimate{image, rules, found.output()};
  const kd::EstimateOnHost<T> host{estimate, reinterpret_cast<std::byte*>(room.data()), bytes};
  kd::for_each_index_of_workers("test::estimate_cells", Kokkos::Serial{},
                                image.mesh.ny * image.mesh.nx, host);
  return found;
}

inline void expect_same(const Estimated& a, const Estimated& b, const std::string& what) {
  EXPECT_EQ(a.counts.good, b.counts.good) << what;
  EXPECT_EQ(a.counts.valid, b.counts.valid) << what;
  ASSERT_EQ(a.valid, b.valid) << what;
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.valid[i] == 0) continue;
    const std::string where = what + ", cell " + std::to_string(i);
    EXPECT_EQ(bits(a.values[i].level), bits(b.values[i].level)) << where;
    EXPECT_EQ(bits(a.values[i].rms), bits(b.values[i].rms)) << where;
  }
}

}  // namespace testing_support

#endif

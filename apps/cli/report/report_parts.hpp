// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_REPORT_PARTS_HPP
#define KASTOR_APPS_CLI_REPORT_REPORT_PARTS_HPP

#include <algorithm>
#include <cstddef>
#include <kastor/io/beam.hpp>
#include <kastor/io/fits_image.hpp>
#include <numeric>
#include <string>
#include <vector>

/// Common to the reports on sources and on islands.
namespace kastor::cli {

/// The unit after a number, " JY/BEAM"; empty without a unit.
[[nodiscard]] std::string unit_behind(const io::FitsImage& image);

/// "FILE[HDU]: 30 columns x 20 rows, plane 1"
[[nodiscard]] std::string size_text(const io::FitsImage& image);

/// "beam 10" x 8" at 30 deg"
[[nodiscard]] std::string beam_text(const io::Beam& beam);

/// The `most` rows, or fewer, with the largest `key(row)`. Among equal keys the first row comes
/// first.
template <class Key>
[[nodiscard]] std::vector<std::size_t> brightest_rows(std::size_t rows, const Key& key,
                                                      std::size_t most = 20) {
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = std::min(most, rows);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](std::size_t a, std::size_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  order.resize(count);
  return order;
}

}  // namespace kastor::cli

#endif

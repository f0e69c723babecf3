// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ARRAY_SOURCE_HPP
#define KASTOR_TESTS_ARRAY_SOURCE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/row_source.hpp>
#include <limits>
#include <span>
#include <utility>

#include "naive.hpp"

namespace testing_support {

/// An image of the host's that is read by rows. Counts what is read, and may fail.
template <class T>
class ArraySource : public kastor::RowSource<T> {
 public:
  explicit ArraySource(HostImage<T> image) : m_image(std::move(image)) {}

  [[nodiscard]] std::int64_t ny() const override { return m_image.ny; }
  [[nodiscard]] std::int64_t nx() const override { return m_image.nx; }
  void read(std::int64_t first, std::int64_t count, std::span<T> into) override {
    if (first < 0 || count < 0 || first + count > ny() ||
        static_cast<std::int64_t>(into.size()) != count * nx())
      throw kastor::Error("test: rows outside of the image");
    if (first + count > fails_from_row) throw kastor::Error("test: the rows cannot be read");
    read_pixels(first * nx(), into);
    rows_read += count;
    most_rows = std::max(most_rows, count);
  }
  void read_pixels(std::int64_t first, std::span<T> into) override {
    if (first < 0 || first + static_cast<std::int64_t>(into.size()) > ny() * nx())
      throw kastor::Error("test: pixels outside of the image");
    std::copy_n(m_image.values.begin() + static_cast<std::ptrdiff_t>(first), into.size(),
                into.begin());
  }

  std::int64_t rows_read = 0;  ///< by all calls of `read`
  std::int64_t most_rows = 0;  ///< by one of them
  /// Rows from here on cannot be read.
  std::int64_t fails_from_row = std::numeric_limits<std::int64_t>::max();

 private:
  HostImage<T> m_image;
};

}  // namespace testing_support

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ARRAY_SOURCE_HPP
#define KASTOR_TESTS_ARRAY_SOURCE_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/row_source.hpp>
#include <limits>
#include <span>
#include <utility>

#include "naive.hpp"

namespace testing_support {

/// An image in memory that is read row by row. It counts what is read, and may fail.
template <class T>
class ArraySource final : public kastor::RowSource<T> {
 public:
  explicit ArraySource(HostImage<T> image) : m_image(std::move(image)) {}

  [[nodiscard]] std::int64_t ny() const override { return m_image.ny; }
  [[nodiscard]] std::int64_t nx() const override { return m_image.nx; }
  void read(std::int64_t first, std::int64_t count, std::span<T> into) override {
    if (first < 0 || first + count > ny()) throw kastor::Error("test: rows beyond the image");
    if (first + count > m_fails_from_row) throw kastor::Error("test: the rows cannot be read");
    copy(first * nx(), count * nx(), into);
    m_rows_read += count;
  }
  void read_pixels(std::int64_t first, std::span<T> into) override {
    copy(first, static_cast<std::int64_t>(into.size()), into);
  }

  /// Rows from here on cannot be read.
  void fail_from_row(std::int64_t row) { m_fails_from_row = row; }
  [[nodiscard]] std::int64_t rows_read() const { return m_rows_read; }

 private:
  void copy(std::int64_t first, std::int64_t count, std::span<T> into) const {
    if (static_cast<std::int64_t>(into.size()) != count)
      throw kastor::Error("test: no room for the pixels");
    std::copy_n(m_image.values.begin() + first, count, into.begin());
  }

  HostImage<T> m_image;
  std::int64_t m_fails_from_row = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> m_rows_read = 0;
};

}  // namespace testing_support

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_WRITABLE_ROWS_HPP
#define KASTOR_CORE_WRITABLE_ROWS_HPP

#include <cstdint>

namespace kastor::core {

/// Rows of an image that kernels write to.
template <class T>
struct WritableRows {
  T* data = nullptr;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::int64_t pitch = 0;
};

template <class View>
[[nodiscard]] WritableRows<typename View::value_type> writable_rows_of(const View& image) {
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  // The stride of a View with fewer than two rows is not meaningful.
  return {image.data(), ny, nx, ny > 1 ? static_cast<std::int64_t>(image.stride(0)) : nx};
}

}  // namespace kastor::core

#endif

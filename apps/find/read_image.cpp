// SPDX-License-Identifier: Apache-2.0
#include "find/read_image.hpp"

namespace kastor::cli {

std::int64_t ReadImage::bytes() const {
  const auto size = [](const auto& view) {
    using T = typename std::decay_t<decltype(view)>::value_type;
    return static_cast<std::int64_t>(view.size() * sizeof(T));
  };
  return std::visit(size, image.pixels) + std::visit(size, pinned);
}

void ReadImage::give_memory_back() {
  image.pixels = {};
  pinned = {};
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/run/blank_pixels.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <variant>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"

namespace kastor::cli {
namespace {

template <class T>
std::int64_t blank_out_equal(T* pixels, std::size_t n, T value) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool equal = pixels[i] == value;
    pixels[i] = equal ? std::numeric_limits<T>::quiet_NaN() : pixels[i];
    count += equal ? 1 : 0;
  }
  return count;
}

}  // namespace

std::int64_t blank_out(const InputOptions& options, io::FitsImage& image) {
  if (!options.blank || !options.blank->value) return 0;
  const double value = *options.blank->value;
  return std::visit(
      [&](const auto& pixels) -> std::int64_t {
        using T = typename std::decay_t<decltype(pixels)>::non_const_value_type;
        // No pixel equals what is beyond the type's range.
        if (std::abs(value) > static_cast<double>(std::numeric_limits<T>::max())) return 0;
        return blank_out_equal(pixels.data(), pixels.size(), static_cast<T>(value));
      },
      image.pixels);
}

std::string blank_note(const InputOptions& options, std::int64_t pixels) {
  if (!options.blank || !options.blank->value) return "";
  return fmt::format("{} equal to {} (--blank-value) {} taken as blank",
                     pixels == 0 ? "no pixel" : count_of(pixels, "pixel"), *options.blank->value,
                     pixels > 1 ? "are" : "is");
}

}  // namespace kastor::cli

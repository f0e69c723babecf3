// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_STATISTICS_HPP
#define KASTOR_STATISTICS_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// Statistics of a set of pixels [image unit].
struct Statistics {
  double mean = 0;
  double median = 0;  ///< exact; for an even count the mean of the two middle pixels
  double std = 0;     ///< population standard deviation (divided by the count)
  double min = 0;
  double max = 0;
  std::int64_t count = 0;  ///< number of pixels in the set
};

/// Statistics of all finite pixels of an image. The same bits on every backend; fences `space`. The
/// errors of mean and std are below 1e-12 std; median, min, max and count are exact.
/// \throws Error if no pixel is finite.
template <class Exec, Real T>
[[nodiscard]] Statistics statistics_of_image(const Exec& space, const ConstImage<T, Exec>& image);

/// The same for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] Statistics statistics(const Exec& space, const V& image) {
  return statistics_of_image<Exec, PixelOf<Exec, V>>(space, as_const_image<Exec>(image));
}

}  // namespace kastor

#endif

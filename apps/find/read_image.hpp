// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_READ_IMAGE_HPP
#define KASTOR_APPS_FIND_READ_IMAGE_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <string>
#include <variant>

#include "find/find_options.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

/// Pixels in pinned memory, from which the copy to a device is fastest.
template <class T>
using PinnedPixels = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;

/// One image between its file and the plan. Its memory is reused for one image after another.
struct ReadImage {
  std::size_t index = 0;  ///< among the images of the run
  io::FitsImage image;
  std::variant<PinnedPixels<float>, PinnedPixels<double>> pinned;  ///< for a device
  FindOptions options;                                             ///< completed from the header
  OnTheSky sky;                                                    ///< not for the preset lesson
  std::int64_t blanked = 0;  ///< pixels that --blank-value made blank
  std::string failure;       ///< one line; empty if the image was read
  bool up_to_date = false;

  /// The size of the pixels in memory.
  [[nodiscard]] std::int64_t bytes() const;
  void give_memory_back();
};

}  // namespace kastor::cli

#endif

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

/// Pixels from where a device fetches them fastest.
template <class T>
using PinnedPixels = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;

/// One image between its file and the plan; its memory serves one image after the other.
struct ReadImage {
  std::size_t index = 0;  ///< among the images of the run
  io::FitsImage image;
  std::variant<PinnedPixels<float>, PinnedPixels<double>> pinned;  ///< for a device
  FindOptions options;                                             ///< with what the header settled
  OnTheSky sky;         ///< of the presets but the lesson's
  std::string failure;  ///< one line; empty: it is there
  bool up_to_date = false;

  /// Of the pixels' memory.
  [[nodiscard]] std::int64_t bytes() const;
  void give_memory_back();
};

}  // namespace kastor::cli

#endif

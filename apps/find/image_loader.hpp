// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_IMAGE_LOADER_HPP
#define KASTOR_APPS_FIND_IMAGE_LOADER_HPP

#include <cstdint>
#include <shared_mutex>
#include <string>
#include <vector>

#include "find/folder_outputs.hpp"
#include "find/read_image.hpp"

namespace kastor::cli {

/// Loads images from files into memory that a plan can use. Several threads may call it at once.
class ImageLoader {
 public:
  enum class Pixels { as_read, pinned };

  /// \param options  of the run, without its images
  ImageLoader(const std::vector<std::string>& images, const FindOptions& options,
              const OutputFolders& outputs, Pixels pixels)
      : m_images(images), m_options(options), m_outputs(outputs), m_pixels(pixels) {}

  /// Fills the image of number `image.index`, or sets `failure`. With --resume, sets `up_to_date`
  /// if the image need not be searched.
  void load(ReadImage& image);

 private:
  void read(ReadImage& image) const;

  const std::vector<std::string>& m_images;
  const FindOptions& m_options;
  const OutputFolders& m_outputs;
  Pixels m_pixels;
  std::shared_mutex m_alone;
};

}  // namespace kastor::cli

#endif

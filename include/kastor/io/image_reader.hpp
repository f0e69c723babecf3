// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_IMAGE_READER_HPP
#define KASTOR_IO_IMAGE_READER_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <memory>
#include <string>
#include <variant>

namespace kastor::io {

/// An image where `Exec` works on it, and what its file says of it.
template <class Exec>
struct LoadedImage {
  /// As from `read_image()`. On a host with the pixels, which are those below; else without.
  FitsImage about;
  std::variant<Image<float, Exec>, Image<double, Exec>> pixels;  ///< in the memory of `Exec`
};

/// How pixels get to where they are wanted. The bits are the same on every route.
enum class ImageRoute {
  automatic,  ///< the fastest
  host,       ///< read and decoded by the host, then copied if `Exec` has memory of its own
  buffers     ///< through buffers, decoded by `Exec`; not of every image, see `ImageReader`
};

/// How a file's bytes pass through the host on their way to a device.
struct ImageReaderParams {
  ImageRoute route = ImageRoute::automatic;  ///< another one for tests and timings
  int buffers = 4;  ///< of pinned memory [1..]; one is filled while others are on their way
  /// Of each buffer [16..]; less if no image needs as much.
  std::int64_t buffer_bytes = std::int64_t{16} << 20;
};

/// Reads images into the memory of `Exec`. On a device, the bytes of an uncompressed image are read
/// by the host's threads straight into pinned buffers, copied while the next ones are read, and
/// swapped, scaled and summed (DATASUM) by the device: the host never looks at them. Compressed
/// images, and scaled ones of floats, are read by the host and copied. The same bits either way.
///
/// Owns the buffers: further images of no larger size allocate no pinned memory. One object per
/// instance, not shared between threads. On a device each buffer has an instance of its own, split
/// off the given one (`partition_space`), all waited for before a call returns; the threads that
/// read are those of the default instance of the host execution space.
template <class Exec>
class ImageReader {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit ImageReader(const Exec& space, const ImageReaderParams& params = {});
  ~ImageReader();
  ImageReader(ImageReader&&) noexcept;
  ImageReader& operator=(ImageReader&&) noexcept;

  /// Returns when the image is there. \throws kastor::Error as `read_image()`
  [[nodiscard]] LoadedImage<Exec> operator()(const std::string& path,
                                             const ReadOptions& options = {});
  /// The same into `image`, whose pixels are overwritten if they have the right type and shape and
  /// nobody else holds them; work enqueued on the instance is waited for. After a failure its
  /// pixels are undefined.
  void operator()(const std::string& path, const ReadOptions& options, LoadedImage<Exec>& image);

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor::io

#endif

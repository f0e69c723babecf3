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

/// An image in the memory of `Exec`, and the header of its file.
template <class Exec>
struct LoadedImage {
  /// As from `read_image()`. If `Exec` runs on the host, it holds the same pixels as below; else
  /// none.
  FitsImage about;
  std::variant<Image<float, Exec>, Image<double, Exec>> pixels;  ///< in the memory of `Exec`
};

/// How pixels are read. The bits are the same on every route.
enum class ImageRoute {
  automatic,  ///< the fastest
  host,       ///< read and decoded on the host, then copied if `Exec` has its own memory
  buffers     ///< through buffers, decoded by `Exec`; not for every image, see `ImageReader`
};

/// Parameters of `ImageReader`.
struct ImageReaderParams {
  ImageRoute route = ImageRoute::automatic;  ///< other routes are for tests and timings
  int buffers = 4;  ///< buffers of pinned memory [>= 1]; one is filled while others are copied
  /// Bytes of each buffer [>= 16]; fewer if no image needs so many.
  std::int64_t buffer_bytes = std::int64_t{16} << 20;
};

/// Reads images into the memory of `Exec`. On a device, the host's threads read the bytes of an
/// uncompressed image straight into pinned buffers. These are copied while the next ones are read;
/// the device swaps, scales and sums (DATASUM) the bytes, which the host never touches. Compressed
/// images, and float images with a scaling, are read by the host and copied. The bits are the same
/// either way.
///
/// Owns the buffers: further images of no larger size allocate no pinned memory. Use one object per
/// execution space instance; do not share it between threads. On a device each buffer has its own
/// instance, split off the given one (`partition_space`); a call waits for all of them before it
/// returns. The threads that read are those of the default host execution space.
template <class Exec>
class ImageReader {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit ImageReader(const Exec& space, const ImageReaderParams& params = {});
  ~ImageReader();
  ImageReader(ImageReader&&) noexcept;
  ImageReader& operator=(ImageReader&&) noexcept;

  /// Returns when the image is complete. \throws kastor::Error as `read_image()`
  [[nodiscard]] LoadedImage<Exec> operator()(const std::string& path,
                                             const ReadOptions& options = {});
  /// The same into `image`. Its pixels are overwritten if they have the right type and shape and
  /// nothing else holds them; the call waits for work enqueued on the instance first. After a
  /// failure the pixels are undefined.
  void operator()(const std::string& path, const ReadOptions& options, LoadedImage<Exec>& image);

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor::io

#endif

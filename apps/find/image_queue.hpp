// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_IMAGE_QUEUE_HPP
#define KASTOR_APPS_FIND_IMAGE_QUEUE_HPP

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "find/read_image.hpp"

namespace kastor::cli {

struct ImageQueueParams {
  int readers = 1;       ///< threads [1..]
  std::size_t most = 4;  ///< images in memory at once [2..]
  /// The limit on the bytes of their pixels. A single image is allowed whatever its size.
  std::int64_t bytes = std::int64_t{1} << 30;
  std::int64_t bytes_of_two = std::int64_t{1} << 30;  ///< the limit for up to two images
};

/// Threads read images ahead; the images are handed out in order.
class ImageQueue {
 public:
  /// Fills the image of number `ReadImage::index`. It runs on the reading threads and must not
  /// throw.
  using Read = std::function<void(ReadImage&)>;

  ImageQueue(std::size_t images, const ImageQueueParams& params, Read read);
  /// Waits for the images that are being read. The rest remain unread.
  ~ImageQueue();
  ImageQueue(const ImageQueue&) = delete;
  ImageQueue& operator=(const ImageQueue&) = delete;

  /// Waits for the next image and returns it. The caller owns it until `release()`.
  [[nodiscard]] ReadImage& next();
  void release(ReadImage& image);

 private:
  void work(const std::stop_token& stop);
  [[nodiscard]] bool may_read() const;

  std::size_t m_images;
  ImageQueueParams m_params;
  Read m_read;
  std::mutex m_mutex;
  std::condition_variable_any m_room, m_arrival;
  std::size_t m_to_read = 0;   // the next image to read
  std::size_t m_to_give = 0;   // the next image to hand out
  std::size_t m_out = 0;       // images that are being read, wait, or are with the caller
  std::int64_t m_bytes = 0;    // their bytes
  std::int64_t m_largest = 0;  // bytes of the largest image so far; 0 before the first
  std::vector<std::unique_ptr<ReadImage>> m_slots;
  std::vector<ReadImage*> m_free;
  std::vector<ReadImage*> m_ready;  // indexed by the number of the image modulo the size
  std::vector<std::jthread> m_threads;
};

}  // namespace kastor::cli

#endif

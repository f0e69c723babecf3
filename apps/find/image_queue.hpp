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
  /// Of their pixels; one image may be there whatever it needs.
  std::int64_t bytes = std::int64_t{1} << 30;
  std::int64_t bytes_of_two = std::int64_t{1} << 30;  ///< as long as there are no more than two
};

/// Images read ahead by threads, handed out in their order.
class ImageQueue {
 public:
  /// Fills the image of number `ReadImage::index`; runs on the reading threads, and throws nothing.
  using Read = std::function<void(ReadImage&)>;

  ImageQueue(std::size_t images, const ImageQueueParams& params, Read read);
  /// Waits for what is being read; the rest stays unread.
  ~ImageQueue();
  ImageQueue(const ImageQueue&) = delete;
  ImageQueue& operator=(const ImageQueue&) = delete;

  /// The next image; waits for it. It is the caller's until `release()`.
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
  std::size_t m_out = 0;       // images that are being read, wait, or are the caller's
  std::int64_t m_bytes = 0;    // of those
  std::int64_t m_largest = 0;  // of all so far; 0 before the first
  std::vector<std::unique_ptr<ReadImage>> m_slots;
  std::vector<ReadImage*> m_free;
  std::vector<ReadImage*> m_ready;  // by the image's number modulo their count
  std::vector<std::jthread> m_threads;
};

}  // namespace kastor::cli

#endif

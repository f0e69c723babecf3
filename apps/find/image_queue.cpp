// SPDX-License-Identifier: Apache-2.0
#include "find/image_queue.hpp"

#include <algorithm>
#include <utility>

#include "cli/run/threads.hpp"

namespace kastor::cli {

ImageQueue::ImageQueue(std::size_t images, const ImageQueueParams& params, Read read)
    : m_images(images), m_params(params), m_read(std::move(read)), m_ready(params.most, nullptr) {
  for (std::size_t i = 0; i < params.most; ++i) {
    m_slots.push_back(std::make_unique<ReadImage>());
    m_free.push_back(m_slots.back().get());
  }
  for (int i = 0; i < params.readers; ++i)
    m_threads.push_back(
        thread_without_signals([this](const std::stop_token& stop) { work(stop); }));
}

ImageQueue::~ImageQueue() {
  for (auto& thread : m_threads) thread.request_stop();
}

ReadImage& ImageQueue::next() {
  std::unique_lock lock(m_mutex);
  ReadImage*& place = m_ready[m_to_give % m_ready.size()];
  m_arrival.wait(lock, [&] { return place != nullptr; });
  ++m_to_give;
  return *std::exchange(place, nullptr);
}

void ImageQueue::release(ReadImage& image) {
  {
    const std::scoped_lock lock(m_mutex);
    const std::int64_t bytes = image.bytes();
    m_bytes -= bytes;
    --m_out;
    // The memory of free images must not use up the limit.
    if (bytes > m_params.bytes / static_cast<std::int64_t>(m_slots.size()))
      image.give_memory_back();
    m_free.push_back(&image);
  }
  m_room.notify_one();
}

bool ImageQueue::may_read() const {
  if (m_to_read >= m_images || m_free.empty()) return false;
  if (m_out == 0) return true;
  // The size of an image is known only after reading. Until then it is taken as the largest so far.
  const std::int64_t limit = m_out < 2 ? m_params.bytes_of_two : m_params.bytes;
  return m_largest > 0 && m_bytes + m_largest <= limit;
}

void ImageQueue::work(const std::stop_token& stop) {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_room.wait(lock, stop, [this] { return m_to_read >= m_images || may_read(); });
    if (stop.stop_requested() || m_to_read >= m_images) return;
    ReadImage& image = *m_free.back();
    m_free.pop_back();
    image.index = m_to_read++;
    ++m_out;
    const std::int64_t expected = m_largest;
    m_bytes += expected;
    lock.unlock();
    m_read(image);
    lock.lock();
    const std::int64_t bytes = image.bytes();
    m_bytes += bytes - expected;
    m_largest = std::max({m_largest, bytes, std::int64_t{1}});
    m_ready[image.index % m_ready.size()] = &image;
    m_arrival.notify_one();
    m_room.notify_all();
  }
}

}  // namespace kastor::cli

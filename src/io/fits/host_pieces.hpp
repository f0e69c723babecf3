// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_HOST_PIECES_HPP
#define KASTOR_SRC_IO_FITS_HOST_PIECES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "io/fits/datasum.hpp"

namespace kastor::io::detail {

/// Threads for that many pieces. \param wanted  that of ReadOptions
[[nodiscard]] inline int threads_for(int wanted, std::int64_t pieces) {
  const std::int64_t most = wanted > 0 ? wanted : Kokkos::DefaultHostExecutionSpace().concurrency();
  return static_cast<int>(std::clamp<std::int64_t>(pieces, 1, most));
}

/// The pieces that remain of one thread's share, on its own cache line.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

/// Calls `work(piece, scratch, sum)` once for each of `count` pieces; each thread has its own
/// `Scratch`. Each thread first works through a contiguous share, so that memory is first touched
/// by the thread that will most likely use it; then it helps the others. Stops at the first
/// failure. \throws what `work` has thrown
template <class Scratch, class Work>
Datasum for_each_piece(const char* label, int threads, std::int64_t count, const Work& work) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  std::vector<Share> shares(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    shares[static_cast<std::size_t>(i)].next = count * i / threads;
    shares[static_cast<std::size_t>(i)].end = count * (i + 1) / threads;
  }
  std::mutex mutex;
  Datasum total;
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto run = [&](int thread) {
    try {
      Scratch scratch;
      Datasum sum;
      for (int i = 0; i < threads; ++i) {
        Share& share = shares[static_cast<std::size_t>((thread + i) % threads)];
        while (!failed.load(std::memory_order_relaxed)) {
          const std::int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
          if (piece >= share.end) break;
          work(piece, scratch, sum);
        }
      }
      const std::scoped_lock lock(mutex);
      total.add(sum);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  if (threads == 1) {
    run(0);
  } else {
    const Host host;
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Host>(host, 0, threads, Kokkos::ChunkSize(1)),
                         run);
    host.fence(label);
  }
  if (failure) std::rethrow_exception(failure);
  return total;
}

}  // namespace kastor::io::detail

#endif

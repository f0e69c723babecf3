// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_ROW_READER_HPP
#define KASTOR_CORE_ROW_READER_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/image.hpp>
#include <kastor/row_source.hpp>
#include <kastor/stream_params.hpp>
#include <span>
#include <string>
#include <utility>

#include "core/plan_memory.hpp"
#include "core/portable.hpp"

namespace kastor::core {

inline void expect_stream(const char* function, const StreamParams& stream) {
  KASTOR_EXPECTS(function, stream.memory > 0,
                 "the memory is " + std::to_string(stream.memory) + " bytes; expected 1 or more");
  KASTOR_EXPECTS(function, stream.band_rows >= 0,
                 "the bands have " + std::to_string(stream.band_rows) +
                     " rows; expected 1 or more, or 0 for as many as the memory holds");
}

/// Reads rows into memory of `Exec`, which grows to the largest number of rows. The next read
/// overwrites them. The rows for a device are read by pieces into pinned memory of the host: while
/// one piece is copied, the next is read.
template <class Exec, class T>
class RowReader {
 public:
  explicit RowReader(const Exec& space) : m_space(space) {}

  /// Rows `first` to `first + count - 1`. Fences; the last copy is only enqueued.
  [[nodiscard]] ConstImage<T, Exec> read(RowSource<T>& source, std::int64_t first,
                                         std::int64_t count) {
    const std::int64_t nx = source.nx();
    grow(m_rows, m_space, "kastor::core::rows", count * nx);
    m_space.fence("kastor::core: the rows are no longer used");
    if constexpr (runs_on_host_v<Exec>) {
      source.read(first, count, span_of(m_rows.data(), count * nx));
    } else {
      read_by_pieces(source, first, count);
    }
    return ConstImage<T, Exec>(m_rows.data(), static_cast<std::size_t>(count),
                               static_cast<std::size_t>(nx));
  }

 private:
  static constexpr std::int64_t piece_bytes = std::int64_t{32} << 20;

  [[nodiscard]] static std::span<T> span_of(T* pixels, std::int64_t count) {
    return {pixels, static_cast<std::size_t>(count)};
  }

  void read_by_pieces(RowSource<T>& source, std::int64_t first, std::int64_t count) {
    const std::int64_t nx = source.nx();
    const auto bytes_of_row = nx * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t rows =
        std::clamp(piece_bytes / std::max<std::int64_t>(1, bytes_of_row), std::int64_t{1}, count);
    grow(m_pieces, m_space, "kastor::core::pinned_rows", 2 * rows * nx);
    T* piece = m_pieces.data();
    T* other = piece + rows * nx;
    for (std::int64_t at = 0; at < count; at += rows) {
      const std::int64_t n = std::min(rows, count - at);
      source.read(first + at, n, span_of(piece, n * nx));
      // The other piece is free after this fence.
      m_space.fence("kastor::core: the piece before is on the device");
      copy(piece, m_rows.data() + at * nx, n * nx);
      std::swap(piece, other);
    }
  }
  void copy(const T* from, T* to, std::int64_t count) {
    const auto n = static_cast<std::size_t>(count);
    const Kokkos::View<const T*, HostReadableSpace<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        source(from, n);
    const Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        target(to, n);
    Kokkos::deep_copy(m_space, target, source);
  }

  Exec m_space;
  Kokkos::View<T*, typename Exec::memory_space> m_rows;
  Kokkos::View<T*, HostReadableSpace<Exec>> m_pieces;  ///< two, for a device only
};

}  // namespace kastor::core

#endif

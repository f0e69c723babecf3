// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_STREAM_PASSES_HPP
#define KASTOR_CORE_STREAM_PASSES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/row_source.hpp>
#include <kastor/stream_params.hpp>
#include <span>
#include <string>

#include "core/background_thread.hpp"
#include "core/image_passes.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"

namespace kastor::core {

/// Memory for bands. Where kernels reach the memory of the host there is one: its threads read a
/// band together, and then work on it. A device works on one band while the host reads the other.
template <class Exec, class T>
class BandBuffers {
 public:
  explicit BandBuffers(const Exec& space) : m_space(space) {}

  void reserve(std::int64_t pixels) {
    for (auto& band : m_host) grow(band, m_space, "kastor::core::band_on_host", pixels);
    if constexpr (!runs_on_host_v<Exec>) {
      for (auto& band : m_device) grow(band, m_space, "kastor::core::band", pixels);
    }
  }
  [[nodiscard]] T* host(std::int64_t i) { return m_host[place_of(i)].data(); }
  /// The band in the memory of `Exec`. Enqueues only.
  [[nodiscard]] ConstImage<T, Exec> band(std::int64_t i, std::int64_t ny, std::int64_t nx) {
    const auto pixels = static_cast<std::size_t>(ny * nx);
    T* data = nullptr;
    if constexpr (runs_on_host_v<Exec>) {
      data = host(i);
    } else {
      data = m_device[place_of(i)].data();
      Kokkos::deep_copy(
          m_space,
          Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              data, pixels),
          Kokkos::View<const T*, HostReadableSpace<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              host(i), pixels));
    }
    return ConstImage<T, Exec>(data, static_cast<std::size_t>(ny), static_cast<std::size_t>(nx));
  }

 private:
  static constexpr std::size_t count = runs_on_host_v<Exec> ? 1 : 2;
  [[nodiscard]] static std::size_t place_of(std::int64_t i) {
    return static_cast<std::size_t>(i) % count;
  }
  Exec m_space;
  std::array<Kokkos::View<T*, HostReadableSpace<Exec>>, count> m_host;
  std::array<Kokkos::View<T*, typename Exec::memory_space>, count> m_device;
};

/// An image that is read from a source, by one or several ranks.
template <class Exec, class T>
class StreamPasses final : public ImagePasses<Exec, T> {
 public:
  /// Makes room for the bands. \throws ResourceError if no row fits into the memory
  StreamPasses(const Exec& space, BandBuffers<Exec, T>& buffers, RowSource<T>& source,
               const StreamParams& params, Communicator* ranks)
      : m_space(space), m_buffers(buffers), m_source(source), m_ranks(ranks) {
    const RowRange own = ranks != nullptr ? rows_of_rank(source.ny(), ranks->rank(), ranks->size())
                                          : RowRange{0, source.ny()};
    m_first_row = own.first;
    m_past_row = own.past;
    agree_on(ranks, "bands", [&] {
      m_band_rows = rows_for(params);
      buffers.reserve(m_band_rows * source.nx());
    });
  }

  [[nodiscard]] detail::Shape shape() const override { return {m_source.ny(), m_source.nx()}; }
  [[nodiscard]] std::int64_t first_row() const override { return m_first_row; }
  [[nodiscard]] std::int64_t past_row() const override { return m_past_row; }
  [[nodiscard]] Communicator* ranks() const override { return m_ranks; }
  [[nodiscard]] bool can_seek() const override { return true; }
  void read_pixels(std::int64_t first, std::span<T> into) override {
    m_source.read_pixels(first, into);
  }

 private:
  /// Bands larger than this gain nothing.
  static constexpr std::int64_t largest_band = std::int64_t{64} << 20;

  [[nodiscard]] std::int64_t rows_for(const StreamParams& params) const {
    const std::int64_t row = m_source.nx() * std::int64_t{sizeof(T)};
    const std::int64_t own = std::max<std::int64_t>(1, m_past_row - m_first_row);
    // Two bands take a quarter of the memory.
    const std::int64_t bytes = std::min(largest_band, params.memory / 8);
    if (params.band_rows > 0) return std::min(params.band_rows, own);
    if (row > bytes && 2 * row > params.memory)
      throw ResourceError("kastor: a row of the image takes " + std::to_string(row) +
                          " bytes; expected room for two in the memory given, " +
                          std::to_string(params.memory) + " bytes");
    return std::clamp<std::int64_t>(bytes / std::max<std::int64_t>(1, row), 1, own);
  }

  [[nodiscard]] std::int64_t row_of(std::int64_t band) const {
    return m_first_row + band * m_band_rows;
  }
  [[nodiscard]] std::int64_t rows_of(std::int64_t band) const {
    return std::min(m_band_rows, m_past_row - row_of(band));
  }
  void read(std::int64_t band) {
    const std::int64_t pixels = rows_of(band) * m_source.nx();
    m_source.read(row_of(band), rows_of(band),
                  {m_buffers.host(band), static_cast<std::size_t>(pixels)});
  }
  void visit_band(const typename ImagePasses<Exec, T>::Visit& visit, std::int64_t band) {
    visit(m_buffers.band(band, rows_of(band), m_source.nx()), row_of(band));
    m_space.fence("kastor::core: the band is free");
  }
  void visit_bands(const typename ImagePasses<Exec, T>::Visit& visit) override {
    if constexpr (runs_on_host_v<Exec>) {
      for (std::int64_t i = 0; rows_of(i) > 0; ++i) {
        read(i);
        if (rows_of(i + 1) > 0) m_source.will_read(row_of(i + 1), rows_of(i + 1));
        visit_band(visit, i);
      }
    } else {
      BackgroundThread reader;
      if (rows_of(0) > 0) read(0);
      for (std::int64_t i = 0; rows_of(i) > 0; ++i) {
        reader.wait();
        if (rows_of(i + 1) > 0) reader.begin([this, i] { read(i + 1); });
        visit_band(visit, i);
      }
    }
  }

  Exec m_space;
  BandBuffers<Exec, T>& m_buffers;
  RowSource<T>& m_source;
  Communicator* m_ranks;
  std::int64_t m_first_row = 0, m_past_row = 0, m_band_rows = 1;
};

}  // namespace kastor::core

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_IMAGE_PASSES_HPP
#define KASTOR_CORE_IMAGE_PASSES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <kastor/communicator.hpp>
#include <kastor/image.hpp>
#include <span>

#include "core/ranks.hpp"

namespace kastor::core {

/// An image as an algorithm sees it that reads it several times, each time band after band. This
/// process has some of its rows, in memory or in a file; other ranks may have the rows above and
/// below. Whatever follows from all pixels is a sum over the ranks.
template <class Exec, class T>
class ImagePasses {
 public:
  /// A band of own rows, and the row of the image at which it begins. Work that is enqueued on the
  /// execution space instance finds the pixels in place.
  using Visit = std::function<void(const ConstImage<T, Exec>&, std::int64_t)>;

  ImagePasses() = default;
  ImagePasses(const ImagePasses&) = delete;
  ImagePasses& operator=(const ImagePasses&) = delete;
  virtual ~ImagePasses() = default;

  /// The shape of the whole image.
  [[nodiscard]] virtual detail::Shape shape() const = 0;
  /// The own rows.
  [[nodiscard]] virtual std::int64_t first_row() const = 0;
  [[nodiscard]] virtual std::int64_t past_row() const = 0;
  /// The other ranks; null if there are none.
  [[nodiscard]] virtual Communicator* ranks() const = 0;
  /// Whether `read_pixels` takes less than a pass over all rows.
  [[nodiscard]] virtual bool can_seek() const = 0;
  /// Reads neighbouring pixels in raster order into memory of the host; only if `can_seek`.
  virtual void read_pixels(std::int64_t first, std::span<T> into) = 0;

  /// Visits the own rows in order, once. Collective: if a rank fails, all throw.
  void for_each_band(const Visit& visit) {
    agree_on(ranks(), "read", [&] { visit_bands(visit); });
  }
  [[nodiscard]] std::int64_t pixels() const { return shape().ny * shape().nx; }
  [[nodiscard]] std::int64_t own_pixels() const { return (past_row() - first_row()) * shape().nx; }

 private:
  virtual void visit_bands(const Visit& visit) = 0;
};

/// An image whose rows are all in memory.
template <class Exec, class T>
class BandPasses final : public ImagePasses<Exec, T> {
 public:
  BandPasses(const char* function, Bands<T, Exec> bands)
      : m_bands(bands), m_shape(detail::shape_of<T, Exec>(function, bands)) {
    m_past_row = m_shape.ny;
  }
  /// The rows of the image that one of several ranks has. \param shape  of the whole image
  BandPasses(Bands<T, Exec> bands, const detail::Shape& shape, std::int64_t first_row,
             std::int64_t past_row, Communicator* ranks)
      : m_bands(bands),
        m_shape(shape),
        m_first_row(first_row),
        m_past_row(past_row),
        m_ranks(ranks) {}

  [[nodiscard]] detail::Shape shape() const override { return m_shape; }
  [[nodiscard]] std::int64_t first_row() const override { return m_first_row; }
  [[nodiscard]] std::int64_t past_row() const override { return m_past_row; }
  [[nodiscard]] Communicator* ranks() const override { return m_ranks; }
  [[nodiscard]] bool can_seek() const override { return false; }
  void read_pixels(std::int64_t /*first*/, std::span<T> /*into*/) override {}

 private:
  void visit_bands(const typename ImagePasses<Exec, T>::Visit& visit) override {
    std::int64_t row = m_first_row;
    for (const auto& band : m_bands) {
      if (band.extent(0) > 0) visit(band, row);
      row += static_cast<std::int64_t>(band.extent(0));
    }
  }

  Bands<T, Exec> m_bands;
  detail::Shape m_shape;
  std::int64_t m_first_row = 0, m_past_row = 0;
  Communicator* m_ranks = nullptr;
};

}  // namespace kastor::core

#endif

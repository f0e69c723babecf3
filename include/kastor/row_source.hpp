// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ROW_SOURCE_HPP
#define KASTOR_ROW_SOURCE_HPP

#include <concepts>
#include <cstdint>
#include <span>

namespace kastor {

/// An image that is read row by row, since it need not fit into memory: a file, or rows that a
/// program makes. Used from one thread at a time. Every read of a row gives the same pixels.
template <class T>
requires(std::same_as<T, float> || std::same_as<T, double>)  //
    class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  [[nodiscard]] virtual std::int64_t ny() const = 0;  ///< rows [pixel]
  [[nodiscard]] virtual std::int64_t nx() const = 0;  ///< columns [pixel]

  /// Reads rows `first` to `first + count - 1` into memory of the host.
  /// \param into  count x nx() pixels, without gaps. \throws Error if they cannot be read
  virtual void read(std::int64_t first, std::int64_t count, std::span<T> into) = 0;
  /// Reads neighbouring pixels in raster order, from pixel `first` of the image on; they may extend
  /// over several rows. Samples of the image are read so: it should take less than the whole rows.
  /// \throws Error if they cannot be read
  virtual void read_pixels(std::int64_t first, std::span<T> into) = 0;
  /// Says that these rows will be read next, so that the system may fetch them meanwhile.
  virtual void will_read(std::int64_t /*first*/, std::int64_t /*count*/) {}
};

}  // namespace kastor

#endif

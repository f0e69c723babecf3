// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <kastor/error.hpp>
#include <kastor/io/fits_rows.hpp>
#include <new>
#include <optional>
#include <utility>

#include "io/fits/datasum.hpp"
#include "io/fits/plain_pixels.hpp"
#include "io/fits/stored_image.hpp"
#include "io/fits/tiles/tile_decoder.hpp"
#include "io/fits/tiles/tiled_pixels.hpp"

namespace kastor::io {
namespace {

using detail::Access;
using detail::Datasum;
using detail::PlainLayout;
using detail::StoredImage;
using detail::TiledLayout;
using detail::TileRows;

// Reads of fewer bytes are samples: to read ahead of them would waste most of it.
constexpr std::size_t k_sample_bytes = std::size_t{1} << 18;

std::unique_ptr<StoredImage> open_by_rows(const std::string& path, const ReadOptions& options) {
  return std::make_unique<StoredImage>(path, options, Access::by_rows);
}

/// The rows from `first` to before `end` whose bytes have been summed.
struct SummedRows {
  std::int64_t first = 0;
  std::int64_t end = 0;
  Datasum sum;
};

/// Decodes rows of tiles, and keeps the last one of which only a part was asked for.
template <class T>
class TileRowReader {
 public:
  TileRowReader(const StoredImage& stored, int threads)
      : m_stored(stored),
        m_layout(stored, Access::by_rows),
        m_rows(all_tile_rows(stored, m_layout)),
        m_threads(threads) {}

  [[nodiscard]] std::int64_t height() const { return m_rows.height; }

  /// Reads neighbouring pixels of the section.
  void read(std::int64_t first, std::span<T> into) {
    const std::int64_t step = m_rows.height * m_stored.section.nx;
    const std::int64_t all = m_stored.section.ny * m_stored.section.nx;
    while (!into.empty()) {
      const std::int64_t row = first / step;
      const std::int64_t end = first + static_cast<std::int64_t>(into.size());
      std::int64_t pixels = 0;
      if (first == row * step && row != m_kept) {
        // Rows of tiles that are asked for as a whole are decoded into place.
        const std::int64_t rows = end == all ? m_rows.count - row : end / step - row;
        const std::int64_t before = m_kept > row ? std::min(rows, m_kept - row) : rows;
        if (before > 0) {
          const TileRows whole{row, before, m_rows.height};
          read_tiles(m_stored, m_layout, whole, m_threads, into.data());
          pixels = std::min(end, (row + before) * step) - first;
        }
      }
      if (pixels == 0) {
        keep(row);
        pixels = std::min(end, (row + 1) * step) - first;
        const auto count = static_cast<std::size_t>(pixels);
        std::memcpy(into.data(), m_pixels.data() + (first - row * step), count * sizeof(T));
      }
      first += pixels;
      into = into.subspan(static_cast<std::size_t>(pixels));
    }
  }

 private:
  void keep(std::int64_t row) {
    if (row == m_kept) return;
    m_kept = -1;  // if it fails
    const std::int64_t rows = std::min(m_rows.height, m_stored.section.ny - row * m_rows.height);
    const std::int64_t count = rows * m_stored.section.nx;
    try {
      m_pixels = m_buffer.of(count);
    } catch (const std::bad_alloc&) {
      m_stored.file.fail(fmt::format(
          "not enough memory for a row of tiles of {} x {} pixels; expected smaller tiles", rows,
          m_stored.section.nx));
    }
    const TileRows kept{row, 1, m_rows.height};
    read_tiles(m_stored, m_layout, kept, m_threads, m_pixels.data());
    m_kept = row;
  }

  const StoredImage& m_stored;
  TiledLayout m_layout;
  TileRows m_rows;
  int m_threads;
  detail::TileBuffer<T> m_buffer;
  std::span<T> m_pixels;
  std::int64_t m_kept = -1;
};

}  // namespace

template <class T>
struct FitsRows<T>::File {
  File(std::unique_ptr<StoredImage> image, int wanted) : stored(std::move(image)), threads(wanted) {
    if (stored->is_float() != std::same_as<T, float>) {
      stored->file.fail(fmt::format("the pixels are read as {}; expected {}",
                                    stored->about.hdu.pixel_type,
                                    std::same_as<T, float> ? "float32" : "float64"));
    }
    if (stored->is_compressed()) {
      tiles.emplace(*stored, threads);
    } else {
      layout = detail::plain_layout(*stored);
    }
  }

  [[nodiscard]] std::int64_t nx() const { return stored->section.nx; }
  [[nodiscard]] std::int64_t ny() const { return stored->section.ny; }

  void expect_rows(const char* function, std::int64_t first, std::int64_t count) const {
    KASTOR_EXPECTS(function, first >= 0 && count >= 0 && first <= ny() && count <= ny() - first,
                   fmt::format("{} rows from row {} on; expected rows of the {} that there are",
                               count, first, ny()));
  }

  void expect_reads(std::size_t bytes) {
    const bool are_samples = bytes < k_sample_bytes;
    if (tiles || are_samples == samples) return;
    samples = are_samples;
    stored->file.expect_samples(samples);
  }

  Datasum read_rows(std::int64_t first, std::int64_t count, T* into) const {
    return detail::read_section(*stored, layout.part(first * nx(), count * nx()), threads, into);
  }

  /// Reads rows, and sums those that follow the ones that have been summed.
  void read_and_sum(std::int64_t first, std::int64_t count, T* into) {
    if (summed.first == summed.end) summed = {first, first, {}};
    const std::int64_t end = first + count;
    if (summed.end < first || summed.end >= end) {
      (void)read_rows(first, count, into);
      return;
    }
    if (first < summed.end) (void)read_rows(first, summed.end - first, into);
    const auto sum = read_rows(summed.end, end - summed.end, into + (summed.end - first) * nx());
    summed.sum.add(sum);
    summed.end = end;
  }

  /// Where the part of the data unit begins that belongs to a row and the following ones.
  [[nodiscard]] std::int64_t begin_of(std::int64_t row) const {
    const auto unit = stored->file.data_unit();
    if (row == 0) return unit.start;
    if (row == ny()) return unit.end;
    if (tiles) return unit.start + (unit.end - unit.start) / ny() * row;
    return layout.part(row * nx(), 0).begin;
  }

  [[nodiscard]] Datasum sum_of(std::int64_t first, std::int64_t count) const {
    const std::int64_t start = stored->file.data_unit().start;
    std::int64_t begin = begin_of(first);
    const std::int64_t end = begin_of(first + count);
    Datasum sum;
    if (first == summed.first && summed.end > first && summed.end <= first + count) {
      sum = summed.sum;
      const auto pixels = layout.part(first * nx(), (summed.end - first) * nx());
      detail::sum_bytes(stored->file, start, begin, pixels.begin, threads, sum);
      begin = pixels.end();
    }
    detail::sum_bytes(stored->file, start, begin, end, threads, sum);
    return sum;
  }

  std::unique_ptr<StoredImage> stored;
  int threads;
  PlainLayout layout;                     // of an uncompressed image
  std::optional<TileRowReader<T>> tiles;  // of another one
  bool samples = false;                   // the last read was one
  SummedRows summed;
};

template <class T>
FitsRows<T>::FitsRows(const std::string& path, const ReadOptions& options)
    : FitsRows(std::make_unique<File>(open_by_rows(path, options), options.threads)) {}
template <class T>
FitsRows<T>::FitsRows(std::unique_ptr<File> file) : m_file(std::move(file)) {}
template <class T>
FitsRows<T>::~FitsRows() = default;

template <class T>
const FitsImage& FitsRows<T>::about() const {
  return m_file->stored->about;
}
template <class T>
std::int64_t FitsRows<T>::ny() const {
  return m_file->ny();
}
template <class T>
std::int64_t FitsRows<T>::nx() const {
  return m_file->nx();
}
template <class T>
std::int64_t FitsRows<T>::rows_of_tile() const {
  return m_file->tiles ? m_file->tiles->height() : 1;
}

template <class T>
void FitsRows<T>::read(std::int64_t first, std::int64_t count, std::span<T> into) {
  constexpr const char* name = "kastor::io::FitsRows::read";
  m_file->expect_rows(name, first, count);
  const auto pixels = static_cast<std::size_t>(count * nx());
  KASTOR_EXPECTS(name, into.size() == pixels,
                 fmt::format("memory for {} pixels; expected {}", into.size(), pixels));
  if (count == 0) return;
  if (m_file->tiles) return m_file->tiles->read(first * nx(), into);
  m_file->expect_reads(into.size_bytes());
  m_file->read_and_sum(first, count, into.data());
}

template <class T>
void FitsRows<T>::will_read(std::int64_t first, std::int64_t count) {
  m_file->expect_rows("kastor::io::FitsRows::will_read", first, count);
  if (m_file->tiles) return;
  const auto part = m_file->layout.part(first * nx(), count * nx());
  m_file->stored->file.fetch(part.begin, part.end() - part.begin);
}

template <class T>
void FitsRows<T>::read_pixels(std::int64_t first, std::span<T> into) {
  const std::int64_t pixels = ny() * nx();
  const auto count = static_cast<std::int64_t>(into.size());
  KASTOR_EXPECTS(
      "kastor::io::FitsRows::read_pixels", first >= 0 && first <= pixels && count <= pixels - first,
      fmt::format("{} pixels from pixel {} on; expected some of {}", count, first, pixels));
  if (count == 0) return;
  if (m_file->tiles) return m_file->tiles->read(first, into);
  m_file->expect_reads(into.size_bytes());
  (void)detail::read_section(*m_file->stored, m_file->layout.part(first, count), m_file->threads,
                             into.data());
}

template <class T>
std::uint32_t FitsRows<T>::datasum() {
  return datasum(0, ny());
}
template <class T>
std::uint32_t FitsRows<T>::datasum(std::int64_t first, std::int64_t count) {
  m_file->expect_rows("kastor::io::FitsRows::datasum", first, count);
  m_file->expect_reads(k_sample_bytes);
  return count == 0 ? 0 : m_file->sum_of(first, count).value();
}

std::uint32_t sum_of_datasums(std::uint32_t a, std::uint32_t b) {
  Datasum sum;
  sum.add(0, a);
  sum.add(0, b);
  return sum.value();
}

AnyFitsRows open_rows(const std::string& path, const ReadOptions& options) {
  auto image = open_by_rows(path, options);
  const auto open = [&]<class T>(T) {
    using File = typename FitsRows<T>::File;
    return std::unique_ptr<FitsRows<T>>(
        new FitsRows<T>(std::make_unique<File>(std::move(image), options.threads)));
  };
  if (image->is_float()) return open(float{});
  return open(double{});
}

template class FitsRows<float>;
template class FitsRows<double>;

}  // namespace kastor::io

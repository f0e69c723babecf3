// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <kastor/io/fits_row_writer.hpp>
#include <type_traits>

#include "io/fits/byte_order.hpp"
#include "io/fits/header_text.hpp"
#include "io/fits/valid_cards.hpp"
#include "io/output/output_file.hpp"
#include "io/sky/unit_text.hpp"
#include "io/table/unicode.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

// Bytes that are converted and written at a time; a multiple of every pixel size.
constexpr std::size_t k_piece = std::size_t{1} << 20;

template <class T>
std::string image_header(std::int64_t ny, std::int64_t nx, const std::vector<std::string>& cards,
                         const Provenance& provenance, const std::vector<HeaderCard>& extra) {
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  detail::HeaderText header;
  header.add_logical("SIMPLE", true);
  header.add_integer("BITPIX", std::is_floating_point_v<T> ? -bits : bits);
  header.add_integer("NAXIS", 2);
  header.add_integer("NAXIS1", nx);
  header.add_integer("NAXIS2", ny);
  for (const std::string& card : detail::valid_cards(cards)) header.add_raw(card);
  if (!provenance.unit.empty()) {
    // As typed, but for a micro sign, which a card cannot hold.
    const std::string unit = detail::is_ascii(provenance.unit)
                                 ? provenance.unit
                                 : detail::standard_unit(provenance.unit);
    header.add_string("BUNIT", unit, "unit of the pixels");
  }
  for (const HeaderCard& card : extra) header.add(card);
  header.add_provenance(provenance);
  return header.finish();
}

void check_image(const std::string& path, std::int64_t ny, std::int64_t nx,
                 const std::vector<HeaderCard>& extra) {
  if (ny < 1 || nx < 1) {
    throw Error(fmt::format("{}: an image of {} x {} pixels; expected at least 1 x 1",
                            detail::shown_output(path), ny, nx));
  }
  for (const HeaderCard& card : extra) {
    if (card.keyword.empty() || card.keyword.size() > 8) {
      throw Error(fmt::format("{}: the keyword '{}'; expected 1 to 8 characters",
                              detail::shown_output(path), card.keyword));
    }
  }
}

}  // namespace

template <class T>
struct FitsRowWriter<T>::File {
  detail::OutputFile file;
  std::int64_t ny;
  std::int64_t nx;
  std::int64_t begin;

  void create(const std::string& header) {
    const auto size = static_cast<std::int64_t>(sizeof(T)) * ny * nx;
    const auto fill = static_cast<std::int64_t>(detail::fits_fill(static_cast<std::size_t>(size)));
    file.write_at(0, header.data(), header.size());
    file.set_size(begin + size + fill);
  }

  void write(std::int64_t first, const PixelRows<T>& rows) {
    std::vector<std::byte> piece(
        std::min(k_piece, static_cast<std::size_t>(rows.ny * nx) * sizeof(T)));
    std::int64_t at = begin + first * nx * static_cast<std::int64_t>(sizeof(T));
    std::size_t filled = 0;
    const auto flush = [&] {
      file.write_at(at, piece.data(), filled);
      at += static_cast<std::int64_t>(filled);
      filled = 0;
    };
    for (std::int64_t y = 0; y < rows.ny; ++y) {
      const T* row = rows.data + y * rows.row_stride;
      for (std::int64_t x = 0; x < nx;) {
        const auto room = static_cast<std::int64_t>((piece.size() - filled) / sizeof(T));
        const std::int64_t count = std::min(nx - x, room);
        for (std::int64_t i = 0; i < count; ++i, filled += sizeof(T))
          detail::store_big_endian(row[x + i], piece.data() + filled);
        x += count;
        if (filled == piece.size()) flush();
      }
    }
    flush();
  }
};

template <class T>
FitsRowWriter<T>::FitsRowWriter(const std::string& path, std::int64_t ny, std::int64_t nx,
                                const std::vector<std::string>& cards, const Provenance& provenance,
                                const std::vector<HeaderCard>& extra) {
  check_image(path, ny, nx, extra);
  const std::string header = image_header<T>(ny, nx, cards, provenance, extra);
  m_file.reset(
      new File{detail::OutputFile(path), ny, nx, static_cast<std::int64_t>(header.size())});
  m_file->create(header);
}

template <class T>
FitsRowWriter<T>::FitsRowWriter(const std::string& path, std::int64_t ny, std::int64_t nx,
                                std::int64_t data_begin) {
  check_image(path, ny, nx, {});
  using detail::OutputFile;
  m_file.reset(new File{OutputFile(path, OutputFile::Start::as_it_is), ny, nx, data_begin});
}

template <class T>
FitsRowWriter<T>::~FitsRowWriter() = default;
template <class T>
FitsRowWriter<T>::FitsRowWriter(FitsRowWriter&&) noexcept = default;
template <class T>
FitsRowWriter<T>& FitsRowWriter<T>::operator=(FitsRowWriter&&) noexcept = default;

template <class T>
std::int64_t FitsRowWriter<T>::data_begin() const {
  return m_file->begin;
}

template <class T>
void FitsRowWriter<T>::write(std::int64_t first, const PixelRows<T>& rows) {
  KASTOR_EXPECTS("kastor::io::FitsRowWriter::write",
                 rows.nx == m_file->nx && first >= 0 && rows.ny >= 0 && first <= m_file->ny &&
                     rows.ny <= m_file->ny - first,
                 fmt::format("{} rows of {} pixels from row {} on; expected rows of {} pixels, of "
                             "the {} that there are",
                             rows.ny, rows.nx, first, m_file->nx, m_file->ny));
  if (rows.ny > 0) m_file->write(first, rows);
}

template <class T>
void FitsRowWriter<T>::close() {
  m_file->file.close();
}

template class FitsRowWriter<float>;
template class FitsRowWriter<double>;
template class FitsRowWriter<std::int32_t>;
template class FitsRowWriter<std::int64_t>;

}  // namespace kastor::io

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <kastor/io/fits_writer.hpp>
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
std::string image_header(const PixelRows<T>& pixels, const std::vector<std::string>& cards,
                         const Provenance& provenance, const std::vector<HeaderCard>& extra) {
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  detail::HeaderText header;
  header.add_logical("SIMPLE", true);
  header.add_integer("BITPIX", std::is_floating_point_v<T> ? -bits : bits);
  header.add_integer("NAXIS", 2);
  header.add_integer("NAXIS1", pixels.nx);
  header.add_integer("NAXIS2", pixels.ny);
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

template <class T>
void write_rows(detail::OutputFile& file, const PixelRows<T>& pixels) {
  std::vector<std::byte> piece(k_piece);
  std::size_t filled = 0;
  for (std::int64_t y = 0; y < pixels.ny; ++y) {
    const T* row = pixels.data + y * pixels.row_stride;
    for (std::int64_t x = 0; x < pixels.nx;) {
      const auto room = static_cast<std::int64_t>((k_piece - filled) / sizeof(T));
      const std::int64_t count = std::min(pixels.nx - x, room);
      for (std::int64_t i = 0; i < count; ++i, filled += sizeof(T)) {
        detail::store_big_endian(row[x + i], piece.data() + filled);
      }
      x += count;
      if (filled == k_piece) {
        file.write(piece.data(), filled);
        filled = 0;
      }
    }
  }
  file.write(piece.data(), filled);
  const std::size_t size =
      static_cast<std::size_t>(pixels.ny) * static_cast<std::size_t>(pixels.nx) * sizeof(T);
  const std::vector<std::byte> fill(detail::fits_fill(size));
  file.write(fill.data(), fill.size());
}

template <class T>
void write_fits(const std::string& path, const PixelRows<T>& pixels,
                const std::vector<std::string>& cards, const Provenance& provenance,
                const std::vector<HeaderCard>& extra) {
  if (pixels.ny < 1 || pixels.nx < 1) {
    throw Error(fmt::format("{}: an image of {} x {} pixels; expected at least 1 x 1",
                            detail::shown_output(path), pixels.ny, pixels.nx));
  }
  for (const HeaderCard& card : extra) {
    if (card.keyword.empty() || card.keyword.size() > 8) {
      throw Error(fmt::format("{}: the keyword '{}'; expected 1 to 8 characters",
                              detail::shown_output(path), card.keyword));
    }
  }
  const std::string header = image_header(pixels, cards, provenance, extra);
  detail::OutputFile file(path);
  file.write(header.data(), header.size());
  write_rows(file, pixels);
  file.close();
}

}  // namespace

void write_image(const std::string& path, const PixelRows<float>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<double>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<std::int32_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<std::int64_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

}  // namespace kastor::io

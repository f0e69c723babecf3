// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <kastor/error.hpp>
#include <kastor/io/fits_image.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/fits/datasum.hpp"
#include "io/fits/fits_file.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/fits/plain_pixels.hpp"
#include "io/fits/stored_image.hpp"
#include "io/fits/tiles/tiled_pixels.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::FitsFile;
using detail::StoredImage;

template <class T>
void read_compressed(const StoredImage& stored, int threads, FitsImage& image) {
  const FitsFile& file = stored.file;
  const detail::TiledLayout layout(stored);
  const auto pixels = detail::host_pixels<T>(stored, image);
  detail::read_tiles(stored, layout, detail::all_tile_rows(stored, layout), threads, pixels.data());
  const auto unit = file.data_unit();
  detail::Datasum sum;
  detail::sum_bytes(file, unit.start, unit.start, unit.end, threads, sum);
  image = stored.about;
  image.pixels = pixels;
  image.datasum = sum.value();
}

template <class T>
void read_plain(const StoredImage& stored, int threads, FitsImage& image) {
  const auto layout = detail::plain_layout(stored);
  const auto pixels = detail::host_pixels<T>(stored, image);
  const auto sum = detail::read_plain(stored, layout, threads, pixels.data());
  image = stored.about;
  image.pixels = pixels;
  image.datasum = sum.value();
}

template <class T>
void read_any(const StoredImage& stored, int threads, FitsImage& image) {
  stored.is_compressed() ? read_compressed<T>(stored, threads, image)
                         : read_plain<T>(stored, threads, image);
}

}  // namespace

std::vector<HduInfo> list_hdus(const std::string& path, std::int64_t max_unpacked,
                               std::string* unread) {
  FitsFile file(path, max_unpacked);
  std::vector<HduInfo> hdus;
  do {
    hdus.push_back(detail::describe_hdu(file));
  } while (file.next_hdu());
  if (unread != nullptr) *unread = file.end_reason();
  return hdus;
}

FitsImage read_header(const std::string& path, const ReadOptions& options) {
  return StoredImage(path, options).about;
}

BeamReading read_beam(const FitsImage& image) {
  return image.plane_beam ? *image.plane_beam : read_beam(image.header_cards);
}

std::optional<std::uint32_t> stated_datasum(const FitsImage& image) {
  for (const std::string_view card : image.header_cards) {
    if (!card.starts_with("DATASUM =")) continue;
    // By the standard (4.4.2.7) a string; in some files a number.
    const auto first = std::min(card.find_first_not_of(" '", 9), card.size());
    std::uint32_t sum = 0;
    const auto [end, error] = std::from_chars(card.data() + first, card.data() + card.size(), sum);
    const bool whole =
        end == card.data() + card.size() || *end == ' ' || *end == '\'' || *end == '/';
    return error == std::errc() && whole ? std::optional(sum) : std::nullopt;
  }
  return std::nullopt;
}

bool reads_in_parallel() { return fits_is_reentrant() != 0; }

FitsImage read_image(const std::string& path, const ReadOptions& options) {
  FitsImage image;
  read_image(path, options, image);
  return image;
}

void read_image(const std::string& path, const ReadOptions& options, FitsImage& image) {
  detail::read_image(StoredImage(path, options), options.threads, image);
}

void detail::read_image(const StoredImage& stored, int threads, FitsImage& image) {
  stored.is_float() ? read_any<float>(stored, threads, image)
                    : read_any<double>(stored, threads, image);
}

}  // namespace kastor::io

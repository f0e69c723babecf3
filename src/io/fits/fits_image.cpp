// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <kastor/error.hpp>
#include <kastor/io/fits_image.hpp>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/fits/datasum.hpp"
#include "io/fits/fits_file.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/fits/plain_pixels.hpp"
#include "io/fits/stored_image.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::FitsFile;
using detail::StoredImage;

// Only files made to exhaust memory have a higher tile compression ratio.
constexpr std::int64_t k_max_tile_gain = 1'000'000;

/// Whether no tile has to be searched for null pixels: floats stored without loss, in which NaN is
/// NaN already. CFITSIO's search for nulls would also set denormal values to 0.
bool is_lossless_float(const FitsFile& file, const HduInfo& hdu) {
  if (hdu.bitpix > 0) return false;
  const auto quantised = detail::read_string(file, "ZQUANTIZ");
  if (quantised && detail::upper_case(*quantised) == "NONE") return true;
  int column = 0;
  int status = 0;
  char name[] = "ZSCALE";
  fits_get_colnum(file.get(), CASEINSEN, name, &column, &status);
  fits_clear_errmsg();
  return status == COL_NOT_FOUND && !detail::has_keyword(file, "ZSCALE");
}

template <class T>
void read_compressed(const StoredImage& stored, int threads, FitsImage& image) {
  const FitsFile& file = stored.file;
  const detail::Section& section = stored.section;
  const HduInfo& hdu = stored.about.hdu;
  const auto unit = file.data_unit();
  const std::int64_t table = detail::read_integer(file, "NAXIS1").value_or(0) *
                                 detail::read_integer(file, "NAXIS2").value_or(0) +
                             detail::read_integer(file, "PCOUNT").value_or(0);
  const std::int64_t held = std::max<std::int64_t>(0, file.size() - unit.start);
  if (unit.end < unit.start || table > held) {
    file.fail(
        fmt::format("data truncated: header says {} bytes, file holds {}; expected the whole image",
                    table, held));
  }
  const auto unpacked = detail::bytes_of(hdu.axes, detail::bytes_per_pixel(hdu.bitpix));
  if (!unpacked || *unpacked / k_max_tile_gain > unit.end - unit.start) {
    file.fail(
        fmt::format("{} bytes of compressed data cannot be an image of {}; expected a valid header",
                    table, detail::axes_text(hdu)));
  }
  (void)detail::scaling_of(file, hdu);
  const auto pixels = detail::host_pixels<T>(stored, image);

  std::vector<long> first(hdu.axes.size(), 1);
  std::vector<long> last(hdu.axes.begin(), hdu.axes.end());
  std::vector<long> step(hdu.axes.size(), 1);
  if (section.plane)
    first[section.plane_axis] = last[section.plane_axis] = static_cast<long>(*section.plane) + 1;
  T null = is_lossless_float(file, hdu)
               ? T{0}
               : std::numeric_limits<T>::quiet_NaN();  // 0: no search for nulls
  int any_null = 0;
  int status = 0;
  fits_read_subset(file.get(), std::is_same_v<T, float> ? TFLOAT : TDOUBLE, first.data(),
                   last.data(), step.data(), &null, pixels.data(), &any_null, &status);
  file.check(status, "reading the compressed image");

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

std::vector<HduInfo> list_hdus(const std::string& path) {
  FitsFile file(path);
  std::vector<HduInfo> hdus;
  do {
    hdus.push_back(detail::describe_hdu(file));
  } while (file.next_hdu());
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

// SPDX-License-Identifier: Apache-2.0
#include "io/fits/hdu_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "io/table/unicode.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

template <class T>
std::optional<T> read_number(const FitsFile& file, int type, const char* keyword) {
  T value{};
  int status = 0;
  if (fits_read_key(file.get(), type, keyword, &value, nullptr, &status) == 0) return value;
  fits_clear_errmsg();
  return std::nullopt;
}

std::string kind_of(const FitsFile& file) {
  int type = 0;
  int status = 0;
  // Ask this first: CFITSIO also calls a tile-compressed image an image.
  if (fits_is_compressed_image(file.get(), &status) != 0) return "compressed image";
  fits_get_hdu_type(file.get(), &type, &status);
  file.check(status, "reading the kind of HDU");
  if (type == ASCII_TBL) return "ascii table";
  if (type == BINARY_TBL) return "binary table";
  // CFITSIO treats extensions that it does not know as images.
  const auto extension = file.hdu() == 0 ? std::nullopt : read_string(file, "XTENSION");
  return !extension || *extension == "IMAGE" || *extension == "IUEIMAGE" ? "image" : "unknown";
}

void describe_image(const FitsFile& file, HduInfo& hdu) {
  int status = 0;
  int naxis = 0;
  fits_get_img_type(file.get(), &hdu.bitpix, &status);
  fits_get_img_dim(file.get(), &naxis, &status);
  file.check(status, "reading the size of the image");
  std::vector<LONGLONG> axes(static_cast<std::size_t>(naxis));
  if (naxis > 0) fits_get_img_sizell(file.get(), naxis, axes.data(), &status);
  file.check(status, "reading the size of the image");
  hdu.axes.assign(axes.begin(), axes.end());
  if (is_image(hdu))
    hdu.pixel_type =
        hdu.bitpix == 8 || hdu.bitpix == 16 || hdu.bitpix == -32 ? "float32" : "float64";
}

std::optional<Beam> beam_of(const FitsFile& file) {
  const auto major = read_double(file, "BMAJ");
  const auto minor = read_double(file, "BMIN");
  if (!major || !minor) return std::nullopt;
  const auto angle = read_double(file, "BPA");
  return Beam{*major, *minor, angle.value_or(std::numeric_limits<double>::quiet_NaN())};
}

}  // namespace

std::optional<double> read_double(const FitsFile& file, const char* keyword) {
  return read_number<double>(file, TDOUBLE, keyword);
}

std::optional<long long> read_integer(const FitsFile& file, const char* keyword) {
  // CFITSIO's message about a longer value that is no integer does not fit its buffer (4.2).
  constexpr std::size_t longest = 28;
  std::array<char, FLEN_VALUE> value{};
  int status = 0;
  fits_read_keyword(file.get(), keyword, value.data(), nullptr, &status);
  fits_clear_errmsg();
  if (status != 0 || std::string_view(value.data()).size() > longest) return std::nullopt;
  // A keyword may be there twice: the next look must find the same card.
  int cards = 0;
  int next = 0;
  fits_get_hdrpos(file.get(), &cards, &next, &status);
  fits_movabs_key(file.get(), next - 1, &status);
  fits_clear_errmsg();
  return read_number<LONGLONG>(file, TLONGLONG, keyword);
}

std::optional<std::string> read_string(const FitsFile& file, const char* keyword) {
  std::array<char, FLEN_VALUE> value{};
  int status = 0;
  if (fits_read_key(file.get(), TSTRING, keyword, value.data(), nullptr, &status) == 0) {
    return trimmed(value.data());
  }
  fits_clear_errmsg();
  return std::nullopt;
}

std::optional<std::int64_t> read_blank(const FitsFile& file, const char* keyword) {
  const auto value = read_integer(file, keyword);
  if (!value) return std::nullopt;
  // CFITSIO cuts fractions off, and takes a logical value for a number.
  std::array<char, FLEN_VALUE> stored{};
  int status = 0;
  fits_read_keyword(file.get(), keyword, stored.data(), nullptr, &status);
  fits_clear_errmsg();
  const std::string_view text(stored.data());
  if (status != 0 || text.empty() || text[0] == 'T' || text[0] == 'F') return std::nullopt;
  const auto number = read_double(file, keyword);
  return number && static_cast<double>(*value) == *number ? value : std::nullopt;
}

std::optional<std::int64_t> stated_blank(const FitsFile& file, const char* keyword) {
  const auto value = read_blank(file, keyword);
  if (!value && has_keyword(file, keyword))
    file.fail(fmt::format("{} is not an integer of 64 bits; expected one", keyword));
  return value;
}

bool has_keyword(const FitsFile& file, const char* keyword) {
  std::array<char, FLEN_CARD> card{};
  int status = 0;
  fits_read_card(file.get(), keyword, card.data(), &status);
  fits_clear_errmsg();
  return status == 0;
}

HduInfo describe_hdu(const FitsFile& file) {
  HduInfo hdu;
  hdu.index = file.hdu();
  hdu.kind = kind_of(file);
  hdu.name = read_string(file, "EXTNAME").value_or("");
  hdu.version = static_cast<int>(read_integer(file, "EXTVER").value_or(1));
  if (is_image(hdu) || hdu.kind == "unknown") {
    describe_image(file, hdu);
  } else {
    hdu.bitpix = 8;
    hdu.axes = {read_integer(file, "NAXIS1").value_or(0), read_integer(file, "NAXIS2").value_or(0)};
  }
  hdu.compression = file.packing();
  if (hdu.kind == "compressed image") hdu.compression = read_string(file, "ZCMPTYPE").value_or("");
  if (!is_image(hdu)) return hdu;

  hdu.unit = as_utf8(read_string(file, "BUNIT").value_or(""));
  hdu.bscale = read_double(file, "BSCALE").value_or(1.0);
  hdu.bzero = read_double(file, "BZERO").value_or(0.0);
  hdu.blank =
      read_blank(file, hdu.kind == "image" || has_keyword(file, "BLANK") ? "BLANK" : "ZBLANK");
  hdu.beam = beam_of(file);
  for (std::size_t axis = 1; axis <= hdu.axes.size(); ++axis) {
    hdu.ctype.push_back(read_string(file, fmt::format("CTYPE{}", axis).c_str()).value_or(""));
  }
  return hdu;
}

std::int64_t table_rows(const FitsFile& file) {
  const auto rows = read_integer(file, "NAXIS2").value_or(0);
  const auto width = read_integer(file, "NAXIS1").value_or(0);
  const std::int64_t held = std::max<std::int64_t>(0, file.size() - file.data_unit().start);
  if (rows < 0 || width < 0 || (width > 0 && rows > held / width)) {
    file.fail(fmt::format(
        "data truncated: header says {} rows of {} bytes, file holds {} bytes; expected all rows",
        rows, width, held));
  }
  return width > 0 ? rows : 0;
}

std::string axes_text(const HduInfo& hdu) {
  std::string text;
  for (std::size_t i = 0; i < hdu.axes.size(); ++i) {
    text += fmt::format("{}NAXIS{}={}", i == 0 ? "" : ", ", i + 1, hdu.axes[i]);
    if (i < hdu.ctype.size() && !hdu.ctype[i].empty()) text += fmt::format(" ({})", hdu.ctype[i]);
  }
  return text.empty() ? "NAXIS=0" : text;
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/fits_image.hpp>
#include <limits>
#include <string_view>

#include "datasum.hpp"
#include "fits_file.hpp"
#include "hdu_info.hpp"
#include "pixel_decoder.hpp"
#include "text.hpp"

namespace kastor::io {
namespace {

using detail::FitsFile;

// Bytes read, summed and converted at a time: small enough for a second-level cache, and a multiple
// of every pixel.
constexpr std::int64_t k_piece = std::int64_t{1} << 20;
// Tile compression gains more only in files made to exhaust memory.
constexpr std::int64_t k_max_tile_gain = 1'000'000;

/// Product of the factors and `size`; none if it does not fit, or one is negative.
std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& axes, std::int64_t size) {
  for (const std::int64_t axis : axes) {
    if (axis < 0 || __builtin_mul_overflow(size, axis, &size)) return std::nullopt;
  }
  // Room for rounding up to whole blocks without overflow.
  if (size > std::numeric_limits<std::int64_t>::max() / 2) return std::nullopt;
  return size;
}

// ---------------------------------------------------------------------------------- which HDU

struct HduName {
  std::string name;  // upper case
  std::optional<int> version;
};

std::optional<std::int64_t> as_number(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  std::int64_t value = std::numeric_limits<std::int64_t>::max();
  (void)std::from_chars(text.data(), text.data() + text.size(),
                        value);  // too large stays the maximum
  return value;
}

HduName as_name(std::string_view text) {
  HduName result;
  const auto comma = text.rfind(',');
  if (comma != std::string_view::npos) {
    const auto version = as_number(text.substr(comma + 1));
    if (version && *version <= std::numeric_limits<int>::max()) {
      result.version = static_cast<int>(*version);
      text = text.substr(0, comma);
    }
  }
  result.name = detail::upper_case(detail::trimmed(text));
  return result;
}

[[noreturn]] void fail_missing(const FitsFile& file, const std::string& path,
                               std::string_view what) {
  const int count = file.hdu() + 1;
  const std::string stop =
      file.end_reason().empty()
          ? ""
          : fmt::format(" (what follows them cannot be read: {})", file.end_reason());
  throw Error(fmt::format("{}: {}; the file has {} HDU{}, 0 to {}{}", detail::one_line(path),
                          detail::one_line(what), count, count == 1 ? "" : "s", count - 1, stop));
}

/// Moves `file` to the HDU to read.
HduInfo select_hdu(FitsFile& file, const std::string& path,
                   const std::optional<std::string>& wanted) {
  const auto number = wanted ? as_number(*wanted) : std::nullopt;
  const HduName name = wanted && !number ? as_name(*wanted) : HduName{};
  if (wanted && !number && name.name.empty()) {
    throw Error(
        fmt::format("{}: the HDU '{}' has no name; expected a number from 0 or NAME[,EXTVER]",
                    detail::one_line(path), detail::one_line(*wanted)));
  }
  do {
    if (number && *number != file.hdu()) continue;
    HduInfo hdu = detail::describe_hdu(file);
    if (number) return hdu;
    const bool has_data =
        !hdu.axes.empty() && std::find(hdu.axes.begin(), hdu.axes.end(), 0) == hdu.axes.end();
    if (!wanted && detail::is_image(hdu) && has_data) return hdu;
    const bool same_name = wanted && detail::upper_case(hdu.name) == name.name;
    if (same_name && name.version.value_or(hdu.version) == hdu.version) return hdu;
  } while (file.next_hdu());

  if (!wanted) fail_missing(file, path, "no image with data was found; expected one");
  fail_missing(file, path,
               fmt::format("no HDU '{}' was found; expected one that is there", *wanted));
}

// ---------------------------------------------------------------------------------- which pixels

/// The part of the data unit to read, in pixels.
struct Section {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t first = 0;          // pixels before it
  std::array<int, 2> fits_axes{};  // 1-based
  std::optional<std::int64_t> plane;
  std::size_t plane_axis = 0;  // 0-based; only with `plane`
};

/// The axes left when those of length 1 are dropped, from the last one down, until two are left.
std::vector<std::size_t> long_axes(const std::vector<std::int64_t>& axes) {
  std::vector<std::size_t> left(axes.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (std::size_t i = axes.size(); i-- > 0 && left.size() > 2;) {
    if (axes[i] == 1) left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return left;
}

Section select_section(const FitsFile& file, const HduInfo& hdu,
                       const std::optional<std::int64_t>& plane) {
  const std::string text = detail::axes_text(hdu);
  if (hdu.axes.empty()) file.fail("the image has no data (NAXIS=0); expected two axes");
  if (std::any_of(hdu.axes.begin(), hdu.axes.end(), [](std::int64_t n) { return n <= 0; })) {
    file.fail(fmt::format("an axis has no pixels ({}); expected two axes of at least 1", text));
  }
  if (hdu.axes.size() == 1)
    file.fail(fmt::format("the image has one axis only ({}); expected two", text));

  const auto left = long_axes(hdu.axes);
  if (left.size() > 3) {
    file.fail(
        fmt::format("the image has {} axes longer than 1 ({}); expected two, or three and a plane",
                    left.size(), text));
  }
  Section section;
  section.nx = hdu.axes[left[0]];
  section.ny = hdu.axes[left[1]];
  section.fits_axes = {static_cast<int>(left[0]) + 1, static_cast<int>(left[1]) + 1};
  const std::int64_t planes = left.size() == 3 ? hdu.axes[left[2]] : 1;
  if (left.size() == 3 && !plane) {
    file.fail(
        fmt::format("the image has three axes longer than 1 ({}); expected two, or a plane (0 to "
                    "{}) of NAXIS{}",
                    text, planes - 1, left[2] + 1));
  }
  if (plane && (*plane < 0 || *plane >= planes)) {
    file.fail(fmt::format("there is no plane {} ({}); expected 0 to {}", *plane, text, planes - 1));
  }
  if (left.size() == 3) {
    section.plane = plane;
    section.plane_axis = left[2];
  }
  return section;
}

detail::Scaling scaling_of(const FitsFile& file, const HduInfo& hdu) {
  for (const char* keyword : {"BSCALE", "BZERO"}) {
    if (!detail::has_keyword(file, keyword)) continue;
    const auto value = detail::read_double(file, keyword);
    if (!value || !std::isfinite(*value))
      file.fail(fmt::format("{} is not a number; expected a finite one", keyword));
  }
  return {hdu.bscale, hdu.bzero, hdu.bitpix > 0 ? hdu.blank : std::nullopt};
}

// ---------------------------------------------------------------------------------- reading

template <class T>
HostPixels<T> allocate(const FitsFile& file, const Section& section) {
  const auto bytes = bytes_of({section.nx, section.ny}, sizeof(T));
  const std::int64_t memory =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const std::string shape = fmt::format("{} x {} pixels", section.ny, section.nx);
  if (!bytes || *bytes > memory) {
    file.fail(
        fmt::format("the image has {}, more than this machine's memory of {} bytes holds; expected "
                    "a smaller one",
                    shape, memory));
  }
  try {
    // Not initialised: every pixel is written by the reading, and first touched there.
    return HostPixels<T>(
        Kokkos::view_alloc("kastor::read_image::pixels", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(section.ny), static_cast<std::size_t>(section.nx));
  } catch (const std::exception&) {
    file.fail(fmt::format("not enough memory for {} ({} bytes); expected a smaller image", shape,
                          *bytes));
  }
}

/// Adds the bytes from `begin` to `end` to the sum; those that the file lacks count as 0.
void sum_bytes(const FitsFile& file, std::int64_t begin, std::int64_t end,
               std::vector<std::byte>& piece, detail::Datasum& sum) {
  end = std::min(end, file.size());
  for (std::int64_t at = begin; at < end; at += k_piece) {
    const auto count = static_cast<std::size_t>(std::min(k_piece, end - at));
    piece.resize(std::max(piece.size(), count));
    sum.add(piece.data(), file.read_bytes(at, piece.data(), count));
  }
}

/// Reads, sums and converts `count` pixels of type Raw that begin at byte `begin`.
template <class Raw, class T>
void read_pixels(const FitsFile& file, std::int64_t begin, std::int64_t count,
                 const detail::Scaling& scaling, std::vector<std::byte>& piece,
                 detail::Datasum& sum, T* out) {
  constexpr std::int64_t step = k_piece / static_cast<std::int64_t>(sizeof(Raw));
  // Stored floats are read to where they stay.
  constexpr bool in_place = std::is_same_v<Raw, T>;
  if (!in_place) piece.resize(static_cast<std::size_t>(k_piece));
  for (std::int64_t i = 0; i < count; i += step) {
    const auto pixels = static_cast<std::size_t>(std::min(step, count - i));
    auto* bytes = in_place ? reinterpret_cast<std::byte*>(out + i) : piece.data();
    const std::size_t length = pixels * sizeof(Raw);
    if (file.read_bytes(begin + i * static_cast<std::int64_t>(sizeof(Raw)), bytes, length) !=
        length) {
      file.fail("data truncated while it was read; expected a file that does not change");
    }
    sum.add(bytes, length);
    if constexpr (in_place) {
      detail::decode_floats(bytes, pixels, scaling, out + i);
    } else {
      detail::decode<Raw>(bytes, pixels, scaling, out + i);
    }
  }
}

void check_complete(const FitsFile& file, const HduInfo& hdu, std::int64_t start) {
  const auto claimed = bytes_of(hdu.axes, detail::bytes_per_pixel(hdu.bitpix));
  const std::int64_t held = std::max<std::int64_t>(0, file.size() - start);
  if (!claimed || *claimed > held) {
    file.fail(fmt::format(
        "data truncated: header says {} bytes ({}), file holds {}; expected the whole image",
        claimed ? fmt::format("{}", *claimed) : "more than 2^62", detail::axes_text(hdu), held));
  }
  for (const auto& [keyword, expected] : {std::pair{"PCOUNT", 0LL}, std::pair{"GCOUNT", 1LL}}) {
    const auto value = detail::read_integer(file, keyword);
    if (value && *value != expected) {
      file.fail(fmt::format("{}={} (random groups); expected an image with {}={}", keyword, *value,
                            keyword, expected));
    }
  }
}

template <class T>
void read_plain(const FitsFile& file, const Section& section, FitsImage& image) {
  const HduInfo& hdu = image.hdu;
  const auto unit = file.data_unit();
  check_complete(file, hdu, unit.start);
  const detail::Scaling scaling = scaling_of(file, hdu);
  const auto pixels = allocate<T>(file, section);

  const std::int64_t size = detail::bytes_per_pixel(hdu.bitpix);
  const std::int64_t count = section.nx * section.ny;
  const std::int64_t begin = unit.start + size * section.first;
  std::vector<std::byte> piece;
  detail::Datasum sum;
  sum_bytes(file, unit.start, begin, piece, sum);
  const auto read = [&]<class Raw>(Raw) {
    read_pixels<Raw>(file, begin, count, scaling, piece, sum, pixels.data());
  };
  if constexpr (std::is_same_v<T, float>) {
    if (hdu.bitpix == 8) read(std::uint8_t{});
    if (hdu.bitpix == 16) read(std::int16_t{});
    if (hdu.bitpix == -32) read(float{});
  } else {
    if (hdu.bitpix == 32) read(std::int32_t{});
    if (hdu.bitpix == 64) read(std::int64_t{});
    if (hdu.bitpix == -64) read(double{});
  }
  sum_bytes(file, begin + size * count, unit.end, piece, sum);
  image.pixels = pixels;
  image.datasum = sum.value();
}

/// True if no tile's null pixels need looking for: floats kept as they were, where NaN is NaN
/// already. CFITSIO's search for nulls would also set denormal values to 0.
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
void read_compressed(const FitsFile& file, const Section& section, FitsImage& image) {
  const HduInfo& hdu = image.hdu;
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
  const auto unpacked = bytes_of(hdu.axes, detail::bytes_per_pixel(hdu.bitpix));
  if (!unpacked || *unpacked / k_max_tile_gain > unit.end - unit.start) {
    file.fail(
        fmt::format("{} bytes of compressed data cannot be an image of {}; expected a valid header",
                    table, detail::axes_text(hdu)));
  }
  (void)scaling_of(file, hdu);
  const auto pixels = allocate<T>(file, section);

  std::vector<long> first(hdu.axes.size(), 1);
  std::vector<long> last(hdu.axes.begin(), hdu.axes.end());
  std::vector<long> step(hdu.axes.size(), 1);
  if (section.plane)
    first[section.plane_axis] = last[section.plane_axis] = static_cast<long>(*section.plane) + 1;
  T null = is_lossless_float(file, hdu)
               ? T{0}
               : std::numeric_limits<T>::quiet_NaN();  // 0: do not look for nulls
  int any_null = 0;
  int status = 0;
  fits_read_subset(file.get(), std::is_same_v<T, float> ? TFLOAT : TDOUBLE, first.data(),
                   last.data(), step.data(), &null, pixels.data(), &any_null, &status);
  file.check(status, "reading the compressed image");

  std::vector<std::byte> piece;
  detail::Datasum sum;
  sum_bytes(file, unit.start, unit.end, piece, sum);
  image.pixels = pixels;
  image.datasum = sum.value();
}

/// Cards that describe the table around a tile-compressed image, not the image.
bool is_table_card(std::string_view card) {
  const std::string keyword = detail::trimmed(card.substr(0, 8));
  for (const char* stem : {"TTYPE", "TFORM", "TUNIT", "TNULL", "TSCAL", "TZERO", "TDISP", "TDIM",
                           "ZNAXIS", "ZTILE", "ZNAME", "ZVAL"}) {
    const std::string_view text(stem);
    if (keyword.starts_with(text) &&
        keyword.find_first_not_of("0123456789", text.size()) == std::string::npos) {
      return true;
    }
  }
  for (const char* name :
       {"XTENSION", "TFIELDS",  "THEAP",    "ZIMAGE",   "ZCMPTYPE", "ZBITPIX",  "ZMASKCMP",
        "ZQUANTIZ", "ZDITHER0", "ZSIMPLE",  "ZTENSION", "ZEXTEND",  "ZBLOCKED", "ZPCOUNT",
        "ZGCOUNT",  "ZHECKSUM", "ZDATASUM", "ZBLANK",   "ZSCALE",   "ZZERO"}) {
    if (keyword == name) return true;
  }
  return false;
}

std::vector<std::string> header_cards_of(const FitsFile& file, const HduInfo& hdu) {
  int count = 0;
  int status = 0;
  fits_get_hdrspace(file.get(), &count, nullptr, &status);
  std::vector<std::string> cards;
  for (int i = 1; i <= count && status == 0; ++i) {
    std::array<char, FLEN_CARD> card{};
    fits_read_record(file.get(), i, card.data(), &status);
    std::string text(card.data());
    text.resize(80, ' ');
    if (hdu.kind != "compressed image" || !is_table_card(text)) cards.push_back(std::move(text));
  }
  file.check(status, "reading the header");
  return cards;
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

FitsImage read_image(const std::string& path, const ReadOptions& options) {
  FitsFile file(path);
  FitsImage image;
  image.path = path;
  image.hdu = select_hdu(file, path, options.hdu);
  if (!detail::is_image(image.hdu))
    file.fail(fmt::format("is of the kind '{}'; expected an image", image.hdu.kind));
  Section section = select_section(file, image.hdu, options.plane);
  image.nx = section.nx;
  image.ny = section.ny;
  image.plane = section.plane;
  image.fits_axes = section.fits_axes;
  image.header_cards = header_cards_of(file, image.hdu);

  const bool compressed = image.hdu.kind == "compressed image";
  // The product is checked against the file before it is used.
  if (section.plane && bytes_of(image.hdu.axes, 8))
    section.first = *section.plane * section.nx * section.ny;
  if (image.hdu.pixel_type == "float32") {
    compressed ? read_compressed<float>(file, section, image)
               : read_plain<float>(file, section, image);
  } else {
    compressed ? read_compressed<double>(file, section, image)
               : read_plain<double>(file, section, image);
  }
  return image;
}

}  // namespace kastor::io

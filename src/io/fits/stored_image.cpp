// SPDX-License-Identifier: Apache-2.0
#include "io/fits/stored_image.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <kastor/error.hpp>
#include <limits>
#include <string_view>
#include <utility>

#include "io/fits/hdu_info.hpp"
#include "io/fits/plane_beam.hpp"
#include "io/sky/raw_beam.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

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
  result.name = upper_case(trimmed(text));
  return result;
}

/// \param wanted  the HDU asked for; none: the first image with data
[[noreturn]] void fail_missing(const FitsFile& file, const std::string& path,
                               const std::optional<std::string>& wanted) {
  const int count = file.hdu() + 1;
  const std::string found = wanted ? fmt::format("no HDU '{}'", *wanted) : "no image with data";
  const std::string expected =
      !wanted      ? fmt::format("one in {} HDU{}", count, count == 1 ? "" : "s")
      : count == 1 ? "0, the only HDU of the file"
                   : fmt::format("one of the {} HDUs of the file, 0 to {}", count, count - 1);
  const std::string stop =
      file.end_reason().empty()
          ? ""
          : fmt::format(" (what follows them cannot be read: {})", file.end_reason());
  throw Error(
      fmt::format("{}: found {}; expected {}{}", one_line(path), one_line(found), expected, stop));
}

/// Moves `file` to the HDU that is to be read.
HduInfo select_hdu(FitsFile& file, const std::string& path,
                   const std::optional<std::string>& wanted) {
  const auto number = wanted ? as_number(*wanted) : std::nullopt;
  const HduName name = wanted && !number ? as_name(*wanted) : HduName{};
  if (wanted && !number && name.name.empty()) {
    throw Error(
        fmt::format("{}: the HDU '{}' has no name; expected a number, 0 or more, or NAME[,EXTVER]",
                    one_line(path), one_line(*wanted)));
  }
  do {
    if (number && *number != file.hdu()) continue;
    HduInfo hdu = describe_hdu(file);
    if (number) return hdu;
    const bool has_data =
        !hdu.axes.empty() && std::find(hdu.axes.begin(), hdu.axes.end(), 0) == hdu.axes.end();
    if (!wanted && is_image(hdu) && has_data) return hdu;
    const bool same_name = wanted && upper_case(hdu.name) == name.name;
    if (same_name && name.version.value_or(hdu.version) == hdu.version) return hdu;
  } while (file.next_hdu());

  fail_missing(file, path, wanted);
}

// ---------------------------------------------------------------------------------- which pixels

/// Drops axes of length 1, beginning with the last one, until two are left; returns the others.
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
  const std::string text = axes_text(hdu);
  if (hdu.axes.empty()) file.fail("the image has no data (NAXIS=0); expected two axes");
  if (std::any_of(hdu.axes.begin(), hdu.axes.end(), [](std::int64_t n) { return n <= 0; })) {
    file.fail(fmt::format("an axis has no pixels ({}); expected two axes of at least 1", text));
  }
  if (hdu.axes.size() == 1)
    file.fail(fmt::format("the image has only one axis ({}); expected two", text));

  const auto left = long_axes(hdu.axes);
  if (left.size() > 3) {
    file.fail(
        fmt::format("the image has {} axes longer than 1 ({}); expected two, or three and the "
                    "choice of a plane",
                    left.size(), text));
  }
  Section section;
  section.nx = hdu.axes[left[0]];
  section.ny = hdu.axes[left[1]];
  section.fits_axes = {static_cast<int>(left[0]) + 1, static_cast<int>(left[1]) + 1};
  const std::int64_t planes = left.size() == 3 ? hdu.axes[left[2]] : 1;
  if (left.size() == 3 && !plane) {
    file.fail(
        fmt::format("the image has three axes longer than 1 ({}); expected two, or the choice of a "
                    "plane (0 to {}) along NAXIS{}",
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

void check_complete(const FitsFile& file, const HduInfo& hdu, std::int64_t start) {
  const auto claimed = bytes_of(hdu.axes, bytes_per_pixel(hdu.bitpix));
  const std::int64_t held = std::max<std::int64_t>(0, file.size() - start);
  if (!claimed || *claimed > held) {
    file.fail(fmt::format(
        "data truncated: header says {} bytes ({}), file holds {}; expected the whole image",
        claimed ? fmt::format("{}", *claimed) : "more than 2^62", axes_text(hdu), held));
  }
  for (const auto& [keyword, expected] : {std::pair{"PCOUNT", 0LL}, std::pair{"GCOUNT", 1LL}}) {
    const auto value = read_integer(file, keyword);
    if (value && *value != expected) {
      file.fail(fmt::format("{}={} (random groups); expected an image with {}={}", keyword, *value,
                            keyword, expected));
    }
  }
}

/// Whether a card describes the table around a tile-compressed image, not the image.
bool is_table_card(std::string_view card) {
  const std::string keyword = trimmed(card.substr(0, 8));
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

StoredImage::StoredImage(const std::string& path, const ReadOptions& options, Access access)
    : file(path, options.max_unpacked, access) {
  about.path = path;
  about.hdu = select_hdu(file, path, options.hdu);
  if (!is_image(about.hdu))
    file.fail(fmt::format("the HDU has the type '{}'; expected an image", about.hdu.kind));
  section = select_section(file, about.hdu, options.plane);
  about.nx = section.nx;
  about.ny = section.ny;
  about.plane = section.plane;
  about.fits_axes = section.fits_axes;
  about.header_cards = header_cards_of(file, about.hdu);
  if (has_many_beams(about.header_cards))
    about.plane_beam = read_plane_beam(about, section.plane_axis, options.max_unpacked);
  // The whole size is checked for overflow first, and against the file before it is used.
  if (section.plane && bytes_of(about.hdu.axes, 8))
    section.first = *section.plane * section.nx * section.ny;
}

PlainLayout plain_layout(const StoredImage& stored) {
  const HduInfo& hdu = stored.about.hdu;
  PlainLayout layout;
  layout.unit = stored.file.data_unit();
  check_complete(stored.file, hdu, layout.unit.start);
  layout.scaling = scaling_of(stored.file, hdu);
  layout.pixel_size = bytes_per_pixel(hdu.bitpix);
  layout.pixels = stored.section.nx * stored.section.ny;
  layout.begin = layout.unit.start + layout.pixel_size * stored.section.first;
  return layout;
}

Scaling scaling_of(const FitsFile& file, const HduInfo& hdu) {
  for (const char* keyword : {"BSCALE", "BZERO"}) {
    if (!has_keyword(file, keyword)) continue;
    const auto value = read_double(file, keyword);
    if (!value || !std::isfinite(*value))
      file.fail(fmt::format("{} is not a number; expected a finite one", keyword));
  }
  Scaling scaling{hdu.bscale, hdu.bzero, {}};
  if (hdu.bitpix > 0 && hdu.kind == "image") scaling.blank = stated_blank(file, "BLANK");
  return scaling;
}

std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& axes, std::int64_t size) {
  for (const std::int64_t axis : axes) {
    if (axis < 0 || __builtin_mul_overflow(size, axis, &size)) return std::nullopt;
  }
  // Leaves room for rounding up to whole blocks without overflow.
  if (size > std::numeric_limits<std::int64_t>::max() / 2) return std::nullopt;
  return size;
}

void fail_without_memory(const StoredImage& stored, std::int64_t bytes) {
  stored.file.fail(
      fmt::format("not enough memory for {} x {} pixels ({} bytes); expected a smaller image",
                  stored.section.ny, stored.section.nx, bytes));
}

template <class T>
std::int64_t require_room(const StoredImage& stored) {
  const auto bytes = bytes_of({stored.section.nx, stored.section.ny}, sizeof(T));
  const std::int64_t memory =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (!bytes || *bytes > memory) {
    stored.file.fail(fmt::format(
        "the image has {} x {} pixels, more than this machine's memory of {} bytes holds; expected "
        "a smaller one",
        stored.section.ny, stored.section.nx, memory));
  }
  return *bytes;
}

template std::int64_t require_room<float>(const StoredImage&);
template std::int64_t require_room<double>(const StoredImage&);

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "find/given_pixels.hpp"

#include <sys/stat.h>

#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/unit_ratio.hpp>
#include <type_traits>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/blank_pixels.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

void clear_bits(const BitMask<Host>& mask, std::int64_t y, std::int64_t x_begin,
                std::int64_t x_end) {
  for (std::int64_t x = x_begin; x < x_end; ++x)
    mask.words(y, x / 64) &= ~(std::uint64_t{1} << (x % 64));
}

void keep_box(const BitMask<Host>& mask, const PixelBox& box) {
  for (std::int64_t y = 0; y < mask.ny; ++y) {
    if (y < box.y_min || y > box.y_max) {
      clear_bits(mask, y, 0, mask.nx);
    } else {
      clear_bits(mask, y, 0, box.x_min);
      clear_bits(mask, y, box.x_max + 1, mask.nx);
    }
  }
}

/// What an option gives: where it is said in messages, and how its pixels are read.
struct GivenRole {
  const char* option;
  bool is_noise;
  RmsKind kind = RmsKind::rms;

  /// Of the image's unit, in that of the pixels.
  [[nodiscard]] int power() const {
    return kind == RmsKind::variance ? 2 : kind == RmsKind::weight ? -2 : 1;
  }
};

struct CountedPixels {
  std::int64_t count = 0, first_x = 0, first_y = 0;

  void add(std::int64_t x, std::int64_t y) {
    if (count++ > 0) return;
    first_x = x;
    first_y = y;
  }
  [[nodiscard]] std::string first() const {
    return fmt::format("the first at x = {}, y = {}", first_x, first_y);
  }
};

std::string said(const GivenRole& role, const io::FitsImage& read) {
  return fmt::format("{} {}", role.option, one_line(name_of(read)));
}

/// Reads what the user gave for an image.
template <class T>
class GivenReader {
 public:
  GivenReader(const IslandOptions& options, const io::FitsImage& image)
      : m_options(options), m_image(image) {}

  [[nodiscard]] GivenOnHost<T> read() {
    if (m_options.box) apply_box(*m_options.box);
    if (m_options.mask) apply_mask(*m_options.mask);
    read_map({"--background", false}, m_options.background, m_given.level);
    read_map({"--rms", true, m_options.rms_kind}, m_options.rms, m_given.rms);
    read_weights();
    if (m_options.detection.image) read_detection(*m_options.detection.image);
    require_a_pixel();
    return std::move(m_given);
  }

 private:
  [[nodiscard]] BitMask<Host>& usable() {
    BitMask<Host>& mask = m_given.usable;
    if (mask.words.size() > 0) return mask;
    mask = make_bit_mask(Host{}, m_image.ny, m_image.nx);
    Kokkos::deep_copy(mask.words, std::uint64_t{0});
    for (std::int64_t y = 0; y < mask.ny; ++y) {
      for (std::int64_t x = 0; x < mask.nx; ++x)
        mask.words(y, x / 64) |= std::uint64_t{1} << (x % 64);
    }
    return mask;
  }

  void apply_box(const PixelBox& box) {
    if (box.x_max >= m_image.nx || box.y_max >= m_image.ny) {
      throw Error(
          fmt::format("{}: the box ends at column {} and row {}; expected at most {} and {}",
                      name_of(m_image), box.x_max, box.y_max, m_image.nx - 1, m_image.ny - 1));
    }
    keep_box(usable(), box);
    m_excluding.emplace_back("--box");
  }

  void apply_mask(const GivenFile& given) {
    const GivenRole role{"--mask", false};
    const auto mask = read_companion(role, given);
    if (mask.hdu.bitpix == 64 && mask.hdu.bzero != 0) {
      throw Error(fmt::format(
          "{}: the mask has 64-bit integers with BZERO={}, which doubles do not tell apart; "
          "expected integers of up to 32 bits, or no BZERO",
          name_of(mask), mask.hdu.bzero));
    }
    const auto& bits = usable();
    std::visit(
        [&](const auto& pixels) {
          for (std::int64_t y = 0; y < m_image.ny; ++y) {
            for (std::int64_t x = 0; x < m_image.nx; ++x) {
              // A blank pixel of the mask is not 0 either.
              if (!(pixels(y, x) == 0)) clear_bits(bits, y, x, x + 1);
            }
          }
        },
        mask.pixels);
    m_excluding.push_back(said(role, mask));
  }

  [[nodiscard]] io::FitsImage read_companion(const GivenRole& role, const GivenFile& given) {
    io::FitsImage read;
    try {
      read = given.memory ? *given.memory
                          : io::read_image(given.path.value_or(m_image.path), given.part);
    } catch (const Error& error) {
      throw Error(fmt::format("{} (read for {})", error.what(), role.option));
    }
    if (!given.memory) note_origin(role, read);
    if (read.ny != m_image.ny || read.nx != m_image.nx) {
      throw Error(fmt::format("{}: found {} x {} pixels; expected {} x {}, as in {}", name_of(read),
                              read.nx, read.ny, m_image.nx, m_image.ny, name_of(m_image)));
    }
    return read;
  }

  void note_origin(const GivenRole& role, const io::FitsImage& read) {
    PixelOrigin origin;
    origin.option = role.option;
    origin.hdu = read.hdu.index;
    origin.plane = read.plane;
    struct stat info {};
    if (::stat(read.path.c_str(), &info) == 0) {
      origin.device = info.st_dev;
      origin.file = info.st_ino;
    }
    m_given.origins.push_back(origin);
    refuse_itself(m_given.origins, m_image);
  }

  void read_detection(const GivenFile& given) {
    auto read = read_companion({"--detect-image", false}, given);
    InputOptions input;
    input.blank = m_options.detection.blank;
    blank_out(input, read);
    if (const auto* same = std::get_if<io::HostPixels<T>>(&read.pixels)) {
      m_given.detection = *same;
    } else {
      auto& converted = m_given.detection.emplace(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::app::detection_image"),
          static_cast<std::size_t>(read.ny), static_cast<std::size_t>(read.nx));
      std::visit(
          [&](const auto& pixels) {
            for (std::int64_t y = 0; y < read.ny; ++y)
              for (std::int64_t x = 0; x < read.nx; ++x)
                converted(y, x) = static_cast<T>(pixels(y, x));
          },
          read.pixels);
    }
    read.pixels = {};
    m_given.detection_header = std::move(read);
  }

  void read_map(const GivenRole& role, const std::optional<GivenMap>& given,
                std::optional<io::HostPixels<T>>& map) {
    if (!given || !std::holds_alternative<GivenFile>(*given)) return;
    const auto read = read_companion(role, std::get<GivenFile>(*given));
    const auto ratio = ratio_to_image(role, read);
    const bool as_read = role.kind == RmsKind::rms && ratio.times == ratio.by;
    if (const auto* pixels = std::get_if<io::HostPixels<T>>(&read.pixels);
        pixels != nullptr && as_read) {
      map = *pixels;
    } else {
      map.emplace(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::app::map_of_the_user"),
                  static_cast<std::size_t>(read.ny), static_cast<std::size_t>(read.nx));
    }
    // In double, by operations that IEEE 754 rounds correctly, and on the host: the bits are the
    // same on every backend.
    switch (role.kind) {
      case RmsKind::rms:
        if (as_read) return convert(role, read, *map, [](double value) { return value; });
        return convert(role, read, *map, [=](double value) { return ratio(value); });
      case RmsKind::variance:
        return convert(role, read, *map, [=](double value) { return std::sqrt(ratio(value)); });
      case RmsKind::weight:
        return convert(role, read, *map, [=](double value) { return 1 / std::sqrt(ratio(value)); });
    }
  }

  void read_weights() {
    const PhotometryOptions& photometry = m_options.photometry;
    if (!photometry.weight) return;
    const GivenRole role{photometry.weight_option(), true};
    const auto read = read_companion(role, *photometry.weight);
    std::int64_t without = 0;
    m_given.weights = relative_weights<T>(read, role.option, usable(), without);
    if (without == 0) return;
    m_excluding.push_back(said(role, read));
    m_given.notes.push_back(
        fmt::format("{} of the {} pixels of {} have no finite weight above 0, and are not used",
                    without, read.ny * read.nx, said(role, read)));
  }

  template <class Convert>
  void convert(const GivenRole& role, const io::FitsImage& read, const io::HostPixels<T>& map,
               const Convert& to_image) {
    CountedPixels negative, unusable;
    std::visit(
        [&](const auto& pixels) {
          for (std::int64_t y = 0; y < read.ny; ++y) {
            for (std::int64_t x = 0; x < read.nx; ++x) {
              const auto value = static_cast<double>(pixels(y, x));
              if (role.kind != RmsKind::rms && value < 0) negative.add(x, y);
              const T converted = static_cast<T>(to_image(value));
              map(y, x) = converted;
              if (std::isfinite(converted) && (!role.is_noise || converted > 0)) continue;
              unusable.add(x, y);
              clear_bits(usable(), y, x, x + 1);
            }
          }
        },
        read.pixels);
    if (negative.count > 0) {
      throw Error(fmt::format("{}: found {}, {}; expected a {} of 0 or more (read for {})",
                              name_of(read), count_of(negative.count, "negative value"),
                              negative.first(), name_of(role.kind), role.option));
    }
    if (unusable.count == 0) return;
    m_excluding.push_back(said(role, read));
    m_given.notes.push_back(fmt::format(
        "{} of the {} pixels of {} give no {}, {}, and are not used", unusable.count,
        read.ny * read.nx, said(role, read),
        role.is_noise ? "finite noise above 0" : "finite background", unusable.first()));
  }

  /// Adds a note if one of the two units is not known. \throws Error if they are of different kinds
  [[nodiscard]] io::UnitRatio ratio_to_image(const GivenRole& role, const io::FitsImage& read) {
    const std::string from = one_line(read.hdu.unit);
    const std::string to = one_line(m_image.hdu.unit);
    const bool unknown = from.find_first_not_of(' ') == std::string::npos ||
                         (role.kind == RmsKind::weight && from == "UNITLESS");
    const std::string wanted = role.kind == RmsKind::variance ? "the square of "
                               : role.kind == RmsKind::weight ? "1 / the square of "
                                                              : "";
    if (unknown && to.empty()) return {};
    if (unknown) {
      m_given.notes.push_back(
          fmt::format("{} has no unit; it is taken to be {}that of the image, {}", said(role, read),
                      wanted, to));
      return {};
    }
    if (to.empty()) {
      m_given.notes.push_back(
          fmt::format("the image has no unit; the values of {}, in {}, are taken as they are",
                      said(role, read), from));
      return {};
    }
    if (const auto ratio = io::unit_ratio(from, to, role.power())) return *ratio;
    const std::string stated = stated_unit(m_image);
    if (const auto ratio = io::unit_ratio(from, stated, role.power()); ratio && stated != to) {
      m_given.notes.push_back(
          fmt::format("{} is in '{}', a unit like the BUNIT that --unit replaces; both are taken "
                      "to be in {}",
                      said(role, read), from, to));
      return *ratio;
    }
    throw Error(
        fmt::format("{}: found the unit '{}'; expected {}'{}', that of the image, or a "
                    "multiple of it (read for {})",
                    name_of(read), from, wanted, to, role.option));
  }

  void require_a_pixel() const {
    const auto& words = m_given.usable.words;
    if (words.size() == 0) return;
    for (std::size_t y = 0; y < words.extent(0); ++y) {
      for (std::size_t w = 0; w < words.extent(1); ++w) {
        if (words(y, w) != 0) return;
      }
    }
    throw Error(
        fmt::format("{}: found no pixel that is not excluded by {}; expected enough good "
                    "pixels to search",
                    name_of(m_image), joined(m_excluding, " or ")));
  }

  const IslandOptions& m_options;
  const io::FitsImage& m_image;
  GivenOnHost<T> m_given;
  std::vector<std::string> m_excluding;
};

const GivenFile* file_of(const std::optional<GivenMap>& given) {
  return given ? std::get_if<GivenFile>(&*given) : nullptr;
}

bool is_own(const GivenFile* file) { return file != nullptr && !file->path; }

}  // namespace

std::string stated_unit(const io::FitsImage& image) {
  std::string unit;
  for (const std::string& card : image.header_cards) {
    if (!card.starts_with("BUNIT   =")) continue;
    unit.clear();
    const auto quote = card.find('\'');
    if (quote == std::string::npos) continue;
    for (std::size_t at = quote + 1; at < card.size(); ++at) {
      if (card[at] == '\'') {
        if (card.substr(at, 2) != "\'\'") break;
        ++at;  // a quote within the text is doubled
      }
      unit += card[at];
    }
  }
  return unit.substr(0, unit.find_last_not_of(' ') + 1);
}

template <class T>
GivenOnHost<T> read_given(const IslandOptions& options, const io::FitsImage& image) {
  return GivenReader<T>(options, image).read();
}
template GivenOnHost<float> read_given(const IslandOptions&, const io::FitsImage&);
template GivenOnHost<double> read_given(const IslandOptions&, const io::FitsImage&);

void refuse_itself(const std::vector<PixelOrigin>& origins, const io::FitsImage& image) {
  if (origins.empty()) return;
  struct stat info {};
  if (::stat(image.path.c_str(), &info) != 0) return;
  for (const auto& origin : origins) {
    if (origin.device != info.st_dev || origin.file != info.st_ino) continue;
    if (origin.hdu != image.hdu.index || origin.plane != image.plane) continue;
    throw Error(
        fmt::format("{0}: found the image itself as {1}; expected another image "
                    "({1}-hdu chooses another HDU of a file)",
                    name_of(image), origin.option));
  }
}

bool has_given_files(const IslandOptions& options) {
  return options.mask || options.detection.image || options.photometry.weight ||
         file_of(options.background) != nullptr || file_of(options.rms) != nullptr;
}

bool has_own_parts(const IslandOptions& options) {
  const auto is_part = [](const std::optional<GivenFile>& file) { return file && !file->path; };
  return is_part(options.mask) || is_part(options.detection.image) ||
         is_part(options.photometry.weight) || is_own(file_of(options.background)) ||
         is_own(file_of(options.rms));
}

}  // namespace kastor::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/io/regions_writer.hpp>

#include "io/output/provenance_entries.hpp"
#include "io/table/text_file.hpp"
#include "io/table/unicode.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr std::array<const char*, 5> k_ds9_frames = {"icrs", "fk5", "fk4", "galactic", "ecliptic"};
constexpr std::array<const char*, 5> k_crtf_frames = {"ICRS", "J2000", "B1950", "GALACTIC",
                                                      "ECLIPTIC"};

bool has_place(const Region& region) { return std::isfinite(region.x) && std::isfinite(region.y); }

bool has_shape(const Region& region) {
  return std::isfinite(region.semi_major) && std::isfinite(region.semi_minor) &&
         std::isfinite(region.angle) && region.semi_major > 0 && region.semi_minor > 0;
}

/// The direction `angle` [degree] in [0, 360), after rounding to the digits written.
double wrapped(double angle) {
  const double rest = std::fmod(std::round(angle * 1e6), 360e6);
  return (rest < 0 ? rest + 360e6 : rest) / 1e6 + 0.0;  // no negative zero
}

std::string with(std::string text, std::string_view bad, char instead) {
  for (char& c : text) {
    if (bad.find(c) != std::string_view::npos) c = instead;
  }
  return text;
}

// ---------------------------------------------------------------------------------- DS9

std::string ds9_text(const Region& region) {
  if (region.text.empty()) return "";
  return fmt::format(" text={{{}}}",
                     with(with(detail::clean_text(region.text), "{", '('), "}", ')'));
}

std::string ds9_line(const Region& region, bool sky) {
  const std::string place = sky ? fmt::format("{:.9f},{:.9f}", region.x, region.y)
                                : fmt::format("{:.6f},{:.6f}", region.x + 1, region.y + 1);
  if (!has_shape(region))
    return fmt::format("point({}) # point=cross{}\n", place, ds9_text(region));
  const char* unit = sky ? "\"" : "";
  // On the sky DS9 counts angles from the direction that is to the right where east is left: a
  // quarter turn before north.
  const double angle = wrapped(sky ? region.angle + 90.0 : region.angle);
  const std::string text = ds9_text(region);
  return fmt::format("ellipse({0},{1:.6f}{3},{2:.6f}{3},{4:.6f}){5}{6}\n", place, region.semi_major,
                     region.semi_minor, unit, angle, text.empty() ? "" : " #", text);
}

// ---------------------------------------------------------------------------------- CRTF

std::string crtf_label(const Region& region) {
  if (region.text.empty()) return "";
  return fmt::format(", label=\"{}\"", with(detail::clean_text(region.text), ",[]='\"", '_'));
}

std::string crtf_line(const Region& region, bool sky) {
  const std::string place = sky ? fmt::format("[{:.9f}deg, {:.9f}deg]", region.x, region.y)
                                : fmt::format("[{:.6f}pix, {:.6f}pix]", region.x, region.y);
  if (!has_shape(region)) return fmt::format("ann symbol[{}, +]{}\n", place, crtf_label(region));
  const char* unit = sky ? "arcsec" : "pix";
  const double angle = wrapped(sky ? region.angle : region.angle - 90.0);
  return fmt::format("ellipse[{0}, [{1:.6f}{3}, {2:.6f}{3}], {4:.6f}deg]{5}\n", place,
                     region.semi_major, region.semi_minor, unit, angle, crtf_label(region));
}

// ---------------------------------------------------------------------------------- both

void add_comments(detail::TextFile& file, const std::vector<Region>& regions,
                  const Provenance& provenance) {
  for (const auto& entry : detail::provenance_entries(provenance)) {
    file.add(detail::regions_line(entry));
  }
  const auto left_out = regions.size() - static_cast<std::size_t>(std::count_if(
                                             regions.begin(), regions.end(), has_place));
  if (left_out > 0) file.add(fmt::format("# left out, without a position: {}\n", left_out));
}

}  // namespace

std::string detail::regions_line(const ProvenanceEntry& entry) {
  // Some readers of the DS9 format end a comment at ';'.
  return fmt::format("# {}: {}\n", entry.name, with(entry.value, ";", ','));
}

std::optional<RegionFormat> region_format_of(std::string_view path) {
  const std::string upper = detail::upper_case(path);
  if (upper.ends_with(".REG")) return RegionFormat::ds9;
  if (upper.ends_with(".CRTF")) return RegionFormat::crtf;
  return std::nullopt;
}

void write_regions(const std::string& path, RegionFormat format, const std::vector<Region>& regions,
                   std::optional<SkyFrame> frame, const Provenance& provenance) {
  const bool ds9 = format == RegionFormat::ds9;
  const bool sky = frame.has_value();
  detail::TextFile file(path);
  file.add(ds9 ? "# Region file format: DS9 version 4.1\n"
               : "#CRTFv0 CASA Region Text Format version 0\n");
  add_comments(file, regions, provenance);
  if (ds9) {
    const char* name = sky ? k_ds9_frames[static_cast<std::size_t>(*frame)] : "image";
    file.add(fmt::format("global color=green width=1\n{}\n", name));
  } else if (sky) {
    file.add(fmt::format("global coord={}, color=green\n",
                         k_crtf_frames[static_cast<std::size_t>(*frame)]));
  } else {
    file.add("global color=green\n");
  }
  for (const Region& region : regions) {
    if (has_place(region)) file.add(ds9 ? ds9_line(region, sky) : crtf_line(region, sky));
  }
  file.close();
}

}  // namespace kastor::io

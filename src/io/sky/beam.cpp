// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/beam.hpp>
#include <numbers>
#include <utility>

#include "io/fits/card_values.hpp"
#include "io/fits/wcs_header.hpp"
#include "io/sky/raw_beam.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::RawBeam;

constexpr double k_deg_per_arcsec = 1.0 / 3600.0;  // [deg]

bool is_size(double value) { return value > 0 && std::isfinite(value); }

double half_turn(double degrees) {
  const double angle = std::fmod(degrees, 180.0);
  const double positive = angle < 0 ? angle + 180.0 : angle;
  return positive < 180.0 ? positive : 0.0;  // after rounding, from a tiny negative angle
}

std::optional<RawBeam> of_keywords(const std::vector<std::string>& cards, std::string_view major,
                                   std::string_view minor, std::string_view angle) {
  const auto text = detail::card_text(cards, major);
  if (!text) return std::nullopt;
  const auto number = [&](std::string_view keyword) -> std::optional<double> {
    const auto value = detail::card_text(cards, keyword);
    if (!value) return std::nullopt;
    return detail::leading_number(*value).value_or(std::nan(""));
  };
  RawBeam raw;
  raw.major = number(major);
  raw.minor = number(minor);
  raw.angle = number(angle);
  for (const auto& [keyword, value] : {std::pair(major, raw.major), std::pair(minor, raw.minor)}) {
    if (!value || !std::isnan(*value) || !raw.found.empty()) continue;
    raw.found = detail::found_in(
        fmt::format("{:<8}= {}", keyword, detail::card_text(cards, keyword).value_or("")));
  }
  return raw;
}

/// The number after `mark` in `line`, searched from `from` on; moves `from` to the number.
std::optional<double> number_behind(std::string_view line, std::string_view mark,
                                    std::size_t& from) {
  const std::size_t at = line.find(mark, from);
  if (at == std::string_view::npos) return std::nullopt;
  const auto value = detail::leading_number(line.substr(at + mark.size()));
  if (value) from = at + mark.size();
  return value;
}

struct Phrase {
  std::string_view start;  // in upper case, as the line is
  std::string_view major, minor, angle;
  double unit;  // [deg]
  bool names_unit;
};

// AIPS tasks, CASA's imager::clean, Miriad's RESTOR; the last two name their unit.
constexpr Phrase k_phrases[] = {
    {"CLEAN BMAJ", "BMAJ=", "BMIN=", "BPA=", 1.0, false},
    {"CONVL BMAJ", "BMAJ=", "BMIN=", "BPA=", k_deg_per_arcsec, false},
    {"FITTED BEAM USED IN RESTORATION", "RESTORATION:", " BY ", " AT PA ", k_deg_per_arcsec, true},
    {"RESTOR: BEAM =", "BEAM =", " X ", "PA =", k_deg_per_arcsec, true},
};

std::optional<RawBeam> of_history(const std::vector<std::string>& cards) {
  std::optional<RawBeam> last;
  for (const std::string& written : detail::history_lines(cards)) {
    const std::string line = detail::upper_case(written);
    for (const Phrase& phrase : k_phrases) {
      std::size_t at = line.find(phrase.start);
      if (at == std::string::npos) continue;
      if (phrase.names_unit && line.find("ARCSEC", at) == std::string::npos) continue;
      RawBeam raw;
      raw.major = number_behind(line, phrase.major, at);
      raw.minor = number_behind(line, phrase.minor, at);
      raw.angle = number_behind(line, phrase.angle, at);
      if (!raw.major || !raw.minor) continue;
      *raw.major *= phrase.unit;
      *raw.minor *= phrase.unit;
      last = raw;
    }
  }
  return last;
}

}  // namespace

std::optional<Beam> detail::usable_beam(const RawBeam& raw, const std::string& where,
                                        std::vector<std::string>& notes) {
  const double major = raw.major.value_or(std::nan(""));
  const double minor = raw.minor.value_or(major);
  if (!raw.found.empty()) {
    notes.push_back(
        fmt::format("the beam of {} is not used: {}; expected two widths > 0", where, raw.found));
    return std::nullopt;
  }
  if (!is_size(major) || !is_size(minor)) {
    notes.push_back(
        fmt::format("the beam of {} is {:.6g} x {:.6g} deg and not used; expected two widths > 0",
                    where, major, minor));
    return std::nullopt;
  }
  if (!raw.minor) {
    notes.push_back(
        fmt::format("the beam of {} has no minor axis; it is taken as circular", where));
  }
  const bool has_angle = raw.angle && std::isfinite(*raw.angle);
  if (!has_angle && major != minor) {
    notes.push_back(
        fmt::format("the beam of {} has no position angle; it is taken as 0 deg", where));
  }
  const double angle = has_angle ? *raw.angle : 0.0;
  if (minor > major) {
    notes.push_back(
        fmt::format("the beam of {} has a minor axis longer than the major axis; the axes are "
                    "exchanged and the position angle is rotated by 90 deg",
                    where));
    return Beam{minor, major, half_turn(angle + 90.0)};
  }
  return Beam{major, minor, half_turn(angle)};
}

bool detail::has_many_beams(const std::vector<std::string>& header_cards) {
  const auto many = card_text(header_cards, "CASAMBM");
  return many && many->find('T') < many->find('/');
}

BeamReading read_beam(const std::vector<std::string>& header_cards) {
  BeamReading reading;
  if (detail::has_many_beams(header_cards)) {
    reading.notes.emplace_back(
        "the header (CASAMBM) says that each plane has its own beam in a table BEAMS; no beam of "
        "the header is used");
    return reading;
  }
  const struct {
    const char* major;
    const char* minor;
    const char* angle;
  } keywords[] = {{"BMAJ", "BMIN", "BPA"}, {"CLEANBMJ", "CLEANBMN", "CLEANBPA"}};
  for (const auto& each : keywords) {
    const auto raw = of_keywords(header_cards, each.major, each.minor, each.angle);
    if (!raw) continue;
    reading.beam = detail::usable_beam(
        *raw, fmt::format("the header ({}, {})", each.major, each.minor), reading.notes);
    if (!reading.beam) continue;
    reading.origin = BeamOrigin::header;
    return reading;
  }
  if (const auto raw = of_history(header_cards)) {
    reading.beam = detail::usable_beam(*raw, "the header's HISTORY", reading.notes);
    if (reading.beam) reading.origin = BeamOrigin::history;
  }
  return reading;
}

BeamReading parse_beam(std::string_view text) {
  const auto refuse = [&] {
    throw Error(
        fmt::format("the beam is '{}'; expected BMAJ,BMIN or BMAJ,BMIN,BPA [arcsec, "
                    "arcsec, deg] with BMAJ >= BMIN > 0",
                    detail::one_line(text)));
  };
  std::vector<double> numbers;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const auto value = detail::whole_number(word);
    if (!value || !std::isfinite(*value)) refuse();
    numbers.push_back(*value);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (numbers.size() < 2 || numbers.size() > 3) refuse();
  if (!is_size(numbers[1]) || !(numbers[0] >= numbers[1])) refuse();
  const double angle = numbers.size() == 3 ? numbers[2] : 0.0;
  BeamReading reading;
  reading.beam =
      Beam{numbers[0] * k_deg_per_arcsec, numbers[1] * k_deg_per_arcsec, half_turn(angle)};
  reading.origin = BeamOrigin::user;
  if (numbers.size() == 2 && numbers[0] != numbers[1]) {
    reading.notes.emplace_back("the beam given has no position angle; it is taken as 0 deg");
  }
  return reading;
}

double beam_solid_angle(const Beam& beam) {
  return std::numbers::pi / (4.0 * std::numbers::ln2) * (beam.major_deg * 3600.0) *
         (beam.minor_deg * 3600.0);
}

}  // namespace kastor::io

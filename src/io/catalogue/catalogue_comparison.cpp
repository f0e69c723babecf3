// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/catalogue_comparison.hpp>
#include <kastor/io/cross_match.hpp>
#include <utility>

#include "io/text.hpp"

namespace kastor::io {
namespace {

using Q = SourceQuantity;
using Member = double ListedSource::*;

constexpr double k_standard_arcsec = 5;
constexpr double k_standard_pixels = 3;
// Bins of a catalogue; more of them add no information.
constexpr int k_most_bins = 24;

Member member_of(Q quantity) {
  switch (quantity) {
    case Q::flux_peak:
      return &ListedSource::flux_peak;
    case Q::flux_int:
      return &ListedSource::flux_int;
    case Q::flux_sum:
      return &ListedSource::flux_sum;
    default:
      return &ListedSource::snr;
  }
}

std::string name_of(const SourceList& list) { return detail::one_line(list.path); }

std::string positions_text(const SourceList& list) {
  return fmt::format("{} ({})", name_of(list), list.has_sky() ? "on the sky" : "in pixels");
}

/// The precession from B1950 to J2000 is most of a degree.
void require_one_equinox(const SourceList& first, const SourceList& second) {
  const bool is_old = first.frame == SkyFrame::fk4;
  if (is_old == (second.frame == SkyFrame::fk4)) return;
  const auto& old = is_old ? first : second;
  const auto& other = is_old ? second : first;
  throw Error(
      fmt::format("{}: the positions {} and {} are of B1950 (FK4), those of {} are not; expected "
                  "both in one frame, or positions in pixels to match within --pixels",
                  name_of(old), detail::one_line(old.column(Q::ra)),
                  detail::one_line(old.column(Q::dec)), name_of(other)));
}

MatchFrame frame_for(const SourceList& first, const SourceList& second,
                     const ComparisonParams& params) {
  if (!params.frame) {
    if (first.has_sky() && second.has_sky()) {
      require_one_equinox(first, second);
      return MatchFrame::sky;
    }
    if (first.has_pixels() && second.has_pixels()) return MatchFrame::pixels;
    throw Error(
        fmt::format("{} and {}: the positions are of two kinds; expected both on the sky, "
                    "or both in pixels",
                    positions_text(first), positions_text(second)));
  }
  const bool sky = *params.frame == MatchFrame::sky;
  for (const auto* list : {&first, &second}) {
    if (sky ? !list->has_sky() : !list->has_pixels()) {
      throw Error(
          fmt::format("{}: there are no positions {}; expected some to match within a radius in {}",
                      name_of(*list), sky ? "on the sky" : "in pixels", sky ? "arcsec" : "pixels"));
    }
  }
  if (sky) require_one_equinox(first, second);
  return *params.frame;
}

void choose_radius(const SourceList& first, const SourceList& second,
                   const ComparisonParams& params, Comparison& result) {
  const bool sky = result.frame == MatchFrame::sky;
  const auto size = [sky](const SourceList& list) {
    return sky ? list.median_size_arcsec : list.median_size_pixels;
  };
  if (params.radius) {
    KASTOR_EXPECTS("kastor::io::compare_catalogues", *params.radius > 0,
                   fmt::format("the radius is {}; expected more than 0", *params.radius));
    result.radius = *params.radius;
    result.radius_from = RadiusFrom::given;
  } else if (std::isfinite(size(first))) {
    result.radius = size(first) / 2;
    result.radius_from = RadiusFrom::sizes_of_first;
  } else if (std::isfinite(size(second))) {
    result.radius = size(second) / 2;
    result.radius_from = RadiusFrom::sizes_of_second;
  } else {
    result.radius = sky ? k_standard_arcsec : k_standard_pixels;
    result.radius_from = RadiusFrom::standard;
  }
}

/// The first kind of flux that the list has; none if it has none.
std::optional<Q> flux_of(const SourceList& list) {
  for (const Q quantity : {Q::flux_peak, Q::flux_int, Q::flux_sum}) {
    if (!list.column(quantity).empty()) return quantity;
  }
  return std::nullopt;
}

/// The sources of one catalogue that take part.
struct Side {
  std::vector<std::size_t> indices;  // into the sources
  std::vector<MatchPoint> points;    // positions of these
};

Side select(const SourceList& list, MatchFrame frame, const Selection& selection,
            ComparedSide& counts) {
  std::optional<Member> flux;
  if (selection.min_flux) {
    const auto quantity = flux_of(list);
    if (!quantity) {
      throw Error(name_of(list) + ": there is no flux column; expected one to select by flux");
    }
    flux = member_of(*quantity);
  }
  if (selection.min_snr && !list.has_snr()) {
    throw Error(name_of(list) +
                ": there is no S/N column and no noise column; expected one to select by S/N");
  }
  Side side;
  counts.rows = static_cast<std::int64_t>(list.sources.size());
  for (std::size_t i = 0; i < list.sources.size(); ++i) {
    const auto& source = list.sources[i];
    const bool sky = frame == MatchFrame::sky;
    const bool placed = sky ? std::isfinite(source.ra) && std::isfinite(source.dec)
                            : std::isfinite(source.x) && std::isfinite(source.y);
    if (!placed) {
      ++counts.without_position;
      continue;
    }
    if (flux && !(source.*(*flux) >= *selection.min_flux)) continue;
    if (selection.min_snr && !(source.snr >= *selection.min_snr)) continue;
    side.indices.push_back(i);
    side.points.push_back(sky ? unit_vector(source.ra, source.dec)
                              : MatchPoint{source.x, source.y, 0});
  }
  counts.selected = static_cast<std::int64_t>(side.indices.size());
  return side;
}

double dot(const MatchPoint& a, const MatchPoint& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Sets the offsets of `b` seen from `a`: the separation times the direction at `a`.
void set_sky_offsets(const ListedSource& from, const MatchPoint& a, const MatchPoint& b,
                     Match& match) {
  constexpr double degree = 0.017453292519943295769;
  const double sin_ra = std::sin(from.ra * degree);
  const double cos_ra = std::cos(from.ra * degree);
  const double sin_dec = std::sin(from.dec * degree);
  const double cos_dec = std::cos(from.dec * degree);
  const MatchPoint difference{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double east = dot(difference, {-sin_ra, cos_ra, 0});
  const double north = dot(difference, {-sin_dec * cos_ra, -sin_dec * sin_ra, cos_dec});
  const double length = std::sqrt(east * east + north * north);
  match.separation = arcsec_of_chord(match.separation);
  match.d_first = length > 0 ? match.separation * (east / length) : 0;
  match.d_second = length > 0 ? match.separation * (north / length) : 0;
}

std::vector<Match> find_matches(const SourceList& first, const Side& left, const Side& right,
                                const Comparison& result) {
  const bool sky = result.frame == MatchFrame::sky;
  const double radius = sky ? chord_of_arcsec(result.radius) : result.radius;
  std::vector<Match> matches;
  for (const auto& pair : cross_match(left.points, right.points, radius)) {
    const auto& a = left.points[pair.first];
    const auto& b = right.points[pair.second];
    Match match{left.indices[pair.first], right.indices[pair.second], pair.distance, b[0] - a[0],
                b[1] - a[1]};
    if (sky) set_sky_offsets(first.sources[match.first], a, b, match);
    matches.push_back(match);
  }
  return matches;
}

/// The step-th limit of a bin: 1, 2 or 5 times a power of ten; step 0 is 1.
double bin_limit(int step) {
  constexpr std::array<double, 3> leading = {1, 2, 5};
  const int decade = step >= 0 ? step / 3 : -((2 - step) / 3);
  const double first = leading[static_cast<std::size_t>(step - 3 * decade)];
  // Quotients of integers, so that 0.02 is the double that is read from "0.02".
  const double power = std::pow(10.0, std::abs(decade));
  return decade >= 0 ? first * power : first / power;
}

/// The step of the largest limit that is <= `value`, which is > 0.
int step_of(double value) {
  int step = static_cast<int>(std::floor(std::log10(value))) * 3 - 1;
  while (bin_limit(step + 1) <= value) ++step;
  while (bin_limit(step) > value) --step;
  return step;
}

void fill_bins(const SourceList& list, const Side& side, const std::vector<bool>& matched,
               ComparedSide& result) {
  result.binned_by = list.has_snr() ? std::optional(Q::snr) : flux_of(list);
  if (!result.binned_by) return;
  const auto member = member_of(*result.binned_by);
  const auto usable = [](double value) {
    return std::isfinite(value) && value >= 1e-300 && value <= 1e300;
  };
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const auto i : side.indices) {
    const double value = list.sources[i].*member;
    if (!usable(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(high > 0)) return;
  const int last = step_of(high);
  const int first = std::max(step_of(low), last - k_most_bins + 1);
  for (int step = first; step <= last; ++step)
    result.bins.push_back({bin_limit(step), bin_limit(step + 1)});
  if (step_of(low) < first) result.bins.front().low = 0;  // the faint tail in one bin
  for (const auto i : side.indices) {
    const double value = list.sources[i].*member;
    if (!usable(value)) continue;
    auto& bin = result.bins[static_cast<std::size_t>(std::max(step_of(value) - first, 0))];
    ++bin.sources;
    if (matched[i]) ++bin.matched;
  }
}

void sort_by_brightness(const SourceList& list, std::vector<std::size_t>& indices) {
  const auto quantity = flux_of(list).value_or(Q::snr);
  const auto member = member_of(quantity);
  const auto brightness = [&](std::size_t i) {
    const double value = list.sources[i].*member;
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return brightness(a) > brightness(b); });
}

void sum_up(const SourceList& list, const Side& side, const std::vector<bool>& matched,
            std::size_t matches, ComparedSide& result) {
  if (!side.indices.empty())
    result.matched_share = static_cast<double>(matches) / static_cast<double>(side.indices.size());
  for (const auto i : side.indices) {
    if (!matched[i]) result.unmatched.push_back(i);
  }
  sort_by_brightness(list, result.unmatched);
  fill_bins(list, side, matched, result);
}

FluxRatio ratio_of(const SourceList& first, const SourceList& second,
                   const std::vector<Match>& matches, Q quantity) {
  FluxRatio result{quantity, {}, ""};
  const bool has_first = !first.column(quantity).empty();
  const bool has_second = !second.column(quantity).empty();
  if (!has_first || !has_second) {
    result.trouble = has_second  ? "the reference has none"
                     : has_first ? "the tested catalogue has none"
                                 : "neither catalogue has one";
    return result;
  }
  const auto& left = first.unit(quantity);
  const auto& right = second.unit(quantity);
  // A flux without a unit is assumed to have the unit of the other catalogue.
  if (!left.empty() && !right.empty() && left != right) {
    result.trouble =
        fmt::format("the units are '{}' and '{}'", detail::one_line(left), detail::one_line(right));
    return result;
  }
  const auto member = member_of(quantity);
  std::vector<double> ratios;
  ratios.reserve(matches.size());
  for (const auto& match : matches)
    ratios.push_back(second.sources[match.second].*member / first.sources[match.first].*member);
  result.ratio = robust_spread(std::move(ratios));
  if (result.ratio.count == 0) result.trouble = "no pair has both fluxes";
  return result;
}

}  // namespace

Comparison compare_catalogues(const SourceList& first, const SourceList& second,
                              const ComparisonParams& params) {
  Comparison result;
  result.frame = frame_for(first, second, params);
  choose_radius(first, second, params, result);
  const Side left = select(first, result.frame, params.select[0], result.sides[0]);
  const Side right = select(second, result.frame, params.select[1], result.sides[1]);
  result.matches = find_matches(first, left, right, result);

  std::vector<bool> in_first(first.sources.size());
  std::vector<bool> in_second(second.sources.size());
  std::vector<double> d_first;
  std::vector<double> d_second;
  std::vector<double> separation;
  for (const auto& match : result.matches) {
    in_first[match.first] = in_second[match.second] = true;
    d_first.push_back(match.d_first);
    d_second.push_back(match.d_second);
    separation.push_back(match.separation);
  }
  sum_up(first, left, in_first, result.matches.size(), result.sides[0]);
  sum_up(second, right, in_second, result.matches.size(), result.sides[1]);
  result.d_first = robust_spread(std::move(d_first));
  result.d_second = robust_spread(std::move(d_second));
  result.separation = robust_spread(std::move(separation));
  result.flux_ratios = {ratio_of(first, second, result.matches, Q::flux_peak),
                        ratio_of(first, second, result.matches, Q::flux_int),
                        ratio_of(first, second, result.matches, Q::flux_sum)};
  return result;
}

Table matches_table(const SourceList& first, const SourceList& second,
                    const Comparison& comparison) {
  const bool sky = comparison.frame == MatchFrame::sky;
  const std::array<const SourceList*, 2> lists = {&first, &second};
  Table table{"matches", "Matched pairs of sources of two catalogues", {}};
  const auto source = [&](std::size_t side, const Match& match) -> const ListedSource& {
    return lists[side]->sources[side == 0 ? match.first : match.second];
  };
  const auto add = [&](std::string name, std::string unit, std::string description, auto&& value) {
    using Value = std::decay_t<decltype(value(comparison.matches.front()))>;
    std::vector<Value> values;
    values.reserve(comparison.matches.size());
    for (const auto& match : comparison.matches) values.push_back(value(match));
    table.columns.push_back({std::move(name), std::move(unit), "", std::move(description),
                             TableColumn::Values(std::move(values))});
  };
  const auto add_numbers = [&](const std::string& name, std::string unit,
                               const std::string& description, std::size_t side, Member member) {
    add(fmt::format("{}{}", name, side + 1), std::move(unit),
        fmt::format("{} in catalogue {}", description, side + 1),
        [&, side, member](const Match& match) { return source(side, match).*member; });
  };

  for (std::size_t side = 0; side < 2; ++side) {
    add(fmt::format("row{}", side + 1), "", fmt::format("Row in catalogue {}, from 0", side + 1),
        [&, side](const Match& match) { return source(side, match).row; });
    if (lists[side]->column(Q::id).empty()) continue;
    add(fmt::format("id{}", side + 1), "", fmt::format("Name in catalogue {}", side + 1),
        [&, side](const Match& match) { return source(side, match).id; });
  }
  for (std::size_t side = 0; side < 2; ++side) {
    add_numbers(sky ? "ra" : "x", sky ? "deg" : "pixel", sky ? "Right ascension" : "Position x",
                side, sky ? &ListedSource::ra : &ListedSource::x);
    add_numbers(sky ? "dec" : "y", sky ? "deg" : "pixel", sky ? "Declination" : "Position y", side,
                sky ? &ListedSource::dec : &ListedSource::y);
  }
  const std::string unit = sky ? "arcsec" : "pixel";
  add("separation", unit, "Separation of the pair",
      [](const Match& match) { return match.separation; });
  add(sky ? "d_ra" : "d_x", unit,
      sky ? "Offset to the east, 2 minus 1 (RA cos Dec)" : "Offset in x, 2 minus 1",
      [](const Match& match) { return match.d_first; });
  add(sky ? "d_dec" : "d_y", unit,
      sky ? "Offset to the north, 2 minus 1" : "Offset in y, 2 minus 1",
      [](const Match& match) { return match.d_second; });
  for (const auto& [quantity, text] :
       {std::pair(Q::flux_peak, "Peak flux"), std::pair(Q::flux_int, "Integrated flux"),
        std::pair(Q::flux_sum, "Sum of pixels"), std::pair(Q::snr, "Peak signal to noise")}) {
    for (std::size_t side = 0; side < 2; ++side) {
      const auto& list = *lists[side];
      const bool present = quantity == Q::snr ? list.has_snr() : !list.column(quantity).empty();
      if (!present) continue;
      add_numbers(io::name_of(quantity), list.unit(quantity), text, side, member_of(quantity));
    }
  }
  return table;
}

}  // namespace kastor::io

// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/position_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <kastor/error.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "io/catalogue/source_units.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

struct NamePair {
  std::string_view first;
  std::string_view second;
  int origin = 0;
};

// In upper case. Of each list, the first pair that exists and fits is used.
constexpr std::array k_equatorial_pairs = {
    NamePair{"RA_DEG_CONT", "DEC_DEG_CONT"},  // Selavy, Kastor
    NamePair{"RA_DEG", "DEC_DEG"},
    NamePair{"RADEG", "DECDEG"},
    NamePair{"RADEG", "DEDEG"},
    NamePair{"RA_D", "DEC_D"},         // SIMBAD, beside text
    NamePair{"_RAJ2000", "_DEJ2000"},  // VizieR, computed from the columns of the table
    NamePair{"_RA.ICRS", "_DE.ICRS"},  // VizieR
    NamePair{"_RA_ICRS", "_DE_ICRS"},
    NamePair{"RA", "DEC"},                   // Aegean, PyBDSF, PySE, Gaia, SIMBAD
    NamePair{"ALPHA_J2000", "DELTA_J2000"},  // SExtractor
    NamePair{"ALPHAWIN_J2000", "DELTAWIN_J2000"},
    NamePair{"ALPHAPEAK_J2000", "DELTAPEAK_J2000"},
    NamePair{"ALPHA_SKY", "DELTA_SKY"},
    NamePair{"ALPHAWIN_SKY", "DELTAWIN_SKY"},
    NamePair{"SKY_CENTROID.RA", "SKY_CENTROID.DEC"},  // photutils, as ECSV spells it
    NamePair{"RAJ2000", "DEJ2000"},                   // VizieR
    NamePair{"RAJ2000", "DECJ2000"},
    NamePair{"RA_ICRS", "DE_ICRS"},
    NamePair{"RA_ICRS", "DEC_ICRS"},
    NamePair{"RA_J2000", "DEC_J2000"},
    NamePair{"_RA", "_DE"},  // VizieR
};
constexpr std::array k_galactic_pairs = {
    NamePair{"GLON", "GLAT"},  // VizieR
    NamePair{"_GLON", "_GLAT"},
    NamePair{"GLON_DEG_CONT", "GLAT_DEG_CONT"},  // Kastor
    NamePair{"GAL_LON", "GAL_LAT"},
    NamePair{"LII", "BII"},
    NamePair{"L", "B"},
};
constexpr std::array k_b1950_pairs = {
    NamePair{"RAB1950", "DEB1950"},  // VizieR
    NamePair{"_RAB1950", "_DEB1950"},
    NamePair{"ALPHA_B1950", "DELTA_B1950"},  // SExtractor
    NamePair{"ALPHAWIN_B1950", "DELTAWIN_B1950"},
    NamePair{"RA_B1950", "DEC_B1950"},
    NamePair{"RA1950", "DE1950"},
    NamePair{"RA1950", "DEC1950"},
    NamePair{"RA_1950", "DEC_1950"},
};
constexpr std::array k_pixel_pairs = {
    NamePair{"X_CEN", "Y_CEN"},            // Kastor, Selavy
    NamePair{"X_CENTROID", "Y_CENTROID"},  // photutils 2 and 3
    NamePair{"XCENTROID", "YCENTROID"},
    NamePair{"XWIN_IMAGE", "YWIN_IMAGE", 1},  // SExtractor
    NamePair{"X_IMAGE", "Y_IMAGE", 1},
    NamePair{"XPEAK_IMAGE", "YPEAK_IMAGE", 1},
    NamePair{"XPOSN", "YPOSN"},  // PyBDSF
    NamePair{"X", "Y"},          // kastor simulate sky, SEP
};

enum class Fit { numbers, texts, none };

bool is_text(const TableColumn& column) {
  return std::holds_alternative<std::vector<std::string>>(column.values);
}

/// Whether the two columns can be angles, and how they are written.
Fit fit_of(const TableColumn& first, const TableColumn& second) {
  if (are_texts(first, second)) return Fit::texts;
  if (is_text(first) || is_text(second)) return Fit::none;
  const bool good = degrees_per(first.unit) && degrees_per(second.unit) && !is_hours(second.unit);
  return good ? Fit::numbers : Fit::none;
}

/// Why the names of a pair do not tell its columns; empty if they do.
std::string ambiguity_of(const ColumnFinder& finder, const NamePair& pair) {
  for (const auto name : {pair.first, pair.second}) {
    if (!finder.is_ambiguous(name)) continue;
    return fmt::format(
        "the column {} occurs more than once; expected one of this name, or columns named by the "
        "user (as in ra=RA_1,dec=DEC_1)",
        one_line(finder.at(*finder.find(name)).name));
  }
  return "";
}

/// The best of the pairs that exist; one that does not fit if there is no other.
std::optional<PositionColumns> best_of(const ColumnFinder& finder,
                                       std::span<const NamePair> pairs) {
  std::optional<PositionColumns> best;
  Fit best_fit = Fit::none;
  for (const auto& pair : pairs) {
    const auto first = finder.find(pair.first);
    const auto second = finder.find(pair.second);
    if (!first || !second) continue;
    const Fit fit = fit_of(finder.at(*first), finder.at(*second));
    if (best && fit >= best_fit) continue;
    if (const auto why = ambiguity_of(finder, pair); !why.empty()) throw Error(why);
    best = PositionColumns{*first, *second, fit == Fit::texts, pair.origin, std::nullopt};
    best_fit = fit;
  }
  return best;
}

bool is_main(const TableColumn& column, std::string_view ucd, std::string_view old_ucd) {
  const auto upper = upper_case(column.ucd);
  return upper == old_ucd || (upper.starts_with(ucd) && upper.ends_with(";META.MAIN"));
}

/// The columns of the UCDs pos.eq.ra;meta.main and pos.eq.dec;meta.main, if there is one of each.
std::optional<PositionColumns> find_by_ucd(const ColumnFinder& finder) {
  std::vector<std::size_t> firsts;
  std::vector<std::size_t> seconds;
  for (std::size_t i = 0; i < finder.columns().size(); ++i) {
    if (is_main(finder.at(i), "POS.EQ.RA", "POS_EQ_RA_MAIN")) firsts.push_back(i);
    if (is_main(finder.at(i), "POS.EQ.DEC", "POS_EQ_DEC_MAIN")) seconds.push_back(i);
  }
  if (firsts.size() != 1 || seconds.size() != 1) return std::nullopt;
  const auto& first = finder.at(firsts[0]);
  const auto& second = finder.at(seconds[0]);
  return PositionColumns{firsts[0], seconds[0], are_texts(first, second), 0, std::nullopt};
}

/// Columns such as place.ra and place.dec, in which astropy stores a column of positions, if there
/// is only one such pair.
std::optional<PositionColumns> find_parts(const ColumnFinder& finder) {
  std::optional<PositionColumns> found;
  for (const auto& [first, second] : {std::pair(".RA", ".DEC"), std::pair(".L", ".B")}) {
    for (std::size_t i = 0; i < finder.columns().size(); ++i) {
      const auto upper = upper_case(finder.at(i).name);
      if (!upper.ends_with(first)) continue;
      const auto stem = upper.substr(0, upper.rfind('.'));
      const auto partner = finder.find(stem + second);
      if (!partner) continue;
      if (found || finder.is_ambiguous(upper)) return std::nullopt;
      found = PositionColumns{i, *partner, are_texts(finder.at(i), finder.at(*partner)), 0,
                              std::nullopt};
    }
  }
  return found;
}

bool is_in(std::span<const NamePair> pairs, std::string_view upper) {
  return std::any_of(pairs.begin(), pairs.end(), [upper](const NamePair& pair) {
    return pair.first == upper || pair.second == upper;
  });
}

}  // namespace

std::optional<PositionColumns> find_sky_columns(const ColumnFinder& finder) {
  auto found = best_of(finder, k_equatorial_pairs);
  if (!found) found = best_of(finder, k_galactic_pairs);
  if (!found) found = best_of(finder, k_b1950_pairs);
  if (!found) found = find_by_ucd(finder);
  if (!found) found = find_parts(finder);
  if (found) found->frame = frame_of_name(finder.at(found->first));
  return found;
}

std::optional<PositionColumns> find_pixel_columns(const ColumnFinder& finder,
                                                  std::string& trouble) {
  for (const auto& pair : k_pixel_pairs) {
    const auto first = finder.find(pair.first);
    const auto second = finder.find(pair.second);
    if (!first || !second) continue;
    const TableColumn* odd = nullptr;
    for (const auto index : {*second, *first}) {
      const auto& column = finder.at(index);
      if (!column.unit.empty() && !is_pixel_unit(column.unit)) odd = &column;
    }
    const auto ambiguity = ambiguity_of(finder, pair);
    if (odd == nullptr && ambiguity.empty()) {
      return PositionColumns{*first, *second, false, pair.origin, std::nullopt};
    }
    if (!trouble.empty()) continue;
    trouble = ambiguity;
    if (odd != nullptr) {
      trouble = fmt::format("the column {} has the unit '{}'; expected pixel", one_line(odd->name),
                            one_line(odd->unit));
    }
  }
  return std::nullopt;
}

std::optional<SkyFrame> frame_of_name(const TableColumn& column) {
  const auto upper = upper_case(column.name);
  if (upper.find("1950") != std::string::npos) return SkyFrame::fk4;
  if (is_in(k_galactic_pairs, upper) || upper.ends_with(".L") || upper.ends_with(".B") ||
      upper_case(column.ucd).starts_with("POS.GALACTIC"))
    return SkyFrame::galactic;
  const bool is_ecliptic = upper.starts_with("ELON") || upper.starts_with("ELAT") ||
                           upper.starts_with("ECL_") ||
                           upper_case(column.ucd).starts_with("POS.ECLIPTIC");
  if (is_ecliptic) return SkyFrame::ecliptic;
  if (upper.find("J2000") != std::string::npos) return SkyFrame::fk5;
  if (upper.find("ICRS") != std::string::npos) return SkyFrame::icrs;
  return std::nullopt;
}

bool counts_from_one(const std::string& name) {
  const auto upper = upper_case(name);
  return std::any_of(k_pixel_pairs.begin(), k_pixel_pairs.end(), [&](const NamePair& pair) {
    return pair.origin == 1 && (pair.first == upper || pair.second == upper);
  });
}

bool are_texts(const TableColumn& first, const TableColumn& second) {
  const auto is_unknown = [](const TableColumn& column) {
    return std::holds_alternative<std::vector<std::int64_t>>(column.values);
  };
  return (is_text(first) && (is_text(second) || is_unknown(second))) ||
         (is_unknown(first) && is_text(second));
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/source_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <utility>

#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

using Q = SourceQuantity;

struct Pair {
  std::string_view first;
  std::string_view second;
  int origin = 0;
};

// In upper case. The first pair that exists is used.
constexpr std::array k_sky_pairs = {
    Pair{"RA_DEG_CONT", "DEC_DEG_CONT"},  // Selavy, Kastor
    Pair{"RA", "DEC"},                    // Aegean, PyBDSF, PySE
    Pair{"RA_DEG", "DEC_DEG"},
    Pair{"ALPHA_J2000", "DELTA_J2000"},  // SExtractor
    Pair{"ALPHAWIN_J2000", "DELTAWIN_J2000"},
    Pair{"ALPHAPEAK_J2000", "DELTAPEAK_J2000"},
    Pair{"ALPHA_SKY", "DELTA_SKY"},
    Pair{"ALPHAWIN_SKY", "DELTAWIN_SKY"},
    Pair{"SKY_CENTROID.RA", "SKY_CENTROID.DEC"},  // photutils, as ECSV spells it
    Pair{"RAJ2000", "DEJ2000"},                   // VizieR
    Pair{"_RAJ2000", "_DEJ2000"},
    Pair{"RA_ICRS", "DE_ICRS"},
    Pair{"RA_ICRS", "DEC_ICRS"},
    Pair{"RA_J2000", "DEC_J2000"},
    Pair{"RADEG", "DECDEG"},
    Pair{"RADEG", "DEDEG"},
};

constexpr std::array k_pixel_pairs = {
    Pair{"X_CEN", "Y_CEN"},            // Kastor, Selavy
    Pair{"X_CENTROID", "Y_CENTROID"},  // photutils 2 and 3
    Pair{"XCENTROID", "YCENTROID"},
    Pair{"XWIN_IMAGE", "YWIN_IMAGE", 1},  // SExtractor
    Pair{"X_IMAGE", "Y_IMAGE", 1},
    Pair{"XPEAK_IMAGE", "YPEAK_IMAGE", 1},
    Pair{"XPOSN", "YPOSN"},  // PyBDSF
    Pair{"X", "Y"},          // kastor simulate sky, SEP
};

struct Name {
  Q quantity;
  std::string_view name;
  std::string_view unit = "";  // unit of a size, if the file gives none
};

// In upper case. For each quantity, the first name that exists is used.
constexpr std::array k_names = {
    Name{Q::flux_peak, "FLUX_PEAK"},  // Kastor, Selavy
    Name{Q::flux_peak, "PEAK_FLUX"},  // Aegean, PyBDSF
    Name{Q::flux_peak, "FLUX_MAX"},   // SExtractor
    Name{Q::flux_peak, "MAX_VALUE"},  // photutils
    Name{Q::flux_peak, "PEAK"},       // PySE, SEP
    Name{Q::flux_int, "FLUX_INT"},    // Kastor, Selavy
    Name{Q::flux_int, "INT_FLUX"},    // Aegean
    Name{Q::flux_int, "TOTAL_FLUX"},  // PyBDSF
    Name{Q::flux_int, "ISL_TOTAL_FLUX"},
    Name{Q::flux_sum, "FLUX_SUM"},      // Kastor
    Name{Q::flux_sum, "FLUX_ISO"},      // SExtractor
    Name{Q::flux_sum, "SEGMENT_FLUX"},  // photutils
    Name{Q::snr, "SNR_PEAK"},           // Kastor
    Name{Q::snr, "SNR"},
    Name{Q::rms, "LOCAL_RMS"},            // Aegean
    Name{Q::rms, "ISL_RMS"},              // PyBDSF
    Name{Q::rms, "RMS_IMAGE"},            // Selavy's components
    Name{Q::rms, "BACKGROUND_NOISE"},     // Selavy's islands, Kastor
    Name{Q::size, "MAJ_AXIS", "arcsec"},  // Selavy
    // Aegean; its column `a` has the same name as SExtractor's rms.
    Name{Q::size, "PSF_A", "arcsec"},
    Name{Q::size, "MAJ", "deg"},         // PyBDSF
    Name{Q::size, "FWHM_WORLD", "deg"},  // SExtractor
    Name{Q::size, "FWHM_IMAGE", "pixel"},
    Name{Q::size, "FWHM", "pixel"},  // kastor simulate sky, photutils
    Name{Q::id, "COMPONENT_NAME"},   // Selavy
    Name{Q::id, "ISLAND_NAME"},
    Name{Q::id, "COMPONENT_ID"},
    Name{Q::id, "ISLAND_ID"},
    Name{Q::id, "UUID"},       // Aegean
    Name{Q::id, "SOURCE_ID"},  // PyBDSF
    Name{Q::id, "NUMBER"},     // SExtractor
    Name{Q::id, "LABEL"},      // photutils
    Name{Q::id, "ID"},
    Name{Q::id, "NAME"},
};

class Finder {
 public:
  explicit Finder(const std::vector<TableColumn>& columns) {
    for (const auto& column : columns) m_names.push_back(upper_case(column.name));
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view upper_name) const {
    const auto found = std::find(m_names.begin(), m_names.end(), upper_name);
    if (found == m_names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - m_names.begin());
  }

  template <class Pairs>
  [[nodiscard]] const Pair* find_pair(const Pairs& pairs) const {
    const auto found = std::find_if(pairs.begin(), pairs.end(), [this](const Pair& pair) {
      return find(pair.first) && find(pair.second);
    });
    return found == pairs.end() ? nullptr : &*found;
  }

 private:
  std::vector<std::string> m_names;
};

}  // namespace

std::string names_of(const std::vector<TableColumn>& columns) {
  constexpr std::size_t most = 12;
  std::string names;
  for (std::size_t i = 0; i < columns.size() && i < most; ++i)
    names += (i == 0 ? "" : ", ") + one_line(columns[i].name);
  return names + (columns.size() > most ? ", ..." : "");
}

SourceColumns recognise_columns(const std::vector<TableColumn>& columns, const ColumnNames& named) {
  const Finder finder(columns);
  SourceColumns found;
  const auto take_pair = [&](const Pair& pair, Q first, Q second) {
    found.of(first) = finder.find(pair.first);
    found.of(second) = finder.find(pair.second);
  };
  if (const auto* pair = finder.find_pair(k_sky_pairs)) take_pair(*pair, Q::ra, Q::dec);
  if (const auto* pair = finder.find_pair(k_pixel_pairs)) {
    take_pair(*pair, Q::x, Q::y);
    found.pixel_origin = pair->origin;
  }
  for (const auto& candidate : k_names) {
    if (found.of(candidate.quantity)) continue;
    found.of(candidate.quantity) = finder.find(candidate.name);
    if (candidate.quantity == Q::size) found.size_unit = candidate.unit;
  }

  for (const auto& [quantity, name] : named.names) {
    const auto column = finder.find(upper_case(name));
    if (!column) {
      throw Error(fmt::format("there is no column '{}' for {}; expected one of {}", one_line(name),
                              name_of(quantity), names_of(columns)));
    }
    found.of(quantity) = column;
    if (quantity == Q::size) found.size_unit.clear();
    if (quantity == Q::x || quantity == Q::y) {
      const auto upper = upper_case(name);
      const bool from_one =
          std::any_of(k_pixel_pairs.begin(), k_pixel_pairs.end(), [&](const Pair& pair) {
            return pair.origin == 1 && (pair.first == upper || pair.second == upper);
          });
      found.pixel_origin = from_one ? 1 : 0;
    }
  }
  if (named.pixel_origin) found.pixel_origin = *named.pixel_origin;
  // One coordinate alone is not a position.
  for (const auto& [first, second] : {std::pair(Q::ra, Q::dec), std::pair(Q::x, Q::y)}) {
    if (found.of(first).has_value() == found.of(second).has_value()) continue;
    throw Error(fmt::format("there is {} but no {}; expected columns for both",
                            name_of(found.of(first) ? first : second),
                            name_of(found.of(first) ? second : first)));
  }
  return found;
}

ScaledUnit scaled_flux_unit(std::string_view unit) {
  std::string text;
  for (const char c : unit) {
    if (c != ' ') text += c;
  }
  const auto upper = upper_case(text);
  auto beam = upper.find("BEAM");
  while (beam != std::string::npos && beam > 0 &&
         std::string_view("/.*(").find(upper[beam - 1]) != std::string_view::npos) {
    --beam;
  }
  const auto stem = text.substr(0, beam);
  // "MJY" in a header that is all capitals may be either, so it is neither.
  const bool mega = stem == "MJy";
  auto bare = upper_case(stem);
  if (bare.starts_with("\xC2\xB5") || bare.starts_with("\xCE\xBC")) bare.replace(0, 2, "U");
  if (bare == "JY" || bare == "JANSKY") return {1, "Jy"};
  if (mega) return {1e6, "Jy"};
  if (bare == "KJY") return {1e3, "Jy"};
  if (bare == "MJY" && stem != "MJY") return {1e-3, "Jy"};
  if (bare == "UJY") return {1e-6, "Jy"};
  if (bare == "NJY") return {1e-9, "Jy"};
  return {1, stem};
}

std::optional<double> degrees_per(std::string_view unit) {
  constexpr double radian = 57.295779513082320877;
  const auto upper = upper_case(without_blanks(unit));
  for (const auto& [name, degrees] :
       {std::pair("", 1.0), std::pair("DEG", 1.0), std::pair("DEGREE", 1.0),
        std::pair("DEGREES", 1.0), std::pair("ARCMIN", 1.0 / 60), std::pair("ARCSEC", 1.0 / 3600),
        std::pair("MAS", 1.0 / 3'600'000), std::pair("RAD", radian), std::pair("RADIAN", radian),
        std::pair("HOURANGLE", 15.0)}) {
    if (upper == name) return degrees;
  }
  return std::nullopt;
}

}  // namespace kastor::io::detail

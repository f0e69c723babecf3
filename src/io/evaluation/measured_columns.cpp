// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/measured_columns.hpp"

#include <algorithm>
#include <span>

namespace kastor::io::detail {
namespace {

using M = MeasuredQuantity;
using As = MeasuredAs;

// In upper case; for each quantity the first that exists and holds a number. In older tables of
// Kastor flux_int is the sum above the threshold, and flux_int_cor the total.
constexpr std::array k_measured = {
    // SExtractor; Kastor on optical images, where flux_int takes stars for Gaussians
    MeasuredName{M::flux_int, "FLUX_AUTO", {"FLUX_AUTO_ERR", "FLUXERR_AUTO"}, As::pixel_sum},
    MeasuredName{M::flux_int, "FLUX_INT_COR", {"FLUX_INT_COR_ERR"}, As::density},
    MeasuredName{M::flux_int, "FLUX_INT", {"FLUX_INT_ERR"}, As::density, {}, {}, "FLUX_INT_COR"},
    MeasuredName{M::flux_int, "INT_FLUX", {"ERR_INT_FLUX"}, As::density, "Jy"},    // Aegean
    MeasuredName{M::flux_int, "TOTAL_FLUX", {"E_TOTAL_FLUX"}, As::density, "Jy"},  // PyBDSF
    MeasuredName{
        M::flux_int, "KRON_FLUX", {"KRON_FLUXERR", "KRON_FLUX_ERR"}, As::pixel_sum},  // photutils

    MeasuredName{M::flux_iso,
                 "FLUX_INT",
                 {"FLUX_INT_ERR"},
                 As::density,
                 {},
                 "FLUX_INT_COR"},  // Kastor before flux_iso
    MeasuredName{M::flux_iso, "FLUX_ISO", {"FLUX_ISO_ERR"}, As::density, {}, "FLUX_INT"},  // Kastor
    MeasuredName{M::flux_iso, "FLUX_ISO", {"FLUXERR_ISO"}, As::pixel_sum},  // SExtractor
    MeasuredName{M::flux_iso,
                 "SEGMENT_FLUX",
                 {"SEGMENT_FLUXERR", "SEGMENT_FLUX_ERR"},
                 As::pixel_sum},  // photutils
    MeasuredName{M::flux_iso, "ISL_TOTAL_FLUX", {"E_ISL_TOTAL_FLUX"}, As::density, "Jy"},  // PyBDSF
    MeasuredName{M::flux_iso, "FLUX", {}, As::pixel_sum, {}, "TNPIX"},                     // SEP
    MeasuredName{M::flux_iso, "FLUX_SUM", {"FLUX_SUM_ERR"}, As::pixel_sum},  // Kastor's lesson

    MeasuredName{M::flux_peak, "FLUX_PEAK", {"FLUX_PEAK_ERR"}, As::density},  // Kastor, Selavy
    MeasuredName{
        M::flux_peak, "PEAK_FLUX", {"ERR_PEAK_FLUX", "E_PEAK_FLUX"}, As::density, "Jy/beam"},
    MeasuredName{M::flux_peak, "FLUX_MAX", {}, As::pixel_value},   // SExtractor
    MeasuredName{M::flux_peak, "MAX_VALUE", {}, As::pixel_value},  // photutils
    MeasuredName{M::flux_peak, "PEAK", {}, As::pixel_value},       // SEP
};

// Kastor; PyBDSF's Gaussians; SExtractor's and SEP's variances; then errors on the sky.
constexpr std::array k_position_errors = {
    PositionErrorNames{"X_CEN_ERR", "Y_CEN_ERR", "pixel"},
    PositionErrorNames{"E_XPOSN", "E_YPOSN", "pixel"},
    PositionErrorNames{"ERRX2WIN_IMAGE", "ERRY2WIN_IMAGE", "pixel", true},
    PositionErrorNames{"ERRX2_IMAGE", "ERRY2_IMAGE", "pixel", true},
    PositionErrorNames{"ERRX2", "ERRY2", "pixel", true},
    PositionErrorNames{"RA_ERR", "DEC_ERR", "arcsec"},
    PositionErrorNames{"ERR_RA", "ERR_DEC", "deg"},
    PositionErrorNames{"E_RA", "E_DEC", "deg"},
};

struct AxisNames {
  std::string_view major, minor;
};
constexpr std::array k_axes = {
    AxisNames{"MAJ_AXIS_COR", "MIN_AXIS_COR"},
    AxisNames{"MAJ_AXIS", "MIN_AXIS"},
    AxisNames{"MAJ_AXIS_PIX", "MIN_AXIS_PIX"},
    AxisNames{"MAJ", "MIN"},
    AxisNames{"A", "B"},
    AxisNames{"A_WORLD", "B_WORLD"},
    AxisNames{"A_IMAGE", "B_IMAGE"},
    AxisNames{"SEMIMAJOR_SIGMA", "SEMIMINOR_SIGMA"},
    AxisNames{"SEMIMAJOR_AXIS", "SEMIMINOR_AXIS"},
    AxisNames{"FWHM_IMAGE", ""},
    AxisNames{"FWHM_WORLD", ""},
    AxisNames{"FWHM", "MINOR"},
};

// Of the truth, of S/N, and those that show which program wrote the table.
constexpr std::array<std::string_view, 22> k_others = {
    "SNR",       "SNR_PEAK", "RMS",       "LOCAL_RMS",  "ISL_RMS",   "BACKGROUND_NOISE",
    "RMS_IMAGE", "GROUP",    "TNPIX",     "THETA",      "ISLAND_ID", "COMPONENT_ID",
    "ISL_ID",    "E_RA",     "XCENTROID", "X_CENTROID", "FLUX_INT",  "FLUX_PEAK",
    "PEAK_FLUX", "FWHM",     "MINOR",     "TOTAL_FLUX"};

}  // namespace

std::vector<const MeasuredName*> measured_names(MeasuredQuantity quantity) {
  std::vector<const MeasuredName*> names;
  for (const auto& name : k_measured) {
    if (name.quantity == quantity) names.push_back(&name);
  }
  return names;
}

bool is_evaluated_column(std::string_view upper) {
  const auto is_it = [&](std::string_view name) { return name == upper; };
  const auto is_axis = [&](std::string_view name) {
    return !name.empty() && upper.starts_with(name) &&
           (upper.size() == name.size() || upper.substr(name.size()) == "_ERR");
  };
  return std::any_of(k_others.begin(), k_others.end(), is_it) ||
         std::any_of(k_measured.begin(), k_measured.end(),
                     [&](const MeasuredName& name) {
                       return name.name == upper || name.errors[0] == upper ||
                              name.errors[1] == upper;
                     }) ||
         std::any_of(k_position_errors.begin(), k_position_errors.end(),
                     [&](const PositionErrorNames& names) {
                       return names.first == upper || names.second == upper;
                     }) ||
         std::any_of(k_axes.begin(), k_axes.end(), [&](const AxisNames& names) {
           return is_axis(names.major) || is_axis(names.minor);
         });
}

std::span<const PositionErrorNames> position_error_names() { return k_position_errors; }

std::string_view minor_axis_of(std::string_view major) {
  const auto found = std::find_if(k_axes.begin(), k_axes.end(),
                                  [&](const AxisNames& names) { return names.major == major; });
  return found == k_axes.end() ? std::string_view{} : found->minor;
}

}  // namespace kastor::io::detail

// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/named_columns.hpp"

#include <array>

namespace kastor::io::detail {
namespace {

constexpr double k_arcsec_in_degrees = 1.0 / 3600;           // of arcsec
constexpr double k_fwhm_in_sigmas = 1 / 2.3548200450309493;  // of the FWHM of a Gaussian
constexpr double k_square_degrees = k_arcsec_in_degrees * k_arcsec_in_degrees;
constexpr double k_aegean_no_error = -1;          // of Aegean
constexpr double k_sextractor_no_magnitude = 99;  // of SExtractor

// The code of PyBDSF 1.14: gausfit.py and gaul2srl.py, output.py for the order. Ids are those of
// Kastor.
constexpr std::array k_pybdsf = {
    NamedColumn{.name = "Gaus_id", .from = "component_id"},
    NamedColumn{.name = "Source_id", .from = "source_id|island_id|id"},
    NamedColumn{.name = "Isl_id", .from = "parent_id|island_id"},
    NamedColumn{.name = "Wave_id",
                .from = "component_id",
                .recipe = Recipe::zero,
                .text = "0: found without wavelets"},
    NamedColumn{.name = "RA", .from = "ra_deg_cont"},
    NamedColumn{.name = "E_RA", .from = "ra_err", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "DEC", .from = "dec_deg_cont"},
    NamedColumn{.name = "E_DEC", .from = "dec_err", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "Total_flux", .from = "flux_int"},
    NamedColumn{.name = "E_Total_flux", .from = "flux_int_err"},
    NamedColumn{.name = "Peak_flux", .from = "flux_peak"},
    NamedColumn{.name = "E_Peak_flux", .from = "flux_peak_err"},
    NamedColumn{.name = "RA_max", .from = "ra_peak"},
    NamedColumn{.name = "DEC_max", .from = "dec_peak"},
    NamedColumn{.name = "Xposn", .from = "x_cen", .unit = "pix"},
    NamedColumn{.name = "E_Xposn", .from = "x_cen_err", .unit = "pix"},
    NamedColumn{.name = "Yposn", .from = "y_cen", .unit = "pix"},
    NamedColumn{.name = "E_Yposn", .from = "y_cen_err", .unit = "pix"},
    NamedColumn{.name = "Xposn_max", .from = "x_peak", .unit = "pix"},
    NamedColumn{.name = "Yposn_max", .from = "y_peak", .unit = "pix"},
    NamedColumn{.name = "Maj",
                .from = "maj_axis_cor|maj_axis",
                .unit = "deg",
                .scale = k_arcsec_in_degrees},
    NamedColumn{
        .name = "E_Maj", .from = "maj_axis_err", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "Min",
                .from = "min_axis_cor|min_axis",
                .unit = "deg",
                .scale = k_arcsec_in_degrees},
    NamedColumn{
        .name = "E_Min", .from = "min_axis_err", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "PA", .from = "pos_ang"},
    NamedColumn{.name = "E_PA", .from = "pos_ang_err"},
    NamedColumn{
        .name = "DC_Maj", .from = "maj_axis_deconv", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "E_DC_Maj",
                .from = "maj_axis_deconv_err",
                .unit = "deg",
                .scale = k_arcsec_in_degrees},
    NamedColumn{
        .name = "DC_Min", .from = "min_axis_deconv", .unit = "deg", .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "E_DC_Min",
                .from = "min_axis_deconv_err",
                .unit = "deg",
                .scale = k_arcsec_in_degrees},
    NamedColumn{.name = "DC_PA", .from = "pos_ang_deconv"},
    NamedColumn{.name = "E_DC_PA", .from = "pos_ang_deconv_err"},
    NamedColumn{.name = "Isl_Total_flux", .from = "flux_iso"},
    NamedColumn{.name = "E_Isl_Total_flux", .from = "flux_iso_err"},
    NamedColumn{.name = "Isl_rms", .from = "background_noise|rms_image"},
    NamedColumn{.name = "Isl_mean", .from = "mean_background"},
    NamedColumn{.name = "Resid_Isl_rms", .from = "rms_fit_gauss"},
    NamedColumn{.name = "S_Code", .from = "s_code"},
};

// AegeanTools 2.3: flags.py.
constexpr std::array k_aegean_component_bits = {
    FlagBit{8, 4},      // beam_shape: FIXED2PSF
    FlagBit{16, 16},    // from_moments: NOTFIT
    FlagBit{32, 2},     // not_converged: FITERR
    FlagBit{256, 32},   // no_sky: WCSERR
    FlagBit{4096, 64},  // forced: PRIORIZED
};
constexpr std::array k_aegean_island_bits = {FlagBit{256, 32}};

// AegeanTools 2.3: models.py (ComponentSource, IslandSource), source_finder.py for the units.
constexpr std::array k_aegean = {
    NamedColumn{.name = "island", .from = "island_id|id"},
    NamedColumn{.name = "source",
                .from = "island_id|id",
                .recipe = Recipe::rank,
                .unit = "",
                .in = InTables::components,
                .text = "Number of the component in its island, from 0"},
    NamedColumn{.name = "background", .from = "mean_background"},
    NamedColumn{.name = "local_rms", .from = "background_noise|rms_image"},
    NamedColumn{.name = "ra_str",
                .from = "ra_deg_cont",
                .recipe = Recipe::hours,
                .unit = "",
                .text = "Right ascension as hours, minutes, seconds"},
    NamedColumn{.name = "dec_str",
                .from = "dec_deg_cont",
                .recipe = Recipe::degrees,
                .unit = "",
                .text = "Declination as degrees, minutes, seconds"},
    NamedColumn{.name = "ra", .from = "ra_deg_cont"},
    NamedColumn{.name = "err_ra",
                .from = "ra_err",
                .unit = "deg",
                .scale = k_arcsec_in_degrees,
                .unknown = k_aegean_no_error,
                .in = InTables::components},
    NamedColumn{.name = "dec", .from = "dec_deg_cont"},
    NamedColumn{.name = "err_dec",
                .from = "dec_err",
                .unit = "deg",
                .scale = k_arcsec_in_degrees,
                .unknown = k_aegean_no_error,
                .in = InTables::components},
    NamedColumn{.name = "peak_flux", .from = "flux_peak"},
    NamedColumn{.name = "err_peak_flux",
                .from = "flux_peak_err",
                .unknown = k_aegean_no_error,
                .in = InTables::components},
    // That of islands is the sum of their pixels, which eta corrects.
    NamedColumn{.name = "int_flux", .from = "flux_iso|flux_int"},
    NamedColumn{
        .name = "err_int_flux", .from = "flux_iso_err|flux_int_err", .unknown = k_aegean_no_error},
    NamedColumn{.name = "eta", .from = "flux_fraction"},
    NamedColumn{.name = "x_width",
                .from = "x_min",
                .recipe = Recipe::extent,
                .unit = "pixel",
                .other = "x_max",
                .text = "Columns of the bounding box"},
    NamedColumn{.name = "y_width",
                .from = "y_min",
                .recipe = Recipe::extent,
                .unit = "pixel",
                .other = "y_max",
                .text = "Rows of the bounding box"},
    NamedColumn{.name = "pixels", .from = "n_pix", .in = InTables::islands},
    NamedColumn{.name = "area", .from = "solid_angle", .unit = "deg2", .scale = k_square_degrees},
    NamedColumn{
        .name = "beam_area", .from = "beam_area", .unit = "deg2", .scale = k_square_degrees},
    NamedColumn{.name = "a", .from = "maj_axis", .in = InTables::components},
    NamedColumn{.name = "err_a", .from = "maj_axis_err", .unknown = k_aegean_no_error},
    NamedColumn{.name = "b", .from = "min_axis", .in = InTables::components},
    NamedColumn{.name = "err_b", .from = "min_axis_err", .unknown = k_aegean_no_error},
    NamedColumn{
        .name = "pa",
        .from = "pos_ang",
        .recipe = Recipe::half_turn,
        .in = InTables::components,
        .text =
            "Position angle of the major axis, from north through east, above -90 and up to 90"},
    NamedColumn{.name = "err_pa", .from = "pos_ang_err", .unknown = k_aegean_no_error},
    NamedColumn{.name = "flags",
                .from = "flags",
                .recipe = Recipe::flags,
                .in = InTables::components,
                .bits = k_aegean_component_bits,
                .text = "Flags of Aegean, a bit mask"},
    NamedColumn{.name = "flags",
                .from = "flags",
                .recipe = Recipe::flags,
                .in = InTables::islands,
                .bits = k_aegean_island_bits,
                .text = "Flags of Aegean, a bit mask"},
    NamedColumn{.name = "residual_std", .from = "rms_fit_gauss"},
    NamedColumn{.name = "uuid", .from = "list_id"},
    NamedColumn{.name = "uuid",
                .from = "component_name|island_name",
                .recipe = Recipe::name_and_id,
                .unit = "",
                .other = "component_id|island_id",
                .text = "Name and number"},
    NamedColumn{.name = "psf_a",
                .from = "BMAJ",
                .recipe = Recipe::card,
                .unit = "arcsec",
                .scale = 3600,
                .in = InTables::components,
                .text = "Major axis of the beam, FWHM"},
    NamedColumn{.name = "psf_b",
                .from = "BMIN",
                .recipe = Recipe::card,
                .unit = "arcsec",
                .scale = 3600,
                .in = InTables::components,
                .text = "Minor axis of the beam, FWHM"},
    NamedColumn{.name = "psf_pa",
                .from = "BPA",
                .recipe = Recipe::card,
                .unit = "deg",
                .in = InTables::components,
                .text = "Position angle of the beam, from north through east"},
};

// SExtractor 2.28: the manual, "Flagging".
constexpr std::array k_sextractor_island_bits = {
    FlagBit{4096, 1},   // auto_crowded: neighbours or bad pixels bias MAG_AUTO
    FlagBit{1, 8},      // at_edge: truncated
    FlagBit{8192, 16},  // auto_at_edge: aperture data incomplete
};
constexpr std::array k_sextractor_component_bits = {FlagBit{1, 8}};
constexpr std::int64_t k_sextractor_blended = 2;

// SExtractor 2.28: param.h. Its pixels count from 1, its axes are standard deviations.
constexpr std::array k_sextractor = {
    NamedColumn{.name = "NUMBER", .from = "component_id|island_id|id"},
    NamedColumn{.name = "ID_PARENT", .from = "parent_id"},
    NamedColumn{.name = "ID_PARENT", .from = "island_id", .in = InTables::components},
    NamedColumn{.name = "FLUX_ISO", .from = "flux_sum"},
    NamedColumn{.name = "FLUXERR_ISO", .from = "flux_sum_err"},
    NamedColumn{.name = "FLUX_ISOCOR", .from = "flux_int", .in = InTables::islands},
    NamedColumn{.name = "FLUXERR_ISOCOR", .from = "flux_int_err", .in = InTables::islands},
    NamedColumn{.name = "FLUX_MODEL", .from = "flux_int", .in = InTables::components},
    NamedColumn{.name = "FLUXERR_MODEL", .from = "flux_int_err", .in = InTables::components},
    NamedColumn{.name = "FLUX_AUTO", .from = "flux_auto"},
    NamedColumn{.name = "FLUXERR_AUTO", .from = "flux_auto_err"},
    NamedColumn{.name = "MAG_AUTO", .from = "mag_auto", .unknown = k_sextractor_no_magnitude},
    NamedColumn{.name = "MAGERR_AUTO", .from = "mag_err", .unknown = k_sextractor_no_magnitude},
    NamedColumn{.name = "KRON_RADIUS", .from = "kron_radius"},
    NamedColumn{.name = "FLUX_MAX", .from = "flux_peak"},
    NamedColumn{.name = "BACKGROUND", .from = "mean_background"},
    NamedColumn{
        .name = "ISOAREA_IMAGE", .from = "n_pix", .unit = "pixel2", .in = InTables::islands},
    NamedColumn{.name = "XMIN_IMAGE", .from = "x_min", .offset = 1},
    NamedColumn{.name = "YMIN_IMAGE", .from = "y_min", .offset = 1},
    NamedColumn{.name = "XMAX_IMAGE", .from = "x_max", .offset = 1},
    NamedColumn{.name = "YMAX_IMAGE", .from = "y_max", .offset = 1},
    NamedColumn{.name = "XPEAK_IMAGE", .from = "x_peak", .offset = 1},
    NamedColumn{.name = "YPEAK_IMAGE", .from = "y_peak", .offset = 1},
    NamedColumn{.name = "X_IMAGE", .from = "x_cen", .offset = 1},
    NamedColumn{.name = "Y_IMAGE", .from = "y_cen", .offset = 1},
    NamedColumn{.name = "ALPHAPEAK_J2000", .from = "ra_peak"},
    NamedColumn{.name = "DELTAPEAK_J2000", .from = "dec_peak"},
    NamedColumn{.name = "ALPHA_J2000", .from = "ra_deg_cont"},
    NamedColumn{.name = "DELTA_J2000", .from = "dec_deg_cont"},
    NamedColumn{.name = "ERRX2_IMAGE",
                .from = "x_cen_err",
                .recipe = Recipe::square,
                .unit = "pixel2",
                .text = "Variance of X_IMAGE"},
    NamedColumn{.name = "ERRY2_IMAGE",
                .from = "y_cen_err",
                .recipe = Recipe::square,
                .unit = "pixel2",
                .text = "Variance of Y_IMAGE"},
    NamedColumn{.name = "ERRXY_IMAGE", .from = "cov_xy"},
    NamedColumn{.name = "A_IMAGE",
                .from = "maj_axis_pix",
                .scale = k_fwhm_in_sigmas,
                .text = "Major axis, standard deviation"},
    NamedColumn{.name = "B_IMAGE",
                .from = "min_axis_pix",
                .scale = k_fwhm_in_sigmas,
                .text = "Minor axis, standard deviation"},
    NamedColumn{.name = "THETA_IMAGE",
                .from = "pos_ang_pix",
                .recipe = Recipe::half_turn,
                .text = "Angle of the major axis, from x towards y, above -90 and up to 90"},
    NamedColumn{.name = "A_WORLD",
                .from = "maj_axis",
                .unit = "deg",
                .scale = k_fwhm_in_sigmas * k_arcsec_in_degrees,
                .text = "Major axis, standard deviation"},
    NamedColumn{.name = "B_WORLD",
                .from = "min_axis",
                .unit = "deg",
                .scale = k_fwhm_in_sigmas * k_arcsec_in_degrees,
                .text = "Minor axis, standard deviation"},
    NamedColumn{
        .name = "THETA_J2000",
        .from = "pos_ang",
        .recipe = Recipe::half_turn,
        .text =
            "Position angle of the major axis, from north through east, above -90 and up to 90"},
    NamedColumn{.name = "ELONGATION",
                .from = "maj_axis_pix",
                .recipe = Recipe::ratio,
                .unit = "",
                .other = "min_axis_pix",
                .text = "A_IMAGE / B_IMAGE"},
    NamedColumn{.name = "ELLIPTICITY",
                .from = "maj_axis_pix",
                .recipe = Recipe::flattening,
                .unit = "",
                .other = "min_axis_pix",
                .text = "1 - B_IMAGE / A_IMAGE"},
    NamedColumn{.name = "FWHM_IMAGE",
                .from = "maj_axis_pix",
                .recipe = Recipe::quadratic_mean,
                .other = "min_axis_pix",
                .in = InTables::components,
                .text = "Quadratic mean of both axes, FWHM"},
    NamedColumn{.name = "FWHM_WORLD",
                .from = "maj_axis_cor",
                .recipe = Recipe::quadratic_mean,
                .unit = "deg",
                .scale = k_arcsec_in_degrees,
                .other = "min_axis_cor",
                .text = "Quadratic mean of both axes, FWHM"},
    NamedColumn{.name = "FWHM_WORLD",
                .from = "maj_axis",
                .recipe = Recipe::quadratic_mean,
                .unit = "deg",
                .scale = k_arcsec_in_degrees,
                .other = "min_axis",
                .text = "Quadratic mean of both axes, FWHM"},
    NamedColumn{.name = "FLAGS",
                .from = "flags",
                .recipe = Recipe::flags,
                .other = "parent_id",
                .in = InTables::islands,
                .bits = k_sextractor_island_bits,
                .shared = k_sextractor_blended,
                .text = "Flags of SExtractor, a bit mask"},
    NamedColumn{.name = "FLAGS",
                .from = "flags",
                .recipe = Recipe::flags,
                .other = "island_id",
                .in = InTables::components,
                .bits = k_sextractor_component_bits,
                .shared = k_sextractor_blended,
                .text = "Flags of SExtractor, a bit mask"},
};

// The conventions of the CDS for columns, with the names of radio surveys: NVSS (VIII/65), SUMSS
// (VIII/81), LoTSS (J/A+A/622/A1).
constexpr std::array k_vizier = {
    NamedColumn{.name = "ID", .from = "component_id|island_id|id"},
    NamedColumn{.name = "Name", .from = "component_name|island_name|list_id"},
    NamedColumn{.name = "Isl", .from = "parent_id"},
    NamedColumn{.name = "Isl", .from = "island_id", .in = InTables::components},
    NamedColumn{.name = "RAJ2000", .from = "ra_deg_cont"},
    NamedColumn{.name = "e_RAJ2000", .from = "ra_err"},
    NamedColumn{.name = "DEJ2000", .from = "dec_deg_cont"},
    NamedColumn{.name = "e_DEJ2000", .from = "dec_err"},
    NamedColumn{.name = "GLON", .from = "glon_deg_cont"},
    NamedColumn{.name = "GLAT", .from = "glat_deg_cont"},
    NamedColumn{.name = "Speak", .from = "flux_peak"},
    NamedColumn{.name = "e_Speak", .from = "flux_peak_err"},
    NamedColumn{.name = "Sint", .from = "flux_int"},
    NamedColumn{.name = "e_Sint", .from = "flux_int_err"},
    NamedColumn{.name = "Islrms", .from = "background_noise|rms_image"},
    NamedColumn{.name = "SNR", .from = "snr"},
    NamedColumn{.name = "MajAxis", .from = "maj_axis_cor|maj_axis"},
    NamedColumn{.name = "e_MajAxis", .from = "maj_axis_err"},
    NamedColumn{.name = "MinAxis", .from = "min_axis_cor|min_axis"},
    NamedColumn{.name = "e_MinAxis", .from = "min_axis_err"},
    NamedColumn{.name = "PA", .from = "pos_ang"},
    NamedColumn{.name = "e_PA", .from = "pos_ang_err"},
    NamedColumn{.name = "DCMaj", .from = "maj_axis_deconv"},
    NamedColumn{.name = "e_DCMaj", .from = "maj_axis_deconv_err"},
    NamedColumn{.name = "DCMin", .from = "min_axis_deconv"},
    NamedColumn{.name = "e_DCMin", .from = "min_axis_deconv_err"},
    NamedColumn{.name = "DCPA", .from = "pos_ang_deconv"},
    NamedColumn{.name = "e_DCPA", .from = "pos_ang_deconv_err"},
    NamedColumn{.name = "Freq", .from = "freq"},
    NamedColumn{.name = "SCode", .from = "s_code"},
    NamedColumn{.name = "Flag", .from = "flags"},
};

}  // namespace

std::span<const NamedColumn> named_columns(TableNames names) {
  switch (names) {
    case TableNames::pybdsf:
      return k_pybdsf;
    case TableNames::aegean:
      return k_aegean;
    case TableNames::sextractor:
      return k_sextractor;
    case TableNames::vizier:
      return k_vizier;
    case TableNames::kastor:
      break;
  }
  return {};
}

}  // namespace kastor::io::detail

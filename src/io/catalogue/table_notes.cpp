// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/table_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/io/island_table.hpp>

#include "io/catalogue/image_scales.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

// A wider beam was probably not meant in degrees [pixel].
constexpr double k_widest_beam = 1000;

const char* origin_text(BeamOrigin origin) {
  switch (origin) {
    case BeamOrigin::header:
      return "header of the image";
    case BeamOrigin::history:
      return "HISTORY of the image";
    case BeamOrigin::user:
      return "user";
    case BeamOrigin::table:
      return "table BEAMS of the image";
    case BeamOrigin::none:
      break;
  }
  return "none";
}

/// What a user should know about the size of the beam; empty if it is usual.
std::string odd_beam(const TableParams& params) {
  if (params.wcs == nullptr || !params.beam.beam) return "";
  const Beam& beam = *params.beam.beam;
  const double pixel = std::sqrt(reference_pixel_area(*params.wcs)) / 3600.0;  // [deg]
  const double width = beam.major_deg / pixel;
  const auto side = static_cast<double>(std::max(params.nx, params.ny));
  if (width > k_widest_beam || (side > 0 && width > side)) {
    return fmt::format(
        "the beam's major axis of {:.6g} deg is {:.6g} pixels{}; is it in arcsec instead of "
        "degrees?",
        beam.major_deg, width,
        side > 0 && width > side ? fmt::format(", more than the image's {:g}", side) : "");
  }
  if (beam.minor_deg < pixel) {
    return fmt::format("the beam's minor axis of {:.6g} deg is {:.6g} pixels, less than one",
                       beam.minor_deg, beam.minor_deg / pixel);
  }
  return "";
}

}  // namespace

std::optional<SkyFrame> frame_of(const Wcs* wcs) {
  if (wcs == nullptr) return std::nullopt;
  return wcs->system() == SkySystem::galactic ? SkyFrame::icrs : sky_frame_of(*wcs);
}

std::vector<HeaderCard> cards_of(const TableParams& params) {
  std::vector<HeaderCard> cards;
  if (const auto& beam = params.beam.beam) {
    cards.push_back({"BMAJ", beam->major_deg, "[deg] major axis of the beam, FWHM"});
    cards.push_back({"BMIN", beam->minor_deg, "[deg] minor axis of the beam, FWHM"});
    cards.push_back({"BPA", beam->position_angle_deg, "[deg] position angle, north through east"});
    cards.push_back(
        {"BEAMFROM", std::string(origin_text(params.beam.origin)), "origin of the beam"});
    const double pixels =
        params.wcs == nullptr ? std::nan("") : beam_area_in_pixels(*beam, *params.wcs);
    if (pixels > 0) {
      cards.push_back({"BEAMPIX", pixels, "[pixel] area of the beam at the reference pixel"});
    }
  }
  // A table without a frame has an equinox that no table format can name.
  if (params.wcs != nullptr && !frame_of(params.wcs) && !params.wcs->frame().empty()) {
    cards.push_back({"RADESYS", params.wcs->frame(), "frame of ra and dec"});
    if (const double year = params.wcs->equinox(); std::isfinite(year))
      cards.push_back({"EQUINOX", year, "[yr] of ra and dec"});
  }
  return cards;
}

std::string reason_without_flux(const TableParams& params, const FluxUnit& unit) {
  using Per = FluxUnit::Per;
  if (unit.per == Per::unknown) {
    return unit.pixel.empty()
               ? "the image has no unit (BUNIT); expected a multiple of Jy per beam, pixel or "
                 "solid angle"
               : fmt::format(
                     "the unit of the image is '{}'; expected a multiple of Jy per beam, "
                     "pixel or solid angle",
                     trimmed(params.unit));
  }
  if (unit.per == Per::pixel) return "";
  if (params.wcs == nullptr) return "the image has no celestial coordinates, hence no pixel scale";
  if (unit.per == Per::beam && !params.beam.beam) {
    return "neither the header (BMAJ, BMIN) nor its HISTORY gives a beam";
  }
  return "";
}

void add_common_notes(const TableParams& params, const FluxUnit& unit, const RowsOffSky& rows,
                      std::vector<std::string>& notes) {
  if (unit.scale != 1) {
    notes.push_back(
        fmt::format("the unit of the image is '{}'; the table has pixel values times {:g} in {}",
                    trimmed(params.unit), unit.scale, unit.pixel));
  }
  if (const std::string odd = odd_beam(params); !odd.empty()) notes.push_back(odd);
  if (params.wcs == nullptr) return;
  const std::string frame = params.wcs->frame();
  if (frame.starts_with("FK4")) {
    notes.push_back("positions are in the frame of the image, " + frame + ", not in ICRS");
  }
  if (rows.off > 0) {
    notes.push_back(fmt::format("{} of {} {} lie where the projection has no coordinates", rows.off,
                                rows.all, rows.what));
  }
}

}  // namespace kastor::io::detail

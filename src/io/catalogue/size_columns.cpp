// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/size_columns.hpp"

#include <array>

#include "io/table/table_numbers.hpp"

namespace kastor::io::detail {
namespace {

enum class Writer { any, aegean, kastor, components, in_pixels, pybdsf, sep, vizier };

struct SizeName {
  std::string_view name;       // in upper case
  std::string_view unit = "";  // of the values of this writer
  Writer writer = Writer::any;
  double to_fwhm = 1;
};

constexpr double k_fwhm_of_sigma = 2.3548200450309493;  // of a Gaussian

constexpr std::array k_sizes = {
    SizeName{"MAJ_AXIS", "arcsec", Writer::kastor},  // Selavy too
    SizeName{"PSF_A", "arcsec"},                     // Aegean, of the beam
    SizeName{"MAJ", "deg", Writer::pybdsf},
    SizeName{"FWHM_WORLD", "deg"},  // SExtractor
    SizeName{"FWHM_IMAGE", "pixel"},
    SizeName{"FWHM", "pixel", Writer::in_pixels},  // kastor simulate sky, photutils
    SizeName{"A", "arcsec", Writer::aegean},
    // Standard deviations: SExtractor's manual, "Basic shape parameters"; photutils; SEP.
    SizeName{"A_WORLD", "deg", Writer::any, k_fwhm_of_sigma},
    SizeName{"A_IMAGE", "pixel", Writer::any, k_fwhm_of_sigma},
    SizeName{"SEMIMAJOR_SIGMA", "pixel", Writer::any, k_fwhm_of_sigma},
    SizeName{"SEMIMAJOR_AXIS", "pixel", Writer::in_pixels, k_fwhm_of_sigma},  // photutils 3
    SizeName{"A", "pixel", Writer::sep, k_fwhm_of_sigma},
    // Their units are in the files of VizieR.
    SizeName{"MAJAXIS", "arcsec", Writer::vizier},  // kastor find --names vizier, as CSV
    SizeName{"MAJOR"},
};

struct ShapeName {
  std::string_view major, minor, angle;  // in upper case
  std::string_view unit = "";            // of the axes of this writer
  Writer writer = Writer::any;
  bool is_on_sky = true;
  double to_fwhm = 1;
};

constexpr std::array k_shapes = {
    ShapeName{"MAJ_AXIS", "MIN_AXIS", "POS_ANG", "arcsec", Writer::components},
    ShapeName{"MAJ_AXIS_PIX", "MIN_AXIS_PIX", "POS_ANG_PIX", "pixel", Writer::components, false},
    ShapeName{"MAJ", "MIN", "PA", "deg", Writer::pybdsf},
    ShapeName{"A", "B", "PA", "arcsec", Writer::aegean},
    ShapeName{"FWHM", "MINOR", "ANGLE", "pixel", Writer::in_pixels, false},  // kastor simulate sky
    ShapeName{"A_IMAGE", "B_IMAGE", "THETA_IMAGE", "pixel", Writer::any, false, k_fwhm_of_sigma},
    // With units in the file only, as from VizieR, or by a user.
    ShapeName{"MAJAXIS", "MINAXIS", "PA", "arcsec", Writer::vizier},
    ShapeName{"MAJAXIS", "MINAXIS", "PA"},
    ShapeName{"MAJAXIS", "MINAXIS", "POSANG"},
    ShapeName{"MAJOR", "MINOR", "PA"},
    ShapeName{"MAJ", "MIN", "PA"},
};

bool has_written(Writer writer, const ColumnFinder& finder, bool only_pixels) {
  const auto has = [&](std::string_view name) { return finder.has(name); };
  switch (writer) {
    case Writer::aegean:
      return has("LOCAL_RMS") && has("PEAK_FLUX");
    case Writer::kastor:
      return has("ISLAND_ID") || has("COMPONENT_ID");
    case Writer::components:
      return has("COMPONENT_ID");
    case Writer::in_pixels:
      return only_pixels || has("XCENTROID") || has("X_CENTROID");
    case Writer::pybdsf:
      return has("TOTAL_FLUX") && has("PEAK_FLUX") && (has("ISL_ID") || has("E_RA"));
    case Writer::sep:
      return has("TNPIX") && has("THETA");
    case Writer::vizier:
      return has("SPEAK") && has("SINT") && has("ISLRMS");
    case Writer::any:
      break;
  }
  return true;
}

}  // namespace

std::optional<SizeColumn> find_size_column(const ColumnFinder& finder, bool only_pixels) {
  std::optional<SizeColumn> unknown;
  for (const auto& size : k_sizes) {
    const auto column = finder.find(size.name);
    if (!column || finder.is_ambiguous(size.name)) continue;
    const bool by_writer = has_written(size.writer, finder, only_pixels);
    // Too short a name to mean a size in other tables.
    if (size.name == "A" && !by_writer) continue;
    const std::string in_file(without_blanks(finder.at(*column).unit));
    const std::string unit = !in_file.empty() ? in_file : by_writer ? std::string(size.unit) : "";
    if (!unit.empty()) return SizeColumn{*column, unit, size.to_fwhm};
    if (!unknown) unknown = SizeColumn{*column, "", size.to_fwhm};
  }
  return unknown;
}

std::optional<ShapeColumns> find_shape_columns(const ColumnFinder& finder, bool only_pixels) {
  for (const auto& shape : k_shapes) {
    const auto of = [&](std::string_view name) {
      return finder.is_ambiguous(name) ? std::nullopt : finder.find(name);
    };
    const auto major = of(shape.major), minor = of(shape.minor), angle = of(shape.angle);
    if (!major || !minor || !angle) continue;
    const bool by_writer = has_written(shape.writer, finder, only_pixels);
    if (!by_writer) continue;
    const std::string in_file(without_blanks(finder.at(*major).unit));
    const std::string unit = in_file.empty() ? std::string(shape.unit) : in_file;
    if (unit.empty()) continue;
    return ShapeColumns{*major, *minor, *angle, unit, shape.to_fwhm, shape.is_on_sky};
  }
  return std::nullopt;
}

}  // namespace kastor::io::detail

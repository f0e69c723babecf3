// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_WCS_FORMS_HPP
#define KASTOR_SRC_IO_FITS_WCS_FORMS_HPP

#include "io/fits/wcs_header.hpp"

namespace kastor::io::detail {

/// Renames keywords from before the standard of 2002 to its forms: PC001002, CD001002, LONGPOLE,
/// and PROJPm, which is PVi_m of the latitude axis i.
void translate_old_forms(WcsHeader& header);

/// Keeps SIP, the distortion that wcslib applies before the matrix, in coordinates of its type. The
/// others are dropped with a note: SIP without -SIP in CTYPE (Shupe et al. 2005), the drafts of
/// paper IV, the plate solution of the Digitized Sky Survey, and IRAF's WATi_mmm, at which wcslib
/// 7 fails or even aborts. \param plain  whether the axes kept are 1 and 2
/// \returns false if SIP belongs to other axes, so that the coordinates cannot be kept
[[nodiscard]] bool keep_distortions(WcsHeader& header, bool plain);

/// Gives gnomonic coordinates with a polynomial in PVi_m the one form that all readers understand
/// alike, in each description: TPV, longitude first, with a CD matrix and both PVi_1. The formula
/// is that of the TPV convention (FITS registry). RA---TAN with such PVi_m is SCAMP's form of it;
/// in RA---TAN-SIP they are dropped with a note.
void translate_tpv(WcsHeader& header);

/// Drops PVi_m that the projection does not have, with a note if they are not 0.
void drop_unused_parameters(WcsHeader& header);

}  // namespace kastor::io::detail

#endif

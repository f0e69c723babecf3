// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_COMPONENT_TABLE_HPP
#define KASTOR_IO_COMPONENT_TABLE_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <kastor/io/table.hpp>
#include <kastor/io/table_params.hpp>
#include <string>
#include <vector>

namespace kastor::io {

/// Bits of the column `flags` in addition to those of `kastor::ComponentFlag`.
enum ComponentTableFlag : std::uint32_t {
  component_no_sky = 256,   ///< the image has coordinates, but they are not defined here
  component_no_flux = 512,  ///< no flux_int: unit, beam or pixel size is missing, or the fit
  /// No larger than the beam: the square of the deconvolved major axis is not above two of its
  /// errors (or not above 0 if they are not known), or the shape was fixed at the beam's.
  component_unresolved = 1024,
};

/// A table of components, and notes about it.
struct ComponentTable {
  Table table;                     ///< the table; its cards hold the beam
  std::vector<std::string> notes;  ///< what a user should know: one sentence each
};

/// The published columns of components, one row each, in the given order. docs/components.md lists
/// them with units, UCDs, formulas and sources. Columns on the sky exist if `wcs` is given, those
/// of deconvolved ellipses if a beam is, too. A value that does not exist is NaN (and `flags` says
/// why), and so is the error of a value that was not fitted. Errors are propagated to first order
/// from the whole covariance matrix of a component.
///
/// Fluxes per beam and the shape of the beam are those at the reference pixel in orthographic (SIN,
/// NCP) images, and those at the component in all others, as for `island_table()`. A component with
/// the shape of the beam has the flux of its peak.
/// \throws kastor::Error if a parameter is out of its range
[[nodiscard]] ComponentTable component_table(const Components& components,
                                             const TableParams& params);

/// SHA-256, lower-case hex, over the components in order. Each is its members from `id` to `flags`,
/// in the order of their declaration in `Component` and `Gaussian`, as little-endian int64 or IEEE
/// double; every NaN counts as 0x7ff8000000000000. What is derived from them is not included:
/// angles and positions on the sky depend on a maths library.
[[nodiscard]] std::string component_hash(const Components& components);

}  // namespace kastor::io

#endif

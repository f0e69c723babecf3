// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FORCED_GROUPS_HPP
#define KASTOR_FIT_FORCED_GROUPS_HPP

#include <cstdint>
#include <kastor/gaussian.hpp>
#include <span>
#include <vector>

namespace kastor::detail {

/// Given positions that are measured together. All are indices into the list of Gaussians.
struct ForcedGroup {
  std::vector<std::int32_t> core;   ///< those whose results are kept, ascending
  std::vector<std::int32_t> halo;   ///< neighbours that are fitted with them, kept by other groups
  std::vector<std::int32_t> fixed;  ///< neighbours of both that are subtracted
  bool is_split = false;            ///< whether it is a part of a larger group
};

/// Whether the ellipses of two Gaussians of radius `reach` touch [FWHM], taken along the line
/// between their centres: exact for equal shapes.
[[nodiscard]] bool ellipses_touch(const Gaussian& a, const Gaussian& b, double reach);

/// Groups of Gaussians whose ellipses of radius `reach` touch, in the order of their first members.
/// A group of more than `most` is halved across its longer side until its parts have `most` / 2 at
/// most. To each of these its nearest neighbours are added, up to `most`; those beyond are fixed.
/// Takes time in proportion to the pairs whose ellipses overlap along y.
[[nodiscard]] std::vector<ForcedGroup> forced_groups(std::span<const Gaussian> gaussians,
                                                     double reach, std::int32_t most);

/// For each Gaussian the index of the first one of the same place and shape, within 1e-4 FWHM:
/// their light cannot be told apart.
[[nodiscard]] std::vector<std::int32_t> first_at_place(std::span<const Gaussian> gaussians);

}  // namespace kastor::detail

#endif

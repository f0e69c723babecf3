// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_STAMPS_HPP
#define KASTOR_SIMULATE_STAMPS_HPP

#include <cstdint>
#include <kastor/simulate.hpp>
#include <vector>

namespace kastor::detail {

/// The pixels of a source: flux_peak x profile(y) x profile(x) over a box.
struct Stamp {
  std::int64_t x_min, x_max, y_min, y_max;
  std::int64_t x_profile, y_profile;  ///< indices of its profiles in the table
};

/// The stamps of all sources, and the sources that cross each row, in their original order.
struct Stamps {
  std::vector<Stamp> stamps;
  std::vector<double> profiles;
  std::vector<std::int64_t> first_of_row;    ///< ny + 1 indices into `sources_of_row`
  std::vector<std::int64_t> sources_of_row;  ///< indices of stamps, row after row
};

[[nodiscard]] Stamps make_stamps(const SkyParams& params, const std::vector<TrueSource>& truth);

}  // namespace kastor::detail

#endif

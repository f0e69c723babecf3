// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_SKY_PARAMS_HPP
#define KASTOR_SIMULATE_SKY_PARAMS_HPP

#include <kastor/simulate.hpp>

namespace kastor::detail {

/// 2 sqrt(2 ln 2)
inline constexpr double fwhm_per_sigma = 2.3548200450309493;

/// \throws Error if a parameter is out of its range.
void check(const char* function, const SkyParams& params);

}  // namespace kastor::detail

#endif

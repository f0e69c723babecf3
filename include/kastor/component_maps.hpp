// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_COMPONENT_MAPS_HPP
#define KASTOR_COMPONENT_MAPS_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <kastor/image.hpp>
#include <span>

namespace kastor {

/// Writes the sum of Gaussians at each pixel: the model of an image, without its background. A
/// Gaussian ends where it is below 2^-30 of its peak, or 1e-9 of it. Sums are in double, in the
/// order of the list, rounded once to T: the same bits on every backend, for any number of threads.
/// Fences `space`. \throws Error if a Gaussian is not finite, or a width is not > 0.
template <class Exec, Real T>
void fill_model(const Exec& space, std::span<const Gaussian> gaussians,
                const MutableImage<T, Exec>& image);

}  // namespace kastor

#endif

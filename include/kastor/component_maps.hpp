// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_COMPONENT_MAPS_HPP
#define KASTOR_COMPONENT_MAPS_HPP

#include <concepts>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <span>

namespace kastor {

/// Writes the sum of Gaussians at each pixel: the model of an image, without its background. A
/// Gaussian ends where it is below 2^-30 (1e-9) of its peak. Sums are in double, in the order of
/// the list, rounded once to T: the same bits on every backend, for any number of threads. Fences
/// `space`. \throws Error if a number of a Gaussian is not finite, or u or t is not > 0.
template <class Exec, Real T>
void fill_model(const Exec& space, std::span<const Gaussian> gaussians,
                const MutableImage<T, Exec>& image);

/// The same for any View of T that keeps the layout contract.
template <class Exec, Real T, AnyView V>
requires(!std::same_as<V, MutableImage<T, Exec>>)  //
    void fill_model(const Exec& space, std::span<const Gaussian> gaussians, const V& image) {
  fill_model<Exec, T>(space, gaussians, detail::as_mutable_image_of<T, Exec>(image));
}

}  // namespace kastor

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLAND_MAPS_HPP
#define KASTOR_ISLAND_MAPS_HPP

#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

/// Images that show what was found. All enqueue only, and \throw Error if a shape differs.
namespace kastor {

/// (value - level) / rms; NaN where the value is blank or the rms is not > 0.
template <class Exec, Real T>
void fill_snr_map(const Exec& space, const ConstImage<T, Exec>& image,
                  const Background<Exec, T>& background, const MutableImage<T, Exec>& snr);

/// The image without its islands: their pixels are at the level of the background, all others as
/// they were. `positive` and `negative` as `IslandFinder` leaves them; no mask: no islands.
template <class Exec, Real T>
void fill_residual_map(const Exec& space, const ConstImage<T, Exec>& image,
                       const Background<Exec, T>& background, const RunLabels<Exec>& positive,
                       const RunLabels<Exec>& negative, const MutableImage<T, Exec>& residual);

/// The island of every pixel by its id, 0 for none: those of `negative` follow those of `positive`.
/// `Label` is int32 or int64.
template <class Exec, class Label>
void write_island_labels(
    const Exec& space, const RunLabels<Exec>& positive, const RunLabels<Exec>& negative,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& ids);

}  // namespace kastor

#endif

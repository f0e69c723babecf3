// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLAND_MAPS_HPP
#define KASTOR_ISLAND_MAPS_HPP

#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

/// Images that show what was found. All functions only enqueue, and throw Error if a shape differs.
/// Labels without components mean that there are no islands; their shape is not checked.
namespace kastor {

/// (value - level) / rms, in double and rounded once. NaN where the pixel is blank for
/// `IslandFinder`: value or level is not finite, or the rms is not finite and > 0.
template <class Exec, Real T>
void fill_snr_map(const Exec& space, const ConstImage<T, Exec>& image,
                  const Background<Exec, T>& background, const MutableImage<T, Exec>& snr);

/// The same for any Views that keep the layout contract.
template <class Exec, Real T, AnyView V, AnyView W>
requires(!std::same_as<V, ConstImage<T, Exec>> || !std::same_as<W, MutableImage<T, Exec>>)  //
    void fill_snr_map(const Exec& space, const V& image, const Background<Exec, T>& background,
                      const W& snr) {
  fill_snr_map<Exec, T>(space, detail::as_const_image_of<T, Exec>(image), background,
                        detail::as_mutable_image_of<T, Exec>(snr));
}

/// The image without its islands: their pixels are set to the background level, all others are
/// unchanged. `positive` and `negative` are the labels of an `IslandFinder`.
template <class Exec, Real T>
void fill_residual_map(const Exec& space, const ConstImage<T, Exec>& image,
                       const Background<Exec, T>& background, const RunLabels<Exec>& positive,
                       const RunLabels<Exec>& negative, const MutableImage<T, Exec>& residual);

/// The same for any Views that keep the layout contract.
template <class Exec, Real T, AnyView V, AnyView W>
requires(!std::same_as<V, ConstImage<T, Exec>> || !std::same_as<W, MutableImage<T, Exec>>)  //
    void fill_residual_map(const Exec& space, const V& image, const Background<Exec, T>& background,
                           const RunLabels<Exec>& positive, const RunLabels<Exec>& negative,
                           const W& residual) {
  fill_residual_map<Exec, T>(space, detail::as_const_image_of<T, Exec>(image), background, positive,
                             negative, detail::as_mutable_image_of<T, Exec>(residual));
}

/// The id of the island at every pixel, 0 if there is none: the ids of `negative` follow those of
/// `positive`. `Label` is int32 or int64. \throws Error also if the ids do not fit into `Label`.
template <class Exec, class Label>
void write_island_labels(
    const Exec& space, const RunLabels<Exec>& positive, const RunLabels<Exec>& negative,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& ids);

/// The same for any View of such labels that keeps the layout contract.
template <class Exec, AnyView V>
requires(!detail::is_label_image_v<Exec, V>)  //
    void write_island_labels(const Exec& space, const RunLabels<Exec>& positive,
                             const RunLabels<Exec>& negative, const V& ids) {
  write_island_labels(space, positive, negative, detail::as_label_image<Exec>(ids));
}

}  // namespace kastor

#endif

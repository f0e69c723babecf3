// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONSTANT_FILL_HPP
#define KASTOR_CONSTANT_FILL_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>
#include <vector>

namespace kastor {

/// A constant that stands where there is no sky, as the padding of a mosaic: one number, or a few
/// neighbouring numbers of the pixel type.
struct FillValue {
  double low = 0;           ///< the smallest such pixel [image unit]
  double high = 0;          ///< the largest such pixel [image unit]
  std::int64_t pixels = 0;  ///< pixels from `low` to `high`, both included
};

/// Parameters of `find_constant_fill()`.
struct ConstantFillParams {
  /// A constant more than so many standard deviations above the median of the rest is a source, not
  /// fill [>= 0]
  double seed = 5;
};

/// The constants that fill a part of the image instead of sky, ascending; mostly none.
///
/// A constant is judged on samples, at a fixed stride of 16 pixels along x and y (from 4 in images
/// below 512 x 512 to 195 in the largest ones). Numbers at most 8 units in the last place apart
/// count as one constant. It is fill if
///
/// - it lies in one piece: neighbouring samples differ in whether they have the constant at most a
///   third as often as they would if its pixels were scattered at random, and of neighbouring
///   pixels of the image at most a sixteenth as often (the join counts of Moran 1948, J. R. Stat.
///   Soc. B 10, 243). Levels of a quantised sky and counts of photons are scattered, and so are the
///   zeros of a sky whose negative values were cut off;
/// - it is no step of a smooth image of few values: at most 7/8 of its pixels' other neighbours
/// have
///   the next value, below or above, that the samples have;
/// - the rest of the image is not constant, too, and the constant is not just the lower end of the
///   rest, as the empty sky of a model is: hardly any of the rest is below it, and some is close
///   above it;
/// - it is at most `seed` standard deviations above the median of the clipped rest (kappa 3), so
///   the plateau of a saturated source is kept.
///
/// At least 12 samples must have the constant and 32 have none. These are counts over fixed pixels,
/// so the answer is the same on every backend and for any number of threads. Reads one pixel in
/// 256, and all pixels only if the samples show a constant. Fences `space`.
/// \throws Error if `seed` is negative or NaN.
template <class Exec, Real T>
[[nodiscard]] std::vector<FillValue> find_constant_fill_in(const Exec& space,
                                                           const ConstImage<T, Exec>& image,
                                                           const ConstantFillParams& params);

/// The same for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] std::vector<FillValue> find_constant_fill(const Exec& space, const V& image,
                                                        const ConstantFillParams& params = {}) {
  return find_constant_fill_in<Exec, PixelOf<Exec, V>>(space, as_const_image<Exec>(image), params);
}

/// Clears the bits of the fill's pixels in `usable` and sets them in `excluded`; other bits stay.
/// Enqueues only. \throws Error if a mask has another shape than the image.
template <class Exec, Real T>
void exclude_fill_in(const Exec& space, const ConstImage<T, Exec>& image,
                     const std::vector<FillValue>& fill, const BitMask<Exec>& usable,
                     const BitMask<Exec>& excluded);

/// The same for any View that keeps the layout contract.
template <class Exec, class V>
void exclude_fill(const Exec& space, const V& image, const std::vector<FillValue>& fill,
                  const BitMask<Exec>& usable, const BitMask<Exec>& excluded) {
  exclude_fill_in<Exec, PixelOf<Exec, V>>(space, as_const_image<Exec>(image), fill, usable,
                                          excluded);
}

}  // namespace kastor

#endif

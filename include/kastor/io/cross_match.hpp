// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CROSS_MATCH_HPP
#define KASTOR_IO_CROSS_MATCH_HPP

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace kastor::io {

/// A point in space: a unit vector for a place on the sky, (x, y, 0) for one in an image.
using MatchPoint = std::array<double, 3>;

/// The unit vector of a place on the sky; both in degrees.
[[nodiscard]] MatchPoint unit_vector(double ra, double dec);

/// Two points that belong together.
struct MatchedPair {
  std::size_t first;   ///< index into the first list
  std::size_t second;  ///< index into the second list
  double distance;     ///< between the points, straight
};

/// Pairs the points of two lists one to one: the closest two of all make the first pair, the
/// closest two of those left the next, as long as they are within `radius` (that far included).
/// Among pairs of equal distance the smaller index into `first` goes first, then the smaller one
/// into `second`. So every pair is of mutual nearest neighbours among what the closer pairs left,
/// and the result is the same whichever the order of equal distances in memory.
///
/// Distances are straight, so on unit vectors there is no seam at 0h and no pole:
/// `chord_of_arcsec()` is the radius there. By a k-d tree (nanoflann) over the second list: about
/// n log n where few points are within the radius of each other. Points that are not finite find no
/// partner. \param radius  [>= 0], finite \returns the pairs in the order of `first`
[[nodiscard]] std::vector<MatchedPair> cross_match(std::span<const MatchPoint> first,
                                                   std::span<const MatchPoint> second,
                                                   double radius);

/// The straight distance of two unit vectors that are so far apart on the sky [0, 648000], and
/// back.
[[nodiscard]] double chord_of_arcsec(double arcsec);
[[nodiscard]] double arcsec_of_chord(double chord);

}  // namespace kastor::io

#endif

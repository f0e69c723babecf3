// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CROSS_MATCH_HPP
#define KASTOR_IO_CROSS_MATCH_HPP

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace kastor::io {

/// A point in space: a unit vector for a position on the sky, (x, y, 0) for a position in an image.
using MatchPoint = std::array<double, 3>;

/// The unit vector of a position on the sky [degree].
[[nodiscard]] MatchPoint unit_vector(double ra, double dec);

/// Two points that have been matched.
struct MatchedPair {
  std::size_t first;   ///< index into the first list
  std::size_t second;  ///< index into the second list
  double distance;     ///< straight-line distance between the points
};

/// Pairs the points of two lists one to one: the closest two points make the first pair, the
/// closest two of the remaining points the next, as long as their distance is at most `radius`.
/// Among pairs of equal distance the smaller index into `first` comes first, then the smaller index
/// into `second`. So the two points of a pair are mutual nearest neighbours among what the closer
/// pairs have left, and the result is unique.
///
/// Distances are straight lines, so unit vectors have no seam at 0h and no pole; there,
/// `chord_of_arcsec()` gives the radius. Uses a k-d tree (nanoflann) over the second list; the time
/// is about n log n if few points are within the radius of each other. Points that are not finite
/// find no partner.
///
/// \param radius  [>= 0], finite
/// \returns the pairs in the order of `first`
[[nodiscard]] std::vector<MatchedPair> cross_match(std::span<const MatchPoint> first,
                                                   std::span<const MatchPoint> second,
                                                   double radius);

/// Converts an angle on the sky [0, 648000 arcsec] to the straight-line distance of two unit
/// vectors, and back.
[[nodiscard]] double chord_of_arcsec(double arcsec);
[[nodiscard]] double arcsec_of_chord(double chord);

}  // namespace kastor::io

#endif

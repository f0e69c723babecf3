// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FORCED_PLACES_HPP
#define KASTOR_FIT_FORCED_PLACES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

#include "core/region.hpp"
#include "islands/nearby_background.hpp"

namespace kastor::detail {

/// The usable pixel nearest to a given position.
struct ForcedPlace {
  double squared_distance;  ///< from the position [pixel^2]; infinite if there is none
  double deviation;         ///< value - level there [image unit]
  double level, rms;        ///< background there [image unit]
};

/// Looks at the pixels of one band around given positions: at the pixel of the position alone, or
/// at all within its ellipse if that one cannot be used.
template <class Exec, Real T>
struct LookAtPlaces {
  Rows<T> band;
  std::int64_t first_row;
  Background<Exec, T> background;
  core::Region region;
  const Gaussian* gaussians;
  double squared_radius;  ///< of the ellipse [standard deviations^2]
  bool only_centre;
  ForcedPlace* places;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Gaussian& gaussian = gaussians[i];
    ForcedPlace& place = places[i];
    NearbyBackground<Exec, T> nearby(background);
    if (only_centre) {
      look(nearby, gaussian, static_cast<std::int64_t>(Kokkos::floor(gaussian.y + 0.5)),
           static_cast<std::int64_t>(Kokkos::floor(gaussian.x + 0.5)), place);
      return;
    }
    if (place.squared_distance < Kokkos::Experimental::infinity_v<double> && was_centre(place))
      return;
    const double radius = Kokkos::sqrt(squared_radius);
    const double half_y = radius / gaussian.t;
    for (std::int64_t y = clamped(Kokkos::ceil(gaussian.y - half_y), first_row);
         y < first_row + band.ny && static_cast<double>(y) <= gaussian.y + half_y; ++y) {
      const double z = gaussian.z(static_cast<double>(y));
      const double left = squared_radius - z * z;
      if (!(left >= 0)) continue;
      const double middle =
          gaussian.x - gaussian.w * (static_cast<double>(y) - gaussian.y) / gaussian.u;
      const double half_x = Kokkos::sqrt(left) / gaussian.u;
      for (std::int64_t x = clamped(Kokkos::ceil(middle - half_x), 0);
           x < band.nx && static_cast<double>(x) <= middle + half_x; ++x)
        look(nearby, gaussian, y, x, place);
    }
  }

 private:
  /// The pixel of the position is at most half a pixel away along each axis, and is not looked for
  /// again.
  [[nodiscard]] KOKKOS_FUNCTION static bool was_centre(const ForcedPlace& place) {
    return place.squared_distance <= 0.5;
  }
  /// The first pixel of a range that begins at `first` or before.
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t clamped(double from, std::int64_t first) {
    return from > static_cast<double>(first) ? static_cast<std::int64_t>(from) : first;
  }

  KOKKOS_FUNCTION void look(NearbyBackground<Exec, T>& nearby, const Gaussian& gaussian,
                            std::int64_t y, std::int64_t x, ForcedPlace& place) const {
    if (y < first_row || y >= first_row + band.ny || x < 0 || x >= band.nx) return;
    const double dx = static_cast<double>(x) - gaussian.x;
    const double dy = static_cast<double>(y) - gaussian.y;
    const double squared = dx * dx + dy * dy;
    if (!(squared < place.squared_distance)) return;
    const auto value = static_cast<double>(band.data[(y - first_row) * band.pitch + x]);
    const LevelAndRms sky = nearby(y, x);
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    if (!(value > -infinity && value < infinity) || !sky.is_usable() || !region.has(y, x)) return;
    place = {squared, value - sky.level, sky.level, sky.rms};
  }
};

}  // namespace kastor::detail

#endif

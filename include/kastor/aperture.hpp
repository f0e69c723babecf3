// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APERTURE_HPP
#define KASTOR_APERTURE_HPP

#include <cstdint>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>
#include <vector>

namespace kastor {

/// The centre of an aperture.
struct AperturePosition {
  double x, y;  ///< [pixel]; NaN: nowhere
};

/// What is to be known of an aperture; bits of `ApertureFlux::flags`.
enum ApertureFlag : std::uint32_t {
  aperture_at_edge = 1,    ///< a part of it lies beyond the image
  aperture_missing = 2,    ///< a pixel of it is blank or outside of the region
  aperture_no_pixels = 4,  ///< it has no pixel that can be used: `flux` is NaN
};

/// The light in one circular aperture.
struct ApertureFlux {
  double flux;             ///< sum of w (value - level) [image unit x pixel]
  double variance;         ///< sum of w rms^2 [image unit^2 x pixel]: of white noise, nearly
  double area;             ///< sum of w over the pixels used [pixel]
  std::int64_t n_missing;  ///< pixels of the image that it touches, but that cannot be used
  std::uint32_t flags;     ///< bits of `ApertureFlag`
};

/// Sums in circular apertures. The weight w of a pixel is the part of its square that lies within
/// the circle, exactly, as in SEP and photutils ("exact"); to some 1e-15 for a pixel near the
/// centre, and to the rounding of its distance from the centre for others. A pixel that is blank,
/// outside of the region or beyond the image adds nothing, and nothing stands for it: `area` is
/// less than pi radius^2 then.
///
/// `variance` is that of noise without correlation as SEP and photutils have it, with w in place of
/// w^2. Multiply it by `aperture_noise_factor()`.
///
/// The bits are the same on every backend, for any number of threads: weights are made of
/// additions, products, quotients and square roots; the rows of an aperture are summed from left to
/// right, then every 32nd row from the first on, then these 32 sums, in double. Costs time in
/// proportion to the area of the apertures within the image. Owns its work space. Use one object
/// per execution space instance; do not share it between threads.
template <class Exec, Real T>
class AperturePhotometer {
 public:
  /// \param radii  [pixel, > 0, at most 1e6], at least one  \throws Error if one is out of range
  AperturePhotometer(const Exec& space, const std::vector<double>& radii);
  ~AperturePhotometer();
  AperturePhotometer(AperturePhotometer&&) noexcept;
  AperturePhotometer& operator=(AperturePhotometer&&) noexcept;

  /// One result for each position and radius: those of the first position first, in the order of
  /// the radii. Fences the instance given at construction. \throws Error if a map or the region
  /// does not have the shape of the image.
  [[nodiscard]] std::vector<ApertureFlux> operator()(const ConstImage<T, Exec>& image,
                                                     const Background<Exec, T>& background,
                                                     std::span<const AperturePosition> positions,
                                                     const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] std::vector<ApertureFlux> operator()(const V& image,
                                                     const Background<Exec, T>& background,
                                                     std::span<const AperturePosition> positions,
                                                     const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, positions, region);
  }

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] std::vector<ApertureFlux> aperture_fluxes(
    const Exec& space, const V& image, const Background<Exec, PixelOf<Exec, V>>& background,
    std::span<const AperturePosition> positions, const std::vector<double>& radii,
    const BitMask<Exec>& region = {}) {
  return AperturePhotometer<Exec, PixelOf<Exec, V>>(space, radii)(as_const_image<Exec>(image),
                                                                  background, positions, region);
}

/// The variance of the noise in an aperture in units of `ApertureFlux::variance`: the sum over all
/// lags of the autocorrelation of the noise times that of the aperture, averaged over the places of
/// its centre in a pixel. It is nearly `noise_area` for an aperture much larger than the beam, less
/// for a smaller one, and 1 - 0.33 / radius for white noise (the mean of w^2 over that of w).
/// Uses `acos` and `exp`, so the last bits may differ between maths libraries.
/// \param radius      [pixel, > 0]
/// \param noise_area  sum of the autocorrelation over all lags [pixel, >= 1]; 1: white noise. It is
///                    taken as a Gaussian of this area with the shape of `beam`
/// \param beam        only its shape matters; majors and minors of 0: round
/// \throws Error if an argument is out of its range
[[nodiscard]] double aperture_noise_factor(double radius, double noise_area = 1,
                                           const PixelEllipse& beam = {});

}  // namespace kastor

#endif

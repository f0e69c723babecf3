// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_WCS_HPP
#define KASTOR_IO_WCS_HPP

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kastor::io {

/// A position in an image [pixel], counted from 0: the centre of the first pixel is at (0, 0).
struct PixelPosition {
  double x;  ///< along a row
  double y;  ///< along a column
};

/// A position on the sky [degree]; both NaN if the coordinates are not defined.
struct SkyPosition {
  double longitude;  ///< right ascension, galactic longitude, ...; from 0 to 360
  double latitude;   ///< declination, galactic latitude, ...; from -90 to 90
};

/// The kind of celestial coordinates of a header.
enum class SkySystem { equatorial, galactic, ecliptic, other };

/// The celestial coordinates of an image (FITS standard 4.0, section 8), computed by wcslib: all
/// its projections, SIP and TPV distortions (also SCAMP's, in RA---TAN), and old forms (CROTA2,
/// EPOCH, PC001001, PROJP1, LONGPOLE, NCP, GLS).
///
/// An object may be used by one thread at a time; several threads may each create and use their
/// own.
class Wcs {
 public:
  /// \param header_cards  cards of the image, as in `FitsImage::header_cards`
  /// \param fits_axes     axes (from 1) that became x and y, as in `FitsImage::fits_axes`
  /// \throws kastor::Error that says what is missing, not a number, unknown to wcslib, or not
  /// invertible
  Wcs(const std::vector<std::string>& header_cards, const std::array<int, 2>& fits_axes);
  ~Wcs();
  Wcs(Wcs&&) noexcept;
  Wcs& operator=(Wcs&&) noexcept;

  /// The kind of the celestial axes.
  [[nodiscard]] SkySystem system() const;
  /// RADESYS, or what the standard derives from EQUINOX in its absence; empty unless equatorial or
  /// ecliptic.
  [[nodiscard]] std::string frame() const;
  /// EQUINOX [year]; if it is missing, the default of the standard for FK4 (1950) and FK5 (2000);
  /// NaN for the other frames.
  [[nodiscard]] double equinox() const;
  /// The three-letter code of the projection, as in TAN; SIN also for NCP in old headers.
  [[nodiscard]] std::string projection() const;
  /// CRPIX, counted from 0.
  [[nodiscard]] PixelPosition reference_pixel() const;

  /// What a user should know, one sentence each: missing cards for which the standard has a
  /// default, and cards that are not used though they say something.
  [[nodiscard]] const std::vector<std::string>& notes() const;

  /// Converts pixels to positions on the sky. Positions outside the image are valid too, as far as
  /// the projection reaches; both NaN beyond. A cylindrical projection (CYP, CEA, CAR, MER) has no
  /// end in longitude: it repeats itself every 360 degrees from the reference pixel.
  [[nodiscard]] std::vector<SkyPosition> to_sky(std::span<const PixelPosition> pixels) const;
  /// The inverse; both NaN where the projection has no point. Of the pixels that show a position in
  /// a cylindrical projection, it is the one within 180 degrees of native longitude.
  [[nodiscard]] std::vector<PixelPosition> to_pixels(std::span<const SkyPosition> sky) const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace kastor::io

#endif

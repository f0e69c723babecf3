// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_WCS_HPP
#define KASTOR_IO_WCS_HPP

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kastor::io {

/// A position in an image [pixel], from 0: the centre of the first pixel is at (0, 0).
struct PixelPosition {
  double x;  ///< along a row
  double y;  ///< along a column
};

/// A position on the sky [degree]; both NaN where the coordinates are not defined.
struct SkyPosition {
  double longitude;  ///< right ascension, galactic longitude, ...; from 0 to 360
  double latitude;   ///< declination, galactic latitude, ...; from -90 to 90
};

/// What a header's celestial axes are.
enum class SkySystem { equatorial, galactic, ecliptic, other };

/// The celestial coordinates of an image (FITS standard 4.0, section 8), by wcslib: all its
/// projections, and SIP and TPV distortions; old keywords (CROTA2, EPOCH, NCP) are understood.
///
/// One object is for one thread at a time; each of several threads may make and use its own.
class Wcs {
 public:
  /// \param header_cards  of the image, as in `FitsImage::header_cards`
  /// \param fits_axes     1-based axes that became x and y, as in `FitsImage::fits_axes`
  /// \throws kastor::Error saying what is missing, unknown to wcslib, or not invertible
  Wcs(const std::vector<std::string>& header_cards, const std::array<int, 2>& fits_axes);
  ~Wcs();
  Wcs(Wcs&&) noexcept;
  Wcs& operator=(Wcs&&) noexcept;

  /// What the celestial axes are.
  [[nodiscard]] SkySystem system() const;
  /// RADESYS, or what the standard takes its place from (EQUINOX); empty unless equatorial or
  /// ecliptic.
  [[nodiscard]] std::string frame() const;
  /// EQUINOX [year]; of FK4 and FK5 without one what the standard puts there (1950, 2000); NaN for
  /// the other frames.
  [[nodiscard]] double equinox() const;
  /// The three letters of the projection, as in TAN; SIN also for an old header's NCP.
  [[nodiscard]] std::string projection() const;
  /// CRPIX, from 0.
  [[nodiscard]] PixelPosition reference_pixel() const;

  /// Where the pixels lie on the sky. Positions outside of the image are right too, as far as its
  /// projection goes.
  [[nodiscard]] std::vector<SkyPosition> to_sky(std::span<const PixelPosition> pixels) const;
  /// The inverse; both NaN for what the projection cannot show.
  [[nodiscard]] std::vector<PixelPosition> to_pixels(std::span<const SkyPosition> sky) const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace kastor::io

#endif

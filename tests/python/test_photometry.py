# SPDX-License-Identifier: Apache-2.0
"""Kron fluxes against SEP, which has the ellipses and sums of SExtractor, and circles against SEP and photutils.

Figures are printed: they are the record.
"""

import json
import math
import sys
import unittest

import numpy
import sep
from astropy.table import Table
from photutils.aperture import CircularAperture, aperture_photometry
from scipy import ndimage

import runs

FWHM = math.sqrt(8 * math.log(2))  # [sigma]
LEVEL, RMS, GAIN = 100.0, math.sqrt(50.0), 2.0
STARS = ("--gain", GAIN, "--level", LEVEL, "--beam", 4, "--add", "star:count=300,snr=20..300,place=grid")


class TestKron(unittest.TestCase):
    """Radii and fluxes of the same ellipses.

    SEP leaves masked pixels out of a flux and scales it by the area that is left; Kastor and
    SExtractor take the pixels opposite to them. So fluxes are compared where nothing is masked.
    """

    def test_radii_and_fluxes(self):
        path = runs.sky(11, *STARS)
        found = runs.find(path, "--preset", "sextractor", "--filter-kernel", "none", "--seed", 8, "--flood", 3,
                          "--background", LEVEL, "--rms", RMS, "--gain", GAIN, "--zero-point", 25)
        table, image = found.table, runs.pixels(path) - LEVEL
        # All of the foreground belongs to others, that of dropped islands too.
        segments, _ = ndimage.label(image > 3 * RMS, numpy.ones((3, 3)))
        own = segments[table["y_peak"].astype(int), table["x_peak"].astype(int)]
        x, y = numpy.asarray(table["x_cen"]), numpy.asarray(table["y_cen"])
        a, b = (numpy.asarray(table[name]) / FWHM for name in ("maj_axis_pix", "min_axis_pix"))
        angle = numpy.asarray(table["pos_ang_pix"])
        theta = numpy.radians(numpy.where(angle > 90, angle - 180, angle))
        inside = (x > 30) & (y > 30) & (x < image.shape[1] - 30) & (y < image.shape[0] - 30)
        inside &= numpy.isfinite(a) & (a**2 * b**2 > 1 / 144)
        x, y, a, b, theta, own, table = (v[inside] for v in (x, y, a, b, theta, own, table))
        self.assertGreater(len(x), 200)
        segmap = segments.astype(numpy.int32)
        first, _ = sep.kron_radius(image, x, y, a, b, theta, 6.0, seg_id=own.astype(numpy.int32), segmap=segmap)
        radius = numpy.clip(2.5 * first, 3.5, 15)
        numpy.testing.assert_allclose(table["kron_radius"], radius, rtol=1e-3)
        flux, _, _ = sep.sum_ellipse(image, x, y, a, b, theta, radius, subpix=1)  # whole pixels
        alone = numpy.array([not self.has_others(segments, *each) for each in zip(x, y, a, radius, own)])
        ratio = numpy.asarray(table["flux_auto"])[alone] / flux[alone]
        print(f"\n  {len(x)} radii, {alone.sum()} fluxes: largest difference {numpy.abs(ratio - 1).max():.2e}", end=" ",
              file=sys.stderr, flush=True)
        self.assertGreater(alone.sum(), 50)
        # A pixel on the very edge of an ellipse may be in or out.
        self.assertLess(numpy.median(numpy.abs(ratio - 1)), 1e-6)
        self.assertLess(numpy.abs(ratio - 1).max(), 0.01)
        magnitude = 25 - 2.5 * numpy.log10(numpy.asarray(table["flux_auto"]))
        numpy.testing.assert_allclose(table["mag_auto"], magnitude, rtol=1e-12)

    @staticmethod
    def has_others(segments, x, y, a, radius, own):
        """Whether a pixel of another island is near the ellipse."""
        half = math.ceil(a * radius) + 1
        part = segments[int(y) - half : int(y) + half + 2, int(x) - half : int(x) + half + 2]
        return bool(((part != 0) & (part != own)).any())


class TestApertures(unittest.TestCase):
    """Sums in circles at arbitrary places, some of which end beyond the image."""

    RADII = (0.4, 2, 3.5, 9, 40)

    def test_sums_and_errors(self):
        path = runs.sky(11, *STARS)
        image = runs.pixels(path) - LEVEL
        random = numpy.random.default_rng(5)
        x, y = random.uniform(-3, image.shape[1] + 2, 400), random.uniform(-3, image.shape[0] + 2, 400)
        places, out = runs.folder() / "places.csv", runs.folder() / "apertures.fits"
        Table({"x": x, "y": y}).write(places, format="ascii.csv", overwrite=True)
        radii = ",".join(map(str, self.RADII))
        text = runs.kastor("measure", path, "--at", places, "--aperture", radii, "--background", LEVEL, "--rms", RMS,
                           "--noise", "white", "-o", out, "--overwrite", "--json")
        table, report = Table.read(out, hdu=1), json.loads(text)
        for radius, aperture in zip(self.RADII, report["apertures"]):
            name = f"flux_aper_{radius}".replace(".", "_")
            flux, error = numpy.asarray(table[name]), numpy.asarray(table[name + "_err"])
            area = numpy.asarray(table[name.replace("flux", "area")])
            good = area > 1e-6
            self.assertGreater(good.sum(), 380)
            by_sep, sep_error, _ = sep.sum_circle(image, x, y, radius, err=RMS, subpix=0)
            circles = CircularAperture(numpy.column_stack([x, y]), radius)
            by_photutils = aperture_photometry(image, circles, method="exact")["aperture_sum"].value
            # In units of the noise in the circle.
            noise = RMS * numpy.sqrt(area)
            print(f"\n  radius {radius}: largest difference from SEP", end=" ", file=sys.stderr)
            for other in (by_sep, by_photutils):
                worst = numpy.abs((flux - other) / noise)[good].max()
                print(f"{worst:.1e}", end=" photutils " if other is by_sep else " ", file=sys.stderr, flush=True)
                self.assertLess(worst, 1e-6)
            # Both take the parts of pixels for their squares in the variance.
            numpy.testing.assert_allclose(error[good] / math.sqrt(aperture["noise_factor"]), sep_error[good], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Region files, read back by the regions package and laid over an image."""

import unittest
import warnings

import astropy.units as u
import numpy
from astropy.coordinates import SkyCoord
from astropy.wcs import WCS
from regions import (EllipsePixelRegion, EllipseSkyRegion, PointPixelRegion, PointSkyRegion,
                     Regions)

import samples

ASTROPY_FRAMES = {"icrs": "icrs", "fk5": "fk5", "fk4": "fk4", "galactic": "galactic",
                  "ecliptic": "barycentricmeanecliptic"}
CRTF_SYNTAX = str.maketrans(",[]='\"", "______")
DS9_SYNTAX = str.maketrans("{}", "()")


def read(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Regions.read(samples.path(name), format="ds9" if name.endswith("reg") else "crtf")


def label(region):
    return str(region.meta.get("text", region.meta.get("label", "")))


def tangent_wcs(center):
    """North is up and east is left; pixels of 1 arcsec; the centre is pixel (100, 100)."""
    wcs = WCS(naxis=2)
    wcs.wcs.ctype = ["RA---TAN", "DEC--TAN"]
    wcs.wcs.crval = [center.ra.deg, center.dec.deg]
    wcs.wcs.crpix = [101, 101]
    wcs.wcs.cdelt = [-1 / 3600, 1 / 3600]
    return wcs


class TestRegions(unittest.TestCase):
    def check(self, found, expected, translation):
        self.assertEqual(len(found), len(expected))
        for region, wanted in zip(found, expected):
            self.assertEqual(label(region), wanted["text"].translate(translation))
            yield region, wanted

    def test_sky_positions_and_axes(self):
        for ending, syntax in ((".reg", DS9_SYNTAX), (".crtf", CRTF_SYNTAX)):
            for frame, name in ASTROPY_FRAMES.items():
                with self.subTest(frame + ending):
                    expected = samples.contents()["regions"]["sky"]
                    for region, wanted in self.check(read(frame + ending), expected, syntax):
                        place = region.center
                        self.assertIn(place.frame.name, (name, "geocentrictrueecliptic"))
                        place = place.spherical
                        self.assertAlmostEqual(place.lon.deg, wanted["x"], delta=1e-9)
                        self.assertAlmostEqual(place.lat.deg, wanted["y"], delta=1e-9)
                        if wanted["semi_major"] is None:
                            self.assertIsInstance(region, PointSkyRegion)
                            continue
                        self.assertIsInstance(region, EllipseSkyRegion)
                        axes = sorted([region.width.to_value(u.arcsec) / 2,
                                       region.height.to_value(u.arcsec) / 2])
                        self.assertAlmostEqual(axes[1], wanted["semi_major"], delta=1e-6)
                        self.assertAlmostEqual(axes[0], wanted["semi_minor"], delta=1e-6)

    def test_sky_ellipses_lie_along_their_position_angles(self):
        """Points on the major axis just inside of the ellipse, at the position angle by spherical
        trigonometry, are in it, those beyond it are not; the same for the minor axis."""
        for name in ("icrs.reg", "icrs.crtf"):
            for region, wanted in zip(read(name), samples.contents()["regions"]["sky"]):
                if wanted["semi_major"] is None:
                    continue
                with self.subTest(f"{name} {wanted['text']}"):
                    center = SkyCoord(wanted["x"], wanted["y"], unit="deg")
                    wcs = tangent_wcs(center)
                    for axis, turn in (("semi_major", 0), ("semi_minor", 90)):
                        for share, inside in ((0.99, True), (1.01, False)):
                            point = center.directional_offset_by(
                                (wanted["angle"] + turn) * u.deg, wanted[axis] * share * u.arcsec)
                            self.assertEqual(bool(region.contains(point, wcs)), inside,
                                             (axis, share))

    def test_an_ellipse_to_the_north_east_is_upper_left(self):
        """Where north is up and east is left."""
        for name in ("icrs.reg", "icrs.crtf"):
            region, wanted = read(name)[0], samples.contents()["regions"]["sky"][0]
            self.assertEqual(wanted["angle"], 45.0)
            pixels = region.to_pixel(tangent_wcs(region.center)).to_mask().to_image((201, 201))
            ys, xs = numpy.nonzero(pixels)
            covariance = numpy.cov(numpy.stack([xs - 100.0, ys - 100.0]))
            self.assertLess(covariance[0, 1], -0.5 * covariance[0, 0], name)

    def test_pixels(self):
        for name, syntax in (("image.reg", DS9_SYNTAX), ("image.crtf", CRTF_SYNTAX)):
            with self.subTest(name):
                expected = samples.contents()["regions"]["image"]
                for region, wanted in self.check(read(name), expected, syntax):
                    self.assertAlmostEqual(region.center.x, wanted["x"], delta=1e-6)
                    self.assertAlmostEqual(region.center.y, wanted["y"], delta=1e-6)
                    if wanted["semi_major"] is None:
                        self.assertIsInstance(region, PointPixelRegion)
                        continue
                    self.assertIsInstance(region, EllipsePixelRegion)
                    # Ends of the axes, without a trust in what width, height and angle mean.
                    angle = numpy.radians(wanted["angle"])
                    for axis, turn in (("semi_major", 0), ("semi_minor", numpy.pi / 2)):
                        for share, inside in ((0.99, True), (1.01, False)):
                            end = type(region.center)(
                                wanted["x"] + wanted[axis] * share * numpy.cos(angle + turn),
                                wanted["y"] + wanted[axis] * share * numpy.sin(angle + turn))
                            self.assertEqual(bool(region.contains(end)), inside, (axis, share))

    def test_no_regions(self):
        for frame in [*ASTROPY_FRAMES, "image"]:
            for ending in (".reg", ".crtf"):
                self.assertEqual(len(read(f"no_{frame}{ending}")), 0)

    def test_what_is_left_out_is_counted(self):
        for name in ("icrs.reg", "image.crtf"):
            with open(samples.path(name), encoding="utf-8") as file:
                self.assertIn("# left out, without a position: 1\n", file.read())

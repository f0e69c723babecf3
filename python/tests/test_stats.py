# SPDX-License-Identifier: Apache-2.0
"""kastor.stats against the installed astropy."""

import sys
import unittest
import unittest.mock
import warnings

import numpy as np
from astropy import units
from astropy.stats import SigmaClip
from astropy.stats import sigma_clipped_stats as peer
from astropy.utils.exceptions import AstropyUserWarning

import kastor
from kastor.stats import sigma_clipped_stats


class SigmaClippedStats(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(11)

    def samples(self):
        """Distributions whose clips take from few to many passes."""
        random = self.random
        yield random.normal(3, 2, (40, 51))
        yield random.standard_t(2.2, (60, 61))
        yield random.standard_t(1.5, (64, 64))
        yield random.lognormal(0, 1, (60, 71))
        yield np.where(random.random((90, 90)) < 0.05, 1000, random.normal(size=(90, 90)))

    def assert_same(self, *arguments, rtol=1e-12, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mine = sigma_clipped_stats(*arguments, **options)
        theirs = peer(*arguments, **options)
        plain, other = (
            np.array([getattr(value, "value", value) for value in values], float) for values in (mine, theirs)
        )
        np.testing.assert_allclose(plain, other, rtol=0, atol=rtol * np.abs(other).max())
        return mine

    def test_iterations(self):
        """Astropy's N iterations are N + 1 passes: the pixels that survive are the same ones."""
        for image in self.samples():
            for maxiters in (*range(1, 11), None, 0):  # 0 is None in astropy
                with self.subTest(shape=image.shape, maxiters=maxiters):
                    self.assert_same(image, maxiters=maxiters)
                    survivors = SigmaClip(3, maxiters=maxiters)(image, masked=False)
                    passes = maxiters + 1 if maxiters else 0
                    self.assertEqual(kastor.sigma_clip(image, max_passes=passes).clipped.count, survivors.size)
            for sigma in (1.5, 2, 4.0):
                self.assert_same(image, sigma=sigma)

    def test_types_and_shapes(self):
        image = self.random.normal(100, 50, (60, 70))
        image[::7, ::5] = 9000
        for dtype in ("float64", ">f8", "int16", "uint8", "int32", ">i4", "int64"):
            self.assert_same((image % 256 if dtype == "uint8" else image).astype(dtype))
        for dtype in ("float32", ">f4"):
            self.assert_same(image.astype(dtype), rtol=2e-6)
        cube = self.random.normal(size=(3, 4, 5, 600))
        for data in (cube, cube[0], cube.ravel(), cube[..., ::7], np.asfortranarray(image), list(image[0])):
            self.assert_same(data)
        self.assertEqual([type(value) for value in sigma_clipped_stats(image)], [float] * 3)

    def test_masks(self):
        image = self.random.normal(0, 1, (60, 70))
        image[:5] = 7
        image[9, 9] = 7 + 1e-6
        bad = np.zeros(image.shape, bool)
        bad[:3] = True
        for options in ({"mask": bad}, {"mask_value": 7}, {"mask": bad.astype(int), "mask_value": 7.0}):
            self.assert_same(image, **options)
            self.assert_same(np.ma.array(image, mask=np.roll(bad, 9, 0)), **options)
        self.assert_same(np.ma.array(image, mask=bad))
        self.assert_same(np.ma.array(image))
        self.assert_same(np.round(image * 9).astype("int32"), mask_value=63)
        for given in (
            {"data": image, "mask": np.ones(image.shape, bool)},
            {"data": np.full((4, 4), 2.0), "mask_value": 2},
        ):
            self.assertEqual([value is np.ma.masked for value in sigma_clipped_stats(**given)], [True] * 3)

    def test_units(self):
        mean, median, std = self.assert_same(self.random.normal(size=(60, 70)) * units.Jy)
        self.assertEqual({mean.unit, median.unit, std.unit}, {units.Jy})

    def test_pixels_that_are_not_finite(self):
        image = self.random.normal(size=(60, 70))
        image[3:6], image[10, 10], image[11, 11] = np.nan, np.inf, -np.inf
        bad = ~np.isfinite(image)
        for options in ({}, {"mask": np.roll(bad, 1, 0)}):
            with self.assertWarnsRegex(AstropyUserWarning, "invalid values") as caught:
                mine = sigma_clipped_stats(image, **options)
            self.assertEqual(caught.filename, __file__)
            with self.assertWarns(AstropyUserWarning):
                np.testing.assert_allclose(mine, peer(image, **options), atol=1e-14)
        self.assert_same(image, mask=bad)
        with self.assertWarns(AstropyUserWarning):
            np.testing.assert_array_equal(sigma_clipped_stats(np.full((5, 5), np.nan)), [np.nan] * 3)

    def test_constant_images(self):
        self.assertEqual(self.assert_same(np.full((9, 9), 2.5)), (2.5, 2.5, 0))
        image = np.ones((10, 10))
        image[5, 5] = 100
        for maxiters in (1, 2, 5, None):
            self.assertEqual(self.assert_same(image, maxiters=maxiters), (1, 1, 0))

    def test_a_pixel_at_the_limit(self):
        """The one difference that is documented: std is 2, so 4 is at 2 standard deviations."""
        image = np.array([[0.0, 0, 0, 0, 0, 0, 4, -4]])
        self.assertEqual(peer(image, sigma=2)[2], 2)
        self.assertEqual(sigma_clipped_stats(image, sigma=2)[2], 0)

    def test_other_arguments_are_astropys_after_one_warning(self):
        image = self.random.standard_t(3, (30, 40))
        for named, options in (
            ("sigma_lower is", {"sigma_lower": 2}),
            ("sigma_upper is", {"sigma_upper": 2}),
            ("cenfunc, stdfunc are", {"cenfunc": "mean", "stdfunc": "mad_std"}),
            ("cenfunc is", {"cenfunc": np.nanmean}),
            ("std_ddof is", {"std_ddof": 1}),
            ("axis is", {"axis": 0}),
            ("grow is", {"grow": 1}),
            ("maxiters is", {"maxiters": 2.5}),
            ("sigma is", {"sigma": 0}),
            ("data of float16", {"data": image.astype("float16")}),
            ("data of int8", {"data": image.astype("int8")}),
        ):
            options = {"data": image} | options
            with self.subTest(named), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                mine = sigma_clipped_stats(**options)
                self.assertIn((UserWarning, __file__), [(warning.category, warning.filename) for warning in caught])
                self.assertIn(f"kastor.stats: {named}", str(caught[0].message))
                np.testing.assert_array_equal(mine, peer(**options))
                self.assertEqual([str(warning.message) for warning in caught].count(str(caught[0].message)), 1)

    def test_without_astropy(self):
        image = self.random.normal(size=(30, 40))
        expected = peer(image)
        missing = dict.fromkeys(("astropy", "astropy.stats", "astropy.utils.exceptions"))
        with unittest.mock.patch.dict(sys.modules, missing):
            np.testing.assert_allclose(sigma_clipped_stats(image), expected, atol=1e-12)
            with self.assertRaisesRegex(ImportError, "axis needs the package astropy"):
                sigma_clipped_stats(image, axis=0)
            image[3] = np.nan
            with self.assertWarns(UserWarning):
                sigma_clipped_stats(image)


if __name__ == "__main__":
    unittest.main()

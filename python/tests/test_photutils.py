# SPDX-License-Identifier: Apache-2.0
"""kastor.photutils against the installed photutils."""

import sys
import unittest
import unittest.mock
import warnings

import numpy as np
import photutils.segmentation as peer
from astropy import units
from astropy.utils.exceptions import AstropyDeprecationWarning
from photutils.utils.exceptions import NoDetectionsWarning
from skies import command, folder, pixels_of

import kastor.photutils as mine


class DetectSources(unittest.TestCase):
    def assert_same(self, *arguments, **options):
        one, other = mine.detect_sources(*arguments, **options), peer.detect_sources(*arguments, **options)
        self.assertIs(type(one), type(other))
        for name in ("data", "labels"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            self.assertEqual(getattr(one, name).dtype, getattr(other, name).dtype)
        self.assertEqual(one.slices, other.slices)
        np.testing.assert_array_equal(one.areas, other.areas)
        return one

    def test_simulated_skies(self):
        random = np.random.default_rng(4)
        found = 0
        for seed in range(1, 21):
            path = folder()[0] / "photutils.fits"
            command(
                "simulate",
                "sky",
                "--size",
                (60, 129, 200, 257)[seed % 4],
                "--seed",
                seed,
                "--sources-per-mpx",
                500,
                "-o",
                path,
                "--quiet",
                "--overwrite",
            )
            image = (1000 * pixels_of(path)[0]).astype(("float32", "float64", "int32", ">f4")[seed % 4])
            bad = random.random(image.shape) < 0.05
            if image.dtype.kind == "f":
                image[10:14] = np.nan
            noise = float(np.nanstd(image)) / 5
            level = noise * random.uniform(0.5, 2, image.shape)
            for options in (
                {"threshold": noise, "n_pixels": 5},
                {"threshold": level, "n_pixels": 1, "connectivity": 4},
                {"threshold": np.float32(noise), "n_pixels": 10, "mask": bad},
                {"threshold": level.astype("float32"), "n_pixels": 3.0, "mask": bad, "connectivity": 4},
            ):
                with self.subTest(seed=seed, **{name: np.shape(value) for name, value in options.items()}):
                    found += self.assert_same(image, **options).n_labels
        self.assertGreater(found, 1000)

    def test_units_and_values_at_the_threshold(self):
        image = np.random.default_rng(5).integers(0, 4, (50, 60))
        self.assert_same(image, 2, 1)
        self.assert_same(image * units.Jy, 2 * units.Jy, 2)
        self.assert_same(image * units.Jy, image[::-1] * units.Jy, n_pixels=2)
        for data, threshold in ((image * units.Jy, 2), (image, 2 * units.Jy), (image * units.Jy, 2 * units.mJy)):
            for package in (mine, peer):
                with self.assertRaises(ValueError):
                    package.detect_sources(data, threshold, 1)

    def test_nothing_found(self):
        image = np.zeros((20, 20))
        image[3, 4] = 1
        for threshold, n_pixels in ((2, 1), (0.5, 2)):
            with self.assertWarnsRegex(NoDetectionsWarning, "No sources were found") as caught:
                self.assertIsNone(mine.detect_sources(image, threshold, n_pixels))
            self.assertEqual(caught.filename, __file__)

    def test_the_name_before_photutils_3(self):
        image = np.eye(9)
        for package in (mine, peer):
            with self.assertWarnsRegex(AstropyDeprecationWarning, "'npixels' was deprecated"):
                self.assertEqual(package.detect_sources(image, 0.5, npixels=2).n_labels, 1)
            for wrong in ({}, {"n_pixels": 2, "npixels": 2}):
                with self.assertRaises(TypeError), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    package.detect_sources(image, 0.5, **wrong)

    def test_wrong_arguments(self):
        image = np.eye(9)
        for wrong in (
            {"n_pixels": 0},
            {"n_pixels": 1.5},
            {"connectivity": 6},
            {"mask": np.zeros((3, 3), bool)},
            {"mask": np.ones((9, 9), bool)},
            {"threshold": np.zeros((3, 3))},
        ):
            for package in (mine, peer):
                with self.subTest(wrong=list(wrong)), self.assertRaises(ValueError):
                    package.detect_sources(**({"data": image, "threshold": 0.5, "n_pixels": 1} | wrong))
        with self.assertRaisesRegex(TypeError, "mask"):
            mine.detect_sources(np.ma.array(image, mask=image > 0), 0.5, 1)
        with self.assertRaisesRegex(ValueError, "two"):
            mine.detect_sources(np.zeros(9), 0.5, 1)

    def test_catalogues_of_what_was_found(self):
        image = np.random.default_rng(6).normal(size=(100, 100))
        tables = [
            package.SourceCatalog(image, package.detect_sources(image, 1.0, 5)).to_table() for package in (mine, peer)
        ]
        for name in ("label", "x_centroid", "area", "segment_flux"):
            np.testing.assert_array_equal(tables[0][name], tables[1][name])


class Module(unittest.TestCase):
    def test_everything_else_is_photutils(self):
        for name in ("SegmentationImage", "SourceCatalog", "SourceFinder", "deblend_sources", "detect_threshold"):
            self.assertIs(getattr(mine, name), getattr(peer, name))
            self.assertIn(name, dir(mine))
        with self.assertRaises(AttributeError):
            mine.no_such_name
        with self.assertRaises(AttributeError):
            mine.__no_such_name__

    def test_without_photutils(self):
        with unittest.mock.patch.dict(sys.modules, {"photutils": None}):
            for call in (lambda: mine.detect_sources(np.eye(9), 0.5, 1), lambda: mine.SourceCatalog):
                with self.assertRaisesRegex(ImportError, "needs the package photutils"):
                    call()
            self.assertEqual(dir(mine), ["detect_sources"])


if __name__ == "__main__":
    unittest.main()

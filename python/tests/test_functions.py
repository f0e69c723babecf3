# SPDX-License-Identifier: Apache-2.0
"""Clip, background, labels, convolution, measure, compare and evaluate."""

import pickle
import unittest

import numpy as np
import scipy.ndimage
import scipy.signal
from astropy.io import fits
from astropy.table import Table
from skies import command, command_json, folder, pixels_of, sky

import kastor


class Arrays(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(5)

    def test_sigma_clip(self):
        image = self.random.normal(3, 2, (200, 301)).astype("float32")
        image[::10, ::10] = 100
        clip = kastor.sigma_clip(image)
        kept = image.astype("float64").ravel()
        while True:
            median, deviation = np.median(kept), kept.std()
            again = kept[np.abs(kept - median) < 3 * deviation]
            if again.size == kept.size:
                break
            kept = again
        self.assertEqual(
            (clip.clipped.count, clip.clipped.median, clip.pixels, clip.blank), (kept.size, median, image.size, 0)
        )
        self.assertAlmostEqual(clip.clipped.std, deviation, delta=1e-9)
        self.assertTrue(clip.converged)
        bad = image == 100
        self.assertEqual(kastor.sigma_clip(image, mask=bad).all.count, np.count_nonzero(~bad))
        self.assertEqual(kastor.sigma_clip(np.ma.array(image, mask=bad)).blank, np.count_nonzero(bad))
        self.assertEqual(kastor.sigma_clip(image, max_passes=1).passes, 1)
        with self.assertRaises((ValueError, kastor.Error)):
            kastor.sigma_clip(image, kappa=0)

    def test_background(self):
        path = sky()
        pixels, _ = pixels_of(path)
        names = [folder()[0] / f"function-{name}.fits" for name in ("background", "rms")]
        command(
            "find",
            path,
            "--preset",
            "sextractor",
            "--cell",
            "32x64",
            "--quiet",
            "--overwrite",
            "-o",
            folder()[0] / "f.csv",
            "--background-map",
            names[0],
            "--rms-map",
            names[1],
        )
        made = kastor.background(pixels, cell=(64, 32))
        np.testing.assert_array_equal(made.level, pixels_of(names[0])[0])
        np.testing.assert_array_equal(made.rms, pixels_of(names[1])[0])
        self.assertAlmostEqual(made.global_rms, float(np.median(made.rms)), delta=0.1 * made.global_rms)
        bad = np.zeros(pixels.shape, bool)
        bad[:256] = True
        spoilt = np.where(bad, pixels + 1000, pixels)
        self.assertLess(kastor.background(spoilt, mask=bad).global_level, 1)
        with self.assertRaisesRegex(ValueError, "estimate"):
            kastor.background(pixels, estimate="mean")

    def test_labels_are_those_of_scipy(self):
        for shape in ((1, 1), (7, 65), (64, 64), (130, 200)):
            for connectivity, structure in ((4, None), (8, np.ones((3, 3)))):
                mask = self.random.random(shape) < 0.5
                expected, count = scipy.ndimage.label(mask, structure)
                for backend in kastor.backends():
                    labels, found = kastor.label(mask, connectivity=connectivity, on=backend)
                    self.assertEqual(found, count)
                    np.testing.assert_array_equal(labels, expected)
        for wrong in (np.zeros((3, 3)), None):
            with self.assertRaises(TypeError):
                kastor.label(wrong)
        with self.assertRaisesRegex(ValueError, "4 or 8"):
            kastor.label(mask, connectivity=6)

    def test_convolve(self):
        image = self.random.normal(size=(50, 61))
        kernel = self.random.normal(size=(5, 7))
        for mode in ("same", "full", "valid"):
            np.testing.assert_allclose(
                kastor.convolve(image, kernel, mode=mode), scipy.signal.convolve2d(image, kernel, mode), atol=1e-12
            )
        direct = np.zeros(image.shape)
        for y in range(5):
            for x in range(7):
                direct += kernel[y, x] * np.pad(image, ((4, 4), (6, 6)))[6 - y : 56 - y, 9 - x : 70 - x]
        np.testing.assert_allclose(kastor.convolve(image, kernel, method="direct"), direct, atol=1e-12)
        self.assertEqual(kastor.convolve(image.astype("float32"), kernel).dtype, np.float32)
        image[3, 4] = np.nan
        self.assertEqual(np.count_nonzero(np.isnan(kastor.convolve(image, kernel))), 5 * 7)
        self.assertTrue(np.isfinite(kastor.convolve(image, np.ones((3, 3)) / 9, nan="interpolate")).all())
        with self.assertRaises((ValueError, kastor.Error)):
            kastor.convolve(image, np.ones((129, 129)))


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = sky()
        cls.pixels, cls.header = pixels_of(cls.path)
        cls.list = folder()[0] / "list.csv"
        kastor.find(cls.path, preset="radio").write(cls.list, overwrite=True)

    def test_measure(self):
        out = folder()[0] / "measured.fits"
        expected = command_json("measure", self.path, "--at", self.list, "--aperture", "3,5", "-o", out, "--overwrite")
        table = Table.read(out)
        table.convert_bytestring_to_unicode()
        for image, options in ((self.path, {}), (self.pixels, {"header": self.header})):
            measured = kastor.measure(image, self.list, aperture=(3, 5), **options)
            self.assertEqual(len(measured), len(table))
            for name in table.colnames:
                np.testing.assert_array_equal(np.asarray(measured.rows[name]), np.asarray(table[name]), name)
            self.assertEqual(measured.report["notes"], expected["notes"])
        found = kastor.find(self.path, preset="radio")
        self.assertEqual(len(kastor.measure(self.path, found)), len(found.components))
        x, y = [10.0, 200.5], [20, 31]
        for at in (
            (x, y),
            {"x_cen": x, "y_cen": y},
            np.array([(10.0, 20), (200.5, 31)], [("x_cen", float), ("y_cen", float)]),
            Table({"x_cen": x, "y_cen": y}),
        ):
            np.testing.assert_allclose(kastor.measure(self.path, at).rows["x_cen"], x)
        with self.assertRaisesRegex(TypeError, "at: found int"):
            kastor.measure(self.path, 5)
        with self.assertRaisesRegex(ValueError, "different lengths"):
            kastor.measure(self.path, ([1, 2], [3]))

    def test_compare(self):
        found = kastor.find(self.path, preset="radio")
        truth = str(self.path).replace(".fits", "_truth.csv")
        expected = command_json("compare", truth, self.list, "--pixels", 5)
        self.assertEqual(
            {key: value for key, value in kastor.compare(truth, self.list, pixels=5).items() if key != "seconds"},
            {key: value for key, value in expected.items() if key != "seconds"},
        )
        compared = kastor.compare(found, found.table("components"), pixels=1)
        self.assertEqual(compared["matched"], len(found.components))
        self.assertEqual((compared["catalogue1"]["file"], compared["catalogue2"]["file"]), ("the Found", "the QTable"))

    def test_simulate(self):
        folder_, path = folder()[0], folder()[0] / "simulated.fits"
        self.assertEqual(kastor.simulate("sky", path, size=100, seed=4), str(folder_ / "simulated_truth.csv"))
        other = folder_ / "by-command.fits"
        command("simulate", "sky", "--size", 100, "--seed", 4, "-o", other, "--quiet")
        np.testing.assert_array_equal(pixels_of(path)[0], pixels_of(other)[0])
        self.assertIsNone(kastor.simulate("diracs", path, overwrite=True, size=64))
        with self.assertRaisesRegex(kastor.Error, "exists"):
            kastor.simulate("sky", path, size=100)
        with self.assertRaisesRegex(ValueError, "'noise'"):
            kastor.simulate("noise", path)

    def test_evaluate(self):
        truth = str(self.path).replace(".fits", "_truth.csv")
        expected = command_json("evaluate", self.path, "--truth", truth)
        self.assertEqual(kastor.evaluate(self.path, truth), expected)
        self.assertEqual(kastor.evaluate(self.path, truth, on="serial")["rows"], expected["rows"])
        found = kastor.find(self.path, preset="radio", components=False)
        self.assertEqual(
            kastor.evaluate(self.path, truth, pickle.loads(pickle.dumps(found)))["rows"],
            kastor.evaluate(self.path, truth, found)["rows"],
        )
        self.assertEqual(kastor.evaluate(self.path, truth, found)["rows"]["matched"], expected["rows"]["matched"])
        with self.assertRaisesRegex(TypeError, "FITS file"):
            kastor.evaluate(self.pixels, truth)

    def test_images_in_memory_need_no_file(self):
        hdu = fits.ImageHDU(self.pixels, self.header)
        self.assertEqual(len(kastor.measure(hdu, ([5.0], [5.0]))), 1)


if __name__ == "__main__":
    unittest.main()

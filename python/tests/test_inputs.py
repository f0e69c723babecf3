# SPDX-License-Identifier: Apache-2.0
"""Units, masks, coordinates, parts and names: nothing that was given is dropped without a word."""

import os
import pathlib
import tempfile
import unittest

import astropy.units as u
import numpy as np
from astropy.io import fits
from astropy.nddata import CCDData, NDData
from astropy.table import Column
from astropy.utils.masked import Masked
from astropy.wcs import WCS

import kastor
import kastor.stats


def three_sources():
    image = np.random.default_rng(8).normal(size=(128, 160)).astype("float32")
    for y, x in ((30, 40), (90, 60), (60, 120)):
        image[y - 2 : y + 3, x - 2 : x + 3] += 50
    return image


def wcs_at(ra, dec, arcsec):
    wcs = WCS(naxis=2)
    wcs.wcs.ctype = "RA---TAN", "DEC--TAN"
    wcs.wcs.crval, wcs.wcs.crpix, wcs.wcs.cdelt = (ra, dec), (80, 64), (-arcsec / 3600, arcsec / 3600)
    return wcs


class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = three_sources()
        cls.bad = np.zeros(cls.image.shape, bool)
        cls.bad[20:40, 30:50] = True  # the first source

    def find(self, image=None, **options):
        return kastor.find(self.image if image is None else image, **({"preset": "sextractor"} | options))


class Coordinates(Inputs):
    def test_a_wcs_takes_the_place_of_that_of_the_header(self):
        other = wcs_at(10, 20, 2)
        expected = self.find(wcs=other).sources["ra_deg_cont"].tolist()
        matrix = fits.Header([("CTYPE1", "RA---TAN"), ("CTYPE2", "DEC--TAN"), ("CRVAL1", 150.0), ("CRVAL2", 2.0),
                              ("CRPIX1", 1.0), ("CRPIX2", 1.0), ("CD1_1", -1 / 3600), ("CD1_2", 0.0),
                              ("CD2_1", 0.0), ("CD2_2", 1 / 3600), ("OBJECT", "other")])  # fmt: skip
        distorted = matrix.copy()
        distorted.update(
            {
                "CTYPE1": "RA---TAN-SIP",
                "CTYPE2": "DEC--TAN-SIP",
                "A_ORDER": 2,
                "B_ORDER": 2,
                "A_0_2": 1e-5,
                "B_2_0": 1e-5,
            }
        )
        for header in (matrix, distorted):
            self.assertNotEqual(self.find(header=matrix).sources["ra_deg_cont"].tolist(), expected)
            self.assertEqual(self.find(header=header, wcs=other).sources["ra_deg_cont"].tolist(), expected)
            ccd = CCDData(self.image, unit="adu", wcs=other, meta=header)
            self.assertEqual(self.find(ccd).sources["ra_deg_cont"].tolist(), expected)

    def test_what_is_no_wcs(self):
        with self.assertRaisesRegex(TypeError, "wcs: found int"):
            self.find(wcs=5)


class Masks(Inputs):
    def test_each_kind(self):
        expected = self.find(mask=self.bad).hash
        self.assertNotEqual(self.find().hash, expected)
        for image in (
            np.ma.array(self.image, mask=self.bad),
            Masked(self.image, mask=self.bad),
            NDData(self.image, mask=self.bad),
            np.ma.array(self.image, mask=np.asfortranarray(self.bad)),
        ):
            self.assertEqual(self.find(image).hash, expected, type(image))
        for mask in (np.asfortranarray(self.bad), self.bad.T.copy().T, self.bad.tolist(), self.bad[None]):
            self.assertEqual(self.find(mask=mask).hash, expected)
        with_unit = Masked(self.image * u.Jy, mask=self.bad)
        self.assertEqual(self.find(with_unit).hash, self.find(self.image * u.Jy, mask=self.bad).hash)
        blank = np.where(self.bad, np.nan, self.image).astype("float32")
        for image in (np.ma.array(self.image, mask=self.bad), Masked(self.image, mask=self.bad)):
            self.assertEqual(kastor.find(image).hash, kastor.find(blank).hash)
        self.assertEqual(kastor.find(self.image, mask=self.bad[None]).hash, kastor.find(blank).hash)

    def test_numbers_are_no_mask(self):
        for preset in ("lesson", "sextractor"):
            for mask in (self.bad.astype(float) - 1, self.bad.astype(int) * 3):
                with self.assertRaisesRegex(TypeError, "mask.*bool"):
                    self.find(mask=mask, preset=preset)

    def test_two_masks(self):
        masked = np.ma.array(self.image, mask=self.bad)
        for function in (kastor.find, kastor.sigma_clip, kastor.background):
            with self.assertRaisesRegex(ValueError, "mask: found one in the image too"):
                function(masked, mask=np.zeros(self.bad.shape, bool))

    def test_statistics_of_a_masked_image(self):
        with self.assertWarnsRegex(UserWarning, "Masked"):
            found = kastor.stats.sigma_clipped_stats(Masked(self.image, mask=self.bad))
        np.testing.assert_allclose(
            np.ravel(found).astype(float), kastor.stats.sigma_clipped_stats(self.image, mask=self.bad), rtol=1e-5
        )


class Companions(Inputs):
    def test_units_are_not_dropped(self):
        for name in ("background", "rms"):
            for value in (np.ones(self.image.shape) * u.mJy, 3 * u.mJy):
                with self.assertRaisesRegex(TypeError, f"{name}: found a.*(unit|Quantity)"):
                    self.find(self.image * u.Jy, **{name: value})

    def test_masked_maps_are_blank(self):
        rms = np.ones(self.image.shape, "float32")
        expected = self.find(rms=np.where(self.bad, np.nan, rms).astype("float32")).hash
        self.assertEqual(self.find(rms=np.ma.array(rms, mask=self.bad)).hash, expected)


class Parts(Inputs):
    def test_the_hdu_of_a_list(self):
        noise = np.random.default_rng(9).normal(size=(50, 60)).astype("float32")
        hdus = fits.HDUList([fits.PrimaryHDU(self.image), fits.ImageHDU(noise, name="SCI"), fits.BinTableHDU(name="T"),
                             fits.ImageHDU(self.image[:90], name="SCI", ver=2)])  # fmt: skip
        self.assertEqual(self.find(hdus).shape, (128, 160))
        for hdu, shape in ((1, (50, 60)), ("SCI", (50, 60)), ("SCI,2", (90, 160)), (3, (90, 160))):
            self.assertEqual(self.find(hdus, hdu=hdu).shape, shape)
            self.assertEqual(self.find(hdus, hdu=hdu)._origin.data.shape, shape)
        for hdu in (7, "NO", "T"):
            with self.assertRaisesRegex(ValueError, "hdu: found"):
                self.find(hdus, hdu=hdu)

    def test_parts_of_arrays(self):
        for options in ({"hdu": 1}, {"plane": 2}):
            with self.assertRaisesRegex(ValueError, "found with an array"):
                self.find(**options)
            with self.assertRaisesRegex(ValueError, "found with an array"):
                kastor.measure(self.image, ([1.0], [1.0]), **options)


class Maps(Inputs):
    def test_any_iterable(self):
        self.assertEqual(list(self.find(maps=(name for name in ["rms", "labels"])).maps), ["labels", "rms"])

    def test_those_that_a_preset_does_not_have(self):
        self.assertEqual(list(kastor.find(self.image, maps=["labels"]).maps), ["labels"])
        with self.assertRaisesRegex(ValueError, "maps: found 'rms' with preset='lesson'"):
            kastor.find(self.image, maps=["rms"])

    def test_components_that_are_not_wanted(self):
        with self.assertRaisesRegex(ValueError, "components: found False"):
            self.find(components=False, components_output="c.csv")


class Units(Inputs):
    def test_those_that_fits_or_astropy_do_not_know(self):
        for unit in ("electron", "electron/s", "DN", "nmgy"):
            self.assertEqual(self.find(CCDData(self.image, unit=unit)).unit, unit)
        for unit in ("ELECTRONS/S", "ABmag", "foo/bar"):
            found = self.find(header={"BUNIT": unit})
            table = found.table()
            self.assertEqual(len(table), len(found))
            np.testing.assert_array_equal(np.asarray(table["flux_peak"]), found.sources["flux_peak"])

    def test_those_of_columns(self):
        here = {"ra": Column([10.0], unit="hourangle"), "dec": Column([2.0], unit="deg")}
        for there, matched in (({"ra": [10.0], "dec": [2.0]}, 0), ({"ra": [150.0], "dec": [2.0]}, 1)):
            there = {name: Column(values, unit="deg") for name, values in there.items()}
            self.assertEqual(kastor.compare(here, there, radius=1)["matched"], matched)
        with self.assertRaisesRegex(TypeError, "with a unit"):
            kastor.measure(self.image, (Column([10.0], unit="deg"), Column([2.0], unit="deg")))


class Names(Inputs):
    def test_those_that_no_file_has(self):
        for name in ("nul.csv\0.fits", os.fsdecode(b"\xff.csv")):
            with self.assertRaisesRegex(ValueError, "output: found a name"):
                self.find(output=name)
            with self.assertRaisesRegex(ValueError, "image: found a name"):
                kastor.find(name)
        with self.assertRaisesRegex(ValueError, "unit: found"):
            self.find(unit="a\0b")

    def test_one_with_a_dollar(self):
        import matplotlib

        matplotlib.use("agg")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a$x_{$.fits")
            fits.PrimaryHDU(self.image).writeto(path)
            axes = self.find(path).show()
            axes.figure.canvas.draw()

    def test_rows_between_pixels(self):
        records = np.zeros(64, [("row", "float32", 64), ("byte", "u1")])
        for type_ in ("float32", ">f4", "int32"):
            view = records["row"] if type_ == "float32" else records["row"].view(type_)
            with self.assertRaisesRegex(TypeError, "contiguous"):
                kastor.find(view)


class Plans(Inputs):
    def test_a_file_that_changes_between_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, "kernel.fits")
            hashes = []
            y, x = np.mgrid[-5:6, -5:6]
            for sigma in (1.0, 2.5):
                fits.PrimaryHDU(np.exp(-(x**2 + y**2) / 2 / sigma**2)).writeto(kernel, overwrite=True)
                hashes.append(self.find(filter_kernel=kernel, on="serial").hash)
            kastor.release()
            self.assertEqual(self.find(filter_kernel=kernel, on="serial").hash, hashes[1])
            self.assertNotEqual(hashes[0], hashes[1])


class Streams(Inputs):
    def test_find_many_that_is_left(self):
        searched = kastor.find_many([self.image] * 100, workers=1, preset="sextractor")
        next(searched)
        searched.close()


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Maps with the coordinates of their image, read back by astropy."""

import unittest

import numpy
from astropy.io import fits
from astropy.wcs import WCS

import samples


class TestMaps(unittest.TestCase):
    def setUp(self):
        self.expected = samples.contents()["maps"]

    def check(self, name, dtype):
        with fits.open(samples.path(f"{name}.fits")) as hdus:
            hdus.verify("exception")
            self.assertEqual(len(hdus), 1)
            data, header = hdus[0].data, hdus[0].header
            self.assertEqual(data.dtype.newbyteorder("="), dtype)
            self.assertEqual(data.shape, (2, 3))
            for found, bits in zip(data.ravel(), self.expected[name]):
                self.assertTrue(samples.same_bits(float(found), samples.double(bits)))
            return header

    def test_noise(self):
        header = self.check("rms", numpy.float64)
        self.assertEqual(header["BUNIT"], "Jy/beam")
        self.assertEqual(header["BTYPE"], "noise")

    def test_a_ratio_has_no_unit(self):
        header = self.check("snr", numpy.float32)
        self.assertNotIn("BUNIT", header)
        self.assertEqual(header["BTYPE"], "signal-to-noise")

    def test_coordinates_and_beam_are_the_images(self):
        cards = fits.Header.fromstring("".join(self.expected["input"]))
        image = WCS(cards, naxis=2)
        y, x = numpy.mgrid[0:2, 0:3]
        for name in ("rms", "snr"):
            header = fits.getheader(samples.path(f"{name}.fits"))
            found = WCS(header)
            self.assertEqual(found.naxis, 2)
            self.assertEqual(found.wcs.radesys, "FK5")
            numpy.testing.assert_array_equal(found.all_pix2world(x, y, 0),
                                             image.all_pix2world(x, y, 0))
            for key in ("BMAJ", "BMIN", "BPA", "OBJECT"):
                self.assertEqual(header[key], cards[key])

    def test_provenance(self):
        provenance = samples.contents()["provenance"]
        for name in ("rms", "snr"):
            header = fits.getheader(samples.path(f"{name}.fits"))
            self.assertEqual((header["CREATOR"], header["KASTORV"], header["INHDU"],
                              header["INSUM"]),
                             ("kastor", provenance["version"], provenance["hdu"],
                              provenance["datasum"]))

# SPDX-License-Identifier: Apache-2.0
"""Coordinates in the forms of many telescopes, as Kastor computes and rewrites them, by astropy."""

import unittest
import warnings

import numpy
from astropy.io import fits
from astropy.wcs import WCS

import samples

#: Headers that astropy reads wrongly, or not at all, before Kastor has rewritten them.
REWRITTEN = ("exponents tpv_pc tpv_defaults tpv_latitude_first scamp_rotated longpole "
             "sip_without_type sip_and_scamp").split()


def positions_by_astropy(cards, pixels):
    header = fits.Header.fromstring("".join(cards))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return WCS(header, naxis=2).all_pix2world(pixels, 0)


class TestHeaders(unittest.TestCase):
    def test_outputs_show_the_sky_of_the_input(self):
        for name, each in samples.contents()["headers"].items():
            with self.subTest(name):
                wanted = numpy.array(each["positions"])
                found = positions_by_astropy(each["kept"], wanted[:, :2])
                numpy.testing.assert_allclose(found, wanted[:, 2:], rtol=0, atol=1e-9)

    def test_inputs_that_astropy_knows(self):
        for name, each in samples.contents()["headers"].items():
            if name in REWRITTEN:
                continue
            with self.subTest(name):
                wanted = numpy.array(each["positions"])
                found = positions_by_astropy(each["input"], wanted[:, :2])
                numpy.testing.assert_allclose(found, wanted[:, 2:], rtol=0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Every kind of output before those who check formats: fitsverify (HEASARC), votlint (STILTS), and
astropy, whose warnings count as errors. Images with usual and with odd headers."""

import functools
import os
import pathlib
import shutil
import subprocess
import unittest
import warnings

import numpy
from astropy.io import fits
from astropy.io.votable import ucd
from astropy.table import Table
from astropy.wcs import WCS

import runs
import samples


def program(name):
    """Its path; skips the test where there is none, unless peers are required."""
    path = shutil.which(name)
    if path is None and os.environ.get("KASTOR_REQUIRE_PEERS"):
        raise AssertionError(f"no program {name}, and KASTOR_REQUIRE_PEERS is set")
    if path is None:
        raise unittest.SkipTest(f"no program {name}")
    return path


#: Cards of a header as FITS has them; D exponents and long strings are of the standard too.
USUAL = """\
CTYPE1  = 'RA---SIN'
CTYPE2  = 'DEC--SIN'
CRVAL1  = 1.5D2
CRVAL2  = 2.5D1
CRPIX1  = +64.
CRPIX2  = 64
CDELT1  = -5.5555D-4 / [deg] a pixel
CDELT2  = 5.5555D-4
BMAJ    = 2.8D-3
BMIN    = 2.8D-3
BPA     = 0
BUNIT   = 'JY/BEAM '
OBJECT  = 'a long name that goes on and on and on over the whole card, and &'
CONTINUE  'then beyond it, &'
CONTINUE  'and ends' / a name
HIERARCH ESO TEL ALT = 45.0
DATE-OBS= '1998-12-31'
"""

#: What may be amiss in a header besides: lower case, values that are none, keywords twice,
#: matrices that exclude each other, characters beyond ASCII, in Latin-1.
ODD = USUAL.replace("5.5555D-4", "5.5555d-4").replace("= 64", "=64") + """\
crota2  = 12.0
EPOCH   = 2000
BMIN    = 2.8d-3
OBJECT  = 'twice'
TELESCOP= 'Effelsberg \u00b5 & \u00e9'
OBSERVER= 'O''Brien'
SPECSYS = 'LSRK
TIMESYS =UTC
FILTER  =
DATE-BEG= 1998-12-31
WCSNAME = nothing
CTYPE1A = 'LINEAR'
CRVAL1A = NaN
PC1_1   = 1.0
CD1_1   = 0.0
CROTA2  = 0.0
COMMENT \u00ff
"""


@functools.cache
def image(kind):
    """Path of an image with noise and sources."""
    cards = {"usual": USUAL, "odd": ODD, "bare": "", "counts": "BUNIT   = 'COUNTS  '\n"}[kind]
    n = 128
    y, x = numpy.mgrid[0:n, 0:n]
    pixels = numpy.random.default_rng(5).normal(0, 0.01, (n, n))
    for at in ((30.3, 40.1), (90.7, 80.2), (64.0, 20.5)):
        pixels += 0.5 * numpy.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / 8)
    head = [f"{k:<8}= {v:>20}" for k, v in
            (("SIMPLE", "T"), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", n), ("NAXIS2", n))]
    text = "".join(card.ljust(80) for card in [*head, *cards.splitlines(), "END"])
    data = pixels.astype(">f4").tobytes()
    path = runs.folder() / f"{kind}.fits"
    path.write_bytes(text.encode("latin-1") + b" " * (-len(text) % 2880) +
                     data + b"\0" * (-len(data) % 2880))
    return path


@functools.cache
def outputs():
    """Folder of the outputs of all subcommands, on all images."""
    folder = runs.folder() / "outputs"
    for kind in ("usual", "odd", "bare", "counts"):
        out = folder / kind
        out.mkdir(parents=True)
        runs.kastor("find", image(kind), "-o", out / "lesson.fits", "-o", out / "lesson.vot",
                    "-o", out / "lesson.ecsv", "--labels", out / "lesson_labels.fits")
        for preset in ("radio", "sextractor"):
            maps = [word for name in ("labels", "background-map", "rms-map", "snr-map", "residual",
                                      "model", "fit-residual")
                    for word in ("--" + name, out / f"{preset}_{name}.fits")]
            tables = [word for ending in ("fits", "vot", "ecsv")
                      for word in ("-o", out / f"{preset}.{ending}",
                                   "--components", out / f"{preset}_components.{ending}")]
            runs.kastor("find", image(kind), "--preset", preset, *maps, *tables)
        unit = ["--unit", "0.001*MicroJansky per beam"]
        runs.kastor("find", image(kind), "--preset", "radio", *unit, "-o", out / "unit.vot",
                    "-o", out / "unit.fits", "-o", out / "unit.ecsv")
        # A name that needs more than one card.
        longer = out / ("long" * 20 + ".fits")
        shutil.copy(image(kind), longer)
        runs.kastor("label", longer, "-o", out / "label.fits")
        longer.unlink()
        runs.kastor("convolve", image(kind), "--gaussian", 2, "-o", out / "convolve.fits")
        for ending in ("fits", "vot", "ecsv"):
            runs.kastor("compare", out / "radio.fits", out / "lesson.vot", "-o",
                        out / f"pairs.{ending}")
    runs.kastor("simulate", "sky", "--size", 128, "-o", folder / "sky.fits")
    runs.kastor("simulate", "diracs", "--size", 128, "-o", folder / "diracs.fits")
    return folder


def files(ending):
    """Of the command and of kastor_samples, whose tables have awkward contents."""
    found = [*outputs().rglob(f"*.{ending}"), *pathlib.Path(samples.folder()).glob(f"*.{ending}")]
    assert len(found) > 10, found
    return sorted(found)


class TestVerifiers(unittest.TestCase):
    def test_fitsverify(self):
        verifier = program("fitsverify")
        done = subprocess.run([verifier, "-q", *map(str, files("fits"))], capture_output=True,
                              text=True, timeout=300, check=False)
        bad = [line for line in done.stdout.splitlines() if "verification OK" not in line]
        self.assertEqual((bad, done.returncode), ([], 0))
        # It does see what is amiss.
        done = subprocess.run([verifier, "-q", str(image("odd"))], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertIn("FAILED", done.stdout)

    def test_votlint(self):
        verifier = program("stilts")
        for path in files("vot"):
            done = subprocess.run([verifier, "votlint", f"votable={path}", "ucd=true", "unit=true"],
                                  capture_output=True, text=True, timeout=120, check=False)
            with self.subTest(path.name):
                self.assertEqual((done.stdout.strip(), done.returncode), ("", 0))


class TestAstropy(unittest.TestCase):
    def setUp(self):
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        warnings.simplefilter("error")

    def test_tables(self):
        """Units that astropy knows, UCDs whose words are in the list of the IVOA."""
        checked = 0
        for ending, form in (("fits", "fits"), ("vot", "votable"), ("ecsv", "ascii.ecsv")):
            for name in ("lesson", "radio", "sextractor", "unit", "pairs"):
                for kind in ("usual", "odd", "bare", "counts"):
                    path = outputs() / kind / f"{name}.{ending}"
                    with self.subTest(f"{kind}/{path.name}"):
                        how = {"hdu": 1} if ending == "fits" else {}
                        table = Table.read(path, format=form, **how)
                        for column in table.columns.values():
                            words = column.meta.get("ucd", "")
                            if words:
                                ucd.parse_ucd(words, check_controlled_vocabulary=True,
                                              has_colon=True)
                            unit = column.unit
                            self.assertNotIn("Unrecognized", type(unit).__name__, column.name)
                            checked += 1
        self.assertGreater(checked, 1000)
        units = {name: str(Table.read(outputs() / "odd" / "unit.ecsv")[name].unit)
                 for name in ("flux_peak", "flux_int")}
        self.assertEqual(units, {"flux_peak": "nJy / beam", "flux_int": "nJy"})

    def test_ucds_in_fits(self):
        for path in outputs().rglob("*.fits"):
            with fits.open(path) as hdus:
                hdus.verify("exception")
                for hdu in hdus:
                    for key, value in hdu.header.items():
                        if key.startswith("TUCD"):
                            ucd.parse_ucd(value, check_controlled_vocabulary=True, has_colon=True)

    def test_maps_of_an_odd_header_lie_where_the_image_does(self):
        usual = WCS(fits.getheader(outputs() / "usual" / "radio_rms-map.fits"), fix=False)
        for name in ("radio_rms-map", "radio_labels", "lesson_labels", "label", "convolve"):
            header = fits.getheader(outputs() / "odd" / f"{name}.fits")
            found = WCS(header, fix=False)
            numpy.testing.assert_allclose(found.all_pix2world([[0, 0], [100, 50]], 0),
                                          usual.all_pix2world([[0, 0], [100, 50]], 0),
                                          rtol=0, atol=1e-10)
            self.assertEqual(header["OBJECT"], "twice")
            self.assertIn("WCSNAME", str(header["HISTORY"]))
        header = fits.getheader(outputs() / "usual" / "radio_rms-map.fits")
        self.assertEqual(header["OBJECT"], "a long name that goes on and on and on over the whole "
                         "card, and then beyond it, and ends")
        self.assertEqual(header["LONGSTRN"], "OGIP 1.0")

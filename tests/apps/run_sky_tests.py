# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: the coordinates and the frequency of headers as they are."""

import csv

import command
import fits_files
import skies
from command import AppTestCase

WCS = {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CRVAL1": 210.5, "CRVAL2": 30.0}
WCS |= {"CRPIX1": 40.5, "CRPIX2": 30.0, "CDELT1": -0.001, "CDELT2": 0.001}

#: A polynomial as SCAMP writes it, in RA---TAN.
SCAMP = {"PV1_1": 1.1, "PV1_4": 0.5, "PV2_1": 1.1, "PV2_5": 0.2}


class SkyTestCase(AppTestCase):
    def setUp(self):
        super().setUp()
        self.rows = skies.island_sky()

    def write(self, name, cards, axes=None):
        values = [v for row in self.rows for v in row] if axes else self.rows
        return fits_files.write(self.folder / name, values, axes=axes, cards=list(cards.items()))

    def found(self, name, cards, *options, axes=None, preset="radio"):
        """The JSON of find, and the rows of its table."""
        table = self.folder / "a.csv"
        image = self.write(name, cards, axes)
        words = ["find", image, "--preset", preset, "-o", table, "--overwrite", *options]
        result = command.json_of(*words)
        with table.open(newline="") as file:
            return result, list(csv.DictReader(file))


class TestCoordinates(SkyTestCase):
    def note_of(self, cards):
        """The one note that is not on the unit."""
        result, rows = self.found("sky.fits", {**cards, "BUNIT": "Jy/pixel"})
        (note,) = result["notes"]
        return note, rows

    def test_cards_that_are_no_numbers(self):
        for keyword, value in (("CRVAL1", "40.0 deg"), ("CDELT2", "x"), ("CRPIX1", True)):
            with self.subTest(keyword):
                note, rows = self.note_of({**WCS, keyword: value})
                shown = "T" if value is True else f"'{value}'"
                says = f"there are no sky columns: {keyword} is {shown}; expected a number"
                self.assertEqual(note, says)
                self.assertNotIn("ra_deg_cont", rows[0])

    def test_what_is_not_used_is_said(self):
        without = {k: v for k, v in WCS.items() if k != "CRPIX2"}
        for cards, says in (
            (without, "the header has no CRPIX2; the default of the FITS standard is 0"),
            ({**WCS, "PV2_1": 0.5}, "PV2_1"),
            ({**WCS, "A_ORDER": 2, "A_2_0": 1e-4}, "A_ORDER, A_2_0"),
            ({**WCS, "CPDIS1": "LOOKUP"}, "CPDIS1"),
        ):
            with self.subTest(says):
                note, rows = self.note_of(cards)
                self.assertIn(says, note)
                self.assertIn("ra_deg_cont", rows[0])
        text = command.run("find", self.folder / "sky.fits", "--preset", "radio").stdout.decode()
        self.assertIn("note: the distortion in CPDIS1 is not applied", text)

    def test_outputs_have_the_sky_of_the_input(self):
        image = self.write("scamp.fits", {**WCS, **SCAMP, "A_ORDER": 2})
        maps = ["--rms-map", "rms.fits", "--labels", "ids.fits"]
        for words in (
            ["find", image, "--preset", "radio", *maps],
            ["label", image, "-o", "label.fits"],
            ["convolve", image, "--kernel", "lesson", "-o", "convolved.fits"],
        ):
            self.assert_done(command.run(*words, cwd=self.folder))
        for name in ("rms", "ids", "label", "convolved"):
            with self.subTest(name):
                cards, texts, _ = fits_files.read_hdus(self.folder / f"{name}.fits")[0]
                self.assertEqual((cards["CTYPE1"], cards["CTYPE2"]), ("RA---TPV", "DEC--TPV"))
                for key, value in {**SCAMP, "CD1_1": -0.001, "CD2_2": 0.001}.items():
                    self.assertEqual(cards[key], value, key)
                self.assertTrue({"CDELT1", "CDELT2", "A_ORDER"}.isdisjoint(cards))
                history = "".join(t[8:80] for t in texts if t.startswith("HISTORY"))
                self.assertIn("the distortion in A_ORDER is not applied", history)

    def test_a_plate_carree_goes_all_around(self):
        wide = {**WCS, "CTYPE1": "RA---CAR", "CTYPE2": "DEC--CAR", "CRVAL1": 10.0, "CRVAL2": 0.0,
                "CRPIX1": 1.0, "CDELT1": 4.0, "CDELT2": 1.0}
        result, rows = self.found("wide.fits", wide)
        self.assertNotIn("no coordinates", " ".join(result["notes"]))
        far = [row for row in rows if float(row["x_cen"]) > 46]
        self.assertTrue(far)
        for row in far:
            ra = (10.0 + 4.0 * float(row["x_cen"])) % 360
            self.assertAlmostEqual(float(row["ra_deg_cont"]), ra, delta=1e-9)


class TestFrequency(SkyTestCase):
    AXIS = {"CTYPE3": "FREQ", "CRVAL3": 1.4, "CRPIX3": 2.0, "CDELT3": 0.5, "CUNIT3": "GHz"}

    def assert_frequency(self, rows, hertz):
        self.assertTrue(rows)
        for row in rows:
            self.assertAlmostEqual(float(row["freq"]), hertz, delta=1e-3)

    def test_the_column(self):
        shape = (len(self.rows[0]), len(self.rows), 1)
        bare, plain = self.found("plain.fits", {**WCS, "RESTFRQ": 1.42e9}, axes=shape)
        self.assertNotIn("freq", plain[0])
        for preset in ("radio", "sextractor"):
            result, rows = self.found("cube.fits", {**WCS, **self.AXIS}, axes=shape, preset=preset)
            self.assert_frequency(rows, 0.9e9)
            if preset == "radio":
                self.assertEqual(result["catalogue_hash"], bare["catalogue_hash"])
        result, rows = self.found("bad.fits", {**WCS, **self.AXIS, "CUNIT3": "m/s"}, axes=shape)
        self.assertNotIn("freq", rows[0])
        says = "there is no column freq: CUNIT3 is 'm/s'; expected Hz, kHz, MHz or GHz"
        self.assertIn(says, result["notes"])

    def test_it_is_that_of_the_plane(self):
        self.rows = self.rows + self.rows
        shape = (len(self.rows[0]), len(self.rows) // 2, 2)
        for plane in (0, 1):
            words = ["--plane", str(plane)]
            _, rows = self.found("cube.fits", {**WCS, **self.AXIS}, *words, axes=shape)
            self.assert_frequency(rows, 0.9e9 + 0.5e9 * plane)


if __name__ == "__main__":
    command.main(__doc__)

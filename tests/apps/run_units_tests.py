# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: units and beams of images as headers have them."""

import json
import struct

import command
import fits_files
import skies
from command import AppTestCase

WCS_CARDS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 266.5), ("CRVAL2", -29.0)]
WCS_CARDS += [("CRPIX1", 40.5), ("CRPIX2", 30.0), ("CDELT1", -0.001), ("CDELT2", 0.001)]
BEAM_CARDS = [("BMAJ", 0.004), ("BMIN", 0.003), ("BPA", 30.0)]
NO_FLUX = "flux_int is NaN"


class UnitTestCase(AppTestCase):
    def setUp(self):
        super().setUp()
        self.rows = skies.island_sky()

    def write(self, name, *cards, beam=BEAM_CARDS):
        path = self.folder / name
        return fits_files.write(path, self.rows, cards=[*WCS_CARDS, *beam, *cards])

    def table(self, image, *options, preset="radio"):
        """The units of the table's columns by name, and their values."""
        out = self.folder / "table.fits"
        words = ["find", image, "--preset", preset, "-o", out, "--overwrite", *options]
        self.assert_done(command.run(*words, cwd=self.folder))
        cards = fits_files.read_hdus(out)[1][0]
        columns = range(1, cards["TFIELDS"] + 1)
        return {cards[f"TTYPE{i}"]: cards.get(f"TUNIT{i}", "") for i in columns}


class TestUnits(UnitTestCase):
    """BUNIT in the spellings in use, and --unit in its place."""

    def test_tables_have_the_spelling_of_the_standard(self):
        for typed, pixel, integrated in (
            ("JY/BEAM", "Jy/beam", "Jy"),
            ("beam-1 Jy", "Jy/beam", "Jy"),
            ("MicroJansky per beam", "uJy/beam", "uJy"),
            ("0.001*Jy/beam", "mJy/beam", "mJy"),
            ("Jy arcsec**-2", "Jy/arcsec2", "Jy"),
            ("MJy/sr", "MJy/sr", "Jy"),
            ("COUNTS", "count", ""),
            ("MJY/BEAM", "MJY/BEAM", ""),
            ("furlong", "furlong", ""),
        ):
            with self.subTest(typed):
                image = self.write("a.fits", ("BUNIT", typed))
                units = self.table(image)
                self.assertEqual(units["flux_peak"], pixel)
                self.assertEqual(units["flux_int"], integrated)
                self.assertEqual(self.table(image, preset="lesson")["flux_sum"], pixel)
                notes = command.json_of("find", image, "--preset", "radio")["notes"]
                self.assertEqual(any(NO_FLUX in note for note in notes), not integrated)
                if not integrated:
                    self.assertIn(f"'{typed}'", notes[0])

    def test_a_micro_sign_in_latin_1(self):
        path = self.write("a.fits", ("BUNIT", "uJy/beam"))
        path.write_bytes(path.read_bytes().replace(b"'uJy", b"'\xb5Jy"))
        self.assertEqual(self.table(path)["flux_peak"], "uJy/beam")
        text = command.run("find", path).stdout.decode()  # UTF-8, whatever the header has
        self.assertIn("\u00b5Jy/beam", text)
        words = ["find", path, "--preset", "radio", "--rms-map", "rms.fits"]
        self.assert_done(command.run(*words, cwd=self.folder))
        self.assertEqual(fits_files.read_image(self.folder / "rms.fits")[0]["BUNIT"], "uJy/beam")

    def test_the_users_unit(self):
        for cards in ([], [("BUNIT", "K")], [("BUNIT", "MJY/BEAM")]):
            for preset in ("radio", "sextractor"):
                with self.subTest(cards=cards, preset=preset):
                    image = self.write("a.fits", *cards)
                    units = self.table(image, "--unit", "milliJy per beam", preset=preset)
                    self.assertEqual(units["flux_peak"], "mJy/beam")
                    self.assertEqual(units["flux_int"], "mJy")
                    words = ["find", image, "--preset", preset, "--unit", "mJy/beam"]
                    self.assertEqual(command.json_of(*words)["notes"], [])
        image = self.write("a.fits", ("BUNIT", "K"))
        self.assertIn(b"mJy/beam", command.run("find", image, "--unit", "mJy/beam").stdout)
        self.assertEqual(self.table(image, "--unit", "JY/BM", preset="lesson")["flux_peak"],
                         "Jy/beam")
        text = "".join(fits_files.read_hdus(self.folder / "table.fits")[1][1])
        self.assertIn("--unit JY/BM", text.replace("HISTORY ", ""))
        # No value is changed by it.
        plain, named = (command.json_of("find", image, *unit)
                        for unit in ((), ("--unit", "mJy/beam")))
        self.assertEqual(plain, named)

    def test_many_images_and_resume(self):
        self.write("a.fits"), self.write("b.fits", ("BUNIT", "K"))
        words = ["find", "a.fits", "b.fits", "--preset", "radio", "-o", "out/", "--resume"]
        for unit, again in (("Jy/beam", False), ("Jy/beam", True), ("mJy/beam", False)):
            over = ["--overwrite"] if unit == "mJy/beam" else []
            done = command.run(*words, *over, "--unit", unit, cwd=self.folder)
            self.assert_done(done)
            self.assertEqual(b"up to date" in done.stderr, again)
            for name in ("a", "b"):
                cards = fits_files.read_hdus(self.folder / "out" / f"{name}.fits")[1][0]
                self.assertIn(unit, cards.values())

    def test_no_unit(self):
        self.write("a.fits")
        for empty in ("", "  "):
            self.assert_refused(2, "find", "a.fits", "--unit", empty,
                                says=[f"--unit: found '{empty}'; expected a unit"],
                                cwd=self.folder)


class TestBeams(UnitTestCase):
    """Beams that are odd, or of a plane."""

    def beams(self, *rows):
        """The table BEAMS of CASA."""
        form = struct.Struct(">fffii")
        cards = [("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", form.size)]
        cards += [("NAXIS2", len(rows)), ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", 5)]
        names = [("BMAJ", "E"), ("BMIN", "E"), ("BPA", "E"), ("CHAN", "J"), ("POL", "J")]
        for i, (name, kind) in enumerate(names, 1):
            cards += [(f"TTYPE{i}", name), (f"TFORM{i}", f"1{kind}")]
            if kind == "E":
                cards.append((f"TUNIT{i}", "deg" if name == "BPA" else "arcsec"))
        cards.append(("EXTNAME", "BEAMS"))
        data = b"".join(form.pack(*row) for row in rows)
        return fits_files.header(cards) + fits_files.padded(data, b"\0")

    def test_the_beam_of_the_plane(self):
        flat = [v for row in self.rows for v in row] * 2
        axes = (len(self.rows[0]), len(self.rows), 2)
        cards = [*WCS_CARDS, ("CTYPE3", "FREQ"), ("BUNIT", "Jy/beam"), ("CASAMBM", True),
                 *BEAM_CARDS]
        cube = self.folder / "cube.fits"
        image = fits_files.hdu(flat, axes=axes, cards=cards)
        cube.write_bytes(image + self.beams((14, 10, 5, 0, 0), (12, 9, 6, 1, 0)))
        for plane, major in ((0, 14), (1, 12)):
            words = ["find", cube, "--preset", "radio", "--plane", plane, "--overwrite"]
            words += ["--rms-map", "rms.fits", "-o", "t.fits", "--json"]
            done = command.run(*map(str, words), cwd=self.folder)
            self.assert_done(done)
            found = json.loads(done.stdout)
            self.assertAlmostEqual(found["beam"]["major_arcsec"], major, delta=1e-6)
            self.assertEqual(found["notes"], [])
            rms = fits_files.read_image(self.folder / "rms.fits")[0]
            self.assertAlmostEqual(rms["BMAJ"] * 3600, major, delta=1e-6)
            table = fits_files.read_hdus(self.folder / "t.fits")[1][0]
            self.assertEqual(table["BEAMFROM"], "table BEAMS of the image")
            self.assertAlmostEqual(table["BMAJ"] * 3600, major, delta=1e-6)
        # Without the table no other beam takes its place, but the user's may.
        cube.write_bytes(image)
        words = ["find", cube, "--preset", "radio", "--plane", "0"]
        found = command.json_of(*words)
        self.assertIsNone(found["beam"])
        self.assertIn("the file has no such table", found["notes"][0])
        self.assertIn(NO_FLUX, found["notes"][1])
        self.assertEqual(command.json_of(*words, "--beam", "10,10")["notes"], [])
        # The maps have no beam where none was used.
        words = ["--rms-map", "rms.fits", "--plane", "0", "--preset", "radio", "--overwrite"]
        self.assert_done(command.run("find", cube, *words, cwd=self.folder))
        self.assertNotIn("BMAJ", fits_files.read_image(self.folder / "rms.fits")[0])
        # What needs no beam asks for none.
        self.assert_done(command.run("stats", cube, "--plane", "1"))

    def test_maps_have_the_beam_that_was_used(self):
        clean = [("CLEANBMJ", 0.005), ("CLEANBMN", 0.004), ("CLEANBPA", 10.0)]
        self.write("sky.fits", beam=clean)
        radio = ["find", "sky.fits", "--preset", "radio", "--rms-map"]
        lesson = ["find", "sky.fits", "--preset", "lesson", "--labels"]
        for words, beam in (
            ([*radio, "a.fits"], (0.005, 0.004, 10.0)),
            ([*radio, "b.fits", "--beam", "36,18,20"], (0.01, 0.005, 20.0)),
            ([*lesson, "c.fits"], (0.005, 0.004, 10.0)),
        ):
            self.assert_done(command.run(*words, cwd=self.folder))
            cards = fits_files.read_image(self.folder / words[5])[0]
            for key, value in zip(("BMAJ", "BMIN", "BPA"), beam):
                self.assertAlmostEqual(cards[key], value, places=12)

    def test_beams_that_do_not_fit(self):
        for size, says in ((0.0005, "less than one"), (0.2, "more than the image's 80")):
            beam = [("BMAJ", size), ("BMIN", size), ("BPA", 0.0)]
            image = self.write("a.fits", ("BUNIT", "Jy/beam"), beam=beam)
            notes = command.json_of("find", image, "--preset", "radio")["notes"]
            of_fits = [note for note in notes if note.startswith("no components are fitted: found a beam")]
            self.assertEqual((len(notes), len(of_fits)), (2, 1) if size > 0.08 else (1, 0))
            self.assertIn(says, notes[0])


if __name__ == "__main__":
    command.main(__doc__)

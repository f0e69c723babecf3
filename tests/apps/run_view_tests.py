# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: view, and find --picture."""

import math

import command
import fits_files
import png_files
import reference
import skies
from command import AppTestCase

BLANK = (150, 170, 200)

SOURCES = """id,x_cen,y_cen,x_min,x_max,y_min,y_max,colour
7,15,50,6,24,46,54,red
8,nan,nan,40,44,10,14,blue
"""


class TestView(AppTestCase):
    """Pictures: their pixels, their marks, and what is refused."""

    def view(self, image, *options, env=None):
        """(texts, rows) of the picture."""
        picture = self.folder / "picture.png"
        done = command.run("view", image, "-o", picture, "--overwrite", *options, env=env)
        self.assert_done(done)
        self.assertEqual(done.stdout, b"")
        return png_files.read(picture)

    def data(self, image, *options):
        """The same as bytes, to compare only."""
        picture = self.folder / "picture.png"
        self.assert_done(command.run("view", image, "-o", picture, "--overwrite", *options))
        return png_files.data_of(picture)

    def flat(self, value=0.0, cards=()):
        rows = [[value] * 64 for _ in range(64)]
        return fits_files.write(self.folder / "flat.fits", rows, cards=cards)

    def sources(self, text=SOURCES):
        path = self.folder / "sources.csv"
        path.write_text(text)
        return path

    def test_the_lesson_look(self):
        values = [[-1.0, 0.0, 1.0, 1.01], [2.0, 4.0, 8.0, 9.9], [10.0, 50.0, 100.0, 99.0]]
        values.append([math.nan, 5.0, 3.0, math.inf])
        image = fits_files.write(self.folder / "image.fits", values, bitpix=-64)
        _, rows = self.view(image, "--look", "lesson", "--axes", "none", "--size", "4")
        self.assertEqual((len(rows), len(rows[0])), (4, 4))
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if not math.isfinite(value):
                    wanted = BLANK
                elif value <= 1.0:
                    wanted = (0, 0, 0)
                else:
                    wanted = (min(255, int(256 * math.log10(value))),) * 3
                self.assertEqual(rows[y][x], wanted, value)

    def test_the_colour_maps(self):
        image = fits_files.write(self.folder / "image.fits", [[0.0, 0.5, 1.0, math.nan]] * 4)
        options = "--axes none --size 4 --scale linear --min 0 --max 1".split()
        for name, wanted in (
            ("grey", [(0, 0, 0), (128, 128, 128), (255, 255, 255)]),
            ("inverted-grey", [(255, 255, 255), (127, 127, 127), (0, 0, 0)]),
            ("viridis", [(68, 1, 84), (33, 145, 140), (253, 231, 37)]),
        ):
            _, rows = self.view(image, "--colour-map", name, *options)
            self.assertEqual(rows, [wanted + [BLANK]] * 4)

    def test_the_scales(self):
        image = fits_files.write(self.folder / "image.fits", [[1.0, 10.0, 100.0]] * 3)
        options = "--axes none --size 3 --min 1 --max 100 --colour-map grey --scale".split()
        for name, wanted in (("linear", 9 / 99), ("log", 0.5), ("asinh", None)):
            if wanted is None:
                wanted = math.asinh(9 / 9.9) / math.asinh(10)
            _, rows = self.view(image, *options, name)
            self.assertEqual([r[0] for r in rows[0]], [0, int(256 * wanted), 255], name)

    def test_the_first_row_is_at_the_bottom_and_flip_mirrors(self):
        values = [[float(3 * y + x) for x in range(3)] for y in range(3)]
        image = fits_files.write(self.folder / "image.fits", values)
        _, rows = self.view(image, "--axes", "none", "--size", "3", "--colour-map", "grey")
        self.assertEqual(rows[0][0], (0, 0, 0))
        self.assertEqual(rows[2][2], (255, 255, 255))
        options = "--axes none --size 3 --colour-map grey --flip".split()
        _, flipped = self.view(image, *options)
        self.assertEqual(flipped, [row[::-1] for row in rows])

    def marked(self, rows, background):
        return {
            (x, y)
            for y, row in enumerate(rows)
            for x, colour in enumerate(row)
            if colour != background
        }

    def test_the_sources_move_with_the_flip(self):
        image, catalogue = self.flat(), self.sources()
        options = ["--axes", "none", "--size", "64", "--min", "0", "--max", "1"]
        for shape in ("ellipse", "box"):
            words = [*options, "--marks", shape, "--catalogue", catalogue]
            _, rows = self.view(image, *words)
            found = self.marked(rows, (255, 255, 255))
            self.assertTrue({(26, 50), (42, 18)} <= found, shape)
            self.assertFalse({(15, 50), (42, 12), (37, 50)} & found, shape)
            _, flipped = self.view(image, *words, "--flip")
            mirrored = {(63 - x, y) for x, y in self.marked(flipped, (255, 255, 255))}
            self.assertEqual(sorted(mirrored ^ found), [])

    def test_sources_may_lie_anywhere(self):
        image = self.flat()
        names = "id,x_cen,y_cen,x_min,x_max,y_min,y_max\n"
        rows = ["1,1e300,-1e300,0,1,0,1", f"2,5,5,{-(2**31)},{2**31 - 1},0,1", "3,inf,5,9,3,5,2"]
        catalogue = self.sources(names + "\n".join(rows))
        self.data(image, "--catalogue", catalogue, "--labels")

    def test_a_pixel_that_no_image_can_have_is_refused(self):
        image = self.flat()
        names = "id,x_cen,y_cen,x_min,x_max,y_min,y_max\n"
        for number in (2**31, -(2**63), 2**63):
            catalogue = self.sources(f"{names}1,5,5,0,{number},0,1")
            says = ["line 2", f"x_max is '{number}'", "expected a 32-bit integer"]
            picture = self.folder / "no.png"
            words = ["view", image, "-o", picture, "--catalogue", catalogue]
            self.assert_refused(1, *words, says=says)

    def test_labels_are_drawn_beside_the_marks(self):
        image, catalogue = self.flat(), self.sources()
        options = ["--axes", "none", "--size", "640", "--catalogue", catalogue]
        without = self.data(image, *options)
        self.assertFalse(without == self.data(image, *options, "--labels"))

    def test_a_fits_table_of_find_can_be_drawn(self):
        sky = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "300", "-o", sky))
        tables = [self.folder / "a.fits", self.folder / "a.csv"]
        picture = self.folder / "find.png"
        done = command.run("find", sky, "-o", tables[0], "-o", tables[1], "--picture", picture)
        self.assert_done(done)
        self.assertIn(b"find.png", done.stderr)
        self.assertTrue(reference.read_csv(tables[1]))
        wanted = self.data(sky, "--catalogue", tables[0])
        self.assertTrue(wanted == self.data(sky, "--catalogue", tables[1]))
        self.assertTrue(wanted == png_files.data_of(picture))
        self.assertFalse(wanted == self.data(sky))
        self.assertIn("kastor find", png_files.read(picture)[0]["Options"])

    def test_every_table_of_find_can_be_drawn(self):
        sky = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "300", "-o", sky))
        for preset in ("lesson", "radio", "sextractor"):
            tables = [self.folder / f"{preset}.{end}" for end in ("csv", "ecsv", "fits", "vot")]
            outputs = [word for table in tables for word in ("-o", table)]
            self.assert_done(command.run("find", sky, "--preset", preset, *outputs))
            pictures = [self.data(sky, "--labels", "--catalogue", table) for table in tables]
            self.assertTrue(all(picture == pictures[0] for picture in pictures), preset)
            self.assertFalse(pictures[0] == self.data(sky, "--catalogue", tables[0]), preset)
            self.assertFalse(pictures[0] == self.data(sky), preset)

    def test_positions_on_the_sky(self):
        image = self.flat(cards=skies.WCS_CARDS)
        cards = dict(skies.WCS_CARDS)
        ra, dec = cards["CRVAL1"], cards["CRVAL2"]
        x, y = cards["CRPIX1"] - 1, cards["CRPIX2"] - 1
        options = ["--axes", "none", "--size", "64", "--min", "0", "--max", "1"]
        hours = f"{int(ra / 15):02} {ra / 15 % 1 * 60:.9f}"
        degrees = f"{'-' if dec < 0 else '+'}{int(abs(dec)):02} {abs(dec) % 1 * 60:.9f}"
        marks = []
        for text in (
            f"ra,dec\n{ra},{dec}\n",
            f"RAJ2000,DEJ2000\n{hours},{degrees}\n",
            f"x,y\n{x},{y}\n",
        ):
            words = [*options, "--catalogue", self.sources(text)]
            marks.append(self.marked(self.view(image, *words)[1], (255, 255, 255)))
        self.assertTrue(marks[0])
        self.assertEqual(marks[0], marks[1])
        self.assertEqual(marks[0], marks[2])
        partly = self.sources(f"ra,dec\n{ra},{dec}\n,\n")
        done = command.run("view", image, "-o", self.folder / "b.png", "--catalogue", partly)
        self.assertIn(b"b.png; ", done.stderr)
        self.assertIn(b"1 of 2 rows has no position and is left out", done.stderr)

    def test_the_picture_of_find_is_one_of_its_outputs(self):
        image = self.flat(1.0)
        old = self.folder / "old.png"
        old.write_bytes(b"old")
        table = self.folder / "a.csv"
        words = ["find", image, "-o", table, "--picture"]
        self.assert_refused(1, *words, old, says=["old.png", "--overwrite"])
        says, env = ["/no/such.ttf", "fonts-dejavu-core"], {"KASTOR_FONT": "/no/such.ttf"}
        self.assert_refused(1, *words, self.folder / "a.png", env=env, says=says)
        self.assert_refused(2, *words, self.folder / "a.gif")
        self.assertEqual(old.read_bytes(), b"old")
        self.assert_done(command.run("find", image, "--picture", old, "--overwrite"))
        self.assertTrue(png_files.data_of(old))

    def test_provenance(self):
        image = self.flat()
        texts, _ = self.view(image, "--flip", "--min", "-0.5", "--size", "64")
        version = command.run("--version").stdout.decode().strip()
        self.assertEqual(texts["Software"], version)
        self.assertEqual(texts["Source"], f"{image}[0]")
        self.assertEqual(texts["DATASUM"], "0")
        self.assertIn("kastor view --scale asinh", texts["Options"])
        self.assertIn("--min -0.5", texts["Options"])
        self.assertIn("--flip", texts["Options"])

    def test_the_same_input_gives_the_same_file(self):
        sky, pictures = self.folder / "sky.fits", []
        self.assert_done(command.run("simulate", "sky", "--size", "200", "-o", sky))
        for _ in range(2):
            self.data(sky, "--axes", "sky", "--size", "100")
            pictures.append((self.folder / "picture.png").read_bytes())
        self.assertTrue(pictures[0] == pictures[1])

    def test_axes(self):
        image = self.flat(cards=skies.WCS_CARDS)
        sizes = {}
        for axes in ("none", "pixel", "sky"):
            _, rows = self.view(image, "--axes", axes, "--size", "256")
            sizes[axes] = (len(rows[0]), len(rows))
        self.assertEqual(sizes["none"], (256, 256))
        self.assertGreater(sizes["pixel"][0], 256)
        self.assertGreater(sizes["sky"][0], sizes["pixel"][0])  # longer labels

    def test_sky_axes_need_coordinates(self):
        words = ["--axes", "sky", "-o", self.folder / "a.png"]
        self.assert_refused(
            1, "view", self.flat(), *words, says=["flat.fits[0]", "world coordinates"]
        )
        linear = [("CTYPE1", "LINEAR"), ("CTYPE2", "LINEAR"), ("CDELT1", 1.0), ("CDELT2", 1.0)]
        self.assert_refused(1, "view", self.flat(cards=linear), *words, says=["celestial"])
        broken = [(k, 0.0 if k.startswith("CDELT") else v) for k, v in skies.WCS_CARDS]
        self.assert_refused(1, "view", self.flat(cards=broken), *words, says=["flat.fits[0]"])

    def test_the_font_is_needed_for_text_only(self):
        image, catalogue = self.flat(), self.sources()
        none = {"KASTOR_FONT": "/no/such.ttf"}
        says = ["/no/such.ttf", "fonts-dejavu-core", "--font"]
        words = ["view", image, "-o", self.folder / "a.png"]
        self.assert_refused(1, *words, env=none, says=says)
        self.assert_refused(1, *words, "--font", "/no/such.ttf", says=says)
        self.assert_refused(1, *words, "--font", image, says=["flat.fits", "font"])
        labels = ["--axes", "none", "--catalogue", catalogue, "--labels"]
        self.assert_refused(1, *words, *labels, env=none, says=says)
        self.view(image, "--axes", "none", "--size", "64", env=none)

    def test_images_without_limits_are_refused(self):
        words = ["-o", self.folder / "a.png"]
        for value in (math.nan, math.inf):
            self.assert_refused(1, "view", self.flat(value), *words, says=["flat.fits[0]", "blank"])
            self.assert_refused(
                1, "view", self.flat(value), *words, "--min", "0", "--max", "1", says=["blank"]
            )
        negative = self.flat(-1.0)
        self.assert_refused(1, "view", negative, *words, "--look", "lesson", says=["-1", "above 0"])
        self.assert_refused(1, "view", negative, *words, "--scale", "log", says=["above 0"])
        self.assert_refused(1, "view", negative, *words, "--min", "5", says=["limits"])

    def test_catalogues_that_are_none_are_refused(self):
        image = self.flat()
        words = ["view", image, "-o", self.folder / "a.png", "--catalogue"]
        self.assert_refused(1, *words, self.folder / "none.csv", says=["none.csv", "no such file"])
        self.assert_refused(1, *words, image, says=["flat.fits", "table"])
        lacking = self.sources("x_cen,y_cen\n1,2\n")
        self.assert_refused(1, *words, lacking, says=["sources.csv", "x_min"])
        no_id = self.sources("x_cen,y_cen,x_min,x_max,y_min,y_max\n1,2,1,1,2,2\n")
        self.data(image, "--catalogue", no_id)
        (self.folder / "picture.png").unlink()
        self.assert_refused(1, *words, no_id, "--labels", says=["sources.csv", "'id'"])
        words_in_it = self.sources(SOURCES.replace("15,50", "15,fifty"))
        self.assert_refused(1, *words, words_in_it, says=["line 2", "y_cen", "fifty"])

    def test_outputs_are_not_overwritten_unasked(self):
        image, catalogue = self.flat(), self.sources()
        old = self.folder / "old.png"
        old.write_bytes(b"old")
        self.assert_refused(1, "view", image, "-o", old, says=["old.png", "--overwrite"])
        self.assertEqual(old.read_bytes(), b"old")
        link = self.folder / "link.png"
        link.symlink_to(catalogue)
        words = ["view", image, "--catalogue", catalogue, "-o", link, "--overwrite"]
        self.assert_refused(1, *words, says=["input"])
        self.assertEqual(catalogue.read_text(), SOURCES)

    def test_quiet_and_timings(self):
        image, picture = self.flat(), self.folder / "a.png"
        done = command.run("view", image, "-o", picture, "--quiet")
        self.assert_done(done)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        done = command.run("view", image, "-o", picture, "--overwrite", "--timings")
        self.assert_done(done)
        for words in (b"read", b"draw", b"total", b"wrote"):
            self.assertIn(words, done.stderr)

    def test_planes_and_hdus(self):
        cube = self.folder / "cube.fits"
        values = [0.0] * 16 + [1.0] * 15 + [0.0]
        cube.write_bytes(fits_files.hdu(values, axes=(4, 4, 2)))
        options = "--axes none --size 4 --colour-map grey --min 0 --max 1".split()
        _, rows = self.view(cube, *options, "--plane", "1", "--hdu", "0")
        self.assertEqual(rows[0], [(255, 255, 255)] * 4)
        self.assertEqual(rows[3][3], (0, 0, 0))


if __name__ == "__main__":
    command.main(__doc__)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: find with the presets radio and sextractor."""

import csv
import json
import math
import pathlib

import command
import fits_files
import reference
import skies
from command import AppTestCase

WCS_CARDS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 266.5), ("CRVAL2", -29.0)]
WCS_CARDS += [("CRPIX1", 40.5), ("CRPIX2", 30.0), ("CDELT1", -0.001), ("CDELT2", 0.001)]
WCS_CARDS += [("RADESYS", "FK5"), ("EQUINOX", 2000.0)]

BEAM_CARDS = [("BMAJ", 0.004), ("BMIN", 0.003), ("BPA", 30.0)]

#: Options of the presets but the lesson's, with a value that is right.
ISLAND_OPTIONS = (
    "--seed 5; --flood 3; --negative; --drop-at-edge; --min-beams 1; --mask zeros.fits; "
    "--box 0,60,0,60; --beam 12,10,30; --noise white; --cell 32; --estimate mode; --filter 1; "
    "--filter-kernel 2.5; --detect-image other.fits; "
    "--interpolation bilinear; --background 0; --rms 1; --adaptive-rms 200; "
    "--background-map out.fits; "
    "--rms-map out.fits; --snr-map out.fits; --residual out.fits; --components out.fits; "
    "--model out.fits; --fit-residual out.fits; --deblend on; --deblend on --deblend-contrast 0.1; "
    "--deblend on --deblend-prominence 1"
).split("; ")

ISLAND_MAPS = {
    "--background-map": "b.fits",
    "--rms-map": "r.fits",
    "--snr-map": "s.fits",
    "--residual": "d.fits",
    "--model": "m.fits",
    "--fit-residual": "f.fits",
    "--labels": "l.fits",
}

ISLAND_TABLES = "a.csv a.ecsv a.fits a.vot a.reg a.crtf".split()

WRONG_VALUES = {
    "--seed": "nan|-1|inf|five",
    "--flood": "nan|-1|",
    "--min-beams": "-1|nan",
    "--cell": "0|-4|3x|x3|3x4x5|2.5||2147483648|32x0|nan",
    "--box": "1,2,3|1,2,3,4,5|5,2,3,4|2,5,4,3|-1,2,3,4|a,2,3,4||0.5,2,3,4|,,,",
    "--beam": "3|3,4|0,0|x,4|3,3,nan|4,3,30,1||-3,-4",
    "--filter-kernel": "0|-1|37.39|nan|inf|",
    "--filter": "0|2|-1|1001|1.5|three",
    "--estimate": "mean",
    "--interpolation": "cubic",
    "--noise": "pink|AUTO|",
    "--background": "nan|inf|1e999||1e",
    "--rms": "0|-1|nan|-inf||1e-999",
    "--adaptive-rms": "0|-1|nan|inf||many",
    "--background-map": "a.csv",
    "--rms-map": "a",
    "--snr-map": "a.png",
    "--residual": "a.fits.gz",
    "--model": "a.csv",
    "--fit-residual": "a",
    "--components": "a.txt|b|",
    "--shape": "round|FREE|",
    "--deblend": "yes|no|ON|",
    "--deblend-contrast": "-0.1|1.01|nan|inf|half|",
    "--deblend-prominence": "-1|nan|inf|high|",
    "--labels": "a.csv",
}


def constant(ny, nx, value):
    return [[value] * nx for _ in range(ny)]


class IslandTestCase(AppTestCase):
    """Each test has a sky with coordinates and a beam, `self.image`, of `self.rows`."""

    def setUp(self):
        super().setUp()
        self.rows = skies.island_sky()
        self.ny, self.nx = len(self.rows), len(self.rows[0])
        self.image = self.write("sky.fits", self.rows)

    def write(self, name, rows, bitpix=-32, cards=None):
        if cards is None:
            cards = [*WCS_CARDS, *BEAM_CARDS, ("BUNIT", "JY/BEAM"), ("OBJECT", "NOISE")]
        return fits_files.write(self.folder / name, rows, bitpix, cards=cards)

    def find(self, *options, image=None, preset="radio"):
        return command.json_of("find", image or self.image, "--preset", preset, *options)

    def refuse(self, code, *options, says=(), image=None, preset="radio", **how):
        words = ["find", image or self.image, "--preset", preset, *options]
        return self.assert_refused(code, *words, says=says, cwd=self.folder, **how)

    def pixels(self, name):
        return [list(row) for row in fits_files.read_image(self.folder / name)[1]]


class TestPresets(IslandTestCase):
    """What the presets of find take, and what they refuse."""

    def test_options_of_another_preset(self):
        zeros = constant(self.ny, self.nx, 0)
        fits_files.write(self.folder / "zeros.fits", zeros, bitpix=16)
        self.write("other.fits", self.rows)
        for option in ("--threshold 5", "--about median", "--about zero", "--level 1"):
            for preset in ("radio", "sextractor"):
                with self.subTest(option, preset=preset):
                    name = option.split()[0]
                    says = [f"{name}: found with --preset {preset}", "--preset lesson"]
                    self.refuse(2, *option.split(), preset=preset, says=says)
        for option in ISLAND_OPTIONS:
            name = option.split()[0]
            for preset in ([], ["--preset", "lesson"]):
                with self.subTest(option, preset=preset):
                    words = ["find", "sky.fits", *preset, *option.split()]
                    says = [f"{name}: found", "lesson", "--preset radio or sextractor"]
                    self.assert_refused(2, *words, says=says, cwd=self.folder)
            for preset in ("radio", "sextractor"):
                with self.subTest(option, preset=preset):
                    words = ["find", "sky.fits", "--preset", preset, *option.split()]
                    self.assert_done(command.run(*words, "--quiet", cwd=self.folder))
                    (self.folder / "out.fits").unlink(missing_ok=True)

    def test_values_that_mean_nothing(self):
        for name, values in WRONG_VALUES.items():
            expected = "suffix" if "-map" in name else "expected"
            for value in values.split("|"):
                says = [f"kastor: {name}: ", f"'{value}'", expected]
                self.refuse(2, name, value, says=says)

    def test_presets_that_are_none(self):
        for word in ("aips", "", "RADIO", "radio,sextractor"):
            says = [f"--preset: found '{word}'", "lesson, radio or sextractor"]
            self.assert_refused(2, "find", self.image, "--preset", word, says=says)
        self.refuse(2, "--preset", "radio", says=["--preset", "more than once"])

    def test_an_option_is_given_once(self):
        for option in ISLAND_OPTIONS:
            if option.startswith("--components"):
                continue
            with self.subTest(option):
                self.refuse(2, *option.split(), *option.split(), says=[option.split()[0]])

    def test_an_image_without_a_pixel_to_judge(self):
        says = ["bare.fits[0]", f"all {self.ny * self.nx} pixels are blank"]
        bare = self.write("bare.fits", constant(self.ny, self.nx, math.nan))
        given = ["--background", "0", "--rms", "1"]
        self.refuse(1, *given, "-o", self.folder / "out.csv", image=bare, says=says)
        self.refuse(1, image=bare, says=["bare.fits[0]", f"0 of {self.ny * self.nx} pixels"])
        # A blank corner is no reason, nor is a sky without sources.
        rows = constant(self.ny, self.nx, 0)
        rows[0][0] = math.nan
        empty = self.write("empty.fits", rows)
        self.assertEqual(self.find(*given, image=empty)["sources"], 0)
        self.assertEqual(self.find(*given, image=empty)["notes"], [])

    def test_a_constant_image_has_no_noise(self):
        flat = self.write("flat.fits", constant(self.ny, self.nx, 2))
        for preset in ("radio", "sextractor"):
            found = self.find(image=flat, preset=preset)
            self.assertEqual((found["sources"], found["background"]["rms"]), (0, 0))
            self.assertEqual(len(found["notes"]), 1)
            self.assertIn("the noise is 0", found["notes"][0])
            self.assertEqual(self.find("--rms", "1", image=flat, preset=preset)["notes"], [])

    def test_the_flood_is_not_above_the_seed(self):
        self.refuse(2, "--seed", "3", "--flood", "4", says=["--flood", "found 4", "3", "--seed"])
        for options, wanted in (
            ((), (5, 3)),
            (("--seed", "2"), (2, 2)),
            (("--seed", "8"), (8, 3)),
            (("--flood", "8"), (8, 8)),
            (("--flood", "2"), (5, 2)),
            (("--seed", "4", "--flood", "4"), (4, 4)),
            (("--seed", "0", "--flood", "0"), (0, 0)),
        ):
            found = self.find(*options)
            self.assertEqual((found["seed"], found["flood"]), wanted, options)
        found = self.find(preset="sextractor")
        self.assertEqual((found["seed"], found["flood"]), (5.4, 4))
        found = self.find("--filter-kernel", "none", preset="sextractor")
        self.assertEqual((found["seed"], found["flood"]), (1.5, 1.5))

    def test_the_presets_are_their_documented_values(self):
        both = "--connectivity 8 --kappa 3 --max-passes 0 --filter 3 --interpolation bicubic "
        both += "--components none --deblend on "
        radio = "--filter-kernel none --seed 5 --flood 3 --min-pixels 1 --estimate median --cell 69 "
        radio += "--large-sources mask --clipped-noise corrected --deblend-contrast 0 --deblend-prominence 0"
        sextractor = "--filter-kernel 3 --seed 5.4 --flood 4 --min-pixels 5 --estimate mode --cell 64 "
        sextractor += "--large-sources ignore --clipped-noise as-is --deblend-contrast 0.005 "
        sextractor += "--deblend-prominence 4"
        for preset, other, spelled in (
            ("radio", "sextractor", both + radio), ("sextractor", "radio", both + sextractor)
        ):
            always = ("--deblend", "on", "--components", "none")
            found, wanted = self.find(*always, preset=preset), self.find(*spelled.split(), preset=other)
            self.assertEqual((found.pop("preset"), wanted.pop("preset")), (preset, other))
            self.assertEqual(found, wanted)

    def test_the_cell_follows_the_beam(self):
        def cell(cards, *options, preset="radio"):
            image = self.write("beam.fits", self.rows, cards=cards)
            return self.find(*options, image=image, preset=preset)["background"]["cell"]

        # A beam of 4 x 3 pixels is as large as a round one of sqrt(12): 69.28 pixels are 20 widths.
        # The projection's pixels at the reference are what they are in the header.
        self.assertEqual(cell(WCS_CARDS + BEAM_CARDS), [69, 69])
        self.assertEqual(cell(WCS_CARDS + BEAM_CARDS, preset="sextractor"), [64, 64])
        self.assertEqual(cell(WCS_CARDS), [64, 64])
        self.assertEqual(cell(BEAM_CARDS), [64, 64])
        self.assertEqual(cell(WCS_CARDS, "--beam", "7.2,7.2"), [40, 40])
        self.assertEqual(cell(WCS_CARDS, "--beam", "3.6,3.6"), [32, 32])  # not less
        self.assertEqual(cell(WCS_CARDS, "--beam", "360,360"), [80, 80])  # the image
        self.assertEqual(cell(WCS_CARDS, "--cell", "20x10"), [10, 20])  # rows, columns

    def test_beams_are_needed_for_sizes_in_beams(self):
        bare = self.write("bare.fits", self.rows, cards=WCS_CARDS)
        says = ["bare.fits[0]", "no beam", "--min-beams", "--beam"]
        self.refuse(1, "--min-beams", "1", image=bare, says=says)
        self.find("--min-beams", "1", "--beam", "14.4,10.8", image=bare)
        nowhere = self.write("nowhere.fits", self.rows, cards=BEAM_CARDS)
        for options in ((), ("--beam", "12,10")):
            says = ["nowhere.fits[0]", "coordinates", "--min-beams"]
            self.refuse(1, "--min-beams", "1", *options, image=nowhere, says=says)

    def test_images_of_another_shape(self):
        self.write("other.fits", constant(self.nx, self.ny, 1.0))
        for option in ("--background", "--rms", "--mask"):
            says = ["other.fits[0]", "64 x 80", "80 x 64", "sky.fits[0]"]
            self.refuse(1, option, "other.fits", "-o", "a.csv", says=says)

    def test_images_that_cannot_be_read(self):
        (self.folder / "text.fits").write_text("no image")
        for option in ("--background", "--rms", "--mask"):
            self.refuse(1, option, "missing.fits", "-o", "a.csv", says=["missing.fits", "no such"])
            self.refuse(1, option, "text.fits", "-o", "a.csv", says=["text.fits"])

    def test_a_box_lies_within_the_image(self):
        for box in ("0,80,0,63", "0,79,0,64", "80,80,0,5", "0,2147483647,0,2147483647"):
            self.refuse(1, "--box", box, says=["sky.fits[0]", "box", "79 and 63"])
        self.find("--box", "0,79,0,63")

    def test_pixels_that_are_too_few(self):
        blank = self.write("blank.fits", constant(20, 20, math.nan))
        for preset in ("radio", "sextractor"):
            says = ["blank.fits[0]", "0 of 400 pixels are finite"]
            self.refuse(1, "-o", "a.csv", image=blank, preset=preset, says=says)
        ones = fits_files.write(self.folder / "ones.fits", constant(64, 80, 1), bitpix=16)
        says = ["sky.fits[0]", "enough good pixels", "--mask"]
        self.refuse(1, "--mask", ones, "--labels", "a.fits", says=says)
        self.refuse(1, "--box", "0,3,0,3", says=["--box", "--cell"])
        self.find("--box", "0,3,0,3", "--cell", "4")

    def test_no_input_is_replaced(self):
        zeros = constant(self.ny, self.nx, 0.0)
        for name in ("a.fits", "b.fits", "c.fits"):
            self.write(name, zeros)
        self.write("b.fits", constant(self.ny, self.nx, 1.0))
        given = "--background a.fits --rms b.fits --mask c.fits --overwrite".split()
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        for output in (*ISLAND_MAPS, "-o"):
            for name in ("a.fits", "b.fits", "c.fits", "sky.fits"):
                self.refuse(1, *given, output, name, says=[name, "is the input"])
        self.refuse(1, "--labels", "d.fits", "--rms-map", "./d.fits", says=["twice"])
        self.assertEqual({n: (self.folder / n).read_bytes() for n in self.files()}, before)

    def test_the_lesson_is_the_default(self):
        outputs = "-o a.csv -o a.ecsv -o a.fits -o a.vot -o a.reg -o a.crtf --labels l.fits".split()
        if pathlib.Path("/usr/share/fonts/truetype/dejavu").exists():
            outputs += ["--picture", "p.png"]
        found = []
        for folder, preset in (("plain", []), ("lesson", ["--preset", "lesson"])):
            (self.folder / folder).mkdir()
            words = ["find", "../sky.fits", *preset, *outputs]
            done = command.run(*words, cwd=self.folder / folder)
            self.assert_done(done)
            said = command.run("find", "sky.fits", *preset, "--json", cwd=self.folder)
            self.assert_done(said)
            files = {p.name: p.read_bytes() for p in (self.folder / folder).iterdir()}
            found.append((done.stdout, done.stderr, said.stdout, files))
        self.assertGreaterEqual(len(found[0][3]), 7)
        self.assertEqual(found[0], found[1])


class TestIslands(IslandTestCase):
    """Islands against the naive reference, above a level and a noise that are given."""

    GIVEN = ("--background", "0.5", "--rms", "0.1")

    def assert_islands(self, options, rows=None, negative=False, **wanted):
        rows = rows or self.rows
        settings = {"seed": 5, "flood": 3, **wanted}
        above, dropped = reference.islands(rows, 0.5, 0.1, **settings)
        below, dropped_below = [], 0
        if negative:
            below, dropped_below = reference.islands(rows, 0.5, -0.1, **settings)
        table, labels = self.folder / "a.csv", self.folder / "l.fits"
        outputs = ["-o", table, "--labels", labels, "--overwrite"]
        found = self.find(*self.GIVEN, *options, *outputs)
        self.assertEqual(found["sources"], len(above))
        self.assertEqual(found["negative"], len(below) if negative else None)
        self.assertEqual(found["dropped"], dropped + dropped_below)

        measured = reference.measure_islands(self.rows, 0.5, 0.1, above)
        measured += reference.measure_islands(self.rows, 0.5, -0.1, below, len(above) + 1)
        with table.open(newline="") as file:
            listed = list(csv.DictReader(file))
        self.assertEqual(len(listed), len(measured))
        for row, want in zip(listed, measured):
            for name, value in want.items():
                if isinstance(value, int):
                    self.assertEqual(int(row[name]), value, (name, want))
                else:
                    self.assertAlmostEqual(float(row[name]), value, delta=1e-9, msg=(name, want))

        ids = constant(self.ny, self.nx, 0)
        for number, pixels in enumerate(above + below, 1):
            for y, x in pixels:
                ids[y][x] = number
        cards, _ = fits_files.read_image(labels)
        self.assertEqual(cards["BITPIX"], 32)
        self.assertNotIn("BUNIT", cards)
        self.assertEqual(self.pixels("l.fits"), ids)
        return len(above), len(below)

    def test_two_thresholds(self):
        self.assertGreater(self.assert_islands([])[0], 5)
        self.assert_islands(["--connectivity", "4"], connectivity=4)
        self.assert_islands(["--seed", "7", "--flood", "2"], seed=7, flood=2)
        self.assert_islands(["--seed", "3", "--flood", "0"], seed=3, flood=0)
        self.assertEqual(self.assert_islands(["--seed", "1e6"], seed=1e6)[0], 0)

    def test_islands_that_are_dropped(self):
        every = self.assert_islands([])[0]
        self.assertLess(self.assert_islands(["--min-pixels", "6"], min_pixels=6)[0], every)
        self.assertLess(self.assert_islands(["--drop-at-edge"], drop_at_edge=True)[0], every)
        # A beam of 14.4 x 10.8 arcsec covers 12 pi / (4 ln 2) = 13.6 pixels of 3.6 arcsec.
        self.assertLess(self.assert_islands(["--min-beams", "0.5"], min_pixels=7)[0], every)
        self.assert_islands(["--min-beams", "0.5", "--min-pixels", "9"], min_pixels=9)

    def test_negative_islands_have_the_ids_behind(self):
        above, below = self.assert_islands(["--negative"], negative=True)
        self.assertGreater(min(above, below), 5)
        options = "--negative --seed 4 --flood 1 --connectivity 4 --min-pixels 3".split()
        wanted = {"seed": 4, "flood": 1, "connectivity": 4, "min_pixels": 3}
        self.assert_islands(options, negative=True, **wanted)

    def test_a_box(self):
        rows = constant(self.ny, self.nx, math.nan)
        for y in range(5, 51):
            rows[y][10:61] = self.rows[y][10:61]
        self.assert_islands(["--box", "10,60,5,50", "--negative"], rows, negative=True)

    def test_a_mask(self):
        # 0 is used; all else is not, a blank pixel included.
        values = [0.0, 0.0, 0.0, 1.0, math.nan, -2.0, 0.0, 0.0, -0.0, 0.0, 0.0]
        mask = [[values[(x // 3 + y // 4) % 11] for x in range(self.nx)] for y in range(self.ny)]
        rows = [[v if m == 0 else math.nan for v, m in zip(*b)] for b in zip(self.rows, mask)]
        path = self.write("mask.fits", mask)
        self.assert_islands(["--mask", path], rows)
        rows = [[v if x < 40 else math.nan for x, v in enumerate(row)] for row in rows]
        self.assert_islands(["--mask", path, "--box", "0,39,0,63"], rows)

    def test_maps_of_the_users(self):
        wanted = self.find(*self.GIVEN)
        level = self.write("level.fits", constant(self.ny, self.nx, 0.5), bitpix=-64)
        noise = self.write("noise.fits", constant(self.ny, self.nx, 0.1), bitpix=-64)
        found = self.find("--background", level, "--rms", noise)
        # The maps have the precision of the image: 0.1 as float32.
        self.assertEqual(found["sources"], wanted["sources"])
        self.assertEqual(found["background"]["given"], str(level))
        self.assertEqual(found["background"]["given_rms"], str(noise))
        double = self.write("double.fits", self.rows, bitpix=-64)
        self.assertEqual(
            self.find("--background", level, "--rms", noise, image=double)["catalogue_hash"],
            self.find(*self.GIVEN, image=double)["catalogue_hash"],
        )
        holes = constant(self.ny, self.nx, 0.1)
        for y in range(self.ny):
            holes[y][: self.nx // 2] = [0.0, math.nan, -1.0, 0.0][y % 4 :][:1] * (self.nx // 2)
        hole = self.write("holes.fits", holes, bitpix=-64)
        rows = [[v if x >= 40 else math.nan for x, v in enumerate(row)] for row in self.rows]
        above, _ = reference.islands(rows, 0.5, 0.1, 5, 3)
        found = self.find("--background", "0.5", "--rms", hole, image=double)
        self.assertEqual(found["sources"], len(above))

    def test_every_backend_gives_the_same_bits(self):
        image = self.folder / "big.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "400", "-o", image))
        found = set()
        for backend in command.backends():
            for threads in (1, 2, 3, 8) if backend == "openmp" else (1,):
                folder = self.folder / f"{backend}{threads}"
                folder.mkdir()
                outputs = (
                    "-o a.csv -o a.fits -o a.vot -o a.reg --labels l.fits --background-map b.fits "
                    "--rms-map r.fits --snr-map s.fits --residual d.fits --negative --json"
                )
                words = ["find", "../big.fits", "--preset", "radio", *outputs.split()]
                run = ["--on", backend, "--threads", str(threads)]
                done = command.run(*words, *run, cwd=folder)
                self.assert_done(done)
                files = tuple(sorted((p.name, p.read_bytes()) for p in folder.iterdir()))
                self.assertEqual(len(files), 9)
                found.add((done.stdout, files))
        self.assertEqual(len(found), 1)


class TestIslandOutputs(IslandTestCase):
    """Files and text of the presets."""

    def all_outputs(self):
        words = [w for pair in ISLAND_MAPS.items() for w in pair]
        for name in ISLAND_TABLES:
            words += ["-o", name]
        return words

    def test_every_format_is_written(self):
        words = ["find", "sky.fits", "--preset", "radio", "--negative", *self.all_outputs()]
        done = command.run(*words, cwd=self.folder)
        self.assert_done(done)
        for name in (*ISLAND_TABLES, *ISLAND_MAPS.values()):
            self.assertIn(name.encode(), done.stderr)
            self.assertGreater((self.folder / name).stat().st_size, 0, name)
        count = len((self.folder / "a.csv").read_text().splitlines()) - 1
        self.assertGreater(count, 10)
        ecsv = (self.folder / "a.ecsv").read_text().splitlines()
        self.assertEqual(sum(not line.startswith("#") for line in ecsv), count + 1)
        self.assertEqual((self.folder / "a.vot").read_text().count("<TR>"), count)
        self.assertEqual(fits_files.read_hdus(self.folder / "a.fits")[1][0]["NAXIS2"], count)
        regions = (self.folder / "a.reg").read_text()
        self.assertIn("\nfk5\n", regions)
        self.assertEqual(regions.count("text={"), count)
        self.assertGreater(regions.count("\nellipse("), count // 2)
        self.assertEqual((self.folder / "a.crtf").read_text().count("label="), count)

    def test_all_outputs_or_none(self):
        outputs = self.all_outputs()
        before = self.files()
        for words in ("-o nosuch/a.csv", "--mask missing.fits", "--box 0,1000,0,5"):
            self.refuse(1, *outputs, *words.split())
        self.refuse(2, *outputs, "-o", "a.txt")
        self.refuse(1, *outputs[: outputs.index("--labels")], "--labels", "nosuch/l.fits")
        for name in ("r.fits", "a.reg"):
            (self.folder / name).write_text("mine")
            self.refuse(1, *outputs, says=[name, "--overwrite"])
            self.assertEqual((self.folder / name).read_text(), "mine")
            (self.folder / name).unlink()
        self.assertEqual(self.files(), before)

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        with command.small_disk(disk, self):
            maps = ["--snr-map", disk / "s.fits", "--labels", disk / "l.fits"]
            for last in ("--residual", "--rms-map", "--background-map"):
                self.refuse(1, "-o", disk / "a.csv", *maps, last, disk / "d.fits")
            # Two of them would fit.
            self.assert_done(command.run("find", self.image, "--preset", "radio", *maps))

    def test_a_full_stdout_is_a_failure(self):
        for words in ([], ["--json"], self.all_outputs(), [*self.all_outputs(), "--json"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                self.refuse(1, *words, stdout=full, says=["standard output"])

    def test_quiet(self):
        words = ["find", "sky.fits", "--preset", "radio", "--quiet"]
        done = command.run(*words, "-o", "a.csv", cwd=self.folder)
        self.assert_done(done)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        done = command.run(*words, cwd=self.folder)
        self.assert_done(done)
        self.assertIn(b"islands", done.stdout)
        self.assertEqual(done.stderr, b"")

    def test_timings_name_the_steps(self):
        words = ["find", "sky.fits", "--preset", "radio", "--json", "--timings"]
        done = command.run(*words, "--labels", "l.fits", cwd=self.folder)
        self.assert_done(done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        for step in (b"read", b"background", b"find", b"maps", b"write", b"kastor::", b"total"):
            self.assertIn(step, done.stderr)

    def test_the_text_is_what_the_json_is(self):
        found = self.find("--negative")
        done = command.run("find", "sky.fits", "--preset", "radio", "--negative", cwd=self.folder)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        text = done.stdout.decode()
        for words in (
            "sky.fits[0]: 80 columns x 64 rows",
            f"{found['sources']} islands above 3 times the noise with a peak above 5 times, "
            f"8-connected; {found['dropped']} dropped",
            f"{found['negative']} negative islands",
            'beam 14.4" x 10.8" at 30 deg',
            "69 x 69 pixels",
            "20 brightest peaks",
            "flux_int [Jy]",
            "noise correlated over ",
        ):
            self.assertIn(words, text)
        listed = [line.split() for line in text.splitlines() if line.split()[:1]]
        listed = [row for row in listed if row[0].isdigit() and len(row) == 8]
        self.assertEqual(len(listed), min(20, found["sources"] + found["negative"]))
        peaks = [abs(float(row[3])) for row in listed]
        self.assertEqual(peaks, sorted(peaks, reverse=True))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 110, line)

    def test_islands_without_a_total_say_so(self):
        words = ["find", "sky.fits", "--preset", "radio", "--seed", "5", "--flood", "5"]
        done = command.run(*words, "-o", "a.csv", cwd=self.folder)
        self.assert_done(done)
        with open(self.folder / "a.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        blank = [row for row in rows if row["flux_int"] in ("", "nan")]
        self.assertTrue(0 < len(blank) < len(rows))
        self.assertTrue(all(math.isfinite(float(row["flux_iso"])) for row in rows))
        self.assertTrue(all(int(row["flags"]) & 1024 for row in blank))
        self.assertIn(f"{len(blank)} of {len(rows)} islands have no flux_int".encode(),
                      done.stdout + done.stderr)

    def test_the_noise_of_the_errors(self):
        beam = math.pi / (4 * math.log(2)) * 4 * 3
        errors = {}
        for kind, pixels in (("white", 1), ("auto", None), ("beam", beam), ("condon", 2 * beam)):
            options = [] if kind == "auto" else ["--noise", kind]
            found = self.find("-o", self.folder / "a.fits", "--overwrite", *options)
            noise, cards = found["noise"], fits_files.read_hdus(self.folder / "a.fits")[1][0]
            self.assertEqual((noise["kind"], cards["NOISEKIN"]), (kind, kind))
            self.assertEqual(noise["area_pixels"], cards["NOISEPIX"])
            self.assertAlmostEqual(noise["area_beams"], noise["area_pixels"] / beam, places=3)
            if pixels:
                self.assertAlmostEqual(noise["area_pixels"], pixels, places=3)
            self.find("-o", self.folder / "a.csv", "--overwrite", *options)
            with open(self.folder / "a.csv", encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            errors[kind] = [float(row["flux_iso_err"]) for row in rows]
        self.assertTrue(all(a < b < c for a, b, c in
                            zip(errors["white"], errors["beam"], errors["condon"])))
        bare = self.write("bare.fits", self.rows, cards=[])
        self.assertIsNone(self.find(image=bare)["noise"]["area_beams"])
        for kind in ("beam", "condon"):
            self.refuse(1, "--noise", kind, image=bare, says=["no beam for --noise " + kind])
        rows = constant(20, 16, 1.0)
        rows[5][5:8] = [20.0, 30.0, 20.0]
        blank = self.write("few.fits", rows)
        few = self.find("--background", "0", "--rms", "1", image=blank)
        self.assertTrue(any("could not be measured" in note for note in few["notes"]), few)
        self.assertAlmostEqual(few["noise"]["area_beams"], 1)

    def test_the_errors_are_the_scatter_whatever_the_noise(self):
        image, truth = self.folder / "sky4.fits", self.folder / "sky4_truth.csv"
        for kind in ("beam", "condon", "white"):
            words = ["--size", "1024", "--noise-kind", kind, "--beam", "4", "--seed", "1"]
            words += ["--add", "point:count=400,snr=10..50,place=grid", "-o", image, "--overwrite"]
            self.assert_done(command.run("simulate", "sky", *words))
            found = self.find("-o", self.folder / "sky4.csv", "--overwrite", image=image)
            # A beam below a pixel says nothing of the noise, unless it is told to.
            tiny = str(found["beam"]["major_arcsec"] / 8)
            other = self.find("--beam", ",".join((tiny, tiny, "0")), image=image)
            area = found["noise"]["area_pixels"]
            self.assertAlmostEqual(other["noise"]["area_pixels"] / area, 1, delta=0.05)
            self.assertFalse([note for note in other["notes"] if "correlated" in note])
            other = self.find("--beam", ",".join((tiny, tiny, "0")), "--noise", "beam", image=image)
            self.assertEqual(other["noise"]["area_pixels"], 1)
            true, found = (
                [{key: row[key] for key in row} for row in csv.DictReader(text.splitlines())]
                for text in (truth.read_text(), (self.folder / "sky4.csv").read_text()))
            found = [(float(row["x_cen"]), float(row["y_cen"]), row) for row in found]
            pulls, ratios = {"x_cen": [], "y_cen": [], "flux_int": []}, []
            for each in true:
                x, y = float(each["x"]), float(each["y"])
                row = min(found, key=lambda f: (f[0] - x) ** 2 + (f[1] - y) ** 2)[2]
                for name, of_truth in zip(pulls, ("x", "y", "flux_int")):
                    apart = float(row[name]) - float(each[of_truth])
                    pulls[name].append(apart / float(row[name + "_err"]))
                ratios.append(float(row["flux_int"]) / float(each["flux_int"]))
            self.assertLess(abs(sum(ratios) / len(ratios) - 1), 0.03)
            for name, values in pulls.items():
                mean = sum(values) / len(values)
                width = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
                self.assertLess(abs(width - 1), 0.105, (kind, name))  # 3 / sqrt(800)

    def test_the_json(self):
        done = command.run("find", self.image, "--preset", "radio", "--json")
        self.assert_done(done)
        (line,) = done.stdout.decode().splitlines()
        found = json.loads(line)
        for part, keys in (
            (found, "file hdu preset seed flood connectivity background detection beam noise deblending "
             "sources negative dropped foreground_pixels catalogue_hash components component_hash notes"),
            (found["components"], "shape count islands groups beam_shape from_moments not_converged"),
            (found["background"], "given given_rms level rms cell cells filled masked"),
            (found["detection"], "image level rms filter filtered_noise"),
            (found["beam"], "major_arcsec minor_arcsec position_angle_deg"),
        ):
            self.assertEqual(list(part), keys.split())
        wanted = {"file": str(self.image), "hdu": 0, "preset": "radio", "connectivity": 8}
        self.assertEqual(found, {**found, **wanted, "negative": None, "notes": []})
        background = found["background"]
        self.assertEqual(background, {**background, "cells": 2, "filled": 0, "given": None})
        self.assertAlmostEqual(background["level"], 0.5, delta=0.02)
        self.assertAlmostEqual(background["rms"], 0.1, delta=0.02)
        self.assertAlmostEqual(found["beam"]["major_arcsec"], 14.4, delta=1e-12)
        self.assertAlmostEqual(found["beam"]["minor_arcsec"], 10.8, delta=1e-12)
        self.assertRegex(found["catalogue_hash"], "^[0-9a-f]{64}$")

    def test_json_of_what_is_not_there(self):
        bare = self.write("bare.fits", self.rows, cards=[])
        found = self.find("--background", "0.1", "--rms", "0.30000000000000004", image=bare)
        self.assertIsNone(found["beam"])
        background = found["background"]
        # Doubles come back as they were.
        self.assertEqual((background["given"], background["given_rms"]), (0.1, 0.30000000000000004))
        for name in ("level", "rms", "cell", "cells", "filled"):
            self.assertIsNone(background[name], name)
        self.assertEqual(len(found["notes"]), 2)
        self.assertIn("BUNIT", found["notes"][0])
        self.assertIn("coordinates", found["notes"][1])
        # One map given: the other one is of the mesh.
        half = self.find("--rms", "0.1", image=bare)["background"]
        self.assertEqual((half["given"], half["given_rms"]), (None, 0.1))
        self.assertEqual(half["cell"], [64, 64])
        self.assertEqual(
            self.find("--seed", "1e300")["catalogue_hash"],
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",  # of no bytes
        )

    def test_maps_are_where_the_image_is(self):
        words = ["find", "sky.fits", "--preset", "radio", *self.all_outputs()]
        self.assert_done(command.run(*words, cwd=self.folder))
        for option, name in ISLAND_MAPS.items():
            with self.subTest(option):
                cards, rows = fits_files.read_image(self.folder / name)
                self.assertEqual((cards["NAXIS"], cards["NAXIS1"], cards["NAXIS2"]), (2, 80, 64))
                self.assertEqual(cards["BITPIX"], 32 if option == "--labels" else -32)
                for key, value in [*WCS_CARDS, *BEAM_CARDS, ("OBJECT", "NOISE")]:
                    self.assertEqual(cards[key], value, key)
                flux = option not in ("--labels", "--snr-map")
                self.assertEqual(cards.get("BUNIT"), "JY/BEAM" if flux else None)
                text = "\n".join(fits_files.read_hdus(self.folder / name)[0][1])
                self.assertIn("--preset radio --seed 5 --flood 3", text)
                self.assertEqual(len(rows), 64)

    def test_what_the_maps_hold(self):
        """In double, so that nothing is rounded on the way."""
        image = self.write("double.fits", self.rows, bitpix=-64)
        words = ["--negative", "--cell", "20x16", *self.all_outputs()]
        command_words = ["find", "double.fits", "--preset", "radio", *words, "--json"]
        done = command.run(*command_words, cwd=self.folder)
        self.assert_done(done)
        found = json.loads(done.stdout)
        level, noise = self.pixels("b.fits"), self.pixels("r.fits")
        ids, snr, residual = (self.pixels(name) for name in ("l.fits", "s.fits", "d.fits"))
        self.assertGreater(len({v for row in level for v in row}), 1000)
        self.assertTrue(all(v > 0 for row in noise for v in row))
        for y in range(self.ny):
            for x in range(self.nx):
                value, where = self.rows[y][x], (y, x)
                if not math.isfinite(value):
                    self.assertTrue(math.isnan(snr[y][x]), where)
                    self.assertEqual(ids[y][x], 0, where)
                else:
                    self.assertEqual(snr[y][x], (value - level[y][x]) / noise[y][x], where)
                if ids[y][x]:
                    self.assertEqual(residual[y][x], level[y][x], where)
                    self.assertGreater(abs(snr[y][x]), 3, where)
                    self.assertEqual(snr[y][x] < 0, ids[y][x] > found["sources"], where)
                elif not math.isnan(value):
                    self.assertEqual(residual[y][x], value, where)
                else:
                    self.assertTrue(math.isnan(residual[y][x]), where)
        highest = max(v for row in ids for v in row)
        self.assertEqual(highest, found["sources"] + found["negative"])
        # Given back, the maps give the same islands.
        maps = ["--background", self.folder / "b.fits", "--rms", self.folder / "r.fits"]
        again = self.find("--negative", *maps, image=image)
        self.assertEqual(again["catalogue_hash"], found["catalogue_hash"])

    def test_the_labels_of_the_lesson(self):
        for options in ((), ("--level", "0.8"), ("--threshold", "3", "--about", "median",
                         "--connectivity", "8", "--min-pixels", "3")):
            with self.subTest(options):
                words = [self.image, *options, "--overwrite"]
                found = command.json_of("find", *words, "--labels", self.folder / "f.fits")
                wanted = command.json_of("label", *words, "-o", self.folder / "l.fits")
                self.assertEqual(found["sources"], wanted["sources"])
                self.assertEqual(self.pixels("f.fits"), self.pixels("l.fits"))

                def header(name):
                    cards, texts, _ = fits_files.read_hdus(self.folder / name)[0]
                    history = "".join(t[8:] for t in texts if t.startswith("HISTORY"))
                    return cards, history.replace(" ", "").replace("kastorfind", "kastorlabel")

                self.assertEqual(header("f.fits"), header("l.fits"))

    def test_nothing_found(self):
        words = ["find", "sky.fits", "--preset", "radio", "--seed", "1e9", *self.all_outputs()]
        done = command.run(*words, cwd=self.folder)
        self.assert_done(done)
        self.assertIn(b"\n0 islands", done.stdout)
        self.assertEqual(self.pixels("l.fits"), constant(self.ny, self.nx, 0))
        self.assertEqual(len((self.folder / "a.csv").read_text().splitlines()), 1)

    def test_planes_and_pictures(self):
        words = ["find", "cube.fits", "--preset", "radio", "--plane", "1"]
        flat = [v for row in self.rows for v in row]
        cube = fits_files.hdu([0.0] * len(flat) + flat, axes=(self.nx, self.ny, 2))
        (self.folder / "cube.fits").write_bytes(cube)
        options = ["--labels", "l.fits", "--json", "--background", "0.5", "--rms", "0.1"]
        done = command.run(*words, *options, cwd=self.folder)
        self.assert_done(done)
        wanted = self.find("--background", "0.5", "--rms", "0.1")
        self.assertEqual(json.loads(done.stdout)["catalogue_hash"], wanted["catalogue_hash"])
        self.assertEqual(fits_files.read_image(self.folder / "l.fits")[0]["NAXIS"], 2)


if __name__ == "__main__":
    command.main(__doc__)

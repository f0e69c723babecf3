# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: find with components, and with deblended islands."""

import csv
import json
import math
import random

import command
import fits_files
import reference
import skies
from command import AppTestCase

NY, NX = 96, 120
LEVEL, NOISE = 2.0, 0.1
#: Full widths at half maximum [pixel], and the angle from x towards y [degree] of the beam.
MAJOR, MINOR, ANGLE = 5.0, 4.0, 30.0
CARDS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 40.0), ("CRVAL2", -30.0), ("CRPIX1", 60.0)]
CARDS += [("CRPIX2", 48.0), ("CDELT1", -0.001), ("CDELT2", 0.001), ("RADESYS", "ICRS"), ("BUNIT", "Jy/beam")]
#: From north through east: x is west.
BEAM = [("BMAJ", 0.005), ("BMIN", 0.004), ("BPA", ANGLE + 90)]

#: Peak, x, y: one alone, a pair in one island, and one below the background.
ALONE, BRIGHT, FAINT, BELOW = (5.0, 30.3, 25.6), (6.0, 80.2, 60.4), (4.0, 87.1, 62.2), (-3.5, 30.4, 70.7)


def gaussian(source, x, y, major=MAJOR, minor=MINOR, angle=ANGLE):
    peak, x0, y0 = source
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    along, across = (c * (x - x0) + s * (y - y0)) / major, (c * (y - y0) - s * (x - x0)) / minor
    return peak * math.exp(-4 * math.log(2) * (along**2 + across**2))


def component_sky(sources=(ALONE, BRIGHT, FAINT, BELOW), seed=5):
    numbers = random.Random(seed)
    rows = [[numbers.gauss(LEVEL, NOISE) + sum(gaussian(s, x, y) for s in sources) for x in range(NX)]
            for y in range(NY)]
    return [[reference.as_float32(v) for v in row] for row in rows]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class ComponentTestCase(AppTestCase):
    """Each test has a sky of four Gaussians of the shape of the beam, `sky.fits`."""

    def setUp(self):
        super().setUp()
        self.rows = component_sky()
        self.write("sky.fits", self.rows)

    def write(self, name, rows, cards=None, bitpix=-32):
        cards = [*CARDS, *BEAM] if cards is None else cards
        return fits_files.write(self.folder / name, rows, bitpix, cards=cards).name

    def find(self, options="", image="sky.fits", preset="radio"):
        words = ["find", image, "--preset", preset, *options.split(), "--overwrite"]
        return command.json_of(*words, cwd=self.folder)

    def fitted(self, options="", image="sky.fits", preset="radio"):
        found = self.find(options + " --components fitted.csv", image, preset)
        return found, rows_of(self.folder / "fitted.csv")

    def refuse(self, code, options, says, image="sky.fits", preset="radio"):
        words = ["find", image, "--preset", preset, *options.split()]
        return self.assert_refused(code, *words, says=says.split("|"), cwd=self.folder)

    def text(self, options="", image="sky.fits", preset="radio"):
        done = command.run("find", image, "--preset", preset, *options.split(), cwd=self.folder)
        self.assert_done(done)
        return done.stdout.decode()

    def assert_near(self, row, source, **wanted):
        wanted = {"flux_peak": source[0], "x_cen": source[1], "y_cen": source[2], **wanted}
        for name, value in wanted.items():
            self.assertLess(abs(float(row[name]) - value), 5 * float(row[name + "_err"]), (name, row))


class TestComponents(ComponentTestCase):
    """What is fitted, and what is said of it."""

    def test_components_are_the_sources(self):
        found, rows = self.fitted()
        self.assertEqual((found["sources"], found["components"]["count"], len(rows)), (2, 3, 3))
        self.assertEqual([row["component_id"] for row in rows], ["1", "2", "3"])
        self.assertEqual([row["island_id"] for row in rows], ["1", "2", "2"])
        for row, source in zip(rows, (ALONE, BRIGHT, FAINT)):
            self.assert_near(row, source, flux_int=source[0], maj_axis_pix=MAJOR, min_axis_pix=MINOR)
            self.assertEqual(int(row["flags"]) & ~1024, 0)

    def test_below_the_background_too(self):
        plain = self.fitted()[1]
        found, rows = self.fitted("--negative")
        self.assertEqual((found["sources"], found["negative"], found["components"]["count"]), (2, 1, 4))
        self.assertEqual(rows[:3], plain)
        self.assert_near(rows[3], BELOW)
        self.assertEqual((rows[3]["component_id"], rows[3]["island_id"]), ("4", "3"))
        self.assertEqual(int(rows[3]["flags"]) & 4, 4)
        self.assertGreater(int(rows[3]["group_id"]), int(rows[2]["group_id"]))

    def test_islands_are_what_they_were(self):
        names = "islands.csv islands.fits labels.fits".split()
        before = []
        for options in ("--components none", "--components c.csv --shape free", "--model m.fits"):
            outputs = "-o islands.csv -o islands.fits --labels labels.fits " + options
            found = self.find(outputs)
            before.append(((self.folder / name).read_bytes() for name in names))
            before[-1] = [*before[-1], found["catalogue_hash"], found["sources"], found["notes"]]
        self.assertEqual(before[0], before[1])
        self.assertEqual(before[0], before[2])

    def test_when_components_are_fitted(self):
        for preset, options, fits in (
            ("radio", "", True),
            ("radio", "--components none", False),
            ("sextractor", "", False),
            ("sextractor", "--components none", False),
            ("sextractor", "--components c.csv", True),
            ("sextractor", "--model m.fits", True),
            ("sextractor", "--fit-residual r.fits --shape beam", True),
        ):
            found = self.find(options, preset=preset)
            self.assertEqual(found["components"] is not None, fits, (preset, options))
            self.assertEqual(found["component_hash"] is not None, fits, (preset, options))
        self.assertRegex(self.find()["component_hash"], "^[0-9a-f]{64}$")
        self.assertEqual(self.find()["component_hash"], self.find("--components c.csv")["component_hash"])

    def test_a_star_needs_no_beam(self):
        cards = [card for card in CARDS if card[0] != "BUNIT"] + [("BUNIT", "adu")]
        self.write("stars.fits", self.rows, cards)
        _, rows = self.fitted("--filter-kernel none --seed 5 --flood 3", "stars.fits", "sextractor")
        self.assertEqual(len(rows), 3)
        area = math.pi / (4 * math.log(2)) * MAJOR * MINOR
        for row, source in zip(rows, (ALONE, BRIGHT, FAINT)):
            self.assert_near(row, source, flux_int=source[0] * area, maj_axis_pix=MAJOR, min_axis_pix=MINOR)

    def test_stars_that_share_an_island_are_components_each(self):
        # Islands are found in the filtered image, and fitted in the image itself: how far a peak is above its saddle
        # counts in units of the noise of the former.
        crowd = "simulate sky --size 300 --seed 4 --add star:count=240,snr=10..300 -o crowd.fits"
        self.assert_done(command.run(*crowd.split(), cwd=self.folder))
        _, rows = self.fitted(image="crowd.fits", preset="sextractor")
        stars = [star for star in rows_of(self.folder / "crowd_truth.csv") if float(star["snr"]) >= 20]
        found = sum(any(math.dist((float(row["x_cen"]), float(row["y_cen"])), (float(star["x"]), float(star["y"]))) < 2
                        for row in rows) for star in stars)
        self.assertGreater(found, 0.82 * len(stars))

    def test_the_shape_of_the_beam(self):
        found, rows = self.fitted("--shape beam")
        self.assertEqual((found["components"]["shape"], found["components"]["beam_shape"]), ("beam", 3))
        for row, source in zip(rows, (ALONE, BRIGHT, FAINT)):
            self.assert_near(row, source)
            self.assertEqual(int(row["flags"]) & 8, 8)
            self.assertAlmostEqual(float(row["maj_axis_pix"]), MAJOR, delta=0.01)
            self.assertAlmostEqual(float(row["min_axis_pix"]), MINOR, delta=0.01)
            self.assertAlmostEqual(float(row["pos_ang_pix"]), ANGLE, delta=0.5)
        free = self.find()["component_hash"]
        self.assertNotEqual(found["component_hash"], free)

    def test_the_text(self):
        text = self.text("--negative")
        self.assertIn("\n4 components fitted to 3 islands\n", text)
        title = "\nall components, brightest first; ra [deg], dec [deg], flux_peak [Jy/beam], flux_int [Jy]"
        self.assertIn(title, text)
        table = text[text.index("all components"):].splitlines()[2:]
        self.assertEqual(table[0].split()[:5], ["id", "island", "ra", "dec", "flux_peak"])
        self.assertEqual([line.split()[0] for line in table[1:]], ["2", "1", "3", "4"])
        self.assertIn("3 components fitted to 2 islands with the shape of the beam\n", self.text("--shape beam"))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 110, line)
        self.assertNotIn("component", self.text("--components none"))
        self.assertNotIn("component", self.text(preset="sextractor"))
        self.assertIn("\n0 components fitted to 0 islands\n", self.text("--seed 1e9"))

    def test_nothing_is_fitted_that_nothing_shows(self):
        for options, fits in (("--quiet -o i.csv", False), ("--quiet", True), ("-o j.csv", True),
                              ("--quiet --components k.csv", True)):
            words = ["find", "sky.fits", "--preset", "radio", "--timings", *options.split()]
            done = command.run(*words, cwd=self.folder)
            self.assert_done(done)
            self.assertEqual(b"components" in done.stderr, fits, options)

    def test_every_backend_and_thread_count(self):
        found = set()
        for backend in command.backends():
            for threads in (1, 2):
                both = self.fitted(f"--negative --on {backend} --threads {threads}")
                table = (self.folder / "fitted.csv").read_bytes()
                found.add((both[0]["component_hash"], both[0]["catalogue_hash"], table))
        self.assertEqual(len(found), 1)

    def test_the_noise_of_the_errors(self):
        errors = []
        for kind in ("white", "beam", "condon"):
            _, rows = self.fitted(f"--noise {kind} -o islands.fits --components fitted.fits")
            errors.append([float(row["flux_int_err"]) for row in rows])
            of_islands, of_components = (fits_files.read_hdus(self.folder / name)[1][0]
                                         for name in ("islands.fits", "fitted.fits"))
            for key in ("NOISEKIN", "NOISEPIX"):
                self.assertEqual(of_islands[key], of_components[key])
        for white, beam, condon in zip(*errors):
            self.assertLess(white, beam)
            self.assertLess(beam, condon)

    def test_images_without_what_components_need(self):
        for cards in ([], CARDS, [*CARDS[:-1], ("BUNIT", "K")], [("BUNIT", "Jy/beam"), *BEAM]):
            self.write("bare.fits", self.rows, cards)
            found, rows = self.fitted(image="bare.fits")
            self.assertEqual((found["components"]["count"], len(rows)), (3, 3), cards)
            self.assertIn("3 components fitted to 2 islands\n", self.text(image="bare.fits"))


class TestComponentOutputs(ComponentTestCase):
    """Files of components, and what is refused."""

    def test_every_format(self):
        names = [f"c.{suffix}" for suffix in "csv ecsv fits vot reg crtf".split()]
        words = ["find", "sky.fits", "--preset", "radio", "--quiet"]
        done = command.run(*words, *(w for n in names for w in ("--components", n)), cwd=self.folder)
        self.assert_done(done)
        self.assertEqual((done.stdout, self.files()), (b"", sorted([*names, "sky.fits"])))
        texts = {name: (self.folder / name).read_bytes().decode("latin-1") for name in names}
        self.assertEqual(texts["c.reg"].count("ellipse("), 3)
        self.assertEqual(texts["c.crtf"].count("ellipse"), 3)
        for name in names[1:]:
            self.assertIn("--preset radio --seed 5 --flood 3", texts[name].replace("\n", ""), name)
        self.assertIn("component_id", texts["c.csv"].splitlines()[0])

    def test_all_or_none(self):
        self.refuse(2, "-o a.csv --components b.txt", "--components: found 'b.txt', whose suffix names no format")
        self.refuse(1, "-o a.csv --components a.csv", "a.csv|twice")
        self.refuse(1, "-o a.csv --components sky.fits --overwrite", "sky.fits: is the input")
        for option in ("--model", "--fit-residual"):
            self.refuse(2, f"{option} a.csv", f"{option}: found 'a.csv', whose suffix")
            self.refuse(1, f"-o a.csv {option} sky.fits --overwrite", "sky.fits: is the input")
        (self.folder / "b.csv").write_text("mine")
        for option in ("--components b.csv", "--components c.csv -o b.csv"):
            self.refuse(1, option, "b.csv: exists already")
        self.find("--components b.csv")
        self.assertEqual(len(rows_of(self.folder / "b.csv")), 3)

    def test_options_that_do_not_fit(self):
        for preset, options, says in (
            ("radio", "--components none --model m.fits", "--components: found none with --model"),
            ("radio", "--components none --components c.csv", "--components: found none with another"),
            ("radio", "--components none --shape beam", "--components: found none with --shape"),
            ("radio", "--components none --fit-residual r.fits", "found none with --fit-residual"),
            ("sextractor", "--shape free", "--shape: found without components"),
            ("sextractor", "--deblend off --deblend-contrast 0.1", "--deblend-contrast: found where islands"),
            ("radio", "--components none --deblend-prominence 1", "--deblend-prominence: found where islands"),
            ("radio", "--shape round", "--shape: found 'round'; expected free or beam"),
            ("radio", "--deblend yes", "--deblend: found 'yes'; expected on or off"),
            ("radio", "--deblend-contrast 1.5", "--deblend-contrast: found '1.5'; expected a number from 0 to 1"),
            ("radio", "--deblend-prominence -1", "--deblend-prominence: found '-1'"),
            ("lesson", "--components c.csv", "--components: found with --preset lesson"),
            ("lesson", "--components none", "--components: found with --preset lesson"),
            ("lesson", "--deblend on", "--deblend: found with --preset lesson"),
            ("lesson", "--model m.fits", "--model: found with --preset lesson"),
        ):
            with self.subTest(options):
                self.refuse(2, options, says, preset=preset)

    def test_beams_that_are_of_no_use(self):
        self.write("bare.fits", self.rows, CARDS)
        self.refuse(1, "--shape beam --components c.csv",
                    "bare.fits[0]: found no beam for --shape beam; expected one in the header or --beam", "bare.fits")
        self.write("nowhere.fits", self.rows, [CARDS[-1], *BEAM])
        self.refuse(1, "--shape beam", "nowhere.fits[0]: found a beam but no pixel scale", "nowhere.fits")
        self.refuse(2, "--beam 0,0 --components c.csv", "--beam: ")
        wide = "sky.fits[0]: found a beam of |, wider than the image of 120 x 96; expected a smaller one"
        self.refuse(1, "--beam 3600,36 --components c.csv", wide)
        self.refuse(1, "--beam 3600,36 --model c.fits", wide)
        found = self.find("--beam 3600,36 --cell 32")
        self.assertIsNone(found["components"])
        self.assertTrue(any(n.startswith("no components are fitted: found a beam") for n in found["notes"]))

    def test_maps(self):
        rows = [list(row) for row in self.rows]
        rows[10][7] = math.nan
        self.write("sky.fits", rows, bitpix=-64)
        maps = "--model m.fits --fit-residual r.fits --background-map b.fits --labels l.fits"
        found, components = self.fitted(maps + " --negative")
        level, residual, model = (fits_files.read_image(self.folder / f"{name}.fits") for name in "brm")
        for cards, _ in (residual, model):
            self.assertEqual((cards["BUNIT"], cards["BITPIX"], cards["CRVAL1"]), ("Jy/beam", -64, 40.0))
            self.assertAlmostEqual(cards["BMAJ"], 0.005)
        self.assertEqual(found["components"]["count"], 4)
        sources = [(float(c["flux_peak"]), float(c["x_cen"]), float(c["y_cen"])) for c in components]
        shapes = [[float(c[name]) for name in ("maj_axis_pix", "min_axis_pix", "pos_ang_pix")] for c in components]
        for y in range(NY):
            for x in range(NX):
                want = sum(gaussian(s, x, y, *shape) for s, shape in zip(sources, shapes))
                self.assertAlmostEqual(model[1][y][x], want, delta=1e-6)
                left = rows[y][x] - level[1][y][x] - model[1][y][x]
                if math.isnan(left):
                    self.assertTrue(math.isnan(residual[1][y][x]))
                else:
                    self.assertAlmostEqual(residual[1][y][x], left, delta=1e-12)
        flat = [v for row in residual[1] for v in row if math.isfinite(v)]
        self.assertLess(math.sqrt(sum(v * v for v in flat) / len(flat)), 1.05 * NOISE)
        self.find("--seed 1e9 --model m.fits")
        self.assertEqual({v for row in fits_files.read_image(self.folder / "m.fits")[1] for v in row}, {0.0})

    def test_many_images(self):
        self.write("next.fits", component_sky(seed=6))
        words = "find sky.fits next.fits --preset radio -o islands/ --components fitted/ --format fits --format reg"
        done = command.run(*words.split(), cwd=self.folder)
        self.assert_done(done)
        self.assertIn(b"wrote the catalogues of 2 images to islands/ and fitted/", done.stderr)
        self.find("-o i.fits --components c.fits --components c.reg")
        for name, other in (("i.fits", "islands/sky.fits"), ("c.fits", "fitted/sky.fits"),
                            ("c.reg", "fitted/sky.reg")):
            self.assertEqual((self.folder / name).read_bytes(), (self.folder / other).read_bytes(), name)
        done = command.run(*words.split(), "--resume", cwd=self.folder)
        self.assert_done(done)
        self.assertIn(b"skipped 2 images", done.stderr)
        (self.folder / "fitted/next.fits").unlink()
        done = command.run(*words.split(), "--resume", cwd=self.folder)
        self.assert_done(done)
        self.assertIn(b"skipped 1 image,", done.stderr)
        self.assertTrue((self.folder / "fitted/next.fits").exists())

    def test_many_images_without_islands(self):
        self.write("next.fits", component_sky(seed=6))
        words = "find sky.fits next.fits --preset radio".split()
        done = command.run(*words, "--components", "fitted/", cwd=self.folder)
        self.assert_done(done)
        self.assertEqual([n for n in self.files() if "/" in n], ["fitted/next.fits", "fitted/sky.fits"])
        done = command.run(*words, "--json", cwd=self.folder)
        self.assert_done(done)
        for line, name in zip(done.stdout.decode().splitlines(), ("sky.fits", "next.fits")):
            self.assertEqual(json.loads(line), self.find(image=name))
        self.refuse(2, "next.fits --components a.csv", "--components: found 'a.csv' with several images")
        self.refuse(2, "next.fits --components a/ --components b/", "--components: given more than once")
        self.refuse(2, "next.fits --model a.fits", "--model: found with several images")
        self.refuse(2, "next.fits -o fitted/ --components fitted --overwrite",
                    "--components: found 'fitted/', the folder of -o")
        self.refuse(2, "-o one/ --components two.csv", "--components: found 'two.csv' with several images")

    def test_a_picture_of_components(self):
        done = command.run("find", "sky.fits", "--preset", "radio", "--picture", "islands.png", cwd=self.folder)
        if done.returncode != 0 and b"font" in done.stderr:
            self.skipTest("no font")
        self.assert_done(done)
        self.find("--picture components.png --components c.csv")
        self.find("--picture same.png --model m.fits")
        read = [(self.folder / f"{name}.png").read_bytes() for name in ("islands", "components", "same")]
        self.assertNotEqual(read[0], read[1])
        self.assertEqual(read[0], read[2])


class TestDeblending(ComponentTestCase):
    """Islands that are split into their peaks."""

    def parts(self, options="", preset="radio"):
        found = self.find("--deblend on -o parts.csv --labels parts.fits " + options, preset=preset)
        return found, rows_of(self.folder / "parts.csv"), fits_files.read_image(self.folder / "parts.fits")[1]

    def test_parts_of_islands(self):
        whole = self.find("--negative -o whole.csv --labels whole.fits")
        self.assertIsNone(whole["deblending"])
        islands = rows_of(self.folder / "whole.csv")
        self.assertNotIn("parent_id", islands[0])
        labels = fits_files.read_image(self.folder / "whole.fits")[1]
        found, parts, ids = self.parts("--negative")
        self.assertEqual(found["deblending"], {"islands": 2, "contrast": 0, "prominence": 0})
        self.assertEqual((found["sources"], found["negative"]), (3, 1))
        self.assertEqual(list(parts[0])[:2], ["island_id", "parent_id"])
        self.assertEqual([(p["island_id"], p["parent_id"]) for p in parts],
                         [("1", "1"), ("2", "2"), ("3", "2"), ("4", "3")])
        parent = {0: 0, **{int(p["island_id"]): int(p["parent_id"]) for p in parts}}
        self.assertEqual([[parent[int(v)] for v in row] for row in ids], [[int(v) for v in row] for row in labels])
        for part in parts:
            count = sum(int(v) == int(part["island_id"]) for row in ids for v in row)
            self.assertEqual(count, int(part["n_pix"]))
            self.assertEqual(int(ids[int(part["y_peak"])][int(part["x_peak"])]), int(part["island_id"]))
        for island in islands:
            of = [p for p in parts if p["parent_id"] == island["island_id"]]
            self.assertAlmostEqual(sum(float(p["flux_sum"]) for p in of), float(island["flux_sum"]))
        self.assertEqual(found["component_hash"], whole["component_hash"])
        self.assertNotEqual(found["catalogue_hash"], whole["catalogue_hash"])

    def test_contrast_and_prominence(self):
        for options, count in (("", 3), ("--deblend-contrast 0.9", 2), ("--deblend-prominence 1000", 2),
                               ("--deblend-contrast 0.01 --deblend-prominence 3", 3)):
            self.assertEqual(self.parts(options)[0]["sources"], count, options)
        self.assertEqual(self.parts("--deblend-contrast 0.9")[0]["deblending"]["contrast"], 0.9)

    def test_the_default_of_sextractor(self):
        found, _, _ = self.parts(preset="sextractor")
        self.assertEqual(found["deblending"], {"islands": 2, "contrast": 0.005, "prominence": 4})
        plain = self.find(preset="sextractor")
        self.assertEqual(plain["catalogue_hash"], found["catalogue_hash"])
        off = self.find("--deblend off", preset="sextractor")
        self.assertEqual((off["sources"], off["deblending"]), (2, None))
        self.assertIn("2 islands above", self.text(preset="sextractor"))
        self.assertIn("\nsplit into 3 sources\n", self.text(preset="sextractor"))
        self.find("-o a.ecsv", preset="sextractor")
        self.assertIn("--deblend on --deblend-contrast 0.005 --deblend-prominence 4",
                      (self.folder / "a.ecsv").read_text())

    def test_kron_fluxes_of_the_parts(self):
        area = math.pi / (4 * math.log(2)) * MAJOR * MINOR
        cards = [card for card in CARDS if card[0] != "BUNIT"] + [("BUNIT", "adu")]
        self.write("sky.fits", self.rows, cards)
        _, parts, _ = self.parts(preset="sextractor")
        self.assertEqual(len(parts), 3)
        for part, source in zip(parts, (ALONE, BRIGHT, FAINT)):
            self.assertLess(abs(float(part["flux_auto"]) / (source[0] * area) - 1), 0.25, part)

    def test_noise_without_a_beam_has_peaks_of_its_own(self):
        self.write("bare.fits", self.rows, CARDS)
        found = self.find("--deblend on", "bare.fits")
        self.assertEqual(found["deblending"]["prominence"], 2)
        self.assertEqual(self.find("--deblend on --deblend-prominence 0", "bare.fits")["deblending"]["prominence"], 0)

    def test_with_a_detection_image(self):
        self.write("deep.fits", component_sky(seed=9))
        found, parts, ids = self.parts("--detect-image deep.fits")
        self.assertEqual(found["sources"], 3)
        self.assertEqual(found["components"]["count"], 3)
        for part, source in zip(parts, (ALONE, BRIGHT, FAINT)):
            self.assertLess(abs(float(part["x_cen"]) - source[1]) + abs(float(part["y_cen"]) - source[2]), 1.5)

    def test_every_backend_gives_the_same_parts(self):
        found = set()
        for backend in command.backends():
            self.parts(f"--negative --on {backend}", preset="sextractor")
            found.add(tuple((self.folder / name).read_bytes() for name in ("parts.csv", "parts.fits")))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    command.main(__doc__)

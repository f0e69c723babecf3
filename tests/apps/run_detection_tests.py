# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: find in a detection image or after a filter, and measure in the image."""

import csv
import json
import math
import random

import command
import fits_files
import reference
import skies
from command import AppTestCase

WCS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 266.5), ("CRVAL2", -29.0)]
WCS += [("CRPIX2", 30.0), ("CDELT1", -0.001), ("CDELT2", 0.001), ("RADESYS", "ICRS")]


def at(column, unit="Jy/beam"):
    """Cards of an image whose reference pixel is in that column."""
    return [*WCS, ("CRPIX1", column), ("BUNIT", unit)]


class DetectionTestCase(AppTestCase):
    """Each test has `sky.fits`, and `deep.fits`: the same sky in another unit with less noise."""

    def setUp(self):
        super().setUp()
        numbers = random.Random(3)
        deep = skies.island_sky(noise=0.05)
        self.deep = [[reference.as_float32(7 + 3 * v) for v in row] for row in deep]
        self.rows = [[reference.as_float32(v + numbers.gauss(0, 0.1)) for v in row] for row in deep]
        self.rows[40][7] = math.nan
        self.write("sky.fits", self.rows)
        self.write("deep.fits", self.deep, at(40.5, "K"))

    def write(self, name, rows, cards=None, bitpix=-32):
        fits_files.write(self.folder / name, rows, bitpix, cards=cards or at(40.5))

    def find(self, words, image="sky.fits", preset="radio"):
        done = command.run(
            "find", image, "--preset", preset, *words.split(), "--json", "--overwrite",
            cwd=self.folder,
        )
        self.assert_done(done)
        return json.loads(done.stdout)

    def refuse(self, code, words, *says, image="sky.fits"):
        words = ["find", image, "--preset", "radio", *words.split()]
        return self.assert_refused(code, *words, says=says, cwd=self.folder)

    def pixels(self, name):
        return [list(row) for row in fits_files.read_image(self.folder / name)[1]]

    def table(self, name):
        with open(self.folder / name, newline="", encoding="ascii") as file:
            return list(csv.DictReader(file))


class TestDetectImage(DetectionTestCase):
    """--detect-image."""

    def test_islands_are_those_of_the_detection_image(self):
        self.rows[40][7] = 0.5  # no pixel is blank in one image alone
        self.deep[40][7] = 7.5
        self.write("sky.fits", self.rows)
        self.write("deep.fits", self.deep)
        maps = "--labels {0}l.fits --snr-map {0}s.fits --rms-map {0}r.fits --background-map {0}b.fits"
        found = self.find(f"--detect-image deep.fits {maps.format('x')} -o x.csv --negative")
        deep = self.find(f"{maps.format('d')} -o d.csv --negative", image="deep.fits")
        self.find(maps.format("a") + " --negative")
        self.assertGreater(found["sources"], 10)
        self.assertGreater(found["negative"], 2)
        for key in ("sources", "negative", "dropped", "foreground_pixels"):
            self.assertEqual(found[key], deep[key])
        self.assertNotEqual(found["catalogue_hash"], deep["catalogue_hash"])
        for name, wanted in (("xl", "dl"), ("xs", "ds"), ("xr", "ar"), ("xb", "ab")):
            same = (self.pixels(f"{n}.fits") for n in (name, wanted))
            self.assertEqual(*map(str, same), name)
        detection, background = found["detection"], deep["background"]
        self.assertEqual(detection["image"], "deep.fits")
        self.assertEqual((detection["level"], detection["rms"]),
                         (background["level"], background["rms"]))
        self.assertEqual(found["background"]["level"], self.find("")["background"]["level"])
        labels, level = self.pixels("xl.fits"), self.pixels("xb.fits")
        for row, other in zip(self.table("x.csv"), self.table("d.csv")):
            inside = [
                (self.rows[y][x] - level[y][x]) * (1 if int(row["flags"]) & 4 == 0 else -1)
                for y in range(len(labels)) for x in range(len(labels[0]))
                if labels[y][x] == int(row["island_id"])
            ]
            sign = 1 if int(row["flags"]) & 4 == 0 else -1
            self.assertEqual(len(inside), int(row["n_pix"]))
            self.assertAlmostEqual(float(row["flux_sum"]), sign * math.fsum(inside), delta=1e-4)
            self.assertAlmostEqual(float(row["flux_peak"]), sign * max(inside), delta=1e-5)
            self.assertEqual(row["snr"], other["snr"])
            self.assertEqual(row["n_pix"], other["n_pix"])

    def test_both_images_decide_what_is_blank(self):
        alone = self.find("--snr-map a.fits", image="deep.fits")
        both = self.find("--detect-image deep.fits --labels l.fits")
        self.assertEqual(self.pixels("l.fits")[40][7], 0)
        self.assertLessEqual(both["foreground_pixels"], alone["foreground_pixels"])
        for y in range(10, 30):
            self.deep[y][20:50] = [-99.0] * 30
        self.write("deep.fits", self.deep)
        found = self.find("--detect-image deep.fits --blank-value -99 --labels l.fits --snr-map s.fits")
        self.assertTrue(math.isnan(self.pixels("s.fits")[20][30]))
        self.assertTrue(all(v == 0 for row in self.pixels("l.fits")[10:30] for v in row[20:50]))
        self.assertLess(abs(found["detection"]["level"] - alone["background"]["level"]), 0.1)

    def test_a_map_of_the_user_is_of_the_image(self):
        found = self.find("--detect-image deep.fits --background 0.5 --rms 0.125 --labels l.fits")
        self.assertIsNone(found["background"]["level"])
        self.assertEqual(found["background"]["given_rms"], 0.125)
        self.assertGreater(found["detection"]["level"], 8)
        other = self.find("--detect-image deep.fits --labels m.fits")
        self.assertEqual(found["sources"], other["sources"])

    def test_parts(self):
        self.rows[40][7] = 0.5
        content = fits_files.hdu(self.rows, cards=at(40.5))
        flat = [v for plane in (self.rows, self.deep) for row in plane for v in row]
        axes = (len(self.rows[0]), len(self.rows), 2)
        content += fits_files.hdu(flat, axes=axes, cards=[("EXTNAME", "CUBE")], extension=True)
        for name in ("all.fits", "also.fits"):
            (self.folder / name).write_bytes(content)
        wanted = self.find("--detect-image deep.fits", image="all.fits")
        for words in ("--detect-image-hdu CUBE --detect-image-plane 1",
                      "--detect-image also.fits --detect-image-hdu 1 --detect-image-plane 1"):
            found = self.find(words, image="all.fits")
            self.assertEqual(found["catalogue_hash"], wanted["catalogue_hash"])
        self.refuse(2, "--detect-image-plane 1", "--detect-image-plane: found without")
        self.refuse(1, "--detect-image-hdu 0", "the image itself", image="all.fits")

    def test_what_is_no_detection_image(self):
        self.refuse(1, "--detect-image sky.fits", "sky.fits[0]: found the image itself as --detect-image")
        self.refuse(1, "--detect-image none.fits -o a.csv", "none.fits", "(read for --detect-image)")
        self.write("turned.fits", [list(row) for row in zip(*self.deep)])
        self.refuse(1, "--detect-image turned.fits", "turned.fits[0]: found 64 x 80 pixels")
        self.refuse(1, "--detect-image deep.fits -o deep.fits --overwrite", "deep.fits")
        self.write("blank.fits", [[math.nan] * 80 for _ in range(64)])
        self.refuse(1, "--detect-image blank.fits -o a.csv", "blank.fits[0]: ")
        words = ["find", "sky.fits", "--detect-image", "deep.fits"]
        self.assert_refused(2, *words, says=["--detect-image: found with --preset lesson"],
                            cwd=self.folder)

    def test_coordinates_of_the_detection_image(self):
        plain = self.find("--detect-image deep.fits")
        self.assertEqual(plain["notes"], self.find("")["notes"])
        self.write("deep.fits", self.deep, [("BUNIT", "K")])
        self.assertEqual(self.find("--detect-image deep.fits")["notes"], plain["notes"])
        self.write("deep.fits", self.deep, at(40.55))
        self.assertEqual(self.find("--detect-image deep.fits")["notes"], plain["notes"])
        self.write("deep.fits", self.deep, at(40.75))
        note = "the coordinates of --detect-image deep.fits[0] are up to 0.25 pixels away"
        found = self.find("--detect-image deep.fits")
        self.assertIn(note, found["notes"][0])
        self.assertEqual(found["catalogue_hash"], plain["catalogue_hash"])
        self.write("deep.fits", self.deep, at(43.5))
        self.refuse(1, "--detect-image deep.fits -o a.csv",
                    "deep.fits[0]: found coordinates 3 pixels away from those of sky.fits[0]")

    def test_another_sky_is_refused(self):
        def refuse(cards, *says):
            self.write("deep.fits", self.deep, cards)
            self.refuse(1, "--detect-image deep.fits -o a.csv", *says)

        def moved(**values):
            return [(k, values.get(k, v)) for k, v in at(40.5, "K")]

        says = ["deep.fits[0]: found no pixel that shows the sky of the pixel at x = 39.5, y = 31.5",
                "of sky.fits[0]; expected the same pixels of the sky"]
        refuse(moved(CRVAL1=86.5, CRVAL2=29.0), *says)  # the antipode
        refuse(moved(CRVAL1=40.0, CRVAL2=0.0), *says)
        galactic = moved(CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN")
        refuse(galactic, "deep.fits[0]: found coordinates ", " pixels away from those of sky.fits[0]")
        ecliptic = moved(CTYPE1="ELON-SIN", CTYPE2="ELAT-SIN")
        refuse(ecliptic, "deep.fits[0]: found ecliptic coordinates, which cannot be compared with the "
               "equatorial (ICRS) ones of sky.fits[0]")

    def test_a_galactic_detection_image_of_the_same_sky(self):
        def cards(system, longitude, latitude, degrees, step):
            c, s = (step * f(math.radians(degrees)) for f in (math.cos, math.sin))
            axes = {"G": ("GLON", "GLAT"), "R": ("RA--", "DEC-")}[system]
            values = [("CTYPE1", axes[0] + "-SIN"), ("CTYPE2", axes[1] + "-SIN")]
            values += [("CRVAL1", longitude), ("CRVAL2", latitude), ("CRPIX1", 40.5)]
            values += [("CRPIX2", 30.0), ("CD1_1", -c), ("CD1_2", s), ("CD2_1", s), ("CD2_2", c)]
            return values + ([("RADESYS", "ICRS")] if system == "R" else [])

        # Where the prime meridian crosses the galactic equator. Seen from there the galactic pole is
        # 58.5990 degrees from the north of ICRS, to the east for one sign. With steps of 2 degrees
        # the corners show no sky.
        for step in (0.001, 2.0):
            self.write("sky.fits", self.rows, cards("R", 266.4049882865447, -28.936177761791473, 0, step))
            codes = []
            for degrees in (58.5990, -58.5990):
                self.write("deep.fits", self.deep, cards("G", 0.0, 0.0, degrees, step))
                words = "find sky.fits --preset radio --detect-image deep.fits"
                codes.append(command.run(*words.split(), cwd=self.folder).returncode)
            self.assertEqual(sorted(codes), [0, 1], step)

    def test_notes_on_the_mesh_of_the_detection_image(self):
        flat = [[5.0 + 0.01 * (x == 3 and y == 3) for x in range(80)] for y in range(64)]
        self.write("flat.fits", flat)
        found = self.find("--detect-image flat.fits --blank-value none")
        start = "in the detection image the noise is 0 at more than half of the mesh nodes"
        self.assertEqual([n[: len(start)] for n in found["notes"][-1:]], [start])
        line = "simulate sky --size 512 --beam 2 --seed 3 {} -o {} --quiet"
        for name, add in (("lobes.fits", "--add lobes:count=1,size=200,snr=60,place=grid"),
                          ("plain.fits", "")):
            self.assert_done(command.run(*line.format(add, name).split(), cwd=self.folder))
        found = self.find("--detect-image lobes.fits --components none", image="plain.fits")
        own = self.find("--components none", image="lobes.fits")
        [note] = [n for n in found["notes"] if "larger than a cell" in n]
        [same] = [n for n in own["notes"] if "larger than a cell" in n]
        self.assertEqual(note, "in the detection image " + same)

    def test_many_images(self):
        self.write("next.fits", [[v + 0.25 for v in row] for row in self.rows], at(40.75))
        self.write("small.fits", [row[:50] for row in self.rows])
        names = ["sky.fits", "small.fits", "next.fits"]
        words = "--preset radio --detect-image deep.fits --filter-kernel 2 -o out/".split()
        done = command.run("find", *names, *words, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("deep.fits[0]: found 80 x 64 pixels", done.stderr.decode())
        self.assertIn("1 of 3 images failed", done.stderr.decode())
        for name in ("sky", "next"):
            self.find("--detect-image deep.fits --filter-kernel 2 -o one.fits", image=f"{name}.fits")
            self.assertEqual((self.folder / "one.fits").read_bytes(),
                             (self.folder / f"out/{name}.fits").read_bytes())
        names.remove("small.fits")
        again = command.run("find", *names, *words, "--resume", cwd=self.folder)
        self.assert_done(again)
        self.assertIn("skipped 2 images", again.stderr.decode())
        for change in (["--filter-kernel", "3"], []):
            other = [*words[:4], *change, *words[6:], "--resume"]
            done = command.run("find", *names, *other, cwd=self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("exists already", done.stderr.decode())
        # The filtered image is clipped, also where the user gives both maps.
        for kernel, skips in (("2", False), ("none", True)):
            maps = ["--preset", "radio", "--background", "0", "--rms", "1", "-o", f"of{kernel}/"]
            maps += ["--filter-kernel", kernel]
            self.assert_done(command.run("find", *names, *maps, cwd=self.folder))
            for change in (["--kappa", "2.5"], ["--max-passes", "1"]):
                done = command.run("find", *names, *maps, *change, "--resume", cwd=self.folder)
                self.assertEqual(b"skipped 2 images" in done.stderr, skips, done.stderr)
        done = command.run("find", "sky.fits", "deep.fits", *words, "--overwrite", cwd=self.folder)
        self.assertIn("deep.fits[0]: found the image itself", done.stderr.decode())


class TestFilterKernel(DetectionTestCase):
    """--filter-kernel."""

    def kernel(self, name, rows):
        self.write(name, [[float(v) for v in row] for row in rows])

    def test_kernels(self):
        self.kernel("k.fits", [[5, 10, 5], [10, 20, 10], [5, 10, 5]])
        self.kernel("one.fits", [[3]])
        found = {}
        for words in ("none", "sextractor", "k.fits", "2.5", "3", "one.fits"):
            found[words] = self.find(f"--filter-kernel {words} --seed 4 --flood 3")
            detection = found[words]["detection"]
            self.assertEqual(detection["filter"], None if words == "none" else words)
        hashes = {words: each["catalogue_hash"] for words, each in found.items()}
        self.assertEqual(hashes["sextractor"], hashes["k.fits"])
        self.assertEqual(len(set(hashes.values())), 5)
        noise = {words: each["detection"]["filtered_noise"] for words, each in found.items()}
        self.assertIsNone(noise["none"])
        self.assertLess(noise["3"], noise["2.5"])
        self.assertLess(noise["2.5"], noise["sextractor"])
        self.assertAlmostEqual(noise["one.fits"], 1, delta=0.1)
        default = self.find("", preset="sextractor")
        self.assertEqual(default["detection"]["filter"], "3")
        self.assertEqual(self.find("")["detection"]["filter"], None)

    def test_a_kernel_that_cancels_leaves_no_total(self):
        self.kernel("edges.fits", [[-0.1, -0.2, 0.6, -0.2, -0.1]])  # in float, 0 but for rounding
        self.kernel("large.fits", [[v * 2.0**99 for v in (1, 2, 1)]])
        self.kernel("small.fits", [[1, 2, 1]])
        found = self.find("--filter-kernel edges.fits -o e.csv --seed 4 --flood 2")
        self.assertIsNone(found["detection"]["filtered_noise"])
        notes = [note for note in found["notes"] if "there is no flux_int" in note]
        self.assertEqual(len(notes), 1)
        self.assertTrue(notes[0].startswith("the taps of --filter-kernel edges.fits sum to 0"))
        rows = self.table("e.csv")
        self.assertGreater(len(rows), 5)
        self.assertTrue(all(row["flux_int"] in ("", "nan") for row in rows))
        large, small = (self.find(f"--filter-kernel {n}.fits") for n in ("large", "small"))
        self.assertEqual(large["catalogue_hash"], small["catalogue_hash"])
        self.assertEqual(large["notes"], self.find("")["notes"])

    def test_the_filtered_noise_is_corrected_as_that_of_the_mesh(self):
        line = "simulate sky --size 512 --sources-per-mpx 0 --seed 4 -o noise.fits --quiet"
        self.assert_done(command.run(*line.split(), cwd=self.folder))
        self.kernel("one.fits", [[1]])
        options = "--seed 4 --flood 3.9"
        for preset in ("radio", "sextractor"):
            # Of the signal to noise, which is 1.0154 times as large as it should be with as-is.
            noise = [
                self.find(f"--filter-kernel one.fits {options} --clipped-noise {choice}",
                          image="noise.fits", preset=preset)["detection"]["filtered_noise"]
                for choice in ("corrected", "as-is")
            ]
            self.assertAlmostEqual(noise[0], noise[1], delta=1e-3)
            self.assertAlmostEqual(noise[0], 1, delta=0.02)
        one, none = (self.find(f"--filter-kernel {k} {options}", image="noise.fits")["sources"]
                     for k in ("one.fits", "none"))
        self.assertLess(abs(one - none), 0.1 * none + 2)

    def test_the_total_is_that_of_the_whole_gaussian(self):
        words = "--size 1024 --gain 2 --level 100 --beam 4 --add point:count=200,snr=10..50,place=grid"
        self.assert_done(command.run("simulate", "sky", *words.split(), "-o", self.folder / "g.fits"))
        self.find("-o g.csv", image="g.fits", preset="sextractor")
        rows = [[float(r[key]) for key in ("x_cen", "y_cen", "flux_int", "flux_iso")]
                for r in self.table("g.csv")]
        totals, parts = [], []
        for true in self.table("g_truth.csv"):
            x, y, flux = (float(true[key]) for key in ("x", "y", "flux_int"))
            row = min(rows, key=lambda r: (r[0] - x) ** 2 + (r[1] - y) ** 2)
            totals.append(row[2] / flux)
            parts.append(row[3] / flux)
        self.assertAlmostEqual(sorted(totals)[100], 1, delta=0.03)
        self.assertLess(sorted(parts)[100], 0.97)

    def test_the_threshold_is_in_units_of_the_filtered_noise(self):
        options = "--snr-map s.fits --labels l.fits -o a.csv --background-map b.fits --seed 4 --flood 3"
        for image in ("", "--detect-image deep.fits "):
            self.find(f"{image}--filter-kernel 2 {options}")
            snr, labels = self.pixels("s.fits"), self.pixels("l.fits")
            level = self.pixels("b.fits")
            sky = sorted(v for row in snr for v in row if not math.isnan(v))
            middle = sky[len(sky) // 10 : len(sky) * 6 // 10]
            self.assertTrue(0.5 < middle[-1] - middle[0] < 3, middle[0])
            peaks = {}
            for y, row in enumerate(labels):
                for x, label in enumerate(row):
                    if label != 0:
                        self.assertGreater(snr[y][x], 3)
                        peaks.setdefault(label, []).append((snr[y][x], self.rows[y][x] - level[y][x]))
            rows = self.table("a.csv")
            self.assertEqual(len(rows), len(peaks))
            self.assertGreater(len(rows), 5)
            for row in rows:
                inside = peaks[int(row["island_id"])]
                self.assertAlmostEqual(float(row["snr"]), max(inside)[0], delta=1e-5)
                self.assertAlmostEqual(
                    float(row["flux_sum"]), math.fsum(v for _, v in inside), delta=1e-4
                )

    def test_kernels_that_are_none(self):
        self.kernel("even.fits", [[1, 1], [1, 1]])
        self.kernel("zero.fits", [[0, 0, 0]])
        self.kernel("wide.fits", [[1] * 129])
        self.kernel("blank.fits", [[math.nan]])
        self.kernel("holes.fits", [[-1, 1, -1]])
        for name, *says in (
            ("even.fits", "even.fits[0]: the kernel is 2 x 2 pixels; expected odd"),
            ("zero.fits", "zero.fits[0]: all taps of the kernel are 0"),
            ("holes.fits", "holes.fits[0]: the sum of the kernel's taps is below 0"),
            ("wide.fits", "wide.fits[0]: ", "1 x 129 pixels; expected 1 to 127"),
            ("blank.fits", "blank.fits[0]: tap (0, 0) of the kernel is not finite"),
            ("none.fits", "none.fits"),
        ):
            self.refuse(1, f"--filter-kernel {name} -o a.csv", *says, "(read for --filter-kernel)")
        self.kernel("k.fits", [[1, 2, 1]])
        self.refuse(1, "--filter-kernel k.fits -o k.fits --overwrite", "k.fits")
        self.refuse(2, "--filter-kernel 38", "--filter-kernel: found '38'", "up to 37.38 pixels")

    def test_stars_on_a_poisson_sky(self):
        line = "simulate sky --size 768 --gain 2 --level 100 --beam 3 --seed {} -o {}.fits --quiet"
        stars = "--add star:count=200,snr=6.5..9,place=grid"
        command.run(*line.format(1, "empty").split(), cwd=self.folder)
        command.run(*line.format(2, "stars").split(), *stars.split(), cwd=self.folder)
        self.assertEqual(self.find("", image="empty.fits", preset="sextractor")["sources"], 0)
        self.assertGreater(
            self.find("--filter-kernel none", image="empty.fits", preset="sextractor")["sources"], 50
        )
        found = self.find("-o found.csv", image="stars.fits", preset="sextractor")
        true = self.table("stars_truth.csv")
        near = {
            min(range(len(true)), key=lambda i: math.hypot(
                float(row["x_cen"]) - float(true[i]["x"]), float(row["y_cen"]) - float(true[i]["y"])
            ))
            for row in self.table("found.csv")
        }
        self.assertEqual(len(near), found["sources"])  # each is another star
        self.assertGreater(found["sources"], 0.93 * len(true))


if __name__ == "__main__":
    command.main(__doc__)

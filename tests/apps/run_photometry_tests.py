# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: fluxes, errors and magnitudes of optical images, and weights of their pixels."""

import csv
import json
import math
import random

import command
import fits_files
import reference
from command import AppTestCase

NY, NX = 96, 128
LEVEL, NOISE = 100.0, 5.0


def star_sky(seed=3, cards=(), noise=lambda y, x: NOISE):
    """Stars on a grid over noise that may differ from pixel to pixel; their fluxes."""
    numbers = random.Random(seed)
    rows = [[numbers.gauss(LEVEL, noise(y, x)) for x in range(NX)] for y in range(NY)]
    fluxes = []
    for number, (y0, x0) in enumerate((y, x) for y in range(16, NY, 32) for x in range(16, NX, 32)):
        peak = 200.0 + 60 * number
        fluxes.append(2 * math.pi * 1.5**2 * peak)
        for y in range(y0 - 12, y0 + 13):
            for x in range(x0 - 12, x0 + 13):
                r2 = (x - x0 - 0.3) ** 2 + (y - y0 + 0.2) ** 2
                rows[y][x] += peak * math.exp(-r2 / (2 * 1.5**2))
    return [[reference.as_float32(v) for v in row] for row in rows], fluxes


class PhotometryTestCase(AppTestCase):
    def write(self, name, rows, bitpix=-32, cards=(("BUNIT", "adu"),)):
        return fits_files.write(self.folder / name, rows, bitpix, cards=list(cards)).name

    def find(self, options="", image="stars.fits", preset="sextractor"):
        words = ["find", image, "--preset", preset, "--cell", "32", *options.split(), "--json"]
        done = command.run(*words, "-o", "found.csv", "--overwrite", cwd=self.folder)
        self.assert_done(done)
        with open(self.folder / "found.csv", newline="") as file:
            lines = [line for line in file if not line.startswith("#")]
        return json.loads(done.stdout), list(csv.DictReader(lines))


class TestPhotometry(PhotometryTestCase):
    """Kron fluxes, photon noise and magnitudes."""

    def setUp(self):
        super().setUp()
        self.rows, self.fluxes = star_sky()
        self.write("stars.fits", self.rows)

    def test_fluxes_need_no_beam(self):
        for cards, unit in (((("BUNIT", "adu"),), "adu"), ((), "")):
            self.write("stars.fits", self.rows, cards=cards)
            found, rows = self.find("--seed 8")
            self.assertFalse(any("flux_int" in note for note in found["notes"]), found["notes"])
            self.assertEqual(len(rows), len(self.fluxes), unit)
            for row in rows:
                flux = self.fluxes[int(row["y_peak"]) // 32 * (NX // 32) + int(row["x_peak"]) // 32]
                self.assertEqual(int(row["flags"]) & 512, 0)
                error = float(row["flux_auto_err"])
                self.assertLess(abs(float(row["flux_auto"]) - flux), 5 * error + 0.02 * flux)
                self.assertLess(abs(float(row["flux_int"]) - flux), 0.1 * flux)
                self.assertGreaterEqual(float(row["kron_radius"]), 3.5)
                self.assertNotIn("mag_auto", row)

    def test_other_presets_have_no_kron_fluxes(self):
        found, rows = self.find(preset="radio")
        self.assertNotIn("flux_auto", rows[0])
        self.assertTrue(all(int(row["flags"]) & 512 for row in rows))
        for option in ("--gain 2", "--zero-point 25"):
            name = option.split()[0]
            says = [f"{name}: found with --preset radio; expected --preset sextractor"]
            words = ["find", "stars.fits", "--preset", "radio", *option.split()]
            self.assert_refused(2, *words, says=says, cwd=self.folder)
            self.assert_refused(2, "find", "stars.fits", *option.split(), says=[f"{name}: found with --preset lesson"],
                                cwd=self.folder)

    def test_gain_and_zero_point(self):
        _, plain = self.find()
        _, rows = self.find("--gain 2 --zero-point 25")
        for a, b in zip(plain, rows):
            flux, error = float(b["flux_auto"]), float(b["flux_auto_err"])
            self.assertEqual(a["flux_auto"], b["flux_auto"])
            self.assertAlmostEqual(error, math.hypot(float(a["flux_auto_err"]), 1.22 * math.sqrt(max(flux, 0) / 2)))
            self.assertLess(float(a["flux_iso_err"]), float(b["flux_iso_err"]))
            if flux > 0:
                self.assertAlmostEqual(float(b["mag_auto"]), 25 - 2.5 * math.log10(flux))
                self.assertAlmostEqual(float(b["mag_err"]), 2.5 / math.log(10) * error / flux)
        self.assertGreater(len(rows), 10)
        self.find("--gain 2.5 --zero-point -1 -o found.ecsv")
        text = (self.folder / "found.ecsv").read_text()
        self.assertIn(" --gain 2.5 --zero-point -1", text)
        for option in ("--gain 0", "--gain -1", "--gain x", "--zero-point nan"):
            words = ["find", "stars.fits", "--preset", "sextractor", *option.split()]
            self.assert_refused(2, *words, says=[option.split()[0]], cwd=self.folder)

    def test_a_gain_in_the_header_is_named(self):
        for key in ("GAIN", "EGAIN"):
            self.write("stars.fits", self.rows, cards=[("BUNIT", "adu"), (key, 1.5)])
            notes = self.find()[0]["notes"]
            self.assertTrue(any(f"the header has {key} = 1.5, which is not used" in note for note in notes), notes)
            for options, preset in (("--gain 1.5", "sextractor"), ("", "radio")):
                notes = self.find(options, preset=preset)[0]["notes"]
                self.assertFalse(any(key in note for note in notes), notes)


class TestWeights(PhotometryTestCase):
    """Relative weights and exposures."""

    @staticmethod
    def weight(y, x):
        return 16.0 if x < NX // 2 else 1.0

    def setUp(self):
        super().setUp()
        # The noise is four times higher where the weight is 16 times lower.
        self.rows, self.fluxes = star_sky(noise=lambda y, x: NOISE * 4 / math.sqrt(self.weight(y, x)))
        self.write("stars.fits", self.rows)
        self.weights = [[self.weight(y, x) for x in range(NX)] for y in range(NY)]
        self.write("weight.fits", self.weights, cards=())

    def rms_of(self, options):
        found, _ = self.find(options + " --rms-map rms.fits")
        return found, fits_files.read_image(self.folder / "rms.fits")[1]

    def test_the_noise_follows_the_weights(self):
        found, rms = self.rms_of("--weight weight.fits")
        for row in rms:
            for x, value in enumerate(row):
                want = NOISE if x < NX // 2 else 4 * NOISE
                self.assertLess(abs(value / want - 1), 0.2, x)
        self.assertEqual(found["notes"], self.find()[0]["notes"])

    def test_only_ratios_of_weights_count(self):
        _, rows = self.find("--weight weight.fits --seed 5")
        self.write("scaled.fits", [[64 * w for w in row] for row in self.weights], cards=())
        for power in (-500, 400):  # beyond the range of float32
            name = f"power{power}.fits"
            self.write(name, [[2.0**power * w for w in row] for row in self.weights], bitpix=-64, cards=())
            self.assertEqual(self.find(f"--weight {name} --seed 5")[1], rows)
        for options in ("--weight scaled.fits", "--exposure scaled.fits"):
            self.assertEqual(self.find(options + " --seed 5")[1], rows)
        self.write("even.fits", [[3.0] * NX for _ in range(NY)], cards=())
        for preset in ("sextractor", "radio"):
            a, b = (self.find(o, preset=preset)[0] for o in ("", "--weight even.fits"))
            self.assertEqual(a["sources"], b["sources"])
            self.assertAlmostEqual(a["background"]["rms"], b["background"]["rms"], delta=0.05)

    def test_the_gain_goes_with_the_weight(self):
        _, plain = self.find("--weight weight.fits --seed 5")
        _, rows = self.find("--weight weight.fits --seed 5 --gain 2")
        # The median is one of the two weights.
        median = sorted(w for row in self.weights for w in row)[NY * NX // 2 - 1]
        for a, b in zip(plain, rows):
            gain = 2 * self.weight(int(b["y_peak"]), int(b["x_peak"])) / median
            photons = 1.22 * math.sqrt(max(float(b["flux_auto"]), 0) / gain)
            error = math.hypot(float(a["flux_auto_err"]), photons)
            self.assertAlmostEqual(float(b["flux_auto_err"]) / error, 1, delta=1e-6)

    def test_no_weight_excludes_pixels(self):
        holes = [[0.0 if 30 <= x < 50 and 30 <= y < 66 else w for x, w in enumerate(row)]
                 for y, row in enumerate(self.weights)]
        holes[0][0] = math.nan
        self.write("holes.fits", holes, cards=())
        found, rows = self.find("--weight holes.fits --seed 5")
        self.assertTrue(any("721 of the 12288 pixels of --weight holes.fits[0] have no finite weight above 0" in note
                            for note in found["notes"]), found["notes"])
        for row in rows:
            self.assertFalse(30 <= int(row["x_peak"]) < 50 and 30 <= int(row["y_peak"]) < 66)
        self.write("mask.fits", [[1 if not w > 0 else 0 for w in row] for row in holes], 16, cards=())
        same = self.find("--weight weight.fits --mask mask.fits --seed 5")[0]
        self.assertEqual(same["catalogue_hash"], found["catalogue_hash"])

    def test_weights_that_cannot_be_used(self):
        self.write("negative.fits", [[-1.0 if x == y == 3 else 1.0 for x in range(NX)] for y in range(NY)], cards=())
        self.write("small.fits", [[1.0] * 8 for _ in range(8)], cards=())
        self.write("zero.fits", [[0.0] * NX for _ in range(NY)], cards=())
        for code, options, says in (
            (1, "--weight negative.fits", "found 1 negative value, the first at x = 3, y = 3; expected weights"),
            (1, "--exposure small.fits", "expected 128 x 96"),
            (1, "--weight zero.fits", "found no pixel that is not excluded by --weight zero.fits[0]"),
            (1, "--weight stars.fits", "found the image itself as --weight"),
            (1, "--weight none.fits", "(read for --weight)"),
            (2, "--weight weight.fits --exposure weight.fits", "--exposure: found with --weight"),
            (2, "--weight weight.fits --rms 3", "--weight: found with --rms"),
            (2, "--exposure-plane 1", "--exposure-plane: found without --exposure"),
        ):
            words = ["find", "stars.fits", "--preset", "sextractor", *options.split()]
            with self.subTest(options):
                self.assert_refused(code, *words, says=[says], cwd=self.folder)
        self.assert_refused(2, "find", "stars.fits", "--weight", "weight.fits",
                            says=["--weight: found with --preset lesson"], cwd=self.folder)
        words = ["find", "stars.fits", "--preset", "sextractor", "--weight", "weight.fits", "--overwrite"]
        self.assert_refused(1, *words, "--labels", "weight.fits", says=["weight.fits: is the input"], cwd=self.folder)

    def test_weights_of_their_own_for_many_images(self):
        other, _ = star_sky(4)
        for name, weights in (("a.fits", self.weights), ("b.fits", [[1.0] * NX for _ in range(NY)])):
            extension = fits_files.hdu(weights, -32, cards=[("EXTNAME", "WHT")], extension=True)
            rows = self.rows if name == "a.fits" else other
            own = fits_files.hdu(rows, -32, cards=[("BUNIT", "adu")])
            (self.folder / name).write_bytes(own + extension)
        for options in ("--weight-hdu WHT", "--weight weight.fits", "--exposure weight.fits --gain 2"):
            words = ["--preset", "sextractor", *options.split(), "--json"]
            many = command.run("find", "a.fits", "b.fits", *words, cwd=self.folder)
            self.assert_done(many)
            for line, name in zip(many.stdout.decode().splitlines(), ("a.fits", "b.fits")):
                one = command.run("find", name, *words, cwd=self.folder)
                self.assertEqual(json.loads(line), json.loads(one.stdout))
            words = ["find", "a.fits", "b.fits", "--preset", "sextractor", *options.split(), "-o", "out/"]
            self.assert_done(command.run(*words, "--overwrite", cwd=self.folder))
            done = command.run(*words, "--resume", cwd=self.folder)
            self.assert_done(done)
            self.assertIn(b"skipped 2 images", done.stderr)

    def test_every_backend_gives_the_same_catalogue(self):
        found = set()
        for backend in command.backends():
            self.find(f"--weight weight.fits --gain 2 --zero-point 20 --negative --on {backend}")
            found.add((self.folder / "found.csv").read_bytes())
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    command.main(__doc__)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: find with --adaptive-rms, whose noise follows artefacts near bright sources."""

import csv
import json
import math
import random

import command
import fits_files
import reference
from command import AppTestCase

SIDE = 160
CARDS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 266.5), ("CRVAL2", -29.0)]
CARDS += [("CRPIX1", 80.0), ("CRPIX2", 80.0), ("CDELT1", -0.001), ("CDELT2", 0.001)]
BEAM = [("BMAJ", 0.004), ("BMIN", 0.004), ("BPA", 0.0), ("BUNIT", "JY/BEAM")]
#: Centres (x, y) of the sources of 25 times the noise.
FAINT = [(120, 80), (80, 120), (52, 52), (150, 20)]


def blob(r2):
    return math.exp(-r2 / (2 * 1.7**2))


def sky(bright=1000.0, rings=40.0, seed=1):
    """Noise of 1, a bright source with rings of both signs around it, and four faint sources."""
    numbers = random.Random(seed)
    rows = [[numbers.gauss(0, 1) for _ in range(SIDE)] for _ in range(SIDE)]
    for y in range(SIDE):
        for x in range(SIDE):
            r = math.hypot(x - 80, y - 80)
            rows[y][x] += bright * blob(r * r)
            if r > 8:
                lobes = math.cos(r) * math.cos(4 * math.atan2(y - 80, x - 80))
                rows[y][x] += rings * math.exp(-r / 15) * lobes
    for x0, y0 in FAINT:
        for y in range(y0 - 8, y0 + 9):
            for x in range(x0 - 8, x0 + 9):
                if 0 <= x < SIDE and 0 <= y < SIDE:
                    rows[y][x] += 25 * blob((x - x0) ** 2 + (y - y0) ** 2)
    return [[reference.as_float32(value) for value in row] for row in rows]


class TestArtefacts(AppTestCase):
    """A bright source with rings, over which faint sources lie."""

    @classmethod
    def setUpClass(cls):
        cls.skies = {
            "rings.fits": fits_files.hdu(sky(), cards=CARDS + BEAM),
            "calm.fits": fits_files.hdu(sky(bright=100, rings=0, seed=2), cards=CARDS + BEAM),
            "bare.fits": fits_files.hdu(sky(bright=100, rings=0, seed=2), cards=CARDS),
        }

    def setUp(self):
        super().setUp()
        for name, content in self.skies.items():
            (self.folder / name).write_bytes(content)

    def find(self, image, *options):
        words = ("--preset", "radio", "--background", "0", "--rms", "1", *options, "--json")
        done = command.run("find", image, *words, cwd=self.folder)
        self.assert_done(done)
        return json.loads(done.stdout)

    def peaks(self, name):
        with (self.folder / name).open(newline="") as file:
            rows = list(csv.DictReader(file))
        return {(int(row["x_peak"]), int(row["y_peak"])): row for row in rows}

    def test_rings_fall_away_and_sources_stay(self):
        before = self.find("rings.fits", "-o", "a.csv")
        after = self.find(
            *("rings.fits", "--adaptive-rms", "200", "-o", "b.csv", "--rms-map", "r.fits"),
            *("--snr-map", "s.fits"),
        )
        self.assertGreaterEqual(before["sources"], 15)
        self.assertIn(after["sources"], (5, 6))  # one of the rings may be left
        left = self.peaks("b.csv")
        for x0, y0 in [*FAINT, (80, 80)]:
            self.assertTrue(any(math.hypot(x - x0, y - y0) < 3 for x, y in left), (x0, y0))
        (note,) = (n for n in after["notes"] if "--adaptive-rms" in n)
        self.assertIn("around 1 peak above 200 times the noise", note)
        self.assertIn(f"{after['sources']} of {before['sources']} islands remain", note)
        self.assertFalse(any("--adaptive-rms" in n for n in before["notes"]))
        # The raised noise is that of the map, of the S/N and of the errors.
        noise = fits_files.read_image(self.folder / "r.fits")[1]
        ratio = fits_files.read_image(self.folder / "s.fits")[1]
        pixels = fits_files.read_image(self.folder / "rings.fits")[1]
        self.assertEqual(noise[5][155], 1.0)
        raised = [value for row in noise for value in row if value > 1]
        says = f"the noise of {len(raised)} pixels is raised, up to {max(raised):.2f} times"
        self.assertIn(says, note)
        self.assertGreater(noise[80][92], 3.0)
        self.assertEqual(ratio[80][92], reference.as_float32(pixels[80][92] / noise[80][92]))
        old = self.peaks("a.csv")
        for place in left:
            x, y = place
            row = left[place]
            self.assertAlmostEqual(float(row["snr"]), float(row["flux_peak"]) / noise[y][x], 4)
            if place in old and noise[y][x] > 1.2:
                self.assertGreater(float(row["ra_err"]), float(old[place]["ra_err"]))

    def test_without_a_bright_source_nothing_changes(self):
        before = self.find("calm.fits", "-o", "a.csv")
        after = self.find("calm.fits", "--adaptive-rms", "200", "-o", "b.csv")
        self.assertEqual(before["catalogue_hash"], after["catalogue_hash"])
        self.assertIn("--adaptive-rms changed nothing", " ".join(after["notes"]))
        lower = self.find("calm.fits", "--adaptive-rms", "50")
        self.assertIn("around 1 peak above 50 times", " ".join(lower["notes"]))

    def test_notes(self):
        one = self.find("rings.fits", "--seed", "100", "--flood", "50", "--adaptive-rms", "200")
        self.assertIn("1 of 1 island remains", " ".join(one["notes"]))
        words = ["--preset", "radio", "--background", "0", "--rms", "4"]
        before = command.json_of("find", self.folder / "calm.fits", *words)
        found = command.json_of("find", self.folder / "calm.fits", *words, "--adaptive-rms", "20")
        self.assertEqual(found["catalogue_hash"], before["catalogue_hash"])
        (note,) = (n for n in found["notes"] if "--adaptive-rms" in n)
        self.assertRegex(note, "^around 1 peak .* no artefacts: --adaptive-rms raised no noise$")

    def test_every_backend_gives_the_same_bits(self):
        hashes = set()
        for backend in command.backends():
            for threads in ("1", "3") if backend == "openmp" else ("1",):
                run = ("--on", backend, "--threads", threads)
                found = self.find("rings.fits", "--adaptive-rms", "200", *run)
                hashes.add(found["catalogue_hash"])
        self.assertEqual(len(hashes), 1)

    def test_many_images_and_what_was_asked(self):
        words = ["--preset", "radio", "--adaptive-rms", "200", "--cell", "40"]
        images = ["rings.fits", "calm.fits"]
        done = command.run("find", *images, *words, "-o", "out/", "--json", cwd=self.folder)
        self.assert_done(done)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        notes = [" ".join(line["notes"]) for line in lines]
        self.assertIn("around 1 peak", notes[0])
        self.assertIn("changed nothing", notes[1])
        for image, line in zip(images, lines):
            one = command.json_of("find", self.folder / image, *words)
            self.assertEqual(one["catalogue_hash"], line["catalogue_hash"])
        again = ["find", *images, "-o", "out/", "--resume"]
        done = command.run(*again, *words, cwd=self.folder)
        self.assertIn(b"skipped 2 images", done.stderr)
        words[3] = "300"
        done = command.run(*again, *words, cwd=self.folder)
        self.assertEqual(done.stderr.count(b"exists already"), 2)

    def test_a_beam_is_needed(self):
        for image, options in (("bare.fits", ()), ("bare.fits", ("--cell", "32"))):
            words = ["find", image, "--preset", "radio", "--adaptive-rms", "200", *options]
            says = ["bare.fits[0]", "no beam", "--adaptive-rms", "--beam"]
            self.assert_refused(1, *words, says=says, cwd=self.folder)
        self.find("bare.fits", "--adaptive-rms", "200", "--beam", "14.4,14.4")
        self.find("calm.fits", "--adaptive-rms", "50", "--box", "0,99,0,99")


if __name__ == "__main__":
    command.main(__doc__)

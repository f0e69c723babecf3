# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: scenes of simulate sky."""

import csv
import math
import os
import unittest

import command
import fits_files
from command import AppTestCase


class TestScenes(AppTestCase):
    def simulate(self, *options, name="sky", size=300):
        """Cards, rows of pixels, and rows of the truth."""
        image = self.folder / f"{name}.fits"
        words = ["simulate", "sky", "-o", image, "--size", str(size), "--overwrite", *options]
        self.assert_done(command.run(*words))
        cards, rows = fits_files.read_image(image)
        with (self.folder / f"{name}_truth.csv").open(newline="") as file:
            return cards, [list(row) for row in rows], list(csv.DictReader(file))

    def test_populations(self):
        kinds = "--add point:count=20,snr=50..90,place=grid --add disk:count=2,size=40,snr=30 "
        kinds += "--add point:count=3,separation=9,pair-ratio=0.5 --noise-kind white --noise 0.01"
        _, rows, truth = self.simulate(*kinds.split())
        shapes = 20 * ["gaussian"] + 2 * ["disk"] + 6 * ["gaussian"]
        self.assertEqual([row["shape"] for row in truth], shapes)
        self.assertEqual([row["group"] for row in truth[22:]], ["1", "1", "2", "2", "3", "3"])
        for row in truth[:20]:
            x, y, peak = (float(row[key]) for key in ("x", "y", "flux_peak"))
            self.assertTrue(50 <= float(row["snr"]) <= 90)
            self.assertAlmostEqual(peak, float(row["snr"]) * 0.01)
            # The nearest pixel is at most 0.71 pixel away from the centre.
            pixel = rows[round(y)][round(x)]
            self.assertGreater(pixel, peak * 2 ** (-4 * 0.5 / 25) - 0.05)
        history = b" ".join((self.folder / "sky.fits").read_bytes()[:5760].split())
        self.assertIn(b"--add disk:count=2,size=40,snr=30", history)

    def test_an_optical_image(self):
        options = "--gain 2 --read-noise 3 --level 100 --beam 3 --add star:count=5,snr=100"
        cards, rows, truth = self.simulate(*options.split())
        self.assertEqual((cards["BUNIT"], cards["GAIN"], cards["RDNOISE"]), ("adu", 2.0, 3.0))
        self.assertNotIn("BMAJ", cards)
        self.assertEqual(len(truth), 5)
        self.assertEqual({row["shape"] for row in truth}, {"moffat"})
        self.assertAlmostEqual(float(truth[0]["rms"]), math.sqrt(209) / 2)
        pixels = sorted(value for row in rows for value in row)
        self.assertAlmostEqual(pixels[len(pixels) // 2], 100, delta=0.5)

    def test_missing_pixels(self):
        for value in ("nan", "-0.25"):
            options = ["--unobserved", "half", "--unobserved-value", value]
            _, rows, truth = self.simulate(*options, "--sources-per-mpx", "1000", size=100)
            hidden = [pixel for row in rows for pixel in row[50:]]
            if value == "nan":
                self.assertTrue(all(map(math.isnan, hidden)))
            else:
                self.assertEqual(set(hidden), {-0.25})
            self.assertTrue(truth)
            self.assertTrue(all(float(row["x"]) < 49.5 for row in truth))

    def test_scenes_have_the_same_bits_everywhere(self):
        options = "--noise-kind condon --noise-gradient 0.3 --level 1 --level-gradient 1e-3,0 "
        options += "--primary-beam 200 --primary-beam-corrected --bowls 0.5 --bowl-size 60 "
        options += "--unobserved circle --add ring:count=2,size=50 --add lobes:count=2,size=80"
        first = self.simulate(*options.split(), "--on", "serial", name="a")
        other = self.simulate(*options.split(), "--threads", "3", name="b")
        self.assertEqual(repr(first[1:]), repr(other[1:]))

    def test_bands_change_no_byte(self):
        scene = "--width 301 --height 177 --noise-gradient 0.3 --unobserved circle --add ring:count=2,size=50"
        for kind in (f"sky {scene}", f"sky {scene} --type float64", "sky --size 80 --gain 2 --level 9",
                     "diracs --width 301 --height 177 --spacing 9"):
            with self.subTest(kind):
                files = set()
                for number, bands in enumerate(("", "--band-rows 1", "--band-rows 50", "--memory-limit 300M")):
                    image = self.folder / f"{kind.split()[0]}{number}.fits"
                    words = [*kind.split(), *bands.split(), "--overwrite", "-o", image]
                    self.assert_done(command.run("simulate", *words))
                    files.add(image.read_bytes())
                self.assertEqual(len(files), 1)

    @unittest.skipIf("KASTOR_TEST_SANITIZED" in os.environ, "the address sanitizer keeps freed memory")
    def test_memory_is_limited(self):
        limit = 150 * 2**20
        words = ["simulate", "sky", "--width", "6000", "--height", "7000", "--threads", "1", "--on", "serial"]
        words += ["--quiet", "--memory-limit", "150M", "-o", self.folder / "large.fits"]
        self.assertGreater(6000 * 7000 * 4, limit)
        self.assertLessEqual(command.peak_memory(*words), limit)
        self.assertEqual((self.folder / "large.fits").stat().st_size % 2880, 0)
        words = ["simulate", "sky", "--memory-limit", "1M", "-o", self.folder / "none.fits"]
        says = ["a row of the image takes", "--memory-limit"]
        self.assert_refused(1, *words, says=says)
        self.assertFalse((self.folder / "none.fits").exists())


if __name__ == "__main__":
    command.main(__doc__)

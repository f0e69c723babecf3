# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: images that are read by bands (find --memory-limit, --band-rows)."""

import json
import os
import re
import subprocess

import command
from command import AppTestCase


class TestStream(AppTestCase):
    def sky(self, name="sky.fits", width=700, height=500, *options):
        words = ["--width", width, "--height", height, *options, "-o", name]
        self.assert_done(command.run("simulate", "sky", *map(str, words), cwd=self.folder))
        return name

    def find(self, *words):
        done = command.run("find", *map(str, words), cwd=self.folder)
        self.assert_done(done)
        return done.stdout

    def test_bands_give_the_bytes_of_the_whole_image(self):
        for name in (self.sky(), self.sky("double.fits", 300, 401, "--type", "float64")):
            for options in ("", "--threshold 3 --connectivity 8 --min-pixels 4", "--about median", "--level 0.02"):
                whole = self.find(name, *options.split(), "--json", "-o", "whole.fits", "--overwrite")
                for rows in (1, 37, 10000):
                    words = (name, *options.split(), "--json", "--overwrite", "--band-rows", rows, "-o", "bands.fits")
                    self.assertEqual(self.find(*words), whole, (name, options, rows))
                    self.assertEqual(self.read("bands.fits"), self.read("whole.fits"), (name, options, rows))
            self.assertEqual(self.find(name, "--band-rows", 50), self.find(name))

    def read(self, name):
        return (self.folder / name).read_bytes()

    def test_an_image_beyond_the_limit_is_read_by_bands(self):
        """The pixels of this sky take 256 MiB."""
        self.sky("large.fits", 8192, 8192)
        whole = self.find("large.fits", "--json", "--on", "serial")
        words = ("find", "large.fits", "--json", "--on", "serial", "--memory-limit", "128M")
        self.assertEqual(self.find(*words[1:]), whole)
        if "KASTOR_TEST_SANITIZED" not in os.environ:
            peak = command.peak_memory(*words[:1], self.folder / "large.fits", *words[2:])
            self.assertLess(peak, 128 << 20)

    def test_what_needs_the_whole_image_is_refused(self):
        self.sky()
        for words, reason in (
            (("--preset", "radio"), "a preset other than lesson"),
            (("--labels", "l.fits"), "--labels"),
            (("--picture", "p.png"), "--picture"),
            (("--blank-value", 0), "--blank-value"),
        ):
            done = command.run("find", "sky.fits", "--band-rows", "5", *map(str, words), cwd=self.folder)
            self.assertEqual(done.returncode, 2, words)
            text = done.stderr.decode()
            self.assertIn(reason, text)
            self.assertEqual(text.count("\n"), 1, text)

    def test_a_file_without_places_is_refused(self):
        self.sky()
        subprocess.run(["gzip", "sky.fits"], cwd=self.folder, check=True)
        done = command.run("find", "sky.fits.gz", "--band-rows", "5", "-o", "c.csv", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Akastor: sky.fits.gz.*memory.*\n\Z")
        self.assertFalse((self.folder / "c.csv").exists())

    def test_a_file_that_ends_too_early_leaves_nothing(self):
        self.sky()
        pixels = self.read("sky.fits")
        (self.folder / "short.fits").write_bytes(pixels[: len(pixels) * 2 // 3])
        done = command.run("find", "short.fits", "--band-rows", "50", "-o", "c.csv", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode().count("\n"), 1)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith((".c", "c"))], [])

    def test_a_limit_below_a_row_is_refused(self):
        self.sky()
        done = command.run("find", "sky.fits", "--band-rows", "5", "--memory-limit", "1K", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(re.fullmatch(r"kastor: .*memory.*\n", done.stderr.decode()), done.stderr)
        self.assertEqual(json.loads(self.find("sky.fits", "--json", "--memory-limit", "2G"))["file"], "sky.fits")


if __name__ == "__main__":
    command.main(__doc__)

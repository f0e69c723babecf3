# SPDX-License-Identifier: Apache-2.0
"""Tests of the command as several processes that a launcher starts.

    python3 run_command_tests.py KASTOR NUMBER LAUNCHER...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KASTOR = LAUNCHER = NUMBER = None


def run(words, folder, env=None, timeout=50):
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, capture_output=True, timeout=timeout, check=False
    )


class Command(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        options = "simulate sky --width 500 --height 611 --sources-per-mpx 400 -o sky.fits"
        self.assertEqual(self.alone(*options.split()).returncode, 0)

    def alone(self, *words):
        return run([KASTOR, *words], self.folder)

    def together(self, *words, **options):
        return run([*LAUNCHER, KASTOR, *words, "--on", "serial"], self.folder, **options)

    def lines(self, done):
        """Those of the command on stderr; launchers add their own."""
        return [line for line in done.stderr.decode().splitlines() if line.startswith("kastor:")]

    def test_the_bytes_are_those_of_one_process(self):
        for options in ("", "--threshold 3 --connectivity 8 --min-pixels 3 --band-rows 17"):
            words = ("find", "sky.fits", *options.split(), "--json", "--overwrite", "-o")
            one = self.alone(*words, "one.fits")
            all_of_them = self.together(*words, "all.fits")
            self.assertEqual((all_of_them.returncode, self.lines(all_of_them)), (0, []))
            self.assertEqual(all_of_them.stdout, one.stdout)
            pairs = [(self.folder / name).read_bytes() for name in ("one.fits", "all.fits")]
            self.assertEqual(*pairs)

    def test_a_failure_is_one_line_and_leaves_nothing(self):
        pixels = (self.folder / "sky.fits").read_bytes()
        (self.folder / "short.fits").write_bytes(pixels[:400000])
        before = sorted(os.listdir(self.folder))
        for words in (("short.fits", "-o", "c.csv"), ("none.fits", "-o", "c.csv"), ("sky.fits", "-o", "no/c.csv")):
            done = self.together("find", *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual(len(self.lines(done)), 1, (words, done.stderr))
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_wrong_usage_is_said_once(self):
        for words in (("find", "sky.fits", "--kappa", "-1"), ("find", "sky.fits", "--preset", "radio")):
            done = self.together(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(len(self.lines(done)), 1, (words, done.stderr))
        done = self.together("stats", "sky.fits")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex("".join(self.lines(done)), "is the work of one process" if NUMBER > 1 else "^$")

    def test_processes_with_different_arguments_are_told_apart(self):
        script = f'exec "{KASTOR}" find sky.fits --on serial -o c$$.csv'
        done = run([*LAUNCHER, "sh", "-c", script], self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(self.lines(done)), 1, done.stderr)
        self.assertIn("KASTOR_MPI=off", self.lines(done)[0])
        done = run([*LAUNCHER, "sh", "-c", script], self.folder, env={"KASTOR_MPI": "off"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(self.folder.glob("c*.csv"))), NUMBER)


if __name__ == "__main__":
    KASTOR, NUMBER, *LAUNCHER = sys.argv[1:]
    NUMBER = int(NUMBER)
    del sys.argv[1:]
    unittest.main()

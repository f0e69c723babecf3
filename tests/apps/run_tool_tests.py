# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: simulate, convolve, primes and bench."""

import csv
import itertools
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

import command
import fits_files
import reference
from command import AppTestCase


class TestSimulate(AppTestCase):
    def test_diracs(self):
        image = self.folder / "d.fits"
        options = "--width 40 --height 23 --spacing 16".split()
        self.assert_done(command.run("simulate", "diracs", "-o", image, *options))
        cards, rows = fits_files.read_image(image)
        self.assertEqual(cards["BITPIX"], -64)
        wanted = [[float(y % 16 == 8 and x % 16 == 8) for x in range(40)] for y in range(23)]
        self.assertEqual([list(row) for row in rows], wanted)
        self.assertEqual(self.files(), ["d.fits"])

    def test_sky(self):
        image = self.folder / "sky.one.fits"
        options = "--size 300 --type float64 --seed 7".split()
        done = command.run("simulate", "sky", "-o", image, *options)
        self.assert_done(done)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(self.files(), ["sky.one.fits", "sky.one_truth.csv"])
        cards, _ = fits_files.read_image(image)
        self.assertEqual((cards["BITPIX"], cards["NAXIS1"], cards["NAXIS2"]), (-64, 300, 300))
        self.assertEqual(
            (cards["BUNIT"], cards["CTYPE1"], cards["CRVAL1"]), ("JY/BEAM", "RA---TAN", 266.4)
        )
        self.assertAlmostEqual(cards["BMAJ"], 5 * 2 / 3600, places=12)
        with (self.folder / "sky.one_truth.csv").open(newline="") as file:
            truth = list(csv.DictReader(file))
        columns = "x y flux_peak flux_int fwhm minor angle shape rms snr group"
        self.assertEqual(list(truth[0]), columns.split())
        stats = command.json_of("stats", image)
        self.assertAlmostEqual(stats["clipped"]["std"], 0.0133, delta=0.0013)

    def test_one_seed_one_sky(self):
        def sky(name, *options):
            path = self.folder / name
            self.assert_done(command.run("simulate", "sky", "-o", path, "--size", "200", *options))
            return fits_files.read_hdus(path)[0][2]

        first = sky("a.fits")
        self.assertEqual(sky("b.fits", "--on", "serial"), first)
        self.assertEqual(sky("c.fits", "--seed", "42", "--threads", "3"), first)
        self.assertNotEqual(sky("d.fits", "--seed", "43"), first)


class TestConvolve(AppTestCase):
    KERNEL = [[1.0, 0.25, -0.5], [0.1, 3.0, 0.2], [0.3, -0.7, 0.9], [0.01, 0.02, 1e-3]]

    def setUp(self):
        super().setUp()
        numbers = random.Random(11)
        self.rows = [[numbers.gauss(1, 1) for _ in range(7)] for _ in range(9)]

    def image(self, name="image.fits", rows=None, bitpix=-64, cards=()):
        return fits_files.write(self.folder / name, rows or self.rows, bitpix, cards=cards)

    def kernel(self, rows=None):
        return fits_files.write(self.folder / "kernel.fits", rows or self.KERNEL, -64)

    def convolved(self, image, *options):
        target = self.folder / "out.fits"
        self.assert_done(command.run("convolve", image, "-o", target, "--overwrite", *options))
        return fits_files.read_image(target)

    def test_direct_is_the_definition_to_the_last_bit(self):
        image, kernel = self.image(), self.kernel()
        for mode in ("full", "same", "valid", None):
            options = ["--kernel", kernel, "--method", "direct"] + (["--mode", mode] if mode else [])
            _, got = self.convolved(image, *options)
            want = reference.convolve(self.rows, self.KERNEL, mode or "same")
            self.assertEqual([list(row) for row in got], want, mode)

    def test_diracs_show_the_kernel(self):
        diracs = self.folder / "diracs.fits"
        command.run("simulate", "diracs", "--size", "64", "-o", diracs)
        line = [i * (4 / 14) - 2 for i in range(14)] + [2.0]  # as numpy.linspace
        kernel = [[math.exp(-(x * x + y * y) / 2) for x in line] for y in line]
        want = [[0.0] * 78 for _ in range(78)]
        for y, x in itertools.product(range(8, 64, 16), repeat=2):
            for i, j in itertools.product(range(15), repeat=2):
                want[y + i][x + j] = kernel[i][j]
        path = self.kernel(kernel)
        options = ["--mode", "full", "--method"]
        _, got = self.convolved(diracs, "--kernel", path, *options, "direct")
        self.assertEqual([list(row) for row in got], want)
        for name, method in (("lesson", "direct"), ("lesson", "automatic"), (path, "separable")):
            _, got = self.convolved(diracs, "--kernel", name, *options, method)
            for y, x in itertools.product(range(78), repeat=2):
                self.assertLessEqual(abs(got[y][x] - want[y][x]), 4 * math.ulp(want[y][x]))

    def test_gaussian_keeps_the_flux_and_the_header(self):
        cards = [("BUNIT", "JY/BEAM"), ("CTYPE1", "RA---TAN"), ("CTYPE2", "DEC--TAN")]
        cards += [("CRPIX1", 20.5), ("CRPIX2", 16.0), ("CRVAL1", 10.0), ("CRVAL2", -5.0)]
        cards += [("CDELT1", -0.001), ("CDELT2", 0.001), ("BMAJ", 0.004), ("BMIN", 0.004)]
        rows = [[0.0] * 40 for _ in range(32)]
        rows[15][21] = 2.0
        image = self.image(rows=rows, bitpix=-32, cards=cards)
        header, got = self.convolved(image, "--gaussian", "1.5")
        self.assertEqual((header["NAXIS1"], header["NAXIS2"], header["BITPIX"]), (40, 32, -32))
        self.assertAlmostEqual(sum(map(sum, got)), 2.0, 5)
        self.assertEqual(max(map(max, got)), got[15][21])
        self.assertEqual((header["CRPIX1"], header["CRPIX2"]), (20.5, 16.0))
        self.assertEqual(header["BUNIT"], "JY/BEAM")
        self.assertEqual(header["CTYPE1"], "RA---TAN")
        self.assertNotIn("BMAJ", header)
        self.assertEqual(header["INPUT"], str(image))
        for options, moved in (
            (["--gaussian", "1.5", "--mode", "full"], 6.0),
            (["--gaussian", "1.5", "--mode", "valid"], -6.0),
            (["--gaussian", "1.5", "--size", "3", "--mode", "full"], 1.0),
            (["--kernel", self.kernel([[0.25] * 4] * 4), "--mode", "same"], 0.5),
        ):
            header, got = self.convolved(image, *options)
            self.assertEqual(header["CRPIX1"], 20.5 + moved, options)
            self.assertEqual(header["CRPIX2"], 16.0 + moved, options)
            weights = [(v, y, x) for y, row in enumerate(got) for x, v in enumerate(row)]
            x_cen = sum(v * x for v, _, x in weights) / sum(v for v, _, _ in weights)
            self.assertAlmostEqual(x_cen + 1 - header["CRPIX1"], 21 + 1 - 20.5, 5, options)

    def test_coordinates_without_a_reference_pixel_get_one(self):
        image = self.image(cards=[("CTYPE1", "LINEAR"), ("CRVAL1", 3.0)])
        header, _ = self.convolved(image, "--gaussian", "1", "--mode", "full")
        self.assertEqual(header["CRPIX1"], 4.0)
        self.assertNotIn("CRPIX2", header)

    def test_blank_pixels(self):
        self.rows[4][3] = math.nan
        image = self.image()
        box = self.kernel([[1.0 / 9] * 3] * 3)
        _, got = self.convolved(image, "--kernel", box)
        for y, row in enumerate(got):
            for x, value in enumerate(row):
                self.assertEqual(math.isnan(value), abs(y - 4) <= 1 and abs(x - 3) <= 1)
        _, got = self.convolved(image, "--kernel", box, "--nan", "interpolate")
        around = [self.rows[y][x] for y in (3, 4, 5) for x in (2, 3, 4) if (y, x) != (4, 3)]
        self.assertAlmostEqual(got[4][3], sum(around) / 8, 14)
        zeros = self.kernel([[1.0, -1.0]])
        self.assert_refused(
            1, "convolve", image, "--kernel", zeros, "--nan", "interpolate", "-o",
            self.folder / "zeros.fits", says=["add up to 0"],
        )

    def test_refused_kernels_and_images(self):
        image = self.image()
        target = self.folder / "refused.fits"
        for rows, says in (
            ([[1.0] * 128], ["1 x 128", "127"]),
            ([[1.0, math.inf]], ["(0, 1)", "finite"]),
        ):
            kernel = self.kernel(rows)
            complaint = self.assert_refused(
                1, "convolve", image, "--kernel", kernel, "-o", target, says=says
            )
            self.assertIn("kernel.fits[0]", complaint)
        kernel = self.kernel([[1.0] * 20])
        options = ["--mode", "valid", "-o", target]
        self.assert_refused(
            1, "convolve", image, "--kernel", kernel, *options, says=["valid", "9 x 7", "1 x 20"]
        )
        self.assert_refused(1, "convolve", image, "--kernel", self.folder / "no.fits", "-o", target)
        self.assert_refused(
            1, "convolve", image, "--kernel", kernel, "-o", kernel, "--overwrite", says=["input"]
        )


def sieve(upto):
    """All primes up to and including `upto`."""
    flags = [False, False] + [True] * (upto - 1)
    for n in range(2, upto + 1):
        if flags[n]:
            flags[2 * n :: n] = [False] * len(flags[2 * n :: n])
    return [n for n in range(upto + 1) if flags[n]]


class TestPrimes(AppTestCase):
    def lines(self, *words):
        done = command.run("primes", *words)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        return [int(line) for line in done.stdout.decode().splitlines()]

    def test_one_prime_a_line(self):
        self.assertEqual(self.lines(), sieve(10000))
        for upto in (0, 1, 2, 3, 4, 1000):
            with self.subTest(upto):
                self.assertEqual(self.lines("--upto", str(upto)), sieve(upto))

    def test_count_is_one_number(self):
        self.assertEqual(self.lines("--count"), [1229])
        self.assertEqual(self.lines("--count", "--upto", "1"), [0])

    def test_json(self):
        found = command.json_of("primes", "--upto", "100")
        self.assertEqual(found, {"upto": 100, "count": 25, "primes": sieve(100)})
        found = command.json_of("primes", "--upto", "1")
        self.assertEqual(found, {"upto": 1, "count": 0, "primes": []})
        found = command.json_of("primes", "--count")
        self.assertEqual(found, {"upto": 10000, "count": 1229, "primes": None})


STEPS = (
    "dirac kernel convolve convolve_direct convolve_1d statistics sigma_clip segmentation label "
    "label_image measure pipeline primes fits_write fits_read"
).split()


class TestBench(AppTestCase):
    """Temporary files go to the test's own folder, and have to be gone at the end."""

    def setUp(self):
        super().setUp()
        self.here = {"TMPDIR": str(self.folder)}
        self.small = ["--size", "64", "--repeats", "2"]

    def tearDown(self):
        self.assertEqual(self.files(), [])

    def fake_python(self, script):
        """A program for --python, which is gone before `tearDown` looks."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fake = pathlib.Path(folder.name) / "python"
        fake.write_text("#!/bin/sh\n" + script)
        fake.chmod(0o755)
        return fake

    def bench(self, *words, env=None):
        return command.json_of("bench", *self.small, *words, env={**self.here, **(env or {})})

    def rows(self, table, kind=None):
        """(step, row) of every row of that kind."""
        return [
            (step, row)
            for step in table["steps"]
            for row in step["rows"]
            if kind in (None, row["kind"])
        ]

    def assert_timing(self, timing, repeats):
        self.assertEqual(len(timing["seconds"]), timing["repeats"])
        self.assertGreaterEqual(timing["repeats"], repeats)
        self.assertFalse(timing["stopped_early"])
        self.assertGreater(timing["minimum_s"], 0)
        self.assertEqual(timing["minimum_s"], min(timing["seconds"]))
        self.assertEqual(timing["median_s"], statistics.median(timing["seconds"]))
        self.assertGreaterEqual(timing["median_s"], timing["minimum_s"])
        deviations = [abs(s - timing["median_s"]) for s in timing["seconds"]]
        self.assertEqual(timing["spread_s"], statistics.median(deviations))

    def test_every_step_on_every_backend(self):
        table = self.bench()
        self.assertEqual([step["step"] for step in table["steps"]], STEPS)
        self.assertEqual((table["size"], table["type"], table["repeats"]), (64, "float32", 2))
        self.assertTrue(table["identical"])
        self.assertIsNone(table["peers"])
        backends = command.backends()
        self.assertEqual([b["name"] for b in table["backends"] if b["measured"]], backends)
        for step in table["steps"]:
            with self.subTest(step["step"]):
                who = [row["who"] for row in step["rows"]]
                self.assertIn(who, (backends, ["host"]))
                self.assertGreater(step["items"], 0)
                for row in step["rows"]:
                    self.assert_timing(row, 2)
                    self.assertGreater(row["items_per_s"], 0)
        for step, row in self.rows(table, "backend"):
            first = step["rows"][0]
            self.assertEqual(row["result"], first["result"])
            self.assertEqual(row["identical"], None if row is first else True)
            self.assertEqual(row["max_difference"], None if row is first else 0)
            self.assertAlmostEqual(row["speed_up"], first["median_s"] / row["median_s"])
            self.assertEqual(row["with_transfers"] is not None, row["who"] == "cuda")
        for _, row in self.rows(table, "host"):
            self.assertIsNone(row["speed_up"])

    def test_the_results_are_those_of_the_other_subcommands(self):
        table = self.bench("--on", "serial")
        found = {step["step"]: step["rows"][0]["result"] for step in table["steps"]}
        sky = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "64", "-o", sky))
        stats = command.json_of("stats", sky)
        for name in ("mean", "median", "std", "max"):
            self.assertEqual(found["statistics"][name], stats["all"][name])
            self.assertEqual(found["sigma_clip"][name], stats["clipped"][name])
        sources = command.json_of("find", sky)
        for step in ("measure", "pipeline"):
            self.assertEqual(found[step]["sources"], sources["sources"])
            self.assertEqual(found[step]["catalogue_hash"], sources["catalogue_hash"])
        self.assertEqual(found["segmentation"]["foreground_pixels"], sources["foreground_pixels"])
        self.assertEqual(found["label"]["sources"], sources["sources"])
        self.assertEqual(found["dirac"]["points"], 16)
        self.assertEqual(found["convolve"], {"max": 1.0, "method": "separable"})
        self.assertEqual(found["convolve_direct"], {"max": 1.0, "method": "direct"})
        self.assertEqual(found["primes"]["primes"], 1229)
        for path in (sky, self.folder / "sky_truth.csv"):
            path.unlink()

    def test_every_size(self):
        for size in ("1", "2", "16", "100"):
            for kind in ("float32", "float64"):
                with self.subTest(size=size, type=kind):
                    words = ["--size", size, "--type", kind, "--repeats", "1"]
                    table = command.json_of("bench", *words, env=self.here)
                    self.assertTrue(table["identical"])
                    self.assertEqual(table["steps"][0]["items"], int(size) ** 2)

    def test_chosen_backends(self):
        for chosen in (["serial"], command.backends()[::-1]):
            with self.subTest(chosen):
                words = [word for name in chosen for word in ("--on", name)]
                table = self.bench(*words)
                who = {row["who"] for _, row in self.rows(table, "backend")}
                self.assertEqual(who, set(chosen))

    def test_without_serial_there_is_no_speed_up(self):
        others = [name for name in command.backends() if name != "serial"]
        if not others:
            self.skipTest("serial is the only backend")
        for _, row in self.rows(self.bench("--on", others[0])):
            self.assertIsNone(row["speed_up"])

    def test_the_text_fits_into_100_columns(self):
        done = command.run("bench", *self.small, env=self.here)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        head, table = done.stdout.decode().split("median ms")
        for words in ("kastor", "Kokkos", "cpu", "64 x 64", *command.backends()):
            self.assertIn(words, head)
        for line in table.splitlines():
            self.assertLessEqual(len(line), 100, line)
        backends = len(command.backends())
        self.assertEqual(table.count("same bits"), 12 * (backends - 1) + 1)  # files too
        self.assertNotIn("DIFFERS", table)

    def test_peers_that_cannot_run(self):
        for path, says in (
            (self.folder / "nosuch", "nosuch"),
            ("/bin/false", "exit code 1"),
            ("/bin/echo", "no answer"),
            (
                self.fake_python("echo '{\"missing\": \"No module named numpy\"}'\n"),
                "No module named numpy",
            ),
        ):
            with self.subTest(path):
                words = ["bench", "--size", "16", "--peers"]
                self.assert_refused(1, *words, "--python", path, says=[says, "KASTOR_PYTHON"])
                env = {"KASTOR_PYTHON": str(path)}
                self.assert_refused(1, *words, says=[says], env={**self.here, **env})

    def test_peers_without_their_script(self):
        # As for a program that was copied out of its installation.
        lone = shutil.copy(command.KASTOR, self.folder / "kastor")
        done = subprocess.run(
            [lone, "bench", "--size", "16", "--peers"],
            capture_output=True,
            timeout=command.TIMEOUT,
            check=False,
        )
        os.unlink(lone)
        (line,) = done.stderr.decode().splitlines()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(line, r"^kastor: --peers: found no \S+/peers.py; expected the script")
        self.assertNotIn("--python", line)

    def test_peers_that_fail_on_the_way(self):
        fake = self.fake_python(
            'test "$3" = check && echo \'{"versions": [["Python", "0"]]}\' && exit\n'
            'eval "$ANSWER"\n'
        )
        words = ["bench", "--size", "16", "--repeats", "1", "--on", "serial", "--peers"]
        for answer in ("true", "false", "echo nonsense", "echo {}", "kill -9 $$"):
            with self.subTest(answer):
                env = {**self.here, "KASTOR_PYTHON": str(fake), "ANSWER": answer}
                self.assert_refused(1, *words, env=env, says=["peers.py"])

    def test_peers(self):
        python = os.environ.get("KASTOR_PYTHON") or "python3"
        asked = [python, "-c", "import numpy, scipy.signal, scipy.ndimage"]
        if subprocess.run(asked, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest(f"{python} has no NumPy or no SciPy")
        for size in ("1", "64"):
            for kind, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
                with self.subTest(size=size, type=kind):
                    words = ["--size", size, "--type", kind, "--repeats", "1", "--peers"]
                    table = command.json_of("bench", *words, env=self.here)
                    self.assertEqual(table["notes"], [])
                    self.assertIn("NumPy", table["peers"])
                    peers = self.rows(table, "peer")
                    self.assertEqual(
                        {step["step"] for step, _ in peers},
                        set(STEPS) - {"convolve_direct", "label", "fits_write", "fits_read"},
                    )
                    for step, row in peers:
                        self.assert_timing(row, 1)
                        self.assertLess(row["max_difference"], tolerance, step["step"])


if __name__ == "__main__":
    command.main(__doc__)

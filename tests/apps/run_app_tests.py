# SPDX-License-Identifier: Apache-2.0
"""Tests of the kastor command: python3 run_app_tests.py --kastor PATH [unittest's arguments].

Images to compare with are looked for in $KASTOR_TEST_DATA, else in ../shared/data beside the
repository; the tests that need them are skipped without them. tests/CMakeLists.txt makes one
ctest of each class.
"""

import contextlib
import csv
import gzip
import itertools
import json
import math
import os
import pathlib
import pty
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import command  # noqa: E402
import fits_files  # noqa: E402
import png_files  # noqa: E402
import reference  # noqa: E402
from command import AppTestCase  # noqa: E402

CLIPPED_KEYS = "kappa mean median std min max kept passes converged degenerate".split()

IMAGE = [[0.0, 1.0], [2.0, 3.0]]

WRONG = [
    "",
    "nosuch image.fits",
    "fin image.fits",
    "--json stats image.fits",
    "stats",
    "stats image.fits second.fits",
    "stats image.fits --nosuch",
    "stats image.fits --json=no",
    "stats image.fits --json --json",
    "stats image.fits --quiet --quiet",
    "stats image.fits --kap 3",
    "stats image.fits --kappa",
    "stats image.fits --kappa nan",
    "stats image.fits --kappa inf",
    "stats image.fits --kappa -1",
    "stats image.fits --kappa 0",
    "stats image.fits --kappa 1e999",
    "stats image.fits --kappa 3sigma",
    "stats image.fits --kappa 0x10",
    "stats image.fits --kappa 3,5",
    "stats image.fits --kappa 3 --kappa 3",
    "stats image.fits --max-passes -1",
    "stats image.fits --max-passes 1.5",
    "stats image.fits --max-passes 99999999999",
    "stats image.fits --threshold 5",
    "stats image.fits -o out.fits",
    "stats image.fits --on nosuch",
    "stats image.fits --on",
    "stats image.fits --on SERIAL",
    "stats image.fits --threads 0",
    "stats image.fits --threads -2",
    "stats image.fits --threads 513",
    "stats image.fits --threads two",
    "stats image.fits --hdu -1",
    "stats image.fits --hdu SCI,x",
    "stats image.fits --hdu SCI,0",
    "stats image.fits --plane -1",
    "stats image.fits --plane 0.5",
    "find image.fits --threshold nan",
    "find image.fits --threshold -1",
    "find image.fits --threshold inf",
    "find image.fits --about mean",
    "find image.fits --about",
    "find image.fits --level nan",
    "find image.fits --level -inf",
    "find image.fits --level 1 --threshold 5",
    "find image.fits --about median --level 1",
    "find image.fits --connectivity 6",
    "find image.fits --connectivity four",
    "find image.fits --min-pixels 0",
    "find image.fits --min-pixels -3",
    "find image.fits -o out.txt",
    "find image.fits -o out",
    "find image.fits -o -",
    "find image.fits -o out.csv -o out.votables",
    "find image.fits -o",
    "find image.fits -o out.fits.gz",
    "find image.fits -o /dev/full",
    "convolve image.fits -o out.fits",
    "convolve image.fits --gaussian 1",
    "convolve image.fits --gaussian 1 -o out.png",
    "convolve image.fits --gaussian 0 -o out.fits",
    "convolve image.fits --gaussian nan -o out.fits",
    "convolve image.fits --gaussian 16 -o out.fits",
    "convolve image.fits --gaussian 1 --size 4 -o out.fits",
    "convolve image.fits --gaussian 1 --size 129 -o out.fits",
    "convolve image.fits --size 3 -o out.fits",
    "convolve image.fits --size 3 --kernel lesson -o out.fits",
    "convolve image.fits --gaussian 1 --kernel lesson -o out.fits",
    "convolve image.fits --kernel lesson --mode all -o out.fits",
    "convolve image.fits --kernel lesson --nan zero -o out.fits",
    "convolve image.fits --kernel lesson --method fft -o out.fits",
    "convolve image.fits --kernel lesson --json -o out.fits",
    "label image.fits",
    "label image.fits -o labels.csv",
    "label image.fits -o a.fits -o b.fits",
    "simulate",
    "simulate stars -o a.fits",
    "simulate -o a.fits sky",
    "simulate sky",
    "simulate sky -o a.csv",
    "simulate sky -o a.fits --size 0",
    "simulate sky -o a.fits --size -5",
    "simulate sky -o a.fits --size 1e3",
    "simulate sky -o a.fits --size 10 --width 10",
    "simulate sky -o a.fits --seed -1",
    "simulate sky -o a.fits --seed 18446744073709551616",
    "simulate sky -o a.fits --noise nan",
    "simulate sky -o a.fits --noise -1",
    "simulate sky -o a.fits --beam 0",
    "simulate sky -o a.fits --beam nan",
    "simulate sky -o a.fits --sources-per-mpx -1",
    "simulate sky -o a.fits --type int16",
    "simulate sky -o a.fits --spacing 4",
    "simulate diracs -o a.fits --spacing 0",
    "simulate diracs -o a.fits --seed 1",
    "view",
    "view image.fits",
    "view image.fits -o out.jpg",
    "view image.fits -o out",
    "view image.fits -o a.png -o b.png",
    "view image.fits -o a.png --scale sqrt",
    "view image.fits -o a.png --colour-map jet",
    "view image.fits -o a.png --look nosuch",
    "view image.fits -o a.png --look lesson --scale log",
    "view image.fits -o a.png --look lesson --min 1",
    "view image.fits -o a.png --percentile 5 --look lesson",
    "view image.fits -o a.png --percentile 5",
    "view image.fits -o a.png --percentile 5,",
    "view image.fits -o a.png --percentile 5,nan",
    "view image.fits -o a.png --percentile 5,101",
    "view image.fits -o a.png --percentile -1,99",
    "view image.fits -o a.png --percentile 99,5",
    "view image.fits -o a.png --percentile 5,99,99",
    "view image.fits -o a.png --min nan",
    "view image.fits -o a.png --max inf",
    "view image.fits -o a.png --min 2 --max 1",
    "view image.fits -o a.png --min 1 --max 1",
    "view image.fits -o a.png --min 0 --scale log",
    "view image.fits -o a.png --max -1 --scale log",
    "view image.fits -o a.png --min 0 --max 1 --percentile 5,95",
    "view image.fits -o a.png --axes galactic",
    "view image.fits -o a.png --size 0",
    "view image.fits -o a.png --size 16385",
    "view image.fits -o a.png --size 1e3",
    "view image.fits -o a.png --marks star",
    "view image.fits -o a.png --labels",
    "view image.fits -o a.png --catalogue",
    "view image.fits -o a.png --json",
    "find image.fits --picture a.fits",
    "find image.fits image.fits -o a.csv",
    "find image.fits image.fits -o new",
    "find image.fits image.fits -o out/",
    "find image.fits other.fits -o out/ -o out2/",
    "find image.fits other.fits -o out/ --format png",
    "find image.fits other.fits -o out/ --format csv --format csv",
    "find image.fits other.fits --format csv",
    "find image.fits other.fits --resume",
    "find image.fits other.fits -o out/ --resume --format csv",
    "find image.fits other.fits -o out/ --labels a.fits",
    "find image.fits other.fits --picture a.png",
    "find image.fits other.fits --preset radio --rms-map a.fits",
    "find image.fits -o a.csv --format csv",
    "find image.fits other.fits --nosuch",
    "find image.fits --nosuch other.fits",
    "find @nosuch.txt --kappa nan",
    "find image.fits --picture",
    "compare",
    "compare a.csv",
    "compare a.csv b.csv c.csv",
    "compare a.csv b.csv --radius 0",
    "compare a.csv b.csv --radius -1",
    "compare a.csv b.csv --radius nan",
    "compare a.csv b.csv --radius 648001",
    "compare a.csv b.csv --radius 5arcsec",
    "compare a.csv b.csv --pixels 0",
    "compare a.csv b.csv --pixels inf",
    "compare a.csv b.csv --radius 1 --pixels 1",
    "compare a.csv b.csv --columns1 ra",
    "compare a.csv b.csv --columns1 ra=",
    "compare a.csv b.csv --columns1 ra=a,,dec=b",
    "compare a.csv b.csv --columns1 ra=a,ra=b",
    "compare a.csv b.csv --columns2 flux=a",
    "compare a.csv b.csv --columns2 x=a,y=b,origin=2",
    "compare a.csv b.csv --min-flux1 nan",
    "compare a.csv b.csv --min-snr2 high",
    "compare a.csv b.csv -o c.txt",
    "compare a.csv b.csv -o c.csv -o d.csv",
    "info a b",
    "info --kappa 3",
    "bench 64",
    "bench --size 0",
    "bench --size -1",
    "bench --size 100001",
    "bench --size 64x64",
    "bench --type int16",
    "bench --repeats 0",
    "bench --repeats 1.5",
    "bench --on nosuch",
    "bench --on serial --on nosuch",
    "bench --on",
    "bench --python python3",
    "bench --peers --peers",
    "primes 100",
    "primes --upto -1",
    "primes --upto 100000001",
    "primes --upto 1e3",
    "primes --upto",
    "primes --count --count",
]

HELP = [
    "--help",
    "-h",
    "nosuch --help",
    "--nosuch --help",
    "find --help",
    "--help find",
    "find --kappa nan --nosuch --help",
    "find --preset nosuch --cell nan --help",
    "find nosuch.fits --on nosuch --help",
    "stats --help",
    "label --help",
    "convolve --help",
    "compare --help",
    "view --help",
    "view --size nan --help",
    "info --help",
    "bench --help",
    "bench --size 0 --on nosuch --help",
    "compare --radius nan --help",
    "primes --help",
    "primes --upto nan --help",
    "simulate --help",
    "simulate nosuch --help",
    "simulate sky --help",
    "simulate --help diracs --spacing nan",
]


class TestCommandLine(AppTestCase):
    """Wrong usage is exit code 2 and one line; help and version are always answered."""

    def test_wrong_usage_is_refused(self):
        fits_files.write(self.folder / "image.fits", IMAGE)
        for words in WRONG:
            with self.subTest(words):
                self.assert_refused(2, *words.split(), cwd=self.folder)

    def test_an_empty_word_is_no_number(self):
        fits_files.write(self.folder / "image.fits", IMAGE)
        for option in ("--kappa", "--max-passes", "--threads", "--hdu", "--plane", "--on"):
            with self.subTest(option):
                self.assert_refused(2, "stats", "image.fits", option, "", cwd=self.folder)

    def test_help_is_answered_whatever_else_is_given(self):
        for words in HELP:
            with self.subTest(words):
                done = command.run(*words.split())
                self.assert_done(done)
                self.assertIn(b"Usage: kastor", done.stdout)
                self.assertEqual(done.stderr, b"")
                for line in done.stdout.decode().splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_the_examples_of_the_help_work_as_typed(self):
        for words in command.topics():
            text = command.run(*words, "--help").stdout.decode()
            example = text[text.index("Example:") :].splitlines()[1:]
            self.assertTrue(example)
            folder = self.folder / "_".join(["kastor", *words])
            folder.mkdir()
            for line in example:
                with self.subTest(line):
                    self.assertEqual(line.split()[0], "kastor")
                    self.assert_done(command.run_line(line, cwd=folder))

    def test_version(self):
        done = command.run("--version")
        self.assert_done(done)
        self.assertRegex(done.stdout.decode(), r"^kastor \d+\.\d+\.\d+\n$")

    def test_info_names_backends_and_libraries(self):
        info = command.json_of("info")
        self.assertEqual(f"kastor {info['version']}\n", command.run("--version").stdout.decode())
        standard = [b for b in info["backends"] if b["default"]]
        self.assertEqual(len(standard), 1)
        self.assertTrue(standard[0]["usable"])
        self.assertTrue(
            {"kokkos", "cfitsio", "expat", "wcslib", "libpng", "freetype", "fmt", "cli11"}
            | {"nlohmann_json"}
            <= set(info["libraries"])
        )
        self.assertIn(b"backend", command.run("info").stdout)

    def test_backends_that_are_not_there(self):
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        listed = {b["name"]: b for b in command.json_of("info")["backends"]}
        for name in ("serial", "openmp", "cuda"):
            with self.subTest(name):
                words = ["stats", image, "--on", name]
                if name not in listed:
                    self.assert_refused(2, *words, says=["--on"])
                elif not listed[name]["usable"]:
                    self.assert_refused(1, *words, says=[listed[name]["trouble"]])
                else:
                    self.assert_done(command.run(*words))

    def test_a_full_stdout_is_a_failure(self):
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        for words in (
            ["stats", image],
            ["stats", image, "--json"],
            ["find", image],
            ["info"],
            ["primes"],
            ["primes", "--json"],
            ["bench", "--size", "16", "--repeats", "1", "--on", "serial"],
            ["find", image, "-o", self.folder / "a.csv"],
            ["--help"],
            ["--version"],
            ["label", image, "-o", self.folder / "a.fits"],
            ["info", image],
        ):
            with self.subTest(words), open("/dev/full", "wb") as full:
                self.assert_refused(1, *words, stdout=full, says=["standard output"])

    def test_a_closed_stdout_is_a_failure(self):
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        done = subprocess.run(
            [
                "sh",
                "-c",
                'exec "$0" find "$1" -o "$2" >&-',
                command.KASTOR,
                image,
                self.folder / "a.csv",
            ],
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.files(), ["image.fits"])

    def test_quiet_leaves_stderr_empty(self):
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        done = command.run("find", image, "--quiet", "-o", self.folder / "a.csv")
        self.assert_done(done)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        done = command.run("find", image, "--quiet")
        self.assert_done(done)
        self.assertIn(b"sources", done.stdout)
        self.assertEqual(done.stderr, b"")

    def test_timings_are_a_table_on_stderr(self):
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        done = command.run("find", image, "--json", "--timings")
        self.assert_done(done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        table = done.stderr.decode()
        for words in ("Mpixel/s", "read", "kastor::", "total"):
            self.assertIn(words, table)


ROWS = [[float(x + y) for x in range(12)] for y in range(10)]


class TestRefusedInput(AppTestCase):
    """Files that cannot be read: exit code 1, one line that names the file, nothing left behind."""

    def refuse(self, path, *options, says=()):
        for words in (
            ["stats", path, "--json"],
            ["find", path, "-o", self.folder / "out.csv"],
            ["label", path, "-o", self.folder / "out.fits"],
            ["view", path, "-o", self.folder / "out.png"],
        ):
            with self.subTest(words):
                self.assert_refused(1, *words, *options, says=[os.path.basename(path), *says])

    def bytes_refused(self, content, name="image.fits", options=(), says=()):
        path = self.folder / name
        path.write_bytes(content)
        self.refuse(path, *options, says=says)

    def test_missing_file(self):
        self.refuse(self.folder / "missing.fits")
        # CFITSIO would open these two in the place of missing.fits.
        (self.folder / "missing.fits.gz").write_bytes(gzip.compress(fits_files.hdu(ROWS)))
        (self.folder / "missing").write_bytes(fits_files.hdu(ROWS))
        self.refuse(self.folder / "missing.fits")

    def test_extended_file_names_are_names(self):
        fits_files.write(self.folder / "image.fits", ROWS)
        self.refuse(self.folder / "image.fits[0]")
        self.refuse(self.folder / "image.fits[1:3,1:3]")

    def test_directory(self):
        (self.folder / "folder.fits").mkdir()
        self.refuse(self.folder / "folder.fits")

    def test_fifo(self):
        os.mkfifo(self.folder / "fifo.fits")
        self.refuse(self.folder / "fifo.fits")

    def test_device(self):
        self.assert_refused(1, "stats", "/dev/zero", timeout=20)

    def test_empty_file(self):
        self.bytes_refused(b"")

    def test_text_file(self):
        self.bytes_refused(b"This is no image.\n" * 500)

    def test_one_byte(self):
        self.bytes_refused(b"S")

    def test_truncated_header(self):
        whole = fits_files.hdu(ROWS, cards=[(f"KEY{i}", i) for i in range(60)])
        self.bytes_refused(whole[:100])
        self.bytes_refused(whole[: fits_files.BLOCK])

    def test_truncated_data(self):
        whole = fits_files.hdu([[1.0] * 100] * 100)
        self.bytes_refused(whole[: len(whole) // 2])
        self.bytes_refused(whole[: fits_files.BLOCK])

    def test_truncated_gzip(self):
        whole = gzip.compress(
            fits_files.hdu([[math.sin(x * y) for x in range(100)] for y in range(100)])
        )
        self.bytes_refused(whole[: len(whole) // 2], name="image.fits.gz")
        self.bytes_refused(whole[:15], name="image.fits.gz")

    def test_no_image(self):
        self.bytes_refused(fits_files.hdu([], axes=()))

    def test_one_axis(self):
        self.bytes_refused(fits_files.hdu([1.0] * 38, axes=(38,)))

    def test_cube_without_plane(self):
        cube = fits_files.hdu([1.0] * 60, axes=(5, 4, 3))
        self.bytes_refused(cube, says=["NAXIS3", "plane"])
        self.bytes_refused(cube, options=["--plane", "3"])

    def test_two_extra_axes(self):
        self.bytes_refused(fits_files.hdu([1.0] * 120, axes=(5, 4, 3, 2)))
        self.bytes_refused(fits_files.hdu([1.0] * 120, axes=(5, 4, 3, 2)), options=["--plane", "0"])

    def test_zero_size_axis(self):
        self.bytes_refused(fits_files.hdu([], axes=(0, 5)))
        self.bytes_refused(fits_files.hdu([], axes=(5, 0)))

    def test_absurd_axes(self):
        for axes in ((10**12, 10**12), (2**31, 2**33), (10**18, 1), (-5, 4)):
            with self.subTest(axes):
                cards = [
                    ("SIMPLE", True),
                    ("BITPIX", -32),
                    ("NAXIS", 2),
                    ("NAXIS1", axes[0]),
                    ("NAXIS2", axes[1]),
                ]
                self.bytes_refused(fits_files.header(cards) + bytes(fits_files.BLOCK))

    def test_unknown_bitpix(self):
        cards = [("SIMPLE", True), ("BITPIX", 24), ("NAXIS", 2), ("NAXIS1", 4), ("NAXIS2", 4)]
        self.bytes_refused(fits_files.header(cards) + bytes(fits_files.BLOCK))

    def test_all_blank(self):
        self.bytes_refused(fits_files.hdu([[math.nan] * 5] * 5), says=["[0]"])
        self.bytes_refused(fits_files.hdu([[math.inf, -math.inf]] * 2))
        self.bytes_refused(fits_files.hdu([[-1] * 5] * 5, bitpix=16, cards=[("BLANK", -1)]))

    def test_hdu_out_of_range(self):
        image = fits_files.hdu(ROWS)
        for hdu in ("1", "99", "99999999999999999999", "SCI", "SCI,2"):
            self.bytes_refused(image, options=["--hdu", hdu])

    def test_hdu_without_data(self):
        both = fits_files.hdu([], axes=()) + fits_files.hdu(ROWS, extension=True)
        self.bytes_refused(both, options=["--hdu", "0"])

    def test_info_refuses_too(self):
        self.assert_refused(1, "info", self.folder / "missing.fits")
        (self.folder / "text.fits").write_bytes(b"no image")
        self.assert_refused(1, "info", self.folder / "text.fits")

    def test_a_newline_in_the_name_stays_on_the_line(self):
        self.assert_refused(1, "stats", self.folder / "two\nlines.fits")


class TestRefusedOutput(AppTestCase):
    """Files that cannot be written."""

    def setUp(self):
        super().setUp()
        self.image = fits_files.write(self.folder / "image.fits", ROWS)

    def refuse(self, *targets, options=(), image=None, says=()):
        outputs = [word for target in targets for word in ("-o", target)]
        return self.assert_refused(1, "find", image or self.image, *outputs, *options, says=says)

    def test_missing_folder(self):
        self.refuse(self.folder / "nosuch" / "out.csv")
        self.refuse(self.folder / "good.csv", self.folder / "nosuch" / "out.csv")

    def test_a_file_in_the_place_of_the_folder(self):
        self.refuse(self.image / "out.csv")

    def test_existing_output_needs_overwrite(self):
        target = self.folder / "out.csv"
        target.write_text("mine")
        self.refuse(target, says=["--overwrite"])
        self.refuse(self.folder / "new.csv", target)
        self.assertEqual(target.read_text(), "mine")
        self.assert_done(command.run("find", self.image, "-o", target, "--overwrite"))
        self.assertTrue(target.read_text().startswith("id,"))

    def test_the_input_is_never_replaced(self):
        before = self.image.read_bytes()
        link, hard = self.folder / "link.fits", self.folder / "hard.fits"
        link.symlink_to(self.image)
        os.link(self.image, hard)
        for target in (self.image, link, hard, f"{self.folder}/./image.fits"):
            self.refuse(target, options=["--overwrite"])
            self.assert_refused(1, "label", self.image, "-o", target, "--overwrite")
        self.assertEqual(self.image.read_bytes(), before)

    def test_two_outputs_of_one_name(self):
        self.refuse(self.folder / "out.csv", self.folder / "out.csv")
        self.refuse(self.folder / "out.csv", f"{self.folder}/./out.csv", options=["--overwrite"])

    def test_targets_that_are_not_regular_files(self):
        folder, device, fifo = (self.folder / n for n in ("folder.csv", "full.csv", "fifo.csv"))
        folder.mkdir()
        device.symlink_to("/dev/full")
        os.mkfifo(fifo)
        for target in (folder, device, fifo):
            self.refuse(target)
            self.refuse(target, options=["--overwrite"])

    def test_simulate_refuses_for_either_file(self):
        (self.folder / "sky_truth.csv").write_text("mine")
        sky = ["simulate", "sky", "--size", "32", "-o"]
        self.assert_refused(1, *sky, self.folder / "sky.fits")
        self.assert_done(command.run(*sky, self.folder / "sky.fits", "--overwrite"))
        self.assert_refused(1, *sky, self.folder / "sky.fits")
        self.assert_refused(1, *sky, self.folder / "nosuch" / "sky.fits")

    def test_no_failure_of_the_input_leaves_an_output(self):
        self.refuse(self.folder / "out.csv", image=self.folder / "missing.fits")

    @unittest.skipIf(
        "KASTOR_TEST_SANITIZED" in os.environ, "the address sanitizer needs the memory itself"
    )
    def test_an_image_beyond_the_memory(self):
        target = self.folder / "big.fits"
        with memory_limit(2 << 30) as prefix:
            before = self.files()
            done = subprocess.run(
                [*prefix, command.KASTOR, "simulate", "diracs", "--size", "1048576", "-o", target],
                capture_output=True,
                check=False,
                timeout=command.TIMEOUT,
            )
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(b"memory", done.stderr)
            self.assertEqual(self.files(), before)

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        checkers = fits_files.write(
            self.folder / "checkers.fits",
            [[float((x + y) % 2) for x in range(160)] for y in range(160)],
        )
        with small_disk(disk, self):
            for words in (
                ["find", checkers, "--level", "0.5", "-o", disk / "out.csv"],
                ["find", checkers, "--level", "0.5", "-o", disk / "out.fits"],
                ["label", checkers, "--level", "0.5", "-o", disk / "out.fits"],
                ["simulate", "sky", "--size", "256", "-o", disk / "sky.fits"],
            ):
                with self.subTest(words):
                    self.assert_refused(1, *words)


@contextlib.contextmanager
def memory_limit(size):
    """A command's prefix that keeps it from taking the machine's memory."""
    yield ["sh", "-c", f'ulimit -v {size // 1024}; exec "$@"', "sh"]


@contextlib.contextmanager
def small_disk(folder, case):
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        case.skipTest("a small file system can only be mounted by root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class TestSignals(AppTestCase):
    """A run that is stopped half way leaves nothing."""

    def stop(self, number):
        # Large enough to be at work for seconds.
        process = subprocess.Popen(
            [
                command.KASTOR,
                "simulate",
                "sky",
                "--size",
                "8192",
                "-o",
                "sky.fits",
                "--threads",
                "1",
            ],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 30
        while len(self.files()) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(self.files()), 2, "the temporary files of image and truth")
        self.assertTrue(all(name.startswith(".") for name in self.files()), self.files())
        time.sleep(0.3)  # now it simulates
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -number)
        self.assertEqual(stdout, b"")
        self.assertEqual(self.files(), [])

    def test_interrupt(self):
        self.stop(signal.SIGINT)

    def test_terminate(self):
        self.stop(signal.SIGTERM)


def on_terminal(arguments, cwd=None):
    """What a run that succeeds writes to a terminal as its stderr."""
    watched, end = pty.openpty()
    process = subprocess.Popen(
        [command.KASTOR, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=end, cwd=cwd
    )
    os.close(end)
    seen = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while piece := os.read(watched, 4096):
            seen += piece
    os.close(watched)
    if process.wait() != 0:
        raise AssertionError(f"{arguments}: exit {process.returncode}: {seen!r}")
    return seen


class TestTerminal(AppTestCase):
    """The progress line: only for somebody who watches, only for work longer than a second."""

    def stderr_on_terminal(self, *arguments):
        return on_terminal(arguments)

    def test_long_work_shows_a_line_and_erases_it(self):
        image = self.folder / "sky.fits"
        long = ["simulate", "sky", "--size", "4096", "--threads", "1", "-o", image]
        seen = self.stderr_on_terminal(*long)
        self.assertIn(b"\r\033[Kkastor: simulate", seen)
        self.assertTrue(seen.split(b"...")[-1].startswith(b" "), seen)
        self.assertIn(b"s\r\033[Kkastor: wrote", seen)
        self.assertEqual(self.stderr_on_terminal(*long, "--overwrite", "--quiet"), b"")

    def test_short_work_shows_none(self):
        image = fits_files.write(self.folder / "image.fits", [[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(self.stderr_on_terminal("stats", image), b"")


def noisy_sky(ny, nx, seed):
    """float32 noise with a few sources, plateaus (equal peaks) and blank pixels."""
    random_numbers = random.Random(seed)
    rows = [[random_numbers.gauss(0.01, 0.1) for _ in range(nx)] for _ in range(ny)]
    for _ in range(ny * nx // 150):
        y0, x0 = random_numbers.randrange(ny), random_numbers.randrange(nx)
        flux, width = random_numbers.uniform(1, 9), random_numbers.uniform(0.4, 1.6)
        for y in range(max(0, y0 - 5), min(ny, y0 + 6)):
            for x in range(max(0, x0 - 5), min(nx, x0 + 6)):
                rows[y][x] += flux * math.exp(-((x - x0) ** 2 + (y - y0) ** 2) / (2 * width**2))
    for _ in range(5):
        y, x = random_numbers.randrange(ny), random_numbers.randrange(nx - 1)
        rows[y][x] = rows[y][x + 1] = 7.5
        rows[random_numbers.randrange(ny)][random_numbers.randrange(nx)] = math.nan
    rows[0][0] = math.inf
    return [[reference.as_float32(v) for v in row] for row in rows]


class TestResults(AppTestCase):
    """The numbers, against the naive reference."""

    def setUp(self):
        super().setUp()
        self.rows = noisy_sky(61, 83, seed=1)
        self.image = fits_files.write(
            self.folder / "sky.fits", self.rows, cards=[("BUNIT", "JY/BEAM"), ("OBJECT", "NOISE")]
        )

    def assert_clip(self, found, wanted):
        kept, mean, median, std, passes = wanted
        self.assertEqual(found["kept"], len(kept))
        self.assertEqual(found["passes"], passes)
        self.assertEqual(
            (found["median"], found["min"], found["max"]), (median, min(kept), max(kept))
        )
        self.assertAlmostEqual(found["mean"], mean, delta=1e-12 * std)
        self.assertAlmostEqual(found["std"], std, delta=1e-12 * std)

    def assert_catalogue(self, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for row, want in zip(found, wanted):
            self.assertEqual(list(row), reference.COLUMNS)
            for name in reference.COLUMNS:
                if name in ("x_cen", "y_cen", "flux_sum"):
                    self.assertAlmostEqual(row[name], want[name], delta=1e-9, msg=(name, want))
                else:
                    self.assertEqual(row[name], want[name], (name, want))

    def test_stats(self):
        stats = command.json_of("stats", self.image)
        self.assertEqual(
            list(stats), ["file", "hdu", "shape", "unit", "pixels", "blank", "all", "clipped"]
        )
        self.assertEqual(list(stats["all"]), ["mean", "median", "std", "min", "max"])
        self.assertEqual(list(stats["clipped"]), CLIPPED_KEYS)
        self.assertEqual(
            (stats["file"], stats["hdu"], stats["shape"]), (str(self.image), 0, [61, 83])
        )
        self.assertEqual((stats["unit"], stats["pixels"]), ("JY/BEAM", 61 * 83))
        finite = [v for row in self.rows for v in row if math.isfinite(v)]
        self.assertEqual(stats["blank"], 61 * 83 - len(finite))
        self.assertEqual(stats["all"]["median"], statistics.median(finite))
        self.assertEqual((stats["all"]["min"], stats["all"]["max"]), (min(finite), max(finite)))
        self.assertAlmostEqual(stats["all"]["mean"], statistics.fmean(finite), delta=1e-12)
        self.assertAlmostEqual(stats["all"]["std"], statistics.pstdev(finite), delta=1e-12)
        for kappa in ("3", "2.5", "1.5"):
            clipped = command.json_of("stats", self.image, "--kappa", kappa)["clipped"]
            self.assert_clip(clipped, reference.clip(self.rows, float(kappa)))
            self.assertEqual(clipped["kappa"], float(kappa))
            self.assertTrue(clipped["converged"])
            self.assertFalse(clipped["degenerate"])

    def test_max_passes(self):
        once = command.json_of("stats", self.image, "--max-passes", "1")
        self.assertEqual((once["clipped"]["passes"], once["clipped"]["converged"]), (1, False))
        self.assertEqual(once["clipped"]["mean"], once["all"]["mean"])

    def test_a_constant_image_is_degenerate(self):
        flat = fits_files.write(self.folder / "flat.fits", [[2.5] * 7] * 5)
        stats = command.json_of("stats", flat)
        self.assertIsNone(stats["unit"])
        clipped = stats["clipped"]
        self.assertEqual((clipped["mean"], clipped["std"], clipped["kept"]), (2.5, 0, 35))
        self.assertEqual((clipped["converged"], clipped["degenerate"]), (False, True))
        self.assertEqual(command.json_of("find", flat)["sources"], 1)  # 2.5 > 5 * 0
        self.assertEqual(command.json_of("find", flat, "--about", "median")["sources"], 0)

    def test_find_measures_as_the_reference(self):
        _, _, median, std, _ = reference.clip(self.rows)
        table = self.folder / "out.csv"
        for options, level, connectivity, least in (
            ((), 5 * std, 4, 1),
            (("--threshold", "3"), 3 * std, 4, 1),
            (("--threshold", "0", "--about", "median"), median, 4, 1),
            (("--about", "median", "--threshold", "1", "--connectivity", "8"), median + std, 8, 1),
            (("--level", "-0.05", "--connectivity", "8"), -0.05, 8, 1),
            (("--level", "0.2", "--min-pixels", "5"), 0.2, 4, 5),
            (("--level", "100"), 100.0, 4, 1),
        ):
            with self.subTest(options):
                found = command.json_of("find", self.image, *options, "-o", table, "--overwrite")
                components = reference.label(self.rows, level, connectivity)
                wanted = reference.measure(self.rows, components, least)
                catalogue = reference.read_csv(table)
                self.assert_catalogue(catalogue, wanted)
                self.assertEqual(found["sources"], len(wanted))
                self.assertEqual(found["foreground_pixels"], sum(map(len, components)))
                self.assertAlmostEqual(found["threshold"], level, delta=1e-12)
                self.assertEqual(found["catalogue_hash"], reference.catalogue_hash(catalogue))
                self.assertEqual(
                    list(found),
                    [
                        "file",
                        "hdu",
                        "threshold",
                        "sources",
                        "foreground_pixels",
                        "catalogue_hash",
                        "clipped",
                    ],
                )
                self.assertEqual(list(found["clipped"]), CLIPPED_KEYS)

    def test_a_sum_of_zero_has_no_centre(self):
        rows = [[-5.0, -5.0, -5.0], [-5.0, 1.0, -1.0], [-5.0, -5.0, -5.0]]
        image = fits_files.write(self.folder / "zero.fits", rows)
        table = self.folder / "zero.csv"
        found = command.json_of("find", image, "--level", "-2", "-o", table)
        (row,) = reference.read_csv(table)
        self.assertTrue(math.isnan(row["x_cen"]) and math.isnan(row["y_cen"]))
        self.assertEqual(row["flux_sum"], 0)
        self.assertEqual(found["catalogue_hash"], reference.catalogue_hash([row]))

    def test_the_fits_table_holds_the_same(self):
        text, table = self.folder / "out.CSV", self.folder / "out.Fits"
        self.assert_done(command.run("find", self.image, "-o", text, "-o", table))
        cards, columns = fits_files.read_table(table)
        self.assertEqual(cards["EXTNAME"], "CATALOGUE")
        self.assertEqual(list(columns), reference.COLUMNS)
        wanted = reference.read_csv(text)
        for name, values in columns.items():
            self.assertEqual(values, [row[name] for row in wanted], name)
        header = "\n".join(fits_files.read_hdus(table)[1][1]) + "\n".join(
            fits_files.read_hdus(table)[0][1]
        )
        for words in (
            "kastor find",
            "--threshold 5",
            "sky.fits",
            command.json_of("info")["version"],
        ):
            self.assertIn(words, header)

    def test_label_writes_the_ids(self):
        labels = self.folder / "labels.fit"
        counts = command.json_of(
            "label", self.image, "--level", "0.2", "-o", labels, "--min-pixels", "2"
        )
        components = [c for c in reference.label(self.rows, 0.2) if len(c) > 1]
        wanted = [[0] * 83 for _ in range(61)]
        for number, pixels in enumerate(components, 1):
            for y, x in pixels:
                wanted[y][x] = number
        cards, rows = fits_files.read_image(labels)
        self.assertEqual(cards["BITPIX"], 32)
        self.assertEqual(cards["OBJECT"], "NOISE")
        self.assertEqual([list(row) for row in rows], wanted)
        self.assertEqual(counts["sources"], len(components))
        self.assertEqual(counts["threshold"], 0.2)

    def test_label_keeps_the_world_coordinates(self):
        cards = [
            ("CTYPE1", "RA---TAN"),
            ("CTYPE2", "DEC--TAN"),
            ("CRPIX1", 3.5),
            ("CRPIX2", 2.0),
            ("CRVAL1", 266.5),
            ("CRVAL2", -29.0),
            ("CDELT1", -0.001),
            ("CDELT2", 0.001),
        ]
        image = fits_files.write(self.folder / "wcs.fits", self.rows, cards=cards)
        labels = self.folder / "labels.fits"
        self.assert_done(command.run("label", image, "-o", labels))
        found = fits_files.read_image(labels)[0]
        for name, value in cards:
            self.assertEqual(found[name], value, name)

    def test_every_backend_gives_the_same_bits(self):
        image = self.folder / "big.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "700", "-o", image))
        found = set()
        for backend in command.backends():
            for threads in (1, 2, 3, 8) if backend == "openmp" else (1,):
                options = ["--on", backend, "--threads", threads]
                result = command.json_of("find", image, *map(str, options))
                stats = command.json_of("stats", image, *map(str, options))
                self.assertEqual(stats["clipped"], result["clipped"])
                found.add(json.dumps([result, stats]))
        self.assertEqual(len(found), 1, found)

    def test_the_number_of_threads_comes_from_omp_num_threads(self):
        if "openmp" not in command.backends():
            self.skipTest("needs the OpenMP backend")
        for options, environment, wanted in (
            ((), {"OMP_NUM_THREADS": "3"}, 3),
            ((), {"OMP_NUM_THREADS": "5000"}, 512),
            (("--threads", "2"), {"OMP_NUM_THREADS": "3"}, 2),
        ):
            info = command.json_of("info", "--on", "openmp", *options, env=environment)
            (openmp,) = [b for b in info["backends"] if b["name"] == "openmp"]
            self.assertEqual(openmp["concurrency"], wanted)

    def test_the_locale_changes_nothing(self):
        wanted = command.run("find", self.image, "--json").stdout
        for locale in ("de_DE.UTF-8", "fr_FR", "C.UTF-8"):
            self.assertEqual(
                command.run("find", self.image, "--json", env={"LC_ALL": locale}).stdout, wanted
            )

    def test_the_table_lists_the_brightest(self):
        done = command.run("find", self.image)
        self.assert_done(done)
        text = done.stdout.decode()
        catalogue = reference.measure(
            self.rows, reference.label(self.rows, 5 * reference.clip(self.rows)[3])
        )
        self.assertIn(f"{len(catalogue)} sources", text)
        self.assertIn("20 brightest by flux_sum", text)
        brightest = sorted(catalogue, key=lambda row: -row["flux_sum"])[:20]
        listed = [
            int(line.split()[0])
            for line in text.splitlines()
            if line.split()[:1] and line.split()[0].isdigit() and len(line.split()) == 6
        ]
        self.assertEqual(listed, [row["id"] for row in brightest])


class TestInput(AppTestCase):
    """What may be read, and from where."""

    def stats(self, path, *options, **how):
        return command.json_of("stats", path, *options, **how)

    def test_every_pixel_type(self):
        rows = [[0, 1, 2, 100], [3, 4, 5, 6], [7, 7, 7, 7]]
        for bitpix in (8, 16, 32, 64, -32, -64):
            cards = [("BSCALE", 0.5), ("BZERO", -10.0), ("BLANK", 100)] if bitpix > 0 else ()
            image = fits_files.write(self.folder / "image.fits", rows, bitpix=bitpix, cards=cards)
            found = self.stats(image)
            if bitpix > 0:
                self.assertEqual(
                    (found["blank"], found["all"]["max"], found["all"]["min"]), (1, -6.5, -10)
                )
            else:
                self.assertEqual(
                    (found["blank"], found["all"]["max"], found["all"]["median"]), (0, 100, 5.5)
                )

    def test_gzip_and_odd_names(self):
        content = fits_files.hdu([[1.0, 2.0], [3.0, 4.0]])
        for name in (
            "a b.fits",
            "quote'.fits",
            "no_ending",
            "b[1].fits",
            "-dash.fits",
            "ünï.fits",
            "semi;colon.fits",
            "percent%s.fits",
            "a,b.fits",
            "find",
            "x.fits(y)",
        ):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                found = self.stats("./" + name, cwd=self.folder)
                self.assertEqual((found["file"], found["all"]["mean"]), ("./" + name, 2.5))
        self.assertEqual(self.stats("find", cwd=self.folder)["all"]["mean"], 2.5)
        self.assertEqual(command.run("stats", "--", "-dash.fits", cwd=self.folder).returncode, 0)
        (self.folder / "image.fits.gz").write_bytes(gzip.compress(content))
        self.assertEqual(self.stats(self.folder / "image.fits.gz")["all"]["mean"], 2.5)

    def test_outputs_with_spaces(self):
        image = fits_files.write(self.folder / "my image.fits", [[1.0, 2.0], [3.0, 4.0]])
        folder = self.folder / "my results"
        folder.mkdir()
        self.assert_done(
            command.run("find", image, "-o", folder / "my out.csv", "-o", folder / "my out.FIT")
        )
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["my out.FIT", "my out.csv"])
        self.assert_done(command.run("label", image, "-o", folder / "my labels.fits"))

    def test_a_name_that_is_no_text(self):
        name = os.fsdecode(b"latin\xe9.fits")
        (self.folder / name).write_bytes(fits_files.hdu([[1.0, 2.0]] * 2))
        done = command.run("stats", self.folder / name, "--json")
        self.assert_done(done)
        self.assertIn("latin\ufffd.fits", json.loads(done.stdout)["file"])

    def test_axes_of_length_one_are_dropped_from_the_last(self):
        for axes, shape in (
            ((5, 4, 1), [4, 5]),
            ((5, 4, 1, 1), [4, 5]),
            ((1, 5, 1), [5, 1]),
            ((1, 1), [1, 1]),
            ((7, 1), [1, 7]),
            ((1, 7), [7, 1]),
            ((5, 1, 4), [4, 5]),
        ):
            with self.subTest(axes):
                count = math.prod(axes)
                image = fits_files.write(self.folder / "image.fits", list(range(count)), axes=axes)
                self.assertEqual(self.stats(image)["shape"], shape)

    def test_planes_of_a_cube(self):
        image = fits_files.write(self.folder / "cube.fits", list(range(60)), axes=(5, 4, 3))
        for plane in range(3):
            found = self.stats(image, "--plane", str(plane))
            self.assertEqual(found["all"]["min"], 20 * plane)
            self.assertEqual(found["shape"], [4, 5])

    def test_hdu_by_number_and_name(self):
        content = fits_files.hdu([], axes=())
        for value, name, version in ((1.0, "SCI", 1), (2.0, "ERR", 1), (3.0, "SCI", 2)):
            content += fits_files.hdu(
                [[value] * 3] * 2, extension=True, cards=[("EXTNAME", name), ("EXTVER", version)]
            )
        image = self.folder / "multi.fits"
        image.write_bytes(content)
        for hdu, mean, number in (
            (None, 1, 1),
            ("2", 2, 2),
            ("3", 3, 3),
            ("sci", 1, 1),
            ("SCI,2", 3, 3),
            ("Err", 2, 2),
            ("err,1", 2, 2),
        ):
            with self.subTest(hdu):
                found = self.stats(image, *(["--hdu", hdu] if hdu else []))
                self.assertEqual((found["all"]["mean"], found["hdu"]), (mean, number))
        listed = command.json_of("info", image)
        self.assertEqual([h["name"] for h in listed["hdus"]], [None, "SCI", "ERR", "SCI"])
        self.assertEqual([h["shape"] for h in listed["hdus"]], [[], [2, 3], [2, 3], [2, 3]])
        self.assertIn(b"SCI,2", command.run("info", image).stdout)


class TestSimulate(AppTestCase):
    def test_diracs(self):
        image = self.folder / "d.fits"
        self.assert_done(
            command.run(
                "simulate",
                "diracs",
                "-o",
                image,
                "--width",
                "40",
                "--height",
                "23",
                "--spacing",
                "16",
            )
        )
        cards, rows = fits_files.read_image(image)
        self.assertEqual(cards["BITPIX"], -64)
        wanted = [[float(y % 16 == 8 and x % 16 == 8) for x in range(40)] for y in range(23)]
        self.assertEqual([list(row) for row in rows], wanted)
        self.assertEqual(self.files(), ["d.fits"])

    def test_sky(self):
        image = self.folder / "sky.one.fits"
        done = command.run(
            "simulate", "sky", "-o", image, "--size", "300", "--type", "float64", "--seed", "7"
        )
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
        self.assertEqual(list(truth[0]), ["x", "y", "flux_peak", "flux_int", "fwhm"])
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

    def test_the_bright_sources_are_found(self):
        image, table = self.folder / "sky.fits", self.folder / "found.csv"
        self.assert_done(command.run("simulate", "sky", "-o", image, "--size", "600"))
        self.assert_done(command.run("find", image, "-o", table))
        found = reference.read_csv(table)
        with (self.folder / "sky_truth.csv").open(newline="") as file:
            truth = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        bright = [t for t in truth if t["flux_peak"] > 10 * 0.0133]
        self.assertTrue(bright)
        for t in bright:
            inside = [
                f
                for f in found
                if f["x_min"] - 1 <= t["x"] <= f["x_max"] + 1
                and f["y_min"] - 1 <= t["y"] <= f["y_max"] + 1
            ]
            self.assertTrue(inside, t)


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
        for mode in ("full", "same", "valid"):
            options = ["--kernel", kernel, "--mode", mode, "--method", "direct"]
            _, got = self.convolved(image, *options)
            want = reference.convolve(self.rows, self.KERNEL, mode)
            self.assertEqual([list(row) for row in got], want, mode)

    def test_same_is_the_default_mode(self):
        image, kernel = self.image(), self.kernel()
        _, got = self.convolved(image, "--kernel", kernel, "--method", "direct")
        self.assertEqual([list(row) for row in got], reference.convolve(self.rows, self.KERNEL, "same"))

    def test_scipy_agrees(self):
        try:
            import numpy
            import scipy.signal
        except ImportError:
            self.skipTest("SciPy is not installed")
        numbers = numpy.random.default_rng(5)
        shapes = [((40, 50), (15, 15)), ((33, 20), (4, 6)), ((5, 4), (15, 16)), ((1, 1), (3, 3))]
        for (shape, size), rank in itertools.product(shapes, (1, 2, 7, 15)):
            data = numbers.normal(size=shape)
            taps = numbers.normal(size=(size[0], rank)) @ numbers.normal(size=(rank, size[1]))
            image = self.image(rows=data.tolist())
            kernel = self.kernel(taps.tolist())
            scale = scipy.signal.convolve2d(abs(data), abs(taps))
            want = scipy.signal.convolve2d(data, taps)
            for method in ("automatic", "direct", "separable"):
                options = ["--kernel", kernel, "--mode", "full", "--method", method]
                _, got = self.convolved(image, *options)
                worst = (abs(numpy.array(got) - want) / scale).max()
                self.assertLess(worst, 1e-13, f"{shape} {size} rank {rank} {method}")
            for mode in ("same", "valid"):
                _, got = self.convolved(image, "--kernel", kernel, "--mode", mode)
                want = scipy.signal.convolve2d(data, taps, mode)
                self.assertEqual(numpy.array(got).shape, want.shape)
                self.assertLess(abs(numpy.array(got) - want).max(), 1e-12 * scale.max())

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

    def test_every_backend_writes_the_same_pixels(self):
        self.rows[2][2] = math.nan
        image, kernel = self.image(), self.kernel()
        for method in ("direct", "separable"):
            found = set()
            for backend in command.backends():
                target = self.folder / f"{backend}.fits"
                options = ["--kernel", kernel, "--method", method, "--on", backend, "--overwrite"]
                self.assert_done(command.run("convolve", image, "-o", target, *options))
                found.add(fits_files.read_hdus(target)[0][2])
            self.assertEqual(len(found), 1, method)

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

    def test_every_backend_and_number_of_threads_finds_the_same(self):
        for backend in command.backends():
            for threads in ("1", "3"):
                with self.subTest(backend=backend, threads=threads):
                    words = ["--upto", "20000", "--on", backend, "--threads", threads]
                    self.assertEqual(self.lines(*words), sieve(20000))


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
        (self.folder / "bin").mkdir()
        no_numpy = self.folder / "bin" / "python"
        no_numpy.write_text("#!/bin/sh\necho '{\"missing\": \"No module named numpy\"}'\n")
        no_numpy.chmod(0o755)
        for path, says in (
            (self.folder / "nosuch", "nosuch"),
            ("/bin/false", "exit code 1"),
            ("/bin/echo", "no answer"),
            (no_numpy, "No module named numpy"),
        ):
            with self.subTest(path):
                words = ["bench", "--size", "16", "--peers"]
                self.assert_refused(1, *words, "--python", path, says=[says, "KASTOR_PYTHON"])
                env = {"KASTOR_PYTHON": str(path)}
                self.assert_refused(1, *words, says=[says], env={**self.here, **env})
        no_numpy.unlink()
        (self.folder / "bin").rmdir()

    def test_peers_that_fail_on_the_way(self):
        (self.folder / "bin").mkdir()
        fake = self.folder / "bin" / "python"
        fake.write_text(
            "#!/bin/sh\n"
            'test "$3" = check && echo \'{"versions": [["Python", "0"]]}\' && exit\n'
            "eval \"$ANSWER\"\n"
        )
        fake.chmod(0o755)
        words = ["bench", "--size", "16", "--repeats", "1", "--on", "serial", "--peers"]
        for answer in ("true", "false", "echo nonsense", "echo {}", "kill -9 $$"):
            with self.subTest(answer):
                env = {**self.here, "KASTOR_PYTHON": str(fake), "ANSWER": answer}
                self.assert_refused(1, *words, env=env, says=["peers.py"])
        fake.unlink()
        (self.folder / "bin").rmdir()

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


class TestRealImages(AppTestCase):
    """Every image of expected.json, made with NumPy and SciPy in float64."""

    def rounding(self, entry):
        """Kastor scales 8- and 16-bit integers in float32, expected.json in float64."""
        scaled = entry["bscale"] not in (None, 1.0) or entry["bzero"] not in (None, 0.0, 32768.0)
        return 1e-6 if scaled and entry["bitpix"] > 0 else 0.0

    def setUp(self):
        super().setUp()
        self.data = command.test_data()
        if not (self.data / "expected.json").is_file():
            self.skipTest(
                f"no {self.data}/expected.json: set KASTOR_TEST_DATA to the folder of test images"
            )
        self.expected = json.loads((self.data / "expected.json").read_text())

    def assert_statistics(self, found, wanted, exact, std):
        for name in ("min", "max", "median"):
            self.assertAlmostEqual(found[name], wanted[name], delta=exact * std, msg=name)
        for name in ("mean", "std"):
            self.assertAlmostEqual(
                found[name], wanted[name], delta=max(exact, 1e-9) * std, msg=name
            )

    def assert_stats(self, path, hdu, entry):
        stats = command.json_of("stats", path, "--hdu", hdu)
        rounding, std = self.rounding(entry), entry["data"]["std"]
        self.assertEqual(stats["shape"], entry["shape"][-2:])
        self.assertEqual(stats["unit"], entry["bunit"])
        self.assertEqual(stats["pixels"] - stats["blank"], entry["data"]["n_finite"])
        self.assert_statistics(stats["all"], entry["data"], rounding, std)
        clipped, wanted = stats["clipped"], entry["clipped"]
        self.assert_statistics(clipped, wanted, rounding, wanted["std"])
        self.assertEqual(
            (clipped["kept"], clipped["passes"]), (wanted["n_remaining"], wanted["n_passes"])
        )
        self.assertEqual(clipped["degenerate"], wanted["degenerate"])
        return clipped

    def assert_segmentation(self, path, hdu, about, wanted, entry):
        table = self.folder / "out.csv"
        options = ["--hdu", hdu, "--about", about]
        found = command.json_of("find", path, *options, "-o", table, "--overwrite")
        tolerance = max(self.rounding(entry), 1e-9)
        self.assertAlmostEqual(
            found["threshold"], wanted["threshold"], delta=10 * tolerance * entry["data"]["std"]
        )
        self.assertEqual(
            (found["foreground_pixels"], found["sources"]), (wanted["n_mask"], wanted["n_labels_4"])
        )
        eight = command.json_of("find", path, *options, "--connectivity", "8")
        self.assertEqual(eight["sources"], wanted["n_labels_8"])
        catalogue = reference.read_csv(table)
        self.assertEqual(found["catalogue_hash"], reference.catalogue_hash(catalogue))
        self.assertEqual(
            max((row["n_pix"] for row in catalogue), default=0), wanted["largest_component_px"]
        )
        for source in wanted["top10_flux"]:
            row = catalogue[source["label"] - 1]
            self.assertEqual(row["n_pix"], source["n_pixels"])
            self.assertAlmostEqual(
                row["flux_sum"], source["flux"], delta=tolerance * abs(source["flux"])
            )
            for name, centre in zip(("y_cen", "x_cen"), source["centre_row_col"]):
                self.assertAlmostEqual(row[name], centre, delta=1e3 * tolerance)
        return found["clipped"]

    def test_the_expected_numbers(self):
        for key, entry in self.expected.items():
            if "clipped" not in entry:
                continue
            name, hdu = key[:-1].split("[")
            if not (self.data / name).is_file():
                continue
            with self.subTest(key):
                path = self.data / name
                clipped = self.assert_stats(path, hdu, entry)
                for about, part in (
                    ("zero", "segmentation"),
                    ("median", "segmentation_about_median"),
                ):
                    again = self.assert_segmentation(path, hdu, about, entry[part], entry)
                    self.assertEqual(again, clipped)

    def test_what_is_no_image_is_refused(self):
        for key, entry in self.expected.items():
            if "skipped" not in entry:
                continue
            name, hdu = key[:-1].split("[")
            if (self.data / name).is_file():
                with self.subTest(key):
                    self.assert_refused(
                        1, "stats", self.data / name, "--hdu", hdu, says=[f"{name}[{hdu}]"]
                    )

    def test_a_stray_block_behind_the_data_is_ignored(self):
        path = self.data / "midas_nttexample_trailing_block.fits"
        if not path.is_file():
            self.skipTest(f"no {path}")
        found = command.json_of("stats", path)
        self.assertEqual((found["hdu"], found["shape"]), (0, [1024, 1124]))

    def test_whole_file_compression_changes_nothing(self):
        plain, packed = self.data / "ctio_tpv.fits", self.data / "ctio_tpv.fits.gz"
        if not (plain.is_file() and packed.is_file()):
            self.skipTest(f"no {packed}")
        one, two = command.json_of("find", plain), command.json_of("find", packed)
        self.assertEqual(one["catalogue_hash"], two["catalogue_hash"])


BLANK = (150, 170, 200)

SOURCES = """id,x_cen,y_cen,x_min,x_max,y_min,y_max,colour
7,15,50,6,24,46,54,red
8,nan,nan,40,44,10,14,blue
"""

WCS = [
    ("CTYPE1", "RA---TAN"),
    ("CTYPE2", "DEC--TAN"),
    ("CRVAL1", 266.4),
    ("CRVAL2", -29.0),
    ("CRPIX1", 32.0),
    ("CRPIX2", 32.0),
    ("CDELT1", -0.01),
    ("CDELT2", 0.01),
]


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
        _, flipped = self.view(
            image, "--axes", "none", "--size", "3", "--colour-map", "grey", "--flip"
        )
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
        rows = ["1,1e300,-1e300,0,1,0,1", f"2,5,5,{-(2**63)},{2**63 - 1},0,1", "3,inf,5,9,3,5,2"]
        catalogue = self.sources("id,x_cen,y_cen,x_min,x_max,y_min,y_max\n" + "\n".join(rows))
        self.data(image, "--catalogue", catalogue, "--labels")

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

    def test_the_picture_of_find_is_one_of_its_outputs(self):
        image = self.flat(1.0)
        old = self.folder / "old.png"
        old.write_bytes(b"old")
        table = self.folder / "a.csv"
        self.assert_refused(
            1, "find", image, "-o", table, "--picture", old, says=["old.png", "--overwrite"]
        )
        self.assert_refused(
            1,
            *["find", image, "-o", table, "--picture", self.folder / "a.png"],
            env={"KASTOR_FONT": "/no/such.ttf"},
            says=["/no/such.ttf", "fonts-dejavu-core"],
        )
        self.assert_refused(2, "find", image, "-o", table, "--picture", self.folder / "a.gif")
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
        image = self.flat(cards=WCS)
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
        broken = [(k, 0.0 if k.startswith("CDELT") else v) for k, v in WCS]
        self.assert_refused(1, "view", self.flat(cards=broken), *words, says=["flat.fits[0]"])

    def test_images_of_any_shape(self):
        for nx, ny in ((1, 1), (1, 300), (2000, 1), (3, 1500)):
            with self.subTest((nx, ny)):
                values = [[float(x + y) for x in range(nx)] for y in range(ny)]
                image = fits_files.write(self.folder / "image.fits", values)
                self.data(image, "--size", "256")
                _, rows = self.view(image, "--size", "256", "--axes", "none")
                self.assertTrue(24 <= len(rows) <= 256 and 24 <= len(rows[0]) <= 256)

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


class TestCompare(AppTestCase):
    """Catalogues against the truth, themselves, and those of other programs."""

    def table(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_a_catalogue_with_itself(self):
        image = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "512", "-o", image))
        truth, found = self.folder / "sky_truth.csv", self.folder / "found.fits"
        self.assert_done(command.run("find", image, "-o", found, "--quiet"))
        for path in (truth, found):
            json = command.json_of("compare", path, path, "--pixels", "0.5")
            self.assertEqual((json["completeness"], json["reliability"]), (1, 1))
            self.assertEqual((json["missed"], json["extra"]), (0, 0))
            self.assertEqual(json["offset"]["x"], {"median": 0, "sigma": 0})
            self.assertEqual(json["flux_ratio"]["flux_peak"]["median"], 1)
            self.assertEqual(json["matched"], json["catalogue1"]["rows"])

    def test_the_truth_of_a_sky(self):
        image = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "1024", "-o", image))
        truth, found = self.folder / "sky_truth.csv", self.folder / "found.csv"
        self.assert_done(command.run("find", image, "--connectivity", "8", "-o", found, "--quiet"))
        json = command.json_of("compare", truth, found, "--min-flux1", "0.1")
        self.assertEqual(json["frame"], "pixels")
        self.assertEqual(json["radius_from"], "sizes of catalogue 1")
        self.assertGreaterEqual(json["completeness"], 0.9)
        self.assertLess(abs(json["offset"]["x"]["median"]), 0.2)
        self.assertLess(abs(json["flux_ratio"]["flux_peak"]["median"] - 1), 0.1)
        # A sum of pixels is no flux density.
        self.assertIsNone(json["flux_ratio"]["flux_int"])
        self.assertIsNone(json["flux_ratio"]["flux_sum"])
        for key, side in (("completeness", "1"), ("reliability", "2")):
            bins = json[key + "_bins"]["bins"]
            self.assertEqual(sum(b["matched"] for b in bins), json["matched"])
            selected = json["catalogue" + side]["selected"]
            self.assertEqual(sum(b["sources"] for b in bins), selected)
            for one, next_one in zip(bins, bins[1:]):
                self.assertEqual(one["high"], next_one["low"])
        text = command.run("compare", truth, found).stdout.decode()
        for words in ("completeness", "reliability", "pixel", "median", "brightest"):
            self.assertIn(words, text)

    def test_the_same_output_on_every_backend(self):
        first = self.table("a.csv", "ra,dec,flux_peak\n10,5,1\n20,6,2\n")
        second = self.table("b.csv", "ra,dec,flux_peak\n10.0001,5,1\n20,6,3\n")
        outputs = {
            command.run("compare", first, second, "--json", "--on", name).stdout
            for name in command.backends()
        }
        self.assertEqual(len(outputs), 1)

    def test_columns_by_name(self):
        first = self.table("a.csv", "u,v,s\n11,21,4\n")
        second = self.table("b.csv", "x,y,flux_peak\n10,20,8\n")
        self.assert_refused(1, "compare", first, second, says=["a.csv: no columns of positions"])
        json = command.json_of(
            "compare", first, second, "--columns1", "x=u,y=v,flux_peak=S,origin=1"
        )
        self.assertEqual(json["offset"]["separation"]["median"], 0)
        self.assertEqual(json["flux_ratio"]["flux_peak"]["median"], 2)
        self.assertEqual(json["catalogue1"]["columns"]["flux_peak"]["column"], "s")
        says = ["a.csv: there is no column 'w' for y"]
        self.assert_refused(1, "compare", first, second, "--columns1", "x=u,y=w", says=says)

    def test_positions_that_are_none_are_counted(self):
        first = self.table("a.csv", "ra,dec\n10,5\nnan,5\n,\n")
        json = command.json_of("compare", first, first)
        self.assertEqual(json["catalogue1"]["rows"], 3)
        self.assertEqual(json["catalogue1"]["without_position"], 2)
        self.assertEqual(json["completeness"], 1)
        self.assertIn(
            b"3 rows, 2 without a position", command.run("compare", first, first).stdout
        )

    def test_an_empty_catalogue(self):
        empty = self.table("a.csv", "ra,dec\n")
        some = self.table("b.csv", "ra,dec\n10,5\n")
        json = command.json_of("compare", empty, some)
        self.assertEqual((json["completeness"], json["reliability"]), (None, 0))
        self.assertEqual((json["radius"], json["radius_from"]), (5, "default"))
        json = command.json_of("compare", some, empty)
        self.assertEqual((json["completeness"], json["reliability"]), (0, None))
        self.assertEqual(json["brightest_missed"][0]["ra"], 10)
        self.assert_done(command.run("compare", empty, empty))

    def test_what_is_no_catalogue(self):
        good = self.table("a.csv", "ra,dec\n10,5\n")
        pixels = self.table("p.csv", "x,y\n10,5\n")
        image = fits_files.write(self.folder / "image.fits", IMAGE)
        page = self.table("page.vot", "<html></html>")
        broken = self.table("b.csv", "ra,dec\n10,5\n1O,5\n")
        for words, says in (
            ([good, self.folder / "nosuch.csv"], "nosuch.csv: no such file; expected"),
            ([good, self.folder], "is not a regular file; expected"),
            ([image, good], "image.fits: no table was found; expected"),
            ([good, page], "page.vot: has no element VOTABLE; expected"),
            ([good, broken], "b.csv: line 3: ra is '1O'; expected a number"),
            ([good, pixels], "of two kinds; expected"),
            ([good, good, "--pixels", "1"], "no positions in pixels; expected"),
            ([good, good, "--min-flux2", "1"], "no column of fluxes; expected"),
            ([good, good, "--min-snr1", "1"], "no column of S/N"),
        ):
            with self.subTest(says):
                self.assert_refused(1, "compare", *words, says=[says])

    def test_the_matched_pairs_are_written(self):
        first = self.table("a.csv", "id,ra,dec,flux_peak\nA,10,5,1\nB,20,5,2\nC,30,5,3\n")
        second = self.table("b.csv", "ra,dec,flux_peak\n30,5.0001,6\n10,5,0.5\n")
        matches = self.folder / "matches.csv"
        self.assert_done(command.run("compare", first, second, "-o", matches))
        rows = list(csv.DictReader(matches.read_text().splitlines()))
        self.assertEqual([(r["row1"], r["id1"], r["row2"]) for r in rows],
                         [("0", "A", "1"), ("2", "C", "0")])
        self.assertAlmostEqual(float(rows[1]["separation"]), 0.36, places=6)
        self.assertAlmostEqual(float(rows[1]["d_dec"]), 0.36, places=6)
        self.assertEqual(float(rows[1]["flux_peak2"]), 6)
        # They are a catalogue, too.
        names = "ra=ra1,dec=dec1,flux_peak=flux_peak1"
        for ending in ("fits", "vot", "ecsv"):
            path = self.folder / ("matches." + ending)
            self.assert_done(command.run("compare", first, second, "-o", path))
            json = command.json_of("compare", path, first, "--columns1", names)
            self.assertEqual(json["matched"], 2, ending)
        self.assert_refused(1, "compare", first, second, "-o", matches, says=["exists"])
        self.assert_refused(1, "compare", first, second, "-o", second, "--overwrite")
        self.assert_done(command.run("compare", first, second, "-o", matches, "--overwrite"))
        with open("/dev/full", "wb") as full:
            new = self.folder / "new.csv"
            self.assert_refused(1, "compare", first, second, "-o", new, stdout=full)

    def test_catalogues_of_aegean_and_pybdsf(self):
        folder = command.test_data() / "reference" / "peers_run"
        if not folder.is_dir():
            self.skipTest(f"{folder} is not there")
        for field, pairs in (("sumss_J2248M36", 450), ("sumss_J2306M36", 420)):
            aegean, pybdsf = (folder / f"{field}_{name}.csv" for name in ("aegean", "pybdsf"))
            with self.subTest(field):
                json = command.json_of("compare", aegean, pybdsf)
                self.assertEqual(json["frame"], "sky")
                self.assertGreater(json["matched"], pairs)
                self.assertLess(abs(json["offset"]["ra_cos_dec"]["median"]), 0.3)
                self.assertLess(abs(json["offset"]["dec"]["median"]), 0.3)
                self.assertLess(abs(json["flux_ratio"]["flux_peak"]["median"] - 1), 0.02)
                self.assertLess(abs(json["flux_ratio"]["flux_int"]["median"] - 1), 0.05)
                back = command.json_of("compare", pybdsf, aegean, "--radius", str(json["radius"]))
                self.assertEqual(back["matched"], json["matched"])
                self.assertEqual(back["completeness"], json["reliability"])
                self.assertEqual(command.json_of("compare", aegean, aegean)["completeness"], 1)


WCS_CARDS = [
    ("CTYPE1", "RA---SIN"),
    ("CTYPE2", "DEC--SIN"),
    ("CRPIX1", 40.5),
    ("CRPIX2", 30.0),
    ("CRVAL1", 266.5),
    ("CRVAL2", -29.0),
    ("CDELT1", -0.001),
    ("CDELT2", 0.001),
    ("RADESYS", "FK5"),
    ("EQUINOX", 2000.0),
]
BEAM_CARDS = [("BMAJ", 0.004), ("BMIN", 0.003), ("BPA", 30.0)]

#: Options of the presets but the lesson's, with a value that is right.
ISLAND_OPTIONS = [
    "--seed 5",
    "--flood 3",
    "--negative",
    "--drop-at-edge",
    "--min-beams 1",
    "--mask zeros.fits",
    "--box 0,60,0,60",
    "--beam 12,10,30",
    "--cell 32",
    "--estimate mode",
    "--filter 1",
    "--interpolation bilinear",
    "--background 0",
    "--rms 1",
    "--background-map out.fits",
    "--rms-map out.fits",
    "--snr-map out.fits",
    "--residual out.fits",
]

ISLAND_MAPS = {
    "--background-map": "b.fits",
    "--rms-map": "r.fits",
    "--snr-map": "s.fits",
    "--residual": "d.fits",
    "--labels": "l.fits",
}
ISLAND_TABLES = "a.csv a.ecsv a.fits a.vot a.reg a.crtf".split()

WRONG_VALUES = """
    --seed|nan; --seed|-1; --seed|inf; --seed|five;
    --flood|nan; --flood|-1; --flood|;
    --min-beams|-1; --min-beams|nan;
    --cell|0; --cell|-4; --cell|3x; --cell|x3; --cell|3x4x5; --cell|2.5; --cell|; --cell|2147483648;
    --cell|32x0; --cell|nan;
    --box|1,2,3; --box|1,2,3,4,5; --box|5,2,3,4; --box|2,5,4,3; --box|-1,2,3,4; --box|a,2,3,4;
    --box|; --box|0.5,2,3,4; --box|,,,;
    --beam|3; --beam|3,4; --beam|0,0; --beam|x,4; --beam|3,3,nan; --beam|4,3,30,1;
    --beam|; --beam|-3,-4;
    --filter|0; --filter|2; --filter|-1; --filter|1001; --filter|1.5; --filter|three;
    --estimate|mean; --interpolation|cubic;
    --background|nan; --background|inf; --background|1e999; --background|; --background|1e;
    --rms|0; --rms|-1; --rms|nan; --rms|-inf; --rms|; --rms|1e-999;
    --background-map|a.csv; --rms-map|a; --snr-map|a.png; --residual|a.fits.gz; --labels|a.csv
"""


def island_sky(ny=64, nx=80, seed=5, noise=0.1, level=0.5):
    """float32 noise over a level, blobs of both signs, some on the border, blank pixels."""
    random_numbers = random.Random(seed)
    rows = [[random_numbers.gauss(level, noise) for _ in range(nx)] for _ in range(ny)]
    for number, (y0, x0) in enumerate(itertools.product(range(0, ny, 12), range(4, nx, 14))):
        height = noise * (6 + 3 * (number % 7)) * (-1 if number % 3 == 2 else 1)
        width = 0.8 + 0.2 * (number % 4)
        for y in range(max(0, y0 - 5), min(ny, y0 + 6)):
            for x in range(max(0, x0 - 5), min(nx, x0 + 6)):
                rows[y][x] += height * math.exp(
                    -((x - x0) ** 2 + (y - y0 - 0.3) ** 2) / (2 * width**2)
                )
    for _ in range(9):
        rows[random_numbers.randrange(ny)][random_numbers.randrange(nx)] = random_numbers.choice(
            [math.nan, math.inf, -math.inf]
        )
    return [[reference.as_float32(v) for v in row] for row in rows]


def constant(ny, nx, value):
    return [[value] * nx for _ in range(ny)]


class IslandTestCase(AppTestCase):
    """Each test has a sky with coordinates and a beam, `self.image`, of `self.rows`."""

    def setUp(self):
        super().setUp()
        self.rows = island_sky()
        self.ny, self.nx = len(self.rows), len(self.rows[0])
        self.image = self.write("sky.fits", self.rows)

    def write(self, name, rows, bitpix=-32, cards=None):
        if cards is None:
            cards = [*WCS_CARDS, *BEAM_CARDS, ("BUNIT", "JY/BEAM"), ("OBJECT", "NOISE")]
        return fits_files.write(self.folder / name, rows, bitpix, cards=cards)

    def find(self, *options, image=None, preset="radio"):
        return command.json_of("find", image or self.image, "--preset", preset, *options)

    def refuse(self, code, *options, says=(), image=None, preset="radio"):
        words = ["find", image or self.image, "--preset", preset, *options]
        return self.assert_refused(code, *words, says=says, cwd=self.folder)

    def pixels(self, name):
        return [list(row) for row in fits_files.read_image(self.folder / name)[1]]


class TestPresets(IslandTestCase):
    """What the presets of find take, and what they refuse."""

    def test_options_of_another_preset(self):
        zeros = constant(self.ny, self.nx, 0)
        fits_files.write(self.folder / "zeros.fits", zeros, bitpix=16)
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
        for case in WRONG_VALUES.replace("\n", " ").split(";"):
            name, value = case.strip().split("|")
            with self.subTest(name, value=value):
                complaint = self.refuse(2, name, value, says=[f"kastor: {name}: ", f"'{value}'"])
                self.assertIn("expected" if "-map" not in name else "ending", complaint)

    def test_presets_that_are_none(self):
        for word in ("aips", "", "RADIO", "radio,sextractor"):
            says = [f"--preset: found '{word}'", "lesson or radio or sextractor"]
            self.assert_refused(2, "find", self.image, "--preset", word, says=says)
        self.refuse(2, "--preset", "radio", says=["--preset", "more than once"])

    def test_an_option_is_given_once(self):
        for option in ISLAND_OPTIONS:
            with self.subTest(option):
                self.refuse(2, *option.split(), *option.split(), says=[option.split()[0]])

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
        self.assertEqual((found["seed"], found["flood"]), (1.5, 1.5))

    def test_the_presets_are_their_documented_values(self):
        for preset, other, spelled in (
            (
                "radio",
                "sextractor",
                "--seed 5 --flood 3 --connectivity 8 --min-pixels 1 --kappa 3 --max-passes 0 "
                "--estimate median --filter 3 --interpolation bicubic --cell 69",
            ),
            (
                "sextractor",
                "radio",
                "--seed 1.5 --flood 1.5 --connectivity 8 --min-pixels 5 --kappa 3 --max-passes 0 "
                "--estimate mode --filter 3 --interpolation bicubic --cell 64",
            ),
        ):
            found, wanted = self.find(preset=preset), self.find(*spelled.split(), preset=other)
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
        rows = [
            [v if 10 <= x <= 60 and 5 <= y <= 50 else math.nan for x, v in enumerate(row)]
            for y, row in enumerate(self.rows)
        ]
        self.assert_islands(["--box", "10,60,5,50", "--negative"], rows, negative=True)

    def test_a_mask(self):
        # 0 is used; all else is not, a blank pixel included.
        values = [0.0, 0.0, 0.0, 1.0, math.nan, -2.0, 0.0, 0.0, -0.0, 0.0, 0.0]
        mask = [[values[(x // 3 + y // 4) % 11] for x in range(self.nx)] for y in range(self.ny)]
        rows = [
            [v if m == 0 else math.nan for v, m in zip(*both)] for both in zip(self.rows, mask)
        ]
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
                done = command.run(
                    *words, "--on", backend, "--threads", str(threads), cwd=folder
                )
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
        for name, start in (
            ("a.ecsv", "# %ECSV 1.0"),
            ("a.vot", "<?xml"),
            ("a.crtf", "#CRTFv0"),
            ("a.reg", "# Region"),
        ):
            self.assertTrue((self.folder / name).read_text().startswith(start), name)
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
        for words in (
            ["--labels", "nosuch/l.fits"],
            ["-o", "nosuch/a.csv"],
            ["-o", "a.txt"],
            ["--mask", "missing.fits"],
            ["--box", "0,1000,0,5"],
        ):
            with self.subTest(words):
                kept = outputs if "--labels" not in words else outputs[: outputs.index("--labels")]
                code = 2 if words[1] == "a.txt" else 1
                self.refuse(code, *kept, *words)
        for name in ("r.fits", "a.reg"):
            (self.folder / name).write_text("mine")
            self.refuse(1, *outputs, says=[name, "--overwrite"])
            self.assertEqual((self.folder / name).read_text(), "mine")
            (self.folder / name).unlink()
        self.assertEqual(self.files(), before)

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        with small_disk(disk, self):
            maps = ["--snr-map", disk / "s.fits", "--labels", disk / "l.fits"]
            for last in ("--residual", "--rms-map", "--background-map"):
                self.refuse(1, "-o", disk / "a.csv", *maps, last, disk / "d.fits")
            # Two of them would fit.
            self.assert_done(command.run("find", self.image, "--preset", "radio", *maps))

    def test_a_full_stdout_is_a_failure(self):
        for words in ([], ["--json"], self.all_outputs(), [*self.all_outputs(), "--json"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                self.assert_refused(
                    1,
                    "find",
                    "sky.fits",
                    "--preset",
                    "radio",
                    *words,
                    stdout=full,
                    cwd=self.folder,
                    says=["standard output"],
                )

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
            f"{found['sources']} islands with a pixel above 5 and all above 3 times the noise, "
            f"8-connected; {found['dropped']} dropped",
            f"{found['negative']} islands as far below the background",
            'beam 14.4" x 10.8" at 30 deg',
            "69 x 69 pixels",
            "20 brightest peaks",
            "flux_int [Jy]",
        ):
            self.assertIn(words, text)
        listed = [line.split() for line in text.splitlines() if line.split()[:1]]
        listed = [row for row in listed if row[0].isdigit() and len(row) == 8]
        self.assertEqual(len(listed), min(20, found["sources"] + found["negative"]))
        peaks = [abs(float(row[3])) for row in listed]
        self.assertEqual(peaks, sorted(peaks, reverse=True))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 110, line)

    def test_the_json(self):
        done = command.run("find", self.image, "--preset", "radio", "--json")
        self.assert_done(done)
        (line,) = done.stdout.decode().splitlines()
        found = json.loads(line)
        self.assertEqual(
            list(found),
            "file hdu preset seed flood connectivity background beam sources negative dropped "
            "foreground_pixels catalogue_hash notes".split(),
        )
        self.assertEqual(
            list(found["background"]), "given given_rms level rms cell cells filled".split()
        )
        self.assertEqual(
            list(found["beam"]), "major_arcsec minor_arcsec position_angle_deg".split()
        )
        self.assertEqual((found["file"], found["hdu"]), (str(self.image), 0))
        self.assertEqual(found["preset"], "radio")
        self.assertEqual(found["connectivity"], 8)
        self.assertIsNone(found["negative"])
        self.assertEqual(found["background"]["cells"], 2)
        self.assertEqual(found["background"]["filled"], 0)
        self.assertIsNone(found["background"]["given"])
        self.assertAlmostEqual(found["background"]["level"], 0.5, delta=0.02)
        self.assertAlmostEqual(found["background"]["rms"], 0.1, delta=0.02)
        self.assertAlmostEqual(found["beam"]["major_arcsec"], 14.4, delta=1e-12)
        self.assertAlmostEqual(found["beam"]["minor_arcsec"], 10.8, delta=1e-12)
        self.assertRegex(found["catalogue_hash"], "^[0-9a-f]{64}$")
        self.assertEqual(found["notes"], [])

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

    def test_the_locale_changes_nothing(self):
        words = ["find", self.image, "--preset", "radio", "--json"]
        wanted = command.run(*words).stdout
        for locale in ("de_DE.UTF-8", "fr_FR", "C.UTF-8"):
            self.assertEqual(command.run(*words, env={"LC_ALL": locale}).stdout, wanted)

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
        again = self.find(
            "--negative",
            "--background",
            self.folder / "b.fits",
            "--rms",
            self.folder / "r.fits",
            image=image,
        )
        self.assertEqual(again["catalogue_hash"], found["catalogue_hash"])

    def test_the_labels_of_the_lesson(self):
        for options in ((), ("--level", "0.8"), ("--threshold", "3", "--about", "median",
                         "--connectivity", "8", "--min-pixels", "3")):
            with self.subTest(options):
                found = command.json_of(
                    "find", self.image, *options, "--labels", self.folder / "f.fits", "--overwrite"
                )
                wanted = command.json_of(
                    "label", self.image, *options, "-o", self.folder / "l.fits", "--overwrite"
                )
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


class TestManyImages(AppTestCase):
    """Many images in one run: the same catalogues, in order, whatever becomes of the others."""

    PRESETS = ((), ("--preset", "radio"), ("--preset", "sextractor"))
    BEAM = [("BMAJ", 0.01), ("BMIN", 0.01), ("BUNIT", "JY/BEAM")]

    @classmethod
    def setUpClass(cls):
        # Two shapes and two types, mixed.
        cls.skies = {}
        for i in range(6):
            rows = noisy_sky(*((70, 81), (64, 96))[i % 2], seed=i)
            bitpix = -64 if i == 3 else -32
            cls.skies[f"sky{i}.fits"] = fits_files.hdu(rows, bitpix=bitpix, cards=cls.BEAM)
        cls.names = list(cls.skies)

    def setUp(self):
        super().setUp()
        for name, content in self.skies.items():
            (self.folder / name).write_bytes(content)

    def find(self, *words):
        return command.run("find", *words, cwd=self.folder)

    def files_below(self, folder):
        return sorted(p.name for p in (self.folder / folder).iterdir())

    def test_the_catalogues_are_those_of_single_runs(self):
        formats = ("fits", "csv", "ecsv", "vot", "reg", "crtf")
        wanted = [word for each in formats for word in ("--format", each)]
        for preset in self.PRESETS:
            with self.subTest(preset):
                done = self.find(*self.names, *preset, "-o", "out/", *wanted, "--overwrite")
                self.assert_done(done)
                self.assertEqual(len(self.files_below("out")), 6 * len(self.names))
                for name in self.names[2:5]:
                    stem = name.removesuffix(".fits")
                    outputs = [word for f in formats for word in ("-o", f"one.{f}")]
                    self.assert_done(self.find(name, *preset, *outputs, "--overwrite"))
                    for each in formats:
                        self.assertEqual(
                            (self.folder / "out" / f"{stem}.{each}").read_bytes(),
                            (self.folder / f"one.{each}").read_bytes(),
                            f"{stem}.{each}",
                        )

    def test_json_is_one_line_an_image_in_order(self):
        (self.folder / "bad.fits").write_text("no image")
        names = [*self.names[:2], "bad.fits", *self.names[2:], "nosuch.fits"]
        for preset in self.PRESETS:
            with self.subTest(preset):
                done = self.find(*names, *preset, "--json")
                self.assertEqual(done.returncode, 1)
                lines = done.stdout.decode().splitlines(keepends=True)
                self.assertEqual([json.loads(line)["file"] for line in lines], names)
                for name, line in zip(names, lines):
                    if name in self.names[2:4]:
                        alone = self.find(name, *preset, "--json")
                        self.assertEqual(line, alone.stdout.decode())
                errors = done.stderr.decode().splitlines()
                self.assertEqual(len(errors), 3, errors)
                for name, complaint in (("bad.fits", errors[0]), ("nosuch.fits", errors[1])):
                    alone = self.find(name, *preset)
                    self.assertEqual(complaint, alone.stderr.decode().rstrip("\n"))
                    found = json.loads(lines[names.index(name)])
                    self.assertEqual(list(found), ["file", "error"])
                    self.assertEqual(complaint, "kastor: " + found["error"])
                self.assertIn("2 of 8 images failed", errors[2])

    def test_a_failure_leaves_the_others(self):
        fits_files.write(self.folder / "blank.fits", [[math.nan] * 70] * 70)
        (self.folder / "short.fits").write_bytes((self.folder / "sky0.fits").read_bytes()[:5000])
        names = ["blank.fits", "sky0.fits", "short.fits", "sky1.fits"]
        for preset in self.PRESETS:
            with self.subTest(preset):
                done = self.find(*names, *preset, "-o", "out/", "--overwrite")
                self.assertEqual(done.returncode, 1)
                self.assertEqual(self.files_below("out"), ["sky0.fits", "sky1.fits"])
                errors = done.stderr.decode().splitlines()
                self.assertEqual(len(errors), 4, errors)
                self.assertTrue(errors[0].startswith("kastor: blank.fits[0]: "), errors)
                self.assertTrue(errors[1].startswith("kastor: short.fits[0]: "), errors)
                self.assertIn("wrote the catalogues of 2 images to out/", errors[2])
                self.assertIn("2 of 4 images failed", errors[3])
                rows = done.stdout.decode().splitlines()[-4:]
                self.assertEqual([row.split()[-1] for row in rows], names)
                self.assertEqual([row.split()[0] == "failed" for row in rows], [1, 0, 1, 0])

    def test_the_table(self):
        done = self.find(*self.names)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(len(self.files()), len(self.names))
        lines = done.stdout.decode().splitlines()
        self.assertTrue(lines[0].startswith("6 images, "), lines[0])
        self.assertEqual(lines[1], "threshold in JY/BEAM")
        self.assertEqual(lines[3].split(), ["sources", "threshold", "seconds", "image"])
        for name, row in zip(self.names, lines[4:]):
            sources, threshold, seconds, image = row.split()
            alone = command.json_of("find", name, cwd=self.folder)
            self.assertEqual((int(sources), image), (alone["sources"], name))
            self.assertAlmostEqual(float(threshold), alone["threshold"], delta=1e-6)
            self.assertGreater(float(seconds), 0)
        noise = self.find(*self.names, "--preset", "radio").stdout.decode().splitlines()
        self.assertEqual(noise[3].split(), ["sources", "noise", "seconds", "image"])
        self.assertEqual(self.find(*self.names, "-o", "out/", "--quiet").stdout, b"")

    def test_lists(self):
        (self.folder / "list.txt").write_bytes(b"# mine\n\nsky0.fits\r\n  \nsky1.fits\n")
        done = self.find("@list.txt", "sky2.fits", "--json")
        self.assert_done(done)
        found = [json.loads(line)["file"] for line in done.stdout.splitlines()]
        self.assertEqual(found, ["sky0.fits", "sky1.fits", "sky2.fits"])
        (self.folder / "none.txt").write_text("# nothing\n")
        os.mkfifo(self.folder / "fifo")
        for name in ("none.txt", "nosuch.txt", "fifo", "."):
            self.assert_refused(1, "find", f"@{name}", cwd=self.folder, says=["one name a line"])
        os.rename(self.folder / "sky0.fits", self.folder / "@sky0.fits")
        self.assert_done(self.find("./@sky0.fits", "--json"))

    def test_names_are_literal(self):
        names = ["[a]", "b,c.fits", " d ", "[e,f]", "*.fits", "-g.fits"]
        for name in names:
            (self.folder / name).write_bytes(self.skies["sky0.fits"])
        done = self.find(names[0], "--json", *names[1:5], "--", names[5])
        self.assert_done(done)
        self.assertEqual([json.loads(line)["file"] for line in done.stdout.splitlines()], names)
        for name in names[:5]:
            self.assertEqual(command.json_of("find", name, cwd=self.folder)["file"], name)

    def test_one_image_into_a_folder(self):
        self.assert_done(self.find("sky0.fits", "-o", "a/b/c/"))
        self.assertEqual(self.files_below("a/b/c"), ["sky0.fits"])
        (self.folder / "there").mkdir()
        self.assert_done(self.find("sky0.fits", "-o", "there", "--format", "csv"))
        self.assertEqual(self.files_below("there"), ["sky0.csv"])

    def test_endings_of_names(self):
        for name in ("a.FITS", "b.fit", "c.fts", "d.img"):
            (self.folder / name).write_bytes((self.folder / "sky0.fits").read_bytes())
        packed = self.folder / "e.fits.gz"
        packed.write_bytes(gzip.compress((self.folder / "sky0.fits").read_bytes()))
        self.assert_done(self.find("a.FITS", "b.fit", "c.fts", "d.img", packed, "-o", "out/"))
        wanted = ["a.fits", "b.fits", "c.fits", "d.img.fits", "e.fits"]
        self.assertEqual(self.files_below("out"), wanted)

    def test_equal_stems_are_refused_before_any_work(self):
        (self.folder / "x").mkdir()
        (self.folder / "x" / "sky0.fit").write_text("never read")
        for other in ("x/sky0.fit", "sky0.fits", "./sky0.fits"):
            self.assert_refused(
                2, "find", "sky0.fits", other, "-o", "out/", cwd=self.folder, says=["sky0", other]
            )

    def test_what_exists_is_not_replaced_unasked(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / "sky1.fits").write_text("mine")
        many = ["find", *self.names, "-o", "out/"]
        self.assert_refused(1, *many, cwd=self.folder, says=["out/sky1.fits", "--overwrite"])
        self.assert_refused(1, "find", *self.names, "-o", ".", "--overwrite", cwd=self.folder)
        (self.folder / "file").write_text("mine")
        self.assert_refused(1, "find", *self.names, "-o", "file/", cwd=self.folder)
        self.assert_refused(1, "find", *self.names, "-o", "file/out/", cwd=self.folder)
        self.assert_done(command.run(*many, "--overwrite", cwd=self.folder))
        self.assertEqual(len(self.files_below("out")), 6)

    def test_no_folder_is_left_empty(self):
        self.assertEqual(self.find("nosuch.fits", "-o", "out/").returncode, 1)
        self.assertFalse((self.folder / "out").exists())

    def test_resume(self):
        formats = [["fits"], ["ecsv"], ["vot"], ["reg"], ["crtf"], ["csv", "fits"]]
        for preset, kinds in [((), kinds) for kinds in formats] + [(self.PRESETS[1], ["fits"])]:
            with self.subTest(preset=preset, kinds=kinds):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                words = [*preset, "-o", "out/", *(w for k in kinds for w in ("--format", k))]
                self.assert_done(self.find(*self.names[:4], *words))
                before = self.stamps()
                done = self.find(*self.names, *words, "--resume", "--json")
                self.assert_done(done)
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([line.get("up_to_date", False) for line in lines], [1] * 4 + [0] * 2)
                after = self.stamps()
                self.assertEqual(len(after), 6 * len(kinds))
                self.assertEqual({k: v for k, v in after.items() if k in before}, before)
                note = self.find(*self.names, *words, "--resume").stderr.decode()
                self.assertIn("skipped 6 images", note)

    def stamps(self):
        """What tells a file from one that replaced it."""
        found = ((p.name, p.stat()) for p in (self.folder / "out").iterdir())
        return {name: (info.st_ino, info.st_mtime_ns) for name, info in found}

    def test_resume_looks_at_pixels_and_options(self):
        words = ["-o", "out/", "--resume"]
        self.assert_done(self.find(*self.names, *words))
        # Moved, the same pixels.
        (self.folder / "moved").mkdir()
        moved = [os.path.join("moved", name) for name in self.names]
        for name, other in zip(self.names, moved):
            (self.folder / name).rename(self.folder / other)
        self.assertIn(b"skipped 6 images", self.find(*moved, *words).stderr)
        # Other pixels: one of six.
        data = bytearray((self.folder / moved[2]).read_bytes())
        data[2880 + 400] ^= 0x40
        (self.folder / moved[2]).write_bytes(data)
        before = self.stamps()
        done = self.find(*moved, *words)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"kastor: out/sky2.fits: exists already", done.stderr)
        self.assertEqual(self.stamps(), before)
        done = self.find(*moved, *words, "--overwrite")
        self.assert_done(done)
        self.assertIn(b"wrote the catalogues of 1 image to out/; skipped 5 images", done.stderr)
        # Other options: all.
        done = self.find(*moved, *words, "--threshold", "6", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(b"exists already"), 6)
        done = self.find(*moved, *words, "--threshold", "6", "--overwrite")
        self.assertIn(b"wrote the catalogues of 6 images", done.stderr)

    def test_resume_believes_the_header(self):
        """With a DATASUM card the data are not read."""
        rows = noisy_sky(64, 64, seed=9)
        image = fits_files.write(self.folder / "summed.fits", rows)
        words = ["-o", "out/", "--resume", "--json"]
        self.assert_done(self.find("summed.fits", *words))
        cards = fits_files.read_hdus(self.folder / "out" / "summed.fits")[1][0]
        fits_files.write(image, rows, cards=[("DATASUM", str(cards["INSUM"]))])
        whole = image.read_bytes()
        image.write_bytes(whole[:2880])
        done = self.find("summed.fits", *words)
        self.assert_done(done)
        self.assertTrue(json.loads(done.stdout)["up_to_date"])
        # A card that is not true only costs the reading.
        fits_files.write(image, rows, cards=[("DATASUM", "12")])
        done = self.find("summed.fits", *words)
        self.assertTrue(json.loads(done.stdout)["up_to_date"])

    def test_every_backend_writes_the_same(self):
        for preset in self.PRESETS[:2]:
            written = set()
            for backend, threads in itertools.product(command.backends(), ("1", "3")):
                out = f"{backend}{threads}"
                run = ["--on", backend, "--threads", threads, "--overwrite", "--quiet"]
                self.assert_done(self.find(*self.names, *preset, "-o", f"{out}/", *run))
                files = self.files_below(out)
                written.add(b"".join((self.folder / out / f).read_bytes() for f in files))
            self.assertEqual(len(written), 1)

    def test_maps_of_the_user_serve_all(self):
        names = [name for i, name in enumerate(self.names) if i % 2 == 0]
        fits_files.write(self.folder / "noise.fits", [[0.125] * 81] * 70)
        words = ["--preset", "radio", "--rms", "noise.fits", "--json"]
        done = self.find(*names, *words)
        self.assert_done(done)
        alone = b"".join(self.find(name, *words).stdout for name in names)
        self.assertEqual(done.stdout, alone)
        # Of another shape: that image fails.
        done = self.find(*self.names[:3], *words)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"kastor: noise.fits[0]: found 81 x 70 pixels", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)

    def test_a_full_stdout_is_a_failure(self):
        for options in ((), ("--json",)):
            with open("/dev/full", "wb") as full:
                done = command.run("find", *self.names, *options, cwd=self.folder, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"kastor: standard output: ", done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_full_disk_leaves_no_half_catalogue(self):
        disk = self.folder / "disk"
        disk.mkdir()
        with small_disk(disk, self):
            words = ["--level", "0.01", "-o", "disk/", "--format", "fits", "--format", "vot"]
            done = self.find(*self.names, *words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"images failed", done.stderr)
            left = self.files_below("disk")
            self.assertFalse([name for name in left if ".kastor-" in name], left)
            self.assertEqual(len(left) % 2, 0, left)

    def test_a_signal_leaves_whole_catalogues_only(self):
        many = [f"copy{i:04}.fits" for i in range(4000)]
        for name in many:
            os.link(self.folder / "sky0.fits", self.folder / name)
        (self.folder / "list.txt").write_text("\n".join(many))
        words = ["find", "@list.txt", "-o", "out/", "--format", "fits", "--format", "csv"]
        process = subprocess.Popen(
            [command.KASTOR, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out = self.folder / "out"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (out.exists() and len(os.listdir(out)) > 20):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, stdout), (-signal.SIGINT, b""))
        left = self.files_below("out")
        self.assertTrue(20 <= len(left) < 8000, len(left))
        self.assertFalse([name for name in left if ".kastor-" in name])
        self.assert_done(self.find("sky0.fits", "-o", "one.csv"))
        whole = (self.folder / "one.csv").read_bytes()
        for name in left:
            if name.endswith(".csv"):
                self.assertEqual((out / name).read_bytes(), whole)

    def test_long_work_shows_a_bar_and_erases_it(self):
        image = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "1024", "-o", image))
        many = [f"copy{i:04}.fits" for i in range(400)]
        for name in many:
            os.link(image, self.folder / name)
        (self.folder / "list.txt").write_text("\n".join(many))
        words = ["find", f"@{self.folder}/list.txt", "--threads", "1"]
        seen = on_terminal([*words, "-o", f"{self.folder}/out/"], cwd=self.folder)
        self.assertRegex(seen, rb"\r\033\[Kkastor: \[[#.]{20}\] \d+ of 400 images, [0-9.]+ a second")
        self.assertIn(b"\r\033[Kkastor: wrote the catalogues of 400 images", seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kastor", required=True, metavar="PATH", help="the command under test")
    options, rest = parser.parse_known_args()
    command.KASTOR = str(pathlib.Path(options.kastor).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    command.main(__doc__)

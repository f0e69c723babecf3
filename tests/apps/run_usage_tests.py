# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: What is refused, and how: options, inputs, outputs; signals and terminals.

python3 run_usage_tests.py --kastor PATH [unittest's arguments]
"""

import gzip
import math
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import command  # noqa: E402
import fits_files  # noqa: E402
import skies  # noqa: E402
from command import AppTestCase  # noqa: E402

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
        fits_files.write(self.folder / "image.fits", skies.IMAGE)
        for words in WRONG:
            with self.subTest(words):
                self.assert_refused(2, *words.split(), cwd=self.folder)

    def test_an_empty_word_is_no_number(self):
        fits_files.write(self.folder / "image.fits", skies.IMAGE)
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
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
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
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
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
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
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
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
        done = command.run("find", image, "--quiet", "-o", self.folder / "a.csv")
        self.assert_done(done)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        done = command.run("find", image, "--quiet")
        self.assert_done(done)
        self.assertIn(b"sources", done.stdout)
        self.assertEqual(done.stderr, b"")

    def test_timings_are_a_table_on_stderr(self):
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
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
        # Kept from taking the machine's memory.
        prefix = ["sh", "-c", f'ulimit -v {2 << 20}; exec "$@"', "sh"]
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
        with command.small_disk(disk, self):
            for words in (
                ["find", checkers, "--level", "0.5", "-o", disk / "out.csv"],
                ["find", checkers, "--level", "0.5", "-o", disk / "out.fits"],
                ["label", checkers, "--level", "0.5", "-o", disk / "out.fits"],
                ["simulate", "sky", "--size", "256", "-o", disk / "sky.fits"],
            ):
                with self.subTest(words):
                    self.assert_refused(1, *words)


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


class TestTerminal(AppTestCase):
    """The progress line: only for somebody who watches, only for work longer than a second."""

    def stderr_of_long_work(self, image, *options):
        words = ["simulate", "sky", "--size", "4096", "--on", "serial", "-o", image, *options]
        return command.on_terminal(
            words, at_work=lambda: any(".kastor-" in name for name in self.files())
        )

    def test_long_work_shows_a_line_and_erases_it(self):
        image = self.folder / "sky.fits"
        seen = self.stderr_of_long_work(image)
        self.assertIn(b"\r\033[Kkastor: simulate", seen)
        self.assertTrue(seen.split(b"...")[-1].startswith(b" "), seen)
        self.assertIn(b"s\r\033[Kkastor: wrote", seen)
        self.assertEqual(self.stderr_of_long_work(image, "--overwrite", "--quiet"), b"")

    def test_short_work_shows_none(self):
        image = fits_files.write(self.folder / "image.fits", [[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(command.on_terminal(["stats", image]), b"")


if __name__ == "__main__":
    command.main(__doc__)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: What is refused, and how: options, inputs, outputs; signals and terminals."""

import gzip
import math
import os
import shutil
import signal
import subprocess
import time
import unittest

import command
import fits_files
import skies
from command import AppTestCase

#: The beginning of a command, and wrong ends of it, each of which is refused.
WRONG = {
    "": "; nosuch image.fits; fin image.fits; --json stats image.fits; stats; compare; view; "
    "simulate",
    "stats image.fits": "second.fits; --nosuch; --json=no; --json --json; --quiet --quiet; --kap 3",
    "stats image.fits --kappa": "; nan; inf; -1; 0; 1e999; 3sigma; 0x10; 3,5; 3 --kappa 3",
    "stats image.fits --max-passes": "-1; 1.5; 99999999999",
    "stats image.fits --threads": "0; -2; 513; two",
    "stats image.fits ": "--threshold 5; -o out.fits; --on nosuch; --on; --on SERIAL",
    "stats image.fits --hdu": "-1; SCI,x; SCI,0",
    "stats image.fits --plane": "-1; 0.5",
    "stats image.fits --max-unpacked": "0; -1; 1.5; G; 1GB; 9999999T; 1 --max-unpacked 2",
    "find image.fits --threshold": "nan; -1; inf",
    "find image.fits --about": "; mean; median --level 1",
    "find image.fits --level": "nan; -inf; 1 --threshold 5",
    "find image.fits --connectivity": "6; four",
    "find image.fits --min-pixels": "0; -3",
    "find image.fits -o": "; out.txt; out; -; out.csv -o out.votables; out.fits.gz; /dev/full; "
    "a.csv --format csv",
    "find image.fits": "--picture; --picture a.fits; --nosuch other.fits; image.fits -o a.csv; "
    "image.fits -o new; image.fits -o out/",
    "find image.fits other.fits": "--nosuch; --format csv; --resume; --picture a.png; "
    "--preset radio --rms-map a.fits",
    "find image.fits other.fits -o out/": "-o out2/; --format png; --format csv --format csv; "
    "--resume --format csv; --labels a.fits",
    "find @nosuch.txt": "--kappa nan",
    "convolve image.fits": "-o out.fits; --gaussian 1; --gaussian 1 -o out.png",
    "convolve image.fits -o out.fits": "--gaussian 0; --gaussian nan; --gaussian 16; --size 3; "
    "--gaussian 1 --size 4; --gaussian 1 --size 129; --gaussian 1 --kernel lesson",
    "convolve image.fits -o out.fits --kernel lesson": "--size 3; --mode all; --nan zero; "
    "--method fft; --json",
    "label image.fits": "; -o labels.csv; -o a.fits -o b.fits",
    "simulate": "stars -o a.fits; -o a.fits sky; sky; sky -o a.csv; diracs -o a.fits --spacing 0; "
    "diracs -o a.fits --seed 1",
    "simulate sky -o a.fits": "--size 0; --size -5; --size 1e3; --size 10 --width 10; --seed -1; "
    "--seed 18446744073709551616; --noise nan; --noise -1; --beam 0; --beam nan; "
    "--sources-per-mpx -1; --type int16; --spacing 4; --noise-kind pink; --noise-gradient 1; "
    "--level nan; --level-gradient 1; --level-gradient 1,x; --primary-beam 1; "
    "--primary-beam-corrected; --bowls 2; --bowl-size 9; --gain 0; --gain 1 --noise 2; "
    "--gain 1 --noise-kind white; --gain 1 --primary-beam 50 --primary-beam-corrected; "
    "--read-noise 3; --unobserved corner; --unobserved-value 0; "
    "--unobserved half --unobserved-value inf; --memory-limit 0; --memory-limit 1.5G; "
    "--memory-limit 9000000T; --band-rows 0; --band-rows few",
    "simulate sky -o a.fits --add": "point; point:snr=5; comet:count=1; point:count=-1; "
    "point:count=1.5; point:count=1,count=2; point:count=1,mass=3; point:count=1,snr=0; "
    "point:count=1,snr=9..5; point:count=1,snr=5..; point:count=1,size=3; disk:count=1; "
    "ring:count=1,size=1e6; disk:count=1,size=0.01;  disk:count=1,size=9,axis-ratio=0.5; gaussian:count=1,size=9,axis-ratio=0; "
    "point:count=1,pair-ratio=0.5; point:count=1,separation=x; point:count=1,place=line; "
    "point:count=1,; point:count=1 --noise 0; star:count=1 --gain 1",
    "view image.fits": "; -o out.jpg; -o out; -o a.png -o b.png",
    "view image.fits -o a.png": "--scale sqrt; --colour-map jet; --axes galactic; --size 0; "
    "--size 16385; --size 1e3; --marks star; --labels; --catalogue; --json",
    "view image.fits -o a.png --look": "nosuch; lesson --scale log; lesson --min 1; "
    "lesson --percentile 5,95",
    "view image.fits -o a.png --percentile": "5; 5,; 5,nan; 5,101; -1,99; 99,5; 5,99,99",
    "view image.fits -o a.png --min": "nan; 2 --max 1; 1 --max 1; 0 --scale log; "
    "0 --max 1 --percentile 5,95",
    "view image.fits -o a.png --max": "inf; -1 --scale log",
    "compare a.csv": "; b.csv c.csv",
    "compare a.csv b.csv": "--pixels 0; --pixels inf; --radius 1 --pixels 1; --min-flux1 nan; "
    "--min-snr2 high; -o c.txt; -o c.csv -o d.csv",
    "compare a.csv b.csv --radius": "0; -1; nan; 648001; 5arcsec",
    "compare a.csv b.csv --columns1": "ra; ra=; ra=a,,dec=b; ra=a,ra=b",
    "compare a.csv b.csv --columns2": "flux=a; x=a,y=b,origin=2",
    "evaluate": "; --truth t.csv; image.fits; image.fits c.csv",
    "evaluate image.fits --truth t.csv": "--truth u.csv; --pixels 0; --radius 1 --pixels 1; "
    "--radius nan; --min-snr -1; --inverted i.csv; -o p.txt; --background-map b.fits; --labels l.fits; "
    "--threshold 5; --preset lesson --seed 5; --seed 3 --flood 4; --bins 1,1; --bins 2,x; --bins",
    "evaluate image.fits --truth t.csv --pool": "5; 5,; 5,5; 9,5; -1,5; 1,2,3; 5,inf",
    "evaluate image.fits c.csv --truth t.csv": "--preset radio; --flood 3; --cell 64; --negative; "
    "--connectivity 8; --rms 1; d.csv -o p.csv; --inverted a --inverted b",
    "report": "; -o r.html; image.fits",
    "report image.fits -o r.html": "--truth t.csv --truth t.csv; --radius 1; --pixels 2; --json; -o s.html; b.fits; "
    "--components c.fits; --shape beam --components off; --preset lesson --components on; --preset lesson --shape beam; "
    "--threshold 5; --preset lesson --seed 5; --background-map b.fits; --names pybdsf; --picture p.png; --gain 1",
    "report image.fits --truth t.csv -o": "r.txt; r; r.html --radius 1 --pixels 1; r.html --radius 0",
    "info": "a b; --kappa 3",
    "bench": "64; --size 0; --size -1; --size 100001; --size 64x64; --type int16; --repeats 0; "
    "--repeats 1.5; --on nosuch; --on serial --on nosuch; --on; --python python3; --peers --peers",
    "primes": "100; --upto -1; --upto 100000001; --upto 1e3; --upto; --count --count",
}

#: Answered with a help, as is --help behind every subcommand.
HELP = (
    "-h; nosuch --help; --nosuch --help; --help find; find --kappa nan --nosuch --help; "
    "find --preset nosuch --cell nan --help; find nosuch.fits --on nosuch --help; "
    "view --size nan --help; bench --size 0 --on nosuch --help; compare --radius nan --help; "
    "primes --upto nan --help; simulate nosuch --help; simulate --help diracs --spacing nan"
).split("; ")


class TestCommandLine(AppTestCase):
    """Wrong usage is exit code 2 and one line; help and version are always answered."""

    def test_wrong_usage_is_refused(self):
        fits_files.write(self.folder / "image.fits", skies.IMAGE)
        for start, ends in WRONG.items():
            for end in ends.split("; "):
                with self.subTest(start, end=end):
                    self.assert_refused(2, *start.split(), *end.split(), cwd=self.folder)

    def test_an_empty_word_is_no_number(self):
        fits_files.write(self.folder / "image.fits", skies.IMAGE)
        for option in ("--kappa", "--max-passes", "--threads", "--hdu", "--plane", "--on"):
            with self.subTest(option):
                self.assert_refused(2, "stats", "image.fits", option, "", cwd=self.folder)

    def test_help_is_answered_whatever_else_is_given(self):
        for words in [line.split() for line in HELP] + [[*w, "--help"] for w in command.topics()]:
            with self.subTest(words):
                done = command.run(*words)
                self.assert_done(done)
                self.assertIn(b"Usage: kastor", done.stdout)
                self.assertEqual(done.stderr, b"")
                for line in done.stdout.decode().splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_the_examples_of_the_help_work_as_typed(self):
        # What `kastor report` draws with needs packages; tests/python/test_report.py has them.
        python = self.folder / "python"
        python.write_text("#!/bin/sh\necho '{\"done\": true}'\n")
        python.chmod(0o755)
        for words in command.topics():
            text = command.run(*words, "--help").stdout.decode()
            example = text[text.index("Example:") :].splitlines()[1:]
            self.assertTrue(example)
            folder = self.folder / "_".join(["kastor", *words])
            folder.mkdir()
            for line in example:
                with self.subTest(line):
                    self.assertEqual(line.split()[0], "kastor")
                    done = command.run_line(line, cwd=folder, env={"KASTOR_PYTHON": python})
                    self.assert_done(done)

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
            {"kokkos", "kokkos_kernels", "cfitsio", "expat", "wcslib", "libpng", "freetype", "fmt", "cli11"}
            | {"nlohmann_json", "zlib", "bzip2"}
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
        lines = (
            f"stats {image}; stats {image} --json; find {image}; find {image} -o a.csv; info; "
            f"label {image} -o a.fits; info {image}; --help; --version; primes; primes --json; "
            f"bench --size 16 --repeats 1 --on serial; find --dump-config"
        )
        for words in lines.split("; "):
            with self.subTest(words), open("/dev/full", "wb") as full:
                self.assert_refused(
                    1, *words.split(), stdout=full, says=["standard output"], cwd=self.folder
                )

    def test_a_closed_stdout_is_a_failure(self):
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
        line = 'exec "$0" find "$1" -o "$2" >&-'
        words = ["sh", "-c", line, command.KASTOR, image, self.folder / "a.csv"]
        done = subprocess.run(words, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.files(), ["image.fits"])

    def test_timings_are_a_table_on_stderr(self):
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
        done = command.run("find", image, "--json", "--timings")
        self.assert_done(done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        table = done.stderr.decode()
        for words in ("Mpixel/s", "read", "kastor::", "total"):
            self.assertIn(words, table)


ROWS = [[float(x + y) for x in range(12)] for y in range(10)]


def bare_image(bitpix, *axes):
    """A header and one block of data, whatever it says."""
    cards = [("SIMPLE", True), ("BITPIX", bitpix), ("NAXIS", len(axes))]
    cards += [(f"NAXIS{i}", n) for i, n in enumerate(axes, 1)]
    return fits_files.header(cards) + bytes(fits_files.BLOCK)


class TestRefusedInput(AppTestCase):
    """Files that cannot be read: exit code 1, one line that names the file, nothing left behind."""

    def refuse(self, name, options=(), says=()):
        path = self.folder / name
        for words in (
            ["stats", path, "--json"],
            ["find", path, "-o", self.folder / "out.csv"],
            ["label", path, "-o", self.folder / "out.fits"],
            ["view", path, "-o", self.folder / "out.png"],
        ):
            with self.subTest(words):
                self.assert_refused(1, *words, *options, says=[path.name, *says])

    def test_what_is_no_regular_file(self):
        self.refuse("missing.fits")
        # CFITSIO would open these two in the place of missing.fits.
        (self.folder / "missing.fits.gz").write_bytes(gzip.compress(fits_files.hdu(ROWS)))
        (self.folder / "missing").write_bytes(fits_files.hdu(ROWS))
        self.refuse("missing.fits")
        (self.folder / "folder.fits").mkdir()
        self.refuse("folder.fits")
        os.mkfifo(self.folder / "fifo.fits")
        self.refuse("fifo.fits")
        self.assert_refused(1, "stats", "/dev/zero", timeout=20)
        self.assert_refused(1, "stats", self.folder / "two\nlines.fits")
        self.assert_refused(1, "info", self.folder / "missing.fits")

    def test_extended_file_names_are_names(self):
        fits_files.write(self.folder / "image.fits", ROWS)
        self.refuse("image.fits[0]")
        self.refuse("image.fits[1:3,1:3]")

    def test_content_that_is_no_image(self):
        hdu, block = fits_files.hdu, fits_files.BLOCK
        long_header = hdu(ROWS, cards=[(f"KEY{i}", i) for i in range(60)])
        large = hdu([[1.0] * 100] * 100)
        for what, content in {
            "nothing": b"",
            "one byte": b"S",
            "text": b"This is no image.\n" * 500,
            "a card": long_header[:100],
            "half a header": long_header[:block],
            "half of the data": large[: len(large) // 2],
            "no data": large[:block],
            "no image": hdu([], axes=()),
            "one axis": hdu([1.0] * 38, axes=(38,)),
            "four axes": hdu([1.0] * 120, axes=(5, 4, 3, 2)),
            "no columns": hdu([], axes=(0, 5)),
            "no rows": hdu([], axes=(5, 0)),
            "24 bits": bare_image(24, 4, 4),
            "10^24 pixels": bare_image(-32, 10**12, 10**12),
            "2^64 pixels": bare_image(-32, 2**31, 2**33),
            "10^18 columns": bare_image(-32, 10**18, 1),
            "a negative axis": bare_image(-32, -5, 4),
            "blank pixels": hdu([[math.nan] * 5] * 5),
            "infinite pixels": hdu([[math.inf, -math.inf]] * 2),
            "blank integers": hdu([[-1] * 5] * 5, bitpix=16, cards=[("BLANK", -1)]),
        }.items():
            with self.subTest(what):
                (self.folder / "image.fits").write_bytes(content)
                self.refuse("image.fits")
        (self.folder / "image.fits").write_bytes(b"no image")
        self.assert_refused(1, "info", self.folder / "image.fits")

    def test_truncated_gzip(self):
        rows = [[math.sin(x * y) for x in range(100)] for y in range(100)]
        whole = gzip.compress(fits_files.hdu(rows))
        for size in (len(whole) // 2, 15):
            (self.folder / "image.fits.gz").write_bytes(whole[:size])
            self.refuse("image.fits.gz")

    def test_what_a_file_unpacks_to_is_limited(self):
        path = self.folder / "image.fits.gz"
        path.write_bytes(gzip.compress(fits_files.hdu([[1.0] * 100] * 100)))
        for subcommand in ("stats", "find", "info"):
            self.assert_refused(1, subcommand, path, "--max-unpacked", "4K", says=["4096", "unpack"])
            self.assert_done(command.run(subcommand, path, "--max-unpacked", "1M", "--quiet"))

    def test_planes_and_hdus_that_are_not_there(self):
        (self.folder / "cube.fits").write_bytes(fits_files.hdu([1.0] * 60, axes=(5, 4, 3)))
        self.refuse("cube.fits", says=["NAXIS3", "plane"])
        self.refuse("cube.fits", ["--plane", "3"])
        four = fits_files.hdu([1.0] * 120, axes=(5, 4, 3, 2))
        (self.folder / "four.fits").write_bytes(four)
        self.refuse("four.fits", ["--plane", "0"])
        both = fits_files.hdu([], axes=()) + fits_files.hdu(ROWS, extension=True)
        (self.folder / "both.fits").write_bytes(both)
        for hdu in ("0", "2", "99", "99999999999999999999", "SCI", "SCI,2"):
            self.refuse("both.fits", ["--hdu", hdu])


class TestRefusedOutput(AppTestCase):
    """Files that cannot be written."""

    def setUp(self):
        super().setUp()
        self.image = fits_files.write(self.folder / "image.fits", ROWS)

    def refuse(self, *targets, options=(), says=()):
        outputs = [word for target in targets for word in ("-o", target)]
        return self.assert_refused(1, "find", self.image, *outputs, *options, says=says)

    def test_places_that_are_none(self):
        self.refuse(self.folder / "nosuch" / "out.csv")
        self.refuse(self.folder / "good.csv", self.folder / "nosuch" / "out.csv")
        self.refuse(self.image / "out.csv")
        self.refuse(self.folder / "out.csv", self.folder / "out.csv")
        self.refuse(self.folder / "out.csv", f"{self.folder}/./out.csv", options=["--overwrite"])

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

    @unittest.skipIf(
        "KASTOR_TEST_SANITIZED" in os.environ, "the address sanitizer needs the memory itself"
    )
    def test_an_image_beyond_the_memory(self):
        image = self.folder / "image.fits"
        cards = ["SIMPLE  = T", "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = 16384", "NAXIS2  = 16384", "END"]
        image.write_bytes("".join(f"{card:80}" for card in cards).ljust(2880).encode())
        os.truncate(image, (2880 + 4 * 16384**2 + 2879) // 2880 * 2880)  # nearly all of it is a hole
        target = self.folder / "big.fits"
        # Kept from taking the machine's memory.
        prefix = ["sh", "-c", f'ulimit -v {2 << 20}; exec "$@"', "sh"]
        before = self.files()
        crowded = ["simulate", "sky", "--size", "32768", "--sources-per-mpx", "1e6"]
        for words in (["convolve", image, "--gaussian", "1"], crowded):
            with self.subTest(words[0]):
                done = subprocess.run(
                    [*prefix, command.KASTOR, *words, "--threads", "2", "-o", target],
                    capture_output=True,
                    check=False,
                    timeout=command.TIMEOUT,
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(b"memory", done.stderr)
                self.assertEqual(self.files(), before)

    def test_an_image_beyond_the_disk(self):
        if shutil.disk_usage(self.folder).free >= 2**43:
            self.skipTest("the disk has room for 8 TiB")
        words = ["simulate", "diracs", "--size", "1048576", "-o", self.folder / "big.fits"]
        self.assert_refused(1, *words, says=["8796093", "bytes", "room for it"])

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
                    self.assert_refused(1, *words, says=["No space left on device"])


class TestSignals(AppTestCase):
    """A run that is stopped half way leaves nothing."""

    def stop(self, number):
        # Large enough to be at work for seconds.
        words = "simulate sky --size 8192 -o sky.fits --threads 1".split()
        process = subprocess.Popen(
            [command.KASTOR, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.stop(number)


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

# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: runs beside each other, signals, limits, and messages of any bytes."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unicodedata

import command
import fits_files
import skies
from command import AppTestCase

#: Bytes that are no UTF-8 (Latin-1), end a line, command a terminal (C0, C1) or turn the order of
#: writing around.
ODD = b"\xe9\x85\x1b[31m\n\r\xff\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xc3"

#: Their outputs are of every kind; {} is an image.
WRITERS = (
    "find {} -o out/a.csv",
    "find {} -o out/a.ecsv",
    "find {} -o out/a.vot",
    "find {} -o out/a.fits",
    "find {} -o out/a.reg",
    "find {} -o out/a.crtf",
    "find {} --labels out/l.fits",
    "find {} --picture out/p.png",
    "find {} --preset radio --rms-map out/r.fits",
    "find {} --preset sextractor -o out/a.csv -o out/a.fits",
    "find {} -o out/new/ --format fits --format csv",
    "label {} -o out/l.fits",
    "convolve {} --gaussian 1 -o out/c.fits",
    "view {} -o out/v.png",
    "simulate sky --size 64 -o out/s.fits",
    "simulate diracs --size 64 -o out/d.fits",
)

BEAM = [("BMAJ", 0.03), ("BMIN", 0.03), ("BPA", 0.0)]


def limited(which, size):
    """For Popen: a limit of the child."""
    return lambda: resource.setrlimit(which, (size, size))


class ProcessTestCase(AppTestCase):
    def setUp(self):
        super().setUp()
        cards = [("BUNIT", "JY/BEAM"), *BEAM, *skies.WCS_CARDS]
        self.rows = skies.noisy_sky(61, 83, seed=1)
        self.image = fits_files.write(self.folder / "sky.fits", self.rows, cards=cards)

    def start(self, *words, **options):
        return subprocess.Popen(
            [command.KASTOR, *map(os.fspath, words)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def finish(self, process):
        """(exit code, stdout, stderr)"""
        out, err = process.communicate(timeout=command.TIMEOUT)
        return process.returncode, out, err

    def writers(self):
        return [line.replace("{}", "sky.fits").split() for line in WRITERS]


class TestRunsAtOnce(ProcessTestCase):
    """Several runs with the same outputs."""

    def at_once(self, *words, runs=6):
        started = [self.start(*words) for _ in range(runs)]
        return [self.finish(process) for process in started]

    def test_with_overwrite_all_succeed(self):
        for words in self.writers():
            with self.subTest(words):
                (self.folder / "out").mkdir()
                for code, _, err in self.at_once(*words, "--overwrite"):
                    self.assertEqual(code, 0, err)
                left = [p.name for p in (self.folder / "out").rglob(".*")]
                self.assertEqual(left, [])
                shutil.rmtree(self.folder / "out")

    def test_without_overwrite_one_succeeds(self):
        for _ in range(5):
            done = self.at_once("find", "sky.fits", "-o", "a.csv", "-o", "b.csv")
            succeeded = [out for code, out, _ in done if code == 0]
            self.assertEqual(len(succeeded), 1, done)
            for code, _, err in done:
                self.assertIn(code, (0, 1))
                if code == 1:
                    self.assertRegex(err, rb"(?s)\Akastor: [ab]\.csv: [^\n]*exist[^\n]*\n\Z")
            self.assertEqual(self.files(), ["a.csv", "b.csv", "sky.fits"])
            for name in ("a.csv", "b.csv"):
                (self.folder / name).unlink()

    def test_a_folder_that_another_run_removes(self):
        # Those that find no image make the folder and remove it again.
        for _ in range(4):
            vain = [self.start("find", "nosuch.fits", "-o", "deep/out/") for _ in range(4)]
            good = [self.start("find", "sky.fits", "-o", "deep/out/", "--overwrite")]
            vain += [self.start("find", "nosuch.fits", "-o", "deep/out/") for _ in range(4)]
            good += [self.start("find", "sky.fits", "-o", "deep/out/", "--overwrite")]
            for process in vain:
                self.assertEqual(self.finish(process)[0], 1)
            for process in good:
                code, _, err = self.finish(process)
                self.assertEqual(code, 0, err)
            self.assertEqual(self.files(), ["deep", "deep/out", "deep/out/sky.fits", "sky.fits"])
            (self.folder / "deep/out/sky.fits").unlink()
            (self.folder / "deep/out").rmdir()
            (self.folder / "deep").rmdir()

    def test_every_folder_made_in_vain_goes(self):
        self.assertEqual(self.finish(self.start("find", "nosuch.fits", "-o", "a/b/c/"))[0], 1)
        self.assertEqual(self.files(), ["sky.fits"])


class TestEndings(ProcessTestCase):
    """Signals and limits in the middle of a run: nothing is left."""

    def working(self, ignored=()):
        """A run that is at work for seconds, and has begun to."""

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)

        (self.folder / "sky.fits").unlink(missing_ok=True)
        words = "simulate sky --size 8192 -o big.fits --threads 1".split()
        process = self.start(*words, preexec_fn=prepare)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 30
        while len(self.files()) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(self.files()), 2, "the temporary files of image and truth")
        return process

    def test_signals_end_the_run_and_leave_nothing(self):
        names = "HUP INT QUIT USR1 USR2 ALRM TERM VTALRM PROF XCPU IO".split()
        for number in (getattr(signal, "SIG" + name) for name in names):
            with self.subTest(number):
                process = self.working()
                process.send_signal(number)
                code, out, err = self.finish(process)
                self.assertEqual((code, out, err), (-number, b"", b""))
                self.assertEqual(self.files(), [])

    def test_what_is_ignored_at_the_start_stays_ignored(self):
        numbers = (signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)
        process = self.working(ignored=numbers)
        for number in numbers:
            process.send_signal(number)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(self.finish(process)[0], -signal.SIGTERM)
        self.assertEqual(self.files(), [])

    def test_the_limit_of_cpu_time(self):
        process = self.start(
            *"simulate sky --size 8192 --sources-per-mpx 20000 -o big.fits".split(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 5)),
        )
        code, _, _ = self.finish(process)
        self.assertEqual(code, -signal.SIGXCPU)
        self.assertEqual(self.files(), ["sky.fits"])

    def test_the_limit_of_file_sizes(self):
        (self.folder / "out").mkdir()
        before = self.files()
        for size in (0, 700):
            for words in self.writers():
                with self.subTest(words, size=size):
                    process = self.start(*words, preexec_fn=limited(resource.RLIMIT_FSIZE, size))
                    code, _, err = self.finish(process)
                    self.assertEqual(code, 1, err)
                    self.assertRegex(err, rb"File too large\)?; expected room for")
                    self.assertNotIn(b".tmp", err)
                    # Many images end with how many failed.
                    lines = [line for line in err.splitlines() if b"File too large" in line]
                    self.assertEqual(len(lines), 1, err)
                    self.assertEqual(self.files(), before)

    def test_a_full_disk(self):
        (self.folder / "out").mkdir()
        with command.small_disk(self.folder / "out", self):
            (self.folder / "out" / "filling").write_bytes(bytes(64 << 10))
            before = self.files()
            for words in self.writers():
                with self.subTest(words):
                    code, _, err = self.finish(self.start(*words))
                    self.assertEqual(code, 1, err)
                    self.assertRegex(err, rb"No space left on device\)?; expected room for")
                    self.assertNotIn(b".tmp", err)
                    self.assertEqual(self.files(), before)

    def test_a_closed_stdout(self):
        for line in ("find sky.fits -o a.csv", "find sky.fits --json -o a.csv", "info sky.fits"):
            with self.subTest(line):
                script = 'exec "$0" "$@" >&-'
                words = ["sh", "-c", script, command.KASTOR, *line.split()]
                done = command.run_program(words, cwd=self.folder)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rb"\Akastor: standard output: [^\n]*\n\Z")
                self.assertEqual(self.files(), ["sky.fits"])

    def test_long_names(self):
        longest = "n" * 251 + ".csv"
        done = command.run("find", self.image, "-o", longest, cwd=self.folder)
        self.assert_done(done)
        self.assertEqual(self.files(), [longest, "sky.fits"])
        says = ["File name too long; expected a shorter one"]
        self.assert_refused(1, "find", self.image, "-o", "n" + longest, cwd=self.folder, says=says)

    def test_a_folder_that_vanishes(self):
        (self.folder / "out").mkdir()
        words = "simulate sky --size 4096 -o out/s.fits --threads 1".split()
        process = self.start(*words)
        deadline = time.monotonic() + 30
        while len(self.files()) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        for path in (self.folder / "out").iterdir():
            path.unlink()
        (self.folder / "out").rmdir()
        code, _, err = self.finish(process)
        self.assertEqual(code, 1, err)
        self.assertRegex(
            err, rb"\Akastor: \S*out/s(_truth\.csv|\.fits): cannot be [^\n]*No such file[^\n]*\n\Z"
        )
        self.assertEqual(self.files(), ["sky.fits"])


class TestMessages(ProcessTestCase):
    """Lines of valid UTF-8 without control characters, whatever a file or its name holds."""

    def odd_image(self, name, more=()):
        """An image whose texts hold those bytes."""
        texts = ("BUNIT", "OBJECT", "EXTNAME", "TELESCOP", "DATE-OBS", "HISTORY", *more)
        cards = [(key, "@" * len(ODD)) for key in texts]
        content = fits_files.hdu(self.rows, cards=[*cards, *BEAM, *skies.WCS_CARDS])
        path = self.folder / name
        path.write_bytes(content.replace(b"@" * len(ODD), ODD))
        return path

    def assert_text(self, content, longest=None):
        text = content.decode()  # fails if it is no UTF-8
        for c in text:
            category = unicodedata.category(c)
            self.assertFalse(category in ("Cc", "Zl", "Zp", "Cf") and c != "\n", (hex(ord(c)), text))
        for line in content.split(b"\n"):
            self.assertLess(len(line), longest or len(content) + 1, text)

    def test_headers_and_names(self):
        (self.folder / "out").mkdir()
        presets = ([], ["--preset", "radio"], ["--preset", "sextractor"])
        kinds = ("csv", "ecsv", "vot", "reg", "crtf", "fits")
        outputs = [word for kind in kinds for word in ("-o", f"out/a.{kind}")]
        runs = [["find", *p, *outputs, "--picture", "out/p.png", "--overwrite"] for p in presets]
        runs += [["find", *p, *outputs, "--json", "--overwrite"] for p in presets]
        runs += [["find", "-o", "out/many/", "--preset", "radio", "--overwrite", "--json"]]
        runs += [["find", "-o", "out/many/", "--overwrite"], ["stats"], ["stats", "--json"]]
        runs += [["info"], ["info", "--json"], ["view", "-o", "out/v.png", "--overwrite"]]
        runs += [["label", "-o", "out/l.fits", "--overwrite"]]
        runs += [["convolve", "--gaussian", "1", "-o", "out/c.fits", "--overwrite"]]
        for name, more in (("odd.fits", ()), (os.fsdecode(ODD + b".fits"), ("RADESYS", "CUNIT1"))):
            image = self.odd_image(name, more)
            for subcommand, *words in runs:
                with self.subTest(words, name=name):
                    process = self.start(subcommand, image.name, *words)
                    code, out, err = self.finish(process)
                    self.assertEqual(code, 0, err)
                    self.assert_text(err, 1000)
                    if "--json" in words:
                        json.loads(out.decode())
                    else:
                        self.assert_text(out)
            for path in (self.folder / "out").rglob("*.*"):
                if path.suffix in (".csv", ".ecsv", ".vot", ".reg", ".crtf"):
                    path.read_text(encoding="utf-8")
                elif path.suffix == ".fits" and path.is_file():
                    fits_files.read_hdus(path)  # fails if a header is not ASCII

    def test_failures(self):
        image = self.odd_image("odd.fits")
        name, long = os.fsdecode(ODD), "x" * 5000
        deep = "d/" * 1500 + "x.fits"
        for words in (
            ["stats", name],
            ["stats", long],
            ["stats", "é" * 2000],
            ["find", deep],
            ["find", deep, deep + ".gz"],
            ["find", deep, "--json", "-o", "many/"],
            [name],
            [long],
            ["stats", image, "--hdu", "no" + name],
            ["stats", image, "--kappa", name],
            ["stats", image, "--kappa", long],
            ["find", image, "--preset", long + name],
            ["find", image, "-o", name + "/a.csv"],
            ["find", image, "-o", long + ".csv"],
            ["find", image, "-o", name * 20 + "/"],
            ["find", image, "-o", name],
            ["find", "@" + name],
            ["find", image, "--config", name],
            ["compare", name, long],
            ["compare", image, image],
            ["view", image, "-o", "v.png", "--look", name],
            ["simulate", name],
            ["info", name],
        ):
            with self.subTest(words):
                code, out, err = self.finish(self.start(*words))
                self.assertIn(code, (1, 2))
                self.assertTrue(err.startswith(b"kastor: "))
                self.assert_text(err, 1000)
                out.decode()
                for line in out.decode().splitlines():
                    self.assertLess(len(line), 10000)

    def test_a_long_failure_keeps_its_ends(self):
        done = command.run("stats", "d/" * 1500 + "x.fits")
        self.assertRegex(done.stderr, rb"\Akastor: d/d/d/[d/]*\.\.\.[^\n]*expected [^\n]*\n\Z")
        self.assertIn(b"/x.fits: ", done.stderr)

    def test_names_in_json_are_those_of_the_files(self):
        for name in ("é 星 \"q\" \\ 🔭.fits", "a\tb.fits", "\u202e\u0085.fits"):
            with self.subTest(name):
                pathlib.Path(self.folder / name).write_bytes(self.image.read_bytes())
                found = json.loads(self.finish(self.start("stats", name, "--json"))[1])
                self.assertEqual(found["file"], name)


if __name__ == "__main__":
    command.main(__doc__)

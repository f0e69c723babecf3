# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: find on many images."""

import gzip
import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import time

import command
import fits_files
import skies
from command import AppTestCase


class TestManyImages(AppTestCase):
    """Many images in one run: the same catalogues, in order, whatever becomes of the others."""

    PRESETS = ((), ("--preset", "radio"), ("--preset", "sextractor"))
    BEAM = [("BMAJ", 0.01), ("BMIN", 0.01), ("BUNIT", "JY/BEAM")]

    @classmethod
    def setUpClass(cls):
        # Two shapes and two types, mixed.
        cls.skies = {}
        for i in range(6):
            rows = skies.noisy_sky(*((70, 81), (64, 96))[i % 2], seed=i)
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
                        out, one = self.folder / f"out/{stem}.{each}", self.folder / f"one.{each}"
                        self.assertEqual(out.read_bytes(), one.read_bytes(), out)

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
        (self.folder / "list.txt").write_bytes(b"# mine\n\nsky0.fits\r\n  \n #d\n@me\nsky1.fits")
        done = self.find("@list.txt", "sky2.fits", "--json")
        found = [json.loads(line)["file"] for line in done.stdout.splitlines()]
        self.assertEqual(found, ["sky0.fits", " #d", "@me", "sky1.fits", "sky2.fits"])
        (self.folder / "none.txt").write_text("# nothing\n")
        os.mkfifo(self.folder / "fifo")
        for name in ("none.txt", "nosuch.txt", "fifo", "."):
            self.assert_refused(1, "find", f"@{name}", cwd=self.folder, says=["one name per line"])
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
        names = "a.FITS b.fit c.fts d.img ngc1.2 f.fits.fits g.fits.old".split()
        for name in names:
            (self.folder / name).write_bytes(self.skies["sky0.fits"])
        packed = self.folder / "e.Fits.gz"
        packed.write_bytes(gzip.compress(self.skies["sky0.fits"]))
        self.assert_done(self.find(*names, packed, "-o", "out/"))
        stems = "a b c d.img e f.fits g.fits.old ngc1.2".split()
        self.assertEqual(self.files_below("out"), [f"{stem}.fits" for stem in stems])

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
        rows = skies.noisy_sky(64, 64, seed=9)
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
        with command.small_disk(disk, self):
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
        words = ["find", f"@{self.folder}/list.txt", "--on", "serial"]
        out = self.folder / "out"
        seen = command.on_terminal(
            [*words, "-o", f"{out}/"],
            cwd=self.folder,
            at_work=lambda: out.exists() and any(out.iterdir()),
        )
        self.assertRegex(seen, rb"\r\033\[Kkastor: \[[#.]{20}\] \d+ of 400 images, [0-9.]+ a second")
        self.assertIn(b"\r\033[Kkastor: wrote the catalogues of 400 images", seen)


if __name__ == "__main__":
    command.main(__doc__)

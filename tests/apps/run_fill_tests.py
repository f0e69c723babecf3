# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: constants in place of sky, --blank-value, and images with a sky level."""

import functools
import json
import math
import random
import struct

import command
import fits_files
import reference
from command import AppTestCase

N = 256
PRESETS = ("radio", "sextractor")
CELL = ("--cell", "64")


@functools.lru_cache(maxsize=None)
def sky(level=0.0, noise=1.0, seed=4):
    """float32 noise with sources, as a flat list of N x N pixels."""
    numbers = random.Random(seed)
    pixels = [numbers.gauss(level, noise) for _ in range(N * N)]
    for _ in range(40):
        y0, x0 = numbers.randrange(N), numbers.randrange(N)
        height = noise * 10 ** numbers.uniform(0.9, 2.5)
        for y in range(max(0, y0 - 8), min(N, y0 + 9)):
            for x in range(max(0, x0 - 8), min(N, x0 + 9)):
                pixels[y * N + x] += height * math.exp(-((x - x0) ** 2 + (y - y0) ** 2) / 5)
    return tuple(reference.as_float32(v) for v in pixels)


@functools.lru_cache(maxsize=None)
def poisson(mean, seed=6):
    numbers = random.Random(seed)
    least = math.exp(-mean)

    def count():
        k, p = 0, numbers.random()
        while p > least:
            k, p = k + 1, p * numbers.random()
        return k

    return tuple(count() for _ in range(N * N))


def outside_circle(y, x):
    return math.hypot(y - N / 2, x - N / 2) > 0.42 * N


def border(y, x):
    return min(y, x, N - 1 - y, N - 1 - x) < 20


def half(_, x):
    return x >= N // 2


REGIONS = (outside_circle, border, half)


def neighbours(value, count):
    """float32 numbers one after the other."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return [struct.unpack("<f", struct.pack("<I", bits + i))[0] for i in range(count)]


def filled(pixels, region, numbers):
    """The image with these numbers in the region, and how many pixels that has."""
    which = random.Random(1)
    rows = list(pixels)
    count = 0
    for i in range(N * N):
        if region(i // N, i % N):
            rows[i] = which.choice(numbers)
            count += 1
    return rows, count


class FillTestCase(AppTestCase):
    def write(self, name, pixels, bitpix=-32, cards=()):
        return fits_files.write(self.folder / name, pixels, bitpix, (N, N), cards)

    def find(self, image, *options):
        return command.json_of("find", image, *options)

    def islands(self, image, preset, *options):
        return self.find(image, "--preset", preset, *CELL, *options)

    def notes(self, found, word):
        return [note for note in found["notes"] if word in note]

    def assert_twins(self, pixels, region, numbers, bitpix=-32, **options):
        rows, count = filled(pixels, region, numbers)
        image = self.write("filled.fits", rows, bitpix)
        blank = self.write("blank.fits", filled(pixels, region, [math.nan])[0], bitpix)
        for preset in PRESETS:
            found = self.islands(image, preset)
            twin = self.islands(blank, preset)
            with self.subTest(region=region.__name__, numbers=numbers, preset=preset):
                self.assertGreater(twin["sources"], 3)
                for key in ("sources", "catalogue_hash", "foreground_pixels", "background"):
                    self.assertEqual(found[key], twin[key])
                (note,) = self.notes(found, "in place of sky")
                self.assertIn(f" {count} pixels ", note)
                self.assertEqual(self.notes(twin, "in place of sky"), [])


class TestFillTwins(FillTestCase):
    def test_zero(self):
        for region in REGIONS:
            self.assert_twins(sky(), region, [0.0])

    def test_other_constants(self):
        self.assert_twins(sky(), outside_circle, [-0.25])
        self.assert_twins(sky(0.0, 1e-4), border, [-0.25])
        self.assert_twins(sky(0.0, 1e-4), half, [0.0, -0.0])

    def test_neighbouring_numbers(self):
        for region in REGIONS:
            self.assert_twins(sky(0.0, 1e-3), region, neighbours(3.20375e-07, 4))

    def test_double(self):
        self.assert_twins(sky(), outside_circle, [0.0], -64)

    def test_sky_level(self):
        self.assert_twins(sky(1000.0, 10.0), outside_circle, [0.0])
        self.assert_twins(sky(1000.0, 10.0), half, [-0.25])

    def test_with_box_and_mask(self):
        rows, _ = filled(sky(), outside_circle, [0.0])
        image = self.write("filled.fits", rows)
        blank = self.write("blank.fits", filled(sky(), outside_circle, [math.nan])[0])
        mask = self.write("mask.fits", [1 if i % N < 40 else 0 for i in range(N * N)], 8)
        options = ("--mask", mask, "--box", "0,255,10,200")
        for preset in PRESETS:
            found = self.islands(image, preset, *options)
            twin = self.islands(blank, preset, *options)
            self.assertEqual(found["catalogue_hash"], twin["catalogue_hash"])
            self.assertNotEqual(found["sources"], self.islands(image, preset)["sources"])

    def test_every_backend(self):
        image = self.write("filled.fits", filled(sky(), border, [0.0])[0])
        for preset in PRESETS:
            hashes = {
                self.islands(image, preset, "--on", backend, "--threads", threads)["catalogue_hash"]
                for backend in command.backends()
                for threads in ("1", "3")
            }
            self.assertEqual(len(hashes), 1)

    def test_of_many_images_each_has_its_own(self):
        plain = self.write("a_plain.fits", sky())
        padded = self.write("b_padded.fits", filled(sky(), half, [0.0])[0])
        other = self.write("c_plain.fits", sky(seed=5))
        images = (plain, padded, other)
        done = command.run("find", *images, "--preset", "radio", *CELL, "--json")
        self.assert_done(done)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([len(self.notes(f, "in place of sky")) for f in found], [0, 1, 0])
        for image, one in zip(images, found):
            alone = self.islands(image, "radio")
            self.assertEqual(one["catalogue_hash"], alone["catalogue_hash"])


class TestFillKept(FillTestCase):
    """What is not fill is used, whatever the presets do."""

    def assert_kept(self, image, *options):
        for preset in PRESETS:
            found = self.islands(image, preset, *options)
            kept = self.islands(image, preset, "--blank-value", "none", *options)
            with self.subTest(image=image.name, preset=preset):
                self.assertEqual(found["catalogue_hash"], kept["catalogue_hash"])
                self.assertEqual(found["notes"], kept["notes"])

    def test_integer_skies(self):
        for mean in (0.1, 3.0):
            for bitpix in (8, 16):
                self.assert_kept(self.write("counts.fits", poisson(mean), bitpix))
        steps = [round(v / 2) for v in sky(100.0, 1.0)]
        self.assert_kept(self.write("steps.fits", [min(v, 255) for v in steps], 8))

    def test_zero_floor_and_constant(self):
        self.assert_kept(self.write("floor.fits", [max(0.0, v) for v in sky()]))
        found = self.islands(self.write("constant.fits", [7.0] * (N * N)), "radio")
        self.assertEqual(found["sources"], 0)
        self.assertEqual(self.notes(found, "in place of sky"), [])

    def test_saturated_plateau(self):
        def disk(y, x):
            return math.hypot(y - 100, x - 130) < 45

        rows, count = filled(sky(), disk, [500.0])
        image = self.write("saturated.fits", rows)
        found = self.islands(image, "radio", "--background", "0", "--rms", "1")
        self.assertEqual(self.notes(found, "in place of sky"), [])
        self.assertGreater(found["foreground_pixels"], count)

    def test_lesson_label_and_stats_take_every_pixel(self):
        image = self.write("filled.fits", filled(sky(), half, [0.0])[0])
        stats = command.json_of("stats", image)
        self.assertEqual((stats["blank"], stats["pixels"]), (0, N * N))
        found = self.find(image)
        self.assertEqual(found["clipped"]["std"], stats["clipped"]["std"])
        self.assertEqual(found["notes"], [])


class TestBlankValue(FillTestCase):
    def setUp(self):
        super().setUp()
        rows, self.count = filled(sky(), outside_circle, [-0.25])
        self.image = self.write("filled.fits", rows)
        self.blank = self.write("blank.fits", filled(sky(), outside_circle, [math.nan])[0])

    def test_is_as_if_the_pixels_were_blank(self):
        option = ("--blank-value", "-0.25")
        for preset in ("lesson", *PRESETS):
            more = () if preset == "lesson" else CELL
            found = self.find(self.image, "--preset", preset, *more, *option)
            twin = self.find(self.blank, "--preset", preset, *more)
            self.assertEqual(found["catalogue_hash"], twin["catalogue_hash"])
            (note,) = self.notes(found, "--blank-value")
            self.assertEqual(
                note, f"{self.count} pixels equal to -0.25 (--blank-value) are taken as blank"
            )
            self.assertEqual(self.notes(found, "in place of sky"), [])
        found = command.json_of("label", self.image, *option, "-o", self.folder / "l.fits")
        twin = command.json_of("label", self.blank, "-o", self.folder / "m.fits")
        self.assertEqual(found["sources"], twin["sources"])
        self.assertEqual(len(self.notes(found, "--blank-value")), 1)
        self.assertEqual(
            fits_files.read_image(self.folder / "l.fits")[1],
            fits_files.read_image(self.folder / "m.fits")[1],
        )

    def test_stats(self):
        done = command.run("stats", self.image, "--blank-value", "-0.25", "--json")
        self.assertEqual(done.returncode, 0)
        found = json.loads(done.stdout)
        twin = command.json_of("stats", self.blank)
        self.assertEqual({**found, "file": ""}, {**twin, "file": ""})
        self.assertEqual(found["blank"], self.count)
        self.assertIn(b"are taken as blank", done.stderr)
        done = command.run("stats", self.image, "--blank-value", "-0.2")
        self.assertIn(b"no pixel equal to -0.2", done.stderr)

    def test_equality_is_that_of_the_pixel_type(self):
        image = self.write("tenths.fits", filled(sky(), half, [reference.as_float32(0.1)])[0])
        self.assertEqual(
            self.blanks(image, "0.1", "0.10000000149011612", "0.1000001"),
            [N * N // 2, N * N // 2, 0],
        )
        image = self.write("double.fits", filled(sky(), half, [0.1])[0], -64)
        self.assertEqual(self.blanks(image, "0.1", "0.10000000149011612"), [N * N // 2, 0])
        scaled = [("BSCALE", 0.5), ("BZERO", 10.0)]
        image = self.write("scaled.fits", filled([5] * (N * N), half, [0])[0], 16, scaled)
        self.assertEqual(self.blanks(image, "10", "0", "12.5", "1e300"), [N * N // 2, 0, N * N // 2, 0])
        image = self.write("zeros.fits", filled(sky(), half, [0.0, -0.0])[0])
        self.assertEqual(self.blanks(image, "0", "-0.0"), [N * N // 2] * 2)

    def blanks(self, image, *values):
        options = [("--quiet", "--blank-value", value) for value in values]
        return [command.json_of("stats", image, *option)["blank"] for option in options]

    def test_none_takes_every_pixel(self):
        kept = self.islands(self.image, "radio", "--blank-value", "none")
        found = self.islands(self.image, "radio")
        self.assertEqual(self.notes(kept, "blank"), [])
        self.assertNotEqual(kept["catalogue_hash"], found["catalogue_hash"])
        label = ("label", "--overwrite", "-o", self.folder / "l.fits")
        for words in (("find",), ("stats",), label):
            again = command.json_of(*words, self.image, "--blank-value", "none")
            self.assertEqual(again, command.json_of(*words, self.image))

    def test_wrong_values(self):
        for value in ("nan", "inf", "x", "", "NONE", "1e999"):
            for words in (("find",), ("stats",), ("label", "-o", "l.fits")):
                says = ("--blank-value", "a finite number or 'none'")
                self.assert_refused(2, *words, self.image, "--blank-value", value, says=says)

    def test_is_recorded(self):
        for value in ("-0.25", "none"):
            table = self.folder / f"{value}.fits"
            self.assert_done(command.run("find", self.image, "--blank-value", value, "-o", table))
            self.assertIn(f"--blank-value {value}".encode(), table.read_bytes())

    def test_many_images_and_a_config_file(self):
        config = self.folder / "c.toml"
        config.write_text('blank-value = "-0.25"\n')
        done = command.run("find", self.image, self.blank, "--json", "--config", config)
        self.assert_done(done)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(found[0]["catalogue_hash"], found[1]["catalogue_hash"])
        self.assertIn(f"{self.count} pixels equal", found[0]["notes"][0])
        self.assertIn("no pixel equal", found[1]["notes"][0])


class TestSkyLevel(FillTestCase):
    """The preset lesson on an image whose sky is far above zero says so."""

    def test_optical_image(self):
        image = self.write("optical.fits", sky(1234.0, 22.0))
        found = self.find(image)
        (note,) = found["notes"]
        for words in ("the sky level 1234", " times the noise above zero", " % of the pixels",
                      "--about median", "--preset sextractor"):
            self.assertIn(words, note)
        text = command.run("find", image)
        self.assert_done(text)
        self.assertIn(("note: " + note).encode(), text.stdout)
        label = command.run("label", image, "-o", self.folder / "l.fits")
        self.assertIn(("note: " + note).encode(), label.stdout)
        found = command.json_of("label", image, "-o", self.folder / "m.fits")
        self.assertEqual(found["notes"], [note])

    def test_no_note(self):
        optical = self.write("optical.fits", sky(1234.0, 22.0))
        for options in (("--about", "median"), ("--level", "100"), ("--preset", "sextractor")):
            self.assertEqual(self.notes(self.find(optical, *options), "sky level"), [])
        for name, pixels in (("radio", sky()), ("low", sky(2.0, 1.0))):
            self.assertEqual(self.find(self.write(f"{name}.fits", pixels))["notes"], [])

    def test_constant_image(self):
        (note,) = self.find(self.write("constant.fits", [7.0] * (N * N)))["notes"]
        self.assertIn("the sky level 7 (clipped median) is above zero and has no noise", note)

    def test_each_image_of_many(self):
        images = [self.write("a.fits", sky()), self.write("b.fits", sky(1234.0, 22.0))]
        images.append(self.write("c.fits", sky(seed=5)))
        done = command.run("find", *images, "--json")
        self.assert_done(done)
        found = [json.loads(line)["notes"] for line in done.stdout.splitlines()]
        self.assertEqual([len(notes) for notes in found], [0, 1, 0])


if __name__ == "__main__":
    command.main(__doc__)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: masks and maps of background and noise that find reads from files."""

import json
import math
import os
import random

import command
import fits_files
import reference
import skies
from command import AppTestCase

UNIT = [("BUNIT", "Jy/beam")]
OPTIONS = ("--mask", "--background", "--rms")


def constant(value, ny=64, nx=80):
    return [[value] * nx for _ in range(ny)]


class MapsTestCase(AppTestCase):
    """Each test has a sky in Jy/beam, `sky.fits`, of `self.rows`."""

    def setUp(self):
        super().setUp()
        self.rows = skies.island_sky()
        self.ny, self.nx = len(self.rows), len(self.rows[0])
        self.write("sky.fits", self.rows)

    def write(self, name, rows, bitpix=-32, cards=UNIT, extensions=()):
        """`extensions`: (EXTNAME, EXTVER, rows, bitpix), or a list of rows for each plane."""
        content = fits_files.hdu(rows, bitpix, cards=cards)
        for title, version, values, bits in extensions:
            axes = None
            if isinstance(values[0][0], list):
                axes = (self.nx, self.ny, len(values), 1)
                values = [v for plane in values for row in plane for v in row]
            more = [("EXTNAME", title), ("EXTVER", version), *UNIT]
            content += fits_files.hdu(values, bits, axes, more, extension=True)
        (self.folder / name).write_bytes(content)
        return name

    def write_all(self, name="all.fits"):
        """The sky with a mask, a background and noises beside it."""
        dq = [[(x // 3 + y // 4) % 11 // 10 for x in range(self.nx)] for y in range(self.ny)]
        extensions = [
            ("ERR", 1, constant(0.25), -32),
            ("ERR", 2, constant(0.125), -32),
            ("DQ", 1, dq, 16),
            ("BKG", 1, constant(0.5), -64),
            ("CUBE", 1, [constant(0.5), constant(0.125)], -32),
            ("ONE", 1, [constant(0.125)], -32),
            ("VAR", 1, constant(0.015625), -32),
        ]
        self.write("dq.fits", dq, 16, cards=())
        return self.write(name, self.rows, extensions=extensions)

    def run_find(self, *words, image="sky.fits", preset="radio"):
        return command.run("find", image, "--preset", preset, *words, cwd=self.folder)

    def find(self, options, image="sky.fits", preset="radio"):
        done = self.run_find(*options.split(), "--json", image=image, preset=preset)
        self.assert_done(done)
        return json.loads(done.stdout)

    def refuse(self, code, options, *says, image="sky.fits"):
        words = ["find", image, "--preset", "radio", *options.split()]
        return self.assert_refused(code, *words, says=says, cwd=self.folder)

    def hash_of(self, *words, **how):
        return self.find(*words, **how)["catalogue_hash"]


class TestMapParts(MapsTestCase):
    """Which HDU and plane of which file is read."""

    def test_hdus_and_planes(self):
        self.write_all()
        plain = "--background 0.5 --rms 0.125"
        masked = plain + " --mask dq.fits"
        self.assertNotEqual(self.hash_of(plain), self.hash_of(masked))
        self.assertNotEqual(self.hash_of(plain), self.hash_of("--background 0.5 --rms 0.25"))
        other, own = "sky.fits", "all.fits"
        for image, options, wanted, level, rms in (
            (other, "--background 0.5 --rms all.fits --rms-hdu err,2", plain, 0.5, "all.fits[err,2]"),
            (other, "--background 0.5 --rms all.fits --rms-hdu 2", plain, 0.5, "all.fits[2]"),
            (other, "--background 0.5 --rms all.fits --rms-hdu CUBE --rms-plane 1", plain, 0.5,
             "all.fits[CUBE], plane 1"),
            (other, "--background 0.5 --rms all.fits --rms-hdu one", plain, 0.5, "all.fits[one]"),
            (other, "--background 0.5 --rms all.fits --rms-hdu one --rms-plane 0", plain, 0.5,
             "all.fits[one], plane 0"),
            (other, "--background all.fits --background-hdu BKG --rms 0.125", plain,
             "all.fits[BKG]", 0.125),
            (other, "--background all.fits --background-hdu CUBE --background-plane 0 --rms 0.125",
             plain, "all.fits[CUBE], plane 0", 0.125),
            (other, plain + " --mask all.fits --mask-hdu DQ", masked, 0.5, 0.125),
            (own, "--background-hdu BKG --rms-hdu ERR,2 --mask-hdu 3", masked, "all.fits[BKG]",
             "all.fits[ERR,2]"),
            (own, "--background-hdu BKG --rms-hdu CUBE --rms-plane 1", plain, "all.fits[BKG]",
             "all.fits[CUBE], plane 1"),
            (own, "--background 0.5 --rms-hdu VAR --rms 0.125", None, 0, 0),
        ):
            with self.subTest(options, image=image):
                if wanted is None:
                    self.refuse(2, options, "--rms-hdu: found with the number --rms", image=image)
                    continue
                found = self.find(options, image=image)
                self.assertEqual(found["catalogue_hash"], self.hash_of(wanted))
                background = found["background"]
                self.assertEqual((background["given"], background["given_rms"]), (level, rms))
                self.assertEqual(found["notes"], self.find(wanted)["notes"])

    def test_parts_that_mean_nothing(self):
        self.write_all()
        for options, *says in (
            ("--rms-plane 1", "--rms-plane: found without --rms and --rms-hdu"),
            ("--mask-plane 0", "--mask-plane: found without --mask and --mask-hdu"),
            ("--background-plane 0", "--background-plane: found without"),
            ("--background 1 --background-hdu 1", "--background-hdu: found with the number"),
            ("--rms 1 --rms-plane 1", "--rms-plane: found with the number"),
            ("--rms-kind weight", "--rms-kind: found 'weight' without --rms and --rms-hdu"),
            ("--rms 1 --rms-kind weight", "--rms-kind: found 'weight' with the number --rms 1"),
            ("--rms-kind noise", "--rms-kind: found 'noise'", "rms, variance or weight"),
            ("--rms-hdu -1", "--rms-hdu: found '-1'"),
            ("--mask-hdu ,2", "--mask-hdu: found ',2'"),
            ("--mask-hdu DQ,x", "--mask-hdu: found 'x'"),
            ("--rms-plane -1", "--rms-plane: found '-1'"),
        ):
            self.refuse(2, options, *says)
        for options, *says in (
            ("--rms-hdu ERR", "sky.fits: found no HDU 'ERR'", "(read for --rms)"),
            ("--mask all.fits --mask-hdu 9", "all.fits: found no HDU '9'", "(read for --mask)"),
            ("--rms all.fits --rms-hdu CUBE", "all.fits[5]", "the choice of a plane", "--rms"),
            ("--rms all.fits --rms-hdu 5 --rms-plane 2", "all.fits[5]: there is no plane 2"),
        ):
            self.refuse(1, options + " -o a.csv", *says)
        for option in ("--rms-hdu 1", "--mask-plane 0", "--rms-kind rms", "--background-hdu 1"):
            words = ["find", "sky.fits", *option.split()]
            says = [f"{option.split()[0]}: found with --preset lesson"]
            self.assert_refused(2, *words, says=says, cwd=self.folder)

    def test_the_image_itself_is_no_map_of_it(self):
        os.symlink("sky.fits", self.folder / "link.fits")
        os.link(self.folder / "sky.fits", self.folder / "hard.fits")
        (self.folder / "sub").mkdir()
        flat = [[*row] for row in self.rows]
        cube = fits_files.hdu(
            [v for rows in (flat, constant(0.125)) for row in rows for v in row],
            axes=(self.nx, self.ny, 2), cards=UNIT,
        )
        (self.folder / "cube.fits").write_bytes(cube)
        for option in OPTIONS:
            for name in ("sky.fits", "./sky.fits", "sub/../sky.fits", "link.fits", "hard.fits"):
                for image in ("sky.fits", "link.fits"):
                    says = [f"{image}[0]: found the image itself as {option};", f"{option}-hdu"]
                    self.refuse(1, f"{option} {name}", *says, image=image)
            self.refuse(1, f"{option}-hdu 0", "found the image itself as " + option)
            itself = f"--plane 1 {option} ./cube.fits {option}-plane 1"
            self.refuse(1, itself, "cube.fits[0]: found the image itself", image="cube.fits")
        for part in ("--rms cube.fits", "--rms-hdu 0"):
            found = self.hash_of(f"--plane 0 --background 0.5 {part} --rms-plane 1",
                                 image="cube.fits")
            self.assertEqual(found, self.hash_of("--background 0.5 --rms 0.125"))
        # A copy is another image.
        self.write("copy.fits", self.rows)
        self.find("--background copy.fits --rms 0.125")

    def test_many_images_with_maps_of_their_own(self):
        names = [self.write_all("a.fits"), self.write_all("b.fits")]
        content = (self.folder / "b.fits").read_bytes()
        # Another noise in the second one, and another unit in the third one.
        (self.folder / "b.fits").write_bytes(content.replace(b"'ERR     '", b"'XXX     '", 1)
                                             .replace(b"'ONE     '", b"'ERR     '", 1))
        (self.folder / "c.fits").write_bytes(content.replace(b"'Jy/beam '", b"'mJy/beam'", 1))
        names += ["c.fits", "sky.fits"]
        options = "--preset radio --background 0.5 --rms-hdu ERR --mask-hdu DQ --json".split()
        done = command.run("find", *names, *options, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"kastor: sky.fits: found no HDU 'DQ'", done.stderr)
        alone = [command.run("find", n, *options, cwd=self.folder).stdout for n in names[:3]]
        self.assertTrue(done.stdout.startswith(b"".join(alone)), done.stdout)
        self.assertEqual(len({json.loads(line)["catalogue_hash"] for line in alone}), 3)
        # One map for images of two units; and one of the images is the map.
        self.write("noise.fits", constant(0.125), cards=UNIT)
        names = ["a.fits", "c.fits", "noise.fits", "b.fits"]
        options = "--preset radio --background 0 --rms noise.fits --json".split()
        done = command.run("find", *names, *options, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"kastor: noise.fits[0]: found the image itself as --rms", done.stderr)
        lines = done.stdout.splitlines(keepends=True)
        for i in (0, 1, 3):
            alone = command.run("find", names[i], *options, cwd=self.folder)
            self.assertEqual(alone.stdout, lines[i], names[i])


class TestMapUnits(MapsTestCase):
    """Maps in other units than the image, and the kinds of noise."""

    def random_map(self, low=0.05, high=0.3):
        random_numbers = random.Random(1)
        return [[random_numbers.uniform(low, high) for _ in row] for row in self.rows]

    def test_units_are_converted_or_refused(self):
        self.write("double.fits", self.rows, bitpix=-64)
        rms = self.random_map()
        #: unit, kind, what the pixels are of the noise in Jy/beam.
        for unit, kind, value in (
            ("Jy/beam", "rms", lambda v: v),
            ("JY BEAM-1", "rms", lambda v: v),
            ("mJy/beam", "rms", lambda v: v * 1000),
            ("uJy/beam", "rms", lambda v: v * 1e6),
            ("(Jy/beam)**2", "variance", lambda v: v * v),
            ("Jy2/beam2", "variance", lambda v: v * v),
            ("mJy2/beam2", "variance", lambda v: v * v * 1e6),
            ("1/(Jy/beam)**2", "weight", lambda v: 1 / (v * v)),
            ("(mJy/beam)**-2", "weight", lambda v: 1 / (v * v) / 1e6),
        ):
            with self.subTest(unit):
                pixels = [[value(v) for v in row] for row in rms]
                self.write("map.fits", pixels, bitpix=-64, cards=[("BUNIT", unit)])
                factor = value(1.0)

                def noise(v):
                    if kind == "rms":
                        return v / factor
                    return math.sqrt(v / factor) if kind == "variance" else 1 / math.sqrt(v / factor)

                if unit == "(mJy/beam)**-2":
                    noise = lambda v: 1 / math.sqrt(v * 1e6)  # noqa: E731
                self.write("rms.fits", [[noise(v) for v in row] for row in pixels], bitpix=-64)
                options = f"--background 0.5 --rms map.fits --rms-kind {kind}"
                found = self.find(options, image="double.fits")
                wanted = self.find("--background 0.5 --rms rms.fits", image="double.fits")
                self.assertEqual(found["catalogue_hash"], wanted["catalogue_hash"])
                self.assertEqual(found["notes"], wanted["notes"])
                shown = "map.fits" if kind == "rms" else f"map.fits, {kind}"
                self.assertEqual(found["background"]["given_rms"], shown)
                # float32: rounded once more, to nearest.
                singles = [[reference.as_float32(noise(v)) for v in row] for row in pixels]
                self.write("rms.fits", singles)
                self.assertEqual(
                    self.hash_of(options), self.hash_of("--background 0.5 --rms rms.fits")
                )
        self.write("level.fits", constant(500.0), cards=[("BUNIT", "mJy/beam")])
        self.assertEqual(
            self.hash_of("--background level.fits --rms 0.1"),
            self.hash_of("--background 0.5 --rms 0.1"),
        )
        for unit, kind in (
            ("counts", "rms"), ("Jy", "rms"), ("Jy/pixel", "rms"), ("MJY/BEAM", "rms"),
            ("(Jy/beam)**2", "rms"), ("Jy/beam", "variance"), ("Jy/beam", "weight"),
            ("(Jy/beam)**2", "weight"),
        ):
            self.write("map.fits", rms, cards=[("BUNIT", unit)])
            says = [f"map.fits[0]: found the unit '{unit}'; expected", "'Jy/beam'", "for --rms"]
            self.refuse(1, f"--rms map.fits --rms-kind {kind}", *says)
        self.write("map.fits", rms, cards=[("BUNIT", "K")])
        self.refuse(1, "--background map.fits", "found the unit 'K'", "--background")

    def test_units_that_are_missing(self):
        bare = self.write("bare.fits", self.rows, cards=())
        self.write("map.fits", constant(0.125), cards=())
        self.write("milli.fits", constant(0.125), cards=[("BUNIT", "mJy/beam")])
        wanted = self.hash_of("--background 0.5 --rms 0.125")
        for image, name, note in (
            ("sky.fits", "map.fits",
             "--rms map.fits[0] has no unit; it is taken to be that of the image, Jy/beam"),
            (bare, "milli.fits", "the image has no unit; the values of --rms milli.fits[0], in "
             "mJy/beam, are taken as they are"),
            (bare, "map.fits", None),
        ):
            with self.subTest(image=image, name=name):
                options = f"--background 0.5 --rms {name}"
                found = self.find(options, image=image)
                self.assertEqual(found["catalogue_hash"], wanted)
                plain = self.find("--background 0.5 --rms 0.125", image=image)["notes"]
                self.assertEqual(found["notes"], ([note] if note else []) + plain)
                if note:
                    text = self.run_find(*options.split(), image=image).stdout.decode()
                    self.assertIn(f"note: {note}\n", text)
        # --unit is for the image; a map in the unit that it replaces goes with it.
        self.write("counts.fits", self.rows, cards=[("BUNIT", "counts")])
        self.write("map.fits", constant(0.125), cards=[("BUNIT", "ct")])
        found = self.find("--unit Jy/beam --background 0.5 --rms map.fits", image="counts.fits")
        self.assertEqual(found["catalogue_hash"], wanted)
        self.assertIn("map.fits[0] is in 'ct', a unit like the BUNIT that --unit", found["notes"][0])
        self.write("map.fits", constant(125.0), cards=[("BUNIT", "mJy/beam")])
        found = self.find("--unit Jy/beam --background 0.5 --rms map.fits", image="counts.fits")
        self.assertEqual(found["catalogue_hash"], wanted)
        self.refuse(1, "--unit K --rms map.fits", "found the unit 'mJy/beam'", image="counts.fits")
        # Each image of a run by its own header; also with a card of free format.
        milli = [[1000 * value for value in row] for row in self.rows]
        self.write("a.fits", self.rows, cards=[("BUNIT", "Jy/beam")])
        self.write("b.fits", milli, cards=[("BUNIT", "mJy/beam")])
        free = (self.folder / "b.fits").read_bytes()
        card = b"BUNIT   = 'mJy/beam'"
        self.assertIn(card, free)
        free = free.replace(card + b"  ", b"BUNIT   =   'mJy/beam'")
        (self.folder / "b.fits").write_bytes(free)
        words = "--unit K --beam 5,5 --background 0 --rms map.fits --cell 32".split()
        names = ("a.fits", "b.fits")
        alone = [self.hash_of(" ".join(words), image=name) for name in names]
        for order in (("a.fits", "b.fits"), ("b.fits", "a.fits")):
            done = self.run_find(*words, "--json", *order[1:], image=order[0])
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            found = {line["file"].rsplit("/", 1)[-1]: line["catalogue_hash"] for line in lines}
            self.assertEqual([found["a.fits"], found["b.fits"]], alone)
        for kind, value, words in (
            ("variance", 0.015625, "the square of "), ("weight", 64.0, "1 / the square of ")
        ):
            self.write("map.fits", constant(value), cards=())
            found = self.find(f"--background 0.5 --rms map.fits --rms-kind {kind}")
            self.assertEqual(found["catalogue_hash"], wanted)
            self.assertIn(f"taken to be {words}that of the image, Jy/beam", found["notes"][0])

    def test_pixels_that_give_no_noise(self):
        """They are as if masked, for the mesh as well."""
        mask = [[int((x * 7 + y * 5) % 23 == 0) for x in range(self.nx)] for y in range(self.ny)]
        mask[0][:5] = [0, 0, 0, 1, 1]
        self.write("mask.fits", mask, bitpix=16, cards=())
        count = sum(map(sum, mask))
        first = next((x, y) for y in range(self.ny) for x in range(self.nx) if mask[y][x])
        for kind, good, bads in (
            ("rms", 0.125, (0.0, -1.0, math.nan, math.inf, 1e-300, 1e300)),
            ("variance", 0.015625, (0.0, math.nan, math.inf)),
            ("weight", 64.0, (0.0, -0.0, math.nan, math.inf)),
        ):
            for bad in (None, *bads):
                with self.subTest(kind=kind, bad=bad):
                    value = [good, bads[0] if bad is None else bad]
                    pixels = [[value[m] for m in row] for row in mask]
                    self.write("map.fits", pixels, bitpix=-64)
                    cards = {"rms": "Jy/beam", "variance": "Jy2/beam2", "weight": "beam2/Jy2"}
                    self.write("map.fits", pixels, -64, cards=[("BUNIT", cards[kind])])
                    for level in ("--background 0.5", "--cell 20"):
                        found = self.find(f"{level} --rms map.fits --rms-kind {kind}")
                        wanted = self.find(f"{level} --rms 0.125 --mask mask.fits")
                        self.assertEqual(found["catalogue_hash"], wanted["catalogue_hash"])
                        self.assertEqual(
                            found["notes"][0],
                            f"{count} of the {self.nx * self.ny} pixels of --rms map.fits[0] give "
                            f"no finite noise above 0, the first at x = {first[0]}, y = {first[1]}, "
                            "and are not used",
                        )
                        self.assertEqual(found["notes"][1:], wanted["notes"])
        pixels = [[[0.5, math.nan][m] for m in row] for row in mask]
        self.write("level.fits", pixels)
        found = self.find("--background level.fits --rms 0.125")
        wanted = self.find("--background 0.5 --rms 0.125 --mask mask.fits")
        self.assertEqual(found["catalogue_hash"], wanted["catalogue_hash"])
        self.assertIn("give no finite background", found["notes"][0])

    def test_negative_variances_are_refused(self):
        pixels = constant(0.5)
        pixels[3][7] = pixels[5][2] = -1e-9
        self.write("map.fits", pixels, cards=())
        for kind in ("variance", "weight"):
            says = ["map.fits[0]: found 2 negative values, the first at x = 7, y = 3", kind]
            self.refuse(1, f"--rms map.fits --rms-kind {kind} -o a.csv", *says)

    def test_no_pixel_is_left(self):
        self.write("ones.fits", constant(1), bitpix=8, cards=())
        self.write("zeros.fits", constant(0.0))
        self.write("blank.fits", constant(math.nan))
        given = "--background 0.5 --rms 0.125"
        for options, name in (
            (given + " --mask ones.fits", "--mask ones.fits[0]"),
            ("--mask ones.fits", "--mask ones.fits[0]"),
            ("--background 0.5 --rms zeros.fits", "--rms zeros.fits[0]"),
            ("--rms zeros.fits", "--rms zeros.fits[0]"),
            ("--background blank.fits", "--background blank.fits[0]"),
            ("--box 0,5,0,5 --rms zeros.fits", "--box or --rms zeros.fits[0]"),
        ):
            says = [f"sky.fits[0]: found no pixel that is not excluded by {name};"]
            self.refuse(1, options + " -o a.csv", *says)

    def test_masks_of_integers(self):
        given = "--background 0.5 --rms 0.125"
        values = [0, 0, 1, 0, 2, 0, 0, 64]
        mask = [[values[(x // 3 + y // 4) % 8] for x in range(self.nx)] for y in range(self.ny)]
        rows = [[math.nan if m else v for v, m in zip(*pair)] for pair in zip(self.rows, mask)]
        above, _ = reference.islands(rows, 0.5, 0.125, seed=5, flood=3)
        for bitpix, bits, cards in (
            (8, 1, []), (16, 1, []), (32, 1, []), (64, 1, []), (32, 1 << 24, []),
            (64, 1 << 56, []), (16, -512, []), (-32, 0.5, []), (-64, 1e-300, []),
            (16, 1, [("BZERO", 32768)]), (32, 1, [("BZERO", 2147483648)]),
        ):
            with self.subTest(bitpix=bitpix, bits=bits, cards=cards):
                zero = cards[0][1] if cards else 0
                self.write("m.fits", [[m * bits - zero for m in row] for row in mask], bitpix,
                           cards=[*cards, *UNIT])
                self.assertEqual(self.find(given + " --mask m.fits")["sources"], len(above))
        self.write("m.fits", mask, 64, cards=[("BZERO", 9223372036854775808)])
        self.refuse(1, given + " --mask m.fits", "m.fits[0]: the mask has 64-bit integers with BZERO")


class TestMapOrigins(MapsTestCase):
    """What is written of the maps, and what is not written over them."""

    OWN = "--mask-hdu DQ --background-hdu BKG --rms-hdu VAR --rms-kind variance"

    def write_variance(self, name):
        self.write_all(name)
        content = (self.folder / name).read_bytes()
        at = content.index(b"'VAR     '")
        tail = content[at:].replace(b"'Jy/beam '", b"'Jy2/beam2'", 1)
        # One column of the comment gives way to the longer text.
        end = tail.index(b"'Jy2/beam2'") + len(b"'Jy2/beam2'")
        tail = tail[:end] + tail[end + 1 :]
        (self.folder / name).write_bytes(content[:at] + tail)

    def test_provenance_and_resume(self):
        for name in ("a.fits", "b.fits"):
            self.write_variance(name)
        self.write("noise.fits", constant(0.125))
        for options in (self.OWN, "--mask dq.fits --rms all.fits --rms-hdu ERR,2 --background 0.5",
                        "--rms all.fits --rms-hdu CUBE --rms-plane 1", "--rms-hdu 2"):
            self.write_all()
            with self.subTest(options):
                words = ["find", "a.fits", "b.fits", "--preset", "radio", *options.split()]
                words += ["-o", "out/", "--format", "ecsv"]
                self.assert_done(command.run(*words, "--overwrite", cwd=self.folder))
                text = (self.folder / "out/a.ecsv").read_text()
                for pair in options.split("--")[1:]:
                    self.assertIn(f" --{pair.strip()}", text)
                done = command.run(*words, "--resume", cwd=self.folder)
                self.assert_done(done)
                self.assertIn(b"skipped 2 images", done.stderr)
                done = command.run(*words, "--rms-plane", "0", "--resume", cwd=self.folder)
                self.assertEqual(done.returncode, 2 if "--rms-plane" in options else 1)

    def test_the_configuration_file(self):
        self.write_variance("a.fits")
        done = self.run_find(*self.OWN.split(), "--rms-plane", "0", "--dump-config", image="a.fits")
        self.assert_done(done)
        text = done.stdout.decode()
        for line in ('mask-hdu = "DQ"', 'rms-hdu = "VAR"', 'rms-kind = "variance"',
                     "rms-plane = 0", "#mask-plane = K  # no fixed default"):
            self.assertIn(f"\n{line}\n", text)
        (self.folder / "c.toml").write_bytes(done.stdout)
        words = ["find", "a.fits", "--json", "--config", "c.toml"]
        found = command.run(*words, cwd=self.folder)
        self.assert_done(found)
        self.assertEqual(
            json.loads(found.stdout)["catalogue_hash"], self.hash_of(self.OWN, image="a.fits")
        )
        (self.folder / "c.toml").write_text("preset = 'radio'\nrms-plane = 1\n")
        says = ["c.toml:2: rms-plane: found without --rms and --rms-hdu"]
        self.assert_refused(2, *words, says=says, cwd=self.folder)

    def test_no_map_is_replaced(self):
        self.write_all()
        (self.folder / "out").mkdir()
        self.write("out/sky.fits", constant(0.125))
        os.symlink("out/sky.fits", self.folder / "link.fits")
        before = {name: (self.folder / name).read_bytes() for name in ("all.fits", "out/sky.fits")}
        for options in ("--mask all.fits --mask-hdu DQ", "--rms all.fits --rms-hdu 2",
                        "--background all.fits --background-hdu BKG"):
            self.refuse(1, options + " --overwrite -o all.fits", "all.fits: is the input")
            self.refuse(1, options + " --overwrite --labels all.fits", "all.fits: is the input")
        for name in ("out/sky.fits", "link.fits"):
            says = ["out/sky.fits: is the input"]
            self.refuse(1, f"--rms {name} --overwrite -o out/", *says)
        for name, content in before.items():
            self.assertEqual((self.folder / name).read_bytes(), content)

    def test_every_backend_gives_the_same_bits(self):
        self.write_variance("a.fits")
        found = set()
        for backend in command.backends():
            words = [*self.OWN.split(), "--on", backend, "--rms-map", "r.fits", "--overwrite"]
            done = self.run_find(*words, "--json", image="a.fits")
            self.assert_done(done)
            found.add((done.stdout, (self.folder / "r.fits").read_bytes()))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    command.main(__doc__)

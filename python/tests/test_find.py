# SPDX-License-Identifier: Apache-2.0
"""`kastor.find`: images of every kind give the catalogue of the command."""

import inspect
import os
import re
import tempfile
import tracemalloc
import unittest

import astropy.units as u
import numpy as np
from astropy.io import fits
from astropy.nddata import CCDData, NDData
from astropy.table import QTable
from astropy.wcs import WCS
from skies import DATA, command, command_json, folder, pixels_of, sky

import kastor


class SameAsTheCommand(unittest.TestCase):
    """Every kind of image has the hash that the command has for its file."""

    @classmethod
    def setUpClass(cls):
        cls.path = sky()
        cls.pixels, cls.header = pixels_of(cls.path)
        cls.expected = {
            preset: command_json("find", cls.path, "--preset", preset) for preset in ("lesson", "radio", "sextractor")
        }

    def check(self, image, preset="radio", **options):
        found = kastor.find(image, preset=preset, **options)
        self.assertEqual(found.hash, self.expected[preset]["catalogue_hash"])
        return found

    def test_files(self):
        for preset in self.expected:
            found = self.check(self.path, preset)
            self.assertEqual(len(found), self.expected[preset].get("sources", self.expected[preset].get("islands")))
        self.check(str(self.path))

    def test_arrays(self):
        for preset in self.expected:
            self.check(self.pixels, preset, header=self.header)

    def test_components(self):
        found = kastor.find(self.pixels, header=self.header, preset="radio")
        self.assertEqual(found.component_hash, self.expected["radio"]["component_hash"])
        self.assertGreater(len(found.components), 0)
        self.assertIsNone(kastor.find(self.pixels, header=self.header, preset="radio", components=False).components)
        self.assertIsNotNone(
            kastor.find(self.pixels, header=self.header, preset="sextractor", components=True).components
        )

    def test_byte_order_and_layout(self):
        self.check(self.pixels.astype(">f4"), header=self.header)
        padded = np.zeros((512, 600), "float32")
        padded[:, 40:552] = self.pixels
        self.check(padded[:, 40:552], header=self.header)
        self.check(self.pixels[np.newaxis, np.newaxis], header=self.header)
        read_only = self.pixels.copy()
        read_only.flags.writeable = False
        self.check(read_only, header=self.header)

    def test_what_astropy_has(self):
        with fits.open(self.path) as hdus:
            self.check(hdus)
            self.check(hdus[0])
        self.check(self.pixels * u.Unit("Jy/beam"), header=self.header)
        self.check(NDData(self.pixels, wcs=WCS(self.header), unit="Jy/beam"), beam=self.beam())
        self.check(CCDData(self.pixels, wcs=WCS(self.header), unit="Jy/beam"), beam=self.beam())
        self.check(self.pixels, wcs=WCS(self.header), unit="Jy/beam", beam=self.beam())

    def beam(self):
        return tuple(3600 * self.header[key] for key in ("BMAJ", "BMIN")) + (self.header["BPA"],)

    def test_doubles(self):
        path = sky(dtype="float64")
        pixels, header = pixels_of(path)
        expected = command_json("find", path, "--preset", "radio")["catalogue_hash"]
        for image in (pixels, pixels.astype(">f8")):
            self.assertEqual(kastor.find(image, header=header, preset="radio").hash, expected)

    def test_integers_are_those_of_files(self):
        rounded = np.round(100 * self.pixels / self.pixels.std())
        for type_ in ("uint8", "int16", "uint16", "int32", "uint32", "int64"):
            info = np.iinfo(type_)
            image = np.clip(rounded, info.min, info.max).astype(type_)
            path = folder()[0] / f"{type_}.fits"
            fits.PrimaryHDU(image).writeto(path, overwrite=True)
            expected = command_json("find", path)["catalogue_hash"]
            for order in "=", ">":
                self.assertEqual(
                    kastor.find(image.astype(image.dtype.newbyteorder(order))).hash, expected, (type_, order)
                )

    def test_masks(self):
        bad = np.zeros(self.pixels.shape, bool)
        bad[100:200, 50:300] = True
        mask = folder()[0] / "mask.fits"
        fits.PrimaryHDU(bad.astype("uint8")).writeto(mask, overwrite=True)
        expected = command_json("find", self.path, "--preset", "radio", "--mask", mask)["catalogue_hash"]
        self.assertNotEqual(expected, self.expected["radio"]["catalogue_hash"])
        for options in (
            {"image": self.pixels, "mask": bad},
            {"image": np.ma.array(self.pixels, mask=bad)},
            {"image": self.pixels, "mask": mask},
        ):
            self.assertEqual(kastor.find(**options, header=self.header, preset="radio").hash, expected)
        blank = np.where(bad, np.float32(np.nan), self.pixels)
        self.assertEqual(kastor.find(np.ma.array(self.pixels, mask=bad)).hash, kastor.find(blank).hash)
        self.assertTrue(np.isfinite(self.pixels).all())

    def test_given_maps(self):
        found = self.check(self.pixels, header=self.header, maps=("background", "rms"))
        again = kastor.find(
            self.pixels, header=self.header, preset="radio", background=found.maps["background"], rms=found.maps["rms"]
        )
        files = {}
        for name in ("background", "rms"):
            files[name] = folder()[0] / f"{name}.fits"
            fits.PrimaryHDU(found.maps[name], header=fits.Header([("BUNIT", self.header["BUNIT"])])).writeto(
                files[name], overwrite=True
            )
        expected = command_json(
            "find", self.path, "--preset", "radio", "--background", files["background"], "--rms", files["rms"]
        )
        self.assertEqual(again.hash, expected["catalogue_hash"])
        level = float(found.maps["rms"].max())
        self.assertEqual(
            kastor.find(self.pixels, header=self.header, preset="radio", background=0, rms=level).hash,
            command_json("find", self.path, "--preset", "radio", "--background", 0, "--rms", level)["catalogue_hash"],
        )

    def test_maps_are_those_of_files(self):
        options = {
            "background": "--background-map",
            "rms": "--rms-map",
            "snr": "--snr-map",
            "residual": "--residual",
            "labels": "--labels",
            "model": "--model",
            "fit_residual": "--fit-residual",
        }
        found = kastor.find(self.pixels, header=self.header, preset="radio", maps=options)
        names = {name: folder()[0] / f"map-{name}.fits" for name in options}
        command(
            "find",
            self.path,
            "--preset",
            "radio",
            "--quiet",
            "--overwrite",
            "-o",
            folder()[0] / "x.csv",
            *(part for name, option in options.items() for part in (option, names[name])),
        )
        self.assertEqual(sorted(found.maps), sorted(options))
        for name, path in names.items():
            np.testing.assert_array_equal(found.maps[name], pixels_of(path)[0], name)

    def test_every_backend_and_call(self):
        for backend in kastor.backends():
            for _ in range(3):
                self.check(self.pixels, header=self.header, on=backend)
        # Plans are kept from call to call: other options and other shapes in between change nothing.
        self.check(self.pixels, "lesson")
        kastor.find(self.pixels[:300], preset="radio", header=self.header)
        kastor.find(self.pixels, preset="radio", header=self.header, seed=8)
        self.check(self.pixels, header=self.header)

    def test_nothing_is_copied(self):
        large = np.zeros((3000, 3000), "float32")
        large[::7, ::5] = 1
        kastor.find(large[:64, :64], level=2)
        tracemalloc.start()
        before = resident()
        found = kastor.find(large, level=2)
        after = resident()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertEqual(len(found), 0)
        self.assertLess(peak, 0.1 * large.nbytes)
        self.assertLess(after - before, 0.5 * large.nbytes)  # work space of the clip


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Options(unittest.TestCase):
    def test_every_option_is_an_argument(self):
        """With the exceptions of what prints, is for many images, or for images that are not in memory."""
        others = {
            "find": {"components", "json", "quiet", "timings", "format", "resume", "memory-limit", "band-rows"},
            "measure": {"at", "json", "quiet", "timings"},
        }
        for name, function in (("find", kastor.find), ("measure", kastor.measure)):
            keys = set(re.findall(r"^#?([a-z0-9-]+) = ", command(name, "--dump-config"), re.M))
            arguments = set(inspect.signature(function).parameters)
            missing = {key for key in keys - others[name] if key.replace("-", "_") not in arguments}
            self.assertEqual(missing, set(), name)
            # And none that the command does not have.
            own = {"image", "header", "wcs", "stream", "maps", "components", "components_output", "at"}
            self.assertEqual({each for each in arguments - own if each.replace("_", "-") not in keys}, set(), name)

    def test_they_reach_the_command(self):
        path = sky()
        for options, typed in (
            ({"seed": 7.5, "flood": 4}, ("--seed", 7.5, "--flood", 4)),
            ({"cell": (48, 64)}, ("--cell", "64x48")),
            ({"box": (10, 300, 20, 400)}, ("--box", "10,300,20,400")),
            ({"negative": True}, ("--negative",)),
            ({"deblend": True}, ("--deblend", "on")),
            ({"blank_value": 0.0}, ("--blank-value", 0.0)),
            ({"beam": (9, 8, 20)}, ("--beam", "9,8,20")),
            ({"noise": "white"}, ("--noise", "white")),
        ):
            expected = command_json("find", path, "--preset", "radio", *typed)
            found = kastor.find(path, preset="radio", **options)
            self.assertEqual(
                (found.hash, found.report["notes"]), (expected["catalogue_hash"], expected["notes"]), options
            )

    def test_files_are_written(self):
        with tempfile.TemporaryDirectory() as here:
            names = [os.path.join(here, name) for name in ("a.csv", "b.vot")]
            picture = os.path.join(here, "c.png")
            components = os.path.join(here, "d.fits")
            kastor.find(sky(), preset="radio", output=names, picture=picture, components_output=components)
            self.assertEqual(sorted(os.listdir(here)), ["a.csv", "b.vot", "c.png", "d.fits"])
            pixels, header = pixels_of(sky())
            kastor.find(pixels, header=header, preset="radio", picture=picture, overwrite=True)
            with self.assertRaisesRegex(kastor.Error, "a.csv.*exists"):
                kastor.find(pixels, header=header, preset="radio", output=names[0])


class Results(unittest.TestCase):
    def test_tables(self):
        found = kastor.find(sky(), preset="radio")
        table = found.table()
        self.assertIsInstance(table, QTable)
        self.assertEqual(table["ra_deg_cont"].unit, u.deg)
        self.assertEqual(table["flux_int"].unit, u.Jy)
        self.assertTrue(table["ra_deg_cont"].info.meta["ucd"].startswith("pos.eq.ra"))
        np.testing.assert_array_equal(table["ra_deg_cont"].value, found.sources["ra_deg_cont"])
        self.assertEqual(len(found.table("components")), len(found.components))
        self.assertIn(f"{len(found)} islands", repr(found))
        self.assertIn("<table>", found._repr_html_())
        self.assertEqual(str(found).splitlines()[0].split()[0], command("find", sky(), "--preset", "radio").split()[0])

    def test_written_tables_are_those_of_the_command(self):
        found = kastor.find(sky(), preset="radio")
        with tempfile.TemporaryDirectory() as here:
            for name in ("x.csv", "x.ecsv", "x.vot", "x.reg"):
                mine, other = os.path.join(here, "mine-" + name), os.path.join(here, "other-" + name)
                found.write(mine)
                command("find", sky(), "--preset", "radio", "-o", other, "--quiet")
                with open(mine) as one, open(other) as two:
                    self.assertEqual(one.read(), two.read(), name)
            found.write(os.path.join(here, "g.vot"), "components", names="pybdsf")
            self.assertIn("Peak_flux", QTable.read(os.path.join(here, "g.vot")).colnames)
            with self.assertRaisesRegex(kastor.Error, "exists"):
                found.write(os.path.join(here, "x.csv").replace("x.csv", "mine-x.csv"))

    def test_without_sources(self):
        found = kastor.find(np.zeros((20, 30), "float32"), level=1)
        self.assertEqual((len(found), len(found.sources), found.shape), (0, 0, (20, 30)))
        self.assertIn("<table>", found._repr_html_())


class Failures(unittest.TestCase):
    def test_one_sentence(self):
        pixels = np.random.default_rng(1).normal(size=(64, 64)).astype("float32")
        for error, text, options in (
            (ValueError, "^seed.*-1", {"preset": "radio", "seed": -1}),
            (ValueError, "blank_value: found 'x'", {"blank_value": "x"}),
            (ValueError, "two, \\(y, x\\)", {"image": np.zeros((2, 3, 4), "float32")}),
            (ValueError, "3 x 0 pixels", {"image": np.zeros((0, 3), "float32")}),
            (TypeError, "float16", {"image": pixels.astype("float16")}),
            (TypeError, "complex", {"image": pixels.astype("complex64")}),
            (TypeError, "bool", {"image": pixels > 0}),
            (TypeError, "int8", {"image": pixels.astype("int8")}),
            (TypeError, "contiguous", {"image": pixels.T}),
            (TypeError, "contiguous", {"image": pixels[:, ::2]}),
            (TypeError, "contiguous", {"image": pixels[::-1]}),
            (TypeError, "dict", {"image": {}}),
            (TypeError, "bool", {"mask": np.zeros((64, 64)), "preset": "radio"}),
            ((ValueError, kastor.Error), "64", {"mask": np.zeros((3, 3), bool), "preset": "radio"}),
            ((ValueError, kastor.Error), "64", {"mask": np.zeros((3, 3), bool)}),
            (ValueError, "maps", {"maps": ["noise"]}),
            (ValueError, "lesson", {"components": True}),
            (kastor.DeviceError, "on: found 'gpu'.*serial", {"on": "gpu"}),
            (kastor.Error, "no such|cannot", {"image": "missing.fits"}),
            (kastor.Error, "finite", {"image": np.full((9, 9), np.nan, "float32")}),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text) as caught:
                kastor.find(**({"image": pixels} | options))
            self.assertNotRegex(str(caught.exception), r"\n|--[a-z]|kastor find")

    def test_names_of_exceptions(self):
        self.assertEqual(
            [f"{each.__module__}.{each.__name__}" for each in (kastor.Error, kastor.DeviceError)],
            ["kastor.Error", "kastor.DeviceError"],
        )
        self.assertTrue(issubclass(kastor.DeviceError, kastor.Error) and issubclass(kastor.Error, RuntimeError))

    def test_unknown_arguments(self):
        with self.assertRaises(TypeError):
            kastor.find("a.fits", sead=5)

    def test_the_next_call_works(self):
        with self.assertRaises(kastor.Error):
            kastor.find(np.full((9, 9), np.nan, "float32"))
        self.assertEqual(len(kastor.find(np.eye(9, dtype="float32"), level=0.5, connectivity=8)), 1)


class RealImages(unittest.TestCase):
    def test_same_as_the_command(self):
        images = sorted(DATA.glob("*.fits"), key=lambda path: path.stat().st_size)[:12] if DATA.is_dir() else []
        if not images:
            self.skipTest(f"no FITS images in {DATA}")
        compared = []
        for path in images:
            try:
                expected = command_json("find", path, "--preset", "radio", "--components", "none")
            except AssertionError as refused:
                with self.assertRaises((kastor.Error, ValueError)):
                    kastor.find(path, preset="radio")
                self.assertIn("kastor: ", str(refused))
                continue
            self.assertEqual(kastor.find(path, preset="radio", components=False).hash, expected["catalogue_hash"], path)
            compared.append(path)
        self.assertGreater(len(compared), 3)
        fitted = command_json("find", compared[0], "--preset", "radio")
        self.assertEqual(kastor.find(compared[0], preset="radio").component_hash, fitted["component_hash"])


if __name__ == "__main__":
    unittest.main()

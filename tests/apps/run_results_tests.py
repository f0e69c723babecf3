# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: figures, catalogues and label images, compared with slow references.

Images to compare with are looked for in $KASTOR_TEST_DATA, else in ../shared/data beside the
repository; the tests that need them are skipped without them.
"""

import gzip
import json
import math
import os
import statistics

import command
import fits_files
import reference
import skies
from command import AppTestCase

CLIPPED_KEYS = "kappa mean median std min max kept passes converged degenerate".split()


class TestResults(AppTestCase):
    """The numbers, against the naive reference."""

    def setUp(self):
        super().setUp()
        self.rows = skies.noisy_sky(61, 83, seed=1)
        cards = [("BUNIT", "JY/BEAM"), ("OBJECT", "NOISE"), *skies.WCS_CARDS]
        self.image = fits_files.write(self.folder / "sky.fits", self.rows, cards=cards)

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
        self.assertEqual(list(stats), "file hdu shape unit pixels blank all clipped".split())
        self.assertEqual(list(stats["all"]), "mean median std min max".split())
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
                keys = "file hdu threshold sources foreground_pixels catalogue_hash clipped notes"
                self.assertEqual(list(found), keys.split())
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
        text, table = self.folder / "my out.CSV", self.folder / "out.Fits"
        self.assert_done(command.run("find", self.image, "-o", text, "-o", table))
        cards, columns = fits_files.read_table(table)
        self.assertEqual(cards["EXTNAME"], "CATALOGUE")
        self.assertEqual(list(columns), reference.COLUMNS)
        self.assertEqual((cards["TUNIT2"], cards["TUNIT4"]), ("pix", "Jy/beam"))
        wanted = reference.read_csv(text)
        for name, values in columns.items():
            self.assertEqual(values, [row[name] for row in wanted], name)
        header = "\n".join(text for hdu in fits_files.read_hdus(table) for text in hdu[1])
        version = command.json_of("info")["version"]
        for words in ("kastor find", "--threshold 5", "sky.fits", version):
            self.assertIn(words, header)

    def test_label_writes_the_ids(self):
        labels = self.folder / "my labels.fit"
        options = ["--level", "0.2", "--min-pixels", "2", "-o", labels]
        counts = command.json_of("label", self.image, *options)
        components = [c for c in reference.label(self.rows, 0.2) if len(c) > 1]
        wanted = [[0] * 83 for _ in range(61)]
        for number, pixels in enumerate(components, 1):
            for y, x in pixels:
                wanted[y][x] = number
        cards, rows = fits_files.read_image(labels)
        self.assertEqual(cards["BITPIX"], 32)
        for name, value in [("OBJECT", "NOISE"), *skies.WCS_CARDS]:
            self.assertEqual(cards[name], value, name)
        self.assertEqual([list(row) for row in rows], wanted)
        self.assertEqual(counts["sources"], len(components))
        self.assertEqual(counts["threshold"], 0.2)

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
        words = ["find", self.image, "--json"]
        wanted = command.run(*words).stdout
        for locale in ("de_DE.UTF-8", "fr_FR", "C.UTF-8"):
            self.assertEqual(command.run(*words, env={"LC_ALL": locale}).stdout, wanted)

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

    def test_gzip_and_odd_names(self):
        content = fits_files.hdu([[1.0, 2.0], [3.0, 4.0]])
        for name in (
            "a b.fits|quote'.fits|no_ending|b[1].fits|-dash.fits|ünï.fits|semi;colon.fits|"
            "percent%s.fits|a,b.fits|find|x.fits(y)"
        ).split("|"):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                found = self.stats("./" + name, cwd=self.folder)
                self.assertEqual((found["file"], found["all"]["mean"]), ("./" + name, 2.5))
        self.assertEqual(self.stats("find", cwd=self.folder)["all"]["mean"], 2.5)
        self.assertEqual(command.run("stats", "--", "-dash.fits", cwd=self.folder).returncode, 0)
        (self.folder / "image.fits.gz").write_bytes(gzip.compress(content))
        self.assertEqual(self.stats(self.folder / "image.fits.gz")["all"]["mean"], 2.5)

    def test_a_name_that_is_no_text(self):
        name = os.fsdecode(b"latin\xe9.fits")
        (self.folder / name).write_bytes(fits_files.hdu([[1.0, 2.0]] * 2))
        done = command.run("stats", self.folder / name, "--json")
        self.assert_done(done)
        self.assertIn("latin\ufffd.fits", json.loads(done.stdout)["file"])

    def test_hdu_by_number_and_name(self):
        content = fits_files.hdu([], axes=())
        for value, name, version in ((1.0, "SCI", 1), (2.0, "ERR", 1), (3.0, "SCI", 2)):
            cards = [("EXTNAME", name), ("EXTVER", version)]
            content += fits_files.hdu([[value] * 3] * 2, extension=True, cards=cards)
        image = self.folder / "multi.fits"
        image.write_bytes(content)
        self.assertEqual(self.stats(image)["hdu"], 1)
        for hdu, number in (("2", 2), ("sci", 1), ("SCI,2", 3), ("Err", 2)):
            found = self.stats(image, "--hdu", hdu)
            self.assertEqual((found["all"]["mean"], found["hdu"]), (number, number), hdu)
        listed = command.json_of("info", image)
        self.assertEqual([h["name"] for h in listed["hdus"]], [None, "SCI", "ERR", "SCI"])
        self.assertEqual([h["shape"] for h in listed["hdus"]], [[], [2, 3], [2, 3], [2, 3]])
        self.assertIn(b"SCI,2", command.run("info", image).stdout)
        self.assertEqual(listed["notes"], [])
        image.write_bytes(content + b"XTENSION= 'IMAGE   '".ljust(2880) + b"\xff" * 2880)
        listed = command.json_of("info", image)
        self.assertEqual(len(listed["hdus"]), 4)
        (note,) = listed["notes"]
        self.assertTrue(note.startswith("what follows cannot be read: "), note)
        self.assertIn(f"note: {note}", command.run("info", image).stdout.decode())

    def test_max_unpacked_holds_for_every_image(self):
        image = self.folder / "image.fits"
        image.write_bytes(fits_files.hdu([[1.0, 2.0, 9.0]] * 3))
        large = self.folder / "large.fits.gz"
        cards = [(f"KEY{i}", i) for i in range(100)]
        large.write_bytes(gzip.compress(fits_files.hdu([[1.0, 1.0, 1.0]] * 3, cards=cards)))
        for words in (
            ("find", image, "--preset", "radio", "--mask", large),
            ("find", image, "--preset", "radio", "--rms", large),
            ("find", image, "--preset", "radio", "--background", large),
            ("convolve", image, "--kernel", large, "-o", self.folder / "c.fits"),
        ):
            says = ("unpacks to more than 6000 bytes",)
            self.assert_refused(1, *words, "--max-unpacked", "6000", says=says)


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
            self.skipTest(f"no {self.data}/expected.json: set KASTOR_TEST_DATA to its folder")
        self.expected = json.loads((self.data / "expected.json").read_text())

    def assert_statistics(self, found, wanted, exact, std):
        for name in ("min", "max", "median"):
            self.assertAlmostEqual(found[name], wanted[name], delta=exact * std, msg=name)
        for name in ("mean", "std"):
            delta = max(exact, 1e-9) * std
            self.assertAlmostEqual(found[name], wanted[name], delta=delta, msg=name)

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
                for about, part in (("zero", ""), ("median", "_about_median")):
                    wanted = entry["segmentation" + part]
                    again = self.assert_segmentation(path, hdu, about, wanted, entry)
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

if __name__ == "__main__":
    command.main(__doc__)

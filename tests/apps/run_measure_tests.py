# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: measure, against what was put into the image."""

import csv
import json
import math
import random

import command
import fits_files
import reference
from command import AppTestCase

NY, NX, PIXEL = 96, 120, 2.0  # [arcsec]
FWHM = 5.0  # of the beam [pixel]
SIGMA = FWHM / math.sqrt(8 * math.log(2))
BEAM_AREA = 2 * math.pi * SIGMA**2
LEVEL, NOISE = 0.25, 0.01
SOURCES = [(20.3, 25.6, 1.0), (26.1, 27.0, 0.6), (80.0, 60.4, 0.02), (60.7, 70.2, -0.3), (100.2, 20.1, 2.0)]
WCS = [("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CRVAL1", 150.0), ("CRVAL2", 2.0), ("CRPIX1", 60.0),
       ("CRPIX2", 48.0), ("CDELT1", -PIXEL / 3600), ("CDELT2", PIXEL / 3600)]
BEAM = [("BMAJ", FWHM * PIXEL / 3600), ("BMIN", FWHM * PIXEL / 3600), ("BPA", 0.0)]
UNIT = [("BUNIT", "Jy/beam")]


def point_sky():
    """Points over white noise, and a corner of blank pixels."""
    numbers = random.Random(8)
    rows = [[numbers.gauss(LEVEL, NOISE) for _ in range(NX)] for _ in range(NY)]
    for x0, y0, peak in SOURCES:
        for y in range(NY):
            for x in range(NX):
                r2 = (x - x0) ** 2 + (y - y0) ** 2
                rows[y][x] += peak * math.exp(-r2 / (2 * SIGMA**2))
    for y in range(70, NY):
        for x in range(20):
            rows[y][x] = math.nan
    return [[reference.as_float32(v) for v in row] for row in rows]


def rows_of(path):
    with path.open(newline="") as file:
        return [{k: v if k == "list_id" else float(v) for k, v in row.items()} for row in csv.DictReader(file)]


class MeasureTestCase(AppTestCase):
    ROWS = point_sky()
    GIVEN = "--background 0.25 --rms 0.01 --noise white"

    def setUp(self):
        super().setUp()
        self.write("sky.fits", WCS + BEAM + UNIT)
        self.list_of("list.csv", SOURCES)

    def write(self, name, cards):
        return fits_files.write(self.folder / name, self.ROWS, -32, cards=list(cards))

    def list_of(self, name, places):
        lines = ["name,x,y"] + [f"S{i},{x},{y}" for i, (x, y, *_) in enumerate(places)]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def measure(self, options="", image="sky.fits", at="list.csv"):
        words = ["measure", image, "--at", at, *self.GIVEN.split(), *options.split()]
        done = command.run(*words, "-o", "out.csv", "--overwrite", "--json", cwd=self.folder)
        self.assert_done(done)
        return json.loads(done.stdout), rows_of(self.folder / "out.csv")


class TestMeasure(MeasureTestCase):
    """Fits at given positions."""

    def test_fluxes(self):
        report, rows = self.measure()
        self.assertEqual((report["rows"], report["measured"], report["off_image"], report["blank"]), (5, 5, 0, 0))
        self.assertEqual(report["shapes"], "beam")
        self.assertEqual([row["id"] for row in rows], [1, 2, 3, 4, 5])
        self.assertEqual([row["list_id"] for row in rows], ["S0", "S1", "S2", "S3", "S4"])
        for row, (x, y, peak) in zip(rows, SOURCES):
            self.assertAlmostEqual(row["x_cen"], x, 6)
            self.assertAlmostEqual(row["y_cen"], y, 6)
            self.assertLess(abs(row["flux_peak"] - peak), 5 * row["flux_peak_err"])
            self.assertGreater(row["flux_peak_err"], 0.1 * NOISE)
            self.assertLess(row["flux_peak_err"], NOISE)
            self.assertEqual(row["flux_int"], row["flux_peak"])
            self.assertAlmostEqual(row["flux_limit"], max(row["flux_int"], 0) + 3 * row["flux_int_err"], 12)
            self.assertAlmostEqual(row["maj_axis"], FWHM * PIXEL, 3)
            self.assertEqual(row["rms_image"], 0.01)
            self.assertEqual(row["mean_background"], 0.25)
            self.assertTrue(int(row["flags"]) & 4096 and int(row["flags"]) & 8)
        self.assertEqual([row["group_size"] for row in rows], [2, 2, 1, 1, 1])
        self.assertEqual(int(rows[3]["flags"]) & 4, 4)

    def test_rows_that_cannot_be_measured(self):
        self.list_of("list.csv", [(-30, 5), (5.0, 90.0), (20.3, 25.6), ("nan", 4), (20.3, 25.6)])
        report, rows = self.measure("--aperture 3")
        self.assertEqual((report["rows"], report["measured"], report["off_image"], report["blank"]), (5, 2, 2, 1))
        self.assertEqual(report["repeated"], 1)
        self.assertEqual([int(row["flags"]) & (16384 | 32768 | 65536) for row in rows], [16384, 32768, 0, 16384, 65536])
        self.assertTrue(all(math.isnan(rows[i][k]) for i in (0, 1, 3) for k in ("flux_peak", "flux_int", "snr")))
        self.assertEqual(rows[2]["flux_peak"], rows[4]["flux_peak"])
        self.assertEqual([int(row["flags_aper_3"]) for row in rows], [5, 6, 0, 5, 0])

    def test_positions_on_the_sky(self):
        _, there = self.measure()
        lines = ["ra,dec"] + [f"{row['ra_deg_cont']!r},{row['dec_deg_cont']!r}" for row in there]
        (self.folder / "sky.csv").write_text("\n".join(lines) + "\n")
        _, rows = self.measure(at="sky.csv")
        for row, other in zip(rows, there):
            self.assertEqual(row["ra_deg_cont"], other["ra_deg_cont"])
            self.assertAlmostEqual(row["x_cen"], other["x_cen"], 5)
            self.assertAlmostEqual(row["flux_peak"], other["flux_peak"], 6)
        self.write("flat.fits", BEAM + UNIT)
        self.assert_refused(1, "measure", "flat.fits", "--at", "sky.csv", "--aperture", "3", cwd=self.folder,
                            says=["sky.csv", "the image has no celestial coordinates"])

    def test_own_tables_are_lists(self):
        for name in ("a.fits", "a.vot", "a.ecsv"):
            done = command.run("measure", "sky.fits", "--at", "list.csv", *self.GIVEN.split(), "-o", name, "--quiet",
                               cwd=self.folder)
            self.assert_done(done)
            self.assertEqual(done.stdout, b"")
            _, rows = self.measure(at=name)
            self.assertEqual(len(rows), 5)
            self.assertLess(abs(rows[4]["flux_peak"] - 2), 5 * NOISE)

    def test_shapes_of_the_list(self):
        text = "x,y,maj,min,pa\n20.3,25.6,15,8,30\n80,60.4,nan,,\n100.2,20.1,0,0,0\n"
        (self.folder / "shapes.csv").write_text(text.replace("maj,min", "maj [arcsec],min [arcsec]"))
        report, rows = self.measure(at="shapes.csv")
        self.assertIn("maj", report["shapes"])
        self.assertAlmostEqual(rows[0]["maj_axis"], 15, 3)
        self.assertAlmostEqual(rows[0]["min_axis"], 8, 3)
        self.assertAlmostEqual(rows[0]["pos_ang"], 30, 3)
        self.assertAlmostEqual(rows[0]["flux_int"] / rows[0]["flux_peak"], 15 * 8 / (FWHM * PIXEL) ** 2, 4)
        self.assertEqual([int(row["flags"]) & 8 for row in rows], [0, 8, 8])
        report, rows = self.measure("--size beam", at="shapes.csv")
        self.assertEqual(report["shapes"], "beam")
        self.assertAlmostEqual(rows[0]["maj_axis"], FWHM * PIXEL, 3)

    def test_free_positions_and_shapes(self):
        self.list_of("list.csv", [(101, 19.5), (61.2, 69.9)])
        _, rows = self.measure("--free position")
        self.assertAlmostEqual(rows[0]["x_cen"], 100.2, 1)
        self.assertAlmostEqual(rows[1]["y_cen"], 70.2, 0)
        self.assertGreater(rows[0]["ra_err"], 0)
        self.assertGreater(rows[0]["x_cen_err"], 0)
        self.assertLess(rows[1]["flux_peak"], -0.2)
        _, rows = self.measure("--free shape")
        self.assertAlmostEqual(rows[0]["maj_axis"] / (FWHM * PIXEL), 1, 1)
        self.assertGreater(rows[0]["maj_axis_err"], 0)


def sum_in_circle(x0, y0, radius, parts=20):
    """The sum of the sources without noise, with pixels in parts."""
    total = 0.0
    for y in range(math.floor(y0 - radius), math.ceil(y0 + radius) + 1):
        for x in range(math.floor(x0 - radius), math.ceil(x0 + radius) + 1):
            steps = [(k + 0.5) / parts - 0.5 for k in range(parts)]
            inside = sum(math.hypot(x + i - x0, y + j - y0) <= radius for j in steps for i in steps) / parts**2
            value = sum(p * math.exp(-((x - sx) ** 2 + (y - sy) ** 2) / (2 * SIGMA**2)) for sx, sy, p in SOURCES)
            total += inside * value
    return total


class TestMeasureApertures(MeasureTestCase):
    """Sums in circles."""

    def test_sums(self):
        report, rows = self.measure("--aperture 4,10.5")
        self.assertEqual([a["radius"] for a in report["apertures"]], [4, 10.5])
        for k in (2, 4):
            x, y, _ = SOURCES[k]
            for radius, name in ((4, "4"), (10.5, "10_5")):
                row = rows[k]
                want = sum_in_circle(x, y, radius) / BEAM_AREA
                error = row[f"flux_aper_{name}_err"]
                self.assertLess(abs(row[f"flux_aper_{name}"] - want), 5 * error)
                # White noise: the root of the area, but for the parts of pixels at the edge.
                white = NOISE * math.sqrt(math.pi * radius**2) / BEAM_AREA
                self.assertLess(abs(error / white - 1), 0.06)
                self.assertAlmostEqual(row[f"area_aper_{name}"], math.pi * radius**2, 9)

    def test_without_a_beam(self):
        self.write("adu.fits", [("BUNIT", "adu")])
        report, rows = self.measure("--aperture 6", image="adu.fits")
        self.assertIsNone(report["free"])
        self.assertNotIn("flux_peak", rows[0])
        self.assertLess(abs(rows[4]["flux_aper_6"] - 2 * BEAM_AREA), 0.1 * 2 * BEAM_AREA)
        self.assert_refused(1, "measure", "adu.fits", "--at", "list.csv", cwd=self.folder,
                            says=["adu.fits[0]: found no beam and no sizes in list.csv"])


class TestMeasureRefuses(MeasureTestCase):
    """Wrong usage and wrong lists, one clear sentence each."""

    def test_usage(self):
        for options, words in (
            (["--aperture", "0"], "--aperture: found '0'; expected"),
            (["--aperture", "3,-1"], "--aperture: found '3,-1'; expected"),
            (["--aperture", "3,3"], "--aperture: found '3,3'; expected"),
            (["--aperture", "nan"], "--aperture: found 'nan'; expected"),
            (["--aperture", "2e6"], "--aperture: found '2e6'; expected"),
            (["--free", "all"], "--free"),
            (["-o", "out.txt"], "-o: found 'out.txt', whose suffix names no format"),
        ):
            self.assert_refused(2, "measure", "sky.fits", "--at", "list.csv", *options, says=[words], cwd=self.folder)
        self.assert_refused(2, "measure", "sky.fits", says=["--at"], cwd=self.folder)

    def test_lists(self):
        def refused(text, *words):
            (self.folder / "bad.csv").write_text(text)
            self.assert_refused(1, "measure", "sky.fits", "--at", "bad.csv", "-o", "out.csv", says=words,
                                cwd=self.folder)

        refused("a,b\n1,2\n", "bad.csv: no position columns were recognised among a, b")
        refused("x,y\n", "bad.csv: the list has no row; expected one at least")
        refused("ra,y\n1,2\n", "bad.csv")
        self.assert_refused(1, "measure", "sky.fits", "--at", "none.csv", says=["none.csv"], cwd=self.folder)
        self.assert_refused(1, "measure", "sky.fits", "--at", "list.csv", "--aperture", "500", cwd=self.folder,
                            says=["sky.fits[0]: --aperture: found a radius of 500 pixels; expected at most 120"])
        self.assert_refused(1, "measure", "sky.fits", "--at", "list.csv", "-o", "list.csv", "--overwrite",
                            cwd=self.folder, says=["list.csv"])

    def test_all_backends_agree(self):
        tables = set()
        for name in command.backends():
            done = command.run("measure", "sky.fits", "--at", "list.csv", "--aperture", "3,5", "--free", "shape",
                               "--on", name, "-o", f"{name}.fits", "--quiet", cwd=self.folder)
            self.assert_done(done)
            tables.add((self.folder / f"{name}.fits").read_bytes())
        self.assertEqual(len(tables), 1)


if __name__ == "__main__":
    command.main(__doc__)

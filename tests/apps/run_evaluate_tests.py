# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: evaluate, against what the truth and the catalogue say by themselves."""

import csv
import json
import math
import statistics

import command
import fits_files
from command import AppTestCase

SKY = ("--size", "512", "--noise-kind", "beam", "--sources-per-mpx", "400", "--seed", "11")
LIMITS = [0, 2, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 10, 15, 20, 30, 50, 100, math.inf]


def rows_of(path):
    with path.open(newline="") as file:
        return [
            {k: v if k in ("shape", "island_name") else float(v or "nan") for k, v in row.items()}
            for row in csv.DictReader(file)
        ]


def pairs_of(truth, rows, radius):
    """The closest two first, each once: (true, row)."""
    close = sorted(
        (math.dist((t["x"], t["y"]), (r["x_cen"], r["y_cen"])), i, j)
        for i, t in enumerate(truth)
        for j, r in enumerate(rows)
        if math.dist((t["x"], t["y"]), (r["x_cen"], r["y_cen"])) <= radius
    )
    partner, taken = {}, set()
    for _, i, j in close:
        if i not in partner and j not in taken:
            partner[i] = j
            taken.add(j)
    return partner


def isolated_of(truth, side, beam=5.0):
    def is_isolated(t):
        width = max(beam, t["fwhm"])
        low = [math.floor(t[k] - width + 0.5) for k in "xy"]
        high = [math.floor(t[k] + width + 0.5) for k in "xy"]
        if min(low) < 0 or max(high) >= side or t["group"] > 0:
            return False
        return all(
            t is u or math.dist((t["x"], t["y"]), (u["x"], u["y"])) >= 2 * max(width, u["fwhm"])
            for u in truth
        )

    return [is_isolated(t) for t in truth]


def spread(values):
    middle = statistics.median(values)
    return middle, 1.482602218505602 * statistics.median(abs(v - middle) for v in values)


class TestEvaluate(AppTestCase):
    """Figures of a small sky, counted again here."""

    def setUp(self):
        super().setUp()
        self.image = self.folder / "sky.fits"
        self.truth = self.folder / "sky_truth.csv"
        self.found = self.folder / "found.csv"
        self.assert_done(command.run("simulate", "sky", *SKY, "-o", self.image))

    def find(self, *options, name="found.csv"):
        path = self.folder / name
        find = ("find", self.image, "--preset", "radio", "--quiet", "-o", path)
        self.assert_done(command.run(*find, *options))
        return path

    def evaluate(self, *words):
        return command.json_of("evaluate", self.image, "--truth", self.truth, *words)

    def test_counts_and_measures(self):
        rows, truth = rows_of(self.find()), rows_of(self.truth)
        found = self.evaluate(self.found)
        self.assertAlmostEqual(found["radius"], 2.5)
        partner, isolated = pairs_of(truth, rows, 2.5), isolated_of(truth, 512)
        self.assertGreater(len(partner), 20)
        self.assertEqual(found["rows"]["matched"], len(partner))
        self.assertEqual(found["rows"]["rows"], len(rows))
        self.assertEqual(found["truth"]["used"], len(truth))
        self.assertEqual(found["truth"]["isolated"], sum(isolated))
        alone = [i for i in partner if isolated[i]]
        share = len(alone) / sum(isolated)
        completeness = found["completeness"]
        self.assertEqual(completeness["found"], len(alone))
        self.assertAlmostEqual(completeness["completeness"], share)
        n = sum(isolated)
        half = math.sqrt(share * (1 - share) / n + 0.25 / n**2) / (1 + 1 / n)
        middle = (share + 0.5 / n) / (1 + 1 / n)
        self.assertAlmostEqual(completeness["completeness_low"], middle - half)
        self.assertAlmostEqual(completeness["completeness_high"], middle + half)
        self.assertAlmostEqual(found["reliability"]["reliability"], len(partner) / len(rows))
        for low, high in zip(LIMITS, LIMITS[1:]):
            inside = [i for i, t in enumerate(truth) if isolated[i] and low <= t["snr"] < high]
            (bin_,) = [b for b in completeness["bins"] if b["low"] == low] or [None]
            self.assertEqual(len(inside), bin_["sources"] if bin_ else 0)
            if bin_:
                self.assertEqual(bin_["found"], sum(i in partner for i in inside))
        self.assert_measures(found, truth, rows, partner, alone)

    def assert_measures(self, found, truth, rows, partner, alone):
        total, iso = ("flux_int", "flux_iso")
        compared = (
            ("flux_int", "flux_int", total, total + "_err"),
            ("flux_iso", "flux_int", iso, iso + "_err"),
            ("flux_peak", "flux_peak", "flux_peak", "flux_peak_err"),
            ("x", "x", "x_cen", "x_cen_err"),
            ("y", "y", "y_cen", "y_cen_err"),
        )
        pool = [(truth[i], rows[partner[i]]) for i in alone if 10 <= truth[i]["snr"] < 50]
        self.assertGreater(len(pool), 5)
        for name, true, column, error in compared:
            measure = found["measures"][name]
            self.assertEqual((measure["column"], measure["error_column"]), (column, error))
            deviations = [(r[column] - t[true]) / (1 if name in "xy" else t[true]) for t, r in pool]
            pulls = [(r[column] - t[true]) / r[error] for t, r in pool]
            for key, values in (("deviation", deviations), ("pull", pulls)):
                of_these = measure["pooled"][key]
                middle, sigma = spread(values)
                self.assertEqual(of_these["count"], len(values))
                self.assertAlmostEqual(of_these["median"], middle)
                self.assertAlmostEqual(of_these["sigma"], sigma)
                self.assertAlmostEqual(of_these["mean"], statistics.fmean(values))
                self.assertAlmostEqual(of_these["std"], statistics.stdev(values))

    def test_kastor_searches_as_find_does(self):
        options = ("--seed", "4", "--flood", "3.5", "--cell", "128")
        found = self.evaluate(*options)
        path = self.find(*options, "--negative")
        other = self.evaluate(path, "--seed", "4")
        self.assertIn("--seed 4 --flood 3.5", found.pop("search"))
        self.assertIsNone(other.pop("search"))
        for one in (found, other):
            del one["catalogue"], one["notes"]
        self.assertGreater(found["rows"]["negative"], 0)
        self.assertEqual(found, other)
        inverted = found["false_detections"]["inverted"]
        self.assertEqual(inverted["count"] + inverted["near_sources"], found["rows"]["negative"])
        self.assertEqual(self.evaluate("--preset", "lesson")["false_detections"]["inverted"], None)

    def test_the_sky_brings_rows_into_the_image(self):
        pixels = self.evaluate(self.find())
        rows = rows_of(self.found)
        lines = ["ra,dec,total_flux,e_total_flux,peak_flux,e_peak_flux,e_ra,e_dec,isl_id,maj,min"]
        for r in rows:
            values = [r["ra_deg_cont"], r["dec_deg_cont"], r["flux_int"], r["flux_int_err"]]
            values += [r["flux_peak"], r["flux_peak_err"], r["ra_err"] / 3600, r["dec_err"] / 3600]
            values += [1, r["maj_axis_cor"] / 3600, r["min_axis_cor"] / 3600]
            lines.append(",".join(map(repr, values)))
        other = self.folder / "pybdsf.csv"
        other.write_text("\n".join(lines) + "\n")
        sky = self.evaluate(other)
        self.assertEqual(sky["rows"]["matched"], pixels["rows"]["matched"])
        for name in ("flux_int", "flux_peak", "x", "y", "major", "minor"):
            for key in ("deviation", "pull"):
                one, two = (f["measures"][name]["pooled"][key] for f in (pixels, sky))
                if one is None:
                    self.assertIsNone(two)
                    continue
                places = 6 if key == "deviation" else 3  # errors are turned without covariance
                self.assertAlmostEqual(one["median"], two["median"], places, name)
                self.assertAlmostEqual(one["std"], two["std"], places, name)
        arcsec = self.evaluate(other, "--radius", "5")
        self.assertAlmostEqual(arcsec["radius"], 2.5, 4)
        self.assertEqual(self.evaluate(other, "--pixels", "1e-9")["rows"]["matched"], 0)

    def test_many_catalogues(self):
        one, two = self.find(), self.find("--seed", "8", name="two.fits")
        inverse = self.folder / "inverse.csv"
        inverse.write_text("x,y\n3,500\n")
        done = command.run("evaluate", self.image, one, two, "--truth", self.truth, "--json",
                           "--inverted", inverse)
        self.assert_done(done)
        lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual([line["catalogue"] for line in lines], [str(one), str(two)])
        self.assertEqual([line["inverted_catalogue"] for line in lines], [str(inverse), None])
        self.assertGreater(lines[0]["rows"]["matched"], lines[1]["rows"]["matched"])
        text = command.run("evaluate", self.image, one, two, "--truth", self.truth)
        self.assert_done(text)
        self.assertLessEqual(max(map(len, text.stdout.decode().splitlines())), 160)
        self.assertEqual(text.stdout.decode().count("\nreliability  "), 2)

    def test_pairs(self):
        self.find()
        pairs = self.folder / "pairs.csv"
        words = ("evaluate", self.image, self.found, "--truth", self.truth, "-o", pairs)
        self.assert_done(command.run(*words))
        truth, rows = rows_of(self.truth), rows_of(self.found)
        partner = pairs_of(truth, rows, 2.5)
        written = rows_of(pairs)
        self.assertEqual({int(p["truth_row"]): int(p["row"]) for p in written}, partner)
        for p in written:
            self.assertEqual(p["true_flux_peak"], truth[int(p["truth_row"])]["flux_peak"])
            self.assertEqual(p["flux_peak"], rows[int(p["row"])]["flux_peak"])
        self.assert_refused(1, *words, says=["pairs.csv"])

    def test_mask_and_box_limit_where_sources_count(self):
        whole, half = self.evaluate(), self.evaluate("--box", "0,511,0,255")
        self.assertEqual(half["area"]["usable_pixels"], 512 * 256)
        inside = [t["y"] < 255.5 for t in rows_of(self.truth)]
        self.assertEqual(half["truth"]["used"], sum(inside))
        self.assertEqual(half["truth"]["outside"], len(inside) - sum(inside))
        self.assertLess(half["rows"]["rows"], whole["rows"]["rows"])
        self.find()
        given = self.evaluate(self.found, "--box", "0,511,0,255")
        self.assertEqual(given["truth"], half["truth"])
        counts = given["rows"]
        low = [r["y_cen"] < 255.5 for r in rows_of(self.found)]
        self.assertAlmostEqual(counts["outside"], len(low) - sum(low), delta=1)
        self.assertGreater(counts["outside"], 5)
        self.assertEqual(counts["outside"] + counts["positive"], len(low))
        self.assertEqual(counts["positive"], sum(counts[k] for k in ("matched", "fragments", "false")))
        pairs = self.folder / "pairs.ecsv"
        typed = ("--box", "0,511,0,255", "--beam", "10,10", "--seed", "6")
        self.evaluate(self.found, *typed, "-o", pairs)
        self.assertIn(" ".join(typed), pairs.read_text())
        self.assertIn('name: "flux_peak", datatype: float64, unit: "Jy/beam"', pairs.read_text())

    def test_sizes_of_the_truth_on_the_sky(self):
        self.find()
        pixels = self.evaluate(self.found)
        head, *rows = self.truth.read_text().splitlines()
        names = head.split(",")
        at = [names.index(name) for name in ("fwhm", "minor")]
        lines = [",".join(n + " [arcsec]" if n in ("fwhm", "minor") else n for n in names)]
        for row in rows:
            words = row.split(",")
            for i in at:
                words[i] = repr(2 * float(words[i]))
            lines.append(",".join(words))
        self.truth.write_text("\n".join(lines) + "\n")
        sky = self.evaluate(self.found)
        self.assertAlmostEqual(sky["radius"], pixels["radius"], 4)
        one, two = (f["measures"]["major"]["pooled"]["deviation"] for f in (pixels, sky))
        self.assertAlmostEqual(one["median"], two["median"], 4)

    def test_the_detection_image_limits_where_sources_count(self):
        whole = self.evaluate()
        for name, value in (("blank", math.nan), ("fill", 0.0)):
            _, rows = fits_files.read_image(self.image)
            rows = [list(row) if y < 256 else [value] * 512 for y, row in enumerate(rows)]
            cards = [("CTYPE1", "PIXEL"), ("CTYPE2", "LINE")]
            deep = fits_files.write(self.folder / f"{name}.fits", rows, -32, cards=cards)
            half = self.evaluate("--detect-image", deep)
            self.assertEqual(half["area"]["usable_pixels"], 512 * 256, name)
            inside = [t["y"] < 255.5 for t in rows_of(self.truth)]
            self.assertEqual(half["truth"]["used"], sum(inside))
            self.assertLess(half["rows"]["rows"], whole["rows"]["rows"])
            says = [n for n in half["notes"] if n.startswith("in the detection image the constant 0")]
            self.assertEqual(len(says), 1 if name == "fill" else 0)

    def test_refusals(self):
        self.find()
        words = ("evaluate", self.image, self.found, "--truth")
        self.assert_refused(1, *words, self.folder / "no.csv", says=["no.csv"])
        bare = self.folder / "bare.csv"
        bare.write_text("x,y\n1,2\n")
        says = ["bare.csv: there is no signal to noise of the true sources; expected a column snr"]
        self.assert_refused(1, *words, bare, says=says)
        odd = self.folder / "odd.csv"
        odd.write_text("a,b\n1,2\n")
        no_position = ["odd.csv: no position columns"]
        self.assert_refused(1, *words, odd, says=no_position)
        self.assert_refused(1, "evaluate", self.image, odd, "--truth", self.truth, says=no_position)
        mask = fits_files.write(self.folder / "mask.fits", [[0, 0], [0, 0]])
        self.assert_refused(1, *words, self.truth, "--mask", mask, says=["mask.fits"])
        self.assert_refused(1, *words, self.truth, "-o", self.truth, "--overwrite",
                            says=["sky_truth.csv"])
        complaint = self.assert_refused(2, *words, self.truth, "--cell", "64")
        self.assertIn("--cell: found with CATALOGUE", complaint)
        self.assert_refused(2, "evaluate", self.image, says=["--truth"])

    def test_false_detections_of_noise(self):
        """Islands of noise alone, in the image and its inverse, are as many as pixels lead to expect."""
        sky = ("--size", "1024", "--noise-kind", "beam", "--beam", "3", "--sources-per-mpx", "0")
        self.assert_done(command.run("simulate", "sky", *sky, "-o", self.image, "--overwrite"))
        found = self.evaluate("--seed", "3.5", "--flood", "3.5")["false_detections"]
        both = found["count"] + found["inverted"]["count"]
        expected = 2 * found["expected_false"]
        self.assertGreater(expected, 250)
        self.assertLess(abs(both - expected), 4 * math.sqrt(expected))
        self.assertLess(abs(found["expected_false"] / found["expected_false_beam_noise"] - 1), 0.03)
        self.assertLess(found["expected_false"], 0.7 * found["expected_false_smooth"])
        # Islands that are dropped for their size are not among those expected.
        for options in (("--min-pixels", "2"), ("--min-beams", "1")):
            dropped = self.evaluate("--seed", "3.5", *options)["false_detections"]
            self.assertIsNone(dropped["threshold"])
            self.assertIsNone(dropped["expected_false"])


if __name__ == "__main__":
    command.main(__doc__)

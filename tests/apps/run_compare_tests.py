# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: compare.

The catalogues of other programs are looked for in $KASTOR_TEST_DATA, else in ../shared/data beside
the repository; without them that test is skipped.
"""

import csv

import command
import fits_files
import skies
from command import AppTestCase


class TestCompare(AppTestCase):
    """Catalogues against the truth, themselves, and those of other programs."""

    def table(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_the_truth_of_a_sky(self):
        image = self.folder / "sky.fits"
        self.assert_done(command.run("simulate", "sky", "--size", "1024", "-o", image))
        truth, found = self.folder / "sky_truth.csv", self.folder / "found.csv"
        self.assert_done(command.run("find", image, "--connectivity", "8", "-o", found, "--quiet"))
        json = command.json_of("compare", truth, found, "--min-flux1", "0.1")
        self.assertEqual(json["frame"], "pixels")
        self.assertEqual(json["radius_from"], "sizes of catalogue 1")
        self.assertGreaterEqual(json["completeness"], 0.9)
        self.assertLess(abs(json["offset"]["x"]["median"]), 0.2)
        self.assertLess(abs(json["flux_ratio"]["flux_peak"]["median"] - 1), 0.1)
        # A sum of pixels is no flux density.
        self.assertIsNone(json["flux_ratio"]["flux_int"])
        self.assertIsNone(json["flux_ratio"]["flux_sum"])
        for key, side in (("completeness", "1"), ("reliability", "2")):
            bins = json[key + "_bins"]["bins"]
            self.assertEqual(sum(b["matched"] for b in bins), json["matched"])
            selected = json["catalogue" + side]["selected"]
            self.assertEqual(sum(b["sources"] for b in bins), selected)
            for one, next_one in zip(bins, bins[1:]):
                self.assertEqual(one["high"], next_one["low"])
        text = command.run("compare", truth, found).stdout.decode()
        for words in ("completeness", "reliability", "pixel", "median", "brightest"):
            self.assertIn(words, text)

    def test_columns_by_name(self):
        first = self.table("a.csv", "u,v,s\n11,21,4\n")
        second = self.table("b.csv", "x,y,flux_peak\n10,20,8\n")
        self.assert_refused(1, "compare", first, second, says=["a.csv: no position columns"])
        json = command.json_of(
            "compare", first, second, "--columns1", "x=u,y=v,flux_peak=S,origin=1"
        )
        self.assertEqual(json["offset"]["separation"]["median"], 0)
        self.assertEqual(json["flux_ratio"]["flux_peak"]["median"], 2)
        self.assertEqual(json["catalogue1"]["columns"]["flux_peak"]["column"], "s")
        says = ["a.csv: there is no column 'w' for y"]
        self.assert_refused(1, "compare", first, second, "--columns1", "x=u,y=w", says=says)

    def test_sizes_in_pixels_are_no_degrees(self):
        unknown = self.table("a.csv", "ra,dec,maj\n10,5,7\n")
        far = self.table("b.csv", "ra,dec\n12,5\n")
        json = command.json_of("compare", unknown, far)
        self.assertEqual((json["radius"], json["radius_from"]), (5, "default"))
        self.assertEqual((json["matched"], json["reliability"]), (0, 0))
        self.assertEqual(len(json["notes"]), 1)
        self.assertIn("a.csv: the sizes in the column maj have no unit", json["notes"][0])
        text = command.run("compare", unknown, far).stdout.decode()
        self.assertIn("\n\nnote: ", text)
        self.assertTrue(text.endswith("cannot come from them\n"))
        known = self.table("a.csv", "ra,dec,maj [arcsec]\n10,5,7\n")
        self.assertEqual(command.json_of("compare", known, far)["radius"], 3.5)

    def test_frames_and_forms_of_positions(self):
        text = self.table("a.csv", "RAJ2000,DEJ2000\n17 45 37.197,-28 56 10.24\n")
        galactic = self.table("b.csv", "l,b\n0,0\n,\n")
        json = command.json_of("compare", text, galactic, "--radius", "0.1")
        self.assertEqual((json["matched"], json["catalogue2"]["without_position"]), (1, 1))
        self.assertEqual(len(json["notes"]), 2)
        self.assertIn("1 of 2 rows has no position", json["notes"][0])
        self.assertIn("l and b were converted to ICRS", json["notes"][1])
        old = self.table("c.csv", "RAB1950,DEB1950\n17 42 26.6,-28 55 00\n")
        says = ["c.csv: the positions RAB1950 and DEB1950 are of B1950", "a.csv"]
        self.assert_refused(1, "compare", text, old, says=says)
        wrong = self.table("d.csv", "ra,dec\n17 45 60,-28 56 10\n")
        says = ["d.csv: line 2: ra is '17 45 60'; expected hours below 24"]
        self.assert_refused(1, "compare", text, wrong, says=says)

    def test_an_empty_catalogue(self):
        empty = self.table("a.csv", "ra,dec\n")
        some = self.table("b.csv", "ra,dec\n10,5\n")
        json = command.json_of("compare", empty, some)
        self.assertEqual((json["completeness"], json["reliability"]), (None, 0))
        self.assertEqual((json["radius"], json["radius_from"]), (5, "default"))
        json = command.json_of("compare", some, empty)
        self.assertEqual((json["completeness"], json["reliability"]), (0, None))
        self.assertEqual(json["brightest_missed"][0]["ra"], 10)
        self.assert_done(command.run("compare", empty, empty))

    def test_what_is_no_catalogue(self):
        good = self.table("a.csv", "ra,dec\n10,5\n")
        pixels = self.table("p.csv", "x,y\n10,5\n")
        image = fits_files.write(self.folder / "image.fits", skies.IMAGE)
        page = self.table("page.vot", "<html></html>")
        broken = self.table("b.csv", "ra,dec\n10,5\n1O,5\n")
        for words, says in (
            ([good, self.folder / "nosuch.csv"], "nosuch.csv: no such file; expected"),
            ([good, self.folder], "is not a regular file; expected"),
            ([image, good], "image.fits: no table was found; expected"),
            ([good, page], "page.vot: has no element VOTABLE; expected"),
            ([good, broken], "b.csv: line 3: ra is '1O'; expected a number"),
            ([good, pixels], "of two kinds; expected"),
            ([good, good, "--min-flux2", "1"], "no flux column; expected"),
        ):
            with self.subTest(says):
                self.assert_refused(1, "compare", *words, says=[says])

    def test_the_matched_pairs_are_written(self):
        first = self.table("a.csv", "id,ra,dec,flux_peak\nA,10,5,1\nB,20,5,2\nC,30,5,3\n")
        second = self.table("b.csv", "ra,dec,flux_peak\n30,5.0001,6\n10,5,0.5\n")
        matches = self.folder / "matches.csv"
        self.assert_done(command.run("compare", first, second, "-o", matches))
        rows = list(csv.DictReader(matches.read_text().splitlines()))
        self.assertEqual([(r["row1"], r["id1"], r["row2"]) for r in rows],
                         [("0", "A", "1"), ("2", "C", "0")])
        self.assertAlmostEqual(float(rows[1]["separation"]), 0.36, places=6)
        self.assertAlmostEqual(float(rows[1]["d_dec"]), 0.36, places=6)
        self.assertEqual(float(rows[1]["flux_peak2"]), 6)
        # They are a catalogue, too.
        names = "ra=ra1,dec=dec1,flux_peak=flux_peak1"
        for ending in ("fits", "vot", "ecsv"):
            path = self.folder / ("matches." + ending)
            self.assert_done(command.run("compare", first, second, "-o", path))
            json = command.json_of("compare", path, first, "--columns1", names)
            self.assertEqual(json["matched"], 2, ending)
        self.assert_refused(1, "compare", first, second, "-o", matches, says=["exists"])
        self.assert_refused(1, "compare", first, second, "-o", second, "--overwrite")
        self.assert_done(command.run("compare", first, second, "-o", matches, "--overwrite"))
        with open("/dev/full", "wb") as full:
            new = self.folder / "new.csv"
            self.assert_refused(1, "compare", first, second, "-o", new, stdout=full)

    def test_tables_with_the_first_names_of_the_fluxes(self):
        new = self.table("new.csv", "x_cen,y_cen,flux_int,flux_iso\n10,10,8,6\n30,10,16,12\n")
        old = self.table("old.csv", "x_cen,y_cen,flux_int,flux_int_cor\n10,10,6,8\n30,10,12,16\n")
        for first, second in ((old, new), (new, old), (old, old)):
            json = command.json_of("compare", first, second)
            self.assertEqual(json["flux_ratio"]["flux_int"]["median"], 1)
        json = command.json_of("compare", old, new)
        used = [json[f"catalogue{i}"]["columns"]["flux_int"]["column"] for i in (1, 2)]
        self.assertEqual(used, ["flux_int_cor", "flux_int"])

    def test_catalogues_of_aegean_and_pybdsf(self):
        folder = command.test_data() / "reference" / "peers_run"
        if not folder.is_dir():
            self.skipTest(f"{folder} is not there")
        for field, pairs in (("sumss_J2248M36", 450), ("sumss_J2306M36", 420)):
            aegean, pybdsf = (folder / f"{field}_{name}.csv" for name in ("aegean", "pybdsf"))
            with self.subTest(field):
                json = command.json_of("compare", aegean, pybdsf)
                self.assertEqual(json["frame"], "sky")
                self.assertGreater(json["matched"], pairs)
                self.assertLess(abs(json["offset"]["ra_cos_dec"]["median"]), 0.3)
                self.assertLess(abs(json["offset"]["dec"]["median"]), 0.3)
                self.assertLess(abs(json["flux_ratio"]["flux_peak"]["median"] - 1), 0.02)
                self.assertLess(abs(json["flux_ratio"]["flux_int"]["median"] - 1), 0.05)
                back = command.json_of("compare", pybdsf, aegean, "--radius", str(json["radius"]))
                self.assertEqual(back["matched"], json["matched"])
                self.assertEqual(back["completeness"], json["reliability"])
                self.assertEqual(command.json_of("compare", aegean, aegean)["completeness"], 1)


if __name__ == "__main__":
    command.main(__doc__)

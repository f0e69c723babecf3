# SPDX-License-Identifier: Apache-2.0
"""Tests of the command: tables with the columns of other programs, and sky models."""

import csv
import re

import command
import fits_files
import run_component_tests as components

#: Columns that scripts for the tables of these programs read, of islands and of components.
WANTED = {
    "pybdsf": ("Source_id Isl_id RA E_RA DEC E_DEC Total_flux E_Total_flux Peak_flux E_Peak_flux RA_max DEC_max Xposn "
               "E_Xposn Yposn E_Yposn Maj Min PA Isl_Total_flux E_Isl_Total_flux Isl_rms Isl_mean",
               "Gaus_id Isl_id Source_id Wave_id RA E_RA DEC E_DEC Total_flux E_Total_flux Peak_flux E_Peak_flux Xposn "
               "E_Xposn Yposn E_Yposn Maj E_Maj Min E_Min PA E_PA DC_Maj E_DC_Maj DC_Min E_DC_Min DC_PA E_DC_PA Isl_rms "
               "Isl_mean Resid_Isl_rms S_Code"),
    "aegean": ("island background local_rms ra_str dec_str ra dec peak_flux int_flux err_int_flux eta x_width y_width "
               "pixels area beam_area flags uuid",
               "island source background local_rms ra_str dec_str ra err_ra dec err_dec peak_flux err_peak_flux int_flux "
               "err_int_flux a err_a b err_b pa err_pa flags residual_std uuid psf_a psf_b psf_pa"),
    "sextractor": ("NUMBER FLUX_ISO FLUXERR_ISO FLUX_ISOCOR FLUX_MAX X_IMAGE Y_IMAGE XPEAK_IMAGE ALPHA_J2000 DELTA_J2000 "
                   "A_IMAGE B_IMAGE THETA_IMAGE ELLIPTICITY ISOAREA_IMAGE FWHM_WORLD FLAGS",
                   "NUMBER ID_PARENT FLUX_MODEL FLUXERR_MODEL FLUX_MAX X_IMAGE Y_IMAGE ALPHA_J2000 DELTA_J2000 A_IMAGE "
                   "B_IMAGE THETA_IMAGE FWHM_IMAGE FLAGS"),
    "vizier": ("ID Name RAJ2000 e_RAJ2000 DEJ2000 e_DEJ2000 Speak e_Speak Sint e_Sint Islrms SNR MajAxis MinAxis PA Flag",
               "ID Name Isl RAJ2000 e_RAJ2000 DEJ2000 e_DEJ2000 Speak e_Speak Sint e_Sint Islrms SNR MajAxis e_MajAxis "
               "MinAxis e_MinAxis PA e_PA DCMaj DCMin DCPA SCode Flag"),
}
TABLES = "csv ecsv fits vot cat".split()


class NamesTestCase(components.ComponentTestCase):
    """Each test has a sky of four Gaussians of the shape of the beam, `sky.fits`."""

    def compared(self, first, second, *options):
        return command.json_of("compare", first, second, *options, cwd=self.folder)


class TestTables(NamesTestCase):
    """The tables of --names, beside those with Kastor's own names."""

    def test_they_have_the_columns_of_the_program(self):
        for names, wanted in WANTED.items():
            self.find(f"-o islands.csv --components components.csv --names {names}")
            for file, columns in zip(("islands", "components"), wanted):
                found = components.rows_of(self.folder / f"{file}.csv")
                self.assertLessEqual(set(columns.split()), set(found[0]), (names, file))
                self.assertFalse(any(name in found[0] for name in ("ra_deg_cont", "flux_int_err")), names)

    def test_compare_finds_the_same_sources_fluxes_and_positions(self):
        self.find("-o islands.fits --components components.fits")
        for names in WANTED:
            outputs = " ".join(f"-o i.{ending} --components c.{ending}" for ending in TABLES)
            self.find(f"{outputs} --names {names}")
            for file, own in (("i", "islands.fits"), ("c", "components.fits")):
                for ending in TABLES:
                    with self.subTest(names, file=f"{file}.{ending}"):
                        done = self.compared(own, f"{file}.{ending}")
                        self.assertEqual(done["matched"], 2 if file == "i" else 3, done)
                        self.assertLess(done["offset"]["separation"]["median"], 1e-6)
                        self.assertLess(done["offset"]["separation"]["sigma"], 1e-6)
                        self.assertEqual(done["flux_ratio"]["flux_peak"]["median"], 1)
                        ratio = done["flux_ratio"]["flux_int"]["median"]
                        if (names, file) == ("aegean", "i"):  # the sum of the pixels
                            self.assertTrue(0.9 < ratio < 1, ratio)
                        else:
                            self.assertEqual(ratio, 1)

    def test_evaluate_reads_them(self):
        truth = "name,ra,dec,flux_int,snr\n"
        self.find("--components own.csv")
        for row in components.rows_of(self.folder / "own.csv"):
            truth += f"{row['component_id']},{row['ra_deg_cont']},{row['dec_deg_cont']},{row['flux_int']},{row['snr']}\n"
        (self.folder / "truth.csv").write_text(truth)
        for names in WANTED:
            self.find(f"--components c.fits --names {names}")
            done = command.json_of("evaluate", "sky.fits", "c.fits", "--truth", "truth.csv", cwd=self.folder)
            self.assertEqual((done["rows"]["matched"], done["rows"]["false"]), (3, 0), names)

    def test_the_text_the_json_and_the_hash_are_those_without(self):
        plain = self.find("-o i.fits --components c.fits")
        for names in ("kastor", *WANTED):
            self.assertEqual(self.find(f"-o i.fits --components c.fits --names {names}"), plain)

    def test_regions_are_those_without(self):
        self.find("-o i.fits -o i.reg --components c.crtf")
        before = [(self.folder / name).read_text() for name in ("i.reg", "c.crtf")]
        self.find("-o i.fits -o i.reg --components c.crtf --names aegean")
        after = [(self.folder / name).read_text().replace(" --names aegean", "") for name in ("i.reg", "c.crtf")]
        self.assertEqual(before, after)

    def test_ascii_head_is_what_sextractor_writes(self):
        self.find("-o i.cat --names sextractor")
        lines = (self.folder / "i.cat").read_text().splitlines()
        columns = [re.fullmatch(r"#\s+(\d+) (\w+)\s+.*", line) for line in lines if re.match(r"#\s+\d", line)]
        self.assertEqual([int(found[1]) for found in columns], list(range(1, len(columns) + 1)))
        rows = [line.split() for line in lines if not line.startswith("#")]
        self.assertEqual([len(row) for row in rows], [len(columns)] * 2)
        self.find("-o i.csv --names sextractor")
        with (self.folder / "i.csv").open(newline="") as file:
            self.assertEqual([found[2] for found in columns], next(csv.reader(file)))
            self.assertEqual(rows, list(csv.reader(file)))

    def test_stars_have_magnitudes(self):
        cards = [card for card in components.CARDS if card[0] != "BUNIT"] + [("BUNIT", "adu")]
        self.write("stars.fits", self.rows, cards)
        self.find("--zero-point 25 -o stars.cat --names sextractor", "stars.fits", "sextractor")
        self.find("--zero-point 25 -o own.csv", "stars.fits", "sextractor")
        stars = command.json_of("compare", "own.csv", "stars.cat", cwd=self.folder)
        self.assertEqual(stars["flux_ratio"]["flux_int"]["median"], 1)
        head = (self.folder / "stars.cat").read_text()
        for name in ("MAG_AUTO", "MAGERR_AUTO", "FLUX_AUTO", "KRON_RADIUS", "ID_PARENT"):
            self.assertRegex(head, rf"(?m)^# +\d+ {name} ")

    def test_measure_has_them_too(self):
        self.find("-o list.csv")
        for names in WANTED:
            words = "measure sky.fits --at list.csv --size beam --aperture 4 -o m.fits --overwrite --names"
            self.assert_done(command.run(*words.split(), names, cwd=self.folder))
            own = words.replace("m.fits", "own.fits").split()
            self.assert_done(command.run(*own, "kastor", cwd=self.folder))
            columns = fits_files.read_hdus(self.folder / "m.fits")[1][0]
            self.assertIn("flux_aper_4", [value for key, value in columns.items() if key.startswith("TTYPE")])
            done = self.compared("own.fits", "m.fits")
            self.assertEqual((done["matched"], done["flux_ratio"]["flux_int"]["median"]), (2, 1))

    def test_measure_draws_regions(self):
        self.find("-o list.csv")
        words = "measure sky.fits --at list.csv --size beam -o m.reg -o m.crtf -o m.csv"
        self.assert_done(command.run(*words.split(), cwd=self.folder))
        rows = components.rows_of(self.folder / "m.csv")
        found = re.findall(r"ellipse\(([-\d.]+),([-\d.]+),([\d.]+)\",.*text=\{(\d+)\}",
                           (self.folder / "m.reg").read_text())
        self.assertEqual(len(found), len(rows))
        for (x, y, major, text), row in zip(found, rows):
            self.assertAlmostEqual(float(x), float(row["ra_deg_cont"]), delta=1e-8)
            self.assertAlmostEqual(float(y), float(row["dec_deg_cont"]), delta=1e-8)
            self.assertAlmostEqual(2 * float(major), float(row["maj_axis"]), delta=1e-5)
            self.assertEqual(text, row["id"])
        self.assertEqual((self.folder / "m.crtf").read_text().count("\nellipse["), len(rows))

    def test_many_images_and_resume(self):
        self.write("other.fits", components.component_sky(seed=6))
        run = "sky.fits other.fits --preset radio -o i/ --components c/ --format csv --format cat --names vizier"
        self.assert_done(command.run("find", *run.split(), cwd=self.folder))
        for folder in "ic":
            for stem in ("sky", "other"):
                self.assertIn("RAJ2000", components.rows_of(self.folder / folder / f"{stem}.csv")[0])
        again = command.run("find", *run.split(), "--resume", cwd=self.folder)
        self.assertIn(b"skipped 2 images", again.stderr)
        other = run.replace("vizier", "pybdsf").split()
        done = command.run("find", *other, "--resume", cwd=self.folder)
        self.assertEqual(done.returncode, 1)  # those that are there have other names

    def test_what_makes_no_sense_is_refused(self):
        self.refuse(2, "-o a.csv --names simbad", "--names")
        self.refuse(2, "-o a.reg --names pybdsf", "--names: found 'pybdsf' without a table to write")
        self.refuse(2, "--names pybdsf", "--names: found 'pybdsf' without a table to write")
        self.refuse(2, "-o folder/ --format reg --names pybdsf", "--names: found 'pybdsf' without a table to write")
        self.refuse(2, "-o a.csv --names pybdsf", "--names: found with --preset lesson", preset="lesson")
        plain = [card for card in components.BEAM] + [("BUNIT", "Jy/beam")]
        self.write("plain.fits", self.rows, plain)
        for names in ("aegean", "vizier"):
            self.refuse(1, f"-o a.csv -o b.reg --names {names}",
                        f"plain.fits[0]: found no right ascensions|--names {names}", "plain.fits")
        self.find("-o a.csv --names sextractor", "plain.fits")
        row = components.rows_of(self.folder / "a.csv")[0]
        self.assertNotIn("ALPHA_J2000", row)
        self.assertAlmostEqual(float(row["X_IMAGE"]), components.ALONE[1] + 1, delta=0.1)


class TestSkyModels(NamesTestCase):
    """Sky models of components, read as strictly as the format is written down."""

    def model(self, name="m.skymodel"):
        """The fields of each line by their names."""
        first, *lines = (self.folder / name).read_text().splitlines()
        head = re.fullmatch(r"FORMAT = (.*)", first)
        names = [field.split("=")[0].strip() for field in head[1].split(",")]
        self.assertEqual(names[:5], ["Name", "Type", "Ra", "Dec", "I"])
        rows = []
        for line in lines:
            if line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split(",")]
            self.assertEqual(len(fields), len(names), line)
            rows.append(dict(zip(names, fields)))
        return rows

    @staticmethod
    def degrees(row):
        hours = [float(part) for part in re.fullmatch(r"(\d\d):(\d\d):(\d\d\.\d+)", row["Ra"]).groups()]
        sign, *parts = re.fullmatch(r"([+-])(\d\d)\.(\d\d)\.(\d\d\.\d+)", row["Dec"]).groups()
        dec = sum(float(part) / 60**i for i, part in enumerate(parts))
        return 15 * sum(part / 60**i for i, part in enumerate(hours)), -dec if sign == "-" else dec

    def test_they_are_the_components(self):
        wide = [[v + 3 * components.gaussian((1, 40, 50), x, y, 12, 6, 60) for x, v in enumerate(row)]
                for y, row in enumerate(self.rows)]
        self.write("wide.fits", wide)
        self.find("--components m.skymodel --components c.csv", "wide.fits")
        rows, own = self.model(), components.rows_of(self.folder / "c.csv")
        self.assertEqual(len(rows), len(own))
        kinds = set()
        for row, component in zip(rows, own):
            ra, dec = self.degrees(row)
            self.assertAlmostEqual(ra, float(component["ra_deg_cont"]), delta=1e-8)
            self.assertAlmostEqual(dec, float(component["dec_deg_cont"]), delta=1e-9)
            self.assertEqual(float(row["I"]), float(component["flux_int"]))
            self.assertEqual(row["Name"], f"i{component['island_id']}_c{component['component_id']}")
            self.assertEqual((row["SpectralIndex"], row["OrientationIsAbsolute"]), ("[]", "true"))
            self.assertEqual(row["Type"], "POINT" if int(component["flags"]) & 1024 else "GAUSSIAN")
            kinds.add(row["Type"])
            if row["Type"] == "GAUSSIAN":
                for name, column in (("MajorAxis", "maj_axis_deconv"), ("MinorAxis", "min_axis_deconv"),
                                     ("Orientation", "pos_ang_deconv")):
                    self.assertEqual(float(row[name]), float(component[column]))
        self.assertEqual(kinds, {"POINT", "GAUSSIAN"})

    def test_many_images(self):
        self.write("other.fits", components.component_sky(seed=6))
        run = "sky.fits other.fits --preset radio --components m/ --format skymodel".split()
        self.assert_done(command.run("find", *run, cwd=self.folder))
        self.assertEqual(len(self.model("m/sky.skymodel")), 3)
        self.assertIn(b"skipped 2 images", command.run("find", *run, "--resume", cwd=self.folder).stderr)

    def test_what_makes_no_sense_is_refused(self):
        self.refuse(2, "-o a.skymodel", "-o: found 'a.skymodel', a sky model, which holds components")
        self.refuse(2, "-o a.skymodel", "holds components", preset="lesson")
        self.refuse(2, "-o folder/ --format skymodel", "--format: found '.skymodel', a sky model")
        self.refuse(2, "--components a.skymodel --names pybdsf", "without a table to write")
        self.write("plain.fits", self.rows, [*components.BEAM, ("BUNIT", "Jy/beam")])
        says = "plain.fits[0]: found no right ascensions and declinations for a sky model"
        self.refuse(1, "--components a.skymodel --components b.csv", says, "plain.fits")
        self.write("kelvin.fits", self.rows, [c for c in components.CARDS if c[0] != "BUNIT"] + [("BUNIT", "K")])
        self.refuse(1, "--components a.skymodel --beam 18,14,0", "kelvin.fits[0]: found fluxes without a unit",
                    "kelvin.fits")


if __name__ == "__main__":
    command.main(__doc__)

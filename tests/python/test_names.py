# SPDX-License-Identifier: Apache-2.0
"""Tables with the columns of other programs, and sky models, read by astropy and by what they are for.

AegeanTools, PyBDSF and LSMTool are too large for requirements.txt: where this Python has none of them, their tests are
skipped."""

import functools
import importlib.util
import unittest
import warnings

import numpy
from astropy.coordinates import SkyCoord
from astropy.io import ascii as text_tables
from astropy.io import votable
from astropy.io.votable import ucd
from astropy.table import Table

import runs

PROGRAMS = ("pybdsf", "aegean", "sextractor", "vizier")
#: Columns of Kastor and those with the same quantity, with what brings one to the other.
SAME = {
    "pybdsf": {"ra_deg_cont": ("RA", 1), "dec_err": ("E_DEC", 3600), "flux_int": ("Total_flux", 1),
               "flux_peak_err": ("E_Peak_flux", 1), "maj_axis": ("Maj", 3600), "pos_ang": ("PA", 1),
               "min_axis_deconv": ("DC_Min", 3600), "y_cen": ("Yposn", 1)},
    "aegean": {"ra_deg_cont": ("ra", 1), "dec_err": ("err_dec", 3600), "flux_int": ("int_flux", 1),
               "flux_peak_err": ("err_peak_flux", 1), "maj_axis": ("a", 1), "min_axis_err": ("err_b", 1)},
    "sextractor": {"ra_deg_cont": ("ALPHA_J2000", 1), "flux_int": ("FLUX_MODEL", 1), "flux_peak": ("FLUX_MAX", 1),
                   "maj_axis_pix": ("A_IMAGE", 8**0.5 * numpy.log(2) ** 0.5)},
    "vizier": {"ra_deg_cont": ("RAJ2000", 1), "dec_err": ("e_DEJ2000", 1), "flux_int": ("Sint", 1),
               "flux_peak_err": ("e_Speak", 1), "maj_axis": ("MajAxis", 1), "pos_ang": ("PA", 1)},
}


def library(name):
    """Skips the test where this Python has no such package."""
    if importlib.util.find_spec(name) is None:
        raise unittest.SkipTest(f"no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


@functools.cache
def written(names):
    """The paths of tables of the components of a sky with resolved sources, and of its islands."""
    folder = runs.folder() / names
    folder.mkdir()
    paths = {}
    outputs = []
    for kind, option in (("i", "-o"), ("c", "--components")):
        for ending in ("fits", "vot", "ecsv", "csv", "cat"):
            paths[kind, ending] = folder / f"{kind}.{ending}"
            outputs += [option, paths[kind, ending]]
    sky = runs.sky(11, "--add", "gaussian:count=30,snr=20..200,size=4..8")
    runs.kastor("find", sky, "--preset", "radio", "--names", names, *outputs, "--quiet")
    return paths


class TestNames(unittest.TestCase):
    def setUp(self):
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        warnings.simplefilter("error")

    def tables(self, names, kind):
        """As read from each format."""
        paths = written(names)
        yield "fits", Table.read(paths[kind, "fits"], hdu=1)
        yield "vot", votable.parse(paths[kind, "vot"], verify="exception").get_first_table().to_table()
        yield "ecsv", Table.read(paths[kind, "ecsv"])
        yield "csv", Table.read(paths[kind, "csv"])
        yield "cat", text_tables.read(paths[kind, "cat"], format="sextractor")

    def test_values_are_those_of_the_native_table(self):
        own = Table.read(written("kastor")["c", "fits"], hdu=1)
        self.assertGreater(len(own), 20)
        for names, same in SAME.items():
            for ending, table in self.tables(names, "c"):
                with self.subTest(names, ending=ending):
                    self.assertEqual(len(table), len(own))
                    for column, (name, factor) in same.items():
                        wanted = numpy.array(own[column])
                        found = numpy.ma.filled(numpy.ma.array(table[name]), numpy.nan) * factor
                        if names == "aegean":
                            wanted = numpy.where(numpy.isnan(wanted), -factor, wanted)
                        numpy.testing.assert_allclose(found, wanted, rtol=1e-13, equal_nan=True, err_msg=name)

    def test_units_and_ucds_are_of_the_standards(self):
        for names in PROGRAMS:
            for kind in "ic":
                for ending, table in self.tables(names, kind):
                    if ending == "csv":
                        continue
                    for name in table.colnames:
                        unit = table[name].unit
                        self.assertNotIn("Unrecognized", type(unit).__name__, (names, ending, name, unit))
                fields = votable.parse(written(names)[kind, "vot"], verify="exception").get_first_table().fields
                for field in fields:
                    self.assertTrue(field.description, (names, field.name))
                    if field.ucd:
                        ucd.parse_ucd(field.ucd, check_controlled_vocabulary=True, has_colon=True)

    def test_pixels_of_sextractor_count_from_one(self):
        own = Table.read(written("kastor")["i", "fits"], hdu=1)
        for _, table in self.tables("sextractor", "i"):
            numpy.testing.assert_allclose(table["X_IMAGE"], own["x_fits"], rtol=1e-14)
            self.assertEqual(list(table["XPEAK_IMAGE"]), [x + 1 for x in own["x_peak"]])

    def test_texts_of_positions_are_the_positions(self):
        table = Table.read(written("aegean")["c", "csv"])
        places = SkyCoord(table["ra_str"], table["dec_str"], unit=("hourangle", "deg"))
        numpy.testing.assert_allclose(places.ra.deg, table["ra"], atol=0.0051 * 15 / 3600)
        numpy.testing.assert_allclose(places.dec.deg, table["dec"], atol=0.0051 / 3600)

    def test_aegean_reads_its_tables(self):
        library("AegeanTools")
        warnings.simplefilter("ignore")
        from AegeanTools import catalogs  # noqa: PLC0415
        from AegeanTools.models import ComponentSource, IslandSource  # noqa: PLC0415

        own = Table.read(written("kastor")["c", "fits"], hdu=1)
        for ending in ("fits", "vot", "csv"):
            table = catalogs.load_table(str(written("aegean")["c", ending]))
            sources = catalogs.table_to_source_list(table, ComponentSource)
            self.assertEqual([s.ra for s in sources], list(own["ra_deg_cont"]))
            self.assertEqual([s.int_flux for s in sources], list(own["flux_int"]))
            self.assertEqual(len({str(s.uuid) for s in sources}), len(own))
            str(sources[0])  # formats all its values
            unknown = set(ComponentSource.names) - set(table.colnames)
            self.assertEqual(unknown, {"residual_mean"})
            islands = catalogs.load_table(str(written("aegean")["i", ending]))
            self.assertLessEqual(set(islands.colnames), set(IslandSource.names))
            self.assertTrue(catalogs.table_to_source_list(islands, IslandSource))
        places = catalogs.load_catalog(str(written("aegean")["c", "csv"]))
        numpy.testing.assert_array_equal([ra for ra, _ in places], own["ra_deg_cont"])

    def test_pybdsf_has_such_columns_and_units(self):
        library("bdsf")
        warnings.simplefilter("ignore")
        from bdsf.gausfit import Gaussian  # noqa: PLC0415

        Gaussian._initialize_definitions()
        definitions = [value for key, value in vars(Gaussian).items() if key.endswith("_def")]
        gaul = self.units_of(definitions)
        table = Table.read(written("pybdsf")["c", "fits"], hdu=1)
        for name in table.colnames:
            self.assertIn(name, gaul)
            wanted = gaul[name]
            if wanted:
                self.assertEqual(table[name].unit.to_string().replace(" ", ""), wanted, name)

    @staticmethod
    def units_of(definitions):
        units = {}
        for each in definitions:
            names = each._colname if isinstance(each._colname, list) else [each._colname]
            those = each._units if isinstance(each._units, list) else [each._units] * len(names)
            units.update(zip(names, those))
        return units


class TestSkyModels(unittest.TestCase):
    def test_lsmtool_reads_them(self):
        lsmtool = library("lsmtool")
        sky = runs.sky(11, "--add", "gaussian:count=30,snr=20..200,size=4..8")
        model, table = runs.folder() / "m.skymodel", runs.folder() / "m.fits"
        runs.kastor("find", sky, "--preset", "radio", "--components", model, "--components", table, "--quiet")
        own = Table.read(table, hdu=1)
        warnings.simplefilter("ignore")
        read = lsmtool.load(str(model))
        self.assertEqual(len(read), len(own))
        numpy.testing.assert_allclose(read.getColValues("Ra"), own["ra_deg_cont"], atol=1e-8)
        numpy.testing.assert_allclose(read.getColValues("Dec"), own["dec_deg_cont"], atol=1e-9)
        numpy.testing.assert_array_equal(read.getColValues("I"), own["flux_int"])
        kinds = list(read.getColValues("Type"))
        self.assertEqual(set(kinds), {"POINT", "GAUSSIAN"})
        resolved = numpy.array(kinds) == "GAUSSIAN"
        numpy.testing.assert_array_equal(resolved, (own["flags"] & (1024 | 8)) == 0)
        for name, column in (("MajorAxis", "maj_axis_deconv"), ("MinorAxis", "min_axis_deconv"),
                             ("Orientation", "pos_ang_deconv")):
            numpy.testing.assert_array_equal(read.getColValues(name)[resolved], own[column][resolved])
        read.group("every")
        again = runs.folder() / "again.skymodel"
        read.write(str(again))
        self.assertEqual(len(lsmtool.load(str(again))), len(own))

# SPDX-License-Identifier: Apache-2.0
"""Tables of every format, read back by astropy."""

import csv
import shutil
import unittest
import warnings
from xml.etree import ElementTree

import numpy
from astropy.io import fits, votable
from astropy.io.votable import ucd
from astropy.io.votable.xmlutil import validate_schema
from astropy.table import Table

import samples

TABLES = ["awkward", "empty", "names", "catalogue", "components"]
TYPES = {"int64": numpy.int64, "float64": numpy.float64}


def as_clean(text):
    """What the text formats make of control characters."""
    return "".join("?" if ord(c) < 0x20 else c for c in text)


def without_outer_blanks(text):
    """What astropy keeps of strings in VOTable and ECSV; other readers keep all, see below."""
    return as_clean(text).strip(" ")


def as_ascii(text):
    """What FITS columns and cards can hold of a text."""
    return "".join(chr(b) if 0x20 <= b <= 0x7E else "?" for b in text.encode())


def same(text):
    return text


class TableTestCase(unittest.TestCase):
    def setUp(self):
        # A reader that has to guess, or finds fault with the file, fails the test.
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        warnings.simplefilter("error")

    def check_values(self, column, found, text=as_clean):
        name = column["name"]
        found = self.unmasked(column, found)
        if column["type"] == "int64":
            self.assertEqual([int(v) for v in found], column["values"], name)
        elif column["type"] == "float64":
            expected = samples.doubles(column)
            self.assertEqual(len(found), len(expected), name)
            for row, (value, wanted) in enumerate(zip(found, expected)):
                self.assertTrue(samples.same_bits(float(value), wanted),
                                f"{name}, row {row}: {value} is not {wanted}")
        else:
            self.assertEqual([str(v) for v in found], [text(v) for v in column["values"]], name)

    def check_columns(self, table, expected, text=as_clean, describing=same):
        self.assertEqual(table.colnames, [c["name"] for c in expected["columns"]])
        for column in expected["columns"]:
            found = table[column["name"]]
            with self.subTest(column=column["name"]):
                if column["type"] in TYPES and len(found) > 0:
                    self.assertEqual(found.dtype.newbyteorder("="), TYPES[column["type"]])
                self.check_values(column, found, text)
                self.assertEqual("" if found.unit is None else found.unit.to_string(),
                                 self.spelt(column["unit"]))
                self.assertEqual(found.description or "", describing(column["description"]))

    def unmasked(self, column, found):
        """astropy masks empty strings, and in VOTables NaN: that says the same. No integer is."""
        if not numpy.ma.is_masked(found):
            return found
        self.assertIn(column["type"], ("string", "float64"), column["name"])
        return found.filled("" if column["type"] == "string" else numpy.nan)

    @staticmethod
    def spelt(unit):
        """As astropy spells it."""
        return {"Jy/beam": "Jy / beam", "pixel": "pix", "pixel2": "pix2"}.get(unit, unit)


class TestFits(TableTestCase):
    def test_values_units_and_types(self):
        for stem in ["awkward", "empty", "names", "components"]:
            with self.subTest(stem):
                expected = samples.contents()["tables"][stem]
                table = Table.read(samples.path(f"{stem}.fits"), hdu=1)
                table.convert_bytestring_to_unicode()
                # A blank at a string's end means nothing in FITS.
                for column in expected["columns"]:
                    if column["type"] == "string":
                        column = dict(column, values=[v.rstrip(" ") for v in column["values"]])
                        found = self.unmasked(column, table[column["name"]])
                        found = [str(v).rstrip(" ") for v in found]
                    else:
                        found = table[column["name"]]
                        self.assertEqual(found.dtype.newbyteorder("="), TYPES[column["type"]])
                    self.check_values(column, found, as_ascii)
                    unit = table[column["name"]].unit
                    self.assertEqual("" if unit is None else unit.to_string(),
                                     self.spelt(column["unit"]))

    def test_keywords(self):
        for stem in ["awkward", "empty", "names", "components"]:
            with self.subTest(stem), fits.open(samples.path(f"{stem}.fits")) as hdus:
                hdus.verify("exception")
                self.assertEqual(len(hdus), 2)
                expected = samples.contents()["tables"][stem]
                header = hdus[1].header
                self.assertEqual(header["EXTNAME"], expected["name"])
                for number, column in enumerate(expected["columns"], 1):
                    for stem_of_key, key in (("TTYPE", "name"), ("TUNIT", "unit"),
                                             ("TUCD", "ucd"), ("TCOMM", "description")):
                        self.assertEqual(header.get(f"{stem_of_key}{number}", ""), column[key])
                provenance = samples.contents()["provenance"]
                self.assertEqual(header["CREATOR"], "kastor")
                self.assertEqual(header["KASTORV"], provenance["version"])
                self.assertEqual(header["INPUT"], as_ascii(provenance["input"]))
                self.assertEqual(header["INHDU"], provenance["hdu"])
                self.assertEqual(header["INSUM"], provenance["datasum"])
                history = "".join(f"{card:72}" for card in header["HISTORY"])
                self.assertIn(as_ascii(provenance["options"]), history)
                comment = "".join(f"{card:72}" for card in header.get("COMMENT", []))
                self.assertEqual(comment.rstrip(), as_ascii(expected["description"]))

    def test_frames(self):
        found = {}
        for frame in ("icrs", "fk5", "fk4", "galactic", "ecliptic"):
            header = fits.getheader(samples.path(f"frame_{frame}.fits"), 1)
            found[frame] = (header.get("RADESYS"), header.get("EQUINOX"))
        self.assertEqual(found, {"icrs": ("ICRS", None), "fk5": ("FK5", 2000.0),
                                 "fk4": ("FK4", 1950.0), "galactic": (None, None),
                                 "ecliptic": (None, None)})

    def test_the_catalogue(self):
        expected = samples.contents()["tables"]["catalogue"]
        table = Table.read(samples.path("catalogue.fits"), hdu="CATALOGUE")
        self.assertEqual(table.colnames, [c["name"] for c in expected["columns"]])
        for column in expected["columns"]:
            self.check_values(column, table[column["name"]])


class TestVotable(TableTestCase):
    def test_values_units_and_types(self):
        for stem in TABLES:
            with self.subTest(stem):
                expected = samples.contents()["tables"][stem]
                file = votable.parse(samples.path(f"{stem}.vot"), verify="exception")
                self.assertEqual(file.version, "1.4")
                (resource,) = file.resources
                (found,) = resource.tables
                self.assertEqual(found.name, expected["name"])
                self.assertEqual(found.description or "", expected["description"])
                self.assertEqual(int(found.nrows), len(expected["columns"][0]["values"]))
                self.check_columns(found.to_table(), expected, without_outer_blanks)
                for field, column in zip(found.fields, expected["columns"]):
                    self.assertEqual(field.ucd or "", column["ucd"])

    def test_strings_are_whole(self):
        expected = samples.contents()["tables"]["awkward"]
        tree = ElementTree.parse(samples.path("awkward.vot"))
        rows = tree.findall(".//{*}TR")
        for i, column in enumerate(expected["columns"]):
            if column["type"] == "string":
                self.check_values(column, [row[i].text or "" for row in rows])

    def test_types_are_the_narrowest_that_hold_the_text(self):
        found = votable.parse_single_table(samples.path("awkward.vot"), verify="exception")
        self.assertEqual([field.datatype for field in found.fields],
                         ["long", "double", "double", "char", "unicodeChar", "char"])

    def test_ucds_are_of_the_controlled_vocabulary(self):
        for stem in ("awkward", "catalogue", "components"):
            for column in samples.contents()["tables"][stem]["columns"]:
                if column["ucd"]:
                    ucd.parse_ucd(column["ucd"], check_controlled_vocabulary=True, has_colon=True)

    def test_provenance(self):
        file = votable.parse(samples.path("awkward.vot"), verify="exception")
        provenance = samples.contents()["provenance"]
        self.assertEqual(
            [(info.name, info.value) for info in file.resources[0].infos],
            [("creator", "kastor"), ("kastor_version", provenance["version"]),
             ("input", provenance["input"]), ("input_hdu", str(provenance["hdu"])),
             ("input_datasum", str(provenance["datasum"])), ("options", provenance["options"])])

    def test_frames(self):
        found = {}
        for frame in ("icrs", "fk5", "fk4", "galactic", "ecliptic"):
            file = votable.parse(samples.path(f"frame_{frame}.vot"), verify="exception")
            (system,) = file.resources[0].coordinate_systems
            found[frame] = (system.system, system.equinox)
            fields = file.get_first_table().fields
            self.assertEqual([f.ref for f in fields], [None, system.ID, None, None, None, None])
        self.assertEqual(found, {"icrs": ("ICRS", None), "fk5": ("eq_FK5", "J2000"),
                                 "fk4": ("eq_FK4", "B1950"), "galactic": ("galactic", None),
                                 "ecliptic": ("ecl_FK5", "J2000")})
        file = votable.parse(samples.path("catalogue.vot"), verify="exception")
        self.assertEqual(list(file.resources[0].coordinate_systems), [])

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed")
    def test_the_schema_holds(self):
        for stem in [*TABLES, "frame_fk4"]:
            code, _, errors = validate_schema(samples.path(f"{stem}.vot"), "1.4")
            self.assertEqual(code, 0, errors)


class TestEcsv(TableTestCase):
    def test_values_units_and_types(self):
        for stem in TABLES:
            with self.subTest(stem):
                expected = samples.contents()["tables"][stem]
                table = Table.read(samples.path(f"{stem}.ecsv"), format="ascii.ecsv")
                self.check_columns(table, expected, without_outer_blanks)
                for column in expected["columns"]:
                    self.assertEqual(table[column["name"]].meta.get("ucd", ""), column["ucd"])

    def test_meta(self):
        expected = samples.contents()["tables"]["awkward"]
        provenance = samples.contents()["provenance"]
        table = Table.read(samples.path("awkward.ecsv"), format="ascii.ecsv")
        self.assertEqual(dict(table.meta),
                         {"name": expected["name"], "description": expected["description"],
                          "frame": "icrs", "creator": "kastor",
                          "kastor_version": provenance["version"], "input": provenance["input"],
                          "input_hdu": provenance["hdu"], "input_datasum": provenance["datasum"],
                          "options": provenance["options"]})


class TestCsv(TableTestCase):
    def test_values(self):
        for stem in TABLES:
            with self.subTest(stem), open(samples.path(f"{stem}.csv"), newline="",
                                          encoding="utf-8") as file:
                expected = samples.contents()["tables"][stem]
                header, *rows = csv.reader(file, strict=True)
                self.assertEqual(header, [c["name"] for c in expected["columns"]])
                for i, column in enumerate(expected["columns"]):
                    self.check_values(column, [row[i] for row in rows])

    def test_astropy_reads_it_without_being_told_how(self):
        expected = samples.contents()["tables"]["catalogue"]
        self.check_columns(Table.read(samples.path("catalogue.csv")),
                           {"columns": [dict(c, unit="", description="")
                                        for c in expected["columns"]]})

# SPDX-License-Identifier: Apache-2.0
"""Every output of --json is what docs/schemas says, and docs/schemas says no more than there is.

A new field is refused until it has a description there; a field that no output here has must be
named in NOT_HERE, with the reason.
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import jsonschema
from astropy.io import fits

import runs

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests/apps"))

import command  # noqa: E402

SCHEMAS = PROJECT / "docs/schemas"

#: What is null or missing in all outputs of this test.
NOT_HERE = {
    "bench": {
        "/backends/trouble": "a backend that cannot be used",
        **{f"/steps/rows/with_transfers{key}": "of devices" for key in (
            "", "/median_s", "/minimum_s", "/spread_s", "/repeats", "/stopped_early",
            "/items_per_s", "/bytes_per_s", "/speed_up", "/seconds")},
    },
    "info": {"#build/backends/trouble": "a backend that cannot be used"},
}


def lines(*words, code=0):
    """The objects that the command prints."""
    done = subprocess.run([os.environ["KASTOR"], *map(str, words), "--json"], cwd=runs.folder(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Schema:
    """The schema of a subcommand, and which of its properties were seen with a value."""

    def __init__(self, name):
        self.whole = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(self.whole)
        self.validator = jsonschema.Draft202012Validator(self.whole)
        self.seen = set()

    def resolved(self, part, where):
        """What a reference stands for, and where that is."""
        if "$ref" not in part:
            return part, where
        name = part["$ref"].removeprefix("#/$defs/")
        return self.whole["$defs"][name], f"#{name}"

    def properties(self, part=None, where="", known=None):
        """{where: the property} of all properties; those of a definition once."""
        known = {} if known is None else known
        part, where = self.resolved(self.whole if part is None else part, where)
        for each in part.get("oneOf", []):
            self.properties(each, where, known)
        for name, each in part.get("properties", {}).items():
            if f"{where}/{name}" not in known:
                known[f"{where}/{name}"] = each
                self.properties(each, f"{where}/{name}", known)
        for each in (part.get("items"), part.get("additionalProperties")):
            if isinstance(each, dict):
                self.properties(each, where, known)
        return known

    def objects(self, part):
        """All parts that describe objects."""
        if isinstance(part, dict):
            if "object" in part.get("type", ()) and "description" in part:
                yield part
            for each in part.values():
                yield from self.objects(each)
        elif isinstance(part, list):
            for each in part:
                yield from self.objects(each)

    def note(self, value, part=None, where=""):
        """Notes the properties of a valid value."""
        part, where = self.resolved(self.whole if part is None else part, where)
        for each in part.get("oneOf", []):
            if self.validator.evolve(schema={**each, "$defs": self.whole["$defs"]}).is_valid(value):
                self.note(value, each, where)
        if isinstance(value, dict):
            for name, each in value.items():
                if each is not None and name in part.get("properties", {}):
                    self.seen.add(f"{where}/{name}")
                    self.note(each, part["properties"][name], f"{where}/{name}")
        elif isinstance(value, list) and isinstance(part.get("items"), dict):
            for each in value:
                self.note(each, part["items"], where)


class TestSchemas(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        sky = ("simulate", "sky", "--size", 320, "--seed", 12, "--sources-per-mpx", 250, "--quiet")
        runs.kastor(*sky, "-o", runs.folder() / "sky.fits")
        runs.kastor("find", runs.folder() / "sky.fits", "-o", runs.folder() / "found.csv")
        runs.kastor("find", runs.folder() / "sky.fits", "--preset", "radio", "-o",
                    runs.folder() / "islands.vot")
        plain = fits.PrimaryHDU(fits.getdata(runs.folder() / "sky.fits"))
        plain.writeto(runs.folder() / "plain.fits")  # no unit, no beam, no coordinates

    def check(self, name, *cases):
        """Each case is the arguments behind the name, and the exit code if that is not 0."""
        schema = Schema(name)
        for case in cases:
            code = next((word for word in case if isinstance(word, int)), 0)
            words = [word for word in case if not isinstance(word, int)]
            with self.subTest(" ".join(map(str, (name, *words)))):
                for value in lines(name, *words, code=code):
                    errors = [f"{error.json_path}: {error.message}"
                              for error in schema.validator.iter_errors(value)]
                    self.assertEqual(errors, [])
                    schema.note(value)
        properties = schema.properties()
        not_here = set(NOT_HERE.get(name, ()))
        self.assertEqual(set(properties) - schema.seen, not_here, "in no output")
        self.assertLessEqual(not_here, set(properties))
        for where, each in properties.items():
            self.assertRegex(each.get("description", ""), r"^[A-Za-z(1].+[^.]$", where)
        for each in schema.objects(schema.whole):
            self.assertIn("additionalProperties", each, each["description"])

    def test_every_subcommand_has_one(self):
        command.KASTOR = os.environ["KASTOR"]
        names = [" ".join(words) for words in command.topics()
                 if words and "--json" in command.options_of(words)]
        self.assertEqual(sorted(path.stem for path in SCHEMAS.glob("*.json")), sorted(names))

    def test_find(self):
        given = ("--background", "0", "--rms", "0.0133", "--noise", "white")
        many = ("sky.fits", "missing.fits", "-o", "many/", "--format", "fits")
        self.check(
            "find", ("sky.fits",), ("plain.fits", "--level", "0.1"),
            ("sky.fits", "--preset", "radio"), ("sky.fits", "--preset", "sextractor"),
            ("plain.fits", "--preset", "radio", "--components", "none"),
            ("sky.fits", "--preset", "radio", "--negative", "--deblend", "on", *given),
            ("sky.fits", "--preset", "radio", "--detect-image", "plain.fits", "--filter-kernel",
             "3", "--shape", "beam"),
            (*many, 1), (*many, "--resume", 1))

    def test_label_and_stats(self):
        self.check("label", ("sky.fits", "-o", "labels.fits"),
                   ("plain.fits", "-o", "labels8.fits", "--connectivity", "8"))
        self.check("stats", ("sky.fits",), ("plain.fits", "--kappa", "2.5", "--max-passes", "1"))

    def test_measure(self):
        self.check("measure", ("sky.fits", "--at", "sky_truth.csv"),
                   ("sky.fits", "--at", "islands.vot", "--size", "beam", "--free", "position"),
                   ("plain.fits", "--at", "found.csv", "--aperture", "3,5.5"))

    def test_compare(self):
        self.check("compare", ("sky_truth.csv", "found.csv"),
                   ("islands.vot", "islands.vot", "--radius", "5", "--min-snr2", "6"),
                   ("found.csv", "sky_truth.csv", "--pixels", "2"),
                   ("found.csv", "found.csv"))

    def test_evaluate(self):
        truth = ("--truth", "sky_truth.csv")
        self.check("evaluate", ("sky.fits", *truth),
                   ("sky.fits", "found.csv", "islands.vot", *truth, "--inverted", "found.csv",
                    "--inverted", "found.csv", "--seed", "5", "--min-snr", "3"),
                   ("plain.fits", *truth, "--preset", "sextractor"))

    def test_bench(self):
        self.check("bench", ("--size", "16", "--repeats", "1", "--on", "serial"),
                   ("--size", "16", "--repeats", "1", "--on", "serial", "--peers", "--python",
                    sys.executable))

    def test_primes(self):
        self.check("primes", ("--upto", "20"), ("--upto", "20", "--count"))

    def test_info(self):
        with open(runs.folder() / "plain.fits", "rb") as plain, \
                gzip.open(runs.folder() / "packed.fits.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        runs.kastor("find", runs.folder() / "sky.fits", "-o", runs.folder() / "table.fits")
        self.check("info", (), ("sky.fits",), ("packed.fits.gz",), ("table.fits",))


if __name__ == "__main__":
    unittest.main()

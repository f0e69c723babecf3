# SPDX-License-Identifier: Apache-2.0
"""The catalogues of this minor version, made again and compared bit by bit.

    python3 tests/golden/run_golden_tests.py --kastor PATH [--write | unittest's arguments]

--write replaces the files in tests/golden/MAJOR.MINOR. That is right before the first release of a
minor version alone; then a catalogue that changes is a new minor version, see docs/release.md. The
folders of older ones stay, so that the change can be seen.
"""

import argparse
import csv
import functools
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
GIVEN = argparse.Namespace()

#: Of each run its sky, the options of find, and the files that it writes.
RUNS = {
    "lesson": (["--seed", "1", "--sources-per-mpx", "200"], [], ["-o", "lesson.csv"]),
    "radio": (
        ["--seed", "1", "--noise-kind", "beam", "--add", "point:count=12,snr=8..80", "--add",
         "gaussian:count=4,snr=10..40,size=8..14,axis-ratio=0.6", "--add",
         "point:count=2,snr=20..60,separation=5"],
        ["--preset", "radio", "--negative"],
        ["-o", "radio.csv", "--components", "components.csv"]),
    "sextractor": (
        ["--seed", "2", "--gain", "2", "--level", "100", "--beam", "3", "--add",
         "star:count=25,snr=10..100", "--add", "gaussian:count=3,snr=20..50,size=8..12"],
        ["--preset", "sextractor", "--gain", "2", "--zero-point", "25"], ["-o", "sextractor.csv"]),
}

#: Columns on the sky go through wcslib and through sin and cos of the C library, whose last bits depend on the processor
#: (with or without fused multiply-add). made.json says which those were. With others, numbers may differ by this share;
#: hashes, which are of what was measured in pixels, may not.
ELSEWHERE = 1e-8

CHANGED = ("{} is not what it was in this minor version. If that is meant, it is a new minor version: "
           "docs/release.md says what to do, and CHANGELOG.md tells it under 'Changed bits'.")


def folder():
    text = (HERE.parents[1] / "include/kastor/version.hpp").read_text()
    major, minor = re.findall(r"#define KASTOR_VERSION_M\w+ (\d+)\n", text)
    return HERE / f"{major}.{minor}"


def circumstances():
    """What the bits of columns on the sky depend on: wcslib, and a hash of some values of the C library's functions."""
    found = hashlib.sha256()
    for i in range(1, 2000):
        x = i * 0.0371
        for value in (math.sin(x), math.cos(x), math.tan(x), math.atan2(x, 1.3), math.exp(-x),
                      math.log(x), math.pow(x, 0.37), math.acos(x / 75)):
            found.update(value.hex().encode())
    done = subprocess.run([GIVEN.kastor, "info", "--json"], check=True, stdout=subprocess.PIPE)
    return {"libm": found.hexdigest()[:16], "wcslib": json.loads(done.stdout)["libraries"]["wcslib"]}


@functools.cache
def made(run):
    """{name: text} of what a run writes, and the hashes of --json."""
    sky, options, outputs = RUNS[run]
    with tempfile.TemporaryDirectory() as place:
        def kastor(*words):
            return subprocess.run([GIVEN.kastor, *words], cwd=place, check=True, text=True,
                                  stdout=subprocess.PIPE).stdout

        kastor("simulate", "sky", "--size", "512", *sky, "-o", "sky.fits", "--quiet")
        told = json.loads(kastor("find", "sky.fits", *options, *outputs, "--json"))
        texts = {path.name: path.read_text() for path in sorted(pathlib.Path(place).glob("*.csv"))
                 if path.name != "sky_truth.csv"}
    return texts, {key: told[key] for key in ("catalogue_hash", "component_hash") if told.get(key)}


def differences(wanted, found):
    """What is not the same in two texts of CSV, to a share of ELSEWHERE."""
    wanted, found = (list(csv.reader(text.splitlines())) for text in (wanted, found))
    if [len(row) for row in wanted] != [len(row) for row in found]:
        return ["rows and columns"]
    wrong = []
    for number, (old, new) in enumerate(zip(wanted, found)):
        for name, a, b in zip(wanted[0], old, new):
            try:
                same = a == b or math.isclose(float(a), float(b), rel_tol=ELSEWHERE)
            except ValueError:
                same = False
            if not same:
                wrong.append(f"row {number}, {name}: {b}; expected {a}")
    return wrong


class TestGoldenCatalogues(unittest.TestCase):
    def setUp(self):
        self.made = json.loads((folder() / "made.json").read_text())

    def test_hashes(self):
        found = {run: made(run)[1] for run in RUNS}
        self.assertEqual(found, self.made["hashes"], CHANGED.format("a hash"))

    def test_files(self):
        names = []
        same_bits = circumstances() == self.made["circumstances"]
        for run in RUNS:
            for name, text in made(run)[0].items():
                names.append(name)
                wanted = (folder() / name).read_text()
                with self.subTest(name):
                    if same_bits:
                        self.assertEqual(text.splitlines(), wanted.splitlines(),
                                         CHANGED.format(name))
                    self.assertEqual(differences(wanted, text), [], CHANGED.format(name))
        self.assertEqual(sorted([*names, "made.json"]),
                         sorted(path.name for path in folder().iterdir()))

    def test_they_are_small(self):
        for path in HERE.rglob("*.csv"):
            self.assertLessEqual(path.stat().st_size, 30000, path)


def write():
    folder().mkdir(exist_ok=True)
    for run in RUNS:
        for name, text in made(run)[0].items():
            (folder() / name).write_text(text)
    told = {"circumstances": circumstances(), "hashes": {run: made(run)[1] for run in RUNS}}
    (folder() / "made.json").write_text(json.dumps(told, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kastor", required=True, type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    _, rest = parser.parse_known_args(namespace=GIVEN)
    GIVEN.kastor = GIVEN.kastor.resolve()
    if GIVEN.write:
        write()
    else:
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

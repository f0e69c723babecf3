# SPDX-License-Identifier: Apache-2.0
"""Runs a scene: simulate, find, evaluate; and holds a figure of the evaluation against its limits."""
import argparse
import csv
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest


def run(command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


@dataclasses.dataclass
class Workshop:
    """Where images and catalogues are made, each once."""
    kastor: pathlib.Path
    folder: pathlib.Path
    found: set = dataclasses.field(default_factory=set)

    def simulate(self, scene):
        """Images are kept with the command that made them, and made again for another."""
        made_by = self.folder / f"{scene.name}.txt"
        if not made_by.exists() or made_by.read_text() != scene.simulate:
            made_by.unlink(missing_ok=True)
            run([self.kastor, *scene.simulate.split(), "--quiet", "--overwrite"], self.folder)
            made_by.write_text(scene.simulate)

    def find(self, scene):
        """Once in this run: an older catalogue may be of another program."""
        if scene.name not in self.found:
            run([self.kastor, *scene.search.split(), "--quiet", "--overwrite"], self.folder)
            self.found.add(scene.name)

    def evaluate(self, scene, catalogue=None):
        """The JSON of `kastor evaluate` of Kastor's catalogue, or of another."""
        self.simulate(scene)
        if catalogue is None:
            self.find(scene)
        return json.loads(run([self.kastor, *scene.judge(catalogue).split()], self.folder))

    def rows(self, scene):
        """Kastor's catalogue, a dictionary a row."""
        with open(self.folder / f"{scene.name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def truth(self, scene, *columns):
        """Columns of the true sources, a tuple of numbers a row."""
        with open(self.folder / f"{scene.name}_truth.csv", newline="") as file:
            return [tuple(float(row[name]) for name in columns) for row in csv.DictReader(file)]


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    value: float | None
    error: float | None = 0.0

    def complaint(self, low, high):
        """Empty if the value is within the limits, each wider by three standard errors."""
        if self.value is None or self.error is None or not math.isfinite(self.value):
            return f"{self.name} is not there; expected {low:g} to {high:g}"
        if low - 3 * self.error <= self.value <= high + 3 * self.error:
            return ""
        return f"{self.name} is {self.value:.4f} +- {self.error:.4f}; expected {low:g} to {high:g}"


def spread(evaluation, quantity, kind):
    """Median, sigma, ... of the "deviation" or "pull" of all pairs of S/N 10 to 50; None if there are none."""
    values = evaluation["measures"][quantity]["pooled"]
    return values and values[kind]


def pooled(evaluation, quantity, kind, statistic):
    """One of these with its standard error, as pooled(e, "flux_int", "pull", "std")."""
    values = spread(evaluation, quantity, kind) or {}
    return Figure(f"{statistic} of {kind} of {quantity}", values.get(statistic), values.get(f"{statistic}_err"))


def share(evaluation, low, high):
    """Completeness of the isolated sources of true S/N low to high, with its standard error."""
    bins = [b for b in evaluation["completeness"]["bins"] if b["low"] >= low and b["high"] is not None and b["high"] <= high]
    found, sources = (sum(b[key] for b in bins) for key in ("found", "sources"))
    if sources == 0:
        return Figure(f"completeness at S/N {low:g} to {high:g}", None)
    value = found / sources
    return Figure(f"completeness at S/N {low:g} to {high:g}", value, math.sqrt(max(value * (1 - value), 1 / sources) / sources))


def half(evaluation):
    complete = evaluation["completeness"]
    return Figure("S/N at which half are found", complete["half_snr"], complete["half_snr_err"] or 0.0)


def false_ratio(evaluation):
    """False detections over those expected of Gaussian noise."""
    false = evaluation["false_detections"]
    if not false["expected_false"]:
        return Figure("false detections over those expected", None)
    return Figure("false detections over those expected", false["count"] / false["expected_false"],
                  math.sqrt(max(false["count"], 1)) / false["expected_false"])


def run_tests(doc, use):
    """Runs the tests of the script that calls it. `use(workshop)` hands them the workshop."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kastor", required=True, type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for images and catalogues; images there of the same command are used")
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        use(Workshop(given.kastor.resolve(), folder))
        unittest.main(argv=[sys.argv[0], *given.tests])

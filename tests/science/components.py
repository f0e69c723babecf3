# SPDX-License-Identifier: Apache-2.0
"""Kastor's components (fits of Gaussians, forced photometry) on large skies, beside PyBDSF and Aegean.

    components.py --kastor PROGRAM [--python PYTHON] [--folder FOLDER] [--rows N...] [--json FILE] [--reports]
                  [--write docs/science.md]

Makes the skies of gaussian_skies.py (with PYTHON, or this Python if it has numpy), finds their components with noise and
background known, and prints a line for each figure, its limits, and the other finders' figures. With a PYTHON that has
tests/science/requirements.txt the finders are run; catalogues that are in FOLDER are used as they are, except Kastor's.
Exits with 1 if a figure is outside of its limits by more than three standard errors. --write replaces what is between
the two lines `<!-- components: begin -->` and `<!-- components: end -->` of a document.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import resource
import subprocess
import sys
import time

from component_statistics import evaluate_files, extra_share, figure, found_share, read_table, report, spread
from science import Figure, run

HERE = pathlib.Path(__file__).parent
KNOWN = "--background 0 --rms 1 --noise beam"
LONGEST = 300  # seconds of one finder on one image


def whole(result):
    return found_share(result, "groups_found")


def of(quantity, kind, statistic):
    return lambda result: figure(result, quantity, kind, statistic)


def significance(quantity):
    """The mean pull over its standard error."""
    return lambda result: Figure(f"mean pull x sqrt(n) of {quantity}", result["measures"][quantity]["pull"].get("significance"))


@dataclasses.dataclass(frozen=True)
class Check:
    """A figure of a sky and its limits. Shape "beam" is the point mode."""
    row: int
    sky: str
    figure: object
    low: float
    high: float
    shape: str = "free"


BLEND = "flux_peak", "flux_int", "x_cen", "y_cen"
SHAPE = "maj_axis", "min_axis", "pos_ang"
BEFORE = "maj_axis_deconv", "min_axis_deconv", "pos_ang_deconv"


def widths(row, sky, quantities, low, high, shape="free", statistic="width"):
    return [Check(row, sky, of(quantity, "pull", statistic), low, high, shape) for quantity in quantities]


def bias(row, sky, low, high, shape="free"):
    return [Check(row, sky, of("flux_int", "deviation", "mean"), low, high, shape)]


CHECKS = [
    Check(1, "resolved", found_share, 1, 1),
    *(Check(1, "resolved", significance(quantity), -3, 3) for quantity in (*BLEND, *SHAPE, *BEFORE)),
    *widths(1, "resolved", (*BLEND, *SHAPE, *BEFORE), 0.95, 1.05, statistic="std"),
    *widths(2, "points-10", (*BLEND, *SHAPE), 0.92, 1.08), *bias(2, "points-10", -0.01, 0.04),
    *widths(2, "points-10", BLEND[:1] + BLEND[2:], 0.92, 1.08, "beam"), *bias(2, "points-10", -0.01, 0.04, "beam"),
    *widths(3, "points-30", (*BLEND, *SHAPE), 0.92, 1.08), *bias(3, "points-30", -0.002, 0.008),
    *widths(4, "wide-15", (*BLEND, *SHAPE), 0.92, 1.08), *bias(4, "wide-15", -0.01, 0.01),
    *bias(5, "points-6", 0, 0.12), *bias(5, "points-6", 0, 0.07, "beam"),
    Check(6, "pair-30-9-1.0", whole, 0.85, 1), Check(6, "pair-30-9-1.2", whole, 0.98, 1),
    Check(7, "pair-30-30-1.0", whole, 0.95, 1), Check(7, "pair-10-10-1.2", whole, 0.95, 1),
    *(check for sky in ("pair-30-9-1.0", "pair-30-9-1.2", "pair-30-30-1.0", "pair-10-10-1.2")
      for check in widths(8, sky, BLEND, 0.88, 1.12)),
    *(Check(9, f"alone-{name}", extra_share, 0, 0.01) for name in ("6-1", "10-1", "30-1", "100-1", "1000-1", "15-2", "300-2", "50-3")),
    # No limits known for these: they say how far it goes.
    *(Check(6, f"pair-{name}", whole, 0, 1) for name in ("30-9-0.8", "30-30-0.8", "10-10-0.8", "10-10-1.0", "100-10-0.8", "100-10-1.0",
                                                         "100-10-1.2", "30-30-1.2")),
    # Blends of a hundred and more.
    *(check for name in ("100", "200", "edge", "blank") for check in (
        Check(12, f"cluster-{name}", found_share, 0.9, 1),
        Check(12, f"cluster-{name}", of("flux_int", "deviation", "median"), -0.05, 0.05),
        Check(12, f"cluster-{name}", lambda result: Figure("flux of all near the found ones", result["total_flux"]), 0.95, 1.05),
        Check(12, f"cluster-{name}", of("flux_int", "pull", "width"), 0.85, 1.2),
        Check(12, f"cluster-{name}", of("x_cen", "pull", "width"), 0.85, 1.2))),
]

FORCED = {"forced-0": 1, "forced-2": 1, "forced-5": 1, "forced-10": 1, "forced-10-5-0.5": 2, "forced-10-0-1.0": 2, "forced-10-5-0.25": 2}
CROWDS = {500: 0.985, 1500: 0.95, 4000: 0.88}  # stars on 10^6 pixels: least completeness above an S/N of 20
SKY_SIZE, CROWD_SIZE = 4096, 2048
SAME = "--filter-kernel sextractor --seed 4 --flood 4"  # islands as SExtractor finds them by default


@dataclasses.dataclass
class Bench:
    kastor: pathlib.Path
    python: pathlib.Path
    folder: pathlib.Path
    run_peers: bool
    lines: list = dataclasses.field(default_factory=list)
    seconds: dict = dataclasses.field(default_factory=dict)
    evaluations: dict = dataclasses.field(default_factory=dict)  # of (sky, shape): pairs of a finder and its figures

    def image(self, name):
        if not (self.folder / f"{name}_truth.csv").exists():
            run([self.python, HERE / "gaussian_skies.py", ".", name], self.folder)
        return self.folder / f"{name}.fits"

    def kastors(self, name, shape, known=KNOWN):
        """The file of its components; None if it fails, which is said."""
        path = self.folder / f"{name}_kastor_{shape}.csv"
        if (name, shape) in self.seconds:
            return path if path.exists() else None
        path.unlink(missing_ok=True)
        self.image(name)
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        words = f"find {name}.fits --preset radio {known} --components {path.name} --shape {shape} --threads 1 --quiet --overwrite"
        try:
            run([self.kastor, *words.split()], self.folder)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds[name, shape] = time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return path if path.exists() else None

    def peers(self, name, finder, known=True):
        path = self.folder / f"{name}_{finder}.csv"
        if not path.exists() and self.run_peers:
            command = [self.python, HERE / "component_finders.py", finder, f"{name}.fits", path.name, *(["--rms", "1"] if known else [])]
            try:
                begin = time.perf_counter()
                subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST, check=True)
                path.with_suffix(".time").write_text(f"{time.perf_counter() - begin}")
            except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                print(f"{name}: {finder}: {error}", file=sys.stderr)
        return path if path.exists() else None

    def evaluation(self, name, path):
        return path and evaluate_files(self.folder / f"{name}.fits", self.folder / f"{name}_truth.csv", path)

    def say(self, row, name, found, low, high, others=()):
        """One line; others are figures of other finders."""
        complaint = found.complaint(low, high)
        value = "-" if found.value is None else f"{found.value:8.4f} +- {found.error or 0:.4f}"
        peers = "  ".join(f"{finder} {'-' if other is None or other.value is None else format(other.value, '.4f')}" for finder, other in others)
        verdict = "FAIL" if complaint else "ok"
        print(f"{row:3d} {name:22s} {found.name:40s} {value:22s} [{low:g}, {high:g}] {verdict:5s} {peers}", flush=True)
        self.lines.append({"row": row, "sky": name, "figure": found.name, "value": found.value, "error": found.error, "low": low,
                           "high": high, "fails": bool(complaint), "others": {finder: other and other.value for finder, other in others}})


def safely(function, result):
    """The figure; one without a value if there is none."""
    try:
        return function(result)
    except (KeyError, TypeError):
        return Figure("(no figure)", None)


def fits(bench, rows, reports):
    """The rows of CHECKS."""
    evaluations = bench.evaluations
    for check in (check for check in CHECKS if check.row in rows):
        key = check.sky, check.shape
        if key not in evaluations:
            bench.image(check.sky)
            mine = bench.evaluation(check.sky, bench.kastors(*key))
            others = [(finder, bench.evaluation(check.sky, bench.peers(check.sky, finder))) for finder in ("PyBDSF", "Aegean")]
            evaluations[key] = [("Kastor", mine), *others]
            if reports and mine:
                print(f"{check.sky}, shape {check.shape}\n{report(mine)}", flush=True)
        (_, mine), *others = evaluations[key]
        bench.say(check.row, check.sky + (" (point)" if check.shape == "beam" else ""), safely(check.figure, mine), check.low, check.high,
                  [(finder, safely(check.figure, other)) for finder, other in others if other])


HEAD = ["sky", "finder", "found", "extra", "flux: mean %", "median %", "pulls: peak", "flux", "x, y", "axes", "not converged"]
BEGIN, END = "<!-- components: begin -->\n", "<!-- components: end -->\n"


def cells(result):
    """Of one row of the document."""
    if result is None:
        return ["-"] * (len(HEAD) - 2)
    flux = result["measures"]["flux_int"]["deviation"]

    def width(*quantities):
        values = [result["measures"].get(quantity, {}).get("pull", {}).get("width") for quantity in quantities]
        return "-" if None in values else f"{sum(values) / len(values):.2f}"
    return [f"{result['groups_found'] / result['groups']:.3f}", f"{result['extra'] / max(result['found'], 1):.3f}",
            *(f"{100 * flux[key]:+.1f} ± {100 * flux[key + '_err']:.1f}" if key in flux else "-" for key in ("mean", "median")),
            width("flux_peak"), width("flux_int"), width("x_cen", "y_cen"), width("maj_axis", "min_axis"),
            str(result["flags"].get("32", 0))]


def document(bench):
    lines = [HEAD, ["---"] * len(HEAD)]
    for (sky, shape), found in bench.evaluations.items():
        title = f"`{sky}`" + (", shape of the beam" if shape == "beam" else "")
        lines += [[title if finder == "Kastor" else "", finder, *cells(result)] for finder, result in found
                  if finder == "Kastor" or (result and shape == "free")]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def forced(bench):
    """Row 10: fluxes at given places, of sources of 0 to 10 times the noise."""
    for name, in_cell in FORCED.items():
        bench.image(name)
        truth = read_table(bench.folder / f"{name}_truth.csv")
        (bench.folder / "list.csv").write_text("x,y\n" + "".join(f"{row['x']!r},{row['y']!r}\n" for row in truth))
        words = f"measure {name}.fits --at list.csv {KNOWN} --quiet --overwrite -o {name}_kastor.csv"
        try:
            run([bench.kastor, *words.split()], bench.folder)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            bench.say(10, name, Figure("std of pull of flux_peak", None), 0.97, 1.03)
            continue
        rows = read_table(bench.folder / f"{name}_kastor.csv")
        for first in range(in_cell):
            pull = spread([(row["flux_peak"] - true["flux_peak"]) / row["flux_peak_err"]
                           for true, row in list(zip(truth, rows, strict=True))[first::in_cell]])
            label = f"{name} {'ab'[first]}"
            bench.say(10, label, Figure("std of pull of flux_peak", pull["std"], pull["std_err"]), 0.97, 1.03)
            bench.say(10, label, Figure("mean pull x sqrt(n) of flux_peak", pull["significance"]), -3, 3)
        errors = sorted(row["flux_peak_err"] for row in rows)
        bench.say(10, name, Figure("median error of flux_peak [rms]", errors[len(errors) // 2]), 1, 1.1 if in_cell == 1 else math.inf)


def simulated(bench):
    """Row 11: completeness and reliability above 10 times the noise of a sky whose fluxes follow a power law."""
    name, folder = "power-law", bench.folder
    if not (folder / f"{name}_truth.csv").exists():
        run([bench.kastor, *f"simulate sky --size {SKY_SIZE} --noise 0.0133 --beam 4 --noise-kind beam --seed 21 -o {name}.fits --quiet".split()], folder)
    found = [("", bench.kastors(name, "free", "")), *((finder, bench.peers(name, finder, False)) for finder in ("PyBDSF", "Aegean"))]
    figures = {}
    for finder, path in found:
        if path is None:
            continue
        words = f"evaluate {name}.fits {path.name} --truth {name}_truth.csv --bins 0,5,10 --json"
        result = json.loads(run([bench.kastor, *words.split()], folder))
        for what in ("completeness", "reliability"):
            above = next(part for part in result[what]["bins"] if part["low"] == 10)
            of_all, good = (above[key] for key in (("sources", "found") if what == "completeness" else ("rows", "matched")))
            error = math.sqrt(max(good / of_all * (1 - good / of_all), 1 / of_all) / of_all) if of_all else None
            figures.setdefault(what, {})[finder] = Figure(f"{what} above 10 rms", good / of_all if of_all else None, error)
    for what, by in figures.items():
        bench.say(11, name, by.get("", Figure(what, None)), 0.99, 1, [(finder, value) for finder, value in by.items() if finder])


def crowds(bench):
    """Stars that overlap, by the deblended catalogue of the preset sextractor."""
    folder = bench.folder
    for density, least in CROWDS.items():
        name, count = f"crowd-{density}", round(density * CROWD_SIZE**2 / 1e6)
        if not (folder / f"{name}_truth.csv").exists():
            words = f"simulate sky --size {CROWD_SIZE} --gain 2 --level 100 --beam 3 --seed 15 --add star:count={count},snr=5..200 --quiet"
            run([bench.kastor, *words.split(), "-o", f"{name}.fits"], folder)
        for kind, options in (("kastor", ""), ("same", SAME)):
            words = f"find {name}.fits --preset sextractor --gain 2 {options} --quiet --overwrite -o {name}_{kind}.csv"
            run([bench.kastor, *words.split()], folder)
        theirs = folder / f"{name}_SExtractor.fits"
        if not theirs.exists() and bench.run_peers:
            run([bench.python, HERE / "finders.py", "SExtractor", f"{name}.fits", theirs.name, "--optical"], folder)
        shares = []
        for catalogue in (f"{name}_kastor.csv", f"{name}_same.csv", theirs.name):
            if (folder / catalogue).exists():
                words = f"evaluate {name}.fits {catalogue} --truth {name}_truth.csv --min-snr 20 --json"
                counts = json.loads(run([bench.kastor, *words.split()], folder))["completeness"]
                value = counts["all_found"] / counts["all_sources"]
                shares.append(Figure("completeness above S/N 20", value, math.sqrt(value * (1 - value) / counts["all_sources"])))
        bench.say(13, name, shares[0], least, 1, list(zip(("its filter", "SExtractor"), shares[1:])))


def speed(bench):
    """Components a second of one thread: the time of `find` with components less that without."""
    for name in ("points-10", "points-30", "resolved", "pair-30-30-1.0", "cluster-100"):
        path = bench.kastors(name, "free")
        if path is None:
            continue
        words = f"find {name}.fits --preset radio {KNOWN} --threads 1 --quiet --overwrite"
        times = {}
        for outputs in ("-o plain.csv", f"-o plain.csv --components {path.name}"):
            taken = []
            for _ in range(3):
                begin = time.perf_counter()
                run([bench.kastor, *words.split(), *outputs.split()], bench.folder)
                taken.append(time.perf_counter() - begin)
            times[outputs] = min(taken)
        without, with_fits = times.values()
        count = len(read_table(path))
        print(f"speed {name}: {count} components, find {without:.3f} s, with components {with_fits:.3f} s: "
              f"{count / max(with_fits - without, 1e-9):.0f} a second")
        for finder in ("PyBDSF", "Aegean"):
            taken = bench.folder / f"{name}_{finder}.time"
            rows = bench.peers(name, finder)
            if rows and taken.exists() and (seconds := taken.read_text().split()[-1:]):
                print(f"      {finder}: {len(read_table(rows)) / float(seconds[0]):.1f} a second, all of it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kastor", required=True, type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, help="with tests/science/requirements.txt: runs the other finders too")
    parser.add_argument("--folder", default="science", type=pathlib.Path, help="for images and catalogues; default: science")
    parser.add_argument("--rows", nargs="*", type=int, default=list(range(1, 15)))
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    parser.add_argument("--write", type=pathlib.Path, help="document with the two lines")
    parser.add_argument("--reports", action="store_true", help="print all statistics of each sky")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(given.kastor.resolve(), (given.python or pathlib.Path(sys.executable)).absolute(), given.folder, given.python is not None)
    fits(bench, given.rows, given.reports)
    for row, function in ((10, forced), (11, simulated), (13, crowds), (14, speed)):
        if row in given.rows:
            function(bench)
    if given.json:
        given.json.write_text(json.dumps(bench.lines, indent=1) + "\n")
    if given.write:
        before, rest = given.write.read_text().split(BEGIN)
        given.write.write_text(before + BEGIN + "\n" + document(bench) + "\n" + END + rest.split(END)[1])
    failures = [entry for entry in bench.lines if entry["fails"]]
    print(f"{len(failures)} of {len(bench.lines)} figures are outside of their limits")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

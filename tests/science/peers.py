# SPDX-License-Identifier: Apache-2.0
"""Compares Kastor with other finders on the same scenes, by `kastor evaluate`, and prints Markdown tables.

    peers.py --kastor PROGRAM --python PYTHON [--folder FOLDER] [--scenes NAME...] [--write docs/science.md]

PYTHON is one with tests/science/requirements.txt; what it lacks is left out, as is SExtractor where it is not installed.
Images and catalogues in FOLDER are used as they are, except Kastor's. --write replaces what is between the two lines
`<!-- peers: begin -->` and `<!-- peers: end -->` of a document.
"""
import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

from finders import OPTICAL
from scenes import SCENES
from science import Workshop, pooled, run, share

FINDERS = pathlib.Path(__file__).with_name("finders.py")
BEGIN, END = "<!-- peers: begin -->\n", "<!-- peers: end -->\n"
LONGEST = 300  # seconds of one finder on one image


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def median_of(evaluation, quantity):
    """The median deviation and its standard error [%]."""
    found = pooled(evaluation, quantity, "deviation", "median")
    return "-" if found.value is None else f"{100 * found.value:+.1f} ± {100 * found.error:.1f}"


def sigma_of(evaluation, kind, *quantities, scale=1, digits=2):
    """The robust width, the mean of those of the quantities."""
    values = [pooled(evaluation, quantity, kind, "sigma").value for quantity in quantities]
    return number(None if None in values else scale * sum(values) / len(values), digits)


def width(evaluation, *quantities):
    return sigma_of(evaluation, "pull", *quantities)


def scatter(evaluation, *quantities, scale=1, digits=2):
    return sigma_of(evaluation, "deviation", *quantities, scale=scale, digits=digits)


def false_rate(evaluation):
    false = evaluation["false_detections"]
    return number(false["per_million_beams"], 1)


def points_row(evaluation):
    complete = evaluation["completeness"]
    at = [number(share(evaluation, *limits).value) for limits in ((4.5, 5.5), (6.5, 7.5), (9, 11))]
    return [*at, number(complete["half_snr"]), false_rate(evaluation), median_of(evaluation, "flux_int"),
            scatter(evaluation, "flux_int", scale=100, digits=1), width(evaluation, "flux_int"),
            median_of(evaluation, "flux_peak"), width(evaluation, "flux_peak"),
            scatter(evaluation, "x", "y", digits=3), width(evaluation, "x", "y")]


POINTS_HEAD = ["finder", "found at S/N 5", "7", "10", "half at S/N", "false per 10^6 beams", "total: median %", "scatter %",
               "pulls", "peak: median %", "pulls", "x, y: scatter [pixel]", "pulls"]


def other_row(evaluation):
    complete, rows = evaluation["completeness"], evaluation["rows"]
    return [number(complete["all_found"] / complete["all_sources"] if complete["all_sources"] else None), str(rows["fragments"]),
            str(rows["false"]), median_of(evaluation, "flux_int"), scatter(evaluation, "flux_int", scale=100, digits=1),
            width(evaluation, "flux_int"), scatter(evaluation, "x", "y", digits=3)]


OTHER_HEAD = ["scene", "finder", "found", "fragments", "false", "total: median %", "scatter %", "pulls", "x, y: scatter [pixel]"]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


@dataclasses.dataclass
class Comparison:
    shop: Workshop
    python: pathlib.Path
    versions: dict

    def finders_of(self, scene):
        return [name for name in self.versions if not scene.optical or name in OPTICAL]

    def catalogue(self, scene, name):
        """None if the finder fails or takes too long, which is said."""
        path = self.shop.folder / f"{scene.name}_{name}.fits"
        if path.exists():
            return path
        self.shop.simulate(scene)
        command = [self.python, FINDERS, name, f"{scene.name}.fits", path.name, *(["--optical"] if scene.optical else [])]
        try:
            done = subprocess.run(command, cwd=self.shop.folder, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            print(f"{scene.name}: {name} took more than {LONGEST} s", file=sys.stderr)
            return None
        if done.returncode != 0 or not path.exists():
            print(f"{scene.name}: {name} ended with {done.returncode}: {done.stderr[-500:]}", file=sys.stderr)
            return None
        return path

    def evaluations(self, scene):
        """(finder, evaluation) of each finder; None for an evaluation that there is not."""
        scene = dataclasses.replace(scene, evaluate=f"{scene.evaluate} --bins 0,3,4.5,5.5,6.5,7.5,9,11,20,50".strip())
        self.shop.simulate(scene)
        (self.shop.folder / f"{scene.name}.csv").unlink(missing_ok=True)
        found = [("Kastor", self.shop.evaluate(scene))]
        for name in self.finders_of(scene):
            path = self.catalogue(scene, name)
            found.append((name, path and self.shop.evaluate(scene, path.name)))
            print(f"{scene.name}: {name}", file=sys.stderr)
        return found


def document(comparison, names):
    """All tables."""
    text, others = "", []
    titles = {"points-beam": "Noise with the beam as its autocorrelation", "points-condon": "White noise convolved with the beam",
              "points-white": "White noise", "stars": "Stars on a sky of photons"}
    for name in names:
        scene = SCENES[name]
        found = comparison.evaluations(scene)
        if name in titles:
            rows = [[finder, *points_row(e)] if e else [finder] + ["-"] * (len(POINTS_HEAD) - 1) for finder, e in found]
            text += f"**{titles[name]}** (`{name}`)\n\n{table(POINTS_HEAD, rows)}\n"
        else:
            others += [[name if finder == "Kastor" else "", finder,
                        *(other_row(e) if e else ["-"] * (len(OTHER_HEAD) - 2))] for finder, e in found]
    if others:
        text += f"**Other skies**\n\n{table(OTHER_HEAD, others)}\n"
    return text


def origin(comparison):
    versions = ", ".join(f"{name} {version}" for name, version in comparison.versions.items())
    source = pathlib.Path(__file__).resolve().parents[2]
    try:
        commit = run(["git", "rev-parse", "--short", "HEAD"], source).strip()
    except (OSError, RuntimeError):
        commit = "not known"
    return f"Commit {commit}; {versions}.\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kastor", required=True, type=pathlib.Path)
    parser.add_argument("--python", required=True, type=pathlib.Path)
    parser.add_argument("--folder", default="science", type=pathlib.Path, help="for images and catalogues; default: science")
    parser.add_argument("--scenes", nargs="*", default=[scene.name for scene in SCENES.values() if scene.peers])
    parser.add_argument("--write", type=pathlib.Path, help="document with the two lines")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    versions = json.loads(run([given.python.absolute(), FINDERS, "--versions"], given.folder))
    comparison = Comparison(Workshop(given.kastor.resolve(), given.folder), given.python.absolute(), versions)
    text = origin(comparison) + document(comparison, given.scenes)
    if given.write is None:
        print(text)
        return
    before, rest = given.write.read_text().split(BEGIN)
    after = rest.split(END)[1]
    given.write.write_text(before + BEGIN + text + END + after)


if __name__ == "__main__":
    main()

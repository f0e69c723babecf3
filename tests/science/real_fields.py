# SPDX-License-Identifier: Apache-2.0
"""Kastor's components of real radio images beside those of Aegean and PyBDSF.

    real_fields.py --kastor PROGRAM [--python PYTHON] [--folder FOLDER] [--worst N]

The images SUMSS J2306M36, J2248M36 and the Scorpio field are in the folder that KASTOR_TEST_DATA names (default
../shared/data). PYTHON, with tests/science/requirements.txt, runs the other finders; catalogues that are in FOLDER are used.
Of sources above 10 times the noise: the share found by both, the median ratio of fluxes, offsets in beams; and the worst
ones, with the pixels around them in units of the noise.
"""
import argparse
import array
import math
import os
import pathlib
import statistics
import subprocess
import sys

from component_statistics import match, read_header, read_table
from science import run

HERE = pathlib.Path(__file__).parent
IMAGES = "sumss_J2306M36", "sumss_J2248M36", "ScorpioFaintSNRField"
ABOVE = 10  # times the noise
PLAIN = 1.5  # a component with no other closer than this many beams


def read_pixels(path):
    """Rows of a plain image of 32-bit floats."""
    header = read_header(path)
    width, height = int(header["NAXIS1"]), int(header["NAXIS2"])
    data = path.read_bytes()
    end = next(i for i in range(0, len(data), 80) if data[i:i + 8] == b"END     ")
    start = -(-(end + 80) // 2880) * 2880
    values = array.array("f", data[start:start + 4 * width * height])
    values.byteswap()
    return [values[y * width:(y + 1) * width] for y in range(height)]


def cutout(pixels, x, y, rms, half=7):
    """Text: deviation over noise, the highest row first."""
    lines = []
    for row in range(round(y) + half, round(y) - half - 1, -1):
        inside = 0 <= row < len(pixels)
        values = [pixels[row][c] if inside and 0 <= c < len(pixels[row]) else math.nan for c in range(round(x) - half, round(x) + half + 1)]
        lines.append("      " + "".join("    ." if not math.isfinite(v) else f"{v / rms:5.0f}" for v in values))
    return "\n".join(lines)


def in_beams(rows, beam):
    """Positions over the FWHM of the beam along x and y, in the columns that `match` takes."""
    return [row | {"x": row["x_cen"] / beam[0], "y": row["y_cen"] / beam[1], "x_cen": row["x_cen"] / beam[0],
                   "y_cen": row["y_cen"] / beam[1]} for row in rows]


def alone(rows):
    """Whether each has no other within PLAIN beams (positions in beams)."""
    return [sum(math.hypot(a["x"] - b["x"], a["y"] - b["y"]) < PLAIN for b in rows) == 1 for a in rows]


def describe(name, row, beam):
    keys = ("flux_peak", "flux_int", "maj_axis", "min_axis", "pos_ang")
    values = "  ".join(f"{key} {row.get(key, math.nan):.4g} +- {row.get(f'{key}_err', math.nan):.2g}" for key in keys)
    flags = f"  flags {int(row['flags'])}" if math.isfinite(row.get("flags", math.nan)) else ""
    return f"    {name:7s} ({row['x'] * beam[0]:.2f}, {row['y'] * beam[1]:.2f})  {values}{flags}"


def ratios(title, pairs):
    values = sorted(mine["flux_int"] / other["flux_int"] for other, mine in pairs)
    peaks = sorted(mine["flux_peak"] / other["flux_peak"] for other, mine in pairs)
    if len(values) < 8:
        return f"    {title}: {len(values)} pairs"
    offsets = [(mine["x"] - other["x"], mine["y"] - other["y"]) for other, mine in pairs]
    far = sorted(math.hypot(*offset) for offset in offsets)
    cuts = statistics.quantiles(values, n=100)
    return (f"    {title}: {len(values)} pairs; flux ratio median {statistics.median(values):.4f} (16 to 84 %: {cuts[15]:.3f} to "
            f"{cuts[83]:.3f}), peaks {statistics.median(peaks):.4f}; offset in beams x {statistics.median([o[0] for o in offsets]):+.4f} "
            f"y {statistics.median([o[1] for o in offsets]):+.4f}, 50 % {far[len(far) // 2]:.4f}, 95 % {far[int(0.95 * len(far))]:.4f}")


def compare(image, mine, theirs, worst, finder):
    header = read_header(image)
    beam = header["BMIN"] / abs(header["CDELT1"]), header["BMAJ"] / abs(header["CDELT2"])  # these have a PA of 0
    mine, theirs = in_beams(read_table(mine), beam), in_beams(read_table(theirs), beam)
    bright = [row for row in theirs if row["flux_peak"] > ABOVE * row["rms_image"] and row["flux_int"] > 0]
    found = match(bright, mine, 0.5)
    # Ours that they have not.
    ours = [row for row in mine if row["flux_peak"] > ABOVE * row["rms_image"]]
    back = match(ours, theirs, 0.5)
    print(f"  {finder}: {len(theirs)} components, {len(bright)} above {ABOVE} rms, {len(found)} of them found by Kastor "
          f"({len(mine)} components, {len(ours)} above, {len(back)} of them found by {finder})")
    lonely = alone(theirs)
    single = {id(row) for row, is_alone in zip(theirs, lonely) if is_alone}
    pairs = [(bright[i], mine[j]) for i, j in found.items()]
    print(ratios("all", pairs))
    print(ratios("alone", [pair for pair in pairs if id(pair[0]) in single]))
    pixels = read_pixels(image)

    def badness(pair):
        other, own = pair
        error = math.hypot(own.get("flux_int_err", 0), other.get("flux_int_err", 0), 0.02 * other["flux_int"])
        return abs(own["flux_int"] - other["flux_int"]) / error

    for other, own in sorted(pairs, key=badness, reverse=True)[:worst]:
        near = [row for row in mine if math.hypot(row["x"] - other["x"], row["y"] - other["y"]) < PLAIN]
        beside = [row for row in theirs if math.hypot(row["x"] - other["x"], row["y"] - other["y"]) < PLAIN]
        print(f"   flux ratio {own['flux_int'] / other['flux_int']:.3f}; within {PLAIN} beams {len(near)} of Kastor with a flux of "
              f"{sum(r['flux_int'] for r in near):.4g}, {len(beside)} of {finder} with {sum(r['flux_int'] for r in beside):.4g}")
        print("\n".join([*(describe("Kastor", row, beam) for row in near), *(describe(finder, row, beam) for row in beside)]))
        print(cutout(pixels, own["x"] * beam[0], own["y"] * beam[1], own["rms_image"]))
    for title, rows, taken in ((f"of {finder} without Kastor's", bright, found), (f"of Kastor without {finder}'s", ours, back)):
        for row in [row for i, row in enumerate(rows) if i not in taken][:worst]:
            print(f"   {title}:\n{describe('', row, beam)}")
            print(cutout(pixels, row["x"] * beam[0], row["y"] * beam[1], row["rms_image"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kastor", required=True, type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, help="with tests/science/requirements.txt: runs the other finders")
    parser.add_argument("--folder", default="science", type=pathlib.Path, help="for catalogues; default: science")
    parser.add_argument("--worst", default=10, type=int, help="how many of the worst are printed; default 10")
    given = parser.parse_args()
    data = pathlib.Path(os.environ.get("KASTOR_TEST_DATA") or HERE.parents[2] / "shared" / "data").resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    kastor, folder = given.kastor.resolve(), given.folder.resolve()
    for name in IMAGES:
        image = data / f"{name}.fits"
        if not image.exists():
            print(f"{image} is not there: left out", file=sys.stderr)
            continue
        print(name)
        mine = folder / f"{name}_kastor.csv"
        run([kastor, "find", image, "--preset", "radio", "--components", mine, "--quiet", "--overwrite"], folder)
        for finder in ("Aegean", "PyBDSF"):
            theirs = folder / f"{name}_{finder}.csv"
            if not theirs.exists() and given.python:
                local = folder / image.name  # they write beside it
                local.write_bytes(image.read_bytes())
                done = subprocess.run([given.python.absolute(), HERE / "component_finders.py", finder, local.name, theirs.name],
                                      cwd=folder, capture_output=True, text=True)
                local.unlink()
                if done.returncode != 0:
                    print(f"{finder}: {done.stderr[-500:]}", file=sys.stderr)
            if theirs.exists():
                compare(image, mine, theirs, given.worst, finder)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Statistics of fitted Gaussians against true ones: biases, pulls (measured - true) / error, pairs, extra components.

    component_statistics.py IMAGE TRUTH.csv CATALOGUE.csv...     prints a table, with --json one object a catalogue

The truth has the columns of `kastor simulate sky`, catalogues those of `kastor find --components` as CSV. Needs Python
alone.
"""
import argparse
import csv
import dataclasses
import json
import math
import pathlib
import statistics

from science import Figure

FWHM = math.sqrt(8 * math.log(2))
QUANTITIES = ("flux_peak", "flux_int", "x_cen", "y_cen", "maj_axis", "min_axis", "pos_ang", "maj_axis_deconv",
              "min_axis_deconv", "pos_ang_deconv")
ANGLES = "pos_ang", "pos_ang_deconv"


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def read_table(path):
    """A dictionary of numbers a row; what is no number is NaN."""
    with open(path, newline="") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def read_header(path):
    """Numbers of the first header of a FITS file."""
    values = {}
    with open(path, "rb") as file:
        while block := file.read(2880):
            for card in (block[i:i + 80].decode("ascii", "replace") for i in range(0, 2880, 80)):
                if card.startswith("END "):
                    return values
                values[card[:8].strip()] = number(card[10:].split("/")[0])
    return values


@dataclasses.dataclass(frozen=True)
class Beam:
    major: float  # FWHM [pixel]
    minor: float
    angle: float  # from +x to +y [deg]
    pixel: float  # arcsec
    turn: float = 0    # of north, from up to the left, for a pixel more to the left [deg]
    middle: float = 0  # where it is 0 [pixel]

    @classmethod
    def of(cls, image):
        """Of an image with square pixels, north up and east to the left."""
        header = read_header(image)
        degrees = header["CDELT2"]
        return cls(header["BMAJ"] / degrees, header["BMIN"] / degrees, header.get("BPA", 0) + 90, 3600 * degrees,
                   -degrees * math.tan(math.radians(header["CRVAL2"])), header["CRPIX1"] - 1)

    def on_sky(self, angle, x):
        """From an angle from +x to +y to one from north to east."""
        return angle - 90 - self.turn * (self.middle - x)


def shape_matrix(major, minor, angle):
    """(xx, xy, yy) of the covariance matrix times 8 ln 2."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    a, b = major * major, minor * minor
    return a * c * c + b * s * s, (a - b) * c * s, a * s * s + b * c * c


def deconvolved(source, beam):
    """Axes and angle from +x without the beam; None where an axis is not above 0.01 pixel."""
    xx, xy, yy = (a - b for a, b in zip(shape_matrix(*source), shape_matrix(beam.major, beam.minor, beam.angle)))
    root = math.hypot((xx - yy) / 2, xy)
    low, high = (xx + yy) / 2 - root, (xx + yy) / 2 + root
    if low < 1e-4:
        return None
    return math.sqrt(high), math.sqrt(low), math.degrees(math.atan2(2 * xy, xx - yy)) / 2


def true_values(row, beam):
    """What a perfect catalogue has; angles from north to east."""
    source = row["fwhm"], row["minor"], row["angle"]
    values = {"flux_peak": row["flux_peak"], "flux_int": row["flux_int"], "x_cen": row["x"], "y_cen": row["y"],
              "maj_axis": source[0] * beam.pixel, "min_axis": source[1] * beam.pixel, "pos_ang": beam.on_sky(source[2], row["x"])}
    before = deconvolved(source, beam)
    if before:
        values |= {"maj_axis_deconv": before[0] * beam.pixel, "min_axis_deconv": before[1] * beam.pixel,
                   "pos_ang_deconv": beam.on_sky(before[2], row["x"])}
    return values


def close_pairs(truth, rows, radius):
    """(distance, index of the truth, of the row) within the radius, from a grid of cells as wide as it."""
    cells = {}
    for j, row in enumerate(rows):
        if math.isfinite(row["x_cen"]) and math.isfinite(row["y_cen"]):
            cells.setdefault((row["x_cen"] // radius, row["y_cen"] // radius), []).append(j)
    for i, true in enumerate(truth):
        column, line = true["x"] // radius, true["y"] // radius
        for cell in ((column + a, line + b) for a in (-1, 0, 1) for b in (-1, 0, 1)):
            for j in cells.get(cell, ()):
                distance = math.hypot(rows[j]["x_cen"] - true["x"], rows[j]["y_cen"] - true["y"])
                if distance <= radius:
                    yield distance, i, j


def match(truth, rows, radius):
    """{index of the truth: index of the row}: the two closest of all first, then of those left."""
    found, taken = {}, set()
    for _, i, j in sorted(close_pairs(truth, rows, radius)):
        if i not in found and j not in taken:
            found[i] = j
            taken.add(j)
    return found


def spread(values):
    """Mean, median, standard deviation and half the distance of the percentiles 16 and 84, with standard errors."""
    values = sorted(value for value in values if math.isfinite(value))
    n = len(values)
    if n < 8:
        return {"count": n}
    cuts = statistics.quantiles(values, n=10000, method="inclusive")
    std, width, root = statistics.stdev(values), (cuts[8412] - cuts[1586]) / 2, math.sqrt(n)
    return {"count": n, "mean": statistics.fmean(values), "mean_err": std / root, "median": statistics.median(values),
            "median_err": 1.253 * width / root, "std": std, "std_err": std / math.sqrt(2 * n), "width": width,
            "width_err": 0.96 * width / root, "significance": statistics.fmean(values) / std * root if std else math.nan}


def difference(quantity, measured, true):
    delta = measured - true
    return (delta + 90) % 180 - 90 if quantity in ANGLES and math.isfinite(delta) else delta


def measures(pairs):
    """{quantity: {"deviation": relative for fluxes and axes, "pull"}} of (true values, row)."""
    result = {}
    for quantity in QUANTITIES:
        both = [(row[quantity], true[quantity], row.get(f"{quantity}_err", math.nan)) for true, row in pairs
                if quantity in true and quantity in row]
        deltas = [difference(quantity, measured, true) for measured, true, _ in both]
        scale = [abs(true) if quantity.startswith(("flux", "maj", "min")) and true else 1 for _, true, _ in both]
        result[quantity] = {
            "deviation": spread([delta / unit for delta, unit in zip(deltas, scale)]),
            "pull": spread([delta / error for delta, (_, _, error) in zip(deltas, both) if error > 0]),
            "without_error": sum(1 for _, _, error in both if not error > 0)}
    return result


def evaluate(truth, rows, beam, radius=None):
    """All figures. Within the radius, by default 0.6 of the mean width (FWHM) of the true sources [pixel]."""
    width = statistics.fmean(math.sqrt(row["fwhm"] * row["minor"]) for row in truth)
    found = match(truth, rows, radius or 0.6 * width)
    groups = {}
    for i, true in enumerate(truth):
        groups.setdefault(true["group"] or -1 - i, []).append(i)
    complete = {i for members in groups.values() if all(i in found for i in members) for i in members}
    near = {j for _, _, j in close_pairs([truth[i] for i in found], rows, 2 * width)} - set(found.values())
    flags = [int(row["flags"]) for row in rows if math.isfinite(row.get("flags", math.nan))]
    return {"sources": len(truth), "rows": len(rows), "found": len(found), "groups": len(groups),
            "groups_found": sum(all(i in found for i in members) for members in groups.values()),
            "extra": len(near), "false": len(rows) - len(found) - len(near),
            "flags": {str(1 << bit): count for bit in range(16) if (count := sum(flag >> bit & 1 for flag in flags))},
            "total_flux": sum(rows[j]["flux_int"] for j in set(found.values()) | near) / (sum(truth[i]["flux_int"] for i in found) or math.nan),
            "measures": measures([(true_values(truth[i], beam), rows[j]) for i, j in found.items() if i in complete])}


def evaluate_files(image, truth, catalogue, radius=None):
    return evaluate(read_table(truth), read_table(catalogue), Beam.of(image), radius)


def share(part, of):
    value = part / of if of else math.nan
    return value, math.sqrt(max(value * (1 - value), 1 / of) / of) if of else math.nan


def figure(result, quantity, kind, statistic):
    values = result["measures"][quantity][kind]
    return Figure(f"{statistic} of {kind} of {quantity}", values.get(statistic), values.get(f"{statistic}_err"))


def found_share(result, what="found"):
    """Of the sources, or of whole pairs ("groups_found")."""
    return Figure(f"share {what}", *share(result[what], result["groups" if what == "groups_found" else "sources"]))


def extra_share(result):
    return Figure("extra components for each source found", *share(result["extra"], result["found"]))


def line(quantity, values):
    deviation, pull = values["deviation"], values["pull"]
    if "mean" not in deviation:
        return ""
    unit = 1 if quantity in ("x_cen", "y_cen") or quantity in ANGLES else 100
    text = f"  {quantity:16s} n {deviation['count']:5d}  bias mean {unit * deviation['mean']:+8.3f} +- {unit * deviation['mean_err']:.3f}" \
           f" median {unit * deviation['median']:+8.3f} {'%' if unit == 100 else ' '}"
    if "mean" in pull:
        text += f"  pull mean {pull['mean']:+.3f} (x sqrt n {pull['significance']:+5.1f}) median {pull['median']:+.3f}" \
                f" std {pull['std']:.3f} width {pull['width']:.3f}"
    return text + (f"  no error: {values['without_error']}" if values["without_error"] else "")


def report(result):
    lines = ["  {found} of {sources} sources, {groups_found} of {groups} groups; {rows} rows, {extra} extra, {false} false; "
             "flux of all near {total_flux:.4f}; flags {flags}".format(**result)]
    return "\n".join(lines + [text for quantity, values in result["measures"].items() if (text := line(quantity, values))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("truth", type=pathlib.Path)
    parser.add_argument("catalogues", nargs="+", type=pathlib.Path)
    parser.add_argument("--radius", type=float, help="of a match [pixel]; default: 0.6 of the mean width of the sources")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for catalogue in given.catalogues:
        result = evaluate_files(given.image, given.truth, catalogue, given.radius)
        print(json.dumps({"catalogue": str(catalogue)} | result) if given.json else f"{catalogue}\n{report(result)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The obvious, slow form of the whole job."""

import csv
import hashlib
import math
import statistics
import struct

COLUMNS = "id x_cen y_cen flux_sum flux_peak x_peak y_peak n_pix x_min x_max y_min y_max".split()
_REAL = {"x_cen", "y_cen", "flux_sum", "flux_peak"}


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def clip(rows, kappa=3.0):
    """(survivors, mean, median, std, passes)"""
    kept = [v for row in rows for v in row if math.isfinite(v)]
    passes = 0
    while True:
        passes += 1
        mean = math.fsum(kept) / len(kept)
        std = math.sqrt(math.fsum((v - mean) ** 2 for v in kept) / len(kept))
        median = statistics.median(kept)
        inside = [v for v in kept if median - kappa * std < v < median + kappa * std]
        if len(inside) == len(kept) or not inside:
            return kept, mean, median, std, passes
        kept = inside


def label(rows, level, connectivity=4):
    """Lists of (y, x) in raster order, one a component, in the order of their first pixels."""
    ny, nx = len(rows), len(rows[0])
    steps = [(-1, 0), (0, -1), (0, 1), (1, 0)]
    if connectivity == 8:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    foreground = {(y, x) for y in range(ny) for x in range(nx) if math.inf > rows[y][x] > level}
    components = []
    for first in sorted(foreground):
        if first not in foreground:
            continue
        foreground.discard(first)
        found, front = [first], [first]
        while front:
            y, x = front.pop()
            for dy, dx in steps:
                neighbour = (y + dy, x + dx)
                if neighbour in foreground:
                    foreground.discard(neighbour)
                    found.append(neighbour)
                    front.append(neighbour)
        components.append(sorted(found))
    return components


def _box(pixels):
    xs, ys = [x for _, x in pixels], [y for y, _ in pixels]
    return {"x_min": min(xs), "x_max": max(xs), "y_min": min(ys), "y_max": max(ys)}


def _centre(pixels, values):
    """NaN where the values add up to 0."""
    total = math.fsum(values) or math.nan
    return {
        "x_cen": math.fsum(v * x for v, (_, x) in zip(values, pixels)) / total,
        "y_cen": math.fsum(v * y for v, (y, _) in zip(values, pixels)) / total,
    }


def measure(rows, components, min_pixels=1):
    catalogue = []
    for pixels in components:
        if len(pixels) < min_pixels:
            continue
        values = [rows[y][x] for y, x in pixels]
        peak = max(values)
        y_peak, x_peak = pixels[values.index(peak)]
        catalogue.append(
            {
                "id": len(catalogue) + 1,
                "flux_sum": math.fsum(values),
                "flux_peak": peak,
                "x_peak": x_peak,
                "y_peak": y_peak,
                "n_pix": len(pixels),
                **_centre(pixels, values),
                **_box(pixels),
            }
        )
    return catalogue


def islands(rows, level, rms, seed, flood, connectivity=8, min_pixels=1, drop_at_edge=False):
    """(lists of (y, x), number of dropped ones) of the islands above `level`; below it with a
    negative `rms`. Pixels without a use are NaN in `rows`."""
    ny, nx = len(rows), len(rows[0])
    sign = math.copysign(1, rms)
    deviations = [[sign * (v - level) if math.isfinite(v) else math.nan for v in r] for r in rows]
    kept, dropped = [], 0
    for pixels in label(deviations, flood * abs(rms), connectivity):
        seeded = any(deviations[y][x] > seed * abs(rms) for y, x in pixels)
        inside = all(0 < y < ny - 1 and 0 < x < nx - 1 for y, x in pixels)
        if seeded and len(pixels) >= min_pixels and (inside or not drop_at_edge):
            kept.append(pixels)
        else:
            dropped += 1
    return kept, dropped


def measure_islands(rows, level, rms, components, first_id=1):
    """What can be said of islands by plain sums; `rms` as for `islands()`."""
    measured = []
    for number, pixels in enumerate(components, first_id):
        deviations = [rows[y][x] - level for y, x in pixels]
        y_peak, x_peak = pixels[max(range(len(pixels)), key=lambda i: abs(deviations[i]))]
        measured.append(
            {
                "island_id": number,
                "flux_peak": rows[y_peak][x_peak] - level,
                "flux_sum": math.fsum(deviations),
                "raw_sum": math.fsum(rows[y][x] for y, x in pixels),
                "snr": abs(rows[y_peak][x_peak] - level) / abs(rms),
                "x_peak": x_peak,
                "y_peak": y_peak,
                "n_pix": len(pixels),
                **_centre(pixels, deviations),
                **_box(pixels),
            }
        )
    return measured


def read_csv(path):
    """Rows of a catalogue, integers as int."""
    with path.open(newline="") as file:
        return [
            {name: float(text) if name in _REAL else int(text) for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def catalogue_hash(catalogue):
    """As the contract spells it out: twelve columns a row, little-endian int64 or double."""
    digest = hashlib.sha256()
    for row in catalogue:
        for name in COLUMNS:
            if name not in _REAL:
                digest.update(struct.pack("<q", row[name]))
            elif math.isnan(row[name]):
                digest.update(struct.pack("<Q", 0x7FF8000000000000))
            else:
                digest.update(struct.pack("<d", row[name]))
    return digest.hexdigest()


def convolve(image, kernel, mode):
    """The convolution of rows with rows, products added in the image's raster order."""
    ny, nx, my, mx = len(image), len(image[0]), len(kernel), len(kernel[0])
    first_y, first_x, out_ny, out_nx = {
        "full": (0, 0, ny + my - 1, nx + mx - 1),
        "same": ((my - 1) // 2, (mx - 1) // 2, ny, nx),
        "valid": (min(ny, my) - 1, min(nx, mx) - 1, abs(ny - my) + 1, abs(nx - mx) + 1),
    }[mode]
    result = []
    for y in range(first_y, first_y + out_ny):
        row = []
        for x in range(first_x, first_x + out_nx):
            total = 0.0
            for image_y in range(max(0, y - my + 1), min(ny, y + 1)):
                for image_x in range(max(0, x - mx + 1), min(nx, x + 1)):
                    total += kernel[y - image_y][x - image_x] * image[image_y][image_x]
            row.append(total)
        result.append(row)
    return result

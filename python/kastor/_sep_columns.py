# SPDX-License-Identifier: Apache-2.0
"""The columns of a catalogue as SEP has them, from the pixels of labelled objects."""

from __future__ import annotations

from typing import Any

import numpy as np

#: SEP's columns and their types, in its order.
COLUMNS = np.dtype(
    [("thresh", "f8")]
    + [(name, "i8") for name in ("npix", "tnpix", "xmin", "xmax", "ymin", "ymax")]
    + [
        (name, "f8")
        for name in (
            "x",
            "y",
            "x2",
            "y2",
            "xy",
            "errx2",
            "erry2",
            "errxy",
            "a",
            "b",
            "theta",
            "cxx",
            "cyy",
            "cxy",
            "cflux",
            "flux",
            "cpeak",
            "peak",
        )
    ]
    + [(name, "i8") for name in ("xcpeak", "ycpeak", "xpeak", "ypeak")]
    + [("flag", "i2")]
)

TRUNCATED, SINGULAR = 2, 8  # bits of the column flag


class Objects:
    """The objects of an image: those of its connected components that have enough pixels.

    Parameters
    ----------
    row, begin, end, component : numpy.ndarray of int
        The runs of the foreground in raster order: row, first column, last column + 1, component from 1.
    count : int
        Number of components.
    min_pixels : int
        Smaller components are no objects.
    shape : (int, int)
        Of the image.

    Attributes
    ----------
    count : int
        Number of objects. They are in the order of their last pixels, as those of SEP.
    npix : numpy.ndarray of int
        Number of their pixels.
    at : numpy.ndarray of int
        Indices of all these pixels in the image, flattened, in ascending order.
    ids : numpy.ndarray of int
        The object of each of them, from 0.
    """

    def __init__(
        self,
        row: np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        component: np.ndarray,
        count: int,
        min_pixels: int,
        shape: tuple[int, int],
    ):
        length = end - begin
        first = row * np.int64(shape[1]) + begin
        npix = np.bincount(component, length, count + 1).astype(np.int64)
        last = np.zeros(count + 1, np.int64)
        last[component] = first + length  # of equal indices, the last assignment stays
        kept = np.flatnonzero(npix >= max(min_pixels, 1))
        kept = kept[np.argsort(last[kept])]
        order = np.full(count + 1, -1, np.intp)
        order[kept] = np.arange(kept.size)
        ids = order[component]
        inside = np.flatnonzero(ids >= 0)
        length, first = length[inside], first[inside]
        before = np.cumsum(length, dtype=np.int64) - length  # pixels in the runs before
        self.count = kept.size
        self.npix = npix[kept]
        self.at = np.arange(length.sum()) + np.repeat(first - before, length)
        self.ids = np.repeat(ids[inside], length)
        self._shape = shape

    def total(self, weights: np.ndarray) -> np.ndarray:
        """The sum over the pixels of each object."""
        return np.bincount(self.ids, weights, self.count)

    def map(self) -> np.ndarray:
        """The image of the numbers of the objects from 1, 0 elsewhere, int32."""
        numbers = np.zeros(self._shape, np.int32)
        numbers.ravel()[self.at] = self.ids + 1
        return numbers


def columns_of(
    objects: Objects, values: np.ndarray, thresholds: Any, variances: Any, gain: float, shape: tuple[int, int]
) -> np.ndarray:
    """Measure objects as SEP does, with its roundings to float32.

    Parameters
    ----------
    objects : Objects
    values : numpy.ndarray of float32
        The pixels of the objects [image unit].
    thresholds, variances : numpy.ndarray of float32, or numpy.float32
        Of these pixels, or the same for all [image unit, its square]. Variances of None: no noise.
    gain : float
        Electrons per image unit; 0: no photon noise.
    shape : (int, int)
        Of the image.

    Returns
    -------
    numpy.ndarray of COLUMNS
    """
    table = np.zeros(objects.count, COLUMNS)
    if objects.count == 0:
        return table
    y = objects.at // shape[1]
    x = objects.at - y * shape[1]
    columns = {"npix": objects.npix} | _boxes(objects, x, y, shape) | _peaks(objects, values, x, y)
    if np.ndim(thresholds) == 0:
        columns |= {"thresh": thresholds, "tnpix": objects.npix}
    else:
        mean = (objects.total(thresholds) / objects.npix).astype(np.float32)
        columns |= {"thresh": mean, "tnpix": objects.total(values > mean[objects.ids])}
    with np.errstate(all="ignore"):  # pixels may be infinite
        # From the corner of the box, so that large coordinates lose no digits.
        dx, dy = x - columns["xmin"][objects.ids], y - columns["ymin"][objects.ids]
        columns |= _moments(objects, values, dx.astype(np.float32), dy.astype(np.float32))
        dx, dy = dx - columns["x"][objects.ids], dy - columns["y"][objects.ids]
        columns |= _errors(objects, values, dx, dy, variances, gain, columns["flux"])
        _round_lines(columns)
        columns |= _ellipses(columns["x2"], columns["y2"], columns["xy"])
    columns["x"] = columns["x"] + columns["xmin"]
    columns["y"] = columns["y"] + columns["ymin"]
    for name in COLUMNS.names or ():
        table[name] = columns[name]
    return table


def _boxes(objects: Objects, x: np.ndarray, y: np.ndarray, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """Bounding boxes, ends included, and whether they touch the edge of the image."""
    ids = objects.ids
    xmin, xmax = np.full(objects.count, shape[1]), np.full(objects.count, -1)
    np.minimum.at(xmin, ids, x)
    np.maximum.at(xmax, ids, x)
    ymin, ymax = np.zeros(objects.count, np.int64), np.zeros(objects.count, np.int64)
    ymin[ids[::-1]], ymax[ids] = y[::-1], y  # rows ascend, and the last assignment stays
    at_edge = (xmin == 0) | (ymin == 0) | (xmax == shape[1] - 1) | (ymax == shape[0] - 1)
    return {"xmin": xmin, "xmax": xmax, "ymin": ymin, "ymax": ymax, "flag": TRUNCATED * at_edge}


def _moments(objects: Objects, values: np.ndarray, dx: np.ndarray, dy: np.ndarray) -> dict[str, np.ndarray]:
    """Sums, centres from the corners of the boxes, second moments. Products are of float32, as SEP's are."""
    flux = objects.total(values).astype(np.float32).astype(np.float64)
    by_x, by_y = values * dx, values * dy
    x, y = objects.total(by_x) / flux, objects.total(by_y) / flux
    return {
        "flux": flux,
        "cflux": flux,
        "x": x,
        "y": y,
        "x2": objects.total(by_x * dx) / flux - x * x,
        "y2": objects.total(by_y * dy) / flux - y * y,
        "xy": objects.total(by_x * dy) / flux - x * y,
    }


def _errors(
    objects: Objects, values: np.ndarray, dx: np.ndarray, dy: np.ndarray, variances: Any, gain: float, flux: np.ndarray
) -> dict[str, np.ndarray]:
    """Variances of the second moments from those of the pixels, and the sums of these, over flux^2."""
    if variances is None and not gain > 0:
        return {name: np.zeros(objects.count) for name in ("errx2", "erry2", "errxy", "sum")}
    variance = np.full(values.size, 0 if variances is None else variances, np.float64)
    if gain > 0:
        variance += np.maximum(values, 0).astype(np.float64) / gain
    by_x = variance * dx
    square = flux * flux
    return {
        "errx2": objects.total(by_x * dx) / square,
        "erry2": objects.total(variance * dy * dy) / square,
        "errxy": objects.total(by_x * dy) / square,
        "sum": objects.total(variance) / square,
    }


def _round_lines(columns: dict[str, np.ndarray]) -> None:
    """Lines of pixels get the variance of a pixel, 1/12, across and along."""
    is_line = columns["x2"] * columns["y2"] - columns["xy"] ** 2 < 0.00694
    columns["flag"] = columns["flag"] | SINGULAR * is_line
    added = columns["sum"] * 0.08333
    is_narrow = is_line & (columns["errx2"] * columns["erry2"] - columns["errxy"] ** 2 < added * added)
    for name, where, value in (
        ("x2", is_line, 0.0833333),
        ("y2", is_line, 0.0833333),
        ("errx2", is_narrow, added),
        ("erry2", is_narrow, added),
    ):
        columns[name] = np.where(where, columns[name] + value, columns[name])


def _ellipses(x2: np.ndarray, y2: np.ndarray, xy: np.ndarray) -> dict[str, np.ndarray]:
    """Axes, angle and coefficients from the second moments."""
    determinant = x2 * y2 - xy * xy
    angle = np.where(np.abs(x2 - y2) > 0, np.arctan2(2 * xy, x2 - y2) / 2, np.pi / 4)
    mean, half = 0.5 * (x2 + y2), np.sqrt(0.25 * (x2 - y2) ** 2 + xy * xy)
    found = {
        "a": np.sqrt(mean + half),
        "b": np.sqrt(mean - half),
        "theta": angle,
        "cxx": y2 / determinant,
        "cyy": x2 / determinant,
        "cxy": -2 * xy / determinant,
    }
    return {name: value.astype(np.float32) for name, value in found.items()}


def _peaks(objects: Objects, values: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """The brightest pixel of each object; of equal ones that which SEP's scan meets first."""
    ids = objects.ids
    peak = np.zeros(objects.count)  # pixels are above a threshold that is not below 0
    np.maximum.at(peak, ids, values.astype(np.float64))  # many times faster than in float32
    is_peak = values == peak[ids]
    at = np.flatnonzero(is_peak)
    brightest = np.zeros(objects.count, np.intp)
    brightest[ids[at]] = at
    is_tied = np.bincount(ids[at], minlength=objects.count) > 1
    if is_tied.any():
        among = np.flatnonzero(is_tied[ids])
        among = among[np.argsort(ids[among], kind="stable")]
        for pixels in np.split(among, np.flatnonzero(np.diff(ids[among])) + 1):
            brightest[ids[pixels[0]]] = pixels[first_met(y[pixels], x[pixels], is_peak[pixels])]
    at_x, at_y = x[brightest], y[brightest]
    return {"peak": peak, "cpeak": peak, "xpeak": at_x, "xcpeak": at_x, "ypeak": at_y, "ycpeak": at_y}


def first_met(y: np.ndarray, x: np.ndarray, is_wanted: np.ndarray) -> int:
    """Which wanted pixel of an object is first in SEP's list of its pixels.

    SEP joins the lists of a part of the object when the scan of the next row reaches the column where
    the part's last row begins. So what lies left of that column in the next row comes before the part.

    Parameters
    ----------
    y, x : numpy.ndarray of int
        The pixels of one object, 8-connected, in raster order.
    is_wanted : numpy.ndarray of bool
        At least one is.

    Returns
    -------
    int
        Index of the pixel.
    """
    begins = np.flatnonzero(np.concatenate(([True], (np.diff(y) != 0) | (np.diff(x) != 1)))).tolist()
    rows: dict[int, list[range]] = {}
    for begin, end in zip(begins, begins[1:] + [y.size]):
        rows.setdefault(int(y[begin]), []).append(range(begin, end))
    columns, wanted = x.tolist(), is_wanted.tolist()
    parts: list[tuple[list[range], int | None]] = []
    for runs in rows.values():
        parts = _next_parts(parts, runs, columns, wanted)
    first = parts[0][1]
    assert first is not None
    return first


def _next_parts(
    above: list[tuple[list[range], int | None]], runs: list[range], x: list[int], wanted: list[bool]
) -> list[tuple[list[range], int | None]]:
    """What the parts of an object become in the next row: their runs there, and the first wanted pixel."""
    group = list(range(len(runs)))
    touched = [
        [
            i
            for i, run in enumerate(runs)
            if any(x[run[0]] <= x[other[-1]] + 1 and x[run[-1]] >= x[other[0]] - 1 for other in others)
        ]
        for others, _ in above
    ]
    for together in touched:
        joined = {group[i] for i in together}
        group = [min(joined) if each in joined else each for each in group]
    parts = []
    for number in sorted(set(group)):
        met = [
            (x[others[0][0]], 0, first)
            for (others, first), together in zip(above, touched)
            if first is not None and group[together[0]] == number
        ]
        members = [run for run, each in zip(runs, group) if each == number]
        met += [(x[i], 1, i) for run in members for i in run if wanted[i]]
        parts.append((members, min(met)[2] if met else None))
    return parts

# SPDX-License-Identifier: Apache-2.0
"""`measure`, `compare` and `evaluate`: the commands of these names."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _kastor
from ._options import arguments_of, take_with
from ._results import Column, Found, Kept, Rows


class Measured:
    """What `measure` returns.

    Attributes
    ----------
    rows : numpy.ndarray
        One structured element for each position of the list (docs/catalogue.md).
    report : dict
        What ``kastor measure --json`` prints.
    notes : list of str
        What to know of the image, the list and the options, one sentence each.
    """

    def __init__(self, table: dict[str, Any], report: str, notes: list[str]):
        self._rows = Rows(table)
        self.rows = self._rows.array
        self.report: dict[str, Any] = json.loads(report)
        self.notes = notes

    def columns(self) -> dict[str, Column]:
        """Unit, UCD and description of each column."""
        return self._rows.columns

    def table(self) -> Any:
        """As an `astropy.table.QTable`."""
        return self._rows.table()

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<kastor.Measured: {len(self)} positions>"


@contextlib.contextmanager
def _as_file(catalogue: Any, argument: str) -> Iterator[str]:
    """The name of a file: `catalogue` itself, or one with its rows for as long as it is needed."""
    if isinstance(catalogue, (str, os.PathLike)):
        yield os.fspath(catalogue)
        return
    with tempfile.TemporaryDirectory(prefix="kastor-") as folder:
        if isinstance(catalogue, Found):
            path = os.path.join(folder, "found.vot")
            which = "sources" if catalogue.components is None else "components"
            if isinstance(catalogue._found, Kept):
                catalogue.table(which).write(path, format="votable")
            else:
                catalogue.write(path, which)
        elif hasattr(catalogue, "colnames") and hasattr(catalogue, "write"):  # a Table
            path = os.path.join(folder, "table.vot")
            catalogue.write(path, format="votable")
        elif isinstance(catalogue, dict) and any(_has_unit(values) for values in catalogue.values()):
            from astropy import units
            from astropy.table import QTable

            path = os.path.join(folder, "table.vot")
            table = QTable(catalogue)
            for column in table.colnames:
                if getattr(table[column], "unit", None) == units.hourangle:
                    table[column] = table[column].to(units.deg)
            table.write(path, format="votable")
        else:
            path = os.path.join(folder, "rows.csv")
            _write_csv(path, catalogue, argument)
        yield path


def _has_unit(values: Any) -> bool:
    return getattr(values, "unit", None) is not None


def _write_csv(path: str, catalogue: Any, argument: str) -> None:
    if isinstance(catalogue, dict):
        columns = {name: np.atleast_1d(values) for name, values in catalogue.items()}
    elif isinstance(catalogue, np.ndarray) and catalogue.dtype.names:
        columns = {name: catalogue[name] for name in catalogue.dtype.names}
    elif isinstance(catalogue, (tuple, list)) and len(catalogue) == 2:
        if any(_has_unit(values) for values in catalogue):
            raise TypeError(f"{argument}: found (x, y) with a unit; expected pixels from 0, or a table with ra and dec")
        columns = {"x_cen": np.atleast_1d(catalogue[0]), "y_cen": np.atleast_1d(catalogue[1])}
    else:
        raise TypeError(
            f"{argument}: found {type(catalogue).__name__}; expected the name of a catalogue, a Found, a table, "
            "a structured array, a dict of columns or (x, y) in pixels"
        )
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError(f"{argument}: found columns of different lengths; expected equal ones")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values())))


def measure(
    image: Any,
    at: Any,
    *,
    header: Any = None,
    wcs: Any = None,
    stream: int | None = None,
    # The options of `kastor measure`.
    hdu: int | str | None = None,
    plane: int | None = None,
    max_unpacked: int | str | None = None,
    blank_value: float | str | None = None,
    unit: Any = None,
    free: str | None = None,
    size: str | None = None,
    aperture: float | tuple[float, ...] | None = None,
    preset: str | None = None,
    mask: Any = None,
    mask_hdu: int | str | None = None,
    mask_plane: int | None = None,
    box: tuple[int, int, int, int] | None = None,
    beam: tuple[float, ...] | str | None = None,
    noise: str | None = None,
    cell: int | tuple[int, int] | None = None,
    estimate: str | None = None,
    filter: int | None = None,
    interpolation: str | None = None,
    large_sources: str | None = None,
    clipped_noise: str | None = None,
    background: Any = None,
    background_hdu: int | str | None = None,
    background_plane: int | None = None,
    rms: Any = None,
    rms_hdu: int | str | None = None,
    rms_plane: int | None = None,
    rms_kind: str | None = None,
    kappa: float | None = None,
    max_passes: int | None = None,
    output: Any = None,
    names: str | None = None,
    overwrite: bool = False,
    on: str | None = None,
    threads: int | None = None,
) -> Measured:
    """Measure an image at given positions: fluxes of Gaussians, and sums in apertures.

    Parameters
    ----------
    image, header, wcs, stream
        As of `find`.
    at : str, path-like, Found, Table, structured array, dict or (x, y)
        The positions: a catalogue by any program, or one in memory. Two sequences are pixels, counted
        from 0.
    aperture : float or tuple of float, optional
        Radii of apertures [pixel].
    **others
        The options of ``kastor measure`` with ``_`` for ``-``, with the same defaults and refusals;
        arrays and exceptions are as of `find`.

    Returns
    -------
    Measured

    Examples
    --------
    >>> import kastor
    >>> measured = kastor.measure("sky.fits", "sky_truth.csv")
    >>> len(measured), measured.columns()["flux_int"].unit
    (20, 'Jy')
    >>> float(measured.rows["flux_int"].max().round(2))
    1.01
    """
    options = dict(locals())
    for name in ("image", "at", "header", "wcs", "stream", "on"):
        del options[name]
    taken = take_with(options, image, header, wcs, stream)
    with _as_file(at, "at") as path:
        arguments, arrays = arguments_of(options | {"at": path})
        return Measured(*_kastor.measure(arguments, taken.array, taken.name, taken.cards, taken.stream, arrays, on))


def _run(name: str, files: list[str], options: dict[str, Any]) -> dict[str, Any]:
    arguments, arrays = arguments_of(options)
    if arrays:
        raise TypeError(f"{next(iter(arrays))[2:]}: found an array; expected the name of a file")
    lines = _kastor.run(name, [*arguments, "--json", "--", *files]).splitlines()
    report: dict[str, Any] = json.loads(lines[0])
    return report


def simulate(kind: str, output: str | os.PathLike[str], *, overwrite: bool = False, **options: Any) -> str | None:
    """Write a simulated image, and a table of its true sources.

    Parameters
    ----------
    kind : {"sky", "diracs"}
        A radio or optical field, or zeros with single pixels of 1 on a grid.
    output : str or path-like
        The image, a name that ends with .fits.
    overwrite : bool
        Whether files that exist are replaced.
    **options
        The options of ``kastor simulate sky`` and ``kastor simulate diracs`` with ``_`` for ``-``.

    Returns
    -------
    str or None
        The name of the table of true sources; None for "diracs".

    Examples
    --------
    >>> import kastor
    >>> kastor.simulate("sky", "field.fits", size=256, seed=3)
    'field_truth.csv'
    >>> len(kastor.find("field.fits")) > 0
    True
    """
    if kind not in ("sky", "diracs"):
        raise ValueError(f"kind: found '{kind}'; expected 'sky' or 'diracs'")
    arguments, arrays = arguments_of(options | {"output": os.fspath(output), "overwrite": overwrite})
    if arrays:
        raise TypeError(f"{next(iter(arrays))[2:]}: found an array; expected the name of a file")
    _kastor.run("simulate", [kind, *arguments, "--quiet"])
    if kind != "sky":
        return None
    truth = options.get("truth")
    return os.fspath(truth) if truth is not None else os.fspath(output).removesuffix(".fits") + "_truth.csv"


def compare(
    first: Any,
    second: Any,
    *,
    columns1: str | None = None,
    columns2: str | None = None,
    radius: float | None = None,
    pixels: float | None = None,
    min_flux1: float | None = None,
    min_snr1: float | None = None,
    min_flux2: float | None = None,
    min_snr2: float | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Match two catalogues: completeness, reliability, offsets and flux ratios.

    Parameters
    ----------
    first, second : str, path-like, Found, Table, structured array or dict
        The reference, and the catalogue to test.
    radius : float, optional
        Match on the sky, within so many arcsec.
    pixels : float, optional
        Match in pixels, within so many.
    **others
        The options of ``kastor compare``.

    Returns
    -------
    dict
        What ``kastor compare --json`` prints.

    Examples
    --------
    >>> import kastor
    >>> here = {"x": [10.0, 50.0, 90.0], "y": [10.0, 50.0, 90.0], "flux": [1.0, 2.0, 3.0]}
    >>> there = {"x": [10.2, 50.1], "y": [10.1, 49.8], "flux": [1.1, 2.0]}
    >>> compared = kastor.compare(here, there, pixels=1)
    >>> compared["matched"], compared["missed"], compared["extra"]
    (2, 1, 0)
    """
    options = dict(locals())
    del options["first"], options["second"]
    with _as_file(first, "first") as reference, _as_file(second, "second") as tested:
        report = _run("compare", [reference, tested], options)
    for name, catalogue in (("catalogue1", first), ("catalogue2", second)):
        if not isinstance(catalogue, (str, os.PathLike)):
            report[name]["file"] = f"the {type(catalogue).__name__}"  # not the file that stood for it
    return report


def evaluate(image: str | os.PathLike[str], truth: Any, catalogue: Any = None, **options: Any) -> dict[str, Any]:
    """Test a catalogue of an image against the truth, or one that Kastor makes of the image.

    Parameters
    ----------
    image : str or path-like
        A FITS file.
    truth : str, path-like, Table, structured array or dict
        The sources that are there (docs/science.md).
    catalogue : str, path-like, Found or Table, optional
        What was found. Default: the image is searched.
    **options
        The options of ``kastor evaluate`` with ``_`` for ``-``.

    Returns
    -------
    dict
        What ``kastor evaluate --json`` prints.

    Examples
    --------
    >>> import kastor
    >>> evaluated = kastor.evaluate("sky.fits", "sky_truth.csv", min_snr=5)
    >>> evaluated["completeness"]["all_found"], evaluated["completeness"]["all_sources"]
    (8, 9)
    """
    if not isinstance(image, (str, os.PathLike)):
        raise TypeError(f"image: found {type(image).__name__}; expected the name of a FITS file")
    with contextlib.ExitStack() as stack:
        options["truth"] = stack.enter_context(_as_file(truth, "truth"))
        files = [os.fspath(image)]
        if catalogue is not None:
            files.append(stack.enter_context(_as_file(catalogue, "catalogue")))
        return _run("evaluate", files, options)

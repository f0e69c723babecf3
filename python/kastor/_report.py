# SPDX-License-Identifier: Apache-2.0
"""`report`: a page to look at."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any

import numpy as np

from . import _kastor
from ._find import find
from ._options import is_array
from ._reports import _as_file, compare, evaluate

#: Arguments of `find` that `evaluate` does not have: what is fitted, and what is written.
WRITES = {
    "components", "components_output", "shape", "overwrite", "output", "names", "labels", "picture", "model",
    "fit_residual", "background_map", "rms_map", "snr_map", "residual", "maps",
}  # fmt: skip


def _header_of(found: Any) -> Any:
    from astropy.io import fits

    cards = found._found.cards
    if not cards:
        return None
    header = fits.Header()
    for card in cards:
        try:
            header.append(fits.Card.fromstring(card), end=True)
        except (ValueError, fits.VerifyError):
            continue  # a card that is not FITS draws nothing
    return header


def _rows(path: str) -> np.ndarray:
    from astropy.table import Table

    return np.asarray(Table.read(path))


def report(
    image: Any,
    output: str | os.PathLike[str],
    *,
    truth: Any = None,
    reference: Any = None,
    radius: float | None = None,
    pixels: float | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Any:
    """Search an image, and write a page about it: one HTML file that loads nothing from elsewhere.

    Parameters
    ----------
    image
        As of `find`.
    output : str or path-like
        The page, NAME.html.
    truth : catalogue, optional
        The sources that are there, as of `evaluate`: adds completeness, reliability, fluxes and positions.
        The image is a file then.
    reference : catalogue, optional
        Another catalogue of the same sky, as of `compare`: adds flux ratios and offsets.
    radius, pixels : float, optional
        How far apart pairs may be [arcsec, pixel].
    overwrite : bool
        Whether a file that exists is replaced.
    **options
        As of `find`. The preset is "radio" unless another is given.

    Returns
    -------
    Found

    Raises
    ------
    ImportError
        Without matplotlib, Jinja2 and astropy: ``pip install kastor[report]``.
    """
    try:
        import astropy  # noqa: F401
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"kastor.report needs astropy, Jinja2 and matplotlib ({error}); expected: pip install 'kastor[report]'"
        ) from error
    from . import _page, _show

    output = pathlib.Path(output)
    if output.suffix not in (".html", ".htm"):
        raise ValueError(f"output: found '{output}'; expected a name that ends with .html")
    if output.exists() and not overwrite:
        raise _kastor.Error(f"{output}: exists; expected overwrite=True, or another name")
    if truth is not None and not isinstance(image, (str, os.PathLike)):
        raise TypeError("truth: found with an array; expected the name of a FITS file as the image")
    options.setdefault("preset", "radio")
    is_lesson = options["preset"] == "lesson"
    searched = {key: value for key, value in options.items() if key not in WRITES and value is not None}
    arrays = [key for key, value in searched.items() if is_array(value)]
    if truth is not None and arrays:
        raise TypeError(f"{arrays[0]}: found an array with truth; expected the name of a FITS file")
    found = find(image, maps=() if is_lesson else ("background", "rms"), **options)
    with tempfile.TemporaryDirectory(prefix="kastor-") as folder:
        evaluation = pairs = comparison = compared = None
        name = ""
        if truth is not None:
            path = os.path.join(folder, "pairs.fits")
            evaluation = evaluate(
                image,
                truth,
                output=path,
                **({"pixels": pixels} if pixels else {}),
                **({"radius": radius} if radius else {}),
                **searched,
            )
            pairs = _rows(path)
        if reference is not None:
            path = os.path.join(folder, "matched.fits")
            with _as_file(reference, "reference") as file:
                comparison = compare(file, found, radius=radius, pixels=pixels, output=path)
                name = os.path.basename(file) if isinstance(reference, (str, os.PathLike)) else "the reference"
            compared = _rows(path)
        run = _page.Run(
            name=os.path.basename(found.name),
            command=_command(found, options),
            version=_kastor.version,
            report=found.report,
            pixels=_show.pixels_of(found, options.get("plane")),
            header=_header_of(found),
            sources=found.sources,
            units={column: each.unit for column, each in found.columns().items()},
            components=found.components,
            background=found.maps.get("background"),
            rms=found.maps.get("rms"),
            evaluation=evaluation,
            pairs=pairs,
            comparison=comparison,
            compared=compared,
            reference=name,
        )
        text = _page.page(run)
    part = output.with_name(f".{output.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, output)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return found


def _command(found: Any, options: dict[str, Any]) -> str:
    words = ["kastor.find(" + repr(found.name)]
    words += [
        f"{key}={value!r}" if isinstance(value, (str, int, float, bool, tuple)) else f"{key}=<{type(value).__name__}>"
        for key, value in options.items()
    ]
    return ", ".join(words) + ")"

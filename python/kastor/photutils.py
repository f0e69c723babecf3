# SPDX-License-Identifier: Apache-2.0
"""`detect_sources` of `photutils.segmentation`, by Kastor; everything else there is the installed photutils' own.

``from kastor.photutils import SourceCatalog, detect_sources``
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._functions import label as _label

_MISSING: Any = object()


def _installed(what: str) -> Any:
    try:
        from photutils import segmentation
    except ImportError as error:
        raise ImportError(
            f"kastor.photutils: {what} needs the package photutils, which is not installed; expected it "
            "from 'pip install photutils'",
            name="photutils",
        ) from error
    return segmentation


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_installed(f"segmentation.{name}"), name)


def __dir__() -> list[str]:
    try:
        return sorted(name for name in dir(_installed("segmentation")) if not name.startswith("_"))
    except ImportError:
        return ["detect_sources"]


def detect_sources(
    data: Any,
    threshold: Any,
    n_pixels: int = _MISSING,
    *,
    connectivity: int = 8,
    mask: Any = None,
    npixels: int = _MISSING,
) -> Any:
    """Find connected pixels above a threshold, as `photutils.segmentation.detect_sources`.

    Parameters
    ----------
    data : array, shape (ny, nx)
        The image, of any real type, or a Quantity. NaN pixels belong to no source.
    threshold : float or array
        Sources are above it [as the image], everywhere the same or of each pixel.
    n_pixels : int
        Least number of pixels of a source.
    connectivity : {4, 8}
        Whether pixels that share an edge are connected, or a corner too.
    mask : array of bool, optional
        True where a pixel belongs to no source.
    npixels : int
        The name of `n_pixels` before photutils 3.

    Returns
    -------
    photutils.segmentation.SegmentationImage or None
        The labels that photutils gives, number for number. None, after photutils' NoDetectionsWarning, if
        there is no source.

    Raises
    ------
    ImportError
        If photutils is not installed.
    ValueError
        If an argument is out of its range, or shapes or units differ.
    """
    segmentation = _installed("detect_sources")
    if npixels is not _MISSING:
        if n_pixels is not _MISSING:
            raise TypeError("npixels, n_pixels: found both; expected n_pixels")
        _warn_renamed()
        n_pixels = npixels
    if n_pixels is _MISSING:
        raise TypeError("detect_sources: found no n_pixels; expected the least number of pixels of a source")
    if n_pixels <= 0 or int(n_pixels) != n_pixels:
        raise ValueError(f"n_pixels: found {n_pixels!r}; expected a positive integer")
    if connectivity not in (4, 8):
        raise ValueError(f"connectivity: found {connectivity!r}; expected 4 or 8")
    above = _above(data, threshold, mask)
    labels, count = _label(above, connectivity=connectivity)
    sizes = np.bincount(labels[above], minlength=count + 1)
    kept = np.flatnonzero(sizes >= n_pixels)
    if kept.size == 0:
        _warn_nothing()
        return None
    if kept.size < count:
        numbers = np.zeros(count + 1, labels.dtype)
        numbers[kept] = np.arange(1, kept.size + 1)
        labels = numbers[labels]
    return segmentation.SegmentationImage(labels)


def _above(data: Any, threshold: Any, mask: Any) -> np.ndarray:
    """Where the image is above the threshold and not masked."""
    units = [getattr(values, "unit", None) for values in (data, threshold)]
    if units[0] != units[1]:
        raise ValueError(f"data, threshold: found the units {units[0]} and {units[1]}; expected one unit, or none")
    data, threshold = (getattr(values, "value", values) for values in (data, threshold))
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("data: found a masked array; expected an array, and its mask as the argument mask")
    data = np.asarray(data)
    if data.ndim != 2:
        raise ValueError(f"data: found {data.ndim} axes; expected two, (y, x)")
    if np.ndim(threshold) > 0 and np.shape(threshold) != data.shape:
        raise ValueError(f"threshold: found the shape {np.shape(threshold)}; expected that of data, {data.shape}")
    with np.errstate(invalid="ignore"):
        above = data > threshold
    if mask is not None:
        mask = np.asarray(mask, np.bool_)
        if mask.shape != data.shape:
            raise ValueError(f"mask: found the shape {mask.shape}; expected that of data, {data.shape}")
        if mask.all():
            raise ValueError("mask: found no pixel that is not masked; expected one")
        above &= ~mask
    return above


def _warn_renamed() -> None:
    from astropy.utils.exceptions import AstropyDeprecationWarning

    warnings.warn(
        "'npixels' was deprecated in photutils 3.0 and will be removed in photutils 4.0. Use argument "
        "'n_pixels' instead.",
        AstropyDeprecationWarning,
        stacklevel=3,
    )


def _warn_nothing() -> None:
    from photutils.utils.exceptions import NoDetectionsWarning

    warnings.warn(
        "No sources were found. Try lowering the threshold or pixels parameters.", NoDetectionsWarning, stacklevel=3
    )

# SPDX-License-Identifier: Apache-2.0
"""Functions on arrays: clip, background, labels, convolution."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from . import _kastor
from ._arrays import take_image, take_mask


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Of the finite pixels: how many, and mean, standard deviation, median and extremes [image unit]."""

    count: int
    mean: float
    std: float
    median: float
    min: float
    max: float


@dataclasses.dataclass(frozen=True)
class Clip:
    """The result of `sigma_clip`.

    Attributes
    ----------
    all, clipped : Statistics
        Before and after.
    pixels, blank : int
        How many there are, and how many of them are NaN, infinite or masked.
    passes : int
        How often the statistics were computed.
    converged : bool
        Whether the last pass removed nothing.
    degenerate : bool
        Whether the next clip would remove every pixel: of those that are left, the deviation is 0.
    """

    all: Statistics
    clipped: Statistics
    pixels: int
    blank: int
    passes: int
    converged: bool
    degenerate: bool


class Background:
    """Maps of the level and the noise of the sky. `background` returns it.

    Attributes
    ----------
    level, rms : numpy.ndarray
        Of each pixel [image unit]. A map is made when it is asked for.
    global_level, global_rms : float
        Median of each over the mesh [image unit].
    """

    def __init__(self, mesh: Any):
        self._mesh = mesh
        self.global_level = float(mesh.global_level)
        self.global_rms = float(mesh.global_rms)

    @functools.cached_property
    def level(self) -> np.ndarray:
        return np.asarray(self._mesh.level())

    @functools.cached_property
    def rms(self) -> np.ndarray:
        return np.asarray(self._mesh.rms())

    def __repr__(self) -> str:
        return f"<kastor.Background: level {self.global_level:.6g}, rms {self.global_rms:.6g}>"


def _pixels(image: Any, mask: Any, stream: int | None) -> tuple[Any, np.ndarray | None, int]:
    """Pixels, the mask as bytes, and the stream."""
    taken = take_image(image, stream=stream)
    if taken.array is None:
        raise TypeError("image: found the name of a file; expected an array (kastor.find and the command read files)")
    if mask is not None and taken.mask is not None:
        raise ValueError("mask: found one in the image too; expected one of them")
    bad = take_mask(mask) if mask is not None else taken.mask
    if bad is not None and bad.shape != tuple(getattr(taken.array, "shape", bad.shape)):
        raise ValueError(f"mask: found the shape {bad.shape}; expected that of the image, {taken.array.shape}")
    return taken.array, bad, taken.stream


def _blanked(pixels: Any, bad: np.ndarray | None) -> Any:
    if bad is None or not bad.any():
        return pixels
    if not isinstance(pixels, np.ndarray):
        raise TypeError("mask: found with an array on a GPU; expected NaN where its pixels are bad")
    return np.where(bad != 0, np.array(np.nan, pixels.dtype), pixels)


def _choice(name: str, value: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise ValueError(f"{name}: found '{value}'; expected {' or '.join(words)}")
    return value


def sigma_clip(
    image: Any,
    *,
    kappa: float = 3.0,
    max_passes: int = 0,
    mask: Any = None,
    on: str | None = None,
    stream: int | None = None,
) -> Clip:
    """Clip pixels beyond `kappa` standard deviations of the median, until a pass removes none.

    Parameters
    ----------
    image : array
        As of `find`; NaN and infinite pixels are blank.
    kappa : float
        Limit [standard deviations, > 0].
    max_passes : int
        Stop after so many passes; 0: when a pass removes nothing.
    mask : array of bool, optional
        True where a pixel is bad. The image is copied then.
    on, stream
        As of `find`.

    Returns
    -------
    Clip
        With the same bits on every backend. Medians are exact, sums have no rounding of float32.

    Raises
    ------
    Error
        If no pixel is finite, or a parameter is out of its range.

    Examples
    --------
    >>> import kastor, numpy
    >>> image = numpy.arange(100.0).reshape(10, 10)
    >>> image[0, 0] = 1e6
    >>> clip = kastor.sigma_clip(image)
    >>> clip.clipped.mean, clip.clipped.count, clip.passes
    (50.0, 99, 2)
    """
    pixels, bad, stream = _pixels(image, mask, stream)
    values = _kastor.sigma_clip(_blanked(pixels, bad), float(kappa), int(max_passes), on, stream)
    return Clip(**(values | {"all": Statistics(**values["all"]), "clipped": Statistics(**values["clipped"])}))


def background(
    image: Any,
    *,
    mask: Any = None,
    cell: int | tuple[int, int] = 64,
    kappa: float = 3.0,
    max_passes: int = 0,
    estimate: str = "mode",
    filter: int = 3,
    interpolation: str = "bicubic",
    mask_large_sources: bool = False,
    correct_clip: bool = False,
    on: str | None = None,
    stream: int | None = None,
) -> Background:
    """Estimate the level and the noise of the sky on a mesh of clipped cells.

    Parameters
    ----------
    image : array
        As of `find`.
    mask : array of bool, optional
        True where a pixel is not to be used.
    cell : int or (int, int)
        Size of a cell [pixel]: (height, width).
    kappa, max_passes
        The clip of each cell, as of `sigma_clip`.
    estimate : {"mode", "median"}
        SExtractor's 2.5 median - 1.5 mean (Bertin and Arnouts 1996), or the median.
    filter : int
        Width of the median filter over the mesh [cells, odd]; 1: none.
    interpolation : {"bicubic", "bilinear"}
    mask_large_sources : bool
        Whether cells that a source larger than a cell covers are left out.
    correct_clip : bool
        Whether the noise is corrected for what the clip takes of normally distributed pixels.
    on, stream
        As of `find`.

    Returns
    -------
    Background

    Raises
    ------
    Error
        If no cell has enough pixels that are finite and not masked, or a parameter is out of its range.

    Examples
    --------
    >>> import kastor, numpy
    >>> image = numpy.full((128, 128), 7.0, "float32")
    >>> image[40:44, 60:63] = 50  # a source
    >>> sky = kastor.background(image, cell=32)
    >>> float((image - sky.level).max()), sky.global_rms
    (43.0, 0.0)
    """
    pixels, bad, stream = _pixels(image, mask, stream)
    height, width = cell if isinstance(cell, (tuple, list)) else (cell, cell)
    mesh = _kastor.background(
        pixels,
        bad,
        int(height),
        int(width),
        float(kappa),
        int(max_passes),
        _choice("estimate", estimate, ("mode", "median")),
        int(filter),
        _choice("interpolation", interpolation, ("bicubic", "bilinear")),
        mask_large_sources,
        correct_clip,
        on,
        stream,
    )
    return Background(mesh)


def label(mask: Any, *, connectivity: int = 4, on: str | None = None) -> tuple[np.ndarray, int]:
    """Number the connected pixels of a mask, in the order of their first pixels.

    Parameters
    ----------
    mask : array of bool, shape (ny, nx)
    connectivity : {4, 8}
        Whether pixels that share an edge are connected, or a corner too.
    on
        As of `find`.

    Returns
    -------
    labels : numpy.ndarray of int32
        0 for the background, else the number from 1: those of `scipy.ndimage.label`.
    count : int

    Examples
    --------
    >>> import kastor, numpy
    >>> mask = numpy.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 0]], bool)
    >>> kastor.label(mask, connectivity=8)
    (array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 0],
           [2, 2, 0]], dtype=int32), 2)
    """
    pixels = take_mask(mask)
    if pixels is None:
        raise TypeError("mask: found none; expected an array of bool")
    return _kastor.label(pixels, connectivity, on)


def convolve(
    image: Any,
    kernel: Any,
    *,
    mode: str = "same",
    nan: str = "propagate",
    method: str = "auto",
    on: str | None = None,
    stream: int | None = None,
) -> np.ndarray:
    """Convolve an image with a kernel, as `scipy.signal.convolve2d` does.

    Parameters
    ----------
    image : array
        As of `find`.
    kernel : array, shape up to (127, 127)
    mode : {"same", "full", "valid"}
    nan : {"propagate", "interpolate"}
        Whether a blank pixel makes those around it blank, or is filled from them.
    method : {"auto", "direct", "separable"}
        Sums tap by tap, or along x and then along y; "auto" takes what needs less arithmetic.
    on, stream
        As of `find`.

    Returns
    -------
    numpy.ndarray
        Of the type of the image.

    Examples
    --------
    >>> import kastor, numpy
    >>> image = numpy.zeros((4, 5), "float32")
    >>> image[1, 1] = 1
    >>> kastor.convolve(image, [[0, 1, 0], [1, 2, 1], [0, 1, 0]])
    array([[0., 1., 0., 0., 0.],
           [1., 2., 1., 0., 0.],
           [0., 1., 0., 0., 0.],
           [0., 0., 0., 0., 0.]], dtype=float32)
    """
    pixels, bad, stream = _pixels(image, None, stream)
    taps = np.ascontiguousarray(kernel, dtype=np.float64)
    return _kastor.convolve(
        _blanked(pixels, bad),
        taps,
        _choice("mode", mode, ("same", "full", "valid")),
        _choice("nan", nan, ("propagate", "interpolate")),
        _choice("method", method, ("auto", "direct", "separable")),
        on,
        stream,
    )

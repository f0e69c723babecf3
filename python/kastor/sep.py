# SPDX-License-Identifier: Apache-2.0
"""The names of the package `sep`, by Kastor where its answer is the same.

``from kastor import sep`` in the place of ``import sep``: `Background` and `extract` are here, everything
else (`sum_circle`, `kron_radius`, ...) is that of the installed sep. Arguments that Kastor does not have call
the installed sep too, after one warning that names them; numbers never change silently.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _kastor
from ._arrays import host_pixels
from ._kastor import Error
from ._sep_columns import Objects, columns_of

#: The kernel that `extract` has by default, as in sep: a 3 x 3 approximation of a Gaussian.
default_kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32)

# In smaller cells, and in those that the image's edge cuts to less, the mode of SEP's histogram is another.
LEAST_CELL, LEAST_CUT_CELL = 64 * 64, 16 * 64  # pixels


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_installed(f"sep.{name}"), name)


def __dir__() -> list[str]:
    names = {"Background", "default_kernel", "extract"}
    try:
        names.update(name for name in dir(_installed("sep")) if not name.startswith("_"))
    except ImportError:
        pass
    return sorted(names)


def _installed(what: str) -> Any:
    try:
        import sep
    except ImportError as error:
        raise ImportError(
            f"kastor.sep: {what} needs the package sep, which is not installed; expected it from 'pip install sep'",
            name="sep",
        ) from error
    return sep


def _slow(function: str, reasons: list[str]) -> Any:
    """The installed sep, after a warning (from the caller's caller's line) of what needs it."""
    called = _installed(f"{function} with {reasons[0]}")
    warnings.warn(
        f"kastor.sep.{function}: {', '.join(reasons)} {'is' if len(reasons) == 1 else 'are'} not Kastor's; "
        "the slower sep is called",
        UserWarning,
        stacklevel=3,
    )
    return called


def _check(name: str, array: Any, shape: tuple[int, ...] | None = None) -> None:
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: found {type(array).__name__}; expected numpy.ndarray (masks are another argument)")
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name}: found the shape {array.shape}; expected two axes with pixels, (y, x)")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: found the type {array.dtype}; expected real numbers")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name}: found the shape {array.shape}; expected that of data, {shape}")


def _native(array: Any) -> Any:
    """In the byte order of this machine, as the installed sep needs it."""
    if isinstance(array, np.ndarray) and not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def _has_small_cells(shape: tuple[int, int], bh: int, bw: int) -> bool:
    if bh < 1 or bw < 1:
        return True
    height, width = min(bh, shape[0]), min(bw, shape[1])
    last_height, last_width = (shape[0] - 1) % bh + 1, (shape[1] - 1) % bw + 1
    return height * width < LEAST_CELL or min(last_height * width, height * last_width) < LEAST_CUT_CELL


def _is_masked(mask: np.ndarray, maskthresh: float) -> np.ndarray:
    return mask if mask.dtype == np.bool_ and 0 <= maskthresh < 1 else mask.astype(np.float32) > maskthresh


class Background:
    """Maps of the level and the noise of the sky, as of `sep.Background`.

    Parameters
    ----------
    data : numpy.ndarray, shape (ny, nx)
        The image. float32, float64 and integers, in either byte order; NaN and infinite pixels are not
        used. Rows are contiguous.
    mask : numpy.ndarray, shape (ny, nx), optional
        Pixels above `maskthresh` are not used: True, by default.
    maskthresh : float
        The largest value of a mask that does not mask.
    bw, bh : int
        Width and height of a cell of the mesh [pixel].
    fw, fh : int
        Width and height of the median filter over the mesh [cells]; an even one counts as the next odd one.
    fthresh : float
        Least change [image unit] that the filter makes.

    Notes
    -----
    Kastor clips the pixels of each cell, SEP a histogram of them. On simulated skies both maps differ by less than
    0.01 of the noise in the median, and than 0.05 of it over nine tenths of the image. They differ by more in single
    cells: where a source fills much of a cell, as in one that the corner of the image cuts to few pixels, and where
    SEP's mode is about to give way to its median. The installed sep is called, after one warning, for different `fw`
    and `fh`, an `fthresh` above 0, cells of less than 64 x 64 pixels, or less than a quarter of that at an edge that
    cuts them, and images where no cell has enough good pixels or most cells are constant.
    """

    def __init__(
        self,
        data: np.ndarray,
        mask: np.ndarray | None = None,
        maskthresh: float = 0.0,
        bw: int = 64,
        bh: int = 64,
        fw: int = 3,
        fh: int = 3,
        fthresh: float = 0.0,
    ):
        _check("data", data)
        if mask is not None:
            _check("mask", mask, data.shape)
        self._sep: Any = None
        reasons = []
        if fw // 2 != fh // 2 or fw < 0:
            reasons.append("fw other than fh")
        if fthresh > 0:
            reasons.append("fthresh above 0")
        if _has_small_cells(data.shape, bh, bw):
            reasons.append("a mesh with cells of few pixels")
        if not reasons:
            try:
                bad = None if mask is None else _is_masked(mask, maskthresh).view(np.uint8)
                mesh = _kastor.background(
                    host_pixels(data), bad, bh, bw, 3.0, 0, "mode", 2 * (fw // 2) + 1, "bicubic", False, False
                )
                if mesh.global_rms > 0 or not mesh.rms().any():
                    self._mesh = mesh
                    self._shape = data.shape
                    self._dtype = np.dtype(np.int32) if data.dtype.isnative and data.dtype == np.int32 else None
                    return
                reasons.append("an image that is constant in most cells")
            except Error:
                reasons.append("an image in which no cell has enough good pixels")
        self._sep = _slow("Background", reasons).Background(
            _native(data), mask=_native(mask), maskthresh=maskthresh, bw=bw, bh=bh, fw=fw, fh=fh, fthresh=fthresh
        )

    @property
    def globalback(self) -> float:
        """Median of the levels of the cells [image unit]."""
        return self._sep.globalback if self._sep is not None else self._mesh.global_level

    @property
    def globalrms(self) -> float:
        """Median of the noise of the cells [image unit]."""
        if self._sep is not None:
            return self._sep.globalrms
        return self._mesh.global_rms or 1.0  # as sep of a constant image

    def _typed(self, values: np.ndarray, dtype: Any) -> np.ndarray:
        dtype = np.dtype(dtype or self._dtype or values.dtype)
        if not dtype.isnative or dtype not in (np.float32, np.float64, np.int32):
            raise ValueError(f"dtype: found {dtype}; expected float32, float64 or int32 of this machine's byte order")
        if dtype == np.int32:
            values += 0.5  # SEP truncates the sum
        return values.astype(dtype, copy=False)

    def back(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The level of the sky [image unit], as a new array.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            float32, float64 or int32. Default: that of the image; of images that sep refuses, float32 or
            float64.
        copy : bool, optional
            Of no effect: the array is always new.
        """
        return self._typed(self._mesh.level(), dtype) if self._sep is None else self._sep.back(dtype=dtype, copy=copy)

    def rms(self, dtype: Any = None) -> np.ndarray:
        """The noise of the sky, its standard deviation [image unit], as a new array. `dtype` as of `back`."""
        return self._typed(self._mesh.rms(), dtype) if self._sep is None else self._sep.rms(dtype=dtype)

    def subfrom(self, data: np.ndarray) -> None:
        """Subtract the level from an array of the same shape, in place."""
        if self._sep is not None:
            self._sep.subfrom(data)
            return
        _check("data", data, self._shape)
        level = self._mesh.level()
        wanted = data.dtype.newbyteorder("=")
        level = level if wanted == level.dtype else self._typed(level, wanted)
        np.subtract(data, level, out=data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.back(dtype=dtype, copy=copy)

    def __rsub__(self, data: np.ndarray) -> np.ndarray:
        data = np.copy(data)
        self.subfrom(data)
        return data


def _noise(err: Any, var: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Standard deviations and variances in float32: arrays, scalars, or None."""
    if err is not None and var is not None:
        raise ValueError("err, var: found both; expected one of them")
    given = err if var is None else var
    if given is None:
        return None, None
    if np.ndim(given) > 0:
        _check("err" if var is None else "var", given, shape)
        given = given.astype(np.float32, copy=False)
    else:
        given = np.float32(given)
    return (given, None) if var is None else (np.sqrt(given), given)


def extract(
    data: np.ndarray,
    thresh: float,
    err: Any = None,
    var: Any = None,
    gain: float | None = None,
    mask: np.ndarray | None = None,
    maskthresh: float = 0.0,
    minarea: int = 5,
    filter_kernel: np.ndarray | None = default_kernel,
    filter_type: str = "matched",
    deblend_nthresh: int = 32,
    deblend_cont: float = 0.005,
    clean: bool = True,
    clean_param: float = 1.0,
    segmentation_map: Any = None,
) -> Any:
    """Find and measure objects, as `sep.extract`: fast with ``filter_kernel=None, deblend_cont=1, clean=False``.

    Parameters
    ----------
    data : numpy.ndarray, shape (ny, nx)
        The image, without its background, in either byte order. NaN pixels belong to no object.
    thresh : float
        Objects are above it: in units of `err` or of the root of `var`, else [image unit].
    err, var : float or numpy.ndarray, optional
        Standard deviation [image unit], or variance, of the noise; of each pixel, or of all.
    gain : float, optional
        Electrons per image unit, for photon noise in ``errx2``, ``erry2`` and ``errxy``.
    mask : numpy.ndarray, optional
        Pixels above `maskthresh` belong to no object: True, by default.
    minarea : int
        Least number of pixels of an object.
    filter_kernel, filter_type, deblend_nthresh, deblend_cont, clean, clean_param
        SEP's filter, deblending and cleaning. Kastor's are others, so these call the installed sep, after
        one warning, unless they are off: ``filter_kernel=None``, ``deblend_cont=1``, ``clean=False``. So do
        a `thresh` that is not above 0, and a `segmentation_map` that is an array.
    segmentation_map : bool, optional
        Whether the map of the objects is returned too.

    Returns
    -------
    objects : numpy.ndarray
        One structured element for each object: the columns of SEP, of its types and in its order.
    segmap : numpy.ndarray of int32
        With `segmentation_map`: for each pixel the index of its object in `objects` plus 1, or 0.

    Notes
    -----
    Objects, their pixels, bounding boxes, peaks, flags and order are those of SEP. Other columns are computed
    as SEP does, but pixels are summed in another order: they differ by a few units of the last place of
    float64, or of float32 where SEP rounds to that. There is no limit of the number of pixels
    (`set_extract_pixstack`). Masked pixels are not allowed to be objects; without a filter SEP does the same.
    """
    _check("data", data)
    if filter_type not in ("matched", "conv"):
        raise ValueError(f"filter_type: found {filter_type!r}; expected 'matched' or 'conv'")
    sigma, variance = _noise(err, var, data.shape)
    if mask is not None:
        _check("mask", mask, data.shape)
    relative = np.float32(thresh)
    is_positive = relative > 0 and (sigma is None or np.ndim(sigma) > 0 or sigma > 0)
    reasons = [
        name
        for name, is_other in (
            ("filter_kernel", filter_kernel is not None),
            ("deblend_cont", deblend_cont < 1 and deblend_nthresh != 1),
            ("clean", clean),
            ("segmentation_map", isinstance(segmentation_map, np.ndarray)),
            ("thresh of 0 or below", not is_positive),
        )
        if is_other
    ]
    if not reasons:
        found = _extract(
            data,
            relative,
            sigma,
            variance,
            float(gain or 0),
            None if mask is None else _is_masked(mask, maskthresh),
            minarea,
            bool(segmentation_map),
        )
        if found is not None:
            return found
        reasons.append("err below 0")
    return _slow("extract", reasons).extract(
        _native(data),
        thresh,
        err=_native(err),
        var=_native(var),
        gain=gain,
        mask=_native(mask),
        maskthresh=maskthresh,
        minarea=minarea,
        filter_kernel=_native(filter_kernel),
        filter_type=filter_type,
        deblend_nthresh=deblend_nthresh,
        deblend_cont=deblend_cont,
        clean=clean,
        clean_param=clean_param,
        segmentation_map=_native(segmentation_map),
    )


def _extract(
    data: np.ndarray,
    relative: np.float32,
    sigma: Any,
    variance: Any,
    gain: float,
    bad: np.ndarray | None,
    min_pixels: int,
    with_map: bool,
) -> Any:
    """Objects above `relative` times `sigma`; None if a threshold is below 0."""
    with np.errstate(over="ignore"):
        pixels = data.astype(np.float32, copy=False)  # SEP's type
    above = np.empty(data.shape, np.bool_)
    if np.ndim(sigma) == 0:
        level = relative if sigma is None else relative * sigma
        np.greater(pixels, level, out=above)
    else:
        level = np.empty((64, data.shape[1]), np.float32)  # stays in a cache
        for y in range(0, data.shape[0], len(level)):
            rows = slice(y, y + len(level))
            limit = np.multiply(sigma[rows], relative, out=level[: len(pixels[rows])])
            np.greater(pixels[rows], limit, out=above[rows])
    if bad is not None:
        above &= ~bad
    objects = Objects(*_kastor.runs(above.view(np.uint8), 8), min_pixels, data.shape)
    if np.ndim(sigma) > 0:
        sigma = sigma.ravel()[objects.at]
        variance = variance.ravel()[objects.at] if variance is not None else sigma * sigma
        level = relative * sigma
        if (level < 0).any():
            return None
    elif sigma is not None and variance is None:
        variance = sigma * sigma
    table = columns_of(objects, pixels.ravel()[objects.at], level, variance, gain, data.shape)
    return (table, objects.map()) if with_map else table

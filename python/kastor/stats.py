# SPDX-License-Identifier: Apache-2.0
"""`sigma_clipped_stats` of `astropy.stats`, by Kastor where its answer is the same; else astropy's own is called."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from ._functions import sigma_clip
from ._kastor import Error


def sigma_clipped_stats(
    data: Any,
    mask: Any = None,
    mask_value: float | None = None,
    sigma: float = 3.0,
    sigma_lower: float | None = None,
    sigma_upper: float | None = None,
    maxiters: int | None = 5,
    cenfunc: Any = "median",
    stdfunc: Any = "std",
    std_ddof: int = 0,
    axis: Any = None,
    grow: Any = False,
) -> tuple[Any, Any, Any]:
    """Mean, median and standard deviation of the pixels that survive a clip, as `astropy.stats.sigma_clipped_stats`.

    Parameters
    ----------
    data : array, numpy.ma.MaskedArray or Quantity
        Pixels, along one axis or more. NaN and infinite ones are left out, with astropy's warning.
    mask : array of bool, optional
        True where a pixel is left out.
    mask_value : float, optional
        Pixels equal to it are left out; those of floating-point images if they are within 1e-8 plus 1e-5 of it.
    sigma : float
        Limit of the clip [standard deviations, > 0].
    maxiters : int or None
        Clip so many times at most; None or 0: until a clip removes nothing. These are one less than the passes of
        `kastor.sigma_clip`, which counts how often the statistics are computed.
    sigma_lower, sigma_upper, cenfunc, stdfunc, std_ddof, axis, grow
        Kastor clips all pixels at the same limits about the median, by the standard deviation. With other values
        than the defaults the installed astropy is called, after one warning that names the arguments.

    Returns
    -------
    mean, median, std : float, or Quantity
        Of images of float64 and of integers those of astropy: the median is exact, the relative error of the others
        below 1e-12. Astropy computes in the type of the image: its mean, its std and its limits of float32 images
        carry the rounding of float32, which Kastor's do not. So a pixel that close to a limit may be kept by one and
        not by the other. `numpy.ma.masked` if all pixels are masked; NaN if none is finite.

    Raises
    ------
    ImportError
        If astropy is needed and not installed.

    Notes
    -----
    Of a pixel exactly at a limit, astropy keeps it and Kastor does not. Only in made-up data can there be one, as the
    limit must be representable and hit exactly; a constant image is kept whole by both.
    """
    plain, unit = (data.value, data.unit) if hasattr(data, "unit") and hasattr(data, "value") else (data, None)
    plain = np.asanyarray(plain)
    others = {
        "sigma": not sigma > 0,
        "sigma_lower": sigma_lower is not None,
        "sigma_upper": sigma_upper is not None,
        "maxiters": maxiters is not None and not (isinstance(maxiters, numbers.Integral) and maxiters >= 0),
        "cenfunc": not (isinstance(cenfunc, str) and cenfunc == "median"),
        "stdfunc": not (isinstance(stdfunc, str) and stdfunc == "std"),
        "std_ddof": std_ddof != 0,
        "axis": axis is not None,
        "grow": bool(grow),
        f"data of {plain.dtype} and the shape {plain.shape}": not _is_image(plain),
        "an astropy Masked": hasattr(data, "unmasked"),
        "a mask_value with a unit": mask_value is not None and unit is not None,
    }
    reasons = [name for name, is_other in others.items() if is_other]
    if reasons:
        return _slow(reasons)(
            data,
            mask=mask,
            mask_value=mask_value,
            sigma=sigma,
            sigma_lower=sigma_lower,
            sigma_upper=sigma_upper,
            maxiters=maxiters,
            cenfunc=cenfunc,
            stdfunc=stdfunc,
            std_ddof=std_ddof,
            axis=axis,
            grow=grow,
        )
    found = _clipped(plain, _left_out(plain, mask, mask_value), float(sigma), int(maxiters or 0))
    if unit is None or found[0] is np.ma.masked:
        return found
    return found[0] * unit, found[1] * unit, found[2] * unit


def _is_image(data: np.ndarray) -> bool:
    kind, size = data.dtype.kind, data.dtype.itemsize
    is_real = kind == "f" and size in (4, 8) or kind in "iu" and (kind, size) != ("i", 1)
    return is_real and data.ndim > 0 and data.size > 0


def _slow(reasons: list[str]) -> Any:
    try:
        from astropy.stats import sigma_clipped_stats as slow
    except ImportError as error:
        raise ImportError(
            f"kastor.stats: {reasons[0]} needs the package astropy, which is not installed; expected it "
            "from 'pip install astropy'",
            name="astropy",
        ) from error
    warnings.warn(
        f"kastor.stats: {', '.join(reasons)} {'is' if len(reasons) == 1 else 'are'} not Kastor's; the slower "
        "astropy is called",
        UserWarning,
        stacklevel=3,
    )
    return slow


def _left_out(data: np.ndarray, mask: Any, mask_value: float | None) -> np.ndarray | None:
    """Where pixels are masked; None if nothing masks."""
    masks = [np.ma.getmaskarray(data)] if isinstance(data, np.ma.MaskedArray) else []
    if mask is not None:
        masks.append(np.asarray(mask, np.bool_).reshape(data.shape))
    if mask_value is not None:
        values = np.asarray(data)
        masks.append(np.isclose(values, mask_value) if values.dtype.kind == "f" else values == mask_value)
    return np.logical_or.reduce(masks) if masks else None


def _clipped(data: np.ndarray, left_out: np.ndarray | None, sigma: float, maxiters: int) -> tuple[Any, Any, Any]:
    if left_out is not None and left_out.all():
        return np.ma.masked, np.ma.masked, np.ma.masked
    shape = (-1, data.shape[-1])  # the statistics do not depend on it
    pixels = np.ascontiguousarray(np.asarray(data).reshape(shape))
    try:
        clip = sigma_clip(
            pixels,
            kappa=sigma,
            max_passes=maxiters + 1 if maxiters else 0,
            mask=None if left_out is None else left_out.reshape(shape),
        )
    except Error:
        if np.isfinite(pixels).any():
            raise
        _warn_invalid()
        return np.nan, np.nan, np.nan
    if clip.blank > (0 if left_out is None else np.count_nonzero(left_out)):
        _warn_invalid()
    return clip.clipped.mean, clip.clipped.median, clip.clipped.std


def _warn_invalid() -> None:
    try:
        from astropy.utils.exceptions import AstropyUserWarning as category
    except ImportError:
        category = UserWarning
    warnings.warn(
        "Input data contains invalid values (NaNs or infs), which were automatically clipped.", category, stacklevel=4
    )

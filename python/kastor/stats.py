# SPDX-License-Identifier: Apache-2.0
"""`sigma_clipped_stats` of `astropy.stats`, where Kastor's answer is the same; else astropy's own is called."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._functions import sigma_clip


def sigma_clipped_stats(data: Any, mask: Any = None, mask_value: float | None = None, sigma: float = 3.0, sigma_lower: float | None = None,
                        sigma_upper: float | None = None, maxiters: int | None = 5, cenfunc: Any = "median", stdfunc: Any = "std",
                        std_ddof: int = 0, axis: Any = None, grow: Any = False) -> tuple[float, float, float]:
    """Mean, median and standard deviation of the pixels that survive a clip.

    Kastor clips two-dimensional images about the median by the standard deviation until nothing
    changes: ``maxiters=None``. With any other argument the installed astropy is called, after a
    warning that names the argument.

    Returns
    -------
    mean, median, std : float
        The median is exact. Mean and std have a relative error below 1e-12; astropy's sums of float32
        images are less exact. A pixel exactly at a limit is kept by astropy and not by Kastor.
    """
    others = {"sigma_lower": sigma_lower is not None, "sigma_upper": sigma_upper is not None, "maxiters": maxiters is not None,
              "cenfunc": cenfunc != "median", "stdfunc": stdfunc != "std", "std_ddof": std_ddof != 0, "axis": axis is not None,
              "grow": bool(grow), "data": np.ndim(data) != 2}
    named = [name for name, other in others.items() if other]
    if named:
        from astropy.stats import sigma_clipped_stats as slow

        warnings.warn(f"kastor.stats: {named[0]} is not Kastor's; astropy is called", stacklevel=2)
        return slow(data, mask=mask, mask_value=mask_value, sigma=sigma, sigma_lower=sigma_lower, sigma_upper=sigma_upper, maxiters=maxiters,
                    cenfunc=cenfunc, stdfunc=stdfunc, std_ddof=std_ddof, axis=axis, grow=grow)
    if mask_value is not None:
        excluded = np.asarray(data) == mask_value
        mask = excluded if mask is None else np.asarray(mask) | excluded
    clipped = sigma_clip(data, kappa=sigma, mask=mask).clipped
    return clipped.mean, clipped.median, clipped.std

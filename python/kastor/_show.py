# SPDX-License-Identifier: Apache-2.0
"""Draws an image with what was found in it, by matplotlib."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def pixels_of(found: Any, plane: int | None = None) -> np.ndarray:
    """The pixels of the image that was searched, on the host; `plane` of a cube in a file."""
    origin = found._origin
    if origin is None:
        from ._page import image_of

        data = image_of(found.name, found.report["hdu"], plane)[0]
    else:
        data = getattr(origin, "data", origin) if not isinstance(origin, np.ndarray) else origin
        if not isinstance(data, np.ndarray):
            data = data.get() if hasattr(data, "get") else np.asarray(data)
    data = np.asarray(getattr(data, "value", data))
    return data.reshape(data.shape[-2:])


def show(found: Any, ax: Any = None, which: str | None = None) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.patches import Ellipse

    if ax is None:
        _, ax = plt.subplots()
    pixels = pixels_of(found)
    finite = pixels[np.isfinite(pixels)]
    low, high = np.percentile(finite, [1, 99.7]) if finite.size else (0, 1)
    drawn = ax.imshow(pixels, origin="lower", cmap="gray", vmin=low, vmax=high, interpolation="nearest")
    ax.figure.colorbar(drawn, ax=ax, label=found.unit or None)
    which = which or ("sources" if found.components is None else "components")
    rows = found.sources if which == "sources" else found.components
    if which == "components":
        for row in rows:
            ax.add_patch(
                Ellipse(
                    (row["x_cen"], row["y_cen"]),
                    row["maj_axis_pix"],
                    row["min_axis_pix"],
                    angle=row["pos_ang_pix"],
                    fill=False,
                    color="tab:orange",
                )
            )
    else:
        ax.plot(rows["x_cen"], rows["y_cen"], "o", mfc="none", mec="tab:orange")
    ax.set(xlabel="x [pixel]", ylabel="y [pixel]")
    ax.set_title(os.path.basename(found.name), parse_math=False)
    return ax

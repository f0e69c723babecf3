# SPDX-License-Identifier: Apache-2.0
"""Turns keyword arguments into options of the command, so that its defaults and refusals hold."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

from ._arrays import Image, as_name, host_pixels, is_on_device, take_image, take_mask, unit_text

#: Options that take an image, which may be an array here.
IMAGES = ("background", "detect_image", "exposure", "mask", "rms", "weight")


def option_name(key: str) -> str:
    return "--" + key.replace("_", "-")


def as_typed(key: str, value: Any) -> str:
    """One value as the command reads it."""
    if isinstance(value, (str, os.PathLike)):
        return as_name(key, value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if key == "unit":
        return unit_text(value) or ""
    if hasattr(value, "unit") and hasattr(value, "to_value"):
        raise TypeError(f"{key}: found a Quantity; expected a number in the unit that the documentation names")
    if key == "cell" and isinstance(value, (tuple, list)) and len(value) == 2:
        return f"{as_typed(key, value[1])}x{as_typed(key, value[0])}"  # (height, width)
    if isinstance(value, (tuple, list, np.ndarray)):
        return ",".join(as_typed(key, each) for each in value)
    raise TypeError(f"{key}: found {type(value).__name__}; expected text, a number or a sequence of numbers")


def is_array(value: Any) -> bool:
    return hasattr(value, "shape") and len(value.shape) > 0 or is_on_device(value)


def companion(key: str, value: Any) -> np.ndarray:
    """An array in the place of a file: a map, or a mask with True where a pixel is bad."""
    if is_on_device(value):
        raise TypeError(f"{key}: found an array on a GPU; expected one of the host")
    if hasattr(value, "unit"):
        raise TypeError(f"{key}: found an array with a unit; expected numbers in the unit of the image, as {key}.value")
    if hasattr(value, "unmasked") or isinstance(value, np.ma.MaskedArray):
        value = value.filled(True if key == "mask" else np.nan)
    value = np.asarray(value)
    if key == "mask":
        mask = take_mask(value)
        assert mask is not None  # an array
        return mask.astype(np.float32, order="C")
    return np.ascontiguousarray(host_pixels(value))


def arguments_of(options: dict[str, Any]) -> tuple[list[str], dict[str, np.ndarray]]:
    """The options that are not None as typed, and the arrays among them by the option's name."""
    arguments: list[str] = []
    arrays: dict[str, np.ndarray] = {}
    for key, value in options.items():
        if value is None or value is False and key != "deblend":
            continue
        name = option_name(key)
        if key in IMAGES and isinstance(value, (list, tuple)):
            value = np.asarray(value)
        if value is True and key != "deblend":
            arguments.append(name)
        elif key == "deblend" and isinstance(value, bool):
            arguments += [name, "on" if value else "off"]
        elif key in IMAGES and is_array(value):
            arrays[name] = companion(key, value)
            arguments += [name, f"the array of {name[2:]}"]
        elif key in ("output", "components_output", "inverted"):
            values = [value] if isinstance(value, (str, os.PathLike)) else value
            for each in values:
                arguments += ["--components" if key == "components_output" else name, as_name(key, each)]
        else:
            arguments += [name, as_typed(key, value)]
    return arguments, arrays


def take_with(options: dict[str, Any], image: Any, header: Any, wcs: Any, stream: int | None) -> Image:
    """The image. Its mask and unit go into the options of the command, and an HDU that is chosen out of them."""
    taken = take_image(image, header, wcs, stream, options["hdu"], options["plane"])
    if taken.array is not None:
        options["hdu"] = None
    if taken.mask is not None:
        if options["mask"] is not None:
            raise ValueError("mask: found one in the image too; expected one of them")
        options["mask"] = taken.mask.view(np.bool_)
    if taken.unit is not None and options["unit"] is None:
        options["unit"] = taken.unit
    return taken

# SPDX-License-Identifier: Apache-2.0
"""Turns what Python programs call an image into pixels, a header and a mask."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from . import _kastor

HOST = 1  # DLPack's number of the device


@dataclasses.dataclass
class Image:
    """An image as `_kastor` takes it. `array` is None for a file, which `name` then names."""

    array: Any = None
    name: str = "the array"
    cards: list[str] = dataclasses.field(default_factory=list)
    unit: str | None = None
    mask: np.ndarray | None = None
    stream: int = 0
    origin: Any = None  # what holds the pixels


def unit_text(unit: Any) -> str | None:
    """A unit in the spelling of FITS; None if there is none."""
    if unit is None or isinstance(unit, str):
        return unit
    text = unit.to_string("fits")
    return text or None


def header_cards(header: Any) -> list[str]:
    """The cards of 80 characters of an astropy Header, a dict or a list of cards."""
    if header is None:
        return []
    if isinstance(header, (list, tuple)):
        return [str(card) for card in header]
    if not hasattr(header, "cards"):
        from astropy.io import fits

        header = fits.Header(header)
    text = header.tostring(sep="", endcard=False, padding=False)
    return [text[at : at + 80] for at in range(0, len(text), 80)]


def wcs_cards(wcs: Any) -> list[str]:
    """The cards of a `astropy.wcs.WCS`, with its distortions."""
    if wcs is None:
        return []
    celestial = wcs.celestial if getattr(wcs, "naxis", 2) > 2 else wcs
    return header_cards(celestial.to_header(relax=True))


def two_axes(array: Any) -> Any:
    """The array without leading axes of length 1, as files are read."""
    shape = tuple(array.shape)
    if len(shape) > 2 and all(extent == 1 for extent in shape[:-2]):
        array = array.reshape(shape[-2:])
    if len(array.shape) != 2:
        axes = " x ".join(map(str, shape)) or "no"
        raise ValueError(
            f"image: found an array of {len(shape)} axes ({axes}); expected two, (y, x): choose a plane, as in image[0]"
        )
    if 0 in array.shape:
        raise ValueError(f"image: found {array.shape[1]} x {array.shape[0]} pixels; expected at least one")
    return array


def host_pixels(array: np.ndarray) -> np.ndarray:
    """float32 or float64 in this machine's byte order: the array itself if it is, else converted."""
    array = two_axes(array)
    kind, size = array.dtype.kind, array.dtype.itemsize
    is_big = array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and np.little_endian is False)
    if kind == "f" and size in (4, 8) and not is_big:
        if array.shape[1] > 1 and array.strides[1] != size or array.strides[0] < 0:
            raise TypeError("image: found rows that are not contiguous; expected numpy.ascontiguousarray(image)")
        return array
    if kind in "iu" and (kind, size) != ("i", 1) or kind == "f" and size in (4, 8):
        if array.shape[1] > 1 and array.strides[1] != size:
            raise TypeError("image: found rows that are not contiguous; expected numpy.ascontiguousarray(image)")
        return _kastor.decoded(
            array.view(f"u{size}") if size == 1 else array.view(array.dtype.newbyteorder("=")).view(f"u{size}"),
            f"{kind}{size}",
            is_big,
        )
    raise TypeError(
        f"image: found pixels of type {array.dtype}; expected float32, float64 or integers of FITS: "
        "image.astype('float32')"
    )


def device_pixels(array: Any, stream: int | None) -> tuple[Any, int]:
    """A GPU array without a copy, and the stream on which it is ready."""
    array = two_axes(array)
    if stream is None:
        try:
            import cupy

            stream = cupy.cuda.get_current_stream().ptr
        except ImportError:
            stream = 0
    # 1: the legacy default stream, in the numbering of DLPack.
    return array.__dlpack__(stream=stream or 1), stream


def is_on_device(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (2, 13)  # CUDA, and its managed memory


def take_mask(mask: Any) -> np.ndarray | None:
    """A mask as bytes, not 0 where a pixel is bad; None if no pixel is."""
    if mask is None or mask is False or mask is np.ma.nomask:
        return None
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"mask: found numbers of type {mask.dtype}; expected bool, True where a pixel is bad")
    return two_axes(mask).view(np.uint8)


def take_image(image: Any, header: Any = None, wcs: Any = None, stream: int | None = None) -> Image:
    """What `kastor.find` and others accept as an image."""
    if isinstance(image, (str, os.PathLike)):
        if header is not None or wcs is not None:
            raise ValueError("header, wcs: found with a file, which has its own; expected them with an array alone")
        return Image(name=os.fspath(image))
    taken = Image(origin=image)
    if isinstance(image, list) and image and hasattr(image[0], "header"):  # an HDUList
        with_data = [hdu for hdu in image if hdu.is_image and hdu.data is not None]
        if not with_data:
            raise ValueError("image: found an HDUList without an image; expected one")
        image = with_data[0]
    if hasattr(image, "header") and hasattr(image, "data") and not hasattr(image, "mask"):  # an HDU
        taken.cards = header_cards(image.header)
        image = image.data
    elif hasattr(image, "mask") and hasattr(image, "wcs") and hasattr(image, "unit"):  # NDData, CCDData
        taken.cards = header_cards(getattr(image, "meta", None)) + wcs_cards(image.wcs)
        taken.unit = unit_text(image.unit)
        taken.mask = take_mask(image.mask)
        image = image.data
    elif hasattr(image, "unit") and hasattr(image, "value"):  # a Quantity
        taken.unit = unit_text(image.unit)
        image = image.value
    if isinstance(image, np.ma.MaskedArray):
        taken.mask = take_mask(np.ma.getmaskarray(image)) if image.mask is not np.ma.nomask else None
        image = image.data
    if header is not None:
        taken.cards = header_cards(header)
    taken.cards = taken.cards + wcs_cards(wcs)
    if isinstance(image, np.ndarray):
        taken.array = host_pixels(image)
    elif is_on_device(image):
        taken.array, taken.stream = device_pixels(image, stream)
    elif hasattr(image, "__dlpack__") or hasattr(image, "__array__"):
        taken.array = host_pixels(np.asarray(image))
    else:
        raise TypeError(
            f"image: found {type(image).__name__}; expected the name of a file, a 2-D array, an HDU, "
            "NDData or a Quantity"
        )
    return taken

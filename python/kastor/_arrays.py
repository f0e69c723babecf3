# SPDX-License-Identifier: Apache-2.0
"""Turns what Python programs call an image into pixels, a header and a mask."""

from __future__ import annotations

import dataclasses
import os
import re
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
    try:
        text = unit.to_string("fits")
    except ValueError:  # one that FITS does not know, as electron
        text = unit.to_string().replace(" / ", "/")
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


#: Cards of coordinates: those of a header go where a WCS is given beside it.
COORDINATES = re.compile(
    r"(WCSAXES|WCSNAME|RADESYS|EQUINOX|LONPOLE|LATPOLE|C(TYPE|RPIX|RVAL|DELT|UNIT|ROTA|RDER|SYER)\d+"
    r"|(CD|PC)\d+_\d+|P[VS]\d+_\d+|[AB]P?_(ORDER|DMAX|\d+_\d+)|[CD](PDIS|QDIS|PERR|QERR)\d+|D[PQ]\d+)[A-Z]? *="
)


def with_wcs(cards: list[str], wcs: Any) -> list[str]:
    """The cards of a header with the coordinates of `wcs` in the place of its own, if `wcs` is not None."""
    if wcs is None:
        return cards
    return [card for card in cards if not COORDINATES.match(card)] + wcs_cards(wcs)


def wcs_cards(wcs: Any) -> list[str]:
    """The cards of a `astropy.wcs.WCS`, with its distortions."""
    if not hasattr(wcs, "to_header"):
        raise TypeError(f"wcs: found {type(wcs).__name__}; expected an astropy.wcs.WCS (of a slice: wcs.slice(...))")
    celestial = wcs.celestial if getattr(wcs, "naxis", 2) > 2 else wcs
    return header_cards(celestial.to_header(relax=True))


def as_name(argument: str, path: Any) -> str:
    """The name of a file as text that can be handed on."""
    name = os.fspath(path)
    name = os.fsdecode(name) if isinstance(name, bytes) else str(name)
    if not name.isprintable() and "\0" in name:
        raise ValueError(f"{argument}: found a name with a NUL character; expected the name of a file")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument}: found a name that is not UTF-8; expected one that is, or the command") from None
    return name


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
        if array.shape[1] > 1 and array.strides[1] != size or array.strides[0] < 0 or array.strides[0] % size:
            raise TypeError("image: found rows that are not contiguous; expected numpy.ascontiguousarray(image)")
        return array
    if kind in "iu" and (kind, size) != ("i", 1) or kind == "f" and size in (4, 8):
        if array.shape[1] > 1 and array.strides[1] != size or array.strides[0] % size:
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


def _unreadable(error: Exception) -> Exception:
    """What to say of an array on a GPU that its package cannot hand over, as in a forked process."""
    _kastor.backends()  # says more, if a GPU was in use before the fork
    return _kastor.DeviceError(
        f"image: found an array on a GPU that cannot be used here ({error}); expected one of the host"
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
    try:
        # 1: the legacy default stream, in the numbering of DLPack.
        return array.__dlpack__(stream=stream or 1), stream
    except Exception as error:
        raise _unreadable(error) from error


def is_on_device(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    if device is None:
        return False
    try:
        return int(device()[0]) in (2, 13)  # CUDA, and its managed memory
    except Exception as error:
        raise _unreadable(error) from error


def take_mask(mask: Any) -> np.ndarray | None:
    """A mask as bytes, not 0 where a pixel is bad; None if no pixel is."""
    if mask is None or mask is False or mask is np.ma.nomask:
        return None
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"mask: found numbers of type {mask.dtype}; expected bool, True where a pixel is bad")
    return two_axes(mask).view(np.uint8)


def _of_list(hdus: Any, hdu: int | str | None) -> Any:
    """The HDU of an HDUList that `hdu` selects as the command does; None: the first image with data."""
    if hdu is None:
        with_data = [each for each in hdus if each.is_image and each.data is not None]
        if not with_data:
            raise ValueError("image: found an HDUList without an image; expected one")
        return with_data[0]
    key: Any = hdu
    if isinstance(hdu, str):
        name, _, version = hdu.partition(",")
        key = (name, int(version)) if version else name
    try:
        chosen = hdus[key]
    except (IndexError, KeyError) as error:
        raise ValueError(f"hdu: found {hdu!r}; expected one of the HDUList ({error})") from None
    if not chosen.is_image or chosen.data is None:
        raise ValueError(f"hdu: found {hdu!r}, which is no image; expected an image with data")
    return chosen


def take_image(
    image: Any,
    header: Any = None,
    wcs: Any = None,
    stream: int | None = None,
    hdu: int | str | None = None,
    plane: int | None = None,
) -> Image:
    """What `kastor.find` and others accept as an image."""
    if isinstance(image, (str, os.PathLike)):
        if header is not None or wcs is not None:
            raise ValueError("header, wcs: found with a file, which has its own; expected them with an array alone")
        return Image(name=as_name("image", image))
    if plane is not None:
        raise ValueError("plane: found with an array; expected the plane itself, as in image[0]")
    taken = Image()
    if isinstance(image, list) and image and hasattr(image[0], "header"):  # an HDUList
        image = _of_list(image, hdu)
    elif hdu is not None:
        raise ValueError("hdu: found with an array; expected it with a file or an HDUList")
    taken.origin = image
    if hasattr(image, "header") and hasattr(image, "data") and not hasattr(image, "mask"):  # an HDU
        taken.cards = header_cards(image.header)
        image = image.data
    elif hasattr(image, "mask") and hasattr(image, "wcs") and hasattr(image, "unit"):  # NDData, CCDData
        taken.cards = with_wcs(header_cards(getattr(image, "meta", None)), image.wcs)
        taken.unit = unit_text(image.unit)
        taken.mask = take_mask(image.mask)
        image = image.data
    if hasattr(image, "unmasked"):  # astropy.utils.masked.Masked
        taken.mask = take_mask(np.asarray(image.mask))
        image = image.unmasked
    if hasattr(image, "unit") and hasattr(image, "value"):  # a Quantity
        taken.unit = unit_text(image.unit)
        image = image.value
    if isinstance(image, np.ma.MaskedArray):
        taken.mask = take_mask(np.ma.getmaskarray(image)) if image.mask is not np.ma.nomask else None
        image = image.data
    if header is not None:
        taken.cards = header_cards(header)
    taken.cards = with_wcs(taken.cards, wcs)
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

# SPDX-License-Identifier: Apache-2.0
"""`find` and `find_many`."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import _kastor
from ._arrays import Image, take_mask
from ._options import arguments_of, take_with
from ._results import Found

MAPS = {
    "background": "--background-map",
    "rms": "--rms-map",
    "snr": "--snr-map",
    "residual": "--residual",
    "labels": "--labels",
    "model": "--model",
    "fit_residual": "--fit-residual",
}


def _find(
    image: Any,
    header: Any,
    wcs: Any,
    stream: int | None,
    maps: Iterable[str],
    components: Any,
    components_output: Any,
    options: dict[str, Any],
) -> Found:
    taken = take_with(options, image, header, wcs, stream)
    maps = (maps,) if isinstance(maps, str) else tuple(maps)
    unknown = [name for name in maps if name not in MAPS]
    if unknown:
        raise ValueError(f"maps: found '{unknown[0]}'; expected names among {', '.join(MAPS)}")
    if options["preset"] == "lesson" and set(maps) - {"labels"}:
        raise ValueError(f"maps: found '{maps[0]}' with preset='lesson'; expected 'labels', or another preset")
    if components is False and components_output is not None:
        raise ValueError("components: found False with components_output; expected one of them")
    if options["preset"] == "lesson" and isinstance(options.get("mask"), np.ndarray):
        _blank(taken, options)
    if components is not None and not isinstance(components, bool):
        raise TypeError("components: found no bool; expected True or False (components_output names files)")
    on = options.pop("on")
    arguments, arrays = arguments_of(options | {"components_output": components_output})
    found = _kastor.find(
        arguments,
        taken.array,
        taken.name,
        taken.cards,
        taken.stream,
        arrays,
        [MAPS[name] for name in maps],
        components,
        on,
    )
    return Found(found, taken.origin)


def _blank(taken: Image, options: dict[str, Any]) -> None:
    """The preset lesson has no masks, but blank pixels: a copy with NaN."""
    bad = take_mask(options["mask"])
    if taken.array is None or bad is None:
        return  # the command says why not
    options["mask"] = None
    mask = bad.view(np.bool_)
    if not isinstance(taken.array, np.ndarray):
        raise TypeError("mask: found an array on a GPU; expected NaN where its pixels are bad, or preset='radio'")
    elif mask.shape != taken.array.shape:
        raise ValueError(
            f"mask: found {mask.shape[1]} x {mask.shape[0]} pixels; expected {taken.array.shape[1]} x "
            f"{taken.array.shape[0]}, as the image"
        )
    else:
        taken.array = np.where(mask, np.array(np.nan, taken.array.dtype), taken.array)


def find(
    image: Any,
    *,
    header: Any = None,
    wcs: Any = None,
    stream: int | None = None,
    maps: Iterable[str] = (),
    components: bool | None = None,
    # The options of `kastor find`.
    hdu: int | str | None = None,
    plane: int | None = None,
    max_unpacked: int | str | None = None,
    blank_value: float | str | None = None,
    unit: Any = None,
    kappa: float | None = None,
    max_passes: int | None = None,
    threshold: float | None = None,
    about: str | None = None,
    level: float | None = None,
    connectivity: int | None = None,
    min_pixels: int | None = None,
    preset: str = "lesson",
    seed: float | None = None,
    flood: float | None = None,
    detect_image: Any = None,
    detect_image_hdu: int | str | None = None,
    detect_image_plane: int | None = None,
    filter_kernel: float | str | os.PathLike[str] | None = None,
    negative: bool = False,
    drop_at_edge: bool = False,
    min_beams: float | None = None,
    mask: Any = None,
    mask_hdu: int | str | None = None,
    mask_plane: int | None = None,
    box: tuple[int, int, int, int] | None = None,
    beam: tuple[float, ...] | str | None = None,
    noise: str | None = None,
    cell: int | tuple[int, int] | None = None,
    estimate: str | None = None,
    filter: int | None = None,
    interpolation: str | None = None,
    large_sources: str | None = None,
    clipped_noise: str | None = None,
    background: Any = None,
    background_hdu: int | str | None = None,
    background_plane: int | None = None,
    rms: Any = None,
    rms_hdu: int | str | None = None,
    rms_plane: int | None = None,
    rms_kind: str | None = None,
    adaptive_rms: float | None = None,
    gain: float | None = None,
    zero_point: float | None = None,
    weight: Any = None,
    weight_hdu: int | str | None = None,
    weight_plane: int | None = None,
    exposure: Any = None,
    exposure_hdu: int | str | None = None,
    exposure_plane: int | None = None,
    deblend: bool | None = None,
    deblend_contrast: float | None = None,
    deblend_prominence: float | None = None,
    components_output: Any = None,
    shape: str | None = None,
    model: str | os.PathLike[str] | None = None,
    fit_residual: str | os.PathLike[str] | None = None,
    background_map: str | os.PathLike[str] | None = None,
    rms_map: str | os.PathLike[str] | None = None,
    snr_map: str | os.PathLike[str] | None = None,
    residual: str | os.PathLike[str] | None = None,
    output: Any = None,
    names: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    picture: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    on: str | None = None,
    threads: int | None = None,
) -> Found:
    """Find and measure the sources in an image.

    Parameters
    ----------
    image : str, path-like, array, HDU, HDUList, NDData, CCDData, numpy.ma.MaskedArray or Quantity
        The name of a FITS file, or pixels of two axes (y, x). float32 and float64 with contiguous
        rows are used where they are; big-endian ones and integers are converted as those of files
        are. An array on a GPU (CuPy, or any with ``__dlpack__``) is used there, by the backend "cuda".
        NaN pixels are blank.
    header : astropy.io.fits.Header, dict or list of str, optional
        Of an array: unit, beam and coordinates are taken from it.
    wcs : astropy.wcs.WCS, optional
        Coordinates of an array.
    stream : int, optional
        CUDA stream on which a GPU array is ready, as a number. Default: CuPy's current one.
    maps : iterable of str
        Maps to return in ``Found.maps``: "background", "rms", "snr", "residual", "labels", "model",
        "fit_residual".
    components : bool, optional
        Whether Gaussians are fitted to the islands. Default: with the preset "radio".
    beam : tuple, optional
        FWHM [arcsec] of the major and the minor axis, and position angle [deg].
    cell : int or (int, int), optional
        Size of a cell of the mesh [pixel]: (height, width).
    background, rms, mask, weight, exposure, detect_image : array, str or path-like, optional
        Images of the same shape as arrays, or names of FITS files; `background` and `rms` also as
        numbers [image unit]. An array of `mask` is bool, True where a pixel is bad.
    components_output : str, path-like or list of them, optional
        Files that the command writes for ``--components``.
    on : {"serial", "openmp", "cuda"}, optional
        The backend. Default: the fastest that is here. Results are the same bits on each.
    **others
        The options of ``kastor find`` with ``_`` for ``-``, with the same defaults and refusals; see
        docs/command.md. Those that name files write them.

    Returns
    -------
    Found

    Raises
    ------
    ValueError
        If an option is out of its range, or does not fit the others.
    TypeError
        If pixels are of a type that has no place in a FITS image, or rows are not contiguous.
    Error
        If the file or its header cannot be used, or no pixel is finite.
    DeviceError
        If the backend cannot be used here.
    MemoryError
        If there is not enough memory, of the host or of the GPU.

    Notes
    -----
    The interpreter's lock is released. Calls with ``on="serial"`` run side by side in threads; those
    on another backend wait for each other.

    Examples
    --------
    >>> import kastor, numpy
    >>> image = numpy.zeros((64, 64), "float32")
    >>> image[20:24, 30:33] = 5.0
    >>> found = kastor.find(image, level=1)
    >>> found.sources["flux_sum"]
    array([60.])
    """
    options = dict(locals())
    for name in ("image", "header", "wcs", "stream", "maps", "components", "components_output"):
        del options[name]
    return _find(image, header, wcs, stream, maps, components, components_output, options)


def find_many(images: Iterable[Any], *, workers: int | None = None, **options: Any) -> Iterator[Found]:
    """Find the sources of many images, several at a time.

    Parameters
    ----------
    images : iterable
        Names of files, or what else `find` takes.
    workers : int, optional
        How many are searched at a time, each by one thread. Default: the number of cores.
    **options
        As of `find`. The backend is "serial" unless `on` names another.

    Yields
    ------
    Found
        In the order of the images. An image that fails raises when its turn comes. Twice as many images as
        `workers` are taken ahead: an array must keep its pixels until its result is there.

    Examples
    --------
    >>> import kastor, numpy
    >>> images = numpy.zeros((3, 32, 32), "float32")
    >>> images[:, 8, 8] = 1, 2, 3
    >>> [len(found) for found in kastor.find_many(images, level=1.5)]
    [0, 1, 1]
    """
    workers = workers or len(os.sched_getaffinity(0))
    options.setdefault("on", "serial")
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting: list[concurrent.futures.Future[Found]] = []
        try:
            for image in images:
                waiting.append(pool.submit(find, image, **options))
                if len(waiting) >= 2 * workers:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for each in waiting:  # nobody asks for them any more
                each.cancel()

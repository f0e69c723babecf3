# SPDX-License-Identifier: Apache-2.0
"""Kastor finds and measures the sources in astronomical images, with the same bits on one core, many and a GPU.

`find` is the command ``kastor find``: arrays or FITS files in, tables out. `background`, `sigma_clip`,
`label` and `convolve` are its steps. `measure`, `compare` and `evaluate` are the commands of these names.
"""

from . import _instructions as _instructions  # first: it chooses the module that the others import
from ._find import find, find_many
from ._functions import Background, Clip, Statistics, background, convolve, label, sigma_clip
from ._kastor import DeviceError, Error
from ._kastor import version as __version__
from ._report import report
from ._reports import Measured, compare, evaluate, measure, simulate
from ._results import Column, Found
from ._runtime import backends, initialize, release

__all__ = [
    "Background",
    "Clip",
    "Column",
    "DeviceError",
    "Error",
    "Found",
    "Measured",
    "Statistics",
    "__version__",
    "background",
    "backends",
    "compare",
    "convolve",
    "evaluate",
    "find",
    "find_many",
    "initialize",
    "label",
    "measure",
    "release",
    "report",
    "sigma_clip",
    "simulate",
]

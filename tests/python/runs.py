# SPDX-License-Identifier: Apache-2.0
"""Runs of the command that $KASTOR names, and the images they are given."""

import functools
import json
import os
import pathlib
import subprocess
import tempfile
import types
import unittest

import numpy
from astropy.io import fits
from astropy.table import Table

#: Removed when the process ends.
_folder = tempfile.TemporaryDirectory(prefix="kastor-runs-")


def folder():
    return pathlib.Path(_folder.name)


def kastor(*arguments):
    """What the command prints."""
    if not os.environ.get("KASTOR"):
        raise unittest.SkipTest("no command: $KASTOR is not set")
    done = subprocess.run([os.environ["KASTOR"], *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def shared(name):
    """Path of a file of the test data; skips the test where there is none."""
    path = pathlib.Path(os.environ.get("KASTOR_TEST_DATA") or "/nonexistent") / name
    if not path.is_file():
        raise unittest.SkipTest(f"no {name} in $KASTOR_TEST_DATA")
    return path


@functools.cache
def sky(seed, *options):
    """Path of a simulated sky of 1024 x 1024 pixels."""
    path = folder() / f"sky_{seed}_{'_'.join(map(str, options)).replace('--', '')}.fits"
    kastor("simulate", "sky", "-o", path, "--size", 1024, "--seed", seed, "--quiet", *options)
    return path


def truth(path):
    """The table beside a simulated sky."""
    return Table.read(path.with_name(path.stem + "_truth.csv"), format="ascii.csv")


def pixels(path, hdu=None):
    """The first image with data, or that of an HDU, in float64; axes of length 1 dropped."""
    with fits.open(path) as hdus:
        found = hdus[hdu] if hdu is not None else next(
            h for h in hdus if h.is_image and h.data is not None)
        return numpy.ascontiguousarray(numpy.squeeze(found.data), dtype=numpy.float64)


def find(path, *options, maps=(), hdu=None):
    """A run of find: `json`, `table`, and as arrays what `maps` names, as in labels or rms_map."""
    out = folder() / "out"
    out.mkdir(exist_ok=True)
    chosen = [] if hdu is None else ["--hdu", hdu]
    for name in maps:
        chosen += ["--" + name.replace("_", "-"), out / f"{name}.fits"]
    catalogue = out / "table.fits"
    text = kastor("find", path, *options, *chosen, "-o", catalogue, "--overwrite", "--json")
    found = types.SimpleNamespace(json=json.loads(text), table=Table.read(catalogue, hdu=1))
    for name in maps:
        data = fits.getdata(out / f"{name}.fits")
        setattr(found, name, data.astype(data.dtype.newbyteorder("=")))
    return found

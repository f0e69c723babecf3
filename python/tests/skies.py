# SPDX-License-Identifier: Apache-2.0
"""Skies and the command, for the tests of the Python package."""

import atexit
import functools
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from astropy.io import fits

KASTOR = os.environ["KASTOR"]
DATA = pathlib.Path(os.environ.get("KASTOR_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))


def command(*arguments):
    """What the command prints."""
    done = subprocess.run([KASTOR, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"kastor {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def command_json(*arguments):
    return json.loads(command(*arguments, "--json"))


@functools.cache
def folder():
    kept = tempfile.TemporaryDirectory(prefix="kastor-python-")
    atexit.register(kept.cleanup)
    return pathlib.Path(kept.name), kept


@functools.cache
def sky(kind="sky", size=512, dtype="float32", *more):
    """The name of a simulated image."""
    path = folder()[0] / f"{kind}-{size}-{dtype}.fits"
    command("simulate", kind, "--size", size, "--type", dtype, "-o", path, "--quiet", *more)
    return path


def pixels_of(path):
    """Native pixels and the header."""
    with fits.open(path) as hdus:
        data = hdus[0].data
        return np.ascontiguousarray(data.astype(data.dtype.newbyteorder("="))), hdus[0].header.copy()

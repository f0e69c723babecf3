# SPDX-License-Identifier: Apache-2.0
"""The files that kastor_samples writes, and what they hold."""

import functools
import json
import os
import pathlib
import struct
import subprocess
import tempfile

#: The folder, removed when the process ends.
_folder = tempfile.TemporaryDirectory(prefix="kastor-samples-")


@functools.cache
def folder():
    """Where the files are; written once."""
    subprocess.run([os.environ["KASTOR_SAMPLES"], _folder.name], check=True, timeout=120)
    return pathlib.Path(_folder.name)


@functools.cache
def contents():
    return json.loads((folder() / "samples.json").read_text(encoding="utf-8"))


def path(name):
    return str(folder() / name)


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def doubles(column):
    return [double(bits) for bits in column["values"]]


def same_bits(found, expected):
    """Whether two doubles are the same, or both NaN; -0.0 is not 0.0."""
    if expected != expected:
        return found != found
    return struct.pack("<d", found) == struct.pack("<d", expected)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel into clean environments, one for each Python that is here, and uses it as the README does.

python3 python/tests/check_wheel.py dist/kastor-*.whl [--python PROGRAM]...
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PYTHONS = ("python3", *(f"python3.{minor}" for minor in range(11, 20)))
LARGEST = 15 * 2**20

USE = """
import json, subprocess, sys
import numpy
import kastor
found = kastor.find("sky.fits", preset="radio")
assert found.hash == sys.argv[1], (found.hash, sys.argv[1])
assert len(found.sources) == len(found) > 0 and found.components is not None
image = numpy.zeros((64, 64), "float32")
image[20:24, 30:33] = 5
assert kastor.find(image, level=1).sources["flux_sum"].tolist() == [60]
assert kastor.background(image).global_level == 0
found.write("islands.vot", overwrite=True)
print(kastor._instructions.level, kastor.backends())
"""


def run(*arguments, **options):
    """The output of a program. It sees no variable of this build."""
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def version_of(python):
    """Of a Python that starts; None otherwise, as of a shim of pyenv for another one."""
    done = subprocess.run(
        [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def pythons(named):
    """Programs, one for each version from 3.11 on."""
    found = {}
    for name in named or PYTHONS:
        path = shutil.which(name)
        version = version_of(path) if path else None
        if version and version >= (3, 11):
            found.setdefault(version, path)
        elif named:
            raise SystemExit(f"{name}: found no Python from 3.11 on")
    return found


def check(wheel, python, version):
    with tempfile.TemporaryDirectory(prefix="kastor-wheel-") as folder:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("KASTOR", "PYTHON", "OMP"))
        }
        options = {"cwd": folder, "env": environment}
        run(python, "-m", "venv", "clean", **options)
        clean = Path(folder) / "clean" / "bin"
        run(clean / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, **options)
        run(clean / "kastor", "simulate", "sky", "--size", "512", "-o", "sky.fits", "--quiet", **options)
        report = run(clean / "kastor", "find", "sky.fits", "--preset", "radio", "--json", **options)
        expected = report.split('"catalogue_hash":"')[1].split('"')[0]
        said = [
            run(clean / "python", "-W", "error", "-c", USE, expected, cwd=folder, env=environment | more).strip()
            for more in ({}, {"KASTOR_INSTRUCTIONS": "x86-64"})
        ]
        print(f"Python {version[0]}.{version[1]}: {expected[:16]}, {'; '.join(said)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", action="append", help="use these instead of those that are found")
    options = parser.parse_args()
    wheel = options.wheel.resolve()
    size = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if name.endswith("_kastor.abi3.so")]
    print(f"{wheel.name}: {size / 2**20:.1f} MiB, {', '.join(modules)}")
    if size > LARGEST:
        sys.exit(f"{wheel.name}: found {size} bytes; expected {LARGEST} at most")
    if len(modules) != 2:
        sys.exit(f"{wheel.name}: found {len(modules)} modules; expected one for any x86-64 and one for x86-64-v3")
    found = pythons(options.python)
    for version, python in sorted(found.items()):
        check(wheel, python, version)
    for minor in range(11, 14):
        if (3, minor) not in found:
            print(f"Python 3.{minor}: skipped, not installed")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: types, style, version, and which compiled module is chosen."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from skies import command

import kastor
from kastor import _instructions

PACKAGE = pathlib.Path(kastor.__file__).parent
SOURCES = pathlib.Path(__file__).resolve().parents[1]

USE = """
import numpy as np
import kastor

found = kastor.find(np.zeros((8, 8), np.float32), level=1.0, maps=("labels",))
rows: int = len(found) + found.shape[0]
hash: str = found.hash
fluxes = found.sources["flux_sum"]
if found.components is not None:
    fluxes = found.components["flux_int"]
labels, count = kastor.label(np.zeros((8, 8), bool))
total: int = count + int(labels.max())
level: np.ndarray = kastor.background(np.zeros((8, 8))).level
std: float = kastor.sigma_clip(np.ones((8, 8))).clipped.std
names: list[str] = [each.name for each in kastor.find_many(["a.fits"], preset="radio")]
kastor.find("a.fits", preset="radio", seed=5.0, cell=(64, 32), beam=(10, 8, 30))
"""

WRONG = """
import kastor

kastor.find("a.fits", sead=5.0)
size: int = kastor.find("a.fits").hash
"""


def tool(name, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", name, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


class Types(unittest.TestCase):
    def check(self, code):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "use.py")
            path.write_text(code)
            environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "mypy",
                    "--strict",
                    "--ignore-missing-imports",
                    "--cache-dir",
                    folder,
                    str(path),
                ],
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                cwd=folder,
            )
            return done.returncode, done.stdout

    def test_the_package_and_its_use(self):
        status, output = self.check(USE)
        self.assertEqual(status, 0, output)

    def test_wrong_use_is_found(self):
        status, output = self.check(WRONG)
        self.assertEqual(status, 1)
        self.assertIn('"sead"', output)
        self.assertIn('"int"', output)


class Style(unittest.TestCase):
    def test_ruff(self):
        for arguments in (("check",), ("format", "--check")):
            status, output = tool("ruff", *arguments, "--no-cache", SOURCES)
            self.assertEqual(status, 0, output)


class Version(unittest.TestCase):
    def test_one_version(self):
        self.assertEqual(f"kastor {kastor.__version__}", " ".join(command("--version").split()[:2]))


class Instructions(unittest.TestCase):
    def test_flags(self):
        text = "processor\t: 0\nflags\t\t: fpu avx2 fma\n\nprocessor\t: 1\nflags\t\t: fpu\n"
        self.assertEqual(_instructions.processor_flags(text), {"fpu", "avx2", "fma"})
        self.assertEqual(_instructions.processor_flags("Features : asimd\n"), set())

    def test_any_x86_64_where_it_is_asked_for(self):
        code = "import kastor; print(kastor._instructions.has_v3(), kastor._instructions.level)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"KASTOR_INSTRUCTIONS": "x86-64"},
        )
        self.assertEqual(done.stdout.split(), ["False", "x86-64"])


if __name__ == "__main__":
    unittest.main()

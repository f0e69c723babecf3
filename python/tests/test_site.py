# SPDX-License-Identifier: Apache-2.0
"""The site of the documents is built without a warning, without a network, and describes all that is public."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kastor

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


class TestSite(unittest.TestCase):
    def test_build(self):
        with tempfile.TemporaryDirectory(prefix="kastor-site-") as folder:
            done = subprocess.run(
                [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-c", DOCS / "sphinx", DOCS, folder],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            pages = {
                str(path.relative_to(folder)): path.read_text(encoding="utf-8")
                for path in pathlib.Path(folder).rglob("*.html")
            }
        for name in (
            "python.html",
            "command.html",
            "sphinx/api.html",
            "sphinx/peers.html",
            "notebooks/radio_image.html",
        ):
            self.assertIn(name, pages)
        for name in kastor.__all__:
            if name != "__version__":
                self.assertIn(f'id="kastor.{name}"', pages["sphinx/api.html"])
        self.assertIn('<img alt="" src="data:image', pages["notebooks/radio_image.html"])
        loaded = [
            each
            for text in pages.values()
            for each in re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', text)
        ]
        self.assertEqual(loaded, [])

    def test_the_table_of_the_reference_has_all(self):
        table = (
            (DOCS / "sphinx" / "api.rst").read_text(encoding="utf-8").split("autosummary::")[1].split("automodule::")[0]
        )
        self.assertEqual(
            sorted(re.findall(r"^   (\w+)$", table, re.MULTILINE)), sorted(set(kastor.__all__) - {"__version__"})
        )


if __name__ == "__main__":
    unittest.main()

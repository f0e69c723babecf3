# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from their first cell to the last, and print what is stored in them."""

import pathlib
import re
import unittest

import nbclient
import nbformat
from skies import empty_folder

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NEED_A_GPU = ("gpu_image",)
LARGEST = 200_000  # bytes


def outputs(notebook):
    """(number of the cell, output) of all."""
    return [(number, each) for number, cell in enumerate(notebook.cells, 1) for each in cell.get("outputs", [])]


def texts(notebook):
    """What the cells print and return, without pictures and pages."""
    found = {}
    for number, each in outputs(notebook):
        found[number] = found.get(number, "") + (each.get("text") or each.get("data", {}).get("text/plain", ""))
    return found


class TestStored(unittest.TestCase):
    """What can be seen without running anything."""

    def test_there_are_four(self):
        self.assertEqual(len(list(FOLDER.glob("*.ipynb"))), 4)

    def test_form(self):
        for path in sorted(FOLDER.glob("*.ipynb")):
            with self.subTest(path.stem):
                notebook = nbformat.read(path, as_version=4)
                nbformat.validate(notebook)
                self.assertLess(path.stat().st_size, LARGEST)
                self.assertEqual([number for number, each in outputs(notebook) if each.output_type == "error"], [])
                self.assertNotIn("stderr", [each.get("name") for _, each in outputs(notebook)])
                self.assertIsNone(
                    re.search(r"/(home|root|tmp|work|usr|Users)/", path.read_text(encoding="utf-8")),
                    "a path of a machine",
                )
                is_stored = bool(outputs(notebook))
                self.assertTrue(is_stored or path.stem in NEED_A_GPU, "the outputs are not stored")

    def test_code_of_all_cells(self):
        for path in sorted(FOLDER.glob("*.ipynb")):
            for cell in nbformat.read(path, as_version=4).cells:
                if cell.cell_type == "code":
                    compile(re.sub(r"^[%!].*", "", cell.source, flags=re.MULTILINE), path.name, "exec")


class TestRun(unittest.TestCase):
    def run_notebook(self, name):
        stored = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        notebook = nbformat.from_dict(stored)
        with empty_folder() as folder:
            nbclient.NotebookClient(
                notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
            ).execute()
        self.assertEqual(texts(notebook), texts(stored))

    def test_radio_image(self):
        self.run_notebook("radio_image")

    def test_optical_image(self):
        self.run_notebook("optical_image")

    def test_truth(self):
        self.run_notebook("truth")


if __name__ == "__main__":
    unittest.main()

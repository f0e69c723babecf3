# SPDX-License-Identifier: Apache-2.0
"""The examples of the documents for Python users, and of docstrings, print what is shown."""

import doctest
import importlib
import importlib.util
import inspect
import io
import pathlib
import re
import subprocess
import unittest

import matplotlib
from skies import KASTOR, empty_folder

import kastor

matplotlib.use("Agg")  # figures need no screen
PROJECT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
MODULES = ("kastor", "kastor.sep", "kastor.photutils", "kastor.stats")
MORE = "..."  # the end of an output that is not shown whole


def blocks(text):
    """(line, language, code) of each block of a Markdown text."""
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start()) + 2, found[1], found[2]


def run_doctest(test):
    """What a doctest complains of, and how many examples it has."""
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    result = runner.run(test, out=said.write, clear_globs=False)
    return said.getvalue(), result.attempted


class TestDocuments(unittest.TestCase):
    """Blocks of a document run in their order, in one folder that was empty."""

    def run_document(self, name):
        """How many examples ran."""
        names, count = {}, 0
        with empty_folder():
            for line, language, code in blocks((PROJECT / name).read_text(encoding="utf-8")):
                where = f"{name}:{line}"
                if language == "console":
                    self.run_console(where, code)
                elif language == "python" and ">>>" in code:
                    test = doctest.DocTestParser().get_doctest(code, names, where, str(PROJECT / name), line - 1)
                    said, examples = run_doctest(test)
                    self.assertEqual(said, "", where)
                    names = test.globs
                    count += examples
                elif language == "python":
                    program = compile(code, where, "exec")
                    if "cupy" not in code or importlib.util.find_spec("cupy"):
                        exec(program, names)
                        count += 1
        return count

    def run_console(self, where, code):
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            done = subprocess.run(
                line, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            self.assertEqual(done.returncode, 0, f"{where}: {line}\n{done.stdout}")
            printed = done.stdout.splitlines()
            if shown and shown[-1].strip() == MORE:
                shown.pop()
                printed = printed[: len(shown)]
            self.assertEqual(printed, shown, f"{where}: {line}")

    def test_guide(self):
        self.assertGreater(self.run_document("docs/python.md"), 50)

    def test_readme(self):
        self.assertGreater(self.run_document("README.md"), 0)

    def test_readme_of_the_package(self):
        self.assertGreater(self.run_document("python/README.md"), 0)


class TestDocstrings(unittest.TestCase):
    """Examples of docstrings, each in an empty folder with a simulated image sky.fits."""

    def test_examples(self):
        finder = doctest.DocTestFinder(exclude_empty=True)
        for name in MODULES:
            module = importlib.import_module(name)
            for member in self.public(module):
                for test in finder.find(member, f"{name}.{member.__name__}", module, globs={}):
                    with self.subTest(test.name), empty_folder():
                        if "sky.fits" in test.docstring:
                            subprocess.run(
                                [
                                    KASTOR,
                                    "simulate",
                                    "sky",
                                    "--size",
                                    "256",
                                    "--seed",
                                    "7",
                                    "--sources-per-mpx",
                                    "300",
                                    "-o",
                                    "sky.fits",
                                    "--quiet",
                                ],
                                check=True,
                            )
                        self.assertEqual(run_doctest(test)[0], "")

    @staticmethod
    def public(module):
        """The functions and classes that a module of the package defines."""
        names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        members = (getattr(module, name) for name in names)
        return [
            each
            for each in members
            if (inspect.isfunction(each) or inspect.isclass(each))
            and (each.__module__ or "").startswith("kastor")
            and (hasattr(module, "__all__") or each.__module__ == module.__name__)
        ]

    def test_functions_of_the_package_have_one(self):
        """But for `report`, whose example is in docs/python.md: it takes seconds."""
        functions = [each for each in self.public(kastor) if inspect.isfunction(each) and each is not kastor.report]
        self.assertGreater(len(functions), 10)
        self.assertEqual([each.__name__ for each in functions if ">>>" not in each.__doc__], [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The files by which a project is found, cited, joined and released: they are valid, and agree.

No command is needed, but the packages check-jsonschema and reuse of requirements.txt.
"""

import pathlib
import re
import runpy
import subprocess
import sys
import tomllib
import unittest

import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def text_of(name):
    return (PROJECT / name).read_text(encoding="utf-8")


def version():
    return ".".join(re.findall(r"#define KASTOR_VERSION_[A-Z]+ (\d+)\n",
                               text_of("include/kastor/version.hpp")))


def variable(name):
    """The default of one of the two variables that say where the project is; "" while it is unset."""
    return re.search(rf'^set\({name} "([^"]*)" CACHE', text_of("CMakeLists.txt"), re.MULTILINE)[1]


def git(*words):
    done = subprocess.run(["git", "-C", PROJECT, *words], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


class ProjectTestCase(unittest.TestCase):
    maxDiff = None

    def assert_passes(self, *words):
        done = subprocess.run([sys.executable, "-I", "-m", *words], cwd=PROJECT, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class TestVersion(ProjectTestCase):
    def setUp(self):
        self.citation = yaml.safe_load(text_of("CITATION.cff"))
        self.heading = re.search(r"^## (\S+) \((.*)\)$", text_of("CHANGELOG.md"), re.MULTILINE)

    def test_one_version(self):
        self.assertRegex(version(), r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.citation["version"], version(), "CITATION.cff")
        self.assertEqual(self.heading[1], version(), "newest heading of CHANGELOG.md")

    def test_what_is_tagged_says_when(self):
        if f"v{version()}" not in (git("tag", "--points-at", "HEAD") or []):
            self.assertEqual(self.heading[2], "not released")
            self.assertNotIn("date-released", self.citation)
            return
        self.assertRegex(self.heading[2], r"^\d{4}-\d\d-\d\d$")
        self.assertEqual(str(self.citation["date-released"]), self.heading[2])


class TestAddress(ProjectTestCase):
    def test_url(self):
        """Who has it writes it once more; while it is unset, nobody does."""
        url = variable("KASTOR_URL")
        citation = yaml.safe_load(text_of("CITATION.cff"))
        self.assertEqual(citation.get("repository-code", ""), url)

    def test_contact_is_found(self):
        for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
            self.assertIn("`KASTOR_CONTACT` in `CMakeLists.txt`", text_of(name))
            says_unset = "unset so far" in text_of(name)
            self.assertEqual(says_unset, not variable("KASTOR_CONTACT"), name)


class TestFormats(ProjectTestCase):
    def test_citation(self):
        self.assert_passes("check_jsonschema", "--builtin-schema", "vendor.citation-file-format",
                           "CITATION.cff")

    def test_codemeta(self):
        script = runpy.run_path(str(PROJECT / "cmake/packaging/codemeta.py"))
        self.assertEqual(text_of("codemeta.json"), script["text"](), "run cmake/packaging/codemeta.py")

    def test_licences(self):
        self.assertEqual(text_of("LICENSES/Apache-2.0.txt"), text_of("LICENSE"))
        if git("rev-parse", "HEAD") is None:
            self.skipTest("without git, what a build makes cannot be told from what is distributed")
        self.assert_passes("reuse", "lint", "--lines")


class TestWorkflows(ProjectTestCase):
    def setUp(self):
        self.names = sorted(str(path.relative_to(PROJECT))
                            for path in (PROJECT / ".github/workflows").iterdir())

    def test_form(self):
        self.assertEqual(len(self.names), 2)
        for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
            self.assert_passes("check_jsonschema", "--builtin-schema", schema, *self.names)

    def test_actions_are_of_one_version(self):
        used = set(re.findall(r"uses: (\S+)", "".join(map(text_of, self.names))))
        for action in used:
            self.assertRegex(action, r"^[\w-]+/[\w-]+@v\d+\.\d+\.\d+$")
        self.assertEqual(len({action.split("@")[0] for action in used}), len(used))

    def test_they_run_what_there_is(self):
        words = set(re.findall(r"^  (\w+)\)", text_of("bootstrap"), re.MULTILINE))
        run = yaml.safe_load(text_of(".github/workflows/test.yml"))["jobs"]["test"]
        self.assertLessEqual(set(run["strategy"]["matrix"]["words"]), words)


class TestConda(ProjectTestCase):
    #: Of cmake/KastorDependencies.cmake, what conda-forge calls otherwise, and what is no package of a recipe. The recipe
    #: builds without MPI, of which conda-forge has several.
    NAMES = {"cli11": "cli11", "expat": "libexpat", "kokkoskernels": "kokkos-kernels", "png": "libpng"}
    OTHERS = {"threads", "gtest", "python3", "mpi"}

    def setUp(self):
        self.recipe = yaml.safe_load(text_of("cmake/packaging/conda/recipe.yaml"))
        self.outputs = {each["package"]["name"]: each for each in self.recipe["outputs"]}

    def test_outputs(self):
        self.assertEqual(list(self.outputs), ["libkastor", "kastor", "kastor-python"])
        self.assertEqual(self.recipe["context"]["version"], version())
        for name in self.recipe["about"]["license_file"]:
            self.assertTrue((PROJECT / name).is_file(), name)

    def test_versions_are_those_of_cmake(self):
        cmake = text_of("cmake/KastorDependencies.cmake")
        wanted = {}
        for name, oldest in re.findall(r"find_package\((\w+) ?([0-9.]*)", cmake):
            name = name.lower()
            if name not in self.OTHERS:
                wanted[self.NAMES.get(name, name)] = oldest
        wanted["kokkos-kernels"] = re.search(r"Kokkos Kernels ([0-9.]+) or newer", cmake)[1]
        for output, each in self.outputs.items():
            found = dict(re.match(r"(\S+)(?: >=([0-9.]+))?", line).groups()
                         for line in each["requirements"]["host"])
            without = {"cli11", "nlohmann_json", "tomlplusplus"} if output == "libkastor" else set()
            self.assertEqual({name: found.get(name) for name in wanted if name not in without},
                             {name: wanted[name] for name in wanted if name not in without}, output)

    def test_python_is_that_of_the_wheel(self):
        project = tomllib.loads(text_of("python/pyproject.toml"))
        asked = {*project["build-system"]["requires"], *project["project"]["dependencies"],
                 "python" + project["project"]["requires-python"]}
        needs = self.outputs["kastor-python"]["requirements"]
        listed = {line.replace(" ", "") for line in needs["host"] + needs["run"]}
        self.assertLessEqual(asked, listed)


if __name__ == "__main__":
    unittest.main()

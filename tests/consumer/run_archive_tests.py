# SPDX-License-Identifier: Apache-2.0
"""The source archive: what is in it, and that a machine without a network can build it.

run_archive_tests.py --source DIR --cmake PATH --kokkos DIR [unittest's arguments]

Only the first steps of a build are taken here; docs/release.md has the whole one as a step of a release.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GIVEN = argparse.Namespace()
#: A namespace with no network, in which nothing has a route out.
OFFLINE = ["unshare", "--user", "--map-root-user", "--net"]


def run(*words, **options):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **options)


class TestSourceArchive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (GIVEN.source / ".git").exists():
            raise unittest.SkipTest("not a clone by git")
        kept = sorted((GIVEN.source / ".deps/downloads").glob("pygenten-*.tar.gz"))
        if not kept:
            raise unittest.SkipTest("no archive of Kokkos in .deps/downloads")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        done = run(GIVEN.source / "bootstrap", "source-archive", cls.folder / "out",
                   env={**os.environ, "KASTOR_KOKKOS_SDIST": str(kept[0])})
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        text = (GIVEN.source / "include/kastor/version.hpp").read_text()
        cls.name = "kastor-" + ".".join(re.findall(r"#define KASTOR_VERSION_[A-Z]+ (\d+)\n", text))
        subprocess.run(["tar", "xf", cls.folder / f"out/{cls.name}.tar.gz"], cwd=cls.folder, check=True)
        cls.tree = cls.folder / cls.name
        cls.files = {str(path.relative_to(cls.tree)) for path in cls.tree.rglob("*") if path.is_file()}

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)

    def offline(self, *words):
        if run(*OFFLINE, "true").returncode != 0:
            self.skipTest("no namespace without a network can be made here")
        routes = run(*OFFLINE, "cat", "/proc/net/route").stdout.splitlines()[1:]
        self.assertEqual(routes, [])
        done = run(*OFFLINE, *words, cwd=self.tree)
        self.assert_done(done)
        return done.stdout

    def test_what_is_written(self):
        names = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertEqual(len(names), 4)
        self.assertLessEqual({"README", "SHA256SUMS", f"{self.name}.tar.gz"}, set(names))
        self.assert_done(run("sha256sum", "--check", "SHA256SUMS", cwd=self.folder / "out"))
        readme = (self.folder / "out/README").read_text()
        self.assertEqual(len(readme.splitlines()), 3)
        for name in re.findall(r"[\w.-]+\.tar\.gz", readme):
            self.assertIn(name, names)

    def test_what_is_in_it(self):
        committed = run("git", "-C", GIVEN.source, "ls-tree", "-r", "--name-only", "HEAD").stdout
        self.assertEqual(self.files, set(committed.splitlines()))

    def test_first_steps_offline(self):
        self.assertIn("source-archive", self.offline("./bootstrap", "--help"))
        kokkos = next((self.folder / "out").glob("pygenten-*.tar.gz"))
        said = self.offline(GIVEN.cmake, "-S", "cmake/dependencies", "-B", ".deps/build/serial", "-G",
                            "Ninja", "-D", "KASTOR_BACKEND=serial", "-D", f"KASTOR_KOKKOS_SDIST={kokkos}")
        self.assertIn("Unpacking", said)
        self.assertNotIn("Downloading", said)
        self.offline(GIVEN.cmake, "-S", ".", "-B", "build/offline", "-G", "Ninja", "-D",
                     "CMAKE_BUILD_TYPE=Release", "-D", f"Kokkos_DIR={GIVEN.kokkos}", "-D",
                     "KASTOR_ENABLE_TESTS=OFF")
        self.offline(GIVEN.cmake, "--build", "build/offline", "--target",
                     "CMakeFiles/kastor_core.dir/src/version.cpp.o")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("source", "cmake", "kokkos"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    _, rest = parser.parse_known_args(namespace=GIVEN)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Tests of `kastor report` without a Python that draws: what it asks of one, and what it leaves."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import command
from command import AppTestCase

#: What a stand-in for Python answers when it is asked for its packages.
HAS_ALL = "test \"$3\" = check && echo '{\"packages\": []}' && exit\n"

#: Keeps the job and says which of its files are there; then it is done.
DRAWS = HAS_ALL + """
cp "$4" "$KEPT"
printf '%s' "$5" > "$KEPT.image"
grep -o '"[^"]*\\.tmp"' "$4" | tr -d '"' | xargs ls > "$KEPT.files" || exit 3
printf 'the page' > "$6"
echo '{"done": true}'
"""


class TestReport(AppTestCase):
    """Temporary files go to the test's own folder, and have to be gone at the end."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.other = pathlib.Path(folder.name)
        self.image = self.other / "image.fits"
        self.truth = self.other / "image_truth.csv"
        sky = "simulate sky --size 200 --sources-per-mpx 400 --noise-kind beam --quiet -o".split()
        self.assert_done(command.run(*sky, self.image))
        self.env = {"TMPDIR": str(self.folder), "KEPT": str(self.other / "job.json")}

    def python(self, script):
        fake = self.other / "python"
        fake.write_text("#!/bin/sh\n" + script)
        fake.chmod(0o755)
        return fake

    def report(self, *words, script=DRAWS):
        """The job that a stand-in for Python was given."""
        done = command.run("report", self.image, *words, "-o", "r.html", "--python", self.python(script),
                           cwd=self.folder, env=self.env)
        self.assert_done(done)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr, b"kastor: wrote r.html\n")
        self.assertEqual(self.files(), ["r.html"])
        self.assertEqual((self.folder / "r.html").read_text(), "the page")
        (self.folder / "r.html").unlink()
        self.assertEqual((self.other / "job.json.image").read_text(), str(self.image))
        return json.loads((self.other / "job.json").read_text())

    def refused(self, *words, script, says, **env):
        line = ["report", self.image, *words, "-o", "r.html"]
        return self.assert_refused(1, *line, "--python", self.python(script), says=says, cwd=self.folder,
                                   env={**self.env, **env})

    def test_what_the_script_is_given(self):
        truth = ["--truth", str(self.truth)]
        reference = ["--reference", str(self.truth), "--pixels", "3"]
        maps = ["background", "rms"]
        for words, wanted in (
            ([], ["sources", "components", *maps]),
            (["--components", "off"], ["sources", *maps]),
            (["--preset", "sextractor"], ["sources", *maps]),
            (["--preset", "sextractor", "--components", "on"], ["sources", "components", *maps]),
            (["--preset", "lesson"], ["sources"]),
            (["--preset", "lesson", *reference], ["sources", "compared"]),
            (truth, ["sources", "components", *maps, "pairs"]),
            (truth + reference, ["sources", "components", *maps, "pairs", "compared"]),
        ):
            with self.subTest(words):
                job = self.report(*words)
                files = ("sources", "components", *maps, "pairs", "compared")
                self.assertEqual([name for name in files if job.get(name)], wanted)
                there = (self.other / "job.json.files").read_text().splitlines()
                self.assertEqual(set(there), {job[name] for name in wanted})
                self.assertEqual((job["name"], job["hdu"], job["plane"]), ("image.fits", 0, None))
                self.assertEqual(f"kastor {job['version']}\n", command.run("--version").stdout.decode())
                self.assertEqual(job["find"]["file"], str(self.image))
                self.assertEqual("evaluation" in job, "pairs" in wanted)
                self.assertEqual("comparison" in job, "compared" in wanted)
                if "compared" in wanted:
                    self.assertEqual(job["reference"], "image_truth.csv")
                    self.assertEqual(job["comparison"]["radius"], 3)

    def test_the_search_is_that_of_find(self):
        for words in (["--preset", "radio", "--seed", "6"], ["--preset", "lesson"], ["--preset", "sextractor"]):
            self.assertEqual(self.report(*words)["find"], command.json_of("find", self.image, *words))
        self.assertEqual(self.report()["find"], command.json_of("find", self.image, "--preset", "radio"))

    def test_the_evaluation_is_that_of_evaluate(self):
        words = ["--truth", str(self.truth), "--pixels", "2", "--seed", "6"]
        self.assertEqual(self.report(*words)["evaluation"], command.json_of("evaluate", self.image, *words))

    def test_the_comparison_is_that_of_compare(self):
        self.assert_done(command.run("find", self.image, "--preset", "radio", "--components", "c.fits", "-o", "islands.vot", cwd=self.other))
        reference, words = self.other / "islands.vot", ["--radius", "20"]
        found = self.report("--reference", reference, *words)["comparison"]
        wanted = command.json_of("compare", reference, self.other / "c.fits", *words)
        for comparison in (found, wanted):
            del comparison["catalogue2"]["file"]
        self.assertEqual(found, wanted)

    def test_the_command_is_as_typed(self):
        words = ["--quiet", "--unit", "Jy/beam", "--beam", "10,8", "--cell=32"]
        done = command.run("report", self.image, *words, "-o", "it's a page.html", "--python", self.python(DRAWS),
                           cwd=self.folder, env=self.env)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        job = json.loads((self.other / "job.json").read_text())
        typed = subprocess.run(["sh", "-c", f"printf '%s\\n' {job['command']}"], capture_output=True, check=True)
        self.assertEqual(typed.stdout.decode().splitlines(),
                         ["kastor", "report", str(self.image), *words, "-o", "it's a page.html", "--python",
                          str(self.other / "python")])

    def test_a_page_that_exists(self):
        page = self.folder / "r.html"
        page.write_text("old")
        # Refused before any work: this Python would leave a word.
        self.refused(script='touch "$KEPT"\n' + DRAWS, says=["r.html", "--overwrite"])
        self.assertFalse((self.other / "job.json").exists())
        self.assertEqual(page.read_text(), "old")
        self.refused("--overwrite", script=HAS_ALL + "exit 1", says=["exit code 1"])
        self.assertEqual(page.read_text(), "old")
        self.report("--overwrite")

    def test_a_python_that_cannot_run(self):
        for path, says in ((self.folder / "nosuch", "nosuch"), ("/bin/false", "exit code 1"), ("/bin/echo", "no answer")):
            with self.subTest(path):
                line = ["report", "nosuch.fits", "-o", "r.html"]
                self.assert_refused(1, *line, "--python", path, says=["report: ", says, "KASTOR_PYTHON"], cwd=self.folder,
                                    env=self.env)
                self.assert_refused(1, *line, says=[says], cwd=self.folder, env={**self.env, "KASTOR_PYTHON": str(path)})

    def test_a_python_without_the_packages(self):
        self.refused(script="echo '{\"missing\": \"found no matplotlib, Jinja2\"}'",
                     says=["report: ", "python: found no matplotlib, Jinja2; expected a Python 3 with astropy, matplotlib and "
                           "Jinja2 (set --python or KASTOR_PYTHON)"])

    def test_the_script_names_what_is_missing(self):
        script = pathlib.Path(command.KASTOR).parent.parent / "share" / "kastor" / "report.py"
        if not script.is_file():
            self.skipTest("the command is not in a build folder or an installation")
        for name in ("astropy", "matplotlib", "jinja2"):
            (self.other / name).mkdir()
            (self.other / name / "__init__.py").write_text("" if name == "astropy" else "raise ImportError\n")
        done = subprocess.run(["python3", "-B", script, "check"], capture_output=True, env={"PYTHONPATH": str(self.other)},
                              check=True)
        self.assertEqual(json.loads(done.stdout), {"missing": "found no matplotlib, Jinja2"})

    def test_a_python_that_fails_on_the_way(self):
        for answer in ("true", "false", "echo nonsense", "echo '{}'", "kill -9 $$", "printf half > \"$6\"",
                       "echo '{\"failed\": \"ValueError: no\"}'; exit 1", "echo '{\"done\": true}'; exit 1"):
            with self.subTest(answer):
                says = ["report.py"] + (["ValueError: no"] if "Value" in answer else [])
                self.refused(script=HAS_ALL + 'eval "$ANSWER"', says=says, ANSWER=answer)

    def test_inputs_that_cannot_be_used(self):
        for words, says in (
            (["--truth", "nosuch.csv"], "nosuch.csv"),
            (["--reference", "nosuch.csv"], "nosuch.csv"),
            (["--hdu", "3"], "HDU '3'"),
        ):
            with self.subTest(words):
                self.refused(*words, script=DRAWS, says=[says])
        self.assert_refused(1, "report", "nosuch.fits", "-o", "r.html", "--python", self.python(DRAWS),
                            says=["nosuch.fits"], cwd=self.folder, env=self.env)

    def test_a_run_that_is_stopped_leaves_nothing(self):
        fake = self.python(HAS_ALL + 'touch "$KEPT"; exec sleep 20')
        process = subprocess.Popen(
            [command.KASTOR, "report", self.image, "-o", "r.html", "--python", fake], cwd=self.folder,
            env={**os.environ, **self.env}, start_new_session=True)
        deadline = time.monotonic() + command.TIMEOUT
        while not (self.other / "job.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(), -signal.SIGTERM)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    command.main(__doc__)

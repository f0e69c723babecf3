# SPDX-License-Identifier: Apache-2.0
"""Tests of man pages and completions.

The build writes both with `kastor --write-manual FOLDER`. What this machine has no program for is
skipped.
"""

import re
import shutil
import subprocess
import unittest

import command
from command import AppTestCase


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"this machine has no {program}")


class ManualTestCase(AppTestCase):
    def setUp(self):
        super().setUp()
        self.manual = self.folder / "manual"
        self.assert_done(command.run("--write-manual", self.manual))

    def pages(self):
        return sorted((self.manual / "man1").iterdir())

    def output_of(self, *words, **options):
        options = {"capture_output": True, "text": True, "timeout": command.TIMEOUT, **options}
        done = subprocess.run(words, stdin=subprocess.DEVNULL, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout


class TestManual(ManualTestCase):
    """One page for every command, with all that its help says."""

    def test_there_is_a_page_for_every_command(self):
        wanted = ["-".join(["kastor", *words]) + ".1" for words in command.topics()]
        self.assertEqual([page.name for page in self.pages()], sorted(wanted))

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "file").write_bytes(b"")
        self.assert_refused(1, "--write-manual", self.folder / "file")
        self.assert_refused(2, "--write-manual")

    def test_pages_say_what_the_help_says(self):
        for words in command.topics():
            help_text = command.run(*words, "--help").stdout.decode()
            page = (self.manual / "man1" / ("-".join(["kastor", *words]) + ".1")).read_text()
            # As far as these pages go: fonts, and the escapes for what roff would change.
            page = re.sub(r"\\f[BIR]", "", page)
            for roff, text in ((r"\-", "-"), (r"\(aq", "'"), (r"\(ha", "^"), (r"\(ti", "~")):
                page = page.replace(roff, text)
            page = page.replace("\\&", "").replace(r"\e", "\\")
            words_of_page = " ".join(page.split())
            with self.subTest(words):
                for option, label in command.options_of(words).items():
                    self.assertIn(f"{option} {label}".strip() + "\n", page)
                for line in help_text[help_text.index("Example:") :].splitlines()[1:]:
                    self.assertIn(line.strip() + "\n", page)
                for line in help_text.splitlines():
                    # The text of an option or a part begins at a column of its own.
                    text = re.sub(r"^  \S+(?: \S+)?  +|^ {14,}", "", line).strip()
                    if text and not line.startswith(("Usage:", "       kastor")):
                        if not (line.endswith(":") and line[0].isupper()) and "--" not in text:
                            self.assertIn(" ".join(text.split()), words_of_page)

    @needs("groff")
    def test_groff_has_no_complaints(self):
        for page in self.pages():
            self.output_of("groff", "-man", "-ww", "-z", page)

    @needs("mandoc")
    def test_mandoc_has_no_complaints(self):
        for page in self.pages():
            words = ["mandoc", "-T", "lint", "-W", "warning", page]
            done = subprocess.run(words, capture_output=True, timeout=command.TIMEOUT, text=True)
            # A date would make the pages of two builds differ.
            lines = [x for x in done.stdout.splitlines() if "missing date" not in x]
            self.assertEqual((lines, done.stderr), ([], ""))


BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_kastor
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


class TestCompletion(ManualTestCase):
    """The scripts know what the command knows."""

    def bash(self, *words):
        """What is offered for the last of the words."""
        script = self.manual / "kastor.bash"
        text = self.output_of("bash", "-c", BASH, "bash", script, "kastor", *words, cwd=self.folder)
        return sorted(text.splitlines())

    def test_commands(self):
        topics = command.topics()
        for words in topics:
            parts = sorted(t[-1] for t in topics if len(t) == len(words) + 1 and t[:-1] == words)
            if parts:
                self.assertEqual(self.bash(*words, ""), parts)
                self.assertEqual(self.bash(*words, parts[0][:2]), [parts[0]])
        self.assertEqual(self.bash("nosuch", ""), sorted(t[0] for t in topics if len(t) == 1))
        self.assertEqual(self.bash("--v"), ["--version"])

    def test_options(self):
        for words in command.topics():
            options = command.options_of(words)
            if not options:
                continue
            with self.subTest(words):
                self.assertEqual(self.bash(*words, "--"), sorted({*options, "--help"}))
                self.assertEqual(self.bash(*words, "image.fits", "--conf"), ["--config"])

    def test_values(self):
        for name in ("a b.fits", "c.csv", "d*.fits"):
            (self.folder / name).write_bytes(b"")
        files = ["a b.fits", "c.csv", "d*.fits", "manual"]
        seen = 0
        for words in command.topics():
            for option, label in command.options_of(words).items():
                if not label:
                    continue
                with self.subTest(f"{words} {option}"):
                    alternatives = label.split("|")
                    wanted = [x for x in alternatives if re.fullmatch("[a-z0-9-]+", x)]
                    seen += len(wanted)
                    if re.search("FILE|PATH|CATALOGUE", label):
                        wanted += files
                    self.assertEqual(self.bash(*words, option, ""), sorted(wanted))
                    self.assertEqual(self.bash(*words, option, "=", ""), sorted(wanted))
                    self.assertEqual(self.bash(*words, option, "="), sorted(wanted))
        self.assertGreater(seen, 40)
        self.assertEqual(self.bash("find", "-o", "c"), ["c.csv"])
        self.assertEqual(self.bash("find", "x.fits", "--about", "m"), ["median"])
        self.assertEqual(self.bash("find", "x.fits", "--about", "=", "m"), ["median"])
        # In 'view' the option of this name is a flag.
        self.assertEqual(self.bash("view", "x.fits", "--labels", "c"), ["c.csv"])

    def test_inputs(self):
        (self.folder / "a b.fits").write_bytes(b"")
        self.assertEqual(self.bash("find", "a"), ["a b.fits"])
        self.assertEqual(self.bash("compare", "a.csv", ""), ["a b.fits", "manual"])
        self.assertEqual(self.bash("primes", ""), [])

    def test_bash_finds_its_function(self):
        text = self.output_of("bash", "-c", 'source "$1"; complete -p kastor', "bash",
                              self.manual / "kastor.bash")
        self.assertEqual(text, "complete -F _kastor kastor\n")

    def test_all_scripts_name_all_options(self):
        for name, form in (("_kastor", "{}"), ("kastor.fish", "-l {} ")):
            text = (self.manual / name).read_text()
            for words in command.topics():
                for option in command.options_of(words):
                    key = option if name == "_kastor" else option[2:]
                    self.assertIn(form.format(key), text)

    @needs("zsh")
    def test_zsh_reads_its_script(self):
        self.output_of("zsh", "-n", self.manual / "_kastor")

    @needs("fish")
    def test_fish(self):
        script = self.manual / "kastor.fish"

        def fish(typed):
            line = f"source {script}; complete -C '{typed}'"
            text = self.output_of("fish", "--no-config", "-c", line, cwd=self.folder)
            return sorted(x.split("\t")[0] for x in text.splitlines())

        topics = command.topics()
        self.assertEqual(fish("kastor "), sorted(t[0] for t in topics if len(t) == 1))
        self.assertEqual(fish("kastor simulate "), ["diracs", "sky"])
        for words in topics:
            options = command.options_of(words)
            if options:
                wanted = sorted({*options, "--help"})
                offered = [x.rstrip("=") for x in fish(f"kastor {' '.join(words)} --")]
                self.assertEqual(offered, wanted)
        self.assertEqual(fish("kastor find --about "), ["median", "zero"])
        self.assertEqual(fish("kastor find m"), ["manual/"])


if __name__ == "__main__":
    command.main(__doc__)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the documents: that they are in order, and that the command does what they say.

python3 check_documents.py --kastor PATH [unittest's arguments]

Every link leads somewhere, lines are not too long, docs/command.md lists the options, defaults,
JSON keys and columns that the command has, and the examples print what is shown.
"""

import json
import pathlib
import re
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "apps"))

import command  # noqa: E402
import png_files  # noqa: E402
from command import AppTestCase  # noqa: E402

PROJECT = TESTS.parent

#: Columns of a line of prose, and lines of a file or of a section of it.
WIDEST = 120
LONGEST = {"README.md": 180, "CONTRIBUTING.md": 120}
LONGEST_SECTION = {("docs/pipeline.md", "What was learned"): 40}

#: Documents whose examples are run.
WITH_EXAMPLES = ("README.md", "docs/command.md", "docs/catalogue.md", "docs/components.md")

#: The end of an output, or of a line of it, that is not shown whole.
MORE = "..."


def documents():
    """All Markdown files of the project, by their paths in it."""
    outside = {"build", "demo"}
    for path in sorted(PROJECT.rglob("*.md")):
        parts = path.relative_to(PROJECT).parts
        if parts[0] not in outside and not any(part.startswith(".") for part in parts):
            yield "/".join(parts), path.read_text(encoding="utf-8")


def document(name):
    return (PROJECT / name).read_text(encoding="utf-8")


def numbered_prose(text):
    """(number, line) of what is neither in a block of code nor indented as code."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("    "):
            yield number, line


def headings(text):
    """(number, level, title) of every heading."""
    for number, line in numbered_prose(text):
        found = re.match(r"(#+) (.*)", line)
        if found:
            yield number, len(found[1]), found[2]


def anchors(text):
    """What links into a document may name, as GitHub makes it of headings."""
    for _, _, title in headings(text):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def links(text):
    """(number, target) of every link and image."""
    for number, line in numbered_prose(text):
        without_code = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
            yield number, target


def cells(line):
    """The cells of a row of a table, of which | may be written as \\|."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


class Contract:
    """docs/command.md: for every subcommand its options and the rows of its other tables."""

    def __init__(self, text):
        self.options = {}  # words: {option: (label, what it means)}
        self.tables = {}  # (words, first cell of the head): rows of cells
        self.shared = []  # (words or None for all, options)
        words, owner, head = None, None, None
        for _, line in numbered_prose(text):
            heading = re.match(r"(##+) (.*)", line)
            if heading:
                words, owner = self._section(heading[1], heading[2], words, owner)
            if not line.startswith("|"):
                head = None
            elif head is None:
                head = cells(line)[0]
            elif not set(line) <= set("|- "):
                self._row(words, owner, head, cells(line))
        for whose, options in self.shared:
            for each in list(self.options) if whose is None else whose:
                self.options.setdefault(each, {}).update(options)
        self._inherit(text)

    def _inherit(self, text):
        """Options that one subcommand has as another, but for some."""
        sentence = r"Except for ([^.]*), `kastor (\w+)` has the options of `kastor (\w+)`"
        for without, name, other in re.findall(sentence, text):
            own = self.options[(name,)]
            for option, meaning in self.options[(other,)].items():
                if option not in codes(without):
                    own.setdefault(option, meaning)

    def _section(self, level, title, words, owner):
        """Whose tables follow: a subcommand's, or options that several share."""
        named = re.match(r"kastor (.*)", title)
        if level == "##":
            if named is None:
                return None, None
            words = tuple(named[1].split())
            self.options.setdefault(words, {})
            return words, self.options[words]
        if words is not None or not re.match(r"[\w ]+: (`|every subcommand)", title):
            return words, owner  # a part of a section
        whose = [tuple(code.split()) for code in codes(title)]
        self.shared.append((whose or None, {}))
        return None, self.shared[-1][1]

    def _row(self, words, owner, head, row):
        if head == "option" and owner is not None:
            for code in codes(row[0]):
                found = re.fullmatch(r"(?:-\w,)?(--[a-z0-9-]+)(?: (\S+))?", code)
                assert found, f"docs/command.md: {code!r} is no option with a label"
                owner[found[1]] = (found[2] or "", " ".join(row[1:]))
        self.tables.setdefault((words, head), []).append(row)

    def keys(self, *words):
        """The first column of the JSON table of a subcommand."""
        return [code for row in self.tables[words, "key of `--json`"] for code in codes(row[0])]


class TestText(unittest.TestCase):
    """What can be seen without running anything."""

    def test_links_lead_somewhere(self):
        wrong, count = [], 0
        for name, text in documents():
            for number, target in links(text):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                there = (PROJECT / name).parent / path if path else PROJECT / name
                if not there.exists():
                    wrong.append(f"{name}:{number}: {target}: no such file")
                elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
                    wrong.append(f"{name}:{number}: {target}: no such heading")
        self.assertEqual(wrong, [])
        self.assertGreater(count, 20)

    def test_files_that_are_named_exist(self):
        named = re.compile(r"`((?:apps|cmake|docs|include|src|tests)/[\w./-]+)`")
        wrong = [
            f"{name}:{number}: {path}: no such file"
            for name, text in documents()
            for number, line in enumerate(text.splitlines(), 1)
            for path in named.findall(line)
            if not (PROJECT / path).exists()
        ]
        self.assertEqual(wrong, [])

    def test_lines_of_prose_are_not_too_long(self):
        wrong = [
            f"{name}:{number}: {len(line)} columns; expected at most {WIDEST}"
            for name, text in documents()
            for number, line in numbered_prose(text)
            if len(line) > WIDEST and not line.startswith("|")
        ]
        self.assertEqual(wrong, [])

    def test_documents_are_not_too_long(self):
        for name, most in LONGEST.items():
            self.assertLessEqual(len(document(name).splitlines()), most, name)
        for (name, title), most in LONGEST_SECTION.items():
            text = document(name)
            found = list(headings(text)) + [(len(text.splitlines()) + 1, 0, "")]
            at = [title for _, _, title in found].index(title)
            after = next(n for n, level, _ in found[at + 1 :] if level <= found[at][1])
            self.assertLessEqual(after - found[at][0], most, f"{name}: {title}")


class TestOptions(AppTestCase):
    """docs/command.md and --help say the same."""

    @classmethod
    def setUpClass(cls):
        cls.contract = Contract(document("docs/command.md"))
        offered = [words for words in command.topics() if words]
        cls.subcommands = [
            words
            for words in offered
            if not any(other[: len(words)] == words != other for other in offered)
        ]

    def test_every_subcommand_has_a_section(self):
        self.assertEqual(sorted(self.contract.options), sorted(self.subcommands))

    def test_options_are_those_of_the_help(self):
        for words in self.subcommands:
            with self.subTest(" ".join(words)):
                offered = command.options_of(words)
                listed = self.contract.options.get(words, {})
                written = {option: label for option, (label, _) in listed.items()}
                on = offered.pop("--on").split("|")  # the backends of this build
                self.assertLessEqual(set(on), set(written.pop("--on", "").split("|")))
                self.assertEqual(written, offered)

    def test_defaults_are_those_of_the_command(self):
        checked = 0
        for words in self.subcommands:
            dumped = command.run(*words, "--dump-config").stdout.decode()
            for name, value in re.findall(r"^#([a-z0-9-]+) = (.*)$", dumped, re.MULTILINE):
                if value.endswith("# no fixed default") or value == "false":
                    continue
                _, meaning = self.contract.options.get(words, {}).get("--" + name, ("", ""))
                wanted = f"default {json.loads(value)}"
                self.assertRegex(meaning, rf"\b{re.escape(wanted)}(?![\w.])", f"{words} --{name}")
                checked += 1
        self.assertGreater(checked, 30)


class TestKeys(AppTestCase):
    """JSON keys and columns are those that the documents list, in their order."""

    @classmethod
    def setUpClass(cls):
        cls.contract = Contract(document("docs/command.md"))

    def setUp(self):
        super().setUp()
        sky = ["simulate", "sky", "--size", "200", "--sources-per-mpx", "400", "-o", "sky.fits"]
        self.assert_done(command.run(*sky, cwd=self.folder))
        self.assert_done(command.run("find", "sky.fits", "-o", "found.csv", cwd=self.folder))

    def json_of(self, *words):
        return command.json_of(*words, cwd=self.folder)

    def assert_keys(self, found, written, what):
        self.assertEqual(sorted(found), sorted(written), what)
        self.assertEqual(len(set(written)), len(written), what)

    def test_keys_of_json(self):
        label = ("label", "sky.fits", "-o", "labels.fits")
        compare = ("compare", "sky_truth.csv", "found.csv")
        bench = ("bench", "--size", "16", "--repeats", "1")
        evaluate = ("evaluate", "sky.fits", "--truth", "sky_truth.csv")
        measure = ("measure", "sky.fits", "--at", "sky_truth.csv")
        short = (("find", "sky.fits"), ("stats", "sky.fits"))
        for line in (*short, label, compare, evaluate, measure, bench):
            with self.subTest(line[0]):
                self.assert_keys(self.json_of(*line), self.contract.keys(line[0]), line)
        both = [*self.json_of("info"), *self.json_of("info", "sky.fits")]
        self.assert_keys(both, self.contract.keys("info"), "info")

    def test_keys_within_json(self):
        stats = self.json_of("stats", "sky.fits")
        bench = self.json_of("bench", "--size", "16", "--repeats", "1", "--on", "serial")
        step = bench["steps"][0]
        compared = self.json_of("compare", "sky_truth.csv", "found.csv")
        evaluated = self.json_of("evaluate", "sky.fits", "--truth", "sky_truth.csv")
        inside = ("truth", "rows", "area", "completeness", "reliability", "false_detections")
        inner = {
            ("stats", "all"): stats["all"],
            ("stats", "clipped"): stats["clipped"],
            ("bench", "steps"): [*step, *step["rows"][0]],
            ("compare", "catalogue1"): compared["catalogue1"],
            **{("evaluate", key): evaluated[key] for key in inside},
        }
        for (words, key), found in inner.items():
            rows = self.contract.tables[(words,), "key of `--json`"]
            (meaning,) = [row[1] for row in rows if key in codes(row[0])]
            self.assertEqual(list(found), codes(meaning), f"{words}: {key}")

    def test_keys_of_the_presets_on_the_sky(self):
        found = self.json_of("find", "sky.fits", "--preset", "radio")
        text = document("docs/catalogue.md")
        table = re.search(r"^\| member \|.*\n\|[-|]*\n((?:\|.*\n)*)", text, re.MULTILINE)
        rows = [cells(line)[0] for line in table[1].splitlines()]
        self.assert_keys(found, [code for cell in rows for code in codes(cell)], "radio")

    def test_columns(self):
        head = (self.folder / "found.csv").read_text().splitlines()[0].split(",")
        rows = self.contract.tables[("find",), "column"]
        self.assertEqual(head, [code for row in rows for code in codes(row[0])])


class Example:
    """A command as typed, and the lines shown of what it prints."""

    def __init__(self, where, line):
        self.where, self.line, self.shown = where, line, None


def examples(name):
    """Of every console block, and of every block of sh that begins with kastor, in order."""
    found, language, first = [], None, False
    for number, line in enumerate(document(name).splitlines(), 1):
        where = f"{name}:{number}"
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
            first = True
        elif language == "sh":
            if first and not line.startswith("kastor "):
                language = "other"
            elif found and found[-1].line.endswith("\\"):
                found[-1].line += "\n" + line
            elif line.strip():
                found.append(Example(where, line))
            first = False
        elif language == "console":
            if line.startswith("$ "):
                found.append(Example(where, line[2:]))
                found[-1].shown = []
            elif found[-1].line.endswith("\\"):
                found[-1].line += "\n" + line
            else:
                found[-1].shown.append(line)
    return found


def without_timings(lines):
    """Lines whose seconds, and what follows from them, are replaced by a word."""
    column = None
    for line in lines:
        words = line.split()
        if "seconds" in words:
            column = words.index("seconds")
        elif column is not None and len(words) > column:
            words[column] = "SECONDS"
            line = " ".join(words)
        elif not words:
            column = None
        yield re.sub(r"\d[\d.e+-]* (?=s\b|images a second)", "SOME ", line)


def as_shown(printed, shown):
    """Both without what is not shown."""
    if shown and shown[-1].strip() == MORE:
        shown = shown[:-1]
        printed = printed[: len(shown)]
    printed, shown = list(printed), list(shown)
    for i in range(min(len(printed), len(shown))):
        if shown[i].endswith(MORE):
            shown[i] = shown[i][: -len(MORE)]
            printed[i] = printed[i][: len(shown[i])]
    return printed, shown


class TestExamples(AppTestCase):
    """Examples run as typed, in the order of the document, in a folder that was empty."""

    def run_examples(self, name):
        """What each prints begins with what is shown, and is that where all is shown."""
        found = examples(name)
        self.assertGreater(len(found), 2, name)
        for example in found:
            self.assertTrue(example.line.startswith("kastor "), f"{example.where}: {example.line}")
            done = command.run_line("exec 2>&1\n" + example.line, self.folder)
            printed = done.stdout.decode(errors="replace")
            self.assertEqual(done.returncode, 0, f"{example.where}: {example.line}\n{printed}")
            if example.shown is None:
                continue
            printed, shown = as_shown(printed.splitlines(), example.shown)
            self.assertEqual(
                list(without_timings(printed)),
                list(without_timings(shown)),
                f"{example.where}: {example.line}",
            )
        self.compare_pictures(name)
        return found

    def compare_pictures(self, name):
        """The pictures shown are those that the examples drew, but for the shapes of letters."""
        for _, target in links(document(name)):
            drawn = self.folder / pathlib.PurePosixPath(target).name
            if not target.endswith(".png") or not drawn.exists():
                continue
            _, shown = png_files.read((PROJECT / name).parent / target)
            _, found = png_files.read(drawn)
            self.assertEqual((len(found), len(found[0])), (len(shown), len(shown[0])), target)
            pixels = [pair for rows in zip(found, shown) for pair in zip(*rows)]
            equal = sum(a == b for a, b in pixels)
            self.assertGreater(equal, 0.98 * len(pixels), target)

    def test_readme(self):
        self.run_examples("README.md")
        self.assertTrue((self.folder / "sources.png").exists())

    def test_command(self):
        found = self.run_examples("docs/command.md")
        codes_shown = {e.shown[-1] for e in found if e.line.endswith("echo $?")}
        self.assertEqual(codes_shown, {"0", "1", "2"})

    def test_catalogue(self):
        self.run_examples("docs/catalogue.md")

    def test_components(self):
        self.run_examples("docs/components.md")


if __name__ == "__main__":
    command.main(__doc__)

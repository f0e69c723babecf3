# SPDX-License-Identifier: Apache-2.0
"""Tests of --config and --dump-config."""

import json
import os
import re
import unittest

import command
import fits_files
from command import AppTestCase

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None


#: Values that an option cannot have, in a file for 'kastor find image.fits', what the refusal says
#: that it found, and what it expected.
WRONG_VALUES = [
    ("kappa = 0", "'0'", "above 0"),
    ("kappa = nan", "'nan'", ""),
    ("kappa = -inf", "'-inf'", ""),
    ("kappa = 1e999", "'1e999'", ""),
    ("kappa = '3'", "the string '3'", "a finite number above 0"),
    ("kappa = true", "true", "a finite number above 0"),
    ("kappa = [3]", "a list", ""),
    ("max-passes = 1.5", "'1.5'", "an integer from 0"),
    ("max-passes = 99999999999", "'99999999999'", ""),
    ("threads = 513", "'513'", "an integer from 1 to 512"),
    ("threads = '2'", "the string '2'", "an integer from 1 to 512"),
    ("json = 1", "1", "true or false"),
    ("json = 'yes'", "the string 'yes'", "true or false"),
    ("json = [true]", "a list", ""),
    ("about = true", "true", "zero or median"),
    ("about = 'mean'", "'mean'", "zero or median"),
    ("about = ['zero']", "a list", ""),
    ("connectivity = 6", "'6'", "4 or 8"),
    ("hdu = -1", "'-1'", ""),
    ("on = 'nosuch'", "'nosuch'", ""),
    ("output = [true]", "a list", "a list of them"),
    ("output = true", "true", ""),
    # No TOML, or more of it than options need.
    ("kappa =", "the end of the line", ""),
    ("kappa = 3 4", "'4'", ""),
    ("kappa = 3, 4", "', 4'", ""),
    *((f"kappa = {text}", f"'{text}'", "")
      for text in ("three", "03", ".5", "5.", "1__0", "0x", "2026-01-01", "{}")),
    *((f'labels = "{text}.fits"', "the escape", "") for text in (r"\q", r"\u12", r"\ud800")),
    (r'labels = "\u0000.fits"', "a string with a NUL character", ""),
    ("output = ['a.csv',\n'b.csv'", "an unclosed list", ""),
]

#: Such a file, words on the line behind it, and what the refusal says.
REFUSED = [
    ("nosuch = 1", "", ["c.toml:1: nosuch: ", "'kastor find --dump-config'"]),
    ("config = 'c.toml'", "", ["c.toml:1: config: "]),
    ("dump-config = true", "", ["c.toml:1: dump-config: "]),
    ("help = true", "", ["c.toml:1: help: "]),
    ("IMAGE = 'image.fits'", "", ["c.toml:1: IMAGE: "]),
    ("spacing = 4", "", ["c.toml:1: spacing: "]),
    ("# one\n\nkappa = -1 # three", "", ["c.toml:3: kappa: found '-1'", "above 0"]),
    ("output = 'out.txt'", "", ["-o: found 'out.txt'"]),
    ("kappa = 3\nkappa = 4", "", ["c.toml:2: kappa: given more than once", "line 1"]),
    ("kappa = 3\n'kappa' = 3", "", ["c.toml:2: kappa: given more than once"]),
    # Together: in the file, on the line, or one here and one there.
    ("level = 1\nthreshold = 3", "", ["c.toml:", "found with", "at most one of them"]),
    ("threshold = 3", "--level 1", ["c.toml:1: ", "found with", "at most one of them"]),
    ("\nlevel = 1", "--about zero", ["c.toml:2: ", "found with", "at most one of them"]),
    ("seed = 3", "", ["c.toml:1: seed: found with --preset lesson"]),
    ("preset = 'radio'", "--threshold 3", ["c.toml:1: --threshold: found with --preset radio"]),
    ("flood = 4", "--preset radio --seed 3", ["c.toml:1: flood: found 4, above the seed of 3"]),
    ("preset = 'radio'\nfilter = 2", "", ["c.toml:2: filter: found '2'", "odd"]),
    ("preset = 'radio'\nbox = '1,2'", "", ["c.toml:2: box: found '1,2'"]),
    # No TOML, or more of it than options need.
    ("kappa", "", ["c.toml:1: found 'kappa'", "key = value"]),
    ("kappa 3", "", ["c.toml:1: found 'kappa 3'"]),
    ("= 3", "", ["c.toml:1: found '= 3'"]),
    ("[find]\nkappa = 3", "", ["c.toml:1: found the table '[find]'"]),
    ("find.kappa = 3", "", ["c.toml:1: found 'find.kappa = 3'"]),
    ("labels = 'a.fits", "", ["c.toml:1: labels: ", "expected a closing '"]),
    ('labels = "a.fits\n"', "", ["c.toml:1: labels: ", 'expected a closing "']),
    ('labels = """a.fits', "", ["c.toml:1: labels: ", 'expected a closing "']),
    ("labels = 'é' 4", "", ["c.toml:1: labels: found '4' after the value"]),
    (r'labels = "\\" 4', "", ["c.toml:1: labels: found '4' after the value"]),
    ("kappa = 3\n\n[[find]]", "", ["c.toml:3: found the table '[[find]]'"]),
    ("kappa = 3\nseed", "", ["c.toml:2: found 'seed'; expected a line of the form key = value"]),
    ("output = [ # one\n 'a.csv',\n é]", "", ["c.toml:3: output: found 'é]'"]),
    ("output = [\n'kappa = 3',\n['a.csv']]", "", ["c.toml:3: output: found '['a.csv']]'"]),
    ("é = 1", "", ["c.toml:1: found 'é = 1'; expected a line of the form key = value"]),
    ("kappa = é", "", ["c.toml:1: kappa: found 'é'"]),
    ("kappa = 3\n[?", "", ["c.toml:2: found the table '[?'"]),
    ("output = ['a.csv' 'b.csv']", "", ["c.toml:1: output: "]),
    ("\x00", "", ["c.toml:1: "]),
]

#: For every command: words that change what it does, and those that cannot stand in a file.
SAMPLES = [
    ("find", "image.fits", "--kappa 2.5 --threshold 0.125 --about median --connectivity 8 --json"),
    ("find", "image.fits", "--level -1e-3 --min-pixels 2 -o a.csv --output b.fits"),
    ("find", "image.fits", "--preset sextractor --cell 16x8 --rms 0.5 --negative --hdu 0 --json"),
    ("find", "image.fits", "--preset radio --components a.csv --components b.ecsv --deblend on --shape free --json"),
    ("stats", "image.fits", "--kappa 1.5 --max-passes 2 --json --threads 1"),
    ("label", "image.fits", "--level 1 -o labels.fits --quiet"),
    ("convolve", "image.fits", "--gaussian 1.5 --size 5 --nan interpolate -o out.fits"),
    ("simulate sky", "", "--width 64 --height 48 --seed 18446744073709551615 -o sky.fits"),
    ("simulate diracs", "", "--size 32 --spacing 4 --type float32 -o grid.fits"),
    ("view", "image.fits", "--min 0 --max 5 --scale linear --flip --axes none -o a.png"),
    ("compare", "one.csv two.csv", "--pixels 2 --columns1 x=x_cen,y=y_cen --min-flux1 0.5 --json"),
    ("info", "", "--json"),
    ("bench", "", "--size 16 --repeats 1 --on serial --quiet"),
    ("primes", "", "--upto 30 --count"),
]


def default_lines(dumped):
    """The options that were not given and have one default, as lines of a configuration."""
    lines = re.findall(r"^#([a-z0-9-]+ = .*)$", dumped, re.MULTILINE)
    return [line for line in lines if not line.endswith("# no fixed default")]


class ConfigTestCase(AppTestCase):
    def setUp(self):
        super().setUp()
        rows = [[float((7 * x + 3 * y) % 5) for x in range(40)] for y in range(30)]
        for y, x in ((5, 6), (5, 7), (20, 30), (21, 31)):
            rows[y][x] = 50.0
        fits_files.write(self.folder / "image.fits", rows)

    def config(self, text, name="c.toml"):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run_words(self, words):
        """Results and files, of a run in a folder that has only the inputs."""
        before = set(self.files())
        done = command.run(*words, cwd=self.folder)
        self.assert_done(done)
        made = {}
        for name in sorted(set(self.files()) - before):
            made[name] = (self.folder / name).read_bytes()
            (self.folder / name).unlink()
        return done.stdout, done.stderr, made

    def dump(self, *words):
        done = command.run(*words, "--dump-config", cwd=self.folder)
        self.assert_done(done)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()


class TestConfig(ConfigTestCase):
    """A file gives options as the command line does; what is typed wins."""

    def test_what_cannot_be_taken_is_refused(self):
        values = [(text, "", [f"c.toml:1: {text.split()[0]}: found {found}", expected])
                  for text, found, expected in WRONG_VALUES]
        for text, words, says in values + REFUSED:
            with self.subTest(text):
                self.config(text)
                line = ["find", "image.fits", "--config", "c.toml", *words.split()]
                self.assert_refused(2, *line, says=says, cwd=self.folder)

    def test_what_is_not_utf8(self):
        for text, line in ((b"# \xff\nkappa = 3\n", 1), (b"kappa = 3\n# caf\xe9\n", 2),
                           (b"kappa = 3\nunit = 'Jy\xc3'", 2)):
            self.config(text)
            self.assert_refused(2, "find", "image.fits", "--config", "c.toml",
                                says=[f"c.toml:{line}: found bytes that are not UTF-8"], cwd=self.folder)

    def test_files_that_cannot_be_read(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        (self.folder / "large").write_bytes(b"#" * (2**20 + 1))
        for name in ("nosuch.toml", "folder", "pipe", "large", "/dev/zero"):
            says = [f"{name}: ", "TOML"]
            self.assert_refused(1, "info", "--config", name, says=says, cwd=self.folder)

    def test_the_option_itself(self):
        self.config("")
        for words in ("--config", "--config c.toml --config c.toml", "--dump-config --dump-config"):
            with self.subTest(words):
                self.assert_refused(2, "info", *words.split(), cwd=self.folder)
        self.assert_refused(2, "info", "--config", "", cwd=self.folder)
        for words in ("--config=c.toml", "--json --config c.toml"):
            self.assert_done(command.run("info", *words.split(), cwd=self.folder))
        # The value of another option, and what stands behind --, are not it.
        self.assert_refused(1, "info", "--", "--config", cwd=self.folder)
        self.assert_done(command.run("info", "--config", "nosuch", "--help", cwd=self.folder))

    def test_values_of_the_file_are_used(self):
        wanted = command.json_of("stats", "image.fits", "--kappa", "1.5", cwd=self.folder)
        for text in (
            "kappa = 1.5\njson = true",
            "\r\n  kappa\t=\t1.5  # '\"\r\njson=true\r\n",
            "'kappa' = 15e-1\n\"json\" = true",
            "kappa = +1.5E+0_0\nmax-passes = 0\njson = true\nquiet = false",
            "# kappa = 4\nkappa = 1.500\njson = true # at the end",
            "\ufeffmax-passes = 0x0\nkappa = 1.5\njson = true",
        ):
            with self.subTest(text):
                self.config(text)
                done = command.run("stats", "image.fits", "--config", "c.toml", cwd=self.folder)
                self.assert_done(done)
                self.assertEqual(json.loads(done.stdout), wanted)

    def test_what_is_typed_wins(self):
        self.config("kappa = 2\nmax-passes = 1\nthreads = 1\noutput = ['a.csv', 'b.csv']\n")
        words = ["find", "image.fits", "--config", "c.toml", "--json"]
        done = command.run(*words, "--kappa=3", "-oc.csv", cwd=self.folder)
        self.assert_done(done)
        clipped = json.loads(done.stdout)["clipped"]
        self.assertEqual((clipped["kappa"], clipped["passes"]), (3.0, 1))
        self.assertEqual(self.files(), ["c.csv", "c.toml", "image.fits"])

    def test_texts_arrive_as_they_are_written(self):
        for text, name in (
            ("'a#b, c.csv' # comment", "a#b, c.csv"),
            ('"a#b\\u00e9\\"\\\\.csv"', 'a#bé"\\.csv'),
            ("'é[1].csv'", "é[1].csv"),
            ('"""\\\n  a.csv"""', "a.csv"),
            ("'''", None),
            ("'--json.csv'", "--json.csv"),
        ):
            with self.subTest(text):
                self.config(f"output = [{text}\n]")
                words = ["find", "image.fits", "--config", "c.toml", "--quiet"]
                if name is None:
                    self.assert_refused(2, *words, cwd=self.folder)
                    continue
                _, _, made = self.run_words(words)
                self.assertEqual(list(made), [name])

    def test_lists(self):
        for text, wanted in (
            ("['a.csv', 'b.csv']", ["a.csv", "b.csv"]),
            ("[ # two\n 'a.csv' , # one\n\n 'b.csv',\n]", ["a.csv", "b.csv"]),
            ("'a.csv'\n", ["a.csv"]),
            ("[]\n", []),
        ):
            self.config(f"output = {text}")
            _, _, made = self.run_words(["find", "image.fits", "--config", "c.toml", "--quiet"])
            self.assertEqual(list(made), wanted, text)

    def test_what_is_required_may_stand_in_the_file(self):
        self.config("output = 'labels.fits'")
        words = ["label", "image.fits", "--config", "c.toml"]
        self.assert_done(command.run(*words, cwd=self.folder))
        self.config("python = 'python3'")
        words = ["bench", "--config", "c.toml"]
        self.assert_refused(2, *words, says=["c.toml:1: python: "], cwd=self.folder)
        self.config("size = 3")
        words = "convolve image.fits -o a.fits --kernel lesson --config c.toml".split()
        self.assert_refused(2, *words, says=["c.toml:1: ", "found with"], cwd=self.folder)

    def test_provenance_names_what_was_used(self):
        self.config("kappa = 2.5\nconnectivity = 8\noutput = 'a.fits'\n")
        words = ["find", "image.fits", "--config", "c.toml", "--threshold", "4", "--quiet"]
        self.assert_done(command.run(*words, cwd=self.folder))
        texts = fits_files.read_hdus(self.folder / "a.fits")[1][1]
        text = "".join(card[8:].strip() for card in texts)
        for option in ("--kappa 2.5", "--threshold 4", "--connectivity 8"):
            self.assertIn(option.replace(" ", ""), text.replace(" ", ""))


class TestDumpConfig(ConfigTestCase):
    """What is printed is such a file, and means the same as the words."""

    def setUp(self):
        super().setUp()
        for name in ("one.csv", "two.csv"):
            done = command.run("find", "image.fits", "-o", name, cwd=self.folder)
            self.assert_done(done)

    def test_the_round_trip(self):
        for name, inputs, options in SAMPLES:
            words = [*name.split(), *inputs.split()]
            typed = options.split()
            with self.subTest(" ".join(words + typed)):
                dumped = self.dump(*name.split(), *typed)
                self.config(dumped)
                again = self.dump(*words, "--config", "c.toml")
                self.assertEqual(again, dumped)
                if name == "bench":
                    continue  # it prints times
                self.assertEqual(
                    self.run_words([*words, *typed]),
                    self.run_words([*words, "--config", "c.toml"]),
                )

    def test_the_defaults_are_the_defaults(self):
        for name, inputs, options in (
            ("find", "image.fits", "--json"),
            ("find", "image.fits", "--json --preset radio"),
            ("stats", "image.fits", "--json"),
            ("label", "image.fits", "-o labels.fits"),
            ("convolve", "image.fits", "--kernel lesson -o out.fits"),
            ("simulate sky", "", "-o sky.fits"),
            ("simulate diracs", "", "-o grid.fits"),
            ("view", "image.fits", "-o a.png"),
            ("primes", "", ""),
            ("info", "", ""),
        ):
            with self.subTest(name + " " + options):
                words = [*name.split(), *inputs.split(), *options.split()]
                lines = default_lines(self.dump(*words))
                self.assertGreater(len(lines), 2)
                # These cannot stand beside what they are instead of, given or not.
                apart = {"size"}
                if name == "find":
                    radio = "radio" in options
                    other = {"filter", "interpolation", "names", "noise", "rms-kind", "shape"}
                    apart |= {"threshold", "about"} if radio else other
                lines = [x for x in lines if x.split()[0] not in apart]
                self.config("\n".join(lines))
                self.assertEqual(
                    self.run_words(words), self.run_words([*words, "--config", "c.toml"])
                )

    def test_every_option_is_in_it(self):
        for words in command.topics():
            options = command.options_of(words)
            if not options:
                continue
            with self.subTest(words):
                dumped = self.dump(*words)
                keys = re.findall(r"^#?([a-z0-9-]+) = ", dumped, re.MULTILINE)
                wanted = {name[2:] for name in options} - {"config", "dump-config"}
                self.assertEqual(sorted(keys), sorted(wanted))
                for line in dumped.splitlines():
                    self.assertLessEqual(len(line), 100, line)

    @unittest.skipUnless(tomllib, "this Python has no tomllib (3.11) to read TOML with")
    def test_others_read_it(self):
        for name, _, options in SAMPLES:
            with self.subTest(name + " " + options):
                read = tomllib.loads(self.dump(*name.split(), *options.split()))
                given = re.findall(r"(?:^| )--([a-z0-9-]+)", options)
                given += ["output"] if "-o " in options else []
                self.assertEqual(sorted(read), sorted(set(given)))
        text = tomllib.loads(self.dump("find", "--labels", 'a"\\\t é.fits', "-o", "b.csv"))
        self.assertEqual(text, {"labels": 'a"\\\t é.fits', "output": ["b.csv"]})
        read = tomllib.loads(self.dump("stats", "--kappa", "+3", "--max-passes", "007"))
        self.assertEqual(read, {"kappa": 3, "max-passes": 7})

    def test_wrong_usage_is_still_wrong(self):
        for words in (
            "find --dump-config --kappa nan",
            "find --dump-config --seed 3",
            "find --dump-config --level 1 --threshold 1",
            "find --dump-config --nosuch",
            "stats --dump-config a.fits b.fits",
            "label --dump-config -o labels.csv",
            "simulate --dump-config",
            "--dump-config",
        ):
            with self.subTest(words):
                self.assert_refused(2, *words.split(), cwd=self.folder)


if __name__ == "__main__":
    command.main(__doc__)

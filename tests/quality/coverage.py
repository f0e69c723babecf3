# SPDX-License-Identifier: Apache-2.0
"""Sums up which lines of the library ran, from the counters that a build with KASTOR_COVERAGE leaves (gcov's format).

    python3 tests/quality/coverage.py build/sanitize-clang --at-least 90

A line of a template counts once, as run if any instantiation of it ran in any program. Lines that no host compiles (code
for devices) do not occur in the counters and do not count.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ("include/kastor", "src")
# "        5*:   12:  code", "    #####:   13:  code", "        -:   14:  a comment"
LINE = re.compile(r"\s*([-0-9#=]+)\*?:\s*(\d+):")


def in_library(source):
    """The path below the root of the repository, if it is one of the library's."""
    path = Path(os.path.normpath(source))
    if path.is_absolute() and path.is_relative_to(ROOT):
        relative = path.relative_to(ROOT).as_posix()
        if relative.startswith(tuple(folder + "/" for folder in LIBRARY)):
            return relative
    return None


def read_listing(lines, counts):
    """Adds the counts of one listing of gcov's to {source: {line: ran}}."""
    current = None
    for text in lines:
        matched = LINE.match(text)
        if not matched:
            continue
        count, number = matched.group(1), int(matched.group(2))
        if number == 0:
            tag = text[matched.end():]
            if tag.startswith("Source:"):
                source = in_library(tag[len("Source:"):].strip())
                current = counts.setdefault(source, {}) if source else None
        elif current is not None and count != "-":
            current[number] = current.get(number, False) or count[0].isdigit() and int(count) > 0


def listing_of(program, data):
    """gcov's listings for one object, those of the library's sources only."""
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([*program, "-t", str(data)], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(program)} {data} failed:\n{ended.stderr}")
    counts = {}
    read_listing(ended.stdout.splitlines(), counts)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path, help="a build folder with KASTOR_COVERAGE, its tests run")
    parser.add_argument("--at-least", type=float, default=0, help="fail below this [per cent]")
    parser.add_argument("--gcov", default="llvm-cov-19 gcov", help="for GCC's builds: gcov [llvm-cov-19 gcov]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lines", action="store_true", help="print the lines that did not run")
    options = parser.parse_args()

    data = sorted(options.build.resolve().rglob("*.gcda"))
    if not data:
        sys.exit(f"{options.build}: no counters (*.gcda); build with KASTOR_COVERAGE and run the tests first")
    total = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for counts in pool.map(lambda path: listing_of(options.gcov.split(), path), data):
            for source, lines in counts.items():
                mine = total.setdefault(source, {})
                for number, ran in lines.items():
                    mine[number] = mine.get(number, False) or ran
    known = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.cpp")}
    for source in sorted(known - total.keys()):
        print(f"{source}: no program of the tests links it")
    print("lines     ran  per cent")
    n_lines = n_ran = 0
    for source, lines in sorted(total.items()):
        ran = sum(lines.values())
        n_lines += len(lines)
        n_ran += ran
        if lines:
            print(f"{len(lines):5d}  {ran:6d}  {100 * ran / len(lines):7.1f}  {source}")
        missed = [str(number) for number, hit in sorted(lines.items()) if not hit]
        if options.lines and missed:
            print(f"                        not run: {' '.join(missed)}")
    share = 100 * n_ran / n_lines
    print(f"Coverage of the library by the tests: {n_ran} of {n_lines} lines, {share:.1f} %")
    if share < options.at_least:
        print(f"That is below {options.at_least:g} %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

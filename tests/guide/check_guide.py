# SPDX-License-Identifier: Apache-2.0
"""Checks that the C++ in the guide is what the compiler saw: check_guide.py PROJECT [GUIDE...].

Every ```cpp block of docs/*.md follows a line `<!-- example NAME of FILE -->` and is, but for the
common indentation, what stands in FILE between `// example-begin NAME` and `// example-end NAME`.
Every example of tests/guide is shown somewhere. Differences are printed; exit code 1 if there are any.
"""

import difflib
import pathlib
import re
import sys
import textwrap

NAMED = re.compile(r"<!-- example (\S+) of (\S+) -->")
MARK = re.compile(r"\s*// example-(begin|end) (\S+)\s*$")


def examples_of(path):
    """The marked parts of a source file by name, and what is wrong with the marks."""
    found, wrong, name, lines = {}, [], None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        mark = MARK.match(line)
        if mark is None:
            lines.append(line)
            continue
        begins, marked = mark.group(1) == "begin", mark.group(2)
        if begins == (name is not None) or (not begins and marked != name) or marked in found:
            wrong.append(f"{path}:{number}: a mark that does not fit: {line.strip()}")
        if begins:
            name, lines = marked, []
        else:
            found[marked] = textwrap.dedent("\n".join(lines)).splitlines()
            name = None
    if name is not None:
        wrong.append(f"{path}: the example {name} has no end")
    return found, wrong


def blocks_of(guide):
    """(line number, line before, lines) of every block of C++."""
    lines = guide.read_text().splitlines()
    start = None
    for number, line in enumerate(lines):
        if start is None and line.strip() == "```cpp":
            start = number
        elif start is not None and line.strip() == "```":
            yield start + 1, lines[start - 1] if start else "", lines[start + 1 : number]
            start = None


def check(project, guides):
    wrong, shown, cache = [], set(), {}

    def examples(file):
        if file not in cache:
            path = project / file
            cache[file], trouble = examples_of(path) if path.is_file() else ({}, [])
            wrong.extend(trouble)
        return cache[file]

    for guide in guides:
        for number, before, block in blocks_of(guide):
            where = f"{guide}:{number}"
            named = NAMED.fullmatch(before.strip())
            if named is None:
                wrong.append(f"{where}: C++ without an example to compare it with")
                continue
            name, file = named.groups()
            source = examples(file).get(name)
            if source is None:
                wrong.append(f"{where}: there is no example {name} in {file}")
                continue
            shown.add((file, name))
            difference = difflib.unified_diff(source, block, file, where, lineterm="")
            wrong.extend(difference)

    for path in sorted((project / "tests" / "guide").glob("*.cpp")):
        file = path.relative_to(project).as_posix()
        for name in examples(file):
            if (file, name) not in shown:
                wrong.append(f"{file}: the example {name} is nowhere in the guide")
    if not shown:
        wrong.append("the guide shows no example at all")
    return wrong


def main():
    project = pathlib.Path(sys.argv[1])
    guides = [pathlib.Path(name) for name in sys.argv[2:]]
    wrong = check(project, guides or sorted((project / "docs").glob("*.md")))
    print("\n".join(wrong) or "the guide shows what is compiled")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

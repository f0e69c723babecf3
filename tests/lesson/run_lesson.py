# SPDX-License-Identifier: Apache-2.0
"""Runs docs/lesson.md: run_lesson.py [--gpu | --stand-in] [--kastor PATH] [PAGE].

A block ```python WORD... is a cell; the words are what it needs. All cells share one namespace, and
run in order in a folder that was empty. Its output is compared with a block ```text behind it, if
there is one. Lines of ```console blocks that begin with $ go through bash, and print what is shown;
a last line ... stands for more. ```cpp blocks are compiled by tests/guide.

A cell whose needs are not here is compiled and skipped with a word; with --gpu that is a failure.
With --stand-in, NumPy and SciPy stand in for CuPy where it is not. With NUMBA_ENABLE_CUDASIM=1 in
the environment Numba runs its CUDA cells on the CPU, which takes minutes.

$KASTOR names the command. Any Python 3.11 may run this file: it goes on with the one that
$KASTOR_PEERS_PYTHON, else $KASTOR_PEERS_DEFAULT names. The exit code is 77 if that one has no NumPy
and SciPy, or 1 where $KASTOR_REQUIRE_PEERS is set.
"""

import argparse
import contextlib
import dataclasses
import importlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import types

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
MORE = "..."


@dataclasses.dataclass
class Block:
    """A fenced block: the line of its fence, the words behind it, and its lines."""

    number: int
    words: list[str]
    lines: list[str]


def blocks_of(text):
    found, block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if block is None and line.startswith("```"):
            block = Block(number, line[3:].split(), [])
        elif line == "```":
            found.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
    return found


def missing(word):
    """Why a cell that needs this cannot run here; None if it can."""
    modules = {"numpy": ["numpy", "scipy"], "cuda": ["numba"]}.get(word, [word])
    for module in modules:
        if module not in sys.modules and importlib.util.find_spec(module) is None:
            return f"no package {module}"
    if word == "cuda":
        try:
            return None if importlib.import_module("numba.cuda").is_available() else "no GPU"
        except ImportError as error:
            return str(error)
    if word == "cupy" and "stand_in" not in vars(importlib.import_module("cupy")):
        try:
            importlib.import_module("cupy").zeros(1)
        except Exception as error:  # whatever a missing driver leads to
            return f"CuPy cannot use a GPU: {error}"
    return None


def stand_in_for_cupy():
    """NumPy and SciPy by the names of CuPy."""
    import numpy
    from scipy import ndimage, signal

    cupy = types.ModuleType("cupy")
    vars(cupy).update({name: getattr(numpy, name) for name in dir(numpy) if not name.startswith("__")})
    cupy.stand_in = True
    cupy.asnumpy = numpy.asarray
    cupy.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(deviceSynchronize=lambda: None))
    inner = types.ModuleType("cupyx.scipy")
    inner.ndimage, inner.signal = ndimage, signal
    outer = types.ModuleType("cupyx")
    outer.scipy = inner
    sys.modules.update({"cupy": cupy, "cupyx": outer, "cupyx.scipy": inner})


def difference(printed, shown):
    """None if the lines are those shown."""
    printed, shown = [[line.rstrip() for line in lines] for lines in (printed, shown)]
    if shown and shown[-1].strip() == MORE:
        shown = shown[:-1]
        printed = printed[: len(shown)]
    if printed == shown:
        return None
    return "\n  ".join(["printed:", *printed, "shown:", *shown])


class Lesson:
    def __init__(self, page, kastor):
        self.page = page
        self.blocks = blocks_of(page.read_text(encoding="utf-8"))
        self.space = {"__name__": "lesson"}
        self.environment = dict(os.environ)
        if kastor:
            self.environment["PATH"] = f"{pathlib.Path(kastor).resolve().parent}{os.pathsep}{os.environ['PATH']}"
        self.ran = self.commands = 0
        self.skipped, self.wrong, self.slow = [], [], []

    def fail(self, number, what):
        self.wrong.append(f"{self.page}:{number}: {what}")
        print(self.wrong[-1], flush=True)

    def cell(self, block, shown):
        source = "\n" * block.number + "\n".join(block.lines)  # tracebacks then name the page's lines
        code = compile(source, str(self.page), "exec")
        trouble = [why for why in map(missing, block.words[1:]) if why]
        if {"kastor", "cupy"} <= set(block.words) and not trouble and "cuda" not in self.space["kastor"].backends():
            trouble = [] if "stand_in" in vars(sys.modules["cupy"]) else ["Kastor has no backend cuda here"]
        if trouble:
            self.skipped.append(f"{self.page.name}:{block.number}: {' '.join(block.words)}: {trouble[0]}")
            print("skipped", self.skipped[-1], flush=True)
            return
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, self.space)
        except Exception:
            self.fail(block.number, traceback.format_exc())
            return
        self.ran += 1
        if shown is None:
            print(printed.getvalue(), end="")
        elif trouble := difference(printed.getvalue().splitlines(), shown.lines):
            self.fail(block.number, trouble)

    def console(self, block):
        """Each line with $ and what follows until the next one."""
        examples = []
        for line in block.lines:
            if line.startswith("$ "):
                examples.append((line[2:], []))
            else:
                examples[-1][1].append(line)
        for line, shown in examples:
            done = subprocess.run(["bash", "-c", "exec 2>&1\n" + line], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, check=False, env=self.environment)
            trouble = difference(done.stdout.splitlines(), shown)
            if done.returncode != 0 or trouble:
                self.fail(block.number, f"{line}: code {done.returncode}, {trouble or done.stdout}")
            self.commands += 1

    def run(self):
        for block, after in zip(self.blocks, [*self.blocks[1:], None]):
            language = block.words[0] if block.words else ""
            start = time.perf_counter()
            if language == "python":
                self.cell(block, after if after is not None and after.words == ["text"] else None)
            elif language == "console":
                self.console(block)
            elif language not in ("cpp", "text"):
                self.fail(block.number, f"a block of '{language}'; expected python, console, text or cpp")
            self.slow.append((time.perf_counter() - start, block.number))
            if self.wrong:
                return  # what follows needs it


def to_python_with_packages():
    """Goes on with the Python that the environment names, and leaves if that has no NumPy."""
    other = os.environ.get("KASTOR_PEERS_PYTHON") or os.environ.get("KASTOR_PEERS_DEFAULT", "")
    if os.access(other, os.X_OK) and not os.environ.get("KASTOR_PEERS_FOUND"):
        os.environ["KASTOR_PEERS_FOUND"] = "1"
        os.execv(other, [other, *sys.argv])
    if missing("numpy"):
        required = os.environ.get("KASTOR_REQUIRE_PEERS")
        print(f"{'failed' if required else 'skipped'}: {sys.executable}: {missing('numpy')}")
        sys.exit(1 if required else SKIPPED)
    if missing("kastor"):
        sys.exit("found no package kastor; expected the folder python of the build on the PYTHONPATH")


def main():
    parser = argparse.ArgumentParser(description="Runs the cells of docs/lesson.md and compares what they print.")
    parser.add_argument("--gpu", action="store_true", help="fail if a cell is skipped")
    parser.add_argument("--stand-in", action="store_true", help="run CuPy's cells with NumPy where CuPy is not")
    parser.add_argument("--kastor", default=os.environ.get("KASTOR"), help="the command; default: $KASTOR, else of the PATH")
    parser.add_argument("page", nargs="?", type=pathlib.Path, default=PROJECT / "docs" / "lesson.md")
    arguments = parser.parse_args()
    to_python_with_packages()
    if arguments.stand_in and not arguments.gpu and missing("cupy"):
        stand_in_for_cupy()
        print("NumPy stands in for CuPy")
    lesson = Lesson(arguments.page.resolve(), arguments.kastor)
    with tempfile.TemporaryDirectory(prefix="kastor-lesson-") as folder, contextlib.chdir(folder):
        start = time.perf_counter()
        lesson.run()
    seconds, number = max(lesson.slow)
    print(f"{lesson.ran} cells and {lesson.commands} commands ran in {time.perf_counter() - start:.1f} s "
          f"({seconds:.1f} s for line {number}); {len(lesson.skipped)} cells skipped, {len(lesson.wrong)} failed")
    return 1 if lesson.wrong or (arguments.gpu and lesson.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())

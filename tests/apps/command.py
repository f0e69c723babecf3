# SPDX-License-Identifier: Apache-2.0
"""Runs the command and checks what every run has to keep."""

import argparse
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

#: Path of the command under test; set by `main()`.
KASTOR = "kastor"

#: Seconds after which a run counts as hanging.
TIMEOUT = 120


def run(*arguments, **options):
    """The finished process; its output is bytes."""
    return run_program([KASTOR, *map(os.fspath, arguments)], **options)


def peak_memory(*arguments):
    """The most memory that a run that succeeds had [byte]."""
    words = [KASTOR, *map(os.fspath, arguments)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise AssertionError(f"{arguments}: exit {process.returncode}")
    return usage.ru_maxrss * 1024


def run_line(line, cwd, env=None):
    """The finished process of a line as typed into a shell."""
    path = f"{pathlib.Path(KASTOR).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return run_program(["bash", "-c", line], cwd=cwd, env={"PATH": path, **(env or {})})


def run_program(words, stdout=subprocess.PIPE, cwd=None, env=None, timeout=TIMEOUT):
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=timeout,
        check=False,
    )


def hold(process, at_work):
    """Keeps the process at work for longer than a second, however fast the machine is.

    `at_work()` tells by what the process has written that it began. It is stopped twice, since its
    clock may not have been set before the first time.
    """
    deadline = time.monotonic() + TIMEOUT
    while not at_work():
        if process.poll() is not None or time.monotonic() > deadline:
            return  # what it wrote says why
        time.sleep(0.001)
    for _ in range(2):
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.1)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.05)


def on_terminal(arguments, cwd=None, at_work=None):
    """What a run that succeeds writes to a terminal as its stderr.

    With `at_work`, which tells by what the run has written that it is at work, it takes longer than
    a second.
    """
    watched, end = pty.openpty()
    process = subprocess.Popen(
        [KASTOR, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=end, cwd=cwd
    )
    os.close(end)
    if at_work:
        hold(process, at_work)
    seen = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while piece := os.read(watched, 4096):
            seen += piece
    os.close(watched)
    if process.wait() != 0:
        raise AssertionError(f"{arguments}: exit {process.returncode}: {seen!r}")
    return seen


@contextlib.contextmanager
def small_disk(folder, case):
    """A file system of 64 KiB in that folder; without the right to mount one, `case` is skipped."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        case.skipTest("a small file system can only be mounted by root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def topics():
    """The words of every command that has a help, from () for kastor itself on."""

    def with_parts(words):
        yield words
        text = run(*words, "--help").stdout.decode()
        listed = re.search(r"^(?:Subcommands|Kinds):\n((?:  .*\n)+)", text, re.MULTILINE)
        for line in listed.group(1).splitlines() if listed else ():
            yield from with_parts((*words, line.split()[0]))

    return list(with_parts(()))


def options_of(words):
    """Names of the options in a help, long as in --output, with the labels of their values."""
    text = run(*words, "--help").stdout.decode()
    pattern = r"^  (?:-\w,)?(--[a-z0-9-]+)(?: (\S+))?(?:\s|$)"
    found = re.findall(pattern, text[: text.find("\nExample:")], re.MULTILINE)
    return dict(found)


def main(doc):
    """Of a script: python3 SCRIPT --kastor PATH [unittest's arguments]."""
    global KASTOR
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--kastor", required=True, metavar="PATH", help="the command under test")
    options, rest = parser.parse_known_args()
    KASTOR = str(pathlib.Path(options.kastor).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


def json_of(*arguments, **options):
    """The one JSON object on stdout."""
    done = run(*arguments, "--json", **options)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stderr.decode()}")
    lines = done.stdout.decode().splitlines()
    if len(lines) != 1:
        raise AssertionError(f"{arguments}: {len(lines)} lines on stdout, expected one JSON object")
    return json.loads(lines[0])


def test_data():
    """Folder of real images; it need not exist."""
    default = pathlib.Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
    return pathlib.Path(os.environ.get("KASTOR_TEST_DATA") or default)


def backends():
    """Names of the usable backends."""
    return [b["name"] for b in json_of("info")["backends"] if b["usable"]]


class AppTestCase(unittest.TestCase):
    """Each test has an empty folder of its own, `self.folder`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kastor-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))

    def assert_refused(self, code, *arguments, says=(), **options):
        """The run fails with `code` and one line, and leaves the folder as it was."""
        before = self.files()
        done = run(*arguments, **options)
        complaint = done.stderr.decode(errors="replace")
        what = f"kastor {' '.join(map(str, arguments))}: exit {done.returncode}: {complaint}"
        self.assertEqual(done.returncode, code, what)
        self.assertFalse(done.stdout, what)
        self.assertTrue(complaint.startswith("kastor: "), what)
        self.assertTrue(complaint.endswith("\n"), what)
        self.assertEqual(len(complaint.splitlines()), 1, what)
        for words in says:
            self.assertIn(words, complaint)
        self.assertEqual(self.files(), before, what)
        return complaint

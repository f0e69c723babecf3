# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over src and apps, with the checks of .clang-tidy.

    python3 tests/quality/tidy.py build/sanitize-clang

Nearly all the time of clang-tidy goes into the headers of others, so several sources of one target are looked at as one.
Where that does not compile, because two of them give one name to two things, each is looked at alone.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tool_arguments(command):
    """The compiler's arguments of one entry of the compile database, without what names its input and output."""
    arguments = shlex.split(command)
    kept = []
    skip = False
    for argument in arguments[1:]:
        if skip or argument in ("-o", "-c"):
            skip = argument in ("-o", "-c") and not skip
            continue
        if not argument.startswith(("-fsanitize", "-fno-sanitize", "--coverage")):
            kept.append(argument)
    return arguments[0], (*kept, "-Wno-macro-redefined")  # each source of the core has its KASTOR_INSTANTIATE


def groups_of(build, size):
    """Lists of (arguments, sources): sources compiled alike, `size` at most."""
    alike = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        sources = [Path(entry["file"])]
        if sources[0].parent.name == "united":  # by KASTOR_UNITE_SOURCES
            lines = sources[0].read_text().splitlines()
            sources = [Path(line.split('"')[1]) for line in lines if line.startswith("#include")]
        output = re.search(r"CMakeFiles/(\w+)\.dir/", entry["command"])
        sources = [path for path in sources
                   if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ("src", "apps")]
        if output.group(1).endswith("_tests"):
            continue  # compiled for the command as well
        alike.setdefault((output.group(1), *tool_arguments(entry["command"])), []).extend(sources)
    groups = []
    for (target, compiler, arguments), sources in alike.items():
        sources.sort()
        for first in range(0, len(sources), size):
            groups.append((f"{target}_{len(groups)}", compiler, arguments, sources[first:first + size]))
    return groups


def write_group(folder, name, compiler, arguments, sources):
    source = folder / f"{name}.cpp"
    source.write_text("".join(f'#include "{path}"  // NOLINT\n' for path in sources))
    return {"directory": str(folder), "file": str(source), "arguments": [compiler, *arguments, "-c", str(source)]}


def tidy(program, folder, sources):
    """The exit status and the output of clang-tidy on these sources."""
    ended = subprocess.run([program, "-p", str(folder), "--quiet", *map(str, sources)], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    return ended.returncode, ended.stdout


def check_group(program, folder, name, sources):
    status, output = tidy(program, folder, [folder / f"{name}.cpp"])
    if "[clang-diagnostic-error" in output:
        print(f"{name}: does not compile as one; each source alone", flush=True)
        status, output = tidy(program, folder, [folder / f"{name}_{i}.cpp" for i in range(len(sources))])
    if status != 0 and ": error:" not in output:
        output += f"{name}:0:0: error: clang-tidy ended with {status}"
    (folder / f"{name}.log").write_text(output)
    return status, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path, help="a configured build folder of clang's")
    parser.add_argument("--clang-tidy", default="clang-tidy-19")
    parser.add_argument("--group", type=int, default=30, help="sources looked at as one, at most [30]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only groups whose name has this in it")
    options = parser.parse_args()

    build = options.build.resolve()
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    groups = [group for group in groups_of(build, options.group) if options.only in group[0]]
    if not groups:
        sys.exit(f"{build}/compile_commands.json names no source of src or apps")
    alone = [(f"{name}_{i}", compiler, arguments, [source])
             for name, compiler, arguments, sources in groups for i, source in enumerate(sources)]
    (folder / "compile_commands.json").write_text(
        json.dumps([write_group(folder, *group) for group in [*groups, *alone]]))
    # clang-tidy looks for its settings beside the source and above.
    (folder / ".clang-tidy").write_text((ROOT / ".clang-tidy").read_text())

    started = time.monotonic()
    findings = {}
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(check_group, options.clang_tidy, folder, name, sources)
                for name, _, _, sources in groups]
        for job in jobs:
            status, output = job.result()
            failed += status != 0
            for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning):)", output):
                findings.setdefault(finding.strip().split("\n", 1)[0], finding.strip())
    for finding in findings.values():
        if finding:
            print(finding)
    n_sources = sum(len(sources) for *_, sources in groups)
    print(f"clang-tidy: {n_sources} sources in {time.monotonic() - started:.0f} s, "
          f"{sum(': error:' in first for first in findings)} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

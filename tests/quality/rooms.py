# SPDX-License-Identifier: Apache-2.0
"""Holds the rules of the rooms of the library: what may stand where, and how long a file may be; and which sources
include Kokkos.

    python3 tests/quality/rooms.py SOURCE_FOLDER
"""
import re
import sys
from pathlib import Path

ROOMS = ("core", "threshold", "label", "measure", "sigma_clip", "source_finder", "background", "islands", "convolve",
         "simulate", "primes", "constant_fill", "kron", "deblend", "fit", "aperture")
# A room may include the private headers of these, besides its own and those of core.
USES = {"source_finder": {"sigma_clip", "threshold", "label", "measure"}, "islands": set(), "measure": set(), "kron": {"islands"},
        "deblend": {"islands"}, "fit": {"islands"}, "aperture": {"islands"}}
LONGEST_FILE = 450
LONGEST_FUNCTION = 60
ASKS_WHERE_IT_RUNS = re.compile(r"is_host_space_v|runs_on_host_v|KOKKOS_IF_ON_(HOST|DEVICE)|__CUDA_ARCH__|__CUDACC__|"
                                r"Kokkos::Impl|KOKKOS_ENABLE_|\basm\b|__shfl|__ballot|__syncthreads|immintrin")
INTRINSICS = re.compile(r"__CUDA_ARCH__|Kokkos::Impl|\basm\b|__shfl|__ballot|__syncthreads")


def functions_of(lines):
    """(first line, length) of what stands between braces at the level of a function: a header of the file or a class."""
    depth = 0
    opened = []
    for number, line in enumerate(lines, 1):
        code = re.sub(r"//.*|\"(\\.|[^\"])*\"", "", line)
        for character in code:
            if character == "{":
                opened.append((number, code))
                depth += 1
            elif character == "}" and opened:
                start, header = opened.pop()
                depth -= 1
                is_function = re.search(r"\)\s*(const)?\s*(noexcept)?\s*(requires.*)?\{", header) or header.strip() == "{"
                if is_function and not re.search(r"\b(namespace|struct|class|enum|union)\b", header):
                    yield start, number - start + 1


def kokkos_header_of(path, root, seen):
    """The header of Kokkos that a source includes, itself or by a header of the project; None if there is none."""
    for name in re.findall(r'^#include [<"](.*?)[>"]', path.read_text(), re.MULTILINE):
        if name.startswith("Kokkos"):
            return name
        for folder in (root / "include", root / "src"):
            if (header := folder / name).is_file() and header not in seen:
                seen.add(header)
                if found := kokkos_header_of(header, root, seen):
                    return found
    return None


def findings_in_list_of_kokkos_sources(root):
    """A CUDA build compiles the sources of kastor_io as CUDA that CMakeLists.txt lists, and the others as plain C++."""
    listed = re.search(r"set\(kokkos_io_sources(.*?)\)", (root / "CMakeLists.txt").read_text(), re.DOTALL)[1].split()
    for path in sorted((root / "src" / "io").rglob("*.cpp")):
        name = str(path.relative_to(root / "src" / "io").with_suffix(""))
        found = kokkos_header_of(path, root, set())
        if found and name not in listed:
            yield f"src/io/{name}.cpp: includes {found}; expected none, or its name in kokkos_io_sources of CMakeLists.txt"
        if not found and name in listed:
            yield f"CMakeLists.txt: {name} in kokkos_io_sources; expected only sources that include Kokkos"


def findings(root):
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        room = path.relative_to(root / "src").parts[0]
        if room == "io":
            continue
        lines = path.read_text().splitlines()
        where = path.relative_to(root)
        if len(lines) > LONGEST_FILE:
            yield f"{where}: {len(lines)} lines; expected at most {LONGEST_FILE}"
        for start, length in functions_of(lines):
            if length > LONGEST_FUNCTION:
                yield f"{where}:{start}: a function of {length} lines; expected at most {LONGEST_FUNCTION}"
        for number, line in enumerate(lines, 1):
            if room != "core" and (found := ASKS_WHERE_IT_RUNS.search(line)):
                yield f"{where}:{number}: {found[0]}; outside of src/core nothing asks where it runs"
            if room == "core" and path.name != "intrinsics.hpp" and (found := INTRINSICS.search(line)):
                yield f"{where}:{number}: {found[0]}; that stands in src/core/intrinsics.hpp alone"
            if found := re.match(r'#include "(\w+)/', line):
                other = found[1]
                if other in ROOMS and other not in ("core", room) and other not in USES.get(room, set()):
                    yield f"{where}:{number}: includes the room {other}; expected core or its own"
                if room == "core" and other != "core":
                    yield f"{where}:{number}: core includes {other}"
    yield from findings_in_list_of_kokkos_sources(root)
    headers = list((root / "include" / "kastor" / "detail").glob("*.hpp"))
    if len(headers) > 12:
        yield f"include/kastor/detail: {len(headers)} headers; expected at most 12"


def main():
    found = list(findings(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "the rooms keep their rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Reads Dockerfiles and definition files of Apptainer, as far as Kastor's go."""

import re

INSTRUCTIONS = "ARG CMD COPY ENTRYPOINT ENV FROM RUN WORKDIR".split()
SECTIONS = "arguments environment files help post runscript test".split()


def read_dockerfile(text):
    """[(instruction, rest)], comments left out and continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    steps = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        instruction, _, rest = line.partition(" ")
        if instruction not in INSTRUCTIONS or not rest:
            raise ValueError(f"'{line}'; expected one of {INSTRUCTIONS} and what it is about")
        steps.append((instruction, rest.strip()))
    return steps


def stages_of(steps):
    """The steps before the first FROM, and those of each stage."""
    stages = [[]]
    for step in steps:
        if step[0] == "FROM":
            stages.append([])
        stages[-1].append(step)
    return stages


def commands(steps):
    """The commands of the RUN steps, one by one."""
    return [part.strip() for name, rest in steps if name == "RUN" for part in rest.split("&&")]


def read_definition(text):
    """[{"header": {...}, section: (its arguments, [lines])}], one for each stage."""
    stages = []
    lines = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        header = re.fullmatch(r"(Bootstrap|From|Stage): (.+)", line)
        section = re.fullmatch(r"%([a-z]+)(?: (.+))?", line)
        if header:
            if header[1] == "Bootstrap":
                stages.append({"header": {}})
            stages[-1]["header"][header[1]] = header[2]
        elif section:
            if section[1] not in SECTIONS or section[1] in stages[-1]:
                raise ValueError(f"'{line}'; expected each of {SECTIONS} once at most in a stage")
            lines = []
            stages[-1][section[1]] = (section[2], lines)
        elif line.startswith("    ") and lines is not None:
            lines.append(line.strip())
        else:
            raise ValueError(f"'{line}'; expected a header, a section or an indented line")
    return stages

# SPDX-License-Identifier: Apache-2.0
"""The #SBATCH lines of a job script, and what the manual of sbatch allows of them."""

import re

TIME = r"\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+(:\d\d){0,2}"

# The options in use here, by their long names; None: takes no value.
ALLOWED = {
    "array": r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*(%\d+)?",
    "cpus-per-task": r"[1-9]\d*",
    "gres": r"gpu(:[a-z][a-z0-9_]*)?(:[1-9]\d*)?",
    "hint": r"compute_bound|memory_bound|(no)?multithread",
    "job-name": r"[A-Za-z0-9_.-]+",
    "mem": r"\d+[KMGT]?",
    "nodes": r"[1-9]\d*(-[1-9]\d*)?",
    "ntasks": r"[1-9]\d*",
    "open-mode": r"append|truncate",
    "output": r"([A-Za-z0-9_./-]|%[0-9]*[AaJjNnstuxb])+",
    "requeue": None,
    "time": TIME,
}


def directives(text):
    """[(option, value or None)] as sbatch reads them: up to the first line that is a command."""
    found = []
    lines = text.splitlines()
    for line in lines[1:]:
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith("#SBATCH"):
            words = line.split()
            if len(words) != 2 or not words[1].startswith("--"):
                raise ValueError(f"'{line}'; expected #SBATCH --option or --option=value")
            option, _, value = words[1][2:].partition("=")
            found.append((option, value or None))
    if len(found) != sum(line.startswith("#SBATCH") for line in lines):
        raise ValueError("an #SBATCH line below the first command, which sbatch does not read")
    return found


def check(found):
    """Raises ValueError for an option that is not allowed, is given twice or has a wrong value."""
    seen = set()
    for option, value in found:
        if option not in ALLOWED:
            raise ValueError(f"--{option}: no option of sbatch that these scripts use")
        if option in seen:
            raise ValueError(f"--{option}: given twice")
        seen.add(option)
        pattern = ALLOWED[option]
        if (value is None) != (pattern is None) or (pattern and not re.fullmatch(pattern, value)):
            raise ValueError(f"--{option}={value}; expected {pattern or 'no value'}")

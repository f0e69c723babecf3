# SPDX-License-Identifier: Apache-2.0
"""Chooses the compiled module for the instructions that this processor has. All modules have the same bits."""

from __future__ import annotations

import importlib.util
import os
import sys

#: What x86-64-v3 has beyond any x86-64 (x86-64 psABI, "Micro-Architecture Levels"), as Linux spells it.
V3 = {
    "abm",
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "cx16",
    "f16c",
    "fma",
    "lahf_lm",
    "movbe",
    "popcnt",
    "sse4_1",
    "sse4_2",
    "ssse3",
    "xsave",
}


def processor_flags(text: str) -> set[str]:
    """The flags of the first processor in the text of /proc/cpuinfo."""
    return next((set(line.split(":", 1)[1].split()) for line in text.splitlines() if line.startswith("flags")), set())


def has_v3() -> bool:
    """Whether this processor is of the level x86-64-v3, and KASTOR_INSTRUCTIONS does not say ``x86-64``."""
    if os.environ.get("KASTOR_INSTRUCTIONS") == "x86-64":
        return False
    try:
        with open("/proc/cpuinfo") as file:
            return processor_flags(file.read()) >= V3
    except OSError:
        return False


def load() -> str:
    """Imports the module as `kastor._kastor`, and returns the level of its instructions."""
    path = os.path.join(os.path.dirname(__file__), "x86_64_v3", "_kastor.abi3.so")
    if not os.path.exists(path) or not has_v3():
        return "x86-64"
    name = f"{__package__}._kastor"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        return "x86-64"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    sys.modules[__package__]._kastor = module
    return "x86-64-v3"


level = load()

# SPDX-License-Identifier: Apache-2.0
"""Tests that need the packages of requirements.txt: run_peer_tests.py MODULE [unittest's arguments].

Any Python 3 may run this file: it goes on with the one that $KASTOR_PEERS_PYTHON names, else
$KASTOR_PEERS_DEFAULT, which ctest sets: the one that has the packages. Where that one is missing or incomplete the exit code is 77 (skipped), or 1 where
$KASTOR_REQUIRE_PEERS is set. The modules lie beside this file; $KASTOR_SAMPLES names the program
that writes their samples.
"""

import importlib
import importlib.util
import os
import pathlib
import sys
import unittest

SKIPPED = 77

sys.dont_write_bytecode = True  # the source tree stays clean

PACKAGES = ("numpy scipy astropy regions skimage sep photutils matplotlib jinja2 yaml jsonschema check_jsonschema "
            "reuse").split()


def leave(why):
    required = os.environ.get("KASTOR_REQUIRE_PEERS")
    print(f"{'failed' if required else 'skipped'}: {why}; ./bootstrap test makes a Python with "
          "tests/python/requirements.txt", file=sys.stderr)
    sys.exit(1 if required else SKIPPED)


def main():
    here = pathlib.Path(__file__).resolve()
    python = os.environ.get("KASTOR_PEERS_PYTHON") or os.environ.get("KASTOR_PEERS_DEFAULT", "")
    if not os.environ.get("KASTOR_PEERS_FOUND"):
        if not os.access(python, os.X_OK):
            leave(f"no Python with astropy: '{python}' is no program")
        os.environ["KASTOR_PEERS_FOUND"] = "1"
        os.execv(python, [python, "-I", str(here), *sys.argv[1:]])

    sys.path.insert(0, str(here.parent))
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        leave(f"{python} has no {', '.join(missing)}")
    if len(sys.argv) < 2:
        sys.exit("run_peer_tests.py: expected the name of a module, as in test_tables")
    # Nothing of these tests may ask the network.
    from astropy.utils import iers  # noqa: PLC0415

    iers.conf.auto_download = False
    module = importlib.import_module(sys.argv[1])
    unittest.main(module=module, argv=sys.argv[1:], verbosity=2)


if __name__ == "__main__":
    main()

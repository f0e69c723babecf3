# SPDX-License-Identifier: Apache-2.0
"""As much of Spack's package API as Kastor's recipe uses, which records what it is told."""

import contextlib
import importlib.util
import subprocess
import sys
import types

DIRECTIVES = "conflicts depends_on license maintainers variant version".split()


class SkipTest(Exception):
    pass


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words, output=None):
        """`output=str.split` returns what the program prints."""
        done = subprocess.run([self.path, *words], check=True, text=True,
                              stdout=subprocess.PIPE if output is str.split else output)
        return done.stdout


class Spec:
    def __init__(self, variants):
        self.on = set(variants)

    def satisfies(self, text):
        if text[0] not in "+~" or not text[1:].isidentifier():
            raise ValueError(f"'{text}'; the stand-in knows +variant and ~variant")
        return (text[1:] in self.on) == (text[0] == "+")

    __contains__ = satisfies


class CMakePackage:
    def __init__(self, variants, run_tests=False, programs=()):
        self.spec = Spec(variants)
        self.run_tests = run_tests
        self.prefix = types.SimpleNamespace(bin=types.SimpleNamespace(**dict(programs)))

    @staticmethod
    def define(name, value):
        if isinstance(value, bool):
            return name, "ON" if value else "OFF"
        return name, value if isinstance(value, str) else ";".join(value)

    def define_from_variant(self, name, variant):
        if variant not in {args[0] for directive, args, _ in self.recorded if directive == "variant"}:
            raise ValueError(f"{name} is to follow the variant {variant}, which there is none of")
        return self.define(name, self.spec.satisfies("+" + variant))


class CudaPackage:
    cuda_arch_values = ("70", "80", "90")


def load(path, edit=None):
    """The class of a recipe, its directives in `recorded`: (directive, arguments, keywords). `edit`
    changes its text."""
    recorded, conditions = [], []

    def recorder(directive):
        def record(*args, **keywords):
            when = [*conditions, *([keywords["when"]] if "when" in keywords else [])]
            recorded.append((directive, args, {**keywords, "when": " ".join(when)}))

        return record

    @contextlib.contextmanager
    def when(condition):
        conditions.append(condition)
        yield
        conditions.pop()

    package = types.ModuleType("spack.package")
    package.when = when
    for directive in DIRECTIVES:
        setattr(package, directive, recorder(directive))
    package.Executable, package.SkipTest = Executable, SkipTest
    package.__all__ = ["when", "Executable", "SkipTest", *DIRECTIVES]
    systems = "spack_repo.builtin.build_systems"
    cmake, cuda = types.ModuleType(systems + ".cmake"), types.ModuleType(systems + ".cuda")
    cmake.CMakePackage, cuda.CudaPackage = CMakePackage, CudaPackage
    parents = ["spack", "spack_repo", "spack_repo.builtin", systems]
    stand_ins = {name: types.ModuleType(name) for name in parents}
    stand_ins.update({module.__name__: module for module in (package, cmake, cuda)})

    spec = importlib.util.spec_from_file_location("kastor_recipe", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.update(stand_ins)
    try:
        text = path.read_text()
        exec(compile(edit(text) if edit else text, path, "exec"), module.__dict__)
    finally:
        for name in stand_ins:
            del sys.modules[name]
    module.Kastor.recorded = recorded
    return module.Kastor

# SPDX-License-Identifier: Apache-2.0
"""Tests of what clusters need: job scripts, modulefiles, recipes of Spack and of containers.

run_cluster_tests.py --source DIR --build DIR --cmake PATH --kastor PATH [unittest's arguments]

No cluster, Spack or container is needed: Slurm's environment, `srun` and the like are imitated.
Programs that may be missing (shellcheck, lua5.4, tclsh, Lmod, Environment Modules) skip the tests
that need them. tests/CMakeLists.txt makes one ctest of each class.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import containers
import sbatch_options
import spack_stand_in

HERE = pathlib.Path(__file__).resolve().parent
GIVEN = argparse.Namespace()

# What `srun` is in the tests: it notes how it was called and runs the command.
SRUN = """#!/usr/bin/env bash
printf '%s\\n' "$SRUN_CPUS_PER_TASK" "$@" >"$NOTES/srun"
while [[ $1 == --* ]]; do shift; done
exec "$@"
"""

# A `kastor` that notes its words and its environment, leaves a file for every image of a list, as
# --resume does, and answers $ANSWER.
KASTOR = """#!/usr/bin/env bash
printf '%s\\n' "$@" >"$NOTES/kastor"
env | grep -E '^(OMP|KOKKOS)_' | sort >"$NOTES/environment"
if [[ $2 == @* ]]; then
  while read -r image; do
    name=${image##*/}
    [[ -e catalogues/${name%.*}.fits ]] || echo "$image" >>"$NOTES/found"
    touch "catalogues/${name%.*}.fits"
  done <"${2#@}"
fi
exit "${ANSWER:-0}"
"""


def scripts():
    return sorted((GIVEN.source / "apps/slurm").glob("*.sh"))


def need(program):
    path = shutil.which(program)
    if path is None:
        raise unittest.SkipTest(f"{program} is not installed; ./bootstrap test installs it")
    return path


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


class TestShellcheck(unittest.TestCase):
    def test_every_script(self):
        shellcheck = need("shellcheck")
        files = [*scripts(), GIVEN.source / "bootstrap", GIVEN.source / "tests/gpu/run.sh",
                 GIVEN.source / "cmake/packaging/runtime_packages"]
        done = subprocess.run([shellcheck, *files], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class TestDirectives(unittest.TestCase):
    def test_scripts(self):
        self.assertEqual([path.name for path in scripts()],
                         ["kastor-array.sh", "kastor-cpu.sh", "kastor-gpu.sh"])
        for path in scripts():
            with self.subTest(path.name):
                found = sbatch_options.directives(path.read_text())
                sbatch_options.check(found)
                options = dict(found)
                for name in "nodes ntasks cpus-per-task time mem requeue output".split():
                    self.assertIn(name, options)
                self.assertEqual("array" in options, "array" in path.name)
                self.assertEqual("%a" in options["output"], "array" in path.name)
                self.assertEqual("gres" in options, "gpu" in path.name)

    def test_slices_and_array_agree(self):
        text = (GIVEN.source / "apps/slurm/kastor-array.sh").read_text()
        array = dict(sbatch_options.directives(text))["array"]
        slices = int(re.search(r"^slices=(\d+)$", text, re.M)[1])
        self.assertEqual(array, f"0-{slices - 1}")


class JobTestCase(Folder):
    def setUp(self):
        super().setUp()
        self.program("srun", SRUN)

    def submit(self, script, edits=(), kastor=KASTOR, **environment):
        """Runs a script as a batch job; `edits` replaces the values of variables at its top."""
        if kastor:
            self.program("kastor", kastor)
        text = (GIVEN.source / "apps/slurm" / script).read_text()
        for name, value in edits:
            text, count = re.subn(rf"^{name}=.*$", lambda _, n=name, v=value: f"{n}={v}", text,
                                  flags=re.M)
            self.assertEqual(count, 1, name)
        job = self.folder / "slurm_script"
        job.write_text(text)
        # Slurm hands on the environment of the one who submits: also what is unwise in it.
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        given = {"PATH": path, "HOME": str(self.folder), "NOTES": str(self.folder),
                 "TMPDIR": str(self.folder), "KOKKOS_NUM_THREADS": "1", "KOKKOS_DEVICE_ID": "7",
                 "OMP_NUM_THREADS": "99", "SLURM_JOB_ID": "12", "SLURM_CPUS_PER_TASK": "3"}
        return subprocess.run(["bash", str(job)], cwd=self.folder, env={**given, **environment},
                              capture_output=True, text=True, timeout=120)

    def notes(self, name):
        return (self.folder / name).read_text().split("\n")[:-1]

    def assert_bound(self):
        environment = dict(line.split("=") for line in self.notes("environment"))
        self.assertEqual(environment, {"OMP_NUM_THREADS": "3", "OMP_PROC_BIND": "spread",
                                       "OMP_PLACES": "cores"})
        self.assertEqual(self.notes("srun")[:3], ["3", "--cpu-bind=cores", "kastor"])


class TestSingleJobs(JobTestCase):
    def test_cores_and_gpu(self):
        for script, backend in (("kastor-cpu.sh", "openmp"), ("kastor-gpu.sh", "cuda")):
            with self.subTest(script):
                done = self.submit(script)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.notes("kastor"), "find sky.fits --preset radio --overwrite "
                                 f"-o sources.fits --on {backend} --timings".split())
                self.assert_bound()

    def test_codes_pass_through(self):
        for script in ("kastor-cpu.sh", "kastor-gpu.sh"):
            for code in (0, 1, 2):
                with self.subTest(script, code=code):
                    self.assertEqual(self.submit(script, ANSWER=str(code)).returncode, code)

    def test_scratch(self):
        image = self.folder / "far away/sky.fits"
        image.parent.mkdir()
        image.write_text("pixels")
        (self.folder / "scratch").mkdir()
        kastor = '#!/usr/bin/env bash\ncat "$2" >"$NOTES/read"; echo "$2" >"$NOTES/kastor"; exit 1\n'
        edits = [("image", '"far away/sky.fits"'), ("scratch", "$PWD/scratch")]
        for script in ("kastor-cpu.sh", "kastor-gpu.sh"):
            with self.subTest(script):
                self.assertEqual(self.submit(script, edits, kastor).returncode, 1)
                self.assertEqual((self.folder / "read").read_text(), "pixels")
                self.assertTrue(self.notes("kastor")[0].startswith(f"{self.folder}/scratch/"))
                self.assertEqual(list((self.folder / "scratch").iterdir()), [])

    def test_modules(self):
        edits = [("modules", "(one two/2.0)")]
        self.program("module", '#!/usr/bin/env bash\necho "$@" >"$NOTES/module"\n')
        for path in scripts():
            with self.subTest(path.name):
                (self.folder / "images.txt").write_text("a.fits\n")
                self.submit(path.name, edits, SLURM_ARRAY_TASK_ID="0")
                self.assertEqual(self.notes("module"), ["load one two/2.0"])

    def test_real_command(self):
        kastor = ["simulate", "sky", "--size", "200", "-o", str(self.folder / "sky.fits"), "--quiet"]
        subprocess.run([GIVEN.kastor, *kastor], check=True)
        backends = subprocess.run([GIVEN.kastor, "info"], check=True, capture_output=True, text=True)
        if "openmp" not in backends.stdout:
            self.skipTest("this kastor was built without OpenMP")
        (self.folder / "bin/kastor").symlink_to(GIVEN.kastor)
        for _ in range(2):  # the second time as after a requeue
            done = self.submit("kastor-cpu.sh", kastor=None, SLURM_CPUS_PER_TASK="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / "sources.fits").read_bytes().startswith(b"SIMPLE  ="))
        edits = [("image", "missing.fits")]
        self.assertEqual(self.submit("kastor-cpu.sh", edits, kastor=None).returncode, 1)
        edits = [("options", "(--no-such-option)")]
        self.assertEqual(self.submit("kastor-cpu.sh", edits, kastor=None).returncode, 2)


class TestArrayJob(JobTestCase):
    def setUp(self):
        super().setUp()
        self.images = [f"/data/field {i}.fits" for i in range(7)]
        lines = ["# fields", *self.images[:3], "", "  ", *self.images[3:]]
        (self.folder / "images.txt").write_text("\n".join(lines) + "\n")

    def run_task(self, task, slices=3, count=3, **environment):
        return self.submit("kastor-array.sh", [("slices", str(slices))], **environment,
                           SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT=str(count))

    def left_behind(self):
        return list(self.folder.glob("kastor-slice.*"))

    def test_every_image_once(self):
        for task in range(3):
            done = self.run_task(task)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            words = self.notes("kastor")
            self.assertEqual(words[2:], "--preset radio -o catalogues/ --format fits --resume --on "
                             "openmp".split())
            self.assert_bound()
            self.assertEqual(self.left_behind(), [])
        self.assertEqual(sorted(self.notes("found")), self.images)
        self.assertEqual(self.notes("found")[:3], self.images[0::3])
        # A requeued task has the same images, and does none again.
        self.run_task(1)
        self.assertEqual(len(self.notes("found")), len(self.images))

    def test_codes_pass_through(self):
        for code in (1, 2):
            self.assertEqual(self.run_task(0, ANSWER=str(code)).returncode, code)
            self.assertEqual(self.left_behind(), [])

    def test_more_slices_than_images(self):
        done = self.run_task(8, slices=9, count=9)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no image of images.txt is in slice 8", done.stderr)
        self.assertFalse((self.folder / "kastor").exists())

    def test_slices_and_tasks_that_differ(self):
        done = self.run_task(3)
        self.assertEqual(done.returncode, 2)
        self.assertIn("task 3 of --array; expected 0 to 2, for slices=3", done.stderr)
        done = self.run_task(2, count=1)  # one slice again, by sbatch --array=2
        self.assertEqual(done.returncode, 0)
        self.assertIn("this job runs 1 of 3 slices", done.stderr)
        self.assertEqual(self.notes("found"), self.images[2::3])

    def test_not_an_array_and_no_list(self):
        self.assertIn("submit it with sbatch", self.submit("kastor-array.sh").stderr)
        (self.folder / "images.txt").unlink()
        self.assertNotEqual(self.run_task(0).returncode, 0)
        self.assertFalse((self.folder / "kastor").exists())
        self.assertEqual(self.left_behind(), [])

    def test_real_command(self):
        described = subprocess.run([GIVEN.kastor, "find", "--help"], check=True, capture_output=True,
                                   text=True).stdout
        if "--resume" not in described or "openmp" not in described:
            self.skipTest("this kastor has no --resume, or no OpenMP")
        names = [f"field{i}.fits" for i in range(3)]
        for seed, name in enumerate(names):
            words = ["--size", "128", "--seed", str(seed), "-o", str(self.folder / name), "--quiet"]
            subprocess.run([GIVEN.kastor, "simulate", "sky", *words], check=True)
        (self.folder / "images.txt").write_text("\n".join(names) + "\n")
        (self.folder / "bin/kastor").symlink_to(GIVEN.kastor)
        for task in (0, 1, 0):
            done = self.run_task(task, slices=2, count=2, kastor=None)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("skipped 2 images", done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "catalogues").iterdir()), names)


class TestEnvironment(unittest.TestCase):
    def run_kastor(self, **variables):
        return subprocess.run([GIVEN.kastor, "primes", "--upto", "10"], capture_output=True,
                              text=True, env={**os.environ, **variables})

    def test_numbers_are_taken(self):
        for variables in ({"KOKKOS_NUM_THREADS": "1"}, {"KOKKOS_NUM_THREADS": "3"},
                          {"KOKKOS_DEVICE_ID": "0"}, {"KOKKOS_VISIBLE_DEVICES": "0"}):
            with self.subTest(variables):
                done = self.run_kastor(**variables)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_others_are_refused(self):
        for name, least in (("KOKKOS_NUM_THREADS", 1), ("KOKKOS_DEVICE_ID", 0),
                            ("KOKKOS_VISIBLE_DEVICES", 0)):
            for text in ("", "x", "1.5", "2 ", "-1", "99999999999"):
                with self.subTest(name, text=text):
                    done = self.run_kastor(**{name: text})
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, rf"^kastor: {name} in the environment: found "
                                     rf"'{text}'; expected an integer(,| from) {least} .*\n$")
        for name, text in (("KOKKOS_NUM_THREADS", "0"), ("KOKKOS_NUM_THREADS", "513"),
                           ("KOKKOS_VISIBLE_DEVICES", "0,"), ("KOKKOS_VISIBLE_DEVICES", "0,,1")):
            with self.subTest(name, text=text):
                self.assertEqual(self.run_kastor(**{name: text}).returncode, 1)


class TestModulefiles(Folder):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "a prefix"
        subprocess.run([GIVEN.cmake, "--install", GIVEN.build, "--component", "clusters",
                        "--prefix", self.prefix], check=True, capture_output=True)
        self.tree = next(self.prefix.glob("**/modulefiles"))
        version = (GIVEN.source / "include/kastor/version.hpp").read_text()
        self.version = ".".join(re.findall(r"#define KASTOR_VERSION_[A-Z]+ (\d+)", version))
        self.wanted = [("PATH", f"{self.prefix}/bin"), ("CMAKE_PREFIX_PATH", str(self.prefix))]

    def test_what_is_installed(self):
        names = [path.name for path in sorted((self.tree / "kastor").iterdir())]
        self.assertEqual(names, [self.version, f"{self.version}.lua"])
        for path in (self.tree / "kastor").iterdir():
            self.assertNotRegex(path.read_text(), r"@\w+@")
            folder = re.search(r"Slurm: (.+/slurm)", path.read_text())[1]
            self.assertTrue(os.access(f"{folder}/kastor-cpu.sh", os.X_OK))

    def read(self, interpreter, stand_in, module):
        program = need(interpreter)
        done = subprocess.run([program, str(HERE / stand_in), str(self.tree / "kastor" / module)],
                              check=True, capture_output=True, text=True)
        lines = [tuple(line.split("\t")) for line in done.stdout.splitlines()]
        self.assertEqual([line[1:] for line in lines if line[0] == "prepend"], self.wanted)
        self.assertIn(("conflict", "kastor"), lines)
        self.assertTrue(any(line[0] == "whatis" and self.version in line[1] for line in lines))

    def test_lua(self):
        self.read("lua5.4", "modulefile.lua", f"{self.version}.lua")

    def test_tcl(self):
        self.read("tclsh", "modulefile.tcl", self.version)

    def load(self, init):
        if not os.path.exists(init):
            self.skipTest(f"{init} is not there")
        job = ('. "$1"; module use "$2"; module load kastor; module list 2>&1; '
               'printf "PATH %s\\nPREFIX %s\\n" "$PATH" "$CMAKE_PREFIX_PATH"')
        done = subprocess.run(["bash", "-c", job, "bash", init, str(self.tree)], check=True,
                              capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        self.assertIn(f"kastor/{self.version}", done.stdout, done.stderr)
        self.assertIn(f"\nPATH {self.prefix}/bin:", done.stdout)
        self.assertIn(f"\nPREFIX {self.prefix}\n", done.stdout)

    def test_lmod(self):
        self.load("/usr/share/lmod/lmod/init/bash")

    def test_environment_modules(self):
        self.load("/usr/share/modules/init/bash")


class TestSpackRecipe(Folder):
    # What find_package calls what Spack calls otherwise, and what Spack need not be told of.
    NAMES = {"Boost": "boost", "BZip2": "bzip2", "EXPAT": "expat", "Freetype": "freetype", "GTest": "googletest",
             "Kokkos": "kokkos", "KokkosKernels": "kokkos-kernels", "MPI": "mpi",
             "PNG": "libpng", "CLI11": "cli11", "CFITSIO": "cfitsio", "WCSLIB": "wcslib", "ZLIB": "zlib",
             "Python3": "python", "nlohmann_json": "nlohmann-json"}
    NOT_PACKAGES = {"Threads"}

    def setUp(self):
        super().setUp()
        self.path = GIVEN.source / "cmake/packaging/spack_repo/kastor/packages/kastor/package.py"
        self.recipe = spack_stand_in.load(self.path)
        self.top = (GIVEN.source / "CMakeLists.txt").read_text()

    def directives(self, name):
        return [(args, keywords) for directive, args, keywords in self.recipe.recorded
                if directive == name]

    def test_versions_are_those_of_cmake(self):
        text = (GIVEN.source / "cmake/KastorDependencies.cmake").read_text()
        wanted = {self.NAMES.get(name, name): version
                  for name, version in re.findall(r"find_package\((\w+) ?([0-9.]*)", text)
                  if name not in self.NOT_PACKAGES}
        # The package file of Kokkos Kernels 4.4 does not say its version, so CMake looks into a header.
        wanted["kokkos-kernels"] = re.search(r"Kokkos Kernels ([0-9.]+) or newer", text)[1]
        wanted["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", self.top)[1]
        found = {}
        for args, _ in self.directives("depends_on"):
            match = re.match(r"([a-z0-9-]+)@([0-9.]+):", args[0])
            if match:
                self.assertEqual(found.setdefault(match[1], match[2]), match[2])
        self.assertEqual(found, wanted)

    def test_options_exist_in_cmake(self):
        variants = [args[0] for args, _ in self.directives("variant")] + ["cuda"]
        self.assertEqual(variants, ["openmp", "io", "apps", "mpi", "cuda"])
        declared = set(re.findall(r"(?:option|set)\((KASTOR_\w+)", self.top))
        for number in range(2 ** len(variants)):
            chosen = [name for i, name in enumerate(variants) if number >> i & 1]
            if "apps" in chosen and "io" not in chosen:
                continue
            arguments = dict(self.recipe(chosen, run_tests="cuda" in chosen).cmake_args())
            self.assertLessEqual(set(arguments), declared)
            on = {True: "ON", False: "OFF"}
            self.assertEqual(arguments["KASTOR_ENABLE_FITS"], on["io" in chosen])
            self.assertEqual(arguments["KASTOR_ENABLE_APPS"], on["apps" in chosen])
            self.assertEqual(arguments["KASTOR_ENABLE_MPI"], on["mpi" in chosen])
            self.assertEqual(arguments["KASTOR_ENABLE_TESTS"], on["cuda" in chosen])
            devices = ["SERIAL"] + [name.upper() for name in ("openmp", "cuda") if name in chosen]
            self.assertEqual(arguments["KASTOR_REQUIRE_DEVICES"], ";".join(devices))

    def test_backends_are_asked_of_kokkos(self):
        asked = {(args[0], keywords["when"]) for args, keywords in self.directives("depends_on")
                 if args[0].startswith("kokkos")}
        self.assertIn(("kokkos+openmp", "+openmp"), asked)
        self.assertIn(("kokkos+cuda+cmake_lang", "+cuda"), asked)
        for arch in spack_stand_in.CudaPackage.cuda_arch_values:
            self.assertIn((f"kokkos cuda_arch={arch}", f"+cuda cuda_arch={arch}"), asked)

    def test_source_is_this_tree(self):
        self.assertEqual(self.recipe.git, GIVEN.source.resolve().as_uri())

    def test_lines_of_the_release(self):
        recipe = spack_stand_in.load(self.path, lambda text: text.replace("#: ", ""))
        version = (GIVEN.source / "include/kastor/version.hpp").read_text()
        version = ".".join(re.findall(r"#define KASTOR_VERSION_[A-Z]+ (\d+)", version))
        released = {args[0]: keywords["sha256"] for name, args, keywords in recipe.recorded
                    if name == "version" and "sha256" in keywords}
        self.assertEqual(released, {version: "SHA256"})
        self.assertEqual(recipe.url, f"URL/releases/download/v{version}/kastor-{version}.tar.gz")
        self.assertTrue(recipe.git.startswith(recipe.homepage))
        self.assertEqual(len(self.directives("maintainers")), 1)

    def test_stand_alone_test(self):
        with self.assertRaises(spack_stand_in.SkipTest):
            self.recipe(["io"]).test_find()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            self.recipe(["io", "apps"], programs={"kastor": GIVEN.kastor}).test_find()
        finally:
            os.chdir(before)
        self.assertTrue((self.folder / "sky.fits").exists())


class TestContainers(unittest.TestCase):
    def setUp(self):
        folder = GIVEN.source / "cmake/packaging"
        self.stages = containers.stages_of(
            containers.read_dockerfile((folder / "Dockerfile").read_text()))
        self.definition = containers.read_definition((folder / "kastor.def").read_text())
        self.ignored = (folder / "Dockerfile.dockerignore").read_text().split("\n")

    def test_both_do_the_same(self):
        _, build, run = self.stages
        place = next(rest for name, rest in build if name == "WORKDIR")
        wanted = [f"cd {place}", *containers.commands(build)]
        found = [re.sub(r"\{\{ (\w+) \}\}", r"$\1", line) for line in self.definition[0]["post"][1]]
        self.assertEqual(found, wanted)
        self.assertEqual(self.definition[1]["post"][1], containers.commands(run))
        self.assertEqual(self.definition[1]["files"][0], "from build")

    def test_both_have_the_same_arguments(self):
        arguments = [rest for stage in self.stages for name, rest in stage if name == "ARG"]
        self.assertEqual(sorted(self.definition[0]["arguments"][1]), sorted(arguments))
        for stage, definition in zip(self.stages[1:], self.definition):
            image = re.match(r"\$\{(\w+)\}", stage[0][1])[1]
            self.assertEqual(definition["header"]["From"], f"{{{{ {image} }}}}")

    def test_the_files_that_a_build_reads(self):
        not_read = {".deps", ".git", "build", "demo", "dist", "docs"}
        self.assertEqual({line for line in self.ignored if line and not line.startswith("#")},
                         not_read)
        copied = {line.split()[0] for line in self.definition[0]["files"][1]}
        folders = {path.name for path in GIVEN.source.iterdir()
                   if path.is_dir() and not path.name.startswith(".")}
        self.assertEqual({name for name in copied if (GIVEN.source / name).is_dir()},
                         folders - not_read)
        self.assertLessEqual({"bootstrap", "CMakeLists.txt", "CMakePresets.json", "LICENSE"}, copied)

    def test_packages_to_run(self):
        for program in ("dpkg-query", "objdump", "ldd"):
            need(program)
        script = GIVEN.source / "cmake/packaging/runtime_packages"
        done = subprocess.run([script, GIVEN.kastor], capture_output=True, text=True)
        if done.returncode == 1 and "of no package here" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        packages = done.stdout.split()
        self.assertTrue(any(name.startswith("libwcs") for name in packages), packages)
        self.assertEqual([name for name in packages if name.endswith("-dev")], [])
        self.assertEqual(packages[-1], "fonts-dejavu-core")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("source", "build", "cmake", "kastor"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    _, rest = parser.parse_known_args(namespace=GIVEN)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

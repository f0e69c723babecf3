# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Kastor(CMakePackage, CudaPackage):
    """Finds and measures the sources in astronomical images, on one core, on many cores and on a
    GPU, with the same bits everywhere: a command and a C++20 library over Kokkos."""

    # This file lies in Kastor's source tree: the tree's last commit is what is built.
    git = Path(__file__).resolve().parents[6].as_uri()
    # In Spack's own repository the lines after `#:` stand instead of `git` above and `version` below. URL is KASTOR_URL in
    # CMakeLists.txt, which is unset; sha256 is filled in at the release, from what `./bootstrap source-archive` writes.
    #: homepage = "URL"
    #: url = "URL/releases/download/v0.1.0/kastor-0.1.0.tar.gz"
    #: git = "URL.git"
    #: version("0.1.0", sha256="SHA256")

    maintainers()  # unset: names on GitHub of who looks after the recipe

    license("Apache-2.0", checked_by="kastor")

    version("main", branch="main")

    variant("openmp", default=True, description="Compute on all cores of the host")
    variant("io", default=True, description="Build kastor::io: files, coordinates, pictures")
    variant("apps", default=True, when="+io", description="Build the kastor command")
    variant("mpi", default=False, description="Build kastor::mpi, for processes that share an image")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    conflicts("%gcc@:11", msg="Kastor is C++20; the oldest g++ tried is 12")

    # Kokkos 5 was not tried. Kokkos and Kastor are of one C++ standard.
    depends_on("kokkos@4.5:4 +serial cxxstd=20")
    depends_on("kokkos+openmp", when="+openmp")
    # Headers alone. It is no build dependency, since it has to be of the same Kokkos.
    depends_on("kokkos-kernels@4.4:")
    # As a language of CMake's, CUDA needs no compiler wrapper, and plain C++ stays plain.
    depends_on("kokkos+cuda+cmake_lang", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="name one GPU architecture, as in cuda_arch=90")
    conflicts(
        "^cuda@13:",
        when="+cuda",
        msg="under nvcc 13 in C++20, Kokkos 4 needs Kokkos_ENABLE_IMPL_VIEW_LEGACY, for which its "
        "package has no variant: cmake/dependencies of Kastor's builds it so",
    )

    with when("+mpi"):
        depends_on("c", type="build")  # MPI is looked for as a library of C's
        depends_on("mpi@3:")
    with when("+io"):
        depends_on("bzip2@1.0.6:")
        depends_on("cfitsio@3.47:")
        depends_on("expat@2.4:")
        depends_on("fmt@9:")
        depends_on("freetype@2.10:")
        depends_on("libpng@1.6:")
        depends_on("nanoflann@1.4:", type="build")
        depends_on("wcslib@7:")
        depends_on("zlib@1.2.11:")
    with when("+apps"):
        depends_on("cli11@2.1:", type="build")
        depends_on("nlohmann-json@3.10:", type="build")
        depends_on("tomlplusplus@3.3:", type="build")
    depends_on("googletest@1.11: +gmock", type="test")
    depends_on("nlohmann-json@3.10:", type="test")
    depends_on("python@3.8:", type="test")

    def cmake_args(self):
        devices = ["SERIAL"]
        devices += [name.upper() for name in ("openmp", "cuda") if f"+{name}" in self.spec]
        return [
            self.define("KASTOR_REQUIRE_DEVICES", devices),
            self.define_from_variant("KASTOR_ENABLE_FITS", "io"),
            self.define("KASTOR_ENABLE_APPS", self.spec.satisfies("+apps")),
            self.define_from_variant("KASTOR_ENABLE_MPI", "mpi"),
            self.define("KASTOR_ENABLE_TESTS", self.run_tests),
        ]

    def test_find(self):
        """find the sources of a simulated sky"""
        if self.spec.satisfies("~apps"):
            raise SkipTest("kastor was installed without the command")
        kastor = Executable(self.prefix.bin.kastor)
        kastor("simulate", "sky", "--size", "256", "--seed", "1", "-o", "sky.fits", "--quiet")
        for backend in ("serial", "openmp") if self.spec.satisfies("+openmp") else ("serial",):
            out = kastor("find", "sky.fits", "--on", backend, "--json", output=str.split)
            assert '"sources":' in out

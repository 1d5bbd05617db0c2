"""Stria in Spack. The source is that of a checkout, spack develop --path DIR stria@0.1.0, or the
archive stria-0.1.0.tar.gz in a mirror or the working directory."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Stria(CMakePackage):
    """Parallel I/O for simulation codes: writes the arrays of all MPI ranks into one standard HDF5
    or netCDF file, close to the speed of the storage, and reads them on any number of ranks."""

    url = f"file://{os.getcwd()}/stria-0.1.0.tar.gz"
    manual_download = True
    license("BSD-3-Clause")

    version("0.1.0")

    variant("tools", default=True, description="Build the command stria, with its applications")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("mpi@3.1:")
    # Stria makes and reads HDF5 without HDF5's own MPI.
    depends_on("hdf5@1.10:1.14~mpi")
    depends_on("asio@1.22:", type="build")
    depends_on("fmt@9:")
    depends_on("isa-l@2.30:")
    depends_on("zstd@1.4:")
    depends_on("libsodium@1.0.16:")
    depends_on("liburing@2.0:")
    depends_on("nlohmann-json@3.11:")
    depends_on("sqlite@3.37:")
    depends_on("xxhash@0.8:")

    with when("+tools"):
        depends_on("cli11@2.1:", type="build")
        depends_on("libfuse@3.5:")
        depends_on("pango@1.50:")
        depends_on("p4est@2.2:+mpi", when="^[virtuals=mpi] openmpi")

    depends_on("googletest@1.12:", type="test")

    conflicts("platform=darwin", msg="Stria needs Linux")
    conflicts("%gcc@:11", msg="Stria needs C++20 as GCC 12 has it")
    conflicts("%clang@:13", msg="Stria needs C++20 as Clang 14 has it")

    generator("ninja")

    def mpi_name(self):
        """Returns Stria's name for it: all but Open MPI have the binary interface of MPICH."""
        return "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"

    def cmake_args(self):
        return [
            self.define("STRIA_MPI", self.mpi_name()),
            self.define("STRIA_BUILD_TESTS", self.run_tests),
            self.define("STRIA_BUILD_PYTHON", False),
            self.define_from_variant("STRIA_BUILD_APPS", "tools"),
        ]

    def check(self):
        """The tests that need neither ranks nor Python's packages."""
        with working_dir(self.build_directory):
            ctest("-L", "^unit$", "--output-on-failure")

    @run_after("install")
    def keep_examples(self):
        cache_extra_test_sources(self, "examples")

    def test_checkpoint(self):
        """A checkpoint, written by two ranks and read by three"""
        sources = join_path(self.test_suite.current_test_cache_dir, "examples")
        cmake, mpiexec = which("cmake"), which(self.spec["mpi"].prefix.bin.mpiexec)
        options = [f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DSTRIA_MPI={self.mpi_name()}"]
        cmake("-S", sources, "-B", "examples", *options)
        cmake("--build", "examples")
        mpiexec("-n", "2", join_path("examples", "checkpoint_cpp"), "checkpoint.h5")
        restart = join_path("examples", "restart_cpp")
        read = mpiexec("-n", "3", restart, "checkpoint.h5", output=str.split)
        assert "40 blocks of time 0.25, as written" in read

    def test_command(self):
        """The command starts, and verifies a file"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("built without the command")
        stria = which(self.prefix.bin.stria)
        stria("--version")
        options = "--nxb 4 --blocks 2 --rounds 1 --dir . --verify --keep"
        stria("flash", "io", *options.split())

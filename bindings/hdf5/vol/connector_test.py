"""Programs that know nothing of Stria, run with the VOL connector. They write the same file as
without it, and their transfers are packed.

From the environment: STRIA_HDF5_PLUGINS (the connector's folder), STRIA_NEWER_HDF5 (where
scripts/newer_hdf5.sh built HDF5 1.14), STRIA_MPI (openmpi or mpich) and STRIA_BIN (the directory of
the programs).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import h5py
import numpy
import pytest

from mpiexec_env import mpiexec_environment

MPI = os.environ.get("STRIA_MPI", "openmpi")
PLUGINS = pathlib.Path(os.environ["STRIA_HDF5_PLUGINS"])
NEWER = pathlib.Path(os.environ["STRIA_NEWER_HDF5"])
TOOLS = NEWER / "serial/bin"
if not TOOLS.exists() and shutil.which("h5dump"):  # the system's, where they are of HDF5 1.14
    version = subprocess.run(["h5dump", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if tuple(map(int, version.split(".")[:2])) >= (1, 14):
        TOOLS = pathlib.Path(shutil.which("h5dump")).parent
STATIC = pathlib.Path(os.environ["STRIA_BIN"]) / "hdf5_vol_hyperslabs"
SCRIPT = pathlib.Path(__file__).parent.parent / "tests/h5py_sections.py"
NETCDF = """
import sys, netCDF4, numpy
with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("x", 10)
    file.createVariable("v", "f8", ("x",))[:] = numpy.arange(20.0)[::2]
with netCDF4.Dataset(sys.argv[1]) as file:
    assert (file["v"][:] == numpy.arange(20.0)[::2]).all()
"""

needs_tools = pytest.mark.skipif(not (TOOLS / "h5dump").exists(), reason="scripts/newer_hdf5.sh serial was not run")
needs_static = pytest.mark.skipif(not STATIC.exists(), reason=f"scripts/newer_hdf5.sh {MPI} was not run")


def run(*command, ranks=0, connector="stria", plugins=PLUGINS, fails=False):
    """Runs a command, on some ranks unless that is 0, and returns what it said."""
    full = [f"mpiexec.{MPI}", "-n", str(ranks)] if ranks else []
    full += ["env"]
    if connector:
        full += [f"HDF5_VOL_CONNECTOR={connector}", f"HDF5_PLUGIN_PATH={plugins}", "STRIA_VERBOSE=1"]
    full += map(str, command)
    done = subprocess.run(
        full, env=mpiexec_environment(), capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )
    assert (done.returncode != 0) == fails, f"{' '.join(full)}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if not connector else done.stdout + done.stderr


def packed(said, call):
    """Returns how many transfers of rank 0 were packed."""
    found = re.search(rf"under libhdf5_vol_stria \S+: {call}: (\d+) packed", said)
    return int(found[1]) if found else 0


def values(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tobytes()} if isinstance(item, h5py.Dataset) else {}))
    return found


@needs_static
@pytest.mark.parametrize("transfer", ["independent", "collective"])
def test_a_checkpoint_of_a_program_with_a_static_hdf5(tmp_path, transfer):
    arguments = [transfer, "hyperslabs", 6, 3, 4, 1]
    said = run(STATIC, tmp_path / "ours", *arguments, ranks=2)
    run(STATIC, tmp_path / "native", *arguments, ranks=2, connector=None)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "native").read_bytes()
    assert packed(said, "H5Dwrite") == 6 and packed(said, "H5Dread") == 6, said


@needs_static
def test_a_program_that_shows_no_function_is_told(tmp_path):
    """HDF5 prints that it finds no connector, and goes on without one."""
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, STATIC], check=True)
    said = run(stripped, tmp_path / "file", "independent", "hyperslabs", 1, 1, 4, 1, ranks=1)
    assert (
        packed(said, "H5Dwrite") == 0
        and "the VOL connector isn't used" in said
        and "link it with -rdynamic, or don't strip it" in said
    ), said


OLD_HDF5 = """
#include <dlfcn.h>
int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1, *minor = 12, *release = 2;
  return 0;
}
int main(int count, char** names) {
  void* plugin = dlopen(names[count - 1], RTLD_NOW);
  const void* (*info)(void) = (const void* (*)(void))dlsym(plugin, "H5PLget_plugin_info");
  return info() == 0 ? 0 : 1;
}
"""


def test_an_older_hdf5_is_told(tmp_path):
    """What stands for it asks as HDF5 does when it loads a plugin."""
    (tmp_path / "old.c").write_text(OLD_HDF5)
    subprocess.run(["cc", "-rdynamic", "-o", tmp_path / "old", tmp_path / "old.c", "-ldl"], check=True)
    said = run(tmp_path / "old", PLUGINS / "libhdf5_vol_stria.so")
    assert "it serves HDF5 1.14 and later, and this is 1.12.2; preload libstria_hdf5.so instead" in said, said


@pytest.mark.parametrize("connector", ["stria", "stria under_vol=0;under_info={}"])
def test_h5py_with_a_library_of_its_own(tmp_path, connector):
    said = run(sys.executable, "-B", SCRIPT, tmp_path / "ours", connector=connector)
    run(sys.executable, "-B", SCRIPT, tmp_path / "native", connector=None)
    assert values(tmp_path / "ours") == values(tmp_path / "native")
    assert packed(said, "H5Dwrite") >= 3 and packed(said, "H5Dread") >= 4, said


def test_what_is_said_to_the_connector_is_looked_at(tmp_path):
    said = run(sys.executable, "-B", SCRIPT, tmp_path / "file", connector="stria under=0", fails=True)
    assert "write under_vol=0;under_info={}, or nothing" in said, said


def test_several_hdf5_in_one_process(tmp_path):
    """The wheels of h5py and netCDF4 each bring one; both get the connector."""
    script = f"import h5py\nimport numpy\n{NETCDF}\nh5py.File(sys.argv[1] + '5', 'w')['v'] = numpy.arange(9.0)"
    run(sys.executable, "-B", "-c", script, tmp_path / "file")
    assert values(tmp_path / "file5") == {"v": numpy.arange(9.0).tobytes()}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "sample.h5"
    run(sys.executable, "-B", SCRIPT, path, connector=None)
    with h5py.File(path, "a") as file:
        file["group/link"] = h5py.SoftLink("/whole")
        file["group"].attrs["text"] = ["one", "two"]
        file["group"].attrs["reference"] = file["whole"].regionref[1:, 2:4]
        file["named"] = file["records"].dtype
    return path


@needs_tools
@pytest.mark.parametrize(
    "command",
    [["h5dump", "-y"], ["h5ls", "-r", "-v"], ["h5stat"], ["h5dump", "-d", "/whole", "-s", "0,1,2,0", "-S", "1,3,2,1"]],
)
def test_tools_say_the_same(sample, command):
    program, *options = command
    said = run(TOOLS / program, *options, sample)
    assert run(TOOLS / program, *options, sample, connector=None) in said


@needs_tools
def test_files_that_tools_write(tmp_path, sample):
    run(TOOLS / "h5repack", "-f", "GZIP=1", "-l", "CHUNK=2x3x4", sample, tmp_path / "packed")
    run(TOOLS / "h5diff", sample, tmp_path / "packed")
    run(TOOLS / "h5diff", sample, tmp_path / "packed", connector=None)
    run(TOOLS / "h5copy", "-i", sample, "-o", tmp_path / "copy", "-s", "/whole", "-d", "/again")
    assert values(tmp_path / "copy")["again"] == values(sample)["whole"]


@needs_tools
def test_a_difference_is_seen(tmp_path, sample):
    shutil.copy(sample, tmp_path / "other")
    with h5py.File(tmp_path / "other", "a") as file:
        file["whole"][0, 1, 1, 1] += 1
    run(TOOLS / "h5diff", sample, tmp_path / "other", fails=True)

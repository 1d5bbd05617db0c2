"""Programs that know nothing of Stria, run with libstria_hdf5 preloaded. They write the same file
as without it, and their transfers are packed.

From the environment: STRIA_HDF5_PRELOAD (the library), STRIA_MPIIO (the MPI-IO drop-in), STRIA_MPI
(openmpi or mpich) and STRIA_BIN (the directory of the programs).
"""

import ctypes
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import h5py
import pytest

from mpiexec_env import mpiexec_environment

MPI = os.environ.get("STRIA_MPI", "openmpi")
LIBRARY = os.environ["STRIA_HDF5_PRELOAD"]
PROGRAMS = pathlib.Path(os.environ["STRIA_BIN"])
SOURCES = pathlib.Path(__file__).parent
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's h5py for MPI belongs to it


def run(ranks, *command, preload=LIBRARY, **more):
    """Runs a command, on some ranks unless that is 0, and returns what it said."""
    full = [f"mpiexec.{MPI}", "-n", str(ranks)] if ranks else []
    full += ["env", *([f"LD_PRELOAD={preload}", "STRIA_VERBOSE=1"] if preload else []), *map(str, command)]
    done = subprocess.run(
        full, env=mpiexec_environment(**more), capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(full)}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def packed(said, call):
    """Returns how many transfers of rank 0 were packed."""
    found = re.search(rf"under libstria_hdf5 \S+: {call}: (\d+) packed", said)
    return int(found[1]) if found else 0


def can_insert_pages():
    """Tells whether userfaultfd(2) is open to this process: a descriptor, or -1."""
    x86_64_number, close_on_exec, user_mode_only = 323, 0o2000000, 1
    descriptor = ctypes.CDLL(None).syscall(x86_64_number, close_on_exec | user_mode_only)
    if descriptor >= 0:
        os.close(descriptor)
    return platform.machine() == "x86_64" and descriptor >= 0


def values(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tobytes()}))
    return found


@pytest.mark.parametrize("transfer", ["independent", "collective"])
def test_a_checkpoint(tmp_path, transfer):
    arguments = [transfer, "hyperslabs", 6, 3, 4, 1]
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "ours", *arguments)
    run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "native", *arguments, preload=None)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "native").read_bytes()
    assert packed(said, "H5Dwrite") == 6 and packed(said, "H5Dread") == 6, said


@pytest.mark.parametrize(("blocks", "alone"), [(20, 6), (2, 0)])
@pytest.mark.parametrize("narrow", [[], ["float"]])
def test_collective_transfers_of_single_pieces(tmp_path, blocks, alone, narrow):
    """They are of 80 KiB, or of 8: Open MPI's own collective calls gain nothing for the former."""
    blocks *= 2 if narrow else 1
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "file", "collective", "hyperslabs", 6, blocks, 8, 1, *narrow)
    expected = alone if MPI == "openmpi" else 0
    for what in ("reads", "writes"):
        assert (f"{expected} of MPI's collective {what} made alone" in said) == (expected > 0), said


@pytest.fixture
def in_memory():
    """Gives a directory on tmpfs."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield pathlib.Path(directory)


@pytest.mark.parametrize("transfer", ["independent", "collective"])
@pytest.mark.parametrize("defer", ["0", "10M", "10M,background"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_whole_pages_on_tmpfs(in_memory, transfer, defer, ranks):
    """Pieces of 84 KiB, which begin and end within a page; each file is written twice."""
    arguments = [transfer, "hyperslabs", 6, 21, 8, 2]
    said = run(ranks, PROGRAMS / "hdf5_hyperslabs", in_memory / "ours", *arguments, STRIA_HDF5_DEFER=defer)
    plain = run(ranks, PROGRAMS / "hdf5_hyperslabs", in_memory / "plain", *arguments, STRIA_INSERT_PAGES="0")
    run(ranks, PROGRAMS / "hdf5_hyperslabs", in_memory / "native", *arguments, preload=None)
    for name in ("ours", "plain"):
        assert (in_memory / name).read_bytes() == (in_memory / "native").read_bytes()
    assert "made by whole pages" not in plain, plain
    if not can_insert_pages():
        pytest.skip("the system lets processes insert no pages")
    assert re.search(r"\d+ of MPI's writes made by whole pages", said), said


@pytest.mark.parametrize("transfer", ["independent", "collective"])
@pytest.mark.parametrize("beside", ["alone", "drop-in"])
def test_a_checkpoint_that_waits(tmp_path, transfer, beside):
    arguments = [transfer, "hyperslabs", 6, 3, 4, 1]
    preload = LIBRARY if beside == "alone" else f"{LIBRARY}:{os.environ['STRIA_MPIIO']}"
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "ours", *arguments, preload=preload, STRIA_HDF5_DEFER="64K")
    run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "native", *arguments, preload=None)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "native").read_bytes()
    assert "6 of them deferred" in said, said


@pytest.mark.parametrize(
    ("setting", "said_of_it"),
    [
        ({"STRIA_HDF5_BUFFER": "1K"}, ""),
        ({"STRIA_HDF5_BUFFER": "1KiB", "STRIA_HDF5_DEFER": "1MiB"}, ", 6 of them deferred"),
        ({"STRIA_HDF5_DEFER": "70000,background"}, ", 6 of them deferred"),
        ({"STRIA_HDF5_DEFER": "1M,later"}, "STRIA_HDF5_DEFER is '1M,later'; write a number of bytes"),
        ({"STRIA_HDF5_DEFER": "many"}, "Nothing is deferred now"),
        ({"STRIA_HDF5_BUFFER": "1X"}, "STRIA_HDF5_BUFFER is '1X'; write a number of bytes, as 64M. It is 256M now"),
        ({"STRIA_HDF5_BUFFER": "9999999999G"}, "It is 256M now"),
    ],
)
def test_settings(tmp_path, setting, said_of_it):
    program = [PROGRAMS / "hdf5_hyperslabs", tmp_path / "file", "independent", "hyperslabs", 6, 3, 4, 1]
    said = run(2, *program, **setting)
    assert said_of_it in said and packed(said, "H5Dwrite") == 6, said


def test_beside_the_drop_in(tmp_path):
    both = f"{LIBRARY}:{os.environ['STRIA_MPIIO']}"
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "file", "collective", "hyperslabs", 6, 3, 4, 1, preload=both)
    assert "libstria_mpiio" in said and packed(said, "H5Dwrite") == 6, said


def test_what_passes_through_is_told(tmp_path):
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "file", "collective", "packed", 6, 3, 4, 1)
    assert "H5Dwrite: 0 packed (0.0 MB), 6 passed through (6 in one piece in memory)" in said, said
    said = run(2, PROGRAMS / "hdf5_hyperslabs", tmp_path / "file", "collective", "hyperslabs", 6, 3, 4, 1, STRIA_HDF5="off")
    assert "6 because STRIA_HDF5 is off" in said, said


def test_fortran(tmp_path):
    program = PROGRAMS / "hdf5_sections"
    if not program.exists():
        pytest.skip("there is no Fortran interface of HDF5")
    said = run(0, program, tmp_path / "ours")
    run(0, program, tmp_path / "native", preload=None)
    assert values(tmp_path / "ours") == values(tmp_path / "native")
    assert packed(said, "H5Dwrite") == 1 and packed(said, "H5Dread") == 1, said


def test_h5py_with_a_library_of_its_own(tmp_path):
    """PyPI's wheel brings an HDF5 that is loaded for it alone, under another file name."""
    script = SOURCES / "h5py_sections.py"
    said = run(0, sys.executable, "-B", script, tmp_path / "ours")
    run(0, sys.executable, "-B", script, tmp_path / "native", preload=None)
    assert values(tmp_path / "ours") == values(tmp_path / "native")
    assert packed(said, "H5Dwrite") >= 3 and packed(said, "H5Dread") >= 4, said


@pytest.mark.skipif(MPI != "openmpi", reason="Debian's h5py for MPI is that of Open MPI")
def test_h5py_with_mpi(tmp_path):
    script = SOURCES / "h5py_sections.py"
    said = run(2, SYSTEM_PYTHON, "-B", script, tmp_path / "ours", "mpi")
    run(2, SYSTEM_PYTHON, "-B", script, tmp_path / "native", "mpi", preload=None)
    assert values(tmp_path / "ours") == values(tmp_path / "native")
    assert packed(said, "H5Dwrite") >= 3, said


@pytest.mark.skipif(not (PROGRAMS / "mpiio_netcdf_program").exists(), reason="there is no netCDF for this MPI")
def test_netcdf(tmp_path):
    run(2, PROGRAMS / "mpiio_netcdf_program", "write", tmp_path / "ours")
    run(2, PROGRAMS / "mpiio_netcdf_program", "write", tmp_path / "native", preload=None)
    run(2, PROGRAMS / "mpiio_netcdf_program", "read", tmp_path / "ours")
    subprocess.run(["h5diff", str(tmp_path / "ours"), str(tmp_path / "native")], check=True)

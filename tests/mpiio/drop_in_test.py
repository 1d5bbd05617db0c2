"""Programs that know nothing of Stria, run on the drop-in. They write the same file as a native
run, and read both.

From the environment: STRIA_MPIIO (the library), STRIA_MPI (openmpi or mpich), STRIA_BIN (the
directory of the programs), STRIA_MPI4PY (mpi4py's unpacked source with its tests; without it those
are left out) and STRIA_RANKS.
"""

import os
import pathlib
import re
import shutil
import subprocess

import h5py
import pytest

from mpiexec_env import mpiexec_environment

MPI = os.environ.get("STRIA_MPI", "openmpi")
LIBRARY = os.environ["STRIA_MPIIO"]
PROGRAMS = pathlib.Path(os.environ["STRIA_BIN"])
RANKS = [int(ranks) for ranks in os.environ.get("STRIA_RANKS", "2").split()]
SOURCES = pathlib.Path(__file__).parent / "programs"
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's h5py for MPI belongs to it
HANG_SECONDS = 120


def run(ranks, *command, native=False, cwd=None, seconds=HANG_SECONDS, **more):
    """Runs a command on some ranks, on the drop-in unless native, and returns what it said."""
    preload = [] if native else [f"LD_PRELOAD={LIBRARY}", "STRIA_VERBOSE=1"]
    full = [f"mpiexec.{MPI}", "-n", str(ranks), "env", *preload, *map(str, command)]
    done = subprocess.run(
        full, env=mpiexec_environment(**more), capture_output=True, text=True, timeout=seconds, cwd=cwd,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(full)}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def raw_data_ranges(path):
    """Returns where the file has the values of its datasets: one range per contiguous dataset and
    per chunk."""
    ranges = []

    def visit(_, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.chunks:
            chunks = [item.id.get_chunk_info(i) for i in range(item.id.get_num_chunks())]
            ranges.extend((chunk.byte_offset, chunk.byte_offset + chunk.size) for chunk in chunks)
        elif item.id.get_offset() is not None:
            ranges.append((item.id.get_offset(), item.id.get_offset() + item.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(visit)
    return ranges


def assert_same(ours, native):
    """Asserts that both files have the same bytes, except those that HDF5 left in them by chance.

    Free slots of B-tree nodes and space that a chunk gave back hold what the heap of rank 0 held;
    native runs differ there too. Such bytes lie outside the values of every dataset, and h5diff,
    which reads all metadata, sees no difference.
    """
    left, right = ours.read_bytes(), native.read_bytes()
    assert len(left) == len(right)
    if left == right:
        return
    assert right.startswith(b"\x89HDF"), "the files differ"
    subprocess.run(["h5diff", str(ours), str(native)], check=True)
    ranges = raw_data_ranges(native)
    assert ranges == raw_data_ranges(ours)
    for begin, end in ranges:
        assert left[begin:end] == right[begin:end], f"the values at [{begin}, {end}) differ"


def check_program(work, ranks, *command):
    """Writes with both, compares the files, reads each other's."""
    ours, native = work / "ours", work / "native"
    run(ranks, *command, "write", native, native=True)
    run(ranks, *command, "write", ours)
    assert_same(ours, native)
    run(ranks, *command, "read", native)
    run(ranks, *command, "read", ours, native=True)
    return ours, native


def program(name):
    path = PROGRAMS / name
    if not path.exists():
        pytest.skip(f"{name} is not built with this MPI")
    return path


@pytest.mark.parametrize("ranks", RANKS)
def test_hdf5(work, ranks):
    ours, native = check_program(work, ranks, program("mpiio_hdf5_program"))
    subprocess.run(["h5diff", str(ours), str(native)], check=True)


@pytest.mark.parametrize("ranks", RANKS)
def test_pnetcdf(work, ranks):
    ours, native = check_program(work, ranks, program("mpiio_pnetcdf_program"))
    if shutil.which("ncmpidiff"):
        assert "numerically different" not in run(ranks, "ncmpidiff", ours, native)
    if shutil.which("ncvalidator"):
        subprocess.run(["ncvalidator", "-q", str(ours)], check=True)


@pytest.mark.parametrize("ranks", RANKS)
def test_netcdf4(work, ranks):
    ours, native = check_program(work, ranks, program("mpiio_netcdf_program"))
    subprocess.run(["h5diff", str(ours), str(native)], check=True)


@pytest.mark.parametrize("ranks", RANKS)
def test_h5py(work, ranks):
    if MPI != "openmpi" or not pathlib.Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi").exists():
        pytest.skip("no h5py for this MPI (python3-h5py-mpi)")
    ours, native = work / "ours", work / "native"
    run(ranks, SYSTEM_PYTHON, SOURCES / "h5py_script.py", native, native=True)
    run(ranks, SYSTEM_PYTHON, SOURCES / "h5py_script.py", ours)
    assert_same(ours, native)


def test_the_library_is_active(work):
    """STRIA_VERBOSE=1 shows that none of the comparisons above is between two native runs."""
    assert "libstria_mpiio" in run(2, program("mpiio_hdf5_program"), "write", work / "file")


@pytest.mark.parametrize("ranks", RANKS)
def test_mpi4py(work, ranks):
    source = os.environ.get("STRIA_MPI4PY")
    if not source:
        pytest.skip("mpi4py's tests are run by scripts/check_drop_in.sh")
    more = {"MPI4PY_MPIABI": MPI, "PYTHONPATH": f"{source}/installed:{source}/test", "TMPDIR": str(work)}
    if MPI == "mpich":  # by the name that the wheel asks for
        (work / "libmpi.so.12").symlink_to("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
        more["LD_LIBRARY_PATH"] = str(work)
    said = run(ranks, "python3", "-B", "-m", "unittest", "-q", "test_io", "test_file", **more)
    assert re.search(r"Ran \d+ tests", said), said

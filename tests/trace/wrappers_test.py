"""Programs that know nothing of Stria, recorded by preloading libstria_trace.so,
libstria_mpiio.so, or both.

From the environment: STRIA_TRACE_LIBRARY and STRIA_MPIIO, STRIA_BIN (the programs' directory)
and STRIA_MPI.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from stria_program import HANG_SECONDS, MPIEXEC, ROOT, environment, run

LIBRARY = os.environ.get("STRIA_TRACE_LIBRARY", str(ROOT / "build/release/lib/libstria_trace.so"))
MPIIO = os.environ.get("STRIA_MPIIO", str(ROOT / "build/release/lib/libstria_mpiio.so"))
PROGRAMS = pathlib.Path(os.environ.get("STRIA_BIN", str(ROOT / "build/release/bin")))
MPI = os.environ.get("STRIA_MPI", "openmpi")
RANKS = 2
PRELOADS = {"wrappers": [LIBRARY], "drop_in": [MPIIO], "both": [LIBRARY, MPIIO], "both_reversed": [MPIIO, LIBRARY]}

HDF5_PROGRAM = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    file["numbers"] = numpy.arange(1000.0)
    file["numbers"][10:20] = 0
with h5py.File(sys.argv[1]) as file:
    assert file["numbers"][5] == 5
"""


class Traced:
    """One trace: its table by (layer, operation), its spans with their parents, and its report."""

    def __init__(self, work, *command, preload=(LIBRARY,), ranks=0):
        variables = {"LD_PRELOAD": ":".join(preload), "STRIA_TRACE": "full", "STRIA_TRACE_DIR": str(work / "traces")}
        settings = [f"{name}={value}" for name, value in variables.items()]
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks else []
        done = subprocess.run(
            [*launcher, "env", *settings, *map(str, command)], env=environment(), cwd=work, timeout=HANG_SECONDS,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        left = list((work / "traces").iterdir())
        assert len(left) == 1, f"one run leaves one trace: {left}\n{done.stderr}"
        self.path = left[0]
        self.said = done.stderr
        self.description = json.loads(run("trace", "stats", "--json", self.path).succeeded().stdout)
        assert not self.description["warnings"] and self.description["dropped"] == 0
        self.rows = {(row["layer"], row["operation"]): row for row in self.description["operations"]}
        run("trace", "export", "--chrome", self.path, "-o", work / "spans.json").succeeded()
        events = json.loads((work / "spans.json").read_text())["traceEvents"]
        self.spans = {(event["pid"], event["args"]["id"]): event for event in events if event["ph"] == "X"}

    def count(self, layer, name):
        return self.rows.get((layer, name), {"count": 0})["count"]

    def bytes(self, layer, name):
        return self.rows[layer, name]["bytes"]

    def roots_of_writes(self):
        """The outermost calls around the requests that write, including those that run behind the
        next round's packing."""
        kinds = ("storage write", "storage write behind")
        return {around[-1] for kind in kinds for around in self.ancestors("storage", kind) if around}

    def ancestors(self, layer, name):
        """Returns, for each span of that kind, the names of the spans around it, innermost
        first."""
        lists = []
        for span in self.spans.values():
            if (span["cat"], span["name"]) == (layer, name):
                around = []
                at = span
                while (at["pid"], at["args"].get("parent", 0)) in self.spans:
                    outer = self.spans[at["pid"], at["args"]["parent"]]
                    assert outer["ts"] <= at["ts"]
                    # A write in the background ends when a call waits for it.
                    behind = at["name"].endswith("behind")
                    assert behind or at["ts"] + at["dur"] <= outer["ts"] + outer["dur"] + 1e-3
                    around.append(outer["name"])
                    at = outer
                lists.append(around)
        return lists


def program(name):
    path = PROGRAMS / f"traced_{name}"
    if not path.exists():
        pytest.skip(f"{name} is not built with {MPI}")
    return path


def parallel_hdf5():
    """Returns the version of the HDF5 that the programs are linked with."""
    done = subprocess.run(["pkg-config", "--modversion", f"hdf5-{MPI}"], capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.split(".")[:2]))


def test_hdf5_without_mpi(work):
    traced = Traced(work, sys.executable, "-c", HDF5_PROGRAM, work / "numbers.h5")
    assert traced.count("app", "H5Dwrite") == 2 and traced.bytes("app", "H5Dwrite") == 8 * 1010
    assert traced.count("app", "H5Dread") == 1 and traced.bytes("app", "H5Dread") == 8
    assert traced.count("app", "H5Fcreate") == 1 and traced.count("app", "H5Fopen") == 1
    # What HDF5 asked of the system, inside these calls.
    assert traced.bytes("storage", "storage write") == traced.description["counters"]["bytes_written"] >= 8000
    assert traced.count("storage", "storage read") > 0
    assert [file["file"] for file in traced.description["files"]] == [str(work / "numbers.h5")]


@pytest.mark.parametrize("preload", PRELOADS)
def test_mpi_io(work, preload):
    """Each call is recorded once by its name, whichever library sees it."""
    traced = Traced(work, program("mpi_calls"), work / "file", preload=PRELOADS[preload], ranks=RANKS)
    calls = {"open": 3, "write_at": 2, "iwrite_at": 1, "set_view": 1, "write_at_all": 3, "write_at_all_begin": 1,
             "write_at_all_end": 1, "sync": 2, "read_all": 1, "close": 1, "delete": 1}  # fmt: skip
    seen = {name: traced.count("app", f"MPI_File_{name}") for name in calls}
    assert seen == {name: count * RANKS for name, count in calls.items()}
    assert not [row for row in traced.rows if row[0] == "library"]
    assert traced.bytes("app", "MPI_File_write_at") == 2 * 8000 * RANKS
    assert traced.bytes("app", "MPI_File_write_at_all") == 3 * 800 * RANKS
    assert traced.bytes("app", "MPI_File_read_all") == 8000 * RANKS
    moved = {file["file"]: file["counters"]["bytes_written"] > 0 for file in traced.description["files"]}
    assert moved.pop(str(work / "file"))
    # What could not be opened is listed where its opening was counted; the MPI's own may ask unseen
    # by the wrappers.
    assert moved == {str(work / "file.absent"): False} or (preload == "wrappers" and not moved)
    # Some writes happen inside calls, others in the background; none elsewhere at the
    # program's own level.
    assert traced.roots_of_writes() >= {"MPI_File_write_at", "MPI_File_write_at_all"}
    if preload != "wrappers":
        facts = traced.description["files"][0]["facts"]
        assert facts["method"] in ("two_phase", "list_io", "hybrid") and facts["hint cb_buffer_size"]
        assert facts.get("why collective") or facts["why not collective"]
        assert traced.count("engine", "pack") > 0 and traced.count("engine", "background write") == 2 * RANKS
        # Those without an open file too, with the file's name where they have one.
        assert traced.count("app", "MPI_File_get_errhandler") == traced.count("app", "MPI_File_set_errhandler") == RANKS
        files = [span["args"].get("file") for span in traced.spans.values() if span["name"] == "MPI_File_delete"]
        assert files == [str(work / "file.absent")] * RANKS
        # True offsets under the view: item 100 of this rank's part.
        offsets = {span["args"]["offset"] for span in traced.spans.values() if span["name"] == "MPI_File_write_at_all"}
        assert offsets == {rank * 8000 + 800 for rank in range(RANKS)}


@pytest.mark.parametrize("preload", ["wrappers", "both", "both_reversed"])
def test_hdf5(work, preload):
    traced = Traced(work, program("hdf5_calls"), work / "file.h5", preload=PRELOADS[preload], ranks=RANKS)
    for name, count in {"H5Fcreate": 1, "H5Dcreate": 2, "H5Dwrite": 4, "H5Dread": 1, "H5Dclose": 2, "H5Fclose": 1}.items():
        assert traced.count("app", name) == count * RANKS, name
    assert traced.bytes("app", "H5Dwrite") == 4 * 8000 * RANKS and traced.bytes("app", "H5Dread") == 8000 * RANKS
    # Collectively only what needs no conversion, before HDF5 1.14; each inside one H5Dwrite.
    together = 4 if parallel_hdf5() >= (1, 14) else 3
    assert traced.count("library", "MPI_File_write_at_all") == together * RANKS
    assert traced.bytes("library", "MPI_File_write_at_all") == (3 * 8000 + (together - 3) * 4000) * RANKS
    assert traced.ancestors("library", "MPI_File_write_at_all") == [["H5Dwrite"]] * (together * RANKS)
    assert (["H5Dwrite"] in traced.ancestors("library", "MPI_File_write_at")) == (together == 3)
    assert traced.ancestors("library", "MPI_File_read_at") == [["H5Dread"]] * RANKS
    assert not [row for row in traced.rows if row[0] == "app" and row[1].startswith("MPI_")]
    roots = traced.roots_of_writes()
    assert "H5Dwrite" in roots and roots <= {"H5Dwrite", "H5Fclose", "H5Fcreate", "H5Dcreate"}
    assert traced.description["counters"]["bytes_written"] >= (8000 + 4000) * RANKS
    if preload != "wrappers":
        # The inside of HDF5's collective writes.
        assert ["MPI_File_write_at_all", "H5Dwrite"] in traced.ancestors("engine", "plan")
    if together == 3:
        why_hdf5_gave_up(work, traced)


def why_hdf5_gave_up(work, traced):
    """The conversion of the fourth write is recorded, and the report finds it."""
    (file,) = [file for file in traced.description["files"] if file["file"] == str(work / "file.h5")]
    assert file["facts"]["no collective cause"] == "type conversion"
    report = work / "report.json"
    run("trace", "report", traced.path, "-o", work / "report.html", "--json", report).succeeded()
    found = json.loads(report.read_text())
    findings = {finding["rule"]: finding for finding in found["findings"] + found["remarks"]}
    assert "type conversion" in findings["collective_given_up"]["evidence"]


@pytest.mark.parametrize("preload", ["wrappers", "both"])
def test_pnetcdf(work, preload):
    traced = Traced(work, program("pnetcdf_calls"), work / "file.nc", preload=PRELOADS[preload], ranks=RANKS)
    calls = {"create": 1, "enddef": 1, "put_vara_double_all": 2, "iput_vara_int": 3, "wait_all": 1, "put_vara_all": 1,
             "get_vara_double_all": 1, "put_var1_double": 1, "close": 1}  # fmt: skip
    for name, count in calls.items():
        assert traced.count("app", f"ncmpi_{name}") == count * RANKS, name
    assert traced.bytes("app", "ncmpi_put_vara_double_all") == 2 * 8000 * RANKS
    assert traced.bytes("app", "ncmpi_iput_vara_int") == 3 * 4000 * RANKS
    assert traced.bytes("app", "ncmpi_put_vara_all") == 8000 * RANKS
    assert traced.bytes("app", "ncmpi_put_var1_double") == 8 * RANKS
    roots = {around[-1] for around in traced.ancestors("library", "MPI_File_write_at_all")}
    assert roots >= {"ncmpi_put_vara_double_all", "ncmpi_wait_all", "ncmpi_put_vara_all"}
    assert traced.roots_of_writes() >= {"ncmpi_put_vara_double_all", "ncmpi_wait_all"}


TWO_HDF5 = """
import ctypes, sys
ctypes.CDLL(sys.argv[2])  # the serial HDF5, for itself alone, as a module that was linked with it loads it
from mpi4py import MPI
import h5py, numpy
assert h5py.get_config().mpi
with h5py.File(sys.argv[1], "w", driver="mpio", comm=MPI.COMM_WORLD) as file:
    file.create_dataset("numbers", (1000,), "f8")[:] = numpy.arange(1000.0)
"""
SYSTEM_PYTHON = pathlib.Path("/usr/bin/python3")
SERIAL_HDF5 = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libhdf5_serial.so.*"))
HAS_PARALLEL_H5PY = pathlib.Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi").is_dir()


@pytest.mark.skipif(not (HAS_PARALLEL_H5PY and SERIAL_HDF5) or MPI != "openmpi", reason="needs Debian's python3-h5py-mpi")
def test_each_module_of_a_python_gets_its_own_hdf5(work):
    """A serial HDF5 that is loaded first isn't called in place of h5py's parallel one."""
    traced = Traced(work, SYSTEM_PYTHON, "-c", TWO_HDF5, work / "numbers.h5", SERIAL_HDF5[0], ranks=RANKS)
    assert traced.count("app", "H5Dwrite") == RANKS and traced.count("app", "H5Fcreate") == RANKS

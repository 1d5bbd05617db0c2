"""Programs that know nothing of Stria, recorded by preloading libstria_trace.so."""

import json
import os
import subprocess
import sys

from stria_program import ROOT, environment, run

LIBRARY = os.environ.get("STRIA_TRACE_LIBRARY", str(ROOT / "build/release/lib/libstria_trace.so"))

HDF5_PROGRAM = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    file["numbers"] = numpy.arange(1000.0)
    file["numbers"][10:20] = 0
with h5py.File(sys.argv[1]) as file:
    assert file["numbers"][5] == 5
"""


def traced(work, *command):
    variables = {"LD_PRELOAD": LIBRARY, "STRIA_TRACE": "full", "STRIA_TRACE_DIR": str(work / "traces")}
    settings = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run(["env", *settings, *map(str, command)], env=environment(), check=True, cwd=work, timeout=90)
    (trace,) = (work / "traces").iterdir()
    description = json.loads(run("trace", "stats", "--json", trace).succeeded().stdout)
    return description, {(row["layer"], row["operation"]): row for row in description["operations"]}


def test_hdf5_without_mpi(work):
    description, rows = traced(work, sys.executable, "-c", HDF5_PROGRAM, work / "numbers.h5")
    assert rows["app", "H5Dwrite"]["count"] == 2 and rows["app", "H5Dwrite"]["bytes"] == 8 * 1010
    assert rows["app", "H5Dread"]["count"] == 1 and rows["app", "H5Dread"]["bytes"] == 8
    assert rows["app", "H5Fcreate"]["count"] == 1 and rows["app", "H5Fopen"]["count"] == 1
    # What HDF5 asked of the system, inside these calls.
    assert rows["storage", "storage write"]["bytes"] == description["counters"]["bytes_written"] >= 8000
    assert rows["storage", "storage read"]["count"] > 0
    assert [file["file"] for file in description["files"]] == [str(work / "numbers.h5")]

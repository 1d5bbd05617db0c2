"""The tests of HDF5, h5py and netCDF, each run natively, with libstria_hdf5 preloaded and, where
the HDF5 is 1.14 or later, with the VOL connector. There is no difference between their outcomes.

From the environment: STRIA_HDF5_PRELOAD (the library), STRIA_HDF5_PLUGINS (the connector's folder),
STRIA_NEWER_HDF5 (where scripts/newer_hdf5.sh built HDF5 1.14) and STRIA_SUITES (where
scripts/io_suites.sh built the programs for Open MPI). scripts/check_hdf5.sh makes them.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from mpiexec_env import mpiexec_environment

NEWER = pathlib.Path(os.environ["STRIA_NEWER_HDF5"])
SUITES = pathlib.Path(os.environ["STRIA_SUITES"])
WAYS = {
    "preload": {"LD_PRELOAD": os.environ["STRIA_HDF5_PRELOAD"]},
    "connector": {"HDF5_VOL_CONNECTOR": "stria", "HDF5_PLUGIN_PATH": os.environ["STRIA_HDF5_PLUGINS"]},
}
LIMIT_SECONDS = 900
PARALLEL = ["testphdf5", "t_shapesame", "t_filters_parallel"]
# They ask for a pattern of bytes that no call for data decides, or measure times.
NETCDF_LEFT_OUT = {"tst_broken_files"}


def programs():
    """Names, and what to run: the number of ranks, the command, and the ways."""
    yield "api", 0, [NEWER / "serial/bin/h5_api_test"], ["preload", "connector"]
    yield "api_parallel", 2, [NEWER / "openmpi/bin/h5_api_test_parallel"], ["preload", "connector"]
    for name in [*PARALLEL, "t_pmulti_dset", "t_select_io_dset"]:
        yield f"newer_{name}", 2, [NEWER / "openmpi/bin" / name], ["preload", "connector"]
    for name in PARALLEL:
        yield f"system_{name}", 2, [SUITES / "hdf5" / name], ["preload"]
    for program in sorted((SUITES / "netcdf").glob("tst_*")):
        if program.suffix == "" and program.name not in NETCDF_LEFT_OUT:
            ranks = 4 if re.search("par|mpi|simplerw_coll", program.name) else 0
            yield f"netcdf_{program.name}", ranks, [program], ["preload"]
    h5py = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "--tb=no", "--pyargs", "h5py"]
    yield "h5py", 0, h5py, ["preload", "connector"]


def outcome(directory, ranks, command, way):
    """Returns the exit status, and every line by which a test says how it went, without its
    numbers."""
    directory.mkdir()
    full = ["mpiexec.openmpi", "-n", str(ranks)] if ranks else []
    full += ["env", *(f"{name}={value}" for name, value in WAYS.get(way, {}).items()), *map(str, command)]
    try:
        done = subprocess.run(
            full, env=mpiexec_environment(), cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=LIMIT_SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "no end", []
    lines = [line.split(" - ")[0].rstrip() for line in done.stdout.splitlines()]
    said = [line for line in lines if re.search(r"PASSED|FAILED|SKIP|ERROR|\bok\b|did not pass|errors? detected", line)]
    said = [line for line in said if "VOL connector" not in line]  # That line names it.
    return done.returncode, sorted(re.sub(r"[0-9.]+ ?(s|seconds)\b", "", line) for line in said)


CASES = [(name, way) for name, _, _, ways in programs() for way in ways]
KNOWN = {name: (ranks, command) for name, ranks, command, _ in programs()}
natively = {}


@pytest.mark.parametrize(("name", "way"), CASES)
def test_there_is_no_difference(tmp_path, name, way):
    ranks, command = KNOWN[name]
    if not pathlib.Path(command[0]).exists():
        pytest.skip(f"{command[0]} was not built")
    if name not in natively:
        natively[name] = outcome(tmp_path / "native", ranks, command, None)
    code, said = natively[name]
    ours = outcome(tmp_path / way, ranks, command, way)
    differences = {"natively": sorted(set(said) - set(ours[1])), way: sorted(set(ours[1]) - set(said))}
    assert ours == (code, said), f"exit {code} natively, {ours[0]} with it; said only {differences}"
    if code == "no end":
        pytest.skip(f"natively it takes more than {LIMIT_SECONDS} s as well")

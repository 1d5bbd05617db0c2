"""A program that is killed at any operation of a commit with parity leaves a whole file, whose
parity is its own; and such a file is read without a part on any number of ranks.
"""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import stria
import stria_program

SHAPE = (64, 1000)


def write(value, parts):
    hints = {"stria_parity": "1", "stria_subfiles": str(parts)}
    with stria.create("run.h5", hints=hints) as file:
        file.create_dataset("x", SHAPE)[:] = np.full(SHAPE, float(value))
        file.create_dataset("packed", SHAPE, compress="zstd")[:] = np.full(SHAPE, float(value))


def read():
    """Checks the file; returns how many warnings there were."""
    with stria.open("run.h5", verify=True) as file:
        values = {float(value) for name in ("x", "packed") for value in np.unique(file[name][:])}
        assert values in ({1.0}, {2.0}), values
        return len(file.hint_warnings)


ON_RANKS = """
import numpy as np
import stria
from mpi4py import MPI
comm = MPI.COMM_WORLD
rows = slice(64 * comm.rank // comm.size, 64 * (comm.rank + 1) // comm.size)
with stria.open("run.h5", comm, verify=True) as file:
    assert (file["x"][rows] == 1.0).all()
    assert len(file.hint_warnings) == 1, file.hint_warnings
with stria.create("again.h5", comm, hints={"stria_parity": "2", "stria_subfiles": "3"}) as file:
    file.create_dataset("x", (64, 1000))[rows] = np.full((rows.stop - rows.start, 1000), 3.0)
comm.Barrier()
if comm.rank == 0:
    import os
    (generation,) = {name.split("-")[1] for name in os.listdir(".") if name.startswith("again.h5.part-")}
    os.unlink(f"again.h5.part-{generation}-1")
    os.unlink(f"again.h5.parity-{generation}-0")
comm.Barrier()
with stria.open("again.h5", comm, verify=True) as file:
    assert (file["x"][rows] == 3.0).all()
"""
MOST_OPERATIONS = 400


def in_child(directory, call, *words, fault=""):
    """Calls in a process of its own, forked from this one, which only imports stria; returns the
    exit status, or the negative signal, and what it returned or raised."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(directory)
        os.environ |= {"STRIA_FAULT": fault} if fault else {}
        try:
            told, code = repr(call(*words)), 0
        except BaseException as error:
            told, code = repr(error), 1
        os.write(theirs, told.encode()[:4096])
        os._exit(code)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        told = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def run_on_ranks(directory, program, ranks):
    (directory / "program.py").write_text(program)
    command = [stria_program.MPIEXEC, "-n", str(ranks), sys.executable, "program.py"]
    return subprocess.run(
        command, cwd=directory, env=stria_program.environment(), capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize("parts", [0, 3])
def test_killed_at_every_operation(work, parts):
    assert in_child(work, write, 1, parts)[0] == 0
    kills = 0
    # Each is an operation of the driver; the file that is there is the one of the kill before.
    for nth in range(1, MOST_OPERATIONS, int(os.environ.get("STRIA_KILL_STEP", "3"))):
        code, told = in_child(work, write, 1 + nth % 2, parts, fault=f"any:nth={nth}:kill")
        if code == 0:
            break
        assert code == -signal.SIGKILL, told
        kills += 1
        assert in_child(work, read) == (0, "0")
        looked = stria_program.run("repair", "--dry-run", work / "run.h5")
        assert looked.code == 0, f"killed at {nth}: {looked}"
    assert kills > 5
    assert nth < MOST_OPERATIONS - 3
    assert not [name for name in os.listdir(work) if "partial" in name]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_read_without_a_part_on_ranks(work, ranks):
    assert in_child(work, write, 1, 4)[0] == 0
    (work / "run.h5.part-1-2").unlink()
    done = run_on_ranks(work, ON_RANKS, ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    stria_program.run("repair", work / "run.h5").succeeded()
    stria_program.run("repair", work / "again.h5").succeeded()
    assert in_child(work, read) == (0, "0")

"""A program that is killed at any operation of a commit with parity leaves a whole file, whose
parity is its own; and such a file is read without a part on any number of ranks.
"""

import os
import signal
import subprocess
import sys

import pytest
import stria_program

WRITE = """
import sys
import numpy as np
import stria
hints = {"stria_parity": "1", "stria_subfiles": sys.argv[2]}
with stria.create("run.h5", hints=hints) as file:
    file.create_dataset("x", (64, 1000))[:] = np.full((64, 1000), float(sys.argv[1]))
    file.create_dataset("packed", (64, 1000), compress="zstd")[:] = np.full((64, 1000), float(sys.argv[1]))
"""
READ = """
import numpy as np
import stria
with stria.open("run.h5", verify=True) as file:
    values = {float(v) for name in ("x", "packed") for v in np.unique(file[name][:])}
    assert values in ({1.0}, {2.0}), values
    print(len(file.hint_warnings))
"""
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


def run(directory, program, *words, fault="", ranks=0):
    (directory / "program.py").write_text(program)
    command = [sys.executable, "program.py", *map(str, words)]
    if ranks:
        command = [stria_program.MPIEXEC, "-n", str(ranks), *command]
    environment = stria_program.environment(fault)
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=100)


def value_read(directory):
    done = run(directory, READ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("parts", [0, 3])
def test_killed_at_every_operation(work, parts):
    assert run(work, WRITE, 1, parts).returncode == 0
    kills = 0
    # Each is an operation of the driver; the file that is there is the one of the kill before.
    for nth in range(1, MOST_OPERATIONS, int(os.environ.get("STRIA_KILL_STEP", "3"))):
        done = run(work, WRITE, 1 + nth % 2, parts, fault=f"any:nth={nth}:kill")
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        kills += 1
        assert value_read(work) == "0"
        looked = stria_program.run("repair", "--dry-run", work / "run.h5")
        assert looked.code == 0, f"killed at {nth}: {looked}"
    assert kills > 5
    assert nth < MOST_OPERATIONS - 3
    assert not [name for name in os.listdir(work) if "partial" in name]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_read_without_a_part_on_ranks(work, ranks):
    assert run(work, WRITE, 1, 4).returncode == 0
    (work / "run.h5.part-1-2").unlink()
    done = run(work, ON_RANKS, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    stria_program.run("repair", work / "run.h5").succeeded()
    stria_program.run("repair", work / "again.h5").succeeded()
    assert value_read(work) == "0"

"""The programs of the how-to pages run as they are printed, on two ranks."""

import os
import pathlib
import re
import subprocess
import sys

import h5py
import pytest
import stria_program

PAGES = pathlib.Path(stria_program.ROOT) / "docs" / "howto"
PROGRAMS = {
    path.stem: "\n".join(re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE))
    for path in PAGES.glob("*.md")
}
# What each leaves: file, dataset, shape.
MADE = {
    "write_amr_blocks": ("amr.h5", "pres", (3 + 4, 8, 8, 8)),
    "restart_on_more_ranks": ("checkpoint.h5", "dens", (10, 8, 8, 8)),
    "add_rows": ("probe.h5", "temperature", (3, 2, 100)),
    "compute_while_writing": ("step.h5", "dens", (20, 8, 8, 8)),
    "check_files": ("whole.h5", "dens", (10, 8, 8, 8)),
    "look_at_files": ("run.h5", "dens", (4, 8)),
    "compress": ("small.h5", "dens", (8, 16, 16, 16)),
    "name_dimensions": ("named.h5", "dens", (2, 8)),
    "write_many_files": ("parts.h5", "dens", (10, 8, 8, 8)),
    "survive_a_lost_disk": ("safe.h5", "dens", (10, 8, 8, 8)),
}


def test_every_program_is_tried():
    assert {name for name, program in PROGRAMS.items() if program} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_program(work, name):
    ranks = 2 if "mpi4py" in PROGRAMS[name] else 1
    (work / "program.py").write_text(PROGRAMS[name])
    done = subprocess.run(
        [stria_program.MPIEXEC, "-n", str(ranks), sys.executable, "program.py"],
        cwd=work, env=stria_program.environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    file, dataset, shape = MADE[name]
    with h5py.File(work / file) as h:
        assert h[dataset].shape == shape
        assert (h[dataset][...] != 0).any()


def test_the_tables_of_a_trace(work):
    """The tables are those that look_at_files describes; only programs of MPI leave a trace."""
    (work / "program.py").write_text(
        "import numpy as np\nimport stria\nfrom mpi4py import MPI\n"
        "with stria.create('traced.h5', MPI.COMM_WORLD) as f:\n"
        "    f.create_dataset('x', (1000,))[:] = np.arange(1000.0)\n"
    )
    (work / "tables.py").write_text(
        "import pathlib, stria\n"
        "(trace,) = pathlib.Path('traces').glob('*.stria-trace')\n"
        "events, counters = stria.trace_table(trace), stria.trace_table(trace, 'counters')\n"
        "assert events.groupby('kind')['bytes'].sum()['Dataset::put'] == 8000\n"
        "assert counters['bytes_written'].sum() >= 8000\n"
    )
    tracing = {**stria_program.environment(), "STRIA_TRACE": "full", "STRIA_TRACE_DIR": "traces"}
    command = str(pathlib.Path(stria_program.PROGRAM).parent)
    looking = {**stria_program.environment(), "PATH": command + os.pathsep + os.environ["PATH"]}
    for words, environment in [
        ([stria_program.MPIEXEC, "-n", "1", sys.executable, "program.py"], tracing),
        ([sys.executable, "tables.py"], looking),
    ]:
        done = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr

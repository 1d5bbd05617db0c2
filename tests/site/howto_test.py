"""The programs of the how-to pages run as they are printed, on two ranks."""

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

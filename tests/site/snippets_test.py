"""The pieces of Python that the other pages print, on two ranks: those of a page one behind the
other, with what the page takes for granted before them."""

import pathlib
import re
import subprocess
import sys

import h5py
import pytest
import stria_program

ROOT = pathlib.Path(stria_program.ROOT)
WITH_MPI = """
import numpy as np
import stria
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
"""
BLOCKS = """
blocks, mine = 3 * comm.size, 3
first = mine * comm.rank
last = first + mine
unk = np.ones((mine, 16, 16, 16, 2))
"""
# What comes before the piece of that number.
BEFORE = {
    "README.md": {0: WITH_MPI + BLOCKS},
    "docs/index.md": {0: WITH_MPI + BLOCKS},
    "docs/python.md": {
        0: WITH_MPI + BLOCKS,
        1: "dens, levels, y, x = np.ones((260, 260)), np.arange(5), 256 * rank, 0\n",
        2: "mine, time = np.full(100, 300.0), 0.25\n",
        3: "particles = np.ones(3 + rank, [('mass', 'f8'), ('kind', 'i4')])\n"
        "cells, dens, offsets = 8 * ranks, np.ones(8), np.arange(8) * ranks + rank\n",
    },
    "docs/tutorial.md": {
        0: WITH_MPI + "if comm.rank > 0:\n    import os; os.makedirs('other'); os.chdir('other')\n",
        2: "if rank > 0:\n    os.chdir('..')\nparticles = np.ones(3 + rank, [('mass', 'f4'), ('kind', 'i4')])\n",
        3: BLOCKS + "v = 0\n"
        "f = stria.create('checkpoint.h5', comm)\ndataset, blocks = f.create_dataset('dens', (blocks, 8, 8, 8)), mine\n",
        4: "f.commit()\nf.close()\n",
    },
}
# What each leaves: file, dataset, shape.
MADE = {
    "README.md": [("run_chk_0001", "dens", (6, 8, 8, 8))],
    "docs/index.md": [("run_chk_0001", "dens", (6, 8, 8, 8))],
    "docs/python.md": [
        ("run_chk_0001.h5", "dens", (6, 8, 8, 8)),
        ("step.h5", "dens", (512, 256)),
        ("probe.h5", "temperature", (1, 2, 100)),
        ("particles.h5", "mass", (7,)),
        ("particles.h5", "dens", (16,)),
    ],
    "docs/tutorial.md": [
        ("table.h5", "waves", (2, 4)),
        ("particles.h5", "mass", (7,)),
        ("checkpoint.h5", "dens", (6, 8, 8, 8)),
    ],
}


def pieces_of(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)


def test_every_page_is_tried():
    pages = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
    assert {page for page in pages if pieces_of(page)} == set(BEFORE) == set(MADE)


@pytest.mark.parametrize("page", MADE)
def test_pieces(work, page):
    program = "".join(BEFORE[page].get(i, "") + piece for i, piece in enumerate(pieces_of(page)))
    (work / "program.py").write_text(program)
    done = subprocess.run(
        [stria_program.MPIEXEC, "-n", "2", sys.executable, "program.py"],
        cwd=work, env=stria_program.environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for file, dataset, shape in MADE[page]:
        with h5py.File(work / file) as h:
            assert h[dataset].shape == shape and (h[dataset][...] != 0).any(), dataset

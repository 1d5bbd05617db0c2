"""A checkpoint of AMR blocks with ghost cells: variables interleaved in memory, one dataset per
variable in the file, nothing packed first.

mpiexec -n 4 python checkpoint.py checkpoint.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
blocks, n, ghosts = 20, 8, 4  # blocks of one rank
wide = n + 2 * ghosts
first = comm.rank * blocks
unk = np.empty((blocks, wide, wide, wide, 2))
unk[:] = first + np.arange(blocks).reshape(-1, 1, 1, 1, 1) + 0.1 * np.arange(2)
inner = slice(ghosts, -ghosts)

with stria.create(sys.argv[1] if len(sys.argv) > 1 else "checkpoint.h5", comm) as f:
    for v, name in enumerate(["dens", "pres"]):
        dataset = f.create_dataset(name, (comm.size * blocks, n, n, n))
        dataset.put(slice(first, first + blocks), unk[:, inner, inner, inner, v])
    f.attrs["time"] = 0.25
# All variables travel as one write; only now does the file have its name.

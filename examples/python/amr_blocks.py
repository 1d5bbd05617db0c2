"""Blocks of an adaptive mesh: each rank has another number of them, of two sizes, with ghost cells
around each. The file has a row a block, without ghost cells, and says where each block lies.

mpiexec -n 4 python amr_blocks.py blocks.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
# The domain is a row of unit squares, one a rank. Those of odd ranks are refined: four blocks.
n, ghosts = 8, 2
level = 1 + comm.rank % 2
along = 1 if level == 1 else 2
width = 1 / along
corners = np.array([(comm.rank + width * x, width * y) for y in range(along) for x in range(along)])
dens = np.full((along**2, n + 2 * ghosts, n + 2 * ghosts), -1.0)  # the ghosts stay so
inner = dens[:, ghosts:-ghosts, ghosts:-ghosts]
centres = (np.arange(n) + 0.5) * width / n
inner[:] = corners[:, 0, None, None] + centres + 10 * (corners[:, 1, None, None] + centres[:, None])

with stria.create(sys.argv[1] if len(sys.argv) > 1 else "blocks.h5", comm) as f:
    where, total = f.place_rows(len(dens))  # where this rank's go, and how many all have
    f.create_dataset("level", (total,), "i4")[where] = np.full(len(dens), level)
    f.create_dataset("corner", (total, 2))[where] = corners
    f.create_dataset("dens", (total, n, n))[where] = inner
    f.attrs["time"] = 0.25
if comm.rank == 0:
    print(total, "blocks")

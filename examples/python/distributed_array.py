"""A distributed array: a global grid of two dimensions, of which each rank has a box with a layer
of ghost cells around it. The file has the grid whole, whatever the number of ranks; then it is read
by other boxes.

mpiexec -n 4 python distributed_array.py grid.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = sys.argv[1] if len(sys.argv) > 1 else "grid.h5"
ny, nx = 60, 42
down, across = MPI.Compute_dims(comm.size, 2)
row, column = divmod(comm.rank, across)
y = slice(ny * row // down, ny * (row + 1) // down)
x = slice(nx * column // across, nx * (column + 1) // across)
grid = 1000.0 * np.arange(ny)[:, None] + np.arange(nx)
density = np.pad(grid[y, x], 1, constant_values=-1)  # the box and its ghosts

whole = stria.DistributedArray(density, start=(y.start, x.start), shape=(ny, nx), ghosts=1)
stria.write(path, {"density": whole}, comm)

with stria.open(path, comm) as f:
    mine = f.share_rows(ny)
    same = np.array_equal(f["density"][mine], grid[mine])
same_everywhere = comm.allreduce(same, MPI.LAND)
if comm.rank == 0:
    print(f"boxes of {down} x {across} ranks, read by rows: {'as written' if same_everywhere else 'different'}")

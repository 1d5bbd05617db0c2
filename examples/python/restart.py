"""Reads a checkpoint on any number of ranks: each takes its share of the blocks.

mpiexec -n 3 python restart.py checkpoint.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
# Compared with its checksums on the way.
with stria.open(sys.argv[1] if len(sys.argv) > 1 else "checkpoint.h5", comm, verify=True) as f:
    dens = f["dens"]
    mine = f.share_rows(len(dens))
    blocks = dens[mine]
    time = f.attrs["time"]

same = np.array_equal(blocks[:, 0, 0, 0], np.arange(mine.start, mine.stop))
same_everywhere = comm.allreduce(same, MPI.LAND)
if comm.rank == 0:
    print(f"{len(dens)} blocks of time {time:g}, {'as written' if same_everywhere else 'different'}")

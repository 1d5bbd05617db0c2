"""Commits in the background: a snapshot after every step is written while the next step computes.

mpiexec -n 4 python async.py snapshot    # writes snapshot_0.h5, snapshot_1.h5, snapshot_2.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
base = sys.argv[1] if len(sys.argv) > 1 else "snapshot"
cells = 1000  # the cells of one rank
field = np.full(cells, float(comm.rank))
previous = None
for step in range(3):
    field += 0.5  # the computation: the snapshot before may still be on its way
    if previous is not None:
        previous.wait()  # raises what went wrong, the same on every rank
    with stria.create(f"{base}_{step}.h5", comm) as f:
        f.create_dataset("field", (comm.size * cells,))[comm.rank * cells : (comm.rank + 1) * cells] = field
        f.attrs["step"] = np.int32(step)
        previous = f.commit_async()  # returns once all is packed: field may change then
previous.wait()

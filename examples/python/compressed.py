"""A compressed dataset: chunks that are shuffled and deflated, which every HDF5 reads. Ranks put
what they have; it needn't fit the chunks.

mpiexec -n 4 python compressed.py compressed.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
mine, columns = 64, 256  # rows of one rank
rows = np.arange(comm.rank * mine, (comm.rank + 1) * mine)
temperature = 300 + 0.25 * ((rows[:, None] + np.arange(columns)) // 8)

with stria.create(sys.argv[1] if len(sys.argv) > 1 else "compressed.h5", comm) as f:
    # Chunks that aren't given are whole rows, about a megabyte of them.
    dataset = f.create_dataset("temperature", (comm.size * mine, columns), "f4", compress=True, chunks=(50, 100))
    dataset[rows[0] : rows[-1] + 1] = temperature
    f.commit()
    if comm.rank == 0:
        print(f"{f.report['useful_bytes']} bytes of numbers, a file of {f.report['file_bytes']}")

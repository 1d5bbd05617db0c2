"""A time series: each step adds a row, from memory that the next step uses again.

mpiexec -n 4 python time_series.py series.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
steps, cells = 5, 100  # the cells of one rank
times = 0.5 * np.arange(steps)
temperature = np.empty(cells)

with stria.create(sys.argv[1] if len(sys.argv) > 1 else "series.h5", comm) as f:
    series = f.create_dataset("temperature", (steps, comm.size * cells), "f4")
    for step in range(steps):
        temperature[:] = 300 + times[step] + comm.rank
        series[step, comm.rank * cells : (comm.rank + 1) * cells] = temperature
        f.flush()  # moves the row: the memory is free again
    series.attrs["times"] = times

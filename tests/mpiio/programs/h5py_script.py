"""An unmodified parallel h5py script: every rank writes its rows, collectively and alone, and reads
its neighbour's."""

import sys

import h5py
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
    alone = file.create_dataset("alone", (ranks * 10, 500), "f8", track_times=False)
    together = file.create_dataset("together", (ranks * 10, 500), "f8", chunks=(10, 100), track_times=False)
    rows = numpy.arange(5000.0).reshape(10, 500) + rank
    alone[rank * 10 : (rank + 1) * 10] = rows
    with together.collective:
        together[rank * 10 : (rank + 1) * 10] = rows
with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
    other = (rank + 1) % ranks
    for name in ("alone", "together"):
        values = file[name][other * 10 : (other + 1) * 10]
        assert (values == numpy.arange(5000.0).reshape(10, 500) + other).all(), name

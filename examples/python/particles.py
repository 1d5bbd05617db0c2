"""Particles: each rank has another number of them, in an array of records; the file has one dataset
a member, the particles of rank 0 first.

mpiexec -n 4 python particles.py particles.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
particle = np.dtype([("x", "f8"), ("y", "f8"), ("mass", "f4"), ("id", "i8")], align=True)
particles = np.zeros(1000 + 10 * comm.rank, particle)
particles["x"] = 0.5 * np.arange(len(particles))
particles["y"] = -1.0 * comm.rank
particles["mass"] = 2
particles["id"] = 100000 * comm.rank + np.arange(len(particles))

with stria.create(sys.argv[1] if len(sys.argv) > 1 else "particles.h5", comm) as f:
    where, total = f.place_rows(len(particles))  # where this rank's go, and how many all have
    for name in particle.names:
        f.create_dataset(name, (total,), particle[name])[where] = particles[name]
    f.attrs["time"] = 0.25
if comm.rank == 0:
    print(total, "particles")

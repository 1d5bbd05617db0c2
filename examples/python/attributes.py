"""Attributes: what the numbers of a file mean. Numbers, strings, booleans, complex numbers,
references and lists are set on the file and on a dataset, then listed and read back.

mpiexec -n 4 python attributes.py attributes.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = sys.argv[1] if len(sys.argv) > 1 else "attributes.h5"
with stria.create(path, comm) as f:
    air = f.create_dataset("air", (4 * comm.size,), "f4")
    air[4 * comm.rank : 4 * comm.rank + 4] = np.full(4, 300 + comm.rank)
    # All ranks set the same. Those of f are of the file itself.
    f.attrs["title"] = "a room"
    f.attrs["shown"] = [air]  # references to objects
    air.attrs["unit"] = "K"
    air.attrs["axes"] = ["x", "height"]
    air.attrs["step"] = np.int32(7)
    air.attrs["cells"] = [4, 1]
    air.attrs["error"] = np.float32(0.5)
    air.attrs["times"] = [0.0, 0.25, 0.5]
    air.attrs["closed"] = True
    air.attrs["walls"] = [True, False]
    air.attrs["mode"] = 1 - 2j
    air.attrs["modes"] = [1, 0.5j]

with stria.open(path, comm) as f:
    attributes = f["air"].attrs.items()  # collective
    shown = f.attrs["shown"]
if comm.rank == 0:
    for name, value in attributes:
        print(f"{name}: {getattr(value, 'dtype', type(value).__name__)}")
    air = dict(attributes)
    print(
        f"{shown[0]} in {air['unit']}, step {air['step']}, time {air['times'][-1]:g}, "
        f"{'closed' if air['closed'] else 'open'}, mode {air['mode'].real:g}{air['mode'].imag:+g}i"
    )

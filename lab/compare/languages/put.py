"""put.cpp in Python, through stria; or through h5py, where `h5py` is the first argument."""

import sys

import numpy as np
from mpi4py import MPI

GUARD, VARIABLES = 4, 24
INSIDE = slice(GUARD, -GUARD)


def main():
    through, (what, rounds, number, path) = "stria", sys.argv[-4:]
    if len(sys.argv) == 6:
        through = sys.argv[1]
    rounds, number = int(rounds), int(number)
    wide, blocks = (24, number) if what == "checkpoint" else (16, 1)
    unk = np.arange(blocks * wide**3 * VARIABLES, dtype="i4") % 1000 + float(MPI.COMM_WORLD.rank)
    unk = unk.reshape(blocks, wide, wide, wide, VARIABLES)
    write = {"stria": checkpoint, "h5py": checkpoint_h5py}[through]
    for _ in range(rounds):
        seconds = write(unk, path) if what == "checkpoint" else calls(unk, number, path)
        if MPI.COMM_WORLD.rank == 0:
            print(f"{seconds:.9f}", flush=True)


def calls(unk, count, path):
    import stria

    with stria.create(path, MPI.COMM_WORLD, sync=False) as f:
        dens = f.create_dataset("dens", (count, 8, 8, 8))
        begin = MPI.Wtime()
        for i in range(count):
            dens.put(slice(i, i + 1), unk[:, INSIDE, INSIDE, INSIDE, 0])
        seconds = MPI.Wtime() - begin
        f.discard()
    return seconds


def checkpoint(unk, path):
    import stria

    comm, blocks = MPI.COMM_WORLD, len(unk)
    mine = slice(comm.rank * blocks, (comm.rank + 1) * blocks)
    comm.barrier()
    begin = MPI.Wtime()
    with stria.create(path, comm, sync=False) as f:
        for v in range(VARIABLES):
            f.create_dataset(f"v{v + 1}", (comm.size * blocks, 16, 16, 16)).put(mine, unk[:, INSIDE, INSIDE, INSIDE, v])
    return MPI.Wtime() - begin


def checkpoint_h5py(unk, path):
    import h5py

    comm, blocks = MPI.COMM_WORLD, len(unk)
    mine = slice(comm.rank * blocks, (comm.rank + 1) * blocks)
    comm.barrier()
    begin = MPI.Wtime()
    with h5py.File(path, "w", driver="mpio", comm=comm) as f:
        for v in range(VARIABLES):
            f.create_dataset(f"v{v + 1}", (comm.size * blocks, 16, 16, 16), "f8")[mine] = unk[:, INSIDE, INSIDE, INSIDE, v]
    return MPI.Wtime() - begin


main()

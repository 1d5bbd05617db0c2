"""Reads a file by many indices, by h5py and by stria in turn: prints of each index a line with its
name and the seconds of both, the best of some rounds. Each rank has a part of the rows, which is
the dataset of one alone; what both read is compared. Several ranks read each by itself, and then
all together."""

import sys

import h5py
import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
LINE, SHORT, PLANE, CUBE = 4_000_000, 20_000, 2000, (200, 200, 100)


def make(path):
    random = np.random.default_rng(1)
    plane = random.random((PLANE, PLANE))
    with h5py.File(path, "w") as f:
        f["line"] = random.random(LINE)
        f["short"] = random.random(SHORT)  # h5py takes long for masks
        f["plane"] = plane
        f["cube"] = random.random(CUBE)
        f.create_dataset("chunks", data=plane, chunks=(100, 500))
        f.create_dataset("deflated", data=plane, chunks=(100, 500), compression="gzip", compression_opts=1)


def indices(size):
    """Returns the name of an index, the dataset, and the index within this rank's rows."""
    random = np.random.default_rng(2)
    line, rows = LINE // size, PLANE // size
    few = np.sort(random.choice(rows, rows // 7, replace=False))
    every = np.s_[:, ::3]
    yield "[::2]", "line", line, np.s_[::2]
    yield "[::7]", "line", line, np.s_[::7]
    yield "[::50]", "line", line, np.s_[::50]
    yield "half masked", "short", SHORT // size, random.random(SHORT // size) < 0.5
    yield "[::4, ::4]", "plane", rows, np.s_[::4, ::4]
    yield "[:, ::3]", "plane", rows, every
    yield "[rows]", "plane", rows, few
    yield "[mask of rows]", "plane", rows, random.random(rows) < 0.3
    yield "[::2, ::2, ::2]", "cube", CUBE[0] // size, np.s_[::2, ::2, ::2]
    yield "chunks [::4, ::4]", "chunks", rows, np.s_[::4, ::4]
    yield "deflated [::4, ::4]", "deflated", rows, np.s_[::4, ::4]


def of_rank(index, rows):
    """Returns the same index in the rows of this rank."""
    first, *others = index if isinstance(index, tuple) else (index,)
    if isinstance(first, slice):
        first = slice(comm.rank * rows + (first.start or 0), (comm.rank + 1) * rows, first.step)
    elif first.dtype == bool:
        mask = np.zeros(rows * comm.size, bool)
        mask[comm.rank * rows : (comm.rank + 1) * rows] = first
        first = mask
    else:
        first = first + comm.rank * rows
    return (first, *others)


def best(read, rounds):
    seconds = []
    for _ in range(rounds):
        comm.barrier()
        begin = MPI.Wtime()
        found = read()
        seconds.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return min(seconds), found


class Together:
    """Datasets of h5py that all ranks read by calls of all."""

    def __init__(self, file):
        self.file = file

    def __getitem__(self, name):
        return CollectiveDataset(self.file[name])


class CollectiveDataset:
    def __init__(self, dataset):
        self.dataset = dataset

    def __getitem__(self, key):
        with self.dataset.collective:
            return self.dataset[key]


def compare(theirs, mine, rounds, how):
    for name, dataset, rows, index in indices(comm.size):
        key = of_rank(index, rows)
        by_h5py, expected = best(lambda: theirs[dataset][key], rounds)  # noqa: B023 - called here
        by_stria, found = best(lambda: mine[dataset][key], rounds)  # noqa: B023
        if not np.array_equal(found, expected):
            raise SystemExit(f"{name}{how}: what stria has read is something else")
        if comm.rank == 0:
            print(f"{by_h5py:.9f} {by_stria:.9f} {name}{how}", flush=True)


def main():
    path, rounds = sys.argv[1], int(sys.argv[2])
    if comm.rank == 0:
        make(path)
    comm.barrier()
    alone = comm.size == 1
    theirs = h5py.File(path) if alone else h5py.File(path, driver="mpio", comm=comm)
    with theirs, stria.open(path, None if alone else comm) as mine:
        # h5py reads by each rank alone, unless it is told otherwise.
        with mine.alone() as own:
            compare(theirs, own, rounds, "")
        if not alone:
            compare(Together(theirs), mine, rounds, ", all together")


main()

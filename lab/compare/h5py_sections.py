"""An unmodified h5py script of several ranks that writes strided sections of NumPy arrays, and
reads into them. Prints the seconds of the fastest round, as hdf5_hyperslabs does.

usage: h5py_sections.py FILE VARIABLES CELLS ROUNDS"""

import json
import os
import sys

import h5py
import numpy
from mpi4py import MPI

GUARD = 4


def move(path, cells, sections, writes):
    """Moves one section for each variable, and returns the seconds."""
    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    MPI.COMM_WORLD.Barrier()
    begin = MPI.Wtime()
    with h5py.File(path, "w" if writes else "r", driver="mpio", comm=MPI.COMM_WORLD) as file:
        for name, section in sections.items():
            if writes:
                dataset = file.create_dataset(name, (ranks, *cells[section].shape), "f8", track_times=False)
                dataset.write_direct(cells, section, numpy.s_[rank])
            else:
                file[name].read_direct(cells, numpy.s_[rank], section)
    MPI.COMM_WORLD.Barrier()
    return MPI.Wtime() - begin


def main(path, variables, length, rounds):
    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    width = length + 2 * GUARD
    values = numpy.arange(width**3 * variables, dtype="f8").reshape(width, width, width, variables) + rank
    inside = slice(GUARD, -GUARD)
    sections = {f"v{v}": (inside, inside, inside, v) for v in range(variables)}
    sections["strided"] = (slice(None, None, 2), slice(1, None, 3), inside, 0)
    writing, reading = [], []
    for _ in range(rounds):
        if rank == 0 and os.path.exists(path):
            os.unlink(path)
        writing.append(move(path, values, sections, writes=True))
        cells = numpy.full_like(values, -1)
        reading.append(move(path, cells, sections, writes=False))
        for section in sections.values():
            assert (cells[section] == values[section]).all()
    if rank == 0:
        moved = sum(values[section].nbytes for section in sections.values()) * ranks
        seconds = {"write_seconds": min(writing), "read_seconds": min(reading)}
        print(json.dumps({"megabytes": moved / 1e6} | seconds))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

"""An unmodified h5py script that writes strided sections of arrays, and reads into them. With
mpi4py and an h5py for MPI every rank has its rows; without, one process has all.

usage: h5py_sections.py FILE [mpi]"""

import sys

import h5py
import numpy

rank, ranks, more = 0, 1, {}
if sys.argv[2:] == ["mpi"]:
    from mpi4py import MPI

    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    more = {"driver": "mpio", "comm": MPI.COMM_WORLD}

cells = numpy.arange(10 * 12 * 14, dtype="f8").reshape(10, 12, 14) + 1000 * rank
inside = numpy.s_[2:-2, 2:-2, 2:-2]
shape = cells[inside].shape
with h5py.File(sys.argv[1], "w", **more) as file:
    for name, options in {
        "whole": {},
        "narrow": {"dtype": "f4"},
        "chunks": {"chunks": (3, 4, 5)},
        "records": {"dtype": [("a", "f8"), ("b", "i4")]},
    }.items():
        chunks = (1, *options["chunks"]) if "chunks" in options else None
        dtype = options.get("dtype", "f8")
        dataset = file.create_dataset(name, (ranks, *shape), dtype, chunks=chunks, track_times=False)
        memory = h5py.h5s.create_simple(cells.shape)
        memory.select_hyperslab((2, 2, 2), shape)
        place = dataset.id.get_space()
        place.select_hyperslab((rank, 0, 0, 0), (1, *shape))
        if name == "records":
            values = numpy.zeros(cells.shape, dataset.dtype)
            values["a"], values["b"] = cells, cells + 1
        else:
            values = cells.copy()
        dataset.id.write(memory, place, values)
        again = numpy.full_like(values, -1)
        dataset.id.read(memory, place, again)
        assert (again[inside] == values[inside]).all(), name
        again[inside] = -1
        assert (again == numpy.full_like(values, -1)).all(), name
        if name == "whole":
            dataset[rank, ::2, 1::3] = cells[inside][::2, 1::3] * 2
            back = numpy.zeros((*shape, 2))
            dataset.read_direct(back, numpy.s_[rank], numpy.s_[:, :, :, 1])
            assert (back[::2, 1::3, :, 1] == 2 * cells[inside][::2, 1::3]).all()
            assert (back[..., 0] == 0).all()

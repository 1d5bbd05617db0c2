"""Writes the same data with any number of ranks: equal_data.py PATH KIND [CHANGE [ORDER]].

KIND says how: plain, compressed, parts, records, growing, packed. CHANGE is added to one number.
With the ORDER `backwards`, datasets are made in the opposite order.
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
ROWS = 24
RECORD = np.dtype([("id", "i4"), ("x", "f8"), ("name", "S6")])


def of_rank(length):
    return slice(length * comm.rank // comm.size, length * (comm.rank + 1) // comm.size)


def put(f, name, data, **how):
    mine = of_rank(len(data))
    f.create_dataset(name, data.shape, data.dtype, **how)[mine] = data[mine]


def blocks(change):
    data = np.arange(ROWS * 4 * 32.0).reshape(ROWS, 4, 32)
    data[3, 1, 5] += change
    return data


def put_mesh(f, change, backwards, **how):
    datasets = [("mesh/dens", blocks(change)), ("mesh/level", np.arange(ROWS, dtype="i4")), ("pres", -blocks(0))]
    for name, data in reversed(datasets) if backwards else datasets:
        put(f, name, data, **(how if data.ndim == 3 else {}))
    f.create_strings("names", ["dens", "pres"])
    columns = f.create_dataset("columns", (ROWS, 60), "f8")
    columns[:, of_rank(60)] = blocks(0)[:, 0, :1] + np.arange(60)[of_rank(60)]


def put_records(f, change):
    f.create_dataset("table", (None,), RECORD)
    for first in (0, 50):
        rows = np.zeros(50, RECORD)
        rows["id"], rows["x"], rows["name"] = np.arange(50), first + change, b"ab"
        mine = of_rank(50)
        f.append_rows("table", 50)[first + mine.start : first + mine.stop] = rows[mine]
        f.flush()


def grow(path, change):
    with stria.create(path, comm) as f:
        f.create_dataset("series", (None, 8), "f8")
        put(f, "first", blocks(0))
    for step in range(3):
        with stria.append(path, comm) as f:
            mine = of_rank(10)
            f.append_rows("series", 10)[10 * step + mine.start : 10 * step + mine.stop] = step + change
            put(f, f"step{step}", blocks(step))


def write(path, kind, change, backwards):
    if kind == "growing":
        grow(path, change)
        return
    how = {"compressed": {"compress": True}, "packed": {"compress": True, "chunks": (2, 4, 32)}}.get(kind, {})
    hints = {"stria_subfiles": "2"} if kind == "parts" else {}
    with stria.create(path, comm, hints=hints) as f:
        if kind == "records":
            put_records(f, change)
        else:
            put_mesh(f, change, backwards, **how)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], float([*sys.argv, "0"][3]), "backwards" in sys.argv)

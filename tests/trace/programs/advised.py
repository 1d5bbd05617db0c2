"""Small programs that show what a rule of the report finds, and the same as the rule's advice has
them. A function for each, named as the rule: `advised` says which of the two.

usage: advised.py RULE FOLDER plain|advised"""

import sys
from pathlib import Path

if sys.argv[1:2] == ["collective_given_up"]:
    import h5py

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
KIB, MIB = 1024, 1024 * 1024
ALONE = {"romio_cb_write": "disable", "romio_cb_read": "disable"}


def numbers(count):
    return np.arange(count, dtype="f8") + comm.rank


def files_of(folder, count, elements, **how):
    """Writes so many files, each with so many numbers of each rank."""
    for number in range(count):
        with stria.create(folder / f"{number}.h5", comm, **how) as f:
            f.create_dataset("x", (comm.size * elements,)).put_rows(numbers(elements), copy=True)


def whole(folder, elements, **how):
    """Writes one file of so many numbers of each rank, and returns its path."""
    with stria.create(folder / "whole.h5", comm, **how) as f:
        f.create_dataset("x", (comm.size * elements,)).put_rows(numbers(elements), copy=True)
    return folder / "whole.h5"


def opened(folder, hints=None):
    """Returns a file of MPI-IO that all ranks write."""
    info = MPI.Info.Create()
    for name, value in (hints or {}).items():
        info.Set(name, value)
    return MPI.File.Open(comm, str(folder / "raw"), MPI.MODE_CREATE | MPI.MODE_RDWR, info)


def written_by_calls(folder, pieces, piece_bytes, order=None, gap_bytes=0):
    """Each rank writes its pieces, which follow each other, by a call each."""
    piece = np.zeros(piece_bytes, "u1")
    file = opened(folder)
    begin = comm.rank * pieces * (piece_bytes + gap_bytes)
    for which in range(pieces) if order is None else order:
        file.Write_at(begin + int(which) * (piece_bytes + gap_bytes), piece)
    file.Close()


def moved_at_once(folder, pieces, piece_bytes, hints=None, *, interleaved=True, gap_bytes=0, call="Write_all"):
    """Returns the same bytes in one call: the ranks' pieces in turns, or each rank's behind each
    other."""
    step = (piece_bytes + gap_bytes) * (comm.size if interleaved else 1)
    filetype = MPI.BYTE.Create_vector(pieces, piece_bytes, step)
    filetype.Commit()
    file = opened(folder, hints)
    file.Set_view(comm.rank * (piece_bytes + gap_bytes) * (1 if interleaved else pieces), MPI.BYTE, filetype)
    getattr(file, call)(np.zeros(pieces * piece_bytes, "u1"))
    file.Close()


def packing(folder, advised):
    cells = np.zeros((40_000, 24))
    with stria.create(folder / "cells.h5", comm) as f:
        for variable in range(24):
            f.create_dataset(f"v{variable}", (comm.size * len(cells),)).put_rows(cells[:, variable])
            if not advised:
                f.flush()


def sync(folder, advised):
    for number in range(8):
        with stria.create(folder / f"{number}.h5", comm, sync=not advised or number == 7) as f:
            f.create_dataset("x", (comm.size * 1000,)).put_rows(numbers(1000), copy=True)


def metadata(folder, advised):
    with stria.create(folder / "many.h5", comm) as f:
        datasets = 1 if advised else 300
        for number in range(datasets):
            d = f.create_dataset(f"d{number}", (comm.size * 3000 // datasets,))
            d.attrs["unit"] = "m"
            d.put_rows(numbers(3000 // datasets), copy=True)


def small_commits(folder, advised):
    files_of(folder, 1 if advised else 30, 3000 if advised else 100)


waiting = small_commits
small_files = sharing_memory = lambda folder, advised: files_of(
    folder, 1 if advised else 70, 7000 if advised else 100, hints={"romio_cb_write": "enable"}
)


def exchange(folder, advised):
    whole(folder, 200_000, hints={"romio_cb_write": "disable" if advised else "enable"})


def collective_by_hint(folder, advised):
    whole(folder, 200_000, hints={} if advised else {"romio_cb_write": "enable"})


def background(folder, advised):
    hints = {"stria_async": "enable"}
    for number in range(1 if advised else 6):
        f = stria.create(folder / f"{number}.h5", comm, hints=hints)
        count = 60_000 if advised else 10_000
        f.create_dataset("x", (comm.size * count,)).put_rows(numbers(count))
        f.commit_async().wait()


def unstaged(folder, advised):
    f = stria.create(folder / "staged.h5", comm, hints={"stria_staging_limit": str(64 * MIB if advised else 100_000)})
    f.create_dataset("x", (comm.size * 300_000,)).put_rows(numbers(300_000))
    f.commit_async().wait()


def element_by_element(folder, advised):
    if advised:
        moved_at_once(folder, 1, 4000 * 8, interleaved=False, call="Write")
    else:
        written_by_calls(folder, 4000, 8)


def small_requests(folder, advised):
    if advised:
        moved_at_once(folder, 400, 4 * KIB, {"romio_cb_write": "enable"})
    else:
        written_by_calls(folder, 400, 4 * KIB)


far_from_limit = small_requests


def unaligned(folder, advised):
    if advised:
        moved_at_once(folder, 400, 5000, {"romio_cb_write": "enable", "striping_unit": "4096"})
    else:
        written_by_calls(folder, 400, 5000)


def random_order(folder, advised):
    order = np.random.default_rng(1).permutation(300)
    written_by_calls(folder, 300, 8 * KIB, sorted(order) if advised else order, gap_bytes=KIB)


def scattered(folder, advised):
    hints = {"romio_cb_write": "enable"} if advised else ALONE | {"romio_ds_write": "disable"}
    moved_at_once(folder, 4000, 512, hints)


def sieved(folder, advised, pieces, piece_bytes, gap_bytes, *, reads=False):
    how = "disable" if advised else "enable"
    hints = ALONE | {"romio_ds_read": how, "romio_ds_write": how}
    call = "Read_all" if reads else "Write_all"
    moved_at_once(folder, pieces, piece_bytes, hints, interleaved=False, gap_bytes=gap_bytes, call=call)


def read_modify_write(folder, advised):
    if comm.rank == 0:
        (folder / "raw").write_bytes(bytes(comm.size * 2000 * 1024))
    comm.Barrier()
    sieved(folder, advised, 2000, 512, 512)


def written_in_excess(folder, advised):
    sieved(folder, advised, 4000, 128, 512)


def read_again(folder, advised):
    path = whole(folder, 300_000)
    with stria.open(path, comm, hints=ALONE) as f:
        if advised:
            f["x"].get_rows()
        else:
            for _ in range(3):
                f["x"][...]


def read_in_excess(folder, advised):
    if comm.rank == 0:
        (folder / "raw").write_bytes(bytes(comm.size * 4000 * 640))
    comm.Barrier()
    sieved(folder, advised, 4000, 128, 512, reads=True)


def aggregator_imbalance(folder, advised):
    unit = 64 * KIB if advised else 64 * MIB
    whole(folder, 100_000, hints={"romio_cb_write": "enable", "cb_nodes": str(comm.size), "striping_unit": str(unit)})


def rows_by_rank(folder, mine):
    with stria.create(folder / "rows.h5", comm, hints=ALONE) as f:
        total = comm.allreduce(mine)
        f.create_dataset("x", (total,)).put_rows(numbers(mine))


def rank_imbalance(folder, advised):
    most = 400_000 - 50_000 * (comm.size - 1)
    rows_by_rank(folder, 200_000 if advised else most if comm.rank == 0 else 50_000)


def one_writer(folder, advised):
    rows_by_rank(folder, 200_000 if advised else comm.size * 200_000 * (comm.rank == 0))


def many_opens(folder, advised):
    path = whole(folder, 100)
    for _ in range(1 if advised else 15):
        with stria.open(path, comm) as f:
            for _ in range(15 if advised else 1):
                f["x"].get_rows()


def hint_problems(folder, advised):
    hints = {"romio_cb_write": "enable" if advised else "enabel", "cb_nodes": "1"}
    whole(folder, 200_000, hints=hints)


def dropped_records(folder, advised):
    small_requests(folder, advised=False)


def collective_given_up(folder, advised):
    with h5py.File(folder / "converted.h5", "w", driver="mpio", comm=comm) as f:
        d = f.create_dataset("x", (2000, comm.size), "f8")
        with d.collective:
            d[:, comm.rank] = np.zeros(2000, "f8" if advised else "f4")


if __name__ == "__main__":
    rule, folder, way = sys.argv[1:]
    globals()[rule](Path(folder), way == "advised")

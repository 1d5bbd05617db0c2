"""The package under mpi4py, on any number of ranks; every test is run by all of them together."""

import h5py
import numpy as np
import pytest
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


@pytest.fixture
def path(tmp_path_factory):
    name = str(tmp_path_factory.mktemp("ranks") / "a.h5") if rank == 0 else None
    return comm.bcast(name)


def test_a_checkpoint_read_by_other_parts(path):
    blocks = 7
    first, last = blocks * rank // ranks, blocks * (rank + 1) // ranks
    unk = np.random.default_rng(rank).random((last - first, 12, 12, 12, 2))
    with stria.create(path, comm) as f:
        for v, name in enumerate(["dens", "pres"]):
            f.create_dataset(name, (blocks, 8, 8, 8), "f8")[first:last] = unk[:, 2:-2, 2:-2, 2:-2, v]
        f.attrs["time"] = 0.5
    whole = np.concatenate(comm.allgather(unk[:, 2:-2, 2:-2, 2:-2, :]))
    with stria.open(path, comm, verify=True) as f:
        assert f.attrs["time"] == 0.5
        assert np.array_equal(f["dens"][rank : rank + 5 : 2, 1, ::-1], whole[rank : rank + 5 : 2, 1, ::-1, :, 0])
        assert np.array_equal(f["pres"][[rank, 0]] if rank == 1 else f["pres"][...][[rank, 0]], whole[[rank, 0], ..., 1])
    if rank == 0:
        with h5py.File(path) as h:
            assert np.array_equal(h["pres"], whole[..., 1])
    comm.barrier()


def test_rows_in_the_order_of_ranks(path):
    mine = np.full((rank % 3, 2), rank, "i4")
    with stria.create(path, comm) as f:
        where, total = f.place_rows(len(mine))
        f.create_dataset("x", (total, 2), "i4")[where] = mine
    whole = np.concatenate(comm.allgather(mine))
    with stria.open(path, comm) as f:
        share = f.share_rows(len(f["x"]))
        assert np.array_equal(f["x"][share], whole[share])
        assert sum(comm.allgather(share.stop - share.start)) == len(whole)


def test_some_ranks_put_nothing(path):
    with stria.create(path, comm) as f:
        x = f.create_dataset("x", (4, 3), "i4")
        if rank == ranks - 1:
            for row in range(4):
                x[row] = [row, rank, -1]
    with stria.open(path, comm) as f:
        assert f["x"][...].tolist() == [[row, ranks - 1, -1] for row in range(4)]


def test_errors_are_the_same_everywhere(path):
    with pytest.raises(stria.NotFoundError):
        stria.open(path, comm)
    with pytest.raises(ValueError), stria.create(path, comm) as f:
        f.create_dataset("x", (3, rank + (ranks == 1) * -5))
        if ranks == 1:
            f.create_dataset("y", (1,))
    comm.barrier()


def test_an_exception_on_one_rank_is_heard_of(path):
    expected = RuntimeError if rank == ranks - 1 else stria.AbortedError
    with pytest.raises(expected), stria.create(path, comm) as f:
        f.create_dataset("x", (ranks,))[rank] = 1
        if rank == ranks - 1:
            raise RuntimeError("this rank alone")
    comm.barrier()
    with pytest.raises(FileNotFoundError):
        stria.open(path, comm)


def test_communicators_of_some_ranks(path):
    part = comm.Split(rank % 2)
    mine = f"{path}{rank % 2}"
    with stria.create(mine, part) as f:
        f.create_dataset("x", (part.size,))[part.rank] = rank
    with stria.open(mine) as f:
        assert f["x"][...].tolist() == list(range(rank % 2, ranks, 2))
    part.Free()

"""The package under mpi4py, on any number of ranks; every test is run by all of them together."""

import os
import pathlib
import subprocess
import sys
import threading

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


def test_a_trace_has_regions(path):
    stria.trace.start(comm, "app", pathlib.Path(path).parent)
    with stria.trace.region("region of python"), stria.create(path, comm) as f:
        f.create_dataset("x", (1,))
    assert stria.trace.level() == "app"
    stria.trace.set_level("off")
    stria.trace.flush()
    trace = stria.trace.finish()
    if rank == 0:
        content = pathlib.Path(trace).read_bytes()
        assert b"region of python" in content and b"File::commit" in content
    with pytest.raises(stria.InvalidArgumentError):
        stria.trace.set_level("all")


def attribute(f):
    assert f.attrs["t"] == 0.5 and list(f.attrs) == ["t"]


def strings(f):
    assert f["names"][...].tolist() == ["a", "b"]


def records(f):
    assert f["records"].dtype.names == ("value",)
    assert f.read_table("records")["value"].tolist() == [1, 2]


@pytest.mark.parametrize("read", [attribute, strings, records])
def test_threads_of_ranks_read_in_any_order(path, read):
    """A thread waits for one on another rank, whose turn comes after the wait of that rank."""
    if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
        pytest.skip("MPI has no calls from several threads")
    for number in range(2):
        with stria.create(f"{path}{number}", comm) as f:
            f.attrs["t"] = 0.5
            f.create_strings("names", ["a", "b"])
            f.create_table("records", np.array([(1,), (2,)], [("value", "i4")]))
    failures = []

    def read_next(f, begun, begins):
        try:
            begun.wait()
            begins.set()
            read(f)
        except BaseException as error:
            failures.append(error)

    of_the_other = comm.Dup()
    with stria.open(f"{path}0", comm) as one, stria.open(f"{path}1", of_the_other) as other:
        turns = [threading.Event() for _ in range(3)]
        turns[0].set()
        files = [one, other] if rank == 0 else [other, one]
        threads = [threading.Thread(target=read_next, args=(files[i], turns[i], turns[i + 1])) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    of_the_other.Free()


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


def test_rows_of_varying_number_grow(path):
    particle = np.dtype([("x", "f8"), ("id", "i4")])
    whole = np.zeros(0, particle)
    for step in range(3):
        mine = np.zeros((rank + step) % 3, particle)
        mine["id"] = 100 * step + rank
        with stria.create(path, comm) if step == 0 else stria.append(path, comm) as f:
            if step == 0:
                f.create_dataset("p", (None,), particle)
                f.create_dataset("x", (None, 2), "f8")
                f.create_dataset("fixed", (sum(r % 3 for r in range(ranks)),), particle).put_rows(mine)
            assert len(f.append_rows("p", mine)) == len(whole) + sum((r + step) % 3 for r in range(ranks))
            f.append_rows("x", ranks).put_rows(np.full((1, 2), rank, "f4"))
        whole = np.concatenate([whole, *comm.allgather(mine)])
        if step == 0:
            first = whole
    with stria.open(path, comm) as f:
        assert np.array_equal(f["p"][...], whole) and np.array_equal(f["fixed"][...], first)
        assert np.array_equal(f["x"][:, 1], np.tile(np.arange(float(ranks)), 3))
        assert np.array_equal(np.concatenate(comm.allgather(f["p"].get_rows())), whole)
        assert f.verify() == ([], [])
    with pytest.raises(stria.InvalidArgumentError, match="rows, but all ranks have"), stria.append(path, comm) as f:
        f.create_dataset("new", (ranks + 1,), "f8").put_rows([1.0])


def test_arrays_that_change_before_the_commit(path):
    mine = np.full(40_000, rank, "f8")
    with stria.create(path, comm) as f:
        f.create_dataset("x", (ranks, 40_000))[rank] = mine
        mine += 1
    with pytest.raises(stria.InvalidArgumentError, match="'y': the memory of put 1 of 1"), stria.create(path, comm) as f:
        f.create_dataset("y", (ranks, 40_000)).put(rank, mine)
        if rank == ranks - 1:
            mine += 1
    with stria.open(path, comm) as f:
        assert np.array_equal(f["x"][:, 7], np.arange(ranks)) and "y" not in f


def test_some_ranks_put_nothing(path):
    with stria.create(path, comm) as f:
        x = f.create_dataset("x", (4, 3), "i4")
        if rank == ranks - 1:
            for row in range(4):
                x[row] = [row, rank, -1]
    with stria.open(path, comm) as f:
        assert f["x"][...].tolist() == [[row, ranks - 1, -1] for row in range(4)]


@pytest.mark.parametrize("first", ["stria.create(path + '0', MPI.COMM_WORLD).close()", ""])
def test_a_communicator_needs_a_running_mpi(path, first):
    """This runs in a program of its own, which is no rank of this one."""
    program = f"""if True:
        import sys
        path = sys.argv[1]
        import mpi4py
        mpi4py.rc.initialize = {bool(first)}
        import stria
        from mpi4py import MPI
        {first}
        if MPI.Is_initialized():
            MPI.Finalize()
        for comm in (MPI.COMM_WORLD, 0, MPI.COMM_NULL):
            try:
                stria.create(path, comm)
            except stria.UnsupportedError as error:
                assert "running MPI" in str(error)
            else:
                sys.exit("no error")
    """
    alone = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "HYDRA_", "MPI_LOCAL"))}
    subprocess.run([sys.executable, "-c", program, f"{path}{rank}"], check=True, env=alone)
    comm.barrier()


def test_communicators_that_are_none(path):
    with pytest.raises(ValueError, match="MPI_COMM_NULL"):
        stria.create(path, MPI.COMM_NULL)
    if "Open MPI" in MPI.Get_library_version():
        with pytest.raises(ValueError, match="not a communicator"):
            stria.create(path, 987654)


@pytest.mark.parametrize("wrong", ["w", True, 0.5, MPI.DOUBLE, MPI.GROUP_EMPTY, MPI], ids=repr)
def test_what_is_no_communicator(path, wrong):
    with pytest.raises(TypeError, match="is no communicator: pass one of mpi4py"):
        stria.create(path, wrong)
    with stria.create(path, comm.py2f()) as f:
        f.create_dataset("x", (1,))


def test_rows_of_all_ranks_one_by_one(path):
    with stria.create(path, comm) as f:
        f.create_dataset("x", (3 * ranks, 2)).put_rows(np.full((3, 2), rank))
    with stria.open(path, comm) as f:
        assert [row.tolist() for row in f["x"]] == [[r, r] for r in range(ranks) for _ in range(3)]


def test_lists_of_many_elements_of_all_ranks(path):
    mine = np.flatnonzero(np.random.default_rng(3).integers(0, ranks, 600) == rank)
    with stria.create(path, comm) as f:
        f.create_dataset("x", (600,), "i4")[mine[::-1]] = mine[::-1] + 1
    with stria.open(path, comm, verify=True) as f:
        assert f["x"][mine].tolist() == (mine + 1).tolist() and f["x"][...].tolist() == list(range(1, 601))


def test_errors_are_the_same_everywhere(path):
    with pytest.raises(stria.NotFoundError) as missing:
        stria.open(path, comm)
    assert (missing.value.errno, missing.value.filename) == (2, path)
    with pytest.raises(ValueError), stria.create(path, comm) as f:
        f.create_dataset("x", (3, rank + (ranks == 1) * -5))
        if ranks == 1:
            f.create_dataset("y", (1,))
    comm.barrier()


def test_an_exception_on_one_rank_is_heard_of(path, capfd):
    expected = RuntimeError if rank == ranks - 1 else stria.AbortedError
    with pytest.raises(expected, match="this rank alone"), stria.create(path, comm) as f:
        f.create_dataset("x", (ranks,))[rank] = 1
        if rank == ranks - 1:
            raise RuntimeError("this rank alone, " + 300 * "α")
    assert capfd.readouterr().err == ""
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


def test_whole_files_in_one_call(path):
    """Boxes with ghosts, written by rows and read by columns; arrays, strings and records beside
    them."""
    grid = np.arange(6.0 * 2 * ranks).reshape(2 * ranks, 6)
    held = np.pad(grid[2 * rank : 2 * rank + 2], ((1, 2), (3, 0)), constant_values=-1)
    records = np.array([(b"a", 1), (b"bc", 2)], [("name", "S8"), ("value", "i4")])
    values = {
        "grid": stria.DistributedArray(held, start=(2 * rank, 0), shape=grid.shape, ghosts=((1, 2), (3, 0))),
        "run/levels": np.arange(3),
        "run/names": ["dens", "pres"],
        "run/parameters": records,
        "run/step": 7,
    }
    stria.write(path, values, comm, attrs={"time": 0.5})
    with h5py.File(path) as h:
        assert np.array_equal(h["grid"], grid) and h["run/step"][()] == 7 and h.attrs["time"] == 0.5
    first, last = 6 * rank // ranks, 6 * (rank + 1) // ranks
    part = np.full((2 * ranks + 2, last - first + 2), -1.0)
    box = stria.DistributedArray(part, start=(0, first), shape=grid.shape, ghosts=1)
    step = np.zeros((), "i4")
    found = stria.read(path, {"grid": box, "run/step": step}, comm, verify=True)
    assert found["grid"] is part and np.array_equal(part[1:-1, 1:-1], grid[:, first:last])
    assert np.all(part[[0, -1]] == -1) and np.all(part[:, [0, -1]] == -1) and step == 7
    whole = stria.read(path, comm=comm)
    assert list(whole) == list(stria.read(path, list(whole), comm)) == sorted(values)
    assert np.array_equal(whole["grid"], grid) and whole["run/names"].tolist() == ["dens", "pres"]
    assert whole["run/parameters"]["value"].tolist() == [1, 2] and whole["run/step"] == 7
    assert np.array_equal(stria.read(path, "run/levels", comm), [0, 1, 2])
    assert stria.verify(path, comm) == ([], [])
    looked_at = {one["path"]: (one["type"], one["shape"]) for one in stria.inspect(path, comm)}
    assert looked_at["grid"] == ("float64", grid.shape) and looked_at["run/step"] == ("int64", ())
    comm.barrier()


@pytest.mark.parametrize(
    "wrong",
    [{"start": (0,)}, {"start": (0, 5)}, {"start": (-1, 0)}, {"start": (0, 0), "ghosts": 3}, {"start": (0, 0), "ghosts": [1]}],
)
def test_boxes_that_cannot_be(path, wrong):
    """One rank has such a box: the others hear of it."""
    right = {"start": (0, 0) if rank == 0 else (4, 4)}
    array = np.zeros((4, 4) if rank in (0, ranks - 1) else (0, 0))
    expected = ValueError if rank == ranks - 1 else stria.AbortedError
    with pytest.raises(expected):
        stria.write(path, {"x": stria.DistributedArray(array, shape=(4, 4), **(wrong if rank == ranks - 1 else right))}, comm)
    comm.barrier()


PARTICLE = np.dtype([("id", "i8"), ("mass", "f4"), ("name", "S3")], align=True)


def particles(first, last):
    made = np.zeros(last - first, PARTICLE)
    made["id"] = np.arange(first, last)
    made["mass"] = 0.5 * made["id"]
    made["name"] = np.where(made["id"] % 2, b"odd", b"ev")
    return made


@pytest.mark.parametrize("options", [{}, {"compress": True, "chunks": (5,)}])
def test_records_of_all_ranks(path, options):
    total = 7 * ranks + 3
    first, last = total * rank // ranks, total * (rank + 1) // ranks
    with stria.create(path, comm) as f:
        all_of_them = f.create_dataset("run/particles", (total,), PARTICLE, **options)
        all_of_them[first:last] = particles(first, last)
        assert all_of_them.dtype.itemsize == 15
        if not options:
            f.create_dataset("grid", (ranks, 2), PARTICLE)[rank, ::-1] = particles(2 * rank, 2 * rank + 2)
    whole = particles(0, total)
    with h5py.File(path) as h:
        found = h["run/particles"][:]
        assert found.dtype.names == PARTICLE.names
        assert np.array_equal(found["id"], whole["id"]) and np.array_equal(found["mass"], whole["mass"])
        assert found["name"].tolist() == whole["name"].tolist()
    with stria.open(path, comm, verify=True) as f:
        dataset = f["run/particles"]
        assert dataset.dtype.names == PARTICLE.names
        assert np.array_equal(dataset[rank : rank + 8 : 2]["id"], np.arange(rank, rank + 8, 2))
        mine = np.zeros(2 * 4, dataset.dtype)
        dataset.get(slice(3, 7), mine[::2])
        f.flush()
        assert mine["id"].tolist() == [3, 0, 4, 0, 5, 0, 6, 0] and mine["mass"][2] == 2
        with pytest.raises(ValueError, match="give an array of some of its fields"):
            dataset.get(slice(3, 7), np.zeros(4))
        if not options:
            assert f["grid"][...]["id"].tolist() == [[2 * r + 1, 2 * r] for r in range(ranks)]
    assert np.array_equal(stria.read(path, "run/particles", comm)["id"], whole["id"])
    assert stria.verify(path, comm)[0] == []


def test_records_of_another_program_get_rows_of_all_ranks(path):
    inner = np.dtype([("x", ">f8"), ("n", "<u2")])
    kind = np.dtype([("id", ">i8"), ("half", ">f2"), ("p", inner, (2,)), ("on", "?")])
    text = np.dtype([("id", ">i4"), ("s", h5py.string_dtype())])
    if rank == 0:
        with h5py.File(path, "w") as h:
            h.create_dataset("t", shape=(1,), dtype=kind, maxshape=(None,), chunks=(3,), compression="gzip")
            h["text"] = np.array([(i, "x" * i) for i in range(7)], text)
    comm.barrier()
    mine = np.zeros(rank + 2, [("p", [("n", "i8"), ("x", "f4")], (2,)), ("on", "u1"), ("half", "f8"), ("id", "i4")])
    mine["id"] = 100 * rank + np.arange(rank + 2)
    mine["half"], mine["on"], mine["p"]["n"], mine["p"]["x"] = rank + 0.5, rank % 2, 70000, [rank, -rank]
    with stria.append(path, comm) as f:
        assert f.append_rows("t", mine).dtype["p"].shape == (2,)
    whole = np.concatenate(comm.allgather(mine))
    with stria.open(path, comm) as f:
        for found in [f["t"][1:], f.read_table("t")[1:]]:
            assert found["id"].tolist() == whole["id"].tolist() and found["half"].tolist() == whole["half"].tolist()
            assert found["on"].tolist() == (whole["on"] == 1).tolist() and np.all(found["p"]["n"] == 65535)
            assert np.array_equal(found["p"]["x"], whole["p"]["x"])
        assert f["text"][rank : rank + 3]["s"].tolist() == ["x" * i for i in range(rank, rank + 3)]
    comm.barrier()


def test_records_that_do_not_fit(path):
    with pytest.raises(ValueError, match="no column 'number'"), stria.create(path, comm) as f:
        f.create_dataset("x", (4,), PARTICLE)[:] = np.zeros(4, [("number", "i8")])
    comm.barrier()
    with pytest.raises(ValueError, match="not records"), stria.create(path, comm) as f:
        f.create_dataset("x", (4,))[:] = np.zeros(4, PARTICLE)
    comm.barrier()
    with pytest.raises(NotImplementedError), stria.create(path, comm) as f:
        f.create_dataset("x", (4,), PARTICLE, value_range=True)
    comm.barrier()


def test_strided_reads_of_all_ranks(path):
    whole = np.random.default_rng(1).random((60, 50))
    with stria.create(path, comm, sync=False) as f:
        f.create_dataset("x", data=whole)
        f.create_dataset("z", data=whole, compress=True, chunks=(7, 50))
    rows = slice(60 * rank // ranks, 60 * (rank + 1) // ranks)
    with stria.open(path, comm) as f:
        for name in ("x", "z"):
            for index in (np.s_[rows, ::2], np.s_[rank::ranks, ::7], np.s_[:, rank::ranks], np.s_[::3, 5]):
                assert np.array_equal(f[name][index], whole[index])
            mask = np.random.default_rng(rank).random(50) < 0.5
            assert np.array_equal(f[name][:, mask], whole[:, mask])
            whole_mask = np.random.default_rng(rank).random(whole.shape) < 0.2 * rank
            assert np.array_equal(f[name][whole_mask], whole[whole_mask])
        assert np.array_equal(f["x"][rows, ::2], whole[rows, ::2]) and f.report["method"] == "hybrid"


def test_what_ranks_have_alike_is_put_once_and_compared(path):
    with stria.create(path, comm, sync=False) as f:
        f.create_dataset("x", data=np.arange(1000))
        f.create_dataset("names", data=["a", "b"])
        f.attrs["unit"] = "m"
    if rank == 0:
        with h5py.File(path) as h:
            assert h["x"][...].tolist() == list(range(1000)) and h.attrs["unit"] == "m"
    assert stria.verify(path, comm) == ([], [])
    if ranks > 1:
        for name, mine, what in [("x", np.arange(3) + rank, "the data"), ("names", [f"{rank}"], "the strings")]:
            with pytest.raises(stria.InvalidArgumentError, match=what), stria.create(path, comm, sync=False) as f:
                f.create_dataset(name, data=mine)
        with pytest.raises(stria.InvalidArgumentError, match="the value"), stria.create(path, comm, sync=False) as f:
            f.attrs["unit"] = f"m{rank}"


def test_groups_and_links_of_all_ranks(path):
    if rank == 0:
        with h5py.File(path + ".other", "w") as h:
            h["deep/y"] = np.arange(4)
        with h5py.File(path, "w") as h:
            h["b/d"] = np.arange(3)
            h["a"] = 1
            h.create_group("c/void")
            h["nowhere"] = h5py.SoftLink("/missing")
            h["ext"] = h5py.ExternalLink(path + ".other", "/deep")
    comm.barrier()
    with stria.open(path, comm) as f, stria.open(path) as alone:
        for one in (f, alone):
            assert (
                list(one["/"]) == ["a", "b", "c", "ext", "nowhere"] and list(one["c"]) == ["void"] and list(one["c/void"]) == []
            )
            assert one["b"]["d"].shape == (3,) and "c/void" in one and "x" not in one and "ext" in one
            seen = []
            one.visit(seen.append)
            assert seen == ["a", "b", "b/d", "c", "c/void"]
        assert f["ext/y"][rank:].tolist() == list(range(rank, 4))


def test_one_rank_reads_alone(path):
    with stria.create(path, comm, sync=False) as f:
        f.create_dataset("x", data=np.arange(100))
        f.attrs["unit"] = "m"
    with stria.open(path, comm) as f:
        if rank == ranks - 1:
            with f.alone() as mine:
                assert mine["x"][3::50].tolist() == [3, 53] and mine.attrs["unit"] == "m"
        assert f["x"][rank] == rank
        if rank == 0:
            with stria.open(path) as mine:
                assert mine["x"][7] == 7
        assert f["x"][...].sum() == 4950


@pytest.mark.skipif(comm.size == 1, reason="needs two ranks")
def test_a_rank_that_asks_alone_is_told_how(path):
    with stria.create(path, comm) as f:
        f.attrs["time"] = 0.25
        f.create_dataset("x", data=np.arange(3.0))
    with pytest.raises(stria.StriaError, match="opens the file for itself, without a communicator"):
        with stria.open(path, comm) as f:
            f.attrs["time"] if comm.rank == 0 else f["x"][...]

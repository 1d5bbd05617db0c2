"""Groups, links to other files, and handles in other processes, beside h5py."""

import concurrent.futures
import multiprocessing
import operator
import pickle
import threading

import h5py
import numpy as np
import pytest
import stria


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as h:
        h["deep/y"] = np.arange(4)
        h["back"] = h5py.ExternalLink("a.h5", "/g/d")
    with h5py.File(tmp_path / "a.h5", "w") as h:
        h["g/d"] = np.arange(3.0)
        h["g/inner/e"] = np.arange(5)
        h["top"] = 1
        h.create_group("empty")
        h.create_group("g/void")
        h["soft"] = h5py.SoftLink("/g/d")
        h["nowhere"] = h5py.SoftLink("/missing")
        h["ext"] = h5py.ExternalLink("other.h5", "/deep/y")
        h["exts"] = h5py.ExternalLink("other.h5", "/deep")
        h["lost"] = h5py.ExternalLink("none.h5", "/x")
        h["g"].attrs["kind"] = "group"
    return tmp_path / "a.h5"


def test_groups_are_looked_through(path):
    with h5py.File(path) as h, stria.open(path) as f:
        root = f["/"]
        assert list(root) == list(h) and len(root) == len(h) and root.keys() >= {"g", "top"}
        assert isinstance(f["g"], stria.Group) and isinstance(f["g"]["d"], stria.Dataset)
        assert f["g"]["d"][...].tolist() == f["g/d"][...].tolist() == f["g"]["/g/d"][...].tolist() == [0, 1, 2]
        assert f["g"]["inner"]["e"][2] == 2 and f["g"]["inner"].parent.name == "/g" and f["/g/"].name == "/g"
        assert list(f["g"].keys()) == list(h["g"]) and list(f["empty"]) == []
        assert f["g"].attrs["kind"] == "group" == f.attrs_of("g")["kind"]
        assert [name for name, _ in f["g"].items()] == ["d", "inner", "void"]
        assert [type(one) for one in f["g"].values()] == [stria.Dataset, stria.Group, stria.Group]
        assert "d" in f["g"] and "x" not in f["g"] and 3 not in f["g"] and "g" in f and "empty" in f and "nowhere" not in f
        assert f["g"].get("x") is None and f.get("nowhere", 7) == 7 and f.get("top")[()] == 1
        assert f.dataset("top").shape == () and f.group("g").name == "/g" and f.group().name == "/"
        with pytest.raises(stria.WrongTypeError, match="'g' is a group"):
            f.dataset("g")
        with pytest.raises(stria.NotFoundError, match="has no dataset 'g/x'"):
            f["g"]["x"]
        assert sorted(f.keys()) == ["g/d", "g/inner/e", "soft", "top"] == sorted(name for name, _ in f.items())
        assert [one.name for one in f.values()] == f.keys()


def test_everything_is_visited(path):
    with h5py.File(path) as h, stria.open(path) as f:
        seen, expected = [], []
        f.visit(seen.append)
        h.visit(expected.append)
        assert sorted(seen) == sorted([*expected, "soft"])
        assert f["g"].visit(lambda name: name if "e" in name else None) == "inner"
        kinds = {}
        f["g"].visititems(lambda name, found: kinds.update({name: type(found)}))
        assert kinds == {
            "d": stria.Dataset, "inner": stria.Group, "inner/e": stria.Dataset, "void": stria.Group,
        }  # fmt: skip
        assert seen.index("g") < seen.index("g/inner") < seen.index("g/inner/e")


def test_links_to_other_files_are_followed(path):
    with h5py.File(path) as h, stria.open(path) as f:
        assert f["ext"][...].tolist() == h["ext"][...].tolist() == [0, 1, 2, 3]
        assert f["exts/y"][1:].tolist() == [1, 2, 3] and list(f["exts"]) == ["y"] and "ext" in f
        with pytest.raises(stria.NotFoundError, match=r"'lost' leads to '/x' of 'none.h5', which isn't there"):
            f["lost"]
        assert "lost" in f and "ext" not in f.keys()
    with stria.open(path.parent / "other.h5") as f:
        assert f["back"][...].tolist() == [0, 1, 2]


def test_links_in_a_circle_end(tmp_path):
    for one, other in ("ab", "ba"):
        with h5py.File(tmp_path / f"{one}.h5", "w") as h:
            h["x"] = h5py.ExternalLink(f"{other}.h5", "/x")
    with stria.open(tmp_path / "a.h5") as f, pytest.raises(stria.UnsupportedError, match="through more than 16 files"):
        f["x"]


def test_links_that_lead_back_end(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as h:
        h["g/d"] = np.arange(3)
        h["g/up"] = h5py.SoftLink("/")
        h["g/self"] = h["g"]
    with stria.open(tmp_path / "a.h5") as f:
        seen = []
        f.visit(seen.append)
        assert seen[:2] == ["g", "g/d"] and len(seen) < 10


def test_own_tables_are_hidden(tmp_path):
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        f.create_dataset("x", data=np.arange(3))
    with h5py.File(tmp_path / "a.h5") as h, stria.open(tmp_path / "a.h5") as f:
        assert ".stria" in h and list(f["/"]) == ["x"]
        seen = []
        f.visit(seen.append)
        assert seen == ["x"]


def test_notebooks(path):
    with stria.open(path) as f:
        assert {"g", "g/d", "empty"} <= set(f._ipython_key_completions_())
        assert f["g"]._ipython_key_completions_() == ["d", "inner", "void"]
        assert "<td>g/inner/e</td><td>int64</td><td>(5,)</td>" in f._repr_html_()
        assert "<td>g/void</td><td>group</td><td>0 members</td>" in f["g"]._repr_html_()
        assert "&lt;stria.Group" in f["g"]._repr_html_()
        assert "link to another file" in f["/"]._repr_html_()
    assert "closed" in f._repr_html_()


def test_many_objects_are_opened_as_asked_for(tmp_path):
    with h5py.File(tmp_path / "many.h5", "w", libver="latest") as h:
        for i in range(500):
            h[f"g{i % 5}/d{i}"] = np.full(3, i)
    with stria.open(tmp_path / "many.h5") as f:
        assert f["g3/d403"][...].tolist() == [403] * 3
        first = f["g1/d1"]
        assert len(f) == 500 and len(f["g2"]) == 100
        # What was looked up before all are known stays.
        assert first[...].tolist() == [1] * 3 and f["g3/d403"][1] == 403
        assert all(f[f"g{i % 5}/d{i}"][0] == i for i in range(500))
        with pytest.raises(stria.NotFoundError, match="has no dataset 'g1/d2'"):
            f["g1/d2"]
        with pytest.raises(stria.NotFoundError, match="has no attribute 'x'"):
            f["g1"].attrs["x"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_handles_in_other_processes(path, method):
    with stria.open(path) as f:
        context = multiprocessing.get_context(method)
        some = operator.itemgetter(slice(1, 3))  # The standard library has it, and every process.
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert [one.tolist() for one in pool.map(some, [f["g/d"]] * 4)] == [[1.0, 2.0]] * 4
            assert pool.submit(operator.itemgetter("d"), f["g"]).result().name == "g/d"
            assert pool.submit(np.asarray, f["g/d"]).result().tolist() == [0, 1, 2]
            assert pool.submit(list, f["g"]).result() == ["d", "inner", "void"]
        assert f["g/d"][...].tolist() == [0, 1, 2]


def test_pickled_handles_share_a_file(path):
    with stria.open(path, hints={"ind_rd_buffer_size": 4096}) as f:
        one, other = pickle.loads(pickle.dumps((f["g/d"], f["top"])))
        again = pickle.loads(pickle.dumps(f))
        assert one._file is other._file is again and again is not f and again.hints["ind_rd_buffer_size"] == "4096"
    assert one[1] == 1.0
    one._file.close()
    with stria.create(path.parent / "new.h5") as f, pytest.raises(TypeError, match=r"new.h5' is being written"):
        pickle.dumps(f)


class Forked:
    """A forked process that reads the file. It answers by a pipe: a queue has a thread of its own,
    which the thread sanitizer doesn't allow in such a process."""

    def __init__(self, file):
        context = multiprocessing.get_context("fork")
        self._answers, answer = context.Pipe(duplex=False)
        self.process = context.Process(target=lambda: answer.send(file["g/d"][...].tolist()))
        self.process.start()

    def answer(self):
        assert self._answers.poll(60), "the forked process says nothing"
        return self._answers.recv()


def test_a_file_that_is_open_is_read_after_a_fork(path):
    with stria.open(path) as f:
        assert f["g/d"][0] == 0
        child = Forked(f)
        assert child.answer() == [0, 1, 2]
        child.process.join()
        assert child.process.exitcode == 0 and f["g/d"][2] == 2


@pytest.mark.parametrize("compress", [False, True])
def test_threads_take_turns_to_read_a_file(tmp_path, compress):
    values = np.arange(40000.0).reshape(200, 200)
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        for i in range(20):
            f.create_dataset(f"g{i}/d", data=values + i, compress=compress).attrs["number"] = i

    with stria.open(tmp_path / "a.h5") as f:
        datasets = [f[f"g{i}/d"] for i in range(10)]
        together = threading.Barrier(4)

        def read(thread):
            together.wait()
            for i in range(20):
                d = datasets[i] if i < 10 else f[f"g{i}"]["d"]
                key = (slice(thread, None, 2), slice(None))
                assert np.array_equal(d[key], values[key] + i) and d.attrs["number"] == i
                assert np.array_equal(d[[3, 1, 70]], values[[3, 1, 70]] + i)
            return True

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read, range(4)))


def test_a_fork_while_a_thread_reads(path):
    """The forked process doesn't wait for the turn of a thread that it doesn't have."""
    with stria.open(path) as f:
        assert f["g/d"][0] == 0
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            taken, over = threading.Event(), threading.Event()

            def take():
                with f._turn:
                    taken.set()
                    over.wait()

            pool.submit(take)
            taken.wait()
            child = Forked(f)
            try:
                assert child.answer() == [0, 1, 2]
            finally:
                over.set()
                child.process.join()


def test_a_second_handle(path):
    with stria.open(path) as f, f.alone() as mine:
        assert mine["g/d"][1] == 1 and f["g/d"][1] == 1
    with stria.create(path.parent / "new.h5") as f, pytest.raises(stria.InvalidArgumentError, match="is being written"):
        f.alone()

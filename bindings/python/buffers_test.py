"""Arrays that a program uses again before the commit: what is assigned is what was there, and what
is put without a copy is never stored as something else without an error."""

import array
import gc

import h5py
import numpy as np
import pytest
import stria

LARGE = 40_000  # numbers, of which the library makes no copy unasked


def create(path, **options):
    return stria.create(path, sync=False, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


@pytest.mark.parametrize("numbers", [3, LARGE])
@pytest.mark.parametrize("options", [{}, {"compress": True, "chunks": (1, 3)}])
def test_one_scratch_array_for_all_rows(path, numbers, options):
    if "chunks" in options:
        options = {**options, "chunks": (1, numbers // 3)}
    scratch = np.arange(numbers, dtype="f8")
    with create(path) as f:
        d = f.create_dataset("x", (5, numbers), **options)
        for i in range(5):
            d[i] = scratch
            scratch += 1
    with h5py.File(path) as h:
        assert np.array_equal(h["x"], np.arange(numbers) + np.arange(5.0)[:, np.newaxis])
    with stria.open(path) as f:
        assert f.verify() == ([], [])


PARTICLE = np.dtype([("x", "f8"), ("name", "S6"), ("id", "i4")], align=True)
SOURCES = {
    "numbers": lambda count: np.arange(count, dtype="f8"),
    "others": lambda count: np.arange(count, dtype="i2") % 100,
    "swapped": lambda count: np.arange(count, dtype=">f8"),
    "strided": lambda count: np.arange(3 * count, dtype="f8")[::3],
    "backwards": lambda count: np.arange(count, dtype="f8")[::-1],
    "repeated": lambda count: np.broadcast_to(np.arange(1.0, 2), count),
    "member": lambda count: np.arange(count).astype(np.dtype([("a", "i8"), ("b", "i8")]))["b"],
    "packed member": lambda count: np.arange(count).astype(np.dtype([("a", "i1"), ("b", "i8")]))["b"],
    "bytes": lambda count: array.array("d", range(count)),
    "view": lambda count: memoryview(array.array("d", range(count))),
}
TYPED = {
    "bool": lambda count: np.arange(count) % 3 == 0,
    "half": lambda count: (np.arange(count) % 100).astype("f2"),
    "complex": lambda count: np.arange(count) * (1 + 2j),
    "records": lambda count: np.array([(i, b"name", i) for i in range(count)], PARTICLE),
}
KEYS = {
    "all": (..., lambda count: count),
    "slice": (slice(3, None), lambda count: count - 3),
    "every second": (slice(None, None, 2), lambda count: (count + 1) // 2),
    "backwards": (slice(None, None, -1), lambda count: count),
    "list": ([5, 2, 3, 9], lambda count: 4),
    "many": (list(range(0, 90, 3)) + [91, 92], lambda count: 32),
}


def spoil(source):
    """Puts other values in the memory of the source."""
    memory = source
    while isinstance(memory, np.ndarray) and memory.base is not None:
        memory = memory.base
    raw = memoryview(memory).cast("B") if not isinstance(memory, np.ndarray) else memory.view("u1").reshape(-1)
    for i in range(0, len(raw), max(len(raw) // 1000, 1)):
        raw[i] ^= 0x55
    raw[-1] ^= 0x55


@pytest.mark.parametrize("count", [100, LARGE])
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", [*SOURCES, *TYPED])
def test_an_assignment_stores_what_is_there(path, kind, key, count):
    index, length = KEYS[key]
    source = {**SOURCES, **TYPED}[kind](length(count))
    dtype = source.dtype if kind in TYPED else "f8"
    expected = np.zeros(count, dtype)
    expected[index] = source
    with create(path) as f:
        d = f.create_dataset("x", (count,), dtype)
        d[index] = source
        spoil(source)
    with stria.open(path) as f:
        assert f["x"][...].tolist() == expected.tolist()
        assert f.verify() == ([], [])


@pytest.mark.parametrize("count", [1, LARGE])
def test_other_ways_that_copy(path, count):
    a = np.arange(count, dtype="f8")
    expected = a.copy()
    with create(path) as f:
        f.create_dataset("data", data=a)
        f.create_dataset("put", (count,)).put(..., a, copy=True)
        f.create_dataset("rows", (count,)).put_rows(a, copy=True)
        f.create_dataset("map", (count,)).put_elements(stria.Elements(np.arange(count)[::-1]), a, copy=True)
        f.create_dataset("grown", (None,))
        f.append_rows("grown", a, copy=True)
        f.create_table("table", a.view([("x", "f8")]))
        f.create_strings("strings", np.array(["one", "two"]))
        a += 1
        f.commit()
        assert f.report["copied_bytes"] >= 5 * a.nbytes
    with h5py.File(path) as h:
        for name in ["data", "put", "rows", "grown"]:
            assert np.array_equal(h[name], expected), name
        assert np.array_equal(h["map"], expected[::-1])
        assert np.array_equal(h["table"]["x"], expected)


def put_elements(f, a):
    f.create_dataset("x", (a.size,)).put_elements(stria.Elements(np.arange(a.size)), a)


def append(f, a):
    f.create_dataset("x", (None,))
    f.append_rows("x", a)


BORROWING = {
    "put": lambda f, a: f.create_dataset("x", (a.size,)).put(..., a),
    "put of some": lambda f, a: f.create_dataset("x", (2 * a.size,)).put(slice(None, None, 2), a),
    "put_rows": lambda f, a: f.create_dataset("x", (a.size,)).put_rows(a),
    "put_elements": put_elements,
    "append_rows": append,
}


@pytest.mark.parametrize("call", ["commit", "flush", "commit_async"])
@pytest.mark.parametrize("way", BORROWING)
def test_an_array_that_changed_is_an_error(path, way, call):
    with create(path) as f:
        f.create_dataset("old", data=np.arange(3))
    old = path.read_bytes()
    a = np.arange(LARGE, dtype="f8")
    with pytest.raises(stria.InvalidArgumentError, match="'x': the memory of put 1 of 1"), create(path) as f:
        BORROWING[way](f, a)
        a += 1
        getattr(f, call)()
    assert path.read_bytes() == old
    assert [one.name for one in path.parent.iterdir()] == ["a.h5"]


@pytest.mark.parametrize("way", BORROWING)
def test_a_flush_ends_the_borrowing(path, way):
    a = np.arange(LARGE, dtype="f8")
    with create(path) as f:
        BORROWING[way](f, a)
        assert f.report["copied_bytes"] == 0
        f.flush()
        a += 1
    with h5py.File(path) as h:
        step = 2 if way == "put of some" else 1
        assert np.array_equal(h["x"][::step], np.arange(LARGE))


def test_small_arrays_are_copied_by_every_way(path):
    a = np.arange(10, dtype="f8")
    for way in BORROWING.values():
        a[:] = range(10)
        with create(path) as f:
            way(f, a)
            a += 1
        with h5py.File(path) as h:
            assert np.array_equal(h["x"][:: h["x"].size // 10], np.arange(10))


def test_temporaries_live_until_the_commit(path):
    with create(path) as f:
        for i in range(8):
            f.create_dataset(f"put{i}", (LARGE,)).put(..., np.full(LARGE, float(i)))
            f.create_dataset(f"list{i}", (3,)).put(..., [i, i, i])
            f.create_dataset(f"member{i}", (LARGE,)).put(..., np.full(LARGE, i).astype([("a", "i1"), ("b", "f8")])["b"])
            f.append_rows(f.create_dataset(f"grown{i}", (None,)).name, np.full(LARGE, float(i)))
            gc.collect()
            np.full(LARGE, -1.0)  # takes the memory of what is gone
    with h5py.File(path) as h:
        for i in range(8):
            for name in ["put", "list", "member", "grown"]:
                assert np.all(h[f"{name}{i}"][...] == i), name


def test_a_value_that_repeats_takes_no_memory(path):
    scalar = np.array(3.0)
    with create(path) as f:
        d = f.create_dataset("x", (100, LARGE))
        d[:50] = scalar
        d[50:] = np.broadcast_to(np.arange(float(LARGE)), (50, LARGE))
        scalar[...] = 4
        f.commit()
        assert f.report["copied_bytes"] == 0
    with h5py.File(path) as h:
        assert np.all(h["x"][:50] == 3) and np.all(h["x"][50:] == np.arange(LARGE))


def test_the_check_can_be_turned_off(path):
    a = np.arange(LARGE, dtype="f8")
    with create(path, hints={"stria_put_check": "disable"}) as f:
        f.create_dataset("x", (LARGE,)).put(..., a)
        a += 1
    with h5py.File(path) as h:
        assert np.array_equal(h["x"], np.arange(LARGE) + 1)


def test_whole_files_make_no_copy(path):
    a = np.arange(LARGE, dtype="f8")
    stria.write(path, {"x": a, "box": stria.DistributedArray(a, start=(0,), shape=(LARGE,))})
    with h5py.File(path) as h:
        assert np.array_equal(h["x"], a) and np.array_equal(h["box"], a)

"""The package on one process, without MPI; h5py judges the files."""

import concurrent.futures
import gc
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
import stria


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


def test_any_strides(path):
    unk = np.arange(6 * 16 * 16 * 16 * 3, dtype="f8").reshape(6, 16, 16, 16, 3)
    with create(path) as f:
        dens = f.create_dataset("dens", (6, 8, 8, 8), "f8")
        pres = f.create_dataset("g/pres", (6, 8, 8, 8), "f4")
        dens[:] = unk[:, 4:-4, 4:-4, 4:-4, 0]
        pres[1:5] = unk[4:0:-1, 4:-4, 4:-4, 4:-4, 1]
    with h5py.File(path) as h:
        assert np.array_equal(h["dens"], unk[:, 4:-4, 4:-4, 4:-4, 0])
        assert np.array_equal(h["g/pres"][1:5], unk[4:0:-1, 4:-4, 4:-4, 4:-4, 1].astype("f4"))
        assert not h["g/pres"][0].any()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">f8", ">i4"])
def test_every_type(path, dtype):
    values = np.arange(20, dtype=dtype).reshape(4, 5)
    with create(path) as f:
        f.create_dataset("x", data=values)
        f.create_dataset("y", (4, 5), dtype)[...] = values.T.copy().T
    with h5py.File(path) as h, stria.open(path) as f:
        assert h["y"].dtype == np.dtype(dtype)
        for name in "xy":
            assert np.array_equal(h[name], values)
            assert f[name].dtype == np.dtype(dtype).newbyteorder("=")
            assert np.array_equal(f[name][...], values)


@pytest.mark.parametrize("userblock", [0, 512])
def test_chunked_files_of_other_writers(path, userblock):
    random = np.random.default_rng(7)
    values = random.integers(0, 50, (37, 23, 11)).astype("f8")
    kinds = {
        "plain": {},
        "gzip": {"compression": "gzip"},
        "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "sum": {"fletcher32": True},
        "growing": {"maxshape": (None, None, 11), "shuffle": True, "compression": 9},
        "filled": {"fillvalue": 3.5, "compression": "gzip"},
        "tiny": {"compression": "gzip", "chunks": (1, 2, 11)},
    }
    with h5py.File(path, "w", userblock_size=userblock) as h:
        for name, more in kinds.items():
            h.create_dataset(name, values.shape, "f8", **{"chunks": (5, 23, 4), **more})[:30] = values[:30]
        h.create_dataset("swapped", data=values.astype(">i4"), chunks=(4, 5, 6), shuffle=True, compression="gzip")
    with h5py.File(path) as h, stria.open(path) as f:
        for name in [*kinds, "swapped"]:
            assert np.array_equal(f[name][...], h[name][...]), name
            if name != "filled":  # libhdf5 reads that one.
                assert np.array_equal(f[name][3:31:2, 5:9, 1:], h[name][3:31:2, 5:9, 1:]), name


@pytest.mark.parametrize("chunks", [None, (3, 2, 7), (1, 9, 7)])
def test_compressed_datasets(path, chunks):
    values = np.arange(10 * 9 * 7, dtype="f4").reshape(10, 9, 7) // 5
    with create(path) as f:
        x = f.create_dataset("x", values.shape, "f4", compress=True, chunks=chunks)
        x[1::2] = values[1::2]
        x[0:6:2, 4] = values[0:6:2, 4]
    expected = np.zeros_like(values)
    expected[1::2] = values[1::2]
    expected[0:6:2, 4] = values[0:6:2, 4]
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert h["x"].compression == "gzip" and (chunks is None or h["x"].chunks == chunks)
        assert np.array_equal(h["x"], expected) and np.array_equal(f["x"][...], expected)


@pytest.mark.parametrize("format", ["cdf1", "cdf2", "cdf5"])
def test_netcdf(tmp_path, format):
    values = np.arange(4 * 3, dtype="f4").reshape(4, 3)
    with create(tmp_path / "a.nc", format=format) as f:
        for name in ("even", "odd"):
            f.create_dataset(name, data=values, dimensions=["time", "x"], unlimited=True)
    head = (tmp_path / "a.nc").read_bytes()
    assert head[:4] == b"CDF" + bytes([int(format[3])]) and b"time" in head
    with stria.open(tmp_path / "a.nc") as f:
        assert np.array_equal(f["even"][...], values) and np.array_equal(f["odd"][1:3, ::2], values[1:3, ::2])
    with pytest.raises(stria.errors.InvalidArgumentError, match="use hdf5, netcdf"):
        create(tmp_path / "b.nc", format="grib")


def create(path, **options):
    return stria.create(path, sync=False, **options)


INDICES = [
    ...,
    (),
    3,
    -1,
    slice(2, 7),
    slice(None, None, 3),
    slice(8, 1, -2),
    slice(5, 5),
    (slice(None), 2),
    (..., slice(1, 4)),
    (2, slice(None), -1),
    (slice(1, 9, 4), slice(None, None, -1), [0, 2, 3]),
    [7, 1, 4],
    ([5, 2, 3, 4], slice(1, 3)),
    np.array([True, False] * 5),
    [],
    (1, 2, 3),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices_mean_what_numpy_says(path, index):
    values = np.arange(10 * 4 * 5, dtype="i4").reshape(10, 4, 5)
    written = np.zeros_like(values)
    with create(path) as f:
        f.create_dataset("whole", data=values)
        f.create_dataset("part", values.shape, "i4")[index] = values[index]
    written[index] = values[index]
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f["whole"][index], values[index])
        assert np.shape(f["whole"][index]) == np.shape(values[index])
        assert np.array_equal(f["part"][...], written)


@pytest.mark.parametrize("align", [True, False])
def test_members_of_records(path, align):
    records = np.zeros(20, np.dtype([("x", "f8"), ("mass", "f4"), ("id", "i8")], align=align))
    records["x"], records["id"] = np.arange(20) / 2, np.arange(20)
    with create(path) as f:
        f.create_dataset("x", (20,))[:] = records["x"]
        f.create_dataset("id", (20,), "i8")[2:12] = records["id"][::-2]
    with stria.open(path) as f:
        assert np.array_equal(f["x"][...], records["x"])
        assert np.array_equal(f["id"][2:12], records["id"][::-2])
        if align:
            f["x"].get(slice(None), records["mass"])
            f.flush()
            assert np.array_equal(records["mass"], records["x"])
        else:
            with pytest.raises(ValueError, match="packed"):
                f["x"].get(slice(None), records["x"])


def test_lists_with_repeated_indices(path):
    values = np.arange(30.0).reshape(10, 3)
    with create(path) as f:
        f.create_dataset("x", data=values)
    with stria.open(path) as f:
        assert np.array_equal(f["x"][[4, 4, 1, 9]], values[[4, 4, 1, 9]])
        with pytest.raises(ValueError, match="outside"):
            f["x"][[1, 10]]
    with pytest.raises(stria.InvalidArgumentError, match="twice"), create(path) as f:
        f.create_dataset("x", (10,))[[1, 1]] = [2, 3]


def test_values_are_broadcast(path):
    with create(path) as f:
        f.create_dataset("x", (4, 5), "i4")[1:3] = 7
        f.create_dataset("y", (4, 5), "i4")[...] = np.arange(5)
        f.create_dataset("s", (), "f8")[()] = 2.5
    with h5py.File(path) as h:
        assert h["x"][()].tolist() == [[0] * 5, [7] * 5, [7] * 5, [0] * 5]
        assert h["y"][()].tolist() == [list(range(5))] * 4
        assert h["s"][()] == 2.5


def test_arrays_live_until_the_commit(path):
    with create(path) as f:
        x = f.create_dataset("x", (50, 1000))
        for row in range(50):
            x[row] = np.full(1000, row) + 0.5
            gc.collect()
    with h5py.File(path) as h:
        assert np.array_equal(h["x"][:, 7], np.arange(50) + 0.5)


def test_numbers_without_dimensions(path):
    with stria.create(path) as f:
        f.create_dataset("one", (), "i4")[()] = 3
    out = np.zeros((), "f8")
    with stria.open(path) as f:
        f["one"].get((), out)
        assert f["one"][()] == 3 and out == 3


class ByInterface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class ByDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [ByInterface, ByDlpack])
def test_arrays_of_other_libraries(path, kind):
    """The arrays are taken as they lie: what is changed before the commit is in the file, unless a
    copy was taken."""
    numbers = np.arange(12.0).reshape(3, 4)
    with stria.create(path, hints={"stria_put_copies": "0", "stria_put_check": "disable"}) as f:
        f.create_dataset("x", (3, 2)).put(..., kind(numbers[::-1, ::2]))
        f.create_dataset("copy", (3, 2))[...] = kind(numbers[::-1, ::2])
        numbers[0, 0] = -5
    assert stria.read(path, "x").tolist() == [[8, 10], [4, 6], [-5, 2]]
    assert stria.read(path, "copy").tolist() == [[8, 10], [4, 6], [0, 2]]


def test_read_into_given_memory(path):
    values = np.arange(40, dtype="i8").reshape(8, 5)
    with create(path) as f:
        f.create_dataset("x", data=values)
    guarded = np.zeros((10, 7), "f4")
    with stria.open(path) as f:
        f["x"].get(slice(None), guarded[1:-1, 1:-1])
        f.flush()
        assert np.array_equal(guarded[1:-1, 1:-1], values)
        assert not guarded[0].any()
        assert np.array_equal(np.asarray(f["x"]), values)


def test_attributes(path):
    given = {"time": 0.25, "steps": 12, "name": "Sedov", "on": True, "box": [1.0, 2.0], "n": np.arange(3), "axes": ["x", "yy"]}
    with create(path) as f:
        x = f.create_dataset("x", (2,))
        for name, value in given.items():
            f.attrs[name] = value
            x.attrs[name] = value
    with h5py.File(path) as h:
        assert h.attrs["time"] == 0.25 and h["x"].attrs["n"].tolist() == [0, 1, 2]
    with stria.open(path) as f:
        for attrs in (f.attrs, f["x"].attrs):
            assert set(attrs) == set(given)
            assert attrs["time"] == 0.25 and attrs["steps"] == 12 and attrs["name"] == "Sedov" and attrs["on"] == 1
            assert attrs["box"].tolist() == [1, 2] and attrs["n"].dtype == np.int64 and attrs["axes"] == ["x", "yy"]
            assert attrs.get("none", 3) == 3 and "none" not in attrs
            with pytest.raises(KeyError):
                attrs["none"]


def test_an_attribute_that_cannot_be_is_refused_where_it_is_set(path):
    for name, value, error in [("large", np.zeros(8000), "more than 60000 bytes"), ("", 1, "")]:
        with pytest.raises(stria.StriaError, match=error), stria.create(path) as f:
            f.create_dataset("g/d", data=np.arange(3.0)).attrs[name] = value
            pytest.fail("it was taken")
    with stria.create(path) as f:
        f.create_dataset("g/d", data=np.arange(3.0)).attrs["most"] = np.zeros(7500)
    with stria.open(path) as f:
        assert list(f["g/d"].attrs) == ["most"] and f.verify() == ([], [])


def test_tables(path):
    kind = np.dtype([("name", "S8"), ("count", "i4"), ("mass", "f8"), ("flags", "u1")], align=True)
    records = np.array([(b"dens", 7, 0.5, 255), (b"pressure", -1, 2.0, 0)], kind)
    with create(path) as f:
        f.create_table("g/table", records)
        f.create_table("none", records[:0])
        f.create_table("backwards", records[::-1])
        f.create_strings("column", ["a", "bcd"], as_column=True)
        for wrong in (records["name"], records.reshape(2, 1), np.zeros(1, [("z", "M8[s]")]), np.zeros(1, [("o", "O")])):
            with pytest.raises(stria.UnsupportedError):
                f.create_table("wrong", wrong)
    padded = records.copy()
    padded["name"] = np.char.ljust(records["name"], 8)
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        # Blanks fill the strings; nothing else is between them and the next column.
        assert h["g/table"]["name"].tolist() == [b"dens    ", b"pressure"]
        assert h["g/table"].dtype.itemsize == kind.itemsize
        assert np.array_equal(f.read_table("g/table"), padded) and f.read_table("g/table").dtype == kind
        assert np.array_equal(f.read_table("backwards"), padded[::-1]) and len(f.read_table("none")) == 0
        assert h["column"].shape == f["column"].shape == (2, 1) and f["column"][:, 0].tolist() == ["a", "bcd"]
        with pytest.raises(stria.NotFoundError):
            f.read_table("nothing")
    # The records come from another writer.
    with h5py.File(path, "w") as h:
        h["of_h5py"] = records
    with stria.open(path) as f:
        read = f.read_table("of_h5py")
        assert all(np.array_equal(read[name], records[name]) for name in kind.names)


def test_scattered_elements(path):
    places = np.random.default_rng(3).permutation(60)
    places[7] = -1
    elements = stria.Elements(places)
    values = places * 0.5
    with create(path) as f:
        for name, dtype in [("a", "f8"), ("b", "f4")]:
            f.create_dataset(name, (6, 10), dtype).put_elements(elements, values[::-1][::-1])
    with stria.open(path, verify=True) as f, h5py.File(path) as h:
        whole = np.zeros(60)
        whole[places[places >= 0]] = values[places >= 0]
        assert np.array_equal(h["a"][...].ravel(), whole) and np.array_equal(h["b"][...].ravel(), whole)
        back = np.full(60, -9.0)
        f["b"].get_elements(elements, back)
        f.flush()
        assert back[7] == -9 and np.array_equal(np.delete(back, 7), np.delete(values, 7))
        with pytest.raises(ValueError, match="contiguous"):
            f["b"].get_elements(elements, np.zeros(120)[::2])
        with pytest.raises(ValueError, match="59 values"):
            f["b"].get_elements(elements, back[1:])
    with pytest.raises(ValueError, match="twice"), create(path) as f:
        f.create_dataset("a", (3,)).put_elements(stria.Elements([1, 1]), np.ones(2))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_progress(path):
    told = []
    with create(path) as f:
        f.create_dataset("x", data=np.ones(1000))
        f.progress(lambda done, total: told.append((done, total)))
    assert told[-1] == (8000, 8000)
    with stria.open(path) as f:
        f.progress(lambda done, total: 1 / 0)
        assert f["x"][3] == 1
        f.progress(None)


def test_an_exception_discards(path, capfd):
    path.write_text("old")
    with pytest.raises(RuntimeError, match="mine"), create(path) as f:
        f.create_dataset("x", data=np.ones(3))
        raise RuntimeError("mine")
    with pytest.raises(ValueError), create(path) as f:
        f.create_dataset("x", (3,), compress=9)
    assert capfd.readouterr() == ("", "")
    assert path.read_text() == "old"
    assert [one.name for one in path.parent.iterdir()] == ["a.h5"]


def test_errors_are_python_errors(path):
    with pytest.raises(FileNotFoundError) as missing:
        stria.open(path)
    assert isinstance(missing.value, stria.StriaError) and str(path) in str(missing.value)
    with create(path) as f:
        f.create_dataset("x", data=np.ones((3, 4)))
    with stria.open(path) as f:
        assert "x" in f and "y" not in f and f.keys() == ["x"]
        with pytest.raises(KeyError):
            f["y"]
        for wrong in [5, (0, 0, 0), "x", [0.5], (..., ...)]:
            with pytest.raises(ValueError):
                f["x"][wrong]
    with pytest.raises(ValueError, match="closed"):
        f["x"]
    with pytest.raises(ValueError), create(path) as f:
        f.create_dataset("x", (3,))[:] = np.ones(4)
    with pytest.raises(NotImplementedError), create(path) as f:
        f.create_dataset("x", (3,), "M8[3s]")
    with pytest.raises(ValueError, match="sync"):
        stria.create(path, hints={"sync": "perhaps"}, sync="perhaps")


def test_reports_hints_and_verify(path):
    with pytest.warns(stria.HintWarning, match="no_such"):
        f = create(path, hints={"cb_nodes": 1, "no_such": 2})
    with f:
        f.create_dataset("x", data=np.ones(1000))
        f.create_strings("names", ["a", "bcd"])
        assert len(f.hint_warnings) == 1 and f.hints["cb_nodes"] == "1"
        f.commit()
        assert f.report["useful_bytes"] == 8000
    with stria.open(path) as f:
        assert f.verify() == ([], [])
        assert f["names"][...].tolist() == ["a", "bcd"]
    with open(path, "r+b") as raw:
        content = raw.read()
        raw.seek(content.index(np.float64(1).tobytes() * 100))
        raw.write(b"\1")
    with stria.open(path) as f:
        damage, _ = f.verify()
        assert damage == [("x", 0, 1000)]


def test_what_is_stored_how(path):
    with stria.create(path) as f:
        f.create_dataset("plain", data=np.arange(1000.0))
        f.create_dataset("packed", data=np.arange(1000) // 9, compress=True, fletcher32=True)
        f.create_dataset("deflated", data=np.arange(1000) // 9, compress=True, shuffle=False)
    with h5py.File(path) as h:
        assert [(h[name].shuffle, h[name].fletcher32) for name in ("packed", "deflated")] == [(True, True), (False, False)]
    with stria.open(path) as f:
        assert (f.format, f.report["cleared_bytes"]) == ("hdf5", 0)
        plain, packed = f["plain"], f["packed"]
        assert (plain.filters, plain.is_contiguous, plain.nbytes, plain.stored_bytes) == ("", True, 8000, 8000)
        assert (packed.filters, packed.is_contiguous) == ("shuffle deflate(1) fletcher32", False)
        assert packed.stored_bytes < packed.nbytes == 8000
        assert f["deflated"].filters == "deflate(1)"
        assert f.verify(except_for=["plain"]) == f.verify() == ([], [])
    damaged = path.read_bytes().replace(np.arange(20.0).tobytes(), np.arange(1, 21.0).tobytes())
    path.write_bytes(damaged)
    with stria.open(path) as f:
        assert [name for name, *_ in f.verify()[0]] == ["plain"]
        assert f.verify(except_for=["plain"])[0] == []


def test_names_of_files(path):
    path.write_bytes(b"")
    assert stria.list_directory(path.parent) == [path.name] and stria.path_exists(path)
    stria.remove_file(path)
    assert not stria.path_exists(path)
    with pytest.raises(stria.NotFoundError):
        stria.remove_file(path)
    assert stria.remove_abandoned(path.parent, "none") == []
    assert len(stria.hint_problems({"cb_nodes": "none", "cb_buffer_size": 1 << 20})) == 1


def test_threads_have_files_of_their_own(tmp_path):
    def write(number):
        values = np.arange(5000.0) + number
        for i in range(3):
            with create(tmp_path / f"{number}_{i}.h5") as f:
                f.create_dataset("x", data=values)
            with stria.open(tmp_path / f"{number}_{i}.h5", verify=True) as f:
                assert np.array_equal(f["x"][...], values)
        return number

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [0, 1, 2, 3]


@pytest.mark.parametrize("flushes", [False, True])
@pytest.mark.parametrize("columns", [6, 100])
@pytest.mark.parametrize(
    "name, options",
    [
        ("a.h5", {}),
        ("a.h5", {"compress": True, "chunks": (3, 5)}),
        ("a.h5", {"fill_value": 7}),
        ("a.nc", {"unlimited": True, "dimensions": ["time", "x"]}),
    ],
)
def test_elements_that_are_put_twice_are_no_damage(tmp_path, name, options, columns, flushes):
    path = tmp_path / name
    with create(path, hints={"stria_put_overlaps": "enable"}) as f:
        d = f.create_dataset("d", (4, columns), **options)
        f.create_dataset("e", (4, columns), **options)[...] = 5
        d[:, 0:3] = 1
        d[:, 1:4] = 2
        if flushes:
            f.flush()
        d[2:] = 3
        d[1:] = 4
    damage, remarks = stria.verify(path)
    assert damage == []
    assert "compress" in options or any("dataset 'd', rows" in one and "put more than once" in one for one in remarks)
    with stria.open(path, verify=True) as f:
        assert f["d"][0].tolist()[:4] in ([1, 1, 1, 2], [1, 2, 2, 2]) and np.all(f["e"][...] == 5)


def test_a_report_must_not_use_its_file(path):
    messages = []
    f = create(path)
    f.create_dataset("x", data=np.arange(5.0))

    def report(done, total):
        for call in (f.flush, f.commit, f.discard, lambda: f.create_dataset("y", (1,)), lambda: f.progress(None)):
            with pytest.raises(stria.InvalidArgumentError) as error:
                call()
            messages.append(str(error.value))

    f.progress(report)
    f.flush()
    assert len(messages) >= 5 and all("a report of progress must not use its file" in one for one in messages)
    with pytest.raises(stria.InvalidArgumentError, match="must not use its file"):
        f.commit()
    f.close()
    assert not path.exists()


def test_a_report_may_close_its_file(path):
    f = create(path)
    f.create_dataset("x", data=np.arange(50000.0))
    f.progress(lambda done, total: f.close())
    f.commit()
    with stria.open(path, verify=True) as again:
        assert np.array_equal(again["x"][...], np.arange(50000.0))


def test_a_forked_process_leaves_files_to_its_parent(path):
    program = """if True:
        import os, sys, numpy, stria
        f = stria.create(sys.argv[1])
        f.create_dataset("x", data=numpy.arange(5.0))
        f.flush()
        child = os.fork()
        if child == 0:
            f.close()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        f.commit()
    """
    subprocess.run([sys.executable, "-c", program, path], check=True)
    with stria.open(path) as f:
        assert np.array_equal(f["x"][...], np.arange(5.0))


def test_one_thread_at_a_time_uses_a_file(path):
    messages = []
    f = create(path)
    x = f.create_dataset("x", (2,), "f8")
    x[0] = 1

    def meanwhile():
        try:
            x[1] = 2
        except ValueError as error:
            messages.append(str(error))

    def report(done, total):
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()

    f.progress(report)
    f.flush()
    f.progress(None)
    assert messages and all("is in use by another thread" in message for message in messages)
    with pytest.raises(stria.errors.InvalidArgumentError, match="because another thread used the file"):
        f.commit()
    f.close()
    assert not path.exists()


def test_files_are_looked_at_from_a_shell(path):
    def said(*words):
        done = subprocess.run([sys.executable, "-m", "stria", *map(str, words)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    with stria.create(path) as f:
        f.create_dataset("x", data=np.arange(1000.0)).attrs["unit"] = "m"
    assert said("inspect", path) == (0, "x: float64 (1000,)\n  unit = m\n")
    assert said("verify", path) == (0, f"{path}: intact\n")
    content = bytearray(path.read_bytes())
    place = content.index(np.arange(500, 510.0).tobytes())
    content[place] ^= 1
    path.write_bytes(content)
    code, text = said("verify", path)
    assert code == 1 and "'x' is damaged, rows " in text
    assert said("verify", path.with_name("b.h5"))[0] == 2 and said("drain")[0] == 2


def test_nothing_of_mpi_is_loaded():
    code = "import stria, sys; assert 'mpi4py' not in sys.modules; assert 'libmpi' not in open('/proc/self/maps').read()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_staged_files_are_brought_to_their_place(tmp_path):
    near, own = tmp_path / "near", tmp_path / "run.h5"
    near.mkdir()
    with create(near / str(own).replace("/", "%2F")) as f:
        f.create_dataset("x", (10,), "f8")[:] = 3
    assert stria.drain_staged(near) == [str(own)]
    assert list(near.iterdir()) == []
    with stria.open(own) as f:
        assert f["x"][...].tolist() == [3] * 10
    with pytest.raises(stria.StriaError):
        stria.drain_staged(own)


def test_a_commit_in_the_background(path):
    values = np.arange(10000.0)
    with create(path) as f:
        f.create_dataset("x", (10000,), "f8")[:] = values
        commit = f.commit_async()
        values[:] = -1
    commit.wait()
    assert commit.done()
    with h5py.File(path) as h:
        assert np.array_equal(h["x"], np.arange(10000.0))
    with create(path.parent / "taken") as f:
        f.create_dataset("x", (10000,), "f8")[:] = values
        (path.parent / "taken").mkdir()
        commit = f.commit_async()
    with pytest.raises(stria.errors.InvalidArgumentError, match="was not written"):
        commit.wait()

"""Tests what programs ask for that h5py and NumPy have taught them, on one process; and what they
are told where it can't be."""

import errno
import pickle

import h5py
import numpy as np
import pytest
import stria
from stria import _library, _rows


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


@pytest.fixture
def made(path):
    with stria.create(path, sync=False) as f:
        f.create_dataset("x", data=np.arange(24.0).reshape(6, 4))
        f.create_dataset("scalar", (), "i4")[()] = 3
        f.create_strings("names", ["a", "bcd"])
    return path


# Rows


@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
def test_rows_one_by_one(path, monkeypatch, batch_bytes):
    monkeypatch.setattr(_rows, "_BATCH_BYTES", batch_bytes)
    values = np.arange(24.0).reshape(6, 4)
    records = np.array([(1, b"a"), (2, b"bc")], [("n", "i4"), ("text", "S2")])
    with stria.create(path, sync=False) as f:
        f.create_dataset("x", data=values)
        f.create_dataset("packed", data=values, compress=True, chunks=(4, 3))
        f.create_dataset("line", data=values[0])
        f.create_dataset("none", (0, 3))
        f.create_dataset("records", data=records)
        f.create_strings("names", ["a", "bcd"])
    with stria.open(path) as f:
        for name, expected in [("x", values), ("packed", values), ("line", values[0]), ("none", []), ("records", records)]:
            rows = list(f[name])
            assert len(rows) == len(f[name]) and all(np.array_equal(a, b) for a, b in zip(rows, expected, strict=True))
        assert list(f["names"]) == ["a", "bcd"]


def test_rows_are_read_in_whole_chunks():
    assert _rows.rows_of_batch(10, 10 << 20, None) == 16
    assert _rows.rows_of_batch(10**6, 8 * 10**6, (1000,)) == 2097000
    assert _rows.rows_of_batch(10, 10 << 30, (4, 7)) == 4
    assert _rows.rows_of_batch(0, 0, None) > 0


def test_rows_are_read_lazily(path, monkeypatch):
    monkeypatch.setattr(_rows, "_BATCH_BYTES", 64)
    with stria.create(path, sync=False) as f:
        f.create_dataset("x", data=np.arange(24.0))
    with stria.open(path) as f:
        reads, flush = [], stria.File.flush
        monkeypatch.setattr(stria.File, "flush", lambda self: (reads.append(1), flush(self)))
        rows = iter(f["x"])
        assert reads == [] and next(rows) == 0 and len(reads) == 1 and list(rows) == list(range(1, 24)) and len(reads) == 3


def test_indices_that_are_not_there(made):
    with stria.open(made) as f:
        assert f["x"][-1].tolist() == [20, 21, 22, 23] == f["x"][len(f["x"]) - 1].tolist()
        for key in (6, -7, (0, 4), [0, 6], (0, 0, 0), np.ones(5, bool)):
            with pytest.raises(IndexError, match="'x'") as error:
                f["x"][key]
            assert isinstance(error.value, stria.InvalidArgumentError)
        for call in (iter, len):
            with pytest.raises(TypeError, match="without dimensions"):
                call(f["scalar"])


# Communicators


class Communicator:
    def py2f(self):
        return 0


@pytest.mark.parametrize("comm", ["r", True, False, np.bool_(True), 1.5, [], {}, b"w", object()], ids=repr)
@pytest.mark.parametrize("call", [stria.open, stria.create, stria.append, stria.inspect, stria.trace.start])
def test_what_is_no_communicator(path, call, comm):
    with pytest.raises(TypeError, match="is no communicator: pass one of mpi4py") as error:
        call(path, comm) if call is not stria.trace.start else call(comm)
    assert isinstance(error.value, stria.InvalidArgumentError)
    assert ("stria.open() to read" in str(error.value)) == isinstance(comm, str)
    assert not path.exists()


def test_a_communicator_in_the_place_of_what_is_read(made):
    with pytest.raises(TypeError, match="pass the communicator as comm="):
        stria.read(made, Communicator())


@pytest.mark.parametrize("comm", [0, np.int32(0), Communicator()])
def test_communicators_without_mpi(path, comm):
    with pytest.raises(stria.UnsupportedError, match="needs a running MPI"):
        stria.create(path, comm)


@pytest.mark.parametrize(
    "file",
    [
        "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4",
        "/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.4",
        "/opt/intel/oneapi/mpi/2021.9.0/lib/release/libmpi.so.12.0.0",
        "/opt/mvapich2/lib/libmpi.so.12.1.1",
        "/opt/cray/pe/mpich/8.1.25/ofi/gnu/9.1/lib/libmpi_gnu_91.so.12.0.0",
        "/opt/cray/pe/mpich/8.1.25/ofi/cray/10.0/lib/libmpi_cray.so.12.0.0",
        "/opt/cray/pe/lib64/libmpi_nvidia.so.12",
        "/opt/cray/pe/lib64/libmpich_intel.so.3.0.1",
        "/opt/a b/lib/libmpi.so",
    ],
)
def test_libraries_of_mpi_are_known_by_name(file):
    others = ["_cxx.so.40", "_mpifh.so.40", "_gtl_cuda.so.0", "fort_gnu_91.so.12", ".so.40.txt", "_abi.so.0"]
    files = [file, file, *(f"/usr/lib/libmpi{one}" for one in others), "/usr/lib/mylibmpi.so"]
    maps = [f"7f00-7f01 r-xp 00000000 08:01 42                         {one}\n" for one in files]
    nameless = ["7fff-8000 rw-p 00000000 00:00 0                          [stack]\n", "7f80-7f8f rw-p 00000000 00:00 0\n"]
    assert _library.libraries_of_mpi([*maps, *nameless]) == [file]


@pytest.mark.parametrize(
    "version, module",
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI", "_openmpi"),
        ("MPICH Version:\t4.0.2", "_mpich"),
        ("Intel(R) MPI Library 2021.9 for Linux* OS", "_mpich"),
        ("MVAPICH2 Version      :\t2.3.7", "_mpich"),
        ("MVAPICH Version      :\t3.0", "_mpich"),
        ("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", "_mpich"),
        ("HPE MPT 2.25", None),
    ],
)
def test_the_module_for_an_mpi(version, module):
    assert _library.module_of(version) == module


# Errors


def test_errors_of_the_system_tell_the_file(tmp_path, made):
    none = tmp_path / "none.h5"
    for call in (stria.open, stria.append, stria.inspect, stria.read, stria.verify, stria.remove_file, stria.list_directory):
        with pytest.raises(FileNotFoundError) as error:
            call(none)
        assert (error.value.errno, error.value.filename) == (errno.ENOENT, str(none))
        assert str(error.value) == error.value.args[0] and str(none) in str(error.value)
    with pytest.raises(FileNotFoundError) as error:
        stria.create(tmp_path / "no" / "a.h5")
    assert (error.value.errno, error.value.filename) == (errno.ENOENT, str(tmp_path / "no" / "a.h5"))
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is type(error.value) and str(again) == str(error.value)
    assert (again.errno, again.filename, again.strerror) == (errno.ENOENT, error.value.filename, "No such file or directory")
    made.write_bytes(b"no file of HDF5")
    with pytest.raises(OSError, match="a.h5") as error:
        stria.open(made)
    assert (error.value.errno, error.value.filename) == (None, str(made)) and str(error.value) == error.value.args[0]


def test_a_dataset_that_is_not_there_is_no_missing_file(made):
    with stria.open(made) as f, pytest.raises(KeyError) as error:
        f["y"]
    assert error.value.errno is None and "has no dataset 'y'" in str(error.value)


# Arrays


class OnDevice:
    """An array like CuPy's, of which there is none here."""

    def __init__(self, device=2):
        self.device = device

    def __dlpack__(self, **options):
        raise AssertionError("it was asked for its memory")

    def __dlpack_device__(self):
        return self.device, 0


class ByCuda:
    __cuda_array_interface__ = {"shape": (6, 4), "typestr": "<f8", "data": (0, False), "version": 3}


class OfAnotherLibrary:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("array", [OnDevice(), OnDevice(10), ByCuda()], ids=lambda one: type(one).__name__)
def test_arrays_of_a_device(made, tmp_path, array):
    with stria.open(made) as f, pytest.raises(stria.UnsupportedError, match="memory of a device: give a copy"):
        f["x"].get(..., array)
    with pytest.raises(stria.UnsupportedError, match="memory of a device"), stria.create(tmp_path / "b.h5") as f:
        f.create_dataset("x", (6, 4))[...] = array
    with pytest.raises(stria.UnsupportedError, match="memory of a device"), stria.create(tmp_path / "b.h5") as f:
        f.create_dataset("x", data=array)


def test_what_a_read_fills(made):
    values = np.arange(24.0).reshape(6, 4)
    fixed = np.zeros((6, 4))
    fixed.flags.writeable = False
    scattered = stria.Elements(np.arange(24))
    with stria.open(made) as f:
        x = f["x"]
        for wrong in ([[0.0] * 4] * 6, np.float64(3), None, "text", 3):
            with pytest.raises(TypeError, match="a read fills an array, not"):
                x.get(..., wrong)
            with pytest.raises(TypeError, match="a read fills an array, not"):
                x.get_elements(scattered, wrong)
        with pytest.raises(ValueError, match="read-only"):
            x.get(..., fixed)
        with pytest.raises(ValueError, match="read-only"):
            x.get_elements(scattered, fixed)
        swapped, every_second, single = np.zeros((6, 4), ">f8"), np.zeros((6, 8), ">f4")[:, ::2], np.full(24, -1, ">i2")
        other = np.zeros((6, 4))
        x.get(..., swapped)
        x.get((slice(None, None, -1), slice(None)), every_second)
        x.get_elements(stria.Elements(np.where(np.arange(24) == 5, -1, np.arange(24))), single)
        x.get(..., OfAnotherLibrary(other))
        f.flush()
        assert np.array_equal(swapped, values) and np.array_equal(every_second, values[::-1]) and np.array_equal(other, values)
        assert single.tolist() == [-1 if i == 5 else i for i in range(24)]


@pytest.mark.parametrize("shape", [(3.0,), 3.0, (3, "4"), "34", (None, 2.5), (3, None)], ids=repr)
def test_lengths_that_are_no_integers(path, shape):
    with pytest.raises(TypeError, match="the shape of 'x': lengths are integers"), stria.create(path) as f:
        f.create_dataset("x", shape)
    assert not path.exists()


@pytest.mark.parametrize("shape", [-1, (-1,), (3, -1), (None, -2)], ids=repr)
def test_lengths_that_are_negative(path, shape):
    with pytest.raises(ValueError, match="the shape of 'x': a length is negative"), stria.create(path) as f:
        f.create_dataset("x", shape)


def test_other_numbers_that_are_no_integers(path):
    with pytest.raises(TypeError, match="the chunks of 'x'"), stria.create(path) as f:
        f.create_dataset("x", (4, 4), chunks=(2.5, 2))
    with pytest.raises(TypeError, match="offsets of elements are integers"):
        stria.Elements([0.5])
    with stria.create(path) as f:
        assert f.create_dataset("x", np.array([3, 4])).shape == (3, 4) and f.create_dataset("y", np.int64(3)).shape == (3,)


# Whole files


def test_options_of_whole_files(path):
    dens = np.arange(5000.0) // 9
    values = {"z": dens, "a": stria.DistributedArray(dens, (0,), (5000,)), "time": 0.5, "names": ["a", "b"]}
    stria.write(path, values, sync=False, track_order=True, checksums=False, compress="gzip", chunks=(1000,), fletcher32=True)
    with stria.open(path) as f:
        assert f.keys() == list(values)
        assert f["z"].filters == f["a"].filters == "shuffle deflate(1) fletcher32" and f["z"].chunks == (1000,)
        assert f["time"][()] == 0.5 and np.array_equal(f["z"][...], dens)
    with pytest.raises(stria.UnsupportedError, match="no checksums"):
        stria.verify(path)
    stria.write(path, {"x": dens}, format="cdf5", sync=False)
    assert path.read_bytes()[:4] == b"CDF\5"
    with pytest.raises(TypeError):
        stria.write(path, {"x": dens}, compresss=True)


def test_inspect_tells_groups_and_what_cannot_be_read(path):
    with h5py.File(path, "w") as h:
        h.create_dataset("a/b/x", data=np.arange(3)).attrs["unit"] = "m"
        h["a/y"] = np.arange(2)
        h.attrs["time"] = 0.5
        h["a/b"].attrs["record"] = np.array([(1, 2)], [("n", "i4"), ("m", "f4")])
    told = {one["path"]: one for one in stria.inspect(path)}
    assert list(told) == ["/", "a/b", "a/b/x", "a/y"]
    assert told["/"] == {"path": "/", "type": "group", "shape": None, "attributes": {"time": 0.5}}
    record = told["a/b"]["attributes"]["record"]
    assert isinstance(record, stria.Unreadable) and "'record' of 'a/b' is record[8], which stria can't read" in record
    assert told["a/b/x"]["attributes"] == {"unit": "m"} and told["a/y"]["shape"] == (2,)


def test_elements_that_are_put_twice_are_told(path):
    with (
        pytest.raises(stria.InvalidArgumentError, match=r"dataset 'd': two puts have the elements \[2:3, 1:3\]"),
        stria.create(path) as f,
    ):
        d = f.create_dataset("d", (4, 6))
        d[:, 1:3] = 1
        d[2] = 2
    assert not path.exists()


# Habits


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"compression": "gzip"}, r"'x': create_dataset\(\) has no option 'compression'; use compress=\"gzip\""),
        ({"maxshape": (None,)}, "has no option 'maxshape'; use a first length of None"),
        ({"fillvalue": 1}, "has no option 'fillvalue'; use fill_value="),
        ({"colour": 1}, "has no option 'colour'$"),
    ],
)
def test_options_of_h5py_are_told_in_own_words(path, options, meant):
    with stria.create(path, sync=False) as f:
        with pytest.raises(TypeError, match=meant):
            f.create_dataset("x", (3,), **options)
        f.create_dataset("x", (3,))


def test_members_of_h5py_are_told_in_own_words(made):
    with stria.open(made) as f:
        for name, meant in [
            ("create_group", 'create_dataset."group/name"'),
            ("filename", "File.path"),
            ("colour", "'colour'$"),
        ]:
            with pytest.raises(AttributeError, match=f"'File' object has no attribute '{name}'.*{meant}|{meant}"):
                getattr(f, name)
        assert not hasattr(f, "require_group") and hasattr(f, "path")

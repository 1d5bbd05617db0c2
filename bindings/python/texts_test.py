"""Text of any length, as h5py has it, and points in time; h5py and xarray judge."""

import h5py
import numpy as np
import pytest
import stria


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


def create(path, **options):
    return stria.create(path, sync=False, **options)


TEXTS = ["m", "", "größer als α", "x" * 70000, " ends in a blank ", ["m", "", "größer"], ["one"], np.array(["a", "bcd"])]


@pytest.mark.parametrize("value", TEXTS, ids=lambda value: repr(value)[:20])
def test_attributes_of_text_are_as_h5py_has_them(path, value, tmp_path):
    with create(path) as f:
        f.create_dataset("x", data=np.arange(3))
        f.attrs["unit"] = value
        f["x"].attrs["unit"] = value
    with h5py.File(tmp_path / "b.h5", "w") as h:
        h.attrs["unit"] = value.astype(object) if isinstance(value, np.ndarray) else value
    with h5py.File(path) as mine, h5py.File(tmp_path / "b.h5") as theirs:
        for attrs in (mine.attrs, mine["x"].attrs):
            found, expected = attrs["unit"], theirs.attrs["unit"]
            assert type(found) is type(expected) and np.array_equal(found, expected)
            types = [h5py.h5a.open(one.id, b"unit").get_type() for one in (mine if attrs is mine.attrs else mine["x"], theirs)]
            assert types[0] == types[1] or isinstance(value, np.ndarray)
            info = h5py.check_string_dtype(attrs.get_id("unit").dtype)
            assert (info.encoding, info.length) == ("utf-8", None)
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f.attrs["unit"], value) and f.verify() == ([], [])


def test_bytes_stay_strings_of_one_length(path):
    with create(path) as f:
        f.attrs["a"] = b"ab"
        f.attrs["b"] = [b"a", b"bcd"]
    with h5py.File(path) as h:
        assert h.attrs["a"] == np.bytes_(b"ab") and h.attrs["b"].dtype == "S3"


@pytest.mark.parametrize(
    "data", [["a"], ["α", "", "b" * 300], np.array([["a", "b"], ["cd", " e "]]), "one", np.array("x", "U4")]
)
def test_datasets_of_text(path, data):
    with create(path) as f:
        made = f.create_dataset("g/names", data=data)
        assert made.shape == np.shape(data)
        made.attrs["unit"] = "none"
        f.create_dataset("numbers", data=np.arange(1000.0))
    with h5py.File(path) as h:
        assert h["g/names"].dtype == h5py.string_dtype() and h["g/names"].attrs["unit"] == "none"
        found = h["g/names"].asstr()[()]
        assert np.array_equal(found, np.asarray(data, object))
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f["g/names"][()], np.asarray(data, object)[()])
        assert np.array_equal(f["numbers"][...], np.arange(1000.0)) and f.verify() == ([], [])


@pytest.mark.parametrize("dtype", [str, "U5", h5py.string_dtype(), np.dtypes.StringDType()], ids=repr)
def test_types_of_text(path, dtype):
    with create(path) as f:
        f.create_dataset("x", data=np.array(["a", "bc"], dtype if dtype is not str else None), dtype=dtype)
        f.create_dataset("y", (2,), dtype, data=["a", "bc"])
        f.attrs["z"] = np.array(["a", "bc"], dtype if dtype is not str else None)
        with pytest.raises(stria.UnsupportedError, match="'w': text of any length is made whole"):
            f.create_dataset("w", (2,), dtype)
    with h5py.File(path) as h:
        assert h["x"].asstr()[...].tolist() == h["y"].asstr()[...].tolist() == h.attrs["z"].tolist() == ["a", "bc"]


def test_text_that_cannot_be_kept(path):
    with create(path) as f:
        for data in ["a\0b", ["a", "b\0"]]:
            with pytest.raises(stria.InvalidArgumentError, match=r"'x'.* has a NUL"):
                f.create_dataset("x", data=data)
        with pytest.raises(stria.InvalidArgumentError, match=r"'x': data of shape \(1,\) for a dataset of shape \(2,\)"):
            f.create_dataset("x", (2,), str, data=["a"])
        f.discard()


def test_many_texts_lie_in_several_heaps(path):
    texts = [f"text {i} " + "x" * (i % 300) for i in range(20000)]
    with create(path) as f:
        f.create_dataset("x", data=texts)
        for i in range(50):
            f.attrs[f"a{i}"] = texts[i * 50 : i * 50 + 50]
    with h5py.File(path) as h:
        assert h["x"].asstr()[...].tolist() == texts
        assert all(h.attrs[f"a{i}"].tolist() == texts[i * 50 : i * 50 + 50] for i in range(50))
    assert stria.verify(path) == ([], [])


def test_text_in_files_that_grow_and_are_compacted(path):
    with create(path) as f:
        f.create_dataset("x", data=np.arange(5))
        f.attrs["a"] = "old"
        f.attrs["b"] = "stays"
    with stria.append(path, sync=False) as f:
        f.attrs["a"] = "newer and longer"
        f.create_dataset("names", data=["p", "q"])
        f.create_dataset("y", data=np.arange(3))
    assert stria.verify(path) == ([], [])
    with stria.append(path, sync=False) as f:
        f.attrs["c"] = ["α", "β"]
    with h5py.File(path) as h:
        assert dict(h.attrs, c=list(h.attrs["c"])) == {"a": "newer and longer", "b": "stays", "c": ["α", "β"]}
        assert h["names"].asstr()[...].tolist() == ["p", "q"] and h["y"][...].tolist() == [0, 1, 2]
    with stria.open(path, verify=True) as f:
        assert f.attrs["c"] == ["α", "β"] and f["names"][...].tolist() == ["p", "q"]
    assert stria.verify(path) == ([], [])


def test_damaged_text_is_found(path):
    with create(path) as f:
        f.create_dataset("names", data=["some text that is damaged"])
    content = bytearray(path.read_bytes())
    content[content.index(b"some text")] ^= 1
    path.write_bytes(bytes(content))
    assert stria.verify(path)[0] == [("", 0, 0)]


def test_text_in_netcdf_files(tmp_path):
    with create(tmp_path / "a.nc") as f:
        f.create_dataset("x", data=np.arange(3.0))
        f.attrs["title"] = "a title"
        f["x"].attrs["units"] = "m"
    with stria.open(tmp_path / "a.nc") as f:
        assert f.attrs["title"] == "a title" and f["x"].attrs["units"] == "m"


def test_old_strings_stay_readable(path):
    with h5py.File(path, "w") as h:
        h.attrs["fixed"] = np.bytes_(b"abc")
        h.attrs["list"] = np.array([b"a", b"bc"])
        h["fixed"] = np.array([b"a", b"bc"])
        h["blanks"] = np.array([b"a  ", b"bc "])
        h["varied"] = ["a ", "bc"]
    with stria.open(path) as f:
        assert f.attrs["fixed"] == "abc" and f.attrs["list"] == ["a", "bc"]
        assert f["fixed"][...].tolist() == f["blanks"][...].tolist() == ["a", "bc"]
        assert f["varied"][...].tolist() == ["a ", "bc"]


TIMES = np.array(["2026-01-02T03:04:05", "NaT", "1969-12-31"], "M8[s]")


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns"])
def test_times_are_as_xarray_has_them(path, unit):
    xarray = pytest.importorskip("xarray")
    times = TIMES.astype("M8[D]").astype(f"M8[{unit}]")[::2]
    decoded = unit in ("s", "ms", "us", "ns")  # by xarray
    spans = np.array([1, -2], f"m8[{unit}]")
    with create(path) as f:
        f.create_dataset("times", data=times, dimensions=["n"])
        if decoded:
            f.create_dataset("spans", (2,), f"m8[{unit}]", dimensions=["n"])[1:] = spans[1:]
        f.create_dataset("later", (2,), f"M8[{unit}]", dimensions=["n"]).put(..., times)
    with xarray.open_dataset(path, engine="h5netcdf") as found:
        assert np.array_equal(found["times"].values, times) and np.array_equal(found["later"].values, times)
        assert not decoded or np.array_equal(found["spans"].values, [np.timedelta64(0), spans[1]])
    with stria.open(path) as f:
        assert np.array_equal(f["times"][...].view(f"M8[{unit}]"), times)


def test_times_that_cannot_be_kept(path):
    with create(path) as f:
        with pytest.raises(stria.UnsupportedError, match="'x': timedelta64.* no unit that files name"):
            f.create_dataset("x", data=np.array([1], "m8[Y]"))
        x = f.create_dataset("y", (2,), "M8[s]")
        with pytest.raises(stria.InvalidArgumentError, match="'y' holds datetime64.s., in which not all"):
            x[0] = np.datetime64("2026-01-01T00:00:00.5")
        with pytest.raises(stria.InvalidArgumentError, match="'y' holds datetime64.s., not float64"):
            x[0] = 1.5
        f.discard()

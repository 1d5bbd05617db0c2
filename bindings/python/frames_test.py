"""Datasets of xarray, frames of pandas, and what messages say of values that don't fit."""

import warnings

import h5py
import numpy as np
import pytest
import stria


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


def test_a_dataset_of_xarray_is_kept(path):
    xarray = pytest.importorskip("xarray")
    given = xarray.Dataset(
        {
            "temperature": (("time", "x"), np.arange(6.0).reshape(2, 3), {"units": "K"}),
            "flag": (("x",), np.array([True, False, True])),
            "count": ((), 5),
            "name": (("x",), np.array(["a", "bc", ""], object)),
        },
        coords={
            "time": np.array(["2026-01-01", "2026-01-02"], "M8[ns]"),
            "x": ("x", [1.5, 2.5, 3.5], {"long_name": "place"}),
            "label": ("x", ["p", "q", "r"]),
        },
        attrs={"title": "a run", "numbers": [1, 2]},
    )
    stria.write(path, given, sync=False, compress=True)
    with xarray.open_dataset(path, engine="h5netcdf") as found:
        xarray.testing.assert_identical(found.load(), given)
    with h5py.File(path) as h:
        assert h["temperature"].compression == "gzip" and h["temperature"].attrs["units"] == "K"


def test_a_dataset_that_a_file_cannot_keep(path):
    xarray = pytest.importorskip("xarray")
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_product([["a", "b"], [1, 2]], names=["p", "q"])
    coords = xarray.Coordinates.from_pandas_multiindex(index, "x")
    with pytest.raises(stria.UnsupportedError, match="can't keep this dataset"):
        stria.write(path, xarray.Dataset({"y": ("x", range(4))}, coords=coords))
    with pytest.raises(stria.UnsupportedError, match="the name 3 is no text"):
        stria.write(path, xarray.Dataset({3: ("x", range(4))}))
    with pytest.raises(stria.UnsupportedError, match="attribute 'a' of"):
        stria.write(path, xarray.Dataset({"y": ("x", range(4))}, attrs={"a": {"b": 1}}))
    assert not path.exists()


def test_a_frame_becomes_a_table(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"name": ["a", "größer"], "mass": [1.5, 2.5], "n": pandas.array([1, 2], "Int32"), "on": [True, False]}
    )
    stria.write(path, {"t": frame, "by_name": frame.set_index("name")}, sync=False)
    with stria.open(path) as f:
        for name in ("t", "by_name"):
            found = f[name][...]
            assert found.dtype.names == ("name", "mass", "n", "on") and found["n"].dtype == "i4"
            assert [one.decode() for one in found["name"]] == ["a", "größer"] and found["mass"].tolist() == [1.5, 2.5]
    with h5py.File(path) as h:
        assert h["t"]["on"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (["a", None], "lacks values"),
        ([{}, 1], "neither numbers nor text"),
        (np.array(["2026-01-01"] * 2, "M8[ns]"), "has times"),
        ("categories", "has categories"),
    ],
)
def test_a_frame_that_a_table_cannot_keep(path, column, why):
    pandas = pytest.importorskip("pandas")
    column = pandas.Categorical(["a", "b"]) if isinstance(column, str) else column
    with pytest.raises(stria.UnsupportedError, match=f"'t': the column 'x' .*{why}"):
        stria.write(path, {"t": pandas.DataFrame({"x": column})})
    with pytest.raises(stria.UnsupportedError, match="'t': the column 5 has no text"):
        stria.write(path, {"t": pandas.DataFrame({5: [1]})})


def test_values_that_do_not_fit(path):
    with stria.create(path, sync=False) as f:
        x = f.create_dataset("x", (3, 2))
        with pytest.raises(stria.InvalidArgumentError, match=r"'x': values of shape \(4,\) for a selection of shape \(3, 2\)"):
            x[...] = np.arange(4)
        with pytest.raises(stria.WrongTypeError, match="'x' holds float64, which has no imaginary parts"):
            x[0] = 1j
        with pytest.raises(stria.WrongTypeError, match="'y' holds float32, which has no imaginary parts"):
            f.create_dataset("y", dtype="f4", data=np.ones(3, complex))
        with pytest.raises(stria.UnsupportedError, match="'z': datasets hold"):
            f.create_dataset("z", data=[object()])
        with pytest.raises(stria.UnsupportedError, match="attribute 'r' of 'x': .* but not records"):
            x.attrs["r"] = np.zeros(1, [("a", "i4")])
        with pytest.raises(stria.UnsupportedError, match="attribute 't' of '/': datetime64"):
            f.attrs["t"] = np.datetime64("2026-01-01")
        f.discard()


def test_names_as_bytes(path):
    with stria.create(str(path).encode(), sync=False) as f:
        f.create_dataset(b"g/x", data=np.arange(3))
        f.attrs_of(b"g")["a"] = 1
    with stria.open(str(path).encode()) as f:
        assert f[b"g/x"][...].tolist() == [0, 1, 2] and b"g/x" in f and f[b"g"].attrs["a"] == 1


@pytest.mark.parametrize(
    ("name", "error", "why"),
    [
        ("s3://bucket/a.h5", stria.UnsupportedError, "not at s3://"),
        ("https://host/a.h5", stria.UnsupportedError, "not at https://"),
        ("file:///tmp/a.h5", stria.UnsupportedError, "without 'file://'"),
        (5.0, stria.WrongTypeError, "not float"),
        (None, stria.WrongTypeError, "not NoneType"),
    ],
)
@pytest.mark.parametrize("call", [stria.create, stria.open, stria.append, stria.inspect, stria.verify, stria.path_exists])
def test_paths_that_are_none(call, name, error, why):
    with pytest.raises(error, match=why):
        call(name)


def test_unknown_hints_are_told(path):
    with pytest.warns(stria.HintWarning, match="create.*no_such"):
        f = stria.create(path, hints={"no_such": 1}, sync=False)
    f.commit()
    with pytest.warns(stria.HintWarning, match="cb_nodes"):
        stria.open(path, hints={"cb_nodes": "many"}).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stria.open(path, hints={"cb_nodes": 1}).close()


def test_a_file_that_is_still_written(path):
    with stria.create(path, sync=False) as f:
        f.create_dataset("x", data=np.arange(3))
        for call, error in [
            (stria.open, stria.NotFoundError),
            (stria.append, stria.NotFoundError),
            (stria.create, stria.AlreadyExistsError),
        ]:
            with pytest.raises(error, match=r"this process has '.*a.h5' open to write it"):
                call(path)

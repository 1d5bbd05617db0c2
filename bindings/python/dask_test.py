"""dask reads files through handles of stria, and xarray's files by dask: with threads of one
process, with processes, and with the workers of a cluster."""

import h5py
import numpy as np
import pytest
import stria

try:
    import dask
    import dask.array as da
    import xarray as xr
    from distributed import Client, LocalCluster
except ImportError as missing:
    pytest.skip(f"dask, distributed and xarray are needed: {missing}", allow_module_level=True)

VALUES = np.arange(60 * 40, dtype="f8").reshape(60, 40)


@pytest.fixture
def path(tmp_path):
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        f.create_dataset("plain", data=VALUES)
        f.create_dataset("g/packed", data=VALUES, compress=True, chunks=(20, 40))
        f.create_dataset("records", data=np.array([(i, i / 2) for i in range(50)], [("n", "i4"), ("x", "f8")]))
        f["plain"].attrs["unit"] = "m"
    return tmp_path / "a.h5"


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(params=["synchronous", "threads", "processes", "cluster"])
def compute(request):
    """Computes something of dask in that way."""
    if request.param == "cluster":
        connected = request.getfixturevalue("client")
        return lambda lazy: connected.compute(lazy).result(timeout=120)
    return lambda lazy: lazy.compute(scheduler=request.param, num_workers=2 if request.param == "processes" else 4)


def test_arrays_of_datasets(path, compute):
    with stria.open(path) as f:
        for name in ("plain", "g/packed"):
            lazy = da.from_array(f[name], chunks=(7, 11))
            assert lazy.shape == VALUES.shape and lazy.dtype == VALUES.dtype
            assert np.array_equal(compute(lazy), VALUES)
            assert compute(lazy[::3, 5:].sum()) == VALUES[::3, 5:].sum()
            assert np.array_equal(compute((lazy + lazy.T.mean())[[3, 50]]), VALUES[[3, 50]] + VALUES.mean())


def test_chunks_of_a_dataset_are_those_of_its_array(path):
    with stria.open(path) as f, dask.config.set({"array.chunk-size": "7 KiB"}):
        assert da.from_array(f["g/packed"]).chunks == ((20, 20, 20), (40,))


def test_arrays_of_records(path, compute):
    with stria.open(path) as f:
        found = compute(da.from_array(f["records"], chunks=9))
        assert found["n"].tolist() == list(range(50)) and found["x"].sum() == sum(range(50)) / 2


def test_files_of_xarray(tmp_path, compute):
    written = xr.Dataset(
        {"dens": (("y", "x"), VALUES, {"units": "g/cm^3"})}, coords={"x": np.linspace(0, 1, 40)}, attrs={"run": "sedov"}
    )
    stria.write(tmp_path / "x.h5", written)
    with xr.open_dataset(tmp_path / "x.h5", engine="h5netcdf", chunks={"y": 13}) as read:
        assert read["dens"].chunks == ((13, 13, 13, 13, 8), (40,))
        assert np.array_equal(compute(read["dens"].data), VALUES)
        assert compute(read["dens"].mean("x").data).tolist() == VALUES.mean(axis=1).tolist()
        xr.testing.assert_identical(read.compute(scheduler="synchronous"), written)


def test_arrays_in_xarray(path, compute):
    with stria.open(path) as f:
        lazy = xr.DataArray(da.from_array(f["plain"], chunks=(20, 40)), dims=("y", "x"), attrs=dict(f["plain"].attrs))
        assert lazy.attrs == {"unit": "m"}
        assert compute(lazy.isel(x=slice(None, None, 2)).data).tolist() == VALUES[:, ::2].tolist()


def test_arrays_are_stored(tmp_path):
    with stria.create(tmp_path / "b.h5", sync=False) as f:
        da.store(da.from_array(VALUES, chunks=(16, 16)) * 2, f.create_dataset("x", VALUES.shape), scheduler="threads")
    with h5py.File(tmp_path / "b.h5") as h:
        assert np.array_equal(h["x"], VALUES * 2)

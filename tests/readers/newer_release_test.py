"""Files that h5py writes with a newer HDF5 than Stria has: what takes that release hides nothing
else."""

import subprocess

import h5py
import numpy as np
import pytest
import stria
from stria_program import HDF5_RELEASE, run

pytestmark = pytest.mark.skipif(
    h5py.version.hdf5_version_tuple < (2,) or HDF5_RELEASE >= (2,), reason="h5py has no newer HDF5 than ours"
)


def test_what_a_newer_release_stored_hides_nothing_else(work):
    path = work / "newer.h5"
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("a/newer", data=np.arange(100.0).reshape(10, 10), chunks=(5, 5), compression="gzip")
        f["b"] = np.arange(3.0)
    with stria.open(path) as f:
        assert f.keys() == ["a/newer", "b"] and np.array_equal(f["b"][...], np.arange(3.0))
        assert f["a/newer"].shape == (10, 10)
        with pytest.raises(stria.UnsupportedError, match="'a/newer' holds other"):
            f["a/newer"][...]
        assert np.array_equal(f["b"][...], np.arange(3.0))
    with stria.append(path) as f:
        f.update("b")[0] = 5.0
    with h5py.File(path) as f:
        assert f["a/newer"][9, 9] == 99 and np.array_equal(f["b"], [5, 1, 2])


def with_scales(path, count=0, **behind):
    """Returns a file as h5py makes it for the newest release alone: the list of what a scale is
    attached to is a type that older ones don't know. Attributes `behind` it come later."""
    with h5py.File(path, "w", libver="latest") as f:
        f["z"], f["r"] = np.arange(3.0), np.arange(4.0)
        f["r"].attrs["units"] = "cm"
        for i in range(count):
            f["r"].attrs[f"n{i}"] = i
        f["t"] = np.arange(12.0).reshape(3, 4)
        for dim, name in enumerate("zr"):
            f[name].make_scale(name)
            f["t"].dims[dim].attach_scale(f[name])
        for name, value in behind.items():
            f["r"].attrs[name] = value


def test_compacting_makes_the_lists_of_scales_anew(work):
    path = work / "scales.h5"
    with_scales(path)
    assert 'units: string[2] = "cm"' in run("inspect", path).succeeded().stdout
    before = path.read_bytes()
    with pytest.raises(stria.UnsupportedError, match="'REFERENCE_LIST' of '/[rz]'"), stria.append(path) as f:
        f.create_dataset("new", data=np.ones(3))
    assert path.read_bytes() == before
    run("compact", path).succeeded()
    with stria.append(path) as f:
        f.create_dataset("new", data=np.ones(3))
    subprocess.run(["h5dump", path], stdout=subprocess.DEVNULL, check=True)
    with h5py.File(path) as f:
        assert np.array_equal(f["t"], np.arange(12.0).reshape(3, 4)) and f["r"].attrs["units"] in ("cm", b"cm")
        assert [np.array_equal(dim[0], f[name]) for dim, name in zip(f["t"].dims, "zr", strict=True)] == [True, True]
    with_scales(path, behind=1)
    run("compact", path).succeeded()
    with h5py.File(path) as f:
        assert f["r"].attrs["behind"] == 1 and f["z"].is_scale and f["t"].dims[1][0].name == "/r"
    with_scales(path, count=10)
    before = path.read_bytes()
    run("compact", path).refused("/r'")
    assert path.read_bytes() == before

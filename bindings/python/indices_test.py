"""Indices on one process: what NumPy and h5py mean by them, and how they are read."""

import h5py
import numpy as np
import pytest
import stria

SHAPE = (40, 30, 20)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("indices") / "a.h5"
    random = np.random.default_rng(7)
    array = random.random(SHAPE)
    records = np.zeros((40, 3), [("id", "i4"), ("pos", "f8", (2,))])
    records["id"] = np.arange(120).reshape(40, 3)
    records["pos"] = random.random((40, 3, 2))
    with h5py.File(path, "w") as h:
        h["plain"] = array
        h.create_dataset("chunked", data=array, chunks=(7, 8, 9))
        h.create_dataset("deflated", data=array, chunks=(16, 30, 5), compression="gzip", shuffle=True)
        h.create_dataset("big", data=array, dtype=">f4")
        h["complex"] = array + 1j * array[::-1]
        h["flags"] = array < 0.5
        h["records"] = records
        h["names"] = [f"n{i}" for i in range(40)]
        h["one"] = 2.5
        h["line"] = array.reshape(-1)
    with h5py.File(path) as h, stria.open(path) as f:
        yield h, f


MASK = np.random.default_rng(3).random(SHAPE) < 0.3
INDICES = [
    np.s_[::2],
    np.s_[::7],
    np.s_[::4, ::4],
    np.s_[::3, ::3, ::3],
    np.s_[:, :, 3:20:5],
    np.s_[5, ::2, 7],
    np.s_[1:40:13, 2:5, 1::2],
    np.s_[:, list(range(0, 30, 2)), :],
    np.s_[[0, 1, 5, 7, 8, 9, 20, 22, 24, 26, 28, 30, 39]],
    np.s_[:, :, [0, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19]],
    np.s_[3, :, [0, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19]],
    np.s_[np.arange(40) % 3 == 1],
    np.s_[:, np.arange(30) % 2 == 1, 4],
    MASK,
    np.s_[...],
    np.s_[2],
]


@pytest.mark.parametrize("name", ["plain", "chunked", "deflated", "big", "complex", "flags"])
@pytest.mark.parametrize("index", range(len(INDICES)))
def test_what_h5py_takes_is_read_alike(files, name, index):
    h, f = files
    found, expected = f[name][INDICES[index]], h[name][...][INDICES[index]]
    assert found.dtype == expected.dtype.newbyteorder("=") and found.shape == expected.shape
    assert np.array_equal(found, expected)
    theirs = h[name][INDICES[index]]
    # h5py leaves a list where it stands, which NumPy may put first.
    assert theirs.shape != expected.shape or np.array_equal(theirs, expected)


def test_strided_reads_are_sieved(files):
    h, f = files
    assert np.array_equal(f["line"][::7], h["line"][::7])
    assert f.report["method"] == "hybrid" and "pieces of 8 bytes" in f.report["reason"]
    assert np.array_equal(f["line"][5:900], h["line"][5:900]) and f.report["method"] == "list_io"
    with stria.open(h.filename, hints={"romio_ds_read": "disable"}) as by_pieces:
        assert np.array_equal(by_pieces["line"][::7], h["line"][::7]) and by_pieces.report["method"] == "list_io"


def test_sparse_and_dense_masks(files):
    h, f = files
    line = h["line"][...]
    random = np.random.default_rng(5)
    for density in (0, 0.001, 0.05, 0.5, 1):
        mask = random.random(line.size) < density
        assert np.array_equal(f["line"][mask], line[mask])
        whole = random.random(SHAPE) < density
        for name in ("plain", "chunked", "complex"):
            assert np.array_equal(f[name][whole], h[name][...][whole])
    with pytest.raises(stria.InvalidIndexError, match="'plain': a mask of shape"):
        f["plain"][np.ones((40, 30, 19), bool)]


def test_masks_and_newaxis_of_puts(tmp_path):
    mask = np.random.default_rng(1).random((6, 5)) < 0.4
    expected = np.zeros((6, 5))
    expected[mask] = np.arange(mask.sum())
    expected[~mask] = -1
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        x = f.create_dataset("x", (6, 5))
        x[mask] = np.arange(mask.sum())
        x[~mask] = -1
        f.create_dataset("y", (6, 5))[:, None, 2:4] = np.ones((6, 1, 2))
        f.create_dataset("z", (3,))[np.newaxis, :] = [[1, 2, 3]]
    with stria.open(tmp_path / "a.h5", verify=True) as f:
        assert np.array_equal(f["x"][...], expected)
        assert f["y"][...].sum() == 12 and f["z"][...].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "index",
    [
        np.s_[None],
        np.s_[:, None, 3],
        np.s_[..., None],
        np.s_[None, 2, ..., None, 1:3],
        np.s_[[3, 1, 2], None],
        np.s_[np.array(2)],
        np.s_[:, np.array(2, "u1"), np.int64(3)],
        np.s_[(np.array(-1), ..., 2)],
    ],
    ids=repr,
)
def test_what_only_numpy_takes(files, index):
    h, f = files
    found, expected = f["plain"][index], h["plain"][...][index]
    assert np.array_equal(found, expected) and found.shape == expected.shape


def test_one_value_is_as_numpy_has_it(files):
    _, f = files
    assert f["one"][...].shape == () and isinstance(f["one"][...], np.ndarray)
    assert isinstance(f["one"][()], np.float64) and f["one"][()] == 2.5
    assert isinstance(f["plain"][1, 2, 3], np.float64)
    assert isinstance(f["plain"][1, 2, 3, ...], np.ndarray) and f["plain"][1, 2, 3, ...].shape == ()
    assert isinstance(f["names"][0], str) and f["names"][...].shape == (40,)


def test_other_types(files):
    h, f = files
    for dtype in ("f4", "i4", ">f8", "f2"):
        view = f["plain"].astype(dtype)
        assert view.dtype == dtype and view[3:5].dtype == dtype and view.shape == SHAPE and len(view) == 40
        assert np.array_equal(view[3:5, ::2], h["plain"][3:5, ::2].astype(dtype))
        assert np.asarray(view).dtype == dtype
    assert np.array_equal(f["flags"].astype("u1")[0], h["flags"][0].astype("u1"))


def test_fields(files):
    h, f = files
    assert np.array_equal(f["records"]["id"], h["records"]["id"])
    assert np.array_equal(f["records"].fields("pos")[3:9:2], h["records"].fields("pos")[3:9:2])
    both = f["records"][["pos", "id"]]
    assert both.dtype.names == ("pos", "id") and np.array_equal(both["pos"], h["records"]["pos"])
    with pytest.raises(stria.InvalidArgumentError, match="'records' has no field 'mass'"):
        f["records"]["mass"]
    with pytest.raises(stria.InvalidArgumentError, match="'plain' has no field 'id'"):
        f["plain"]["id"]

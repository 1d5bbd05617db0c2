"""Datasets that zstd compresses: h5py with the plug-in of hdf5plugin reads what Stria writes, and
the other way round; several threads write the same bytes as one."""

import h5py
import numpy as np
import pytest
import stria
from stria_program import run


@pytest.fixture
def plug_in():
    return pytest.importorskip("hdf5plugin")


def values_of(dtype):
    random = np.random.default_rng(7)
    smooth = np.sin(np.linspace(0, 9, 40 * 31 * 7)).reshape(40, 31, 7) * 100
    smooth[8:16] = random.standard_normal((8, 31, 7)) * 1e6  # chunks that hardly shrink
    return smooth.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2", "u1"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_plug_in_reads_it(work, plug_in, dtype, threads):
    path = work / "ours.h5"
    values = values_of(dtype)
    noise = np.frombuffer(np.random.default_rng(1).bytes(20000), "u1")
    with stria.create(path, hints={"stria_compress_threads": threads}) as f:
        f.create_dataset("a", values.shape, dtype, compress="zstd", chunks=(4, 31, 7))[...] = values
        f.create_dataset("b", data=values, compress="zstd")
        f.create_dataset("noise", data=noise, compress="zstd", chunks=(999,))
        f.create_dataset("grows", (None, 7), dtype, compress="zstd")
        f.append_rows("grows", 40)[:] = values[:, 0]
    with stria.append(path) as f:
        f.append_rows("grows", 40)[40:] = values[:, 1]
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert f.verify() == ([], [])
        for name, expected in [
            ("a", values),
            ("b", values),
            ("noise", noise),
            ("grows", np.vstack([values[:, 0], values[:, 1]])),
        ]:
            assert np.array_equal(h[name], expected) and np.array_equal(f[name][...], expected), name
            assert list(h[name]._filters) == ["shuffle", "32015"], name
    assert "zstd(1)" in run("inspect", path).succeeded().stdout


def test_threads_make_the_same_file(work):
    contents = []
    for threads in (1, 2, 5):
        path = work / f"{threads}.h5"
        with stria.create(path, hints={"stria_compress_threads": threads}) as f:
            for name in "ab":
                f.create_dataset(name, data=values_of("f4"), compress=True, chunks=(3, 9, 7))
        contents.append(path.read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_files_of_the_plug_in_are_read_and_grow(work, plug_in):
    path = work / "theirs.h5"
    values = values_of("f4")
    with h5py.File(path, "w") as h:
        for level in (-5, 1, 19):
            h.create_dataset(
                f"z{level}",
                data=values,
                chunks=(5, 31, 3),
                maxshape=(None, 31, 7),
                shuffle=level > 0,
                **plug_in.Zstd(clevel=level),
            )
        h.create_dataset("sum", data=values, chunks=(5, 31, 3), fletcher32=True, **plug_in.Zstd())
    with h5py.File(path) as h, stria.open(path) as f:
        for name in h:
            assert np.array_equal(f[name][...], values) and np.array_equal(f[name][3:30:2, 1:, 2], values[3:30:2, 1:, 2])
    with stria.append(path) as f:
        f.append_rows("z1", 3)[40:] = values[:3]
    with h5py.File(path) as h:
        assert np.array_equal(h["z1"][38:], np.vstack([values[38:], values[:3]]))

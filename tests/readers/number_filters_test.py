"""Datasets that pass filters of numbers: scale-offset, which h5py reads by itself, and ZFP, with
the plug-in of hdf5plugin. Each is read the other way round as well."""

import h5py
import numpy as np
import pytest
import stria
from stria_program import run


@pytest.fixture
def plug_in():
    return pytest.importorskip("hdf5plugin")


def has_zfp(work):
    try:
        with stria.create(work / "probe.h5") as f:
            f.create_dataset("a", (8,), "f8", compress="zfp_absolute:1")
    except stria.StriaError as error:
        assert "libzfp" in str(error)
        return False
    return True


MODES = [{"accuracy": 0.01}, {"precision": 14}, {"rate": 8}, {"reversible": True}]
INTEGERS = ["i1", "u1", "i2", ">u2", "i4", ">i4", "u4", "i8", ">u8"]


def integers_of(dtype):
    random = np.random.default_rng(3)
    values = (random.integers(0, 50, (40, 31)) + (-20 if np.dtype(dtype).kind == "i" else 60)).astype(dtype)
    values[5:9] = 7
    # These hardly shrink.
    values[20:24] = np.frombuffer(random.bytes(4 * 31 * values.itemsize), dtype).reshape(4, 31)
    return values


@pytest.mark.parametrize("fill", [None, 7])
def test_h5py_reads_scale_offset(work, fill):
    path = work / "ours.h5"
    with stria.create(path) as f:
        for dtype in INTEGERS:
            d = f.create_dataset(dtype, (44, 31), dtype, compress="scale_offset", chunks=(4, 31), fill_value=fill)
            d[:40] = integers_of(dtype)
        f.create_dataset("grows", (None, 7), "i4", compress="scale_offset")
        f.append_rows("grows", 20)[:] = np.arange(140).reshape(20, 7)
    with stria.append(path) as f:
        f.append_rows("grows", 10)[20:] = np.arange(70).reshape(10, 7) - 35
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert f.verify() == ([], [])
        for dtype in INTEGERS:
            expected = np.full((44, 31), fill or 0, dtype)
            expected[:40] = integers_of(dtype)
            assert np.array_equal(h[dtype], expected) and np.array_equal(f[dtype][...], expected), dtype
            assert h[dtype].scaleoffset is not None
        assert h["i8"].id.get_chunk_info(0).size < h["i8"].id.get_chunk_info(5).size
        assert np.array_equal(h["grows"][15:25], f["grows"][15:25])
        assert h["grows"][20, 0] == -35
    assert "scale_offset" in run("inspect", path).succeeded().stdout


def test_scale_offset_of_h5py_is_read_and_grown(work):
    path = work / "theirs.h5"
    with h5py.File(path, "w") as h:
        for dtype in INTEGERS:
            for bits, more in [(0, {}), (0, {"fillvalue": 7}), (7, {}), (0, {"compression": "gzip", "shuffle": True})]:
                name = f"{dtype} {bits} {sorted(more)}"
                h.create_dataset(name, (40, 31), dtype, chunks=(5, 9), maxshape=(None, 31), scaleoffset=bits, **more)[...] = (
                    integers_of(dtype)
                )
        h.create_dataset("real", data=np.arange(50.0) / 4, chunks=(10,), scaleoffset=3)
    with h5py.File(path) as h, stria.open(path) as f:
        for name in h:
            assert np.array_equal(f[name][...], h[name][...]), name
        before = h["i4 0 []"][:]
    with stria.append(path) as f:
        f.append_rows("i4 0 []", 2)[40:] = 1234
    with h5py.File(path) as h:
        assert np.array_equal(h["i4 0 []"][:40], before) and (h["i4 0 []"][40:] == 1234).all()


def test_scale_offset_is_for_integers(work):
    why = r"dataset 'a': its chunks: scale-offset takes integers"
    with pytest.raises(stria.StriaError, match=why), stria.create(work / "no.h5") as f:
        f.create_dataset("a", (8,), "f8", compress="scale_offset")


def smooth(dtype):
    values = np.sin(np.linspace(0, 9, 40 * 31 * 7)).reshape(40, 31, 7) * 100
    values[8:12] = np.nan  # a chunk that ZFP can't hold
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_the_plug_in_reads_zfp(work, plug_in, dtype):
    if not has_zfp(work):
        pytest.skip("no libzfp")
    path = work / "ours.h5"
    values = smooth(dtype)
    bounds = {"zfp_absolute:1e-2": 1e-2, "zfp_absolute:10": 10, "zfp_relative:1e-3": 0.1}
    shapes = {"one": (1, 31, 1), "two": (4, 31, 1), "three": (4, 31, 7)}
    with stria.create(path) as f:
        for how, bound in bounds.items():
            for shape, chunks in shapes.items():
                f.create_dataset(f"{bound} {shape}", values.shape, dtype, compress=how, chunks=chunks)[...] = values
        f.create_dataset("grows", (None, 31, 7), dtype, compress="zfp_absolute:1e-2", chunks=(4, 31, 7))
        f.append_rows("grows", 6)[:] = values[:6]
    for rows in range(6, 40, 3):  # what has lost something once loses no more
        with stria.append(path) as f:
            more = min(3, 40 - rows)
            f.append_rows("grows", more)[rows:] = values[rows : rows + more]
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert f.verify() == ([], [])
        for name in h:
            if name == ".stria":
                continue
            bound = 1e-2 if name == "grows" else float(name.split()[0])
            theirs, ours = h[name][...], f[name][...]
            assert np.array_equal(theirs, ours, equal_nan=True), name
            assert np.array_equal(np.isnan(ours), np.isnan(values))
            assert np.nanmax(np.abs(ours.astype("f8") - values)) <= bound, name
            assert list(h[name]._filters) == ["32013"], name
            if name != "grows":
                assert h[name].id.get_storage_size() < 0.7 * values.nbytes or "one" in name, name
    assert "zfp(absolute" in run("inspect", path).succeeded().stdout
    run("verify", path).succeeded()


def test_zfp_of_the_plug_in_is_read(work, plug_in):
    path = work / "theirs.h5"
    values = smooth("f4")[20:]
    with h5py.File(path, "w") as h:
        for mode in MODES:
            name = next(iter(mode))
            h.create_dataset(name, data=values, chunks=(5, 31, 3), **plug_in.Zfp(**mode))
    with h5py.File(path) as h, stria.open(path) as f:
        for name in h if has_zfp(work) else ():
            assert np.array_equal(f[name][...], h[name][...]), name


@pytest.mark.parametrize("mode", MODES, ids=[next(iter(mode)) for mode in MODES])
def test_rows_are_added_to_zfp_of_the_plug_in(work, plug_in, mode):
    if not has_zfp(work):
        pytest.skip("no libzfp")
    path = work / "grows.h5"
    values = smooth("f4")[20:]
    with h5py.File(path, "w") as h:
        # The last chunk has room for rows.
        h.create_dataset("a", data=values[:8], chunks=(5, 31, 7), maxshape=(None, 31, 7), **plug_in.Zfp(**mode))
    with h5py.File(path) as h:
        before = h["a"][:]
    with stria.append(path) as f:
        f.append_rows("a", 12)[8:] = values[8:]
    with h5py.File(path) as h, stria.open(path) as f:
        assert np.array_equal(h["a"][:8], before) and np.array_equal(f["a"][...], h["a"][...])
        assert np.abs(h["a"][8:] - values[8:]).max() <= (0 if "reversible" in mode else 0.2)
    assert f"zfp({'relative' if 'precision' in mode else list(mode)[0].replace('accuracy', 'absolute')}" in (
        run("inspect", path).succeeded().stdout
    )


def test_zfp_without_a_short_name_is_left_to_the_plug_in(work, plug_in):
    path = work / "long.h5"
    values = smooth("f4")[20:].reshape(20, 31, 7, 1).repeat(4, 3)
    with h5py.File(path, "w") as h:
        h.create_dataset("a", data=values, chunks=(5, 31, 7, 4), maxshape=(None, 31, 7, 4), **plug_in.Zfp(rate=9))
    before = path.read_bytes()
    with pytest.raises(stria.StriaError, match=r"its filters \(zfp\) take libhdf5"):
        with stria.append(path) as f:
            f.append_rows("a", 1)
    assert path.read_bytes() == before


def test_reversible_zfp_and_a_rate_are_written(work, plug_in):
    if not has_zfp(work):
        pytest.skip("no libzfp")
    path = work / "ours.h5"
    values = smooth("f8")
    with stria.create(path) as f:
        f.create_dataset("exact", data=values, compress="zfp_reversible", chunks=(4, 31, 7))
        f.create_dataset("rate", data=values, compress="zfp_rate:16", chunks=(4, 31, 7))
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert f.verify()[0] == []
        assert np.array_equal(h["exact"], values, equal_nan=True) and np.array_equal(f["exact"][...], values, equal_nan=True)
        assert np.array_equal(h["rate"], f["rate"][...], equal_nan=True)
        assert np.nanmax(np.abs(h["rate"][:] - values)) < 0.1


def test_damage_in_zfp_is_found(work):
    if not has_zfp(work):
        pytest.skip("no libzfp")
    path = work / "damaged.h5"
    with stria.create(path) as f:
        f.create_dataset("a", data=smooth("f8")[20:], compress="zfp_absolute:0.1", chunks=(5, 31, 7))
    with h5py.File(path) as h:
        place = h["a"].id.get_chunk_info(2)
    content = bytearray(path.read_bytes())
    content[place.byte_offset + place.size // 2] ^= 4
    path.write_bytes(content)
    with stria.open(path) as f:
        damages, _ = f.verify()
        assert damages == [("a", 10, 15)]
    with stria.open(path, verify=True) as f, pytest.raises(stria.StriaError, match="rows 10 to 14"):
        f["a"][...]


def test_what_zfp_does_not_take_is_refused(work):
    if not has_zfp(work):
        pytest.skip("no libzfp")
    for dtype, chunks, how, why in [
        ("i4", (8, 8), "zfp_absolute:1", "takes float32 and float64"),
        (">f8", (8, 8), "zfp_absolute:1", "byte order"),
        ("f8", (1, 1), "zfp_absolute:1", "1 to 4 dimensions"),
        ("f8", (8, 8), "zfp_relative:2", "above 0 and below 1"),
        ("f8", (8, 8), "zfp:2", "is no compression"),
    ]:
        with pytest.raises(stria.StriaError, match=why), stria.create(work / "no.h5") as f:
            f.create_dataset("a", (8, 8), dtype, chunks=chunks, compress=how)
    with stria.create(work / "flat.h5") as f:
        f.create_dataset("b", data=np.ones((2, 8)), chunks=(1, 8), compress="zfp_relative:0.1")

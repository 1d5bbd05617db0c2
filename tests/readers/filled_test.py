"""Fill values, orders of creation and dimensions without a limit, in the hands of other programs:
h5py, netCDF4, xarray, pyfive and HDF5's tools."""

import subprocess

import h5py
import numpy as np
import pyfive
import pytest
import stria
from stria_program import run


def tools_read(path, again):
    for tool in ("h5dump", "h5stat", "h5ls"):
        subprocess.run([tool, path], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["h5repack", path, again], check=True)
    subprocess.run(["h5diff", path, again], check=True)


def verified(path):
    with stria.open(path, verify=True) as f:
        damages, remarks = f.verify()
        assert damages == [] and all("nobody put it" in remark for remark in remarks)


@pytest.mark.parametrize(
    "dtype, fill", [("f8", -999.5), (">f4", 1e20), ("f4", "nan"), ("f2", 1.5), ("i2", -7), (">i8", 2**62 + 1), ("u1", 255)]
)
@pytest.mark.parametrize("hints", [{}, {"stria_subfiles": 2}])
def test_fill_values(work, dtype, fill, hints):
    path = work / "filled.h5"
    kinds = {"plain": {}, "cut": {"chunks": (3, 5)}, "packed": {"compress": True}, "grows": {}}
    rows = np.arange(4 * 9, dtype=dtype).reshape(4, 9)
    expected = np.full((9, 9), fill, dtype)
    expected[2:6] = rows
    expected[7, 3:8:2] = rows[0, :3]
    with stria.create(path, hints=hints) as f:
        for name, more in kinds.items():
            f.create_dataset(name, (None if name == "grows" else 9, 9), dtype, fill_value=fill, **more)
        f.append_rows("grows", 9)
        f.create_dataset("never", (5, 2), dtype, fill_value=fill)
        f.create_dataset("whole", data=rows, fill_value=fill)
        for name in kinds:
            f[name][2:6] = rows
        f.flush()
        for name in kinds:
            f[name][7, 3:8:2] = rows[0, :3]
    verified(path)
    equal_nan = np.dtype(dtype).kind == "f"
    with h5py.File(path) as h, stria.open(path) as f:
        for name in kinds:
            assert np.array_equal(h[name].fillvalue, np.array(fill, dtype), equal_nan=equal_nan), name
            assert np.array_equal(h[name], expected, equal_nan=equal_nan), name
            assert np.array_equal(f[name][...], expected, equal_nan=equal_nan), name
        assert np.array_equal(h["never"], np.full((5, 2), fill, dtype), equal_nan=equal_nan)
        assert np.array_equal(h["whole"], rows)
    if hints:
        joined = work / "joined.h5"
        run("join", path, "--output", joined).succeeded()
        verified(joined)
        path = joined
    else:
        tools_read(path, work / "again.h5")
        with stria.append(path) as f:
            f.append_rows("grows", 3)[10:11] = rows[:1]
            f.create_dataset("late", (4, 3), dtype, fill_value=fill)[1:2] = rows[:1, :3]
        verified(path)
        with h5py.File(path) as h:
            assert np.array_equal(h["grows"][9:], np.vstack([expected[:1], rows[:1], expected[:1]]), equal_nan=equal_nan)
            assert np.array_equal(h["late"][:2], np.vstack([expected[:1, :3], rows[:1, :3]]), equal_nan=equal_nan)
    with h5py.File(path) as h:
        assert np.array_equal(h["plain"], expected, equal_nan=equal_nan)
        assert np.array_equal(h["plain"].fillvalue, np.array(fill, dtype), equal_nan=equal_nan)


def test_chunks_of_others_with_fill_values(work):
    path = work / "theirs.h5"
    with h5py.File(path, "w") as h:
        h.create_dataset("a", (20, 6), ">f8", chunks=(4, 4), compression="gzip", fillvalue=2.5)[3:5, 1:3] = 1
        h.create_dataset("b", (20,), "c8", chunks=(4,), fillvalue=1 + 2j)[5:7] = 7j
    with h5py.File(path) as h, stria.open(path) as f:
        for name in "ab":
            assert np.array_equal(f[name][...], h[name][...]), name


def test_fill_values_of_another_type_are_refused(work):
    for dtype, fill, meant in [
        ("i4", 0.5, "fill value"),
        ("u1", -1, "fill value"),
        ("f2", "x", "number"),
        ("i4", "x", "number"),
    ]:
        with pytest.raises(stria.errors.StriaError, match=meant):
            with stria.create(work / "refused.h5") as f:
                f.create_dataset("a", (4,), dtype, fill_value=fill)


@pytest.mark.parametrize("unlimited", [False, True])
def test_netcdf_leaves_out_what_is_missing(work, unlimited):
    netcdf = pytest.importorskip("netCDF4")
    path = work / "filled.nc"
    with stria.create(path) as f:
        for name, dtype in [("t", "f4"), ("q", "i2")]:
            f.create_dataset(name, (5, 3), dtype, dimensions=["time", "x"], unlimited=unlimited, fill_value=-99)[1:3] = np.ones(
                (2, 3), dtype
            )
        f.create_dataset("fixed", (3,), "f8", dimensions=["x"], fill_value=1e30)
    with netcdf.Dataset(path) as f:
        for name in ("t", "q"):
            assert f[name]._FillValue == -99
            assert f[name][:].mask[:, 0].tolist() == [True, False, False, True, True] and f[name][:].sum() == 6
        assert f["fixed"][:].mask.all()
    if not unlimited:
        verified(path)


def test_the_order_of_creation_is_kept(work):
    path = work / "ordered.h5"
    names = ["zeta", "g/b", "alpha", "g/a", "many/z", *[f"many/{i}" for i in (7, 3, 9, 1)], "h/deep/x"]

    def check(f, more=()):
        assert [name for name in f if name != ".stria"] == ["zeta", "g", "alpha", "many", "h", "link", *more]
        assert list(f["g"]) == ["b", "a"] and list(f["many"])[:5] == ["z", "7", "3", "9", "1"]
        assert list(f["zeta"].attrs)[-3:] == ["unit", "a", "long"] and list(f.attrs)[:2] == ["z", "a"]

    with stria.create(path, track_order=True) as f:
        for name in names:
            f.create_dataset(name, data=np.arange(3.0))
        f.create_link("link", "zeta")
        for i in range(200):  # more than a header usually has
            f.create_dataset(f"many/n{i}", data=np.array([i], "i4"))
        f["zeta"].attrs["unit"] = "K"
        f["zeta"].attrs["a"] = 1
        f["zeta"].attrs["long"] = "x" * 300
        f.attrs["z"] = 1
        f.attrs["a"] = 2
    verified(path)
    with h5py.File(path) as f:
        check(f)
        assert f["many/n137"][0] == 137 and f["link"][2] == 2
    with stria.open(path) as f:
        assert [name for name in f if "n" not in name.split("/")[-1]] == ["zeta", "g/b", "g/a", "alpha", *names[4:]]
        assert list(f["zeta"].attrs) == ["unit", "a", "long"]
    tools_read(path, work / "again.h5")
    with pyfive.File(str(path)) as f:
        assert np.array_equal(f["g/a"][...], np.arange(3.0))
    for step in range(2):
        with stria.append(path) as f:
            f.create_dataset(f"b{step}", data=np.arange(2))
            f.create_dataset(f"many/a{step}", data=np.arange(2))
            f.update("zeta").attrs[f"A{step}"] = step
    verified(path)
    with h5py.File(path, "r+") as f:
        assert [name for name in f if name != ".stria"][-2:] == ["b0", "b1"] and list(f["many"])[-2:] == ["a0", "a1"]
        assert list(f["zeta"].attrs) == ["unit", "a", "long", "A0", "A1"]
        f["last"] = 1  # Others go on.
        f["zeta"].attrs["last"] = 1
    with h5py.File(path) as f:
        assert list(f)[-1] == "last" and list(f["zeta"].attrs)[-1] == "last"


def test_files_of_others_that_keep_an_order_grow(work):
    path = work / "theirs.h5"
    with h5py.File(path, "w", track_order=True) as f:
        for name in "zyx":
            f[name] = np.arange(3)
        f.create_group("many", track_order=True)
        for i in range(20):  # in a heap
            f[f"many/{19 - i:02}"] = i
    with stria.append(path) as f:
        f.create_dataset("a", data=np.arange(2))
        f.create_dataset("many/0", data=np.arange(2))
    with h5py.File(path) as f:
        assert list(f) == ["z", "y", "x", "many", "a"] and list(f["many"])[-3:] == ["01", "00", "0"]
        assert f["many/05"][()] == 14


def write_series(path, steps):
    with stria.create(path) as f:
        f.create_dataset("x", data=np.linspace(0, 1, 3))
        f.create_dataset("time", (None,), "f8", dimensions=["time"])
        f.create_dataset("temp", (None, 2, 3), "f4", dimensions=["time", "y", "x"], compress=True, fill_value=-1.0)
        f.create_dataset("g/probe", (None, 3), "f8", dimensions=["g/step", "x"])
        add_steps(f, 0, steps)


def add_steps(f, first, count):
    last = first + count
    f.append_rows("time", count)[first:] = np.arange(first, last) * 0.5
    f.append_rows("temp", count)[first:] = np.arange(first * 6, last * 6, dtype="f4").reshape(-1, 2, 3)
    f.append_rows("g/probe", count)[first:] = np.arange(first * 3, last * 3, dtype="f8").reshape(-1, 3)


def test_dimensions_without_a_limit(work):
    netcdf = pytest.importorskip("netCDF4")
    xarray = pytest.importorskip("xarray")
    path = work / "series.h5"
    write_series(path, 4)
    for steps in (4, 6, 9):
        if steps > 4:
            with stria.append(path) as f:
                add_steps(f, {6: 4, 9: 6}[steps], {6: 2, 9: 3}[steps])
        verified(path)
        with netcdf.Dataset(path) as f:
            assert f.dimensions["time"].isunlimited() and len(f.dimensions["time"]) == steps
            assert not f.dimensions["x"].isunlimited() and len(f.dimensions["y"]) == 2
            assert f["g"].dimensions["step"].isunlimited() and len(f["g"].dimensions["step"]) == steps
            assert f["temp"].dimensions == ("time", "y", "x") and f["g/probe"].dimensions == ("step", "x")
            assert np.array_equal(f["temp"][:], np.arange(steps * 6).reshape(-1, 2, 3))
        for engine in ("netcdf4", "h5netcdf"):
            with xarray.open_dataset(path, engine=engine) as seen:
                assert set(seen.coords) == {"x", "time"} and seen["temp"].dims == ("time", "y", "x")
                assert np.array_equal(seen["temp"].sel(time=1.5), np.arange(18, 24).reshape(2, 3))
                assert seen.encoding["unlimited_dims"] == {"time"}
        with h5py.File(path) as f:
            assert f["temp"].dims[0][0] == f["time"] and f["g/probe"].dims[1][0] == f["x"]
            assert f["temp"].dims[1][0] == f["y"] and f["g/step"].shape == (steps,) and f["g/step"].maxshape == (None,)
            users = f["x"].attrs["REFERENCE_LIST"]
            assert [(f[user].name, dimension) for user, dimension in users] == [("/temp", 2), ("/g/probe", 1)]
        tools_read(path, work / "again.h5")
    with stria.append(path) as f:  # a new one shares the dimension, and is longer
        f.create_dataset("g/more", (None,), "i4", dimensions=["g/step"])
        f.append_rows("g/more", 12)[:] = np.arange(12, dtype="i4")
    with netcdf.Dataset(path) as f:
        assert len(f["g"].dimensions["step"]) == 12 and np.array_equal(f["g/more"][:], np.arange(12))
    with h5py.File(path) as f:
        assert len(f["g/step"].attrs["REFERENCE_LIST"]) == 2


def test_dimensions_without_a_limit_that_do_not_fit(work):
    def create(*datasets):
        with stria.create(work / "refused.h5") as f:
            for path, shape, names in datasets:
                f.create_dataset(path, shape, dimensions=names)

    for message, *datasets in [
        ("no limit", ("a", (None,), ["n"]), ("b", (4,), ["n"])),
        ("no limit", ("n", (4,), None), ("a", (None,), ["n"])),
        ("needs a name", ("a", (None, 3), ["", "x"])),
    ]:
        with pytest.raises(stria.errors.InvalidArgumentError, match=message):
            create(*datasets)


def test_joining_keeps_links(work):
    path = work / "parts.h5"
    with stria.create(path, hints={"stria_subfiles": 2}) as f:
        f.create_dataset("g/a", data=np.arange(40.0).reshape(8, 5))
        f.create_link("soft", "/g/a")
        f.create_link("below/group", "/g")
        f.create_link("outside", "/x", "other.h5")
        f.create_link("nowhere", "/none")
    run("join", path, "--output", work / "one.h5").succeeded()
    verified(work / "one.h5")
    with h5py.File(work / "one.h5") as f:
        assert np.array_equal(f["g/a"], np.arange(40.0).reshape(8, 5)) and f["soft"] == f["g/a"]
        links = {name: f.get(name, getlink=True) for name in ("soft", "below/group", "outside", "nowhere")}
        assert [links[name].path for name in ("soft", "below/group", "nowhere")] == ["/g/a", "/g", "/none"]
        assert (links["outside"].filename, links["outside"].path) == ("other.h5", "/x")


@pytest.mark.parametrize("track_order", [True, False])
def test_joining_keeps_the_order_of_creation(work, track_order):
    path = work / "parts.h5"
    with stria.create(path, hints={"stria_subfiles": 2}, track_order=track_order) as f:
        f.create_dataset("z", data=np.arange(40.0).reshape(8, 5))
        f.create_link("m", "/z")
        f.create_dataset("g/y", data=np.arange(6).reshape(2, 3))
        f.create_link("h", "/x", "other.h5")
        f.create_dataset("g/b", data=np.arange(6).reshape(2, 3))
        f.create_dataset("a", data=np.ones((4, 2), "f4"))
        f.create_link("b", "/none")
        for name in ("zeta", "alpha", "mu"):
            f["a"].attrs[name] = 1
    run("join", path, "--output", work / "one.h5").succeeded()
    with h5py.File(work / "one.h5") as f:
        names = [name for name in f if name != ".stria"]
        members, attributes = list(f["g"]), list(f["a"].attrs)
    expected = (["z", "m", "g", "h", "a", "b"], ["y", "b"], ["zeta", "alpha", "mu"])
    assert (names, members, attributes) == (expected if track_order else tuple(sorted(some) for some in expected))
    verified(work / "one.h5")


def test_files_with_links_grow(work):
    path = work / "links.h5"
    with h5py.File(path, "w") as f:
        f["a"] = np.arange(5.0)
        f["g/b"] = np.arange(3)
        f["soft"] = h5py.SoftLink("/a")
        f["g/up"] = h5py.SoftLink("../a")
        f["outside"] = h5py.ExternalLink("other.h5", "/x")
    with stria.append(path) as f:
        f.create_dataset("g/c", data=np.ones(2))
        f.update("a")[1:2] = np.array([9.0])
    with h5py.File(path) as f:
        assert f["soft"][1] == 9 and f["g/c"][1] == 1 and f["g"].get("up", getlink=True).path == "../a"
        assert f.get("outside", getlink=True).filename == "other.h5"
    with pytest.raises(stria.errors.UnsupportedError, match="is a link"):
        with stria.append(path) as f:
            f.update("soft").attrs["unit"] = "K"

"""Files with names of dimensions, and with values of every kind, in the hands of other programs:
h5py, netCDF4, xarray with both of its engines, h5netcdf, pyfive and HDF5's tools."""

import subprocess

import h5py
import numpy as np
import pyfive
import pytest
import stria
from stria_program import read_json, run

CELLS = ["block", "z", "y", "x"]


def tools_read(path, again):
    for tool in ("h5dump", "h5stat", "h5ls"):
        subprocess.run([tool, path], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["h5repack", path, again], check=True)
    subprocess.run(["h5diff", path, again], check=True)


def verified(path):
    with stria.open(path, verify=True) as f:
        assert f.verify() == ([], [])


def write_mesh(path):
    """Writes a mesh with coordinates along x and y, none along the others, and a group below."""
    dens = np.arange(3 * 2 * 4 * 5.0).reshape(3, 2, 4, 5)
    with stria.create(path) as f:
        f.create_dataset("dens", data=dens, dimensions=CELLS, value_range=True)
        f["dens"].attrs["units"] = "g/cm^3"
        f.create_dataset("pres", data=dens.astype("f4"), dimensions=CELLS, compress=True)
        f.create_dataset("x", data=np.linspace(0, 1, 5), dimensions=["x"])
        f.create_dataset("y", data=np.arange(4))  # its name suffices
        f.create_dataset("more/level", data=np.arange(3, dtype="i4"), dimensions=["block"])
        f.create_dataset("more/face", data=np.ones((2, 7)), dimensions=["", "more/side"])
        f.create_dataset("plain", data=np.arange(6))
    return dens


def test_a_dataset_tells_what_it_is(work):
    path = work / "told.h5"
    write_mesh(path)
    with stria.append(path) as f:
        series = f.create_dataset("series", (None, 5), ">i2", dimensions=["time", "x"], fill_value=-7, chunks=(3, 5))
        assert series.dimensions == ("time", "x") and series.chunks == (3, 5) and series.can_grow
    for name, value in (("half", np.float16(0.5)), ("flag", True), ("wave", np.complex64(2))):
        with stria.append(path) as f:
            f.create_dataset(name, (4,), np.asarray(value).dtype, chunks=(2,), dimensions=["z4"])
    with h5py.File(path, "r+") as f:
        f.create_dataset("theirs", (4, 6), "f4", chunks=(2, 6), compression="lzf", maxshape=(None, 6), fillvalue=0.25)
        f["theirs"].dims[1].attach_scale(f["x"])
    with stria.open(path) as f:
        assert f["dens"].dimensions == ("block", "z", "y", "x") and f["dens"].chunks is None
        assert f["x"].dimensions == ("x",) and f["y"].dimensions == ("y",) and f["plain"].dimensions == ()
        assert f["more/level"].dimensions == ("block",) and f["more/face"].dimensions == ("dim_2", "more/side")
        assert f["dens"].maxshape == (3, 2, 4, 5) and not f["dens"].can_grow and f["dens"].fill_value == 0
        series = f["series"]
        assert series.dimensions == ("time", "x") and series.chunks == (3, 5) and series.maxshape == (None, 5)
        assert series.fill_value == -7 and series.fill_value.dtype == np.int16
        assert f["wave"].dimensions == ("z4",) and f["wave"].chunks == (2,) and f["wave"].fill_value.dtype == np.complex64
        theirs = f["theirs"]
        assert theirs.chunks == (2, 6) and theirs.can_grow and theirs.fill_value == np.float32(0.25)
        assert theirs.dimensions == ("", "x")
    said = run("inspect", path, ranks=2).succeeded().stdout
    assert "dimensions (block, z, y, x)" in said and "dimensions (time, x)" in said and "units" in said
    assert not any(name in said for name in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"))
    path = work / "told.nc"
    with stria.create(path) as f:
        f.create_dataset("t", (2, 3), "f4", dimensions=["time", "x"], unlimited=True, fill_value=-1)[...] = np.ones((2, 3))
    with stria.open(path) as f:
        assert f["t"].dimensions == ("time", "x") and f["t"].can_grow and f["t"].fill_value == -1
        assert f["t"].chunks is None


def test_h5py_sees_scales(work):
    path = work / "mesh.h5"
    dens = write_mesh(path)
    verified(path)
    with h5py.File(path) as f:
        assert sorted(f) == [".stria", "block", "dens", "dim_2", "more", "plain", "pres", "x", "y", "z"]
        for name in ("dens", "pres"):
            assert np.array_equal(f[name][...], dens)
            dims = f[name].dims
            assert [dims[i].keys() for i in range(4)] == [["This is a netCDF dimension but not a netCDF variable.         3"],
                                                          ["This is a netCDF dimension but not a netCDF variable.         2"],
                                                          ["y"], ["x"]]  # fmt: skip
            assert [dims[i][0].name for i in range(4)] == ["/block", "/z", "/y", "/x"]
        assert np.array_equal(f["dens"].dims[3][0][...], np.linspace(0, 1, 5))
        assert f["more/level"].dims[0][0] == f["block"] and f["more/face"].dims[1][0].name == "/more/side"
        users = f["x"].attrs["REFERENCE_LIST"]
        assert [(f[user].name, dimension) for user, dimension in users] == [("/dens", 3), ("/pres", 3)]
        assert f["x"].is_scale and not f["plain"].is_scale
    tools_read(path, work / "again.h5")
    with h5py.File(work / "again.h5") as f:  # references survive a copy
        assert [scale[0].name for scale in f["dens"].dims] == ["/block", "/z", "/y", "/x"]
    with h5py.File(path, "r+") as f:  # Other programs go on.
        f["dens"].dims[3].attach_scale(f["plain"])
        del f["pres"].attrs["DIMENSION_LIST"]
    tools_read(path, work / "changed.h5")
    with pyfive.File(str(path)) as f:
        assert np.array_equal(f["dens"][...], dens) and f["x"].attrs["CLASS"] == b"DIMENSION_SCALE"


def test_netcdf4_sees_dimensions_and_coordinates(work):
    netcdf = pytest.importorskip("netCDF4")
    path = work / "mesh.h5"
    dens = write_mesh(path)
    with netcdf.Dataset(path) as f:
        assert {name: len(dimension) for name, dimension in f.dimensions.items() if "phony" not in name} == {
            "block": 3, "z": 2, "y": 4, "x": 5, "dim_2": 2
        }  # fmt: skip
        assert f["dens"].dimensions == tuple(CELLS) and f["dens"].units == "g/cm^3"
        assert np.array_equal(f["dens"][:], dens) and np.array_equal(f["x"][:], np.linspace(0, 1, 5))
        assert "block" not in f.variables  # it has no coordinates
        assert f["more/level"].dimensions == ("block",) and f["more/face"].dimensions == ("dim_2", "side")


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_xarray_sees_dimensions_and_coordinates(work, engine):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4" if engine == "netcdf4" else "h5netcdf")
    path = work / "mesh.h5"
    dens = write_mesh(path)
    with xarray.open_dataset(path, engine=engine) as seen:
        assert seen["dens"].dims == tuple(CELLS) and seen["dens"].attrs["units"] == "g/cm^3"
        assert set(seen.coords) == {"x", "y"} and seen["pres"].dtype == np.float32
        assert np.array_equal(seen["dens"].sel(x=0.25, y=3), dens[:, :, 3, 1])
    with xarray.open_dataset(path, engine=engine, group="more") as seen:
        assert seen["level"].dims == ("block",) and list(seen["level"].values) == [0, 1, 2]


def test_a_flash_checkpoint_opens_in_xarray(work):
    xarray = pytest.importorskip("xarray")
    shape = ["--nxb", 4, "--nvar", 5, "--blocks", 6, "--rounds", 1]
    paths = []
    for more in [[], ["--names"]]:
        directory = work / ("named" if more else "plain")
        directory.mkdir()
        listed = work / "io.json"
        run("flash", "io", *shape, *more, "--dir", directory, "--keep", "--verify", "--json", listed, ranks=2).succeeded()
        paths.append(next(mode["file"] for mode in read_json(listed)["modes"] if mode["name"] == "standard"))
    run("verify", paths[1], ranks=2).succeeded()
    tools_read(paths[1], work / "again.h5")
    engines = [engine for engine in ("netcdf4", "h5netcdf") if engine in xarray.backends.list_engines()]
    assert engines
    for engine in engines:
        with h5py.File(paths[0]) as expected, xarray.open_dataset(paths[1], engine=engine) as seen:
            variables = [name for name in expected if getattr(expected[name], "shape", ())[1:] == (4, 4, 4)]
            assert len(variables) == 5
            for name in variables:
                assert seen[name].dims == ("dim_tot_blocks", "dim_nzb", "dim_nyb", "dim_nxb")
                assert np.array_equal(seen[name], expected[name]) and seen[name].dtype == expected[name].dtype
            for name in ("refine level", "gid", "coordinates", "bounding box"):
                assert seen[name].dims[0] == "dim_tot_blocks" and np.array_equal(seen[name], expected[name])


def test_names_that_cannot_be_are_refused(work):
    def refused(why, *datasets):
        with pytest.raises(stria.InvalidArgumentError, match=why), stria.create(work / "refused.h5") as f:
            for path, shape, names in datasets:
                f.create_dataset(path, shape, dimensions=names)

    refused("'x' has a length of 4, but that of another dataset has 3", ("a", (3,), ["x"]), ("b", (4,), ["x"]))
    refused("other names", ("a", (3, 4), ["x"]))
    refused("must have this dimension alone", ("a", (3,), ["x"]), ("x", (3, 2), None))
    refused("must have this dimension alone", ("x", (4,), None), ("a", (3,), ["x"]))
    refused("neither in its group nor in one above", ("a/b", (3,), ["c/x"]))
    assert not (work / "refused.h5").exists()


def test_a_file_with_names_grows(work):
    xarray = pytest.importorskip("xarray")
    path = work / "mesh.h5"
    dens = write_mesh(path)
    with stria.append(path) as f:
        f.create_dataset("velx", data=-dens, dimensions=CELLS)
        f.create_dataset("mass", data=np.arange(9.0), dimensions=["particle"])
    verified(path)
    with xarray.open_dataset(path, engine="netcdf4") as seen:
        assert seen["velx"].dims == tuple(CELLS) and np.array_equal(seen["velx"], -dens)
        assert seen["mass"].dims == ("particle",) and np.array_equal(seen["x"], np.linspace(0, 1, 5))
    with pytest.raises(stria.InvalidArgumentError, match="'x' is no dimension of length 6"), stria.append(path) as f:
        f.create_dataset("other", (6,), dimensions=["x"])
    verified(path)


def test_enumerations(work):
    path = work / "enum.h5"
    phases = {"SOLID": 1, "LIQUID": 2, "A=B": 250}
    values = np.array([1, 250, 7, 2], "u1")
    with stria.create(path) as f:
        f.create_dataset("phase", data=values.astype(h5py.enum_dtype(phases, "u1")))
        f.create_dataset("wide", (None,), h5py.enum_dtype({"MIN": -(2**40), "ZERO": 0}, ">i8"), compress=True)
        f.append_rows("wide", np.array([0, -(2**40)]))
    verified(path)
    with h5py.File(path, "r+") as f:
        assert h5py.check_enum_dtype(f["phase"].dtype) == phases and np.array_equal(f["phase"], values)
        assert h5py.check_enum_dtype(f["wide"].dtype) == {"MIN": -(2**40), "ZERO": 0} and f["wide"][1] == -(2**40)
        f.create_dataset("theirs", (2,), h5py.enum_dtype({"UP": 2, "DOWN": -2}, "i4"))
    with stria.open(path) as f:
        assert h5py.check_enum_dtype(f["phase"].dtype) == phases and f["phase"].dtype == np.uint8
        assert h5py.check_enum_dtype(f["phase"][1:].dtype) == phases and np.array_equal(f["phase"][...], values)
        assert h5py.check_enum_dtype(f["wide"].dtype) == {"MIN": -(2**40), "ZERO": 0}
        assert h5py.check_enum_dtype(f["theirs"].dtype) == {"UP": 2, "DOWN": -2}
    assert "enumeration (DOWN=-2, UP=2)" in run("inspect", path).succeeded().stdout
    with stria.append(path) as f:
        assert h5py.check_enum_dtype(f.append_rows("wide", [0]).dtype) == {"MIN": -(2**40), "ZERO": 0}
    tools_read(path, work / "again.h5")


def test_attributes_are_arrays(work):
    path = work / "arrays.h5"
    matrix = np.arange(6, dtype=">i2").reshape(2, 3)
    with stria.create(path) as f:
        f.create_dataset("d", data=np.ones(3)).attrs["matrix"] = matrix
        f.attrs["cube"] = np.arange(24.0).reshape(2, 3, 4)[:, ::-1]
        f.attrs["none"] = np.zeros((2, 0), "f4")
    verified(path)
    with h5py.File(path) as f:
        assert np.array_equal(f["d"].attrs["matrix"], matrix) and f["d"].attrs["matrix"].dtype == np.int16
        assert np.array_equal(f.attrs["cube"], np.arange(24.0).reshape(2, 3, 4)[:, ::-1])
        assert f.attrs["none"].shape == (2, 0)
    with stria.open(path) as f:
        assert f.attrs.types() == {"cube": "float64 (2, 3, 4)", "none": "float32 (2, 0)"}
    with pytest.raises(stria.UnsupportedError, match="an array"), stria.create(work / "arrays.nc") as f:
        f.attrs["matrix"] = matrix


def test_attributes_of_every_kind(work):
    path = work / "kinds.h5"
    values = {
        "bool": True, "bools": np.array([True, False, True]), "complex": 1.5 - 2j, "complexes": np.array([1j, 2], "c8"),
        "int": 3, "floats": np.array([1.5, 2]), "text": "größer", "texts": ["a", "ρρ"],
    }  # fmt: skip
    with stria.create(path) as f:
        f.create_dataset("g/dens", data=np.ones(3))
        for name, value in values.items():
            f["g/dens"].attrs[name] = value
        f.attrs["dataset"] = stria.Reference("g/dens")
        f.attrs["both"] = [stria.Reference("/g"), stria.Reference("/")]
        f["g/dens"].attrs["up"] = stria.Reference("g")
    verified(path)
    with stria.open(path) as f:
        for name, value in values.items():
            assert np.array_equal(f["g/dens"].attrs[name], value), name
        assert isinstance(f["g/dens"].attrs["bool"], np.bool_) and f["g/dens"].attrs["complexes"].dtype == np.complex64
        assert f.attrs["dataset"] == "/g/dens" and f.attrs["both"] == ["/g", "/"] and f["g/dens"].attrs["up"] == "/g"
    with h5py.File(path) as f:
        seen = dict(f["g/dens"].attrs)
        assert seen["bool"] is np.True_ and seen["bools"].dtype == bool and seen["bools"].tolist() == [True, False, True]
        assert seen["complex"] == 1.5 - 2j and seen["complexes"].dtype == np.complex64
        assert seen["text"] == "größer" and seen["texts"].tolist() == ["a", "ρρ"]
        assert f[f.attrs["dataset"]] == f["g/dens"] and [f[one] for one in f.attrs["both"]] == [f["g"], f["/"]]
        assert f[f["g/dens"].attrs["up"]] == f["g"]
    with pytest.raises(stria.NotFoundError, match="refers to 'nothing'"), stria.create(work / "none.h5") as f:
        f.attrs["dataset"] = stria.Reference("nothing")
    with h5py.File(path, "w") as f:  # This is the reverse.
        f.create_dataset("d", data=[1])
        for name, value in {**values, "half": np.float16(0.1), "halves": np.array([1, -2.5, np.inf], "f2")}.items():
            f.attrs[name] = value
        f.attrs["to"] = f["d"].ref
    with stria.open(path) as f:
        for name, value in values.items():
            assert np.array_equal(f.attrs[name], value), name
        assert f.attrs["half"] == np.float16(0.1) and np.array_equal(f.attrs["halves"], [1, -2.5, np.inf])
        assert f.attrs["to"] == "/d"


@pytest.mark.parametrize("options", [{}, {"compress": True, "chunks": (2, 3)}])
@pytest.mark.parametrize("dtype", ["c8", "c16", ">c16", "f2", ">f2", "?"])
def test_elements_of_every_kind(work, dtype, options):
    path = work / "elements.h5"
    values = (np.arange(35).reshape(5, 7) % 3 - 1).astype(dtype.lstrip(">")) * (1 + 2j if "c" in dtype else 1)
    values = values.astype(dtype.lstrip(">"))
    with stria.create(path) as f:
        made = f.create_dataset("d", values.shape, dtype, dimensions=["y", "x"], **options)
        assert made.shape == values.shape
        made[:3] = values[:3]
        made[3:, ::2] = values[3:, ::2]
        made[3:, 1::2] = np.asfortranarray(values[3:, 1::2])
    verified(path)
    with h5py.File(path) as f:
        assert f["d"].dtype == np.dtype(dtype) and np.array_equal(f["d"][...], values)
        assert f["d"].dims[1][0].name == "/x"
    tools_read(path, work / "again.h5")
    with h5py.File(work / "theirs.h5", "w") as f:
        f.create_dataset("d", data=values.astype(dtype), compression="gzip" if options else None, shuffle=bool(options))
    for one in (path, work / "again.h5", work / "theirs.h5"):
        with stria.open(one) as f:
            assert f["d"].dtype == np.dtype(dtype).newbyteorder("=") and f["d"].shape == values.shape
            assert np.array_equal(f["d"][...], values) and np.array_equal(f["d"][1:4, 2], values[1:4, 2])


def test_links(work):
    path = work / "links.h5"
    with stria.create(work / "other.h5") as f:
        f.create_dataset("far", data=np.arange(4))
    with stria.create(path) as f:
        f.create_dataset("g/dens", data=np.arange(200.0))
        f.create_link("soft", "/g/dens")
        f.create_link("g/near", "dens")
        f.create_link("größe/nowhere", "/not/there")
        f.create_link("external", "/far", "other.h5")
        for i in range(150):  # more than a header has without links
            f.create_dataset(f"p{i}", data=np.array([i]))
    verified(path)
    tools_read(path, work / "again.h5")
    with h5py.File(path) as f:
        assert f["soft"] == f["g/dens"] == f["g/near"] and f.get("soft", getlink=True).path == "/g/dens"
        assert np.array_equal(f["external"], np.arange(4)) and f["p149"][0] == 149
        assert f.get("größe/nowhere", getlink=True).path == "/not/there"
    with stria.open(path) as f:
        assert np.array_equal(f["soft"][...], np.arange(200.0)) and np.array_equal(f["g/near"][3:5], [3, 4])
    with pytest.raises(stria.UnsupportedError, match="no links"), stria.create(work / "a.nc") as f:
        f.create_link("a", "b")


def test_updates_are_seen_by_others(work):
    path = work / "updated.h5"
    mesh = np.arange(40 * 100.0).reshape(40, 100)
    with stria.create(path) as f:
        f.create_dataset("mesh", data=mesh, value_range=True)
        f.create_dataset("short", data=np.arange(50))
        f.create_dataset("cut", data=mesh, chunks=(7, 30), value_range=True)
    with stria.append(path) as f:
        f.update("mesh")[3:5, 10:20] = -7
        f.update("cut")[3:9, 10:40] = -7
        f.update("short")[[1, 30]] = 99
        f.create_dataset("new", data=np.ones(3))
    mesh[3:5, 10:20] = -7
    cut = np.arange(40 * 100.0).reshape(40, 100)
    cut[3:9, 10:40] = -7
    verified(path)
    with h5py.File(path) as f:
        assert np.array_equal(f["cut"], cut) and f["cut"].attrs["minimum"][0] == -7
        assert np.array_equal(f["mesh"], mesh) and f["mesh"].attrs["minimum"][0] == -7 and f["mesh"].attrs["maximum"][0] == 3999
        assert f["short"][1] == f["short"][30] == 99 and f["short"][2] == 2 and np.array_equal(f["new"], np.ones(3))
    tools_read(path, work / "again.h5")
    with h5py.File(work / "foreign.h5", "w") as f:
        f["a"] = mesh
        f.create_dataset("filtered", data=mesh, chunks=(4, 100), compression="gzip")
        f.create_dataset("cut", data=mesh, chunks=(7, 30), maxshape=(None, 100))
        f.create_dataset("scattered", data=np.arange(50), chunks=(8,))
        f.create_dataset("holes", shape=(9,), chunks=(4,), dtype=">i8")
        f.create_dataset("big", data=mesh, dtype=">f4")
    with stria.append(work / "foreign.h5") as f:
        f.update("a")[0] = 5
        f.update("big")[1, 1] = 0.5
        f.update("cut")[:39, 99] = -1
        f.update("cut")[39] = -2
        f.update("scattered")[[49, 1, 30]] = [7, 8, 9]
    with pytest.raises(stria.UnsupportedError, match="'holes', rows 4 to 7: the file has no chunk"):
        with stria.append(work / "foreign.h5") as f:
            f.update("a")[:] = 0
            f.update("holes")[5] = 1
    cut = mesh.copy()
    cut[:39, 99] = -1
    cut[39] = -2
    with h5py.File(work / "foreign.h5") as f:
        assert np.array_equal(f["cut"], cut)
        assert [f["scattered"][i] for i in (49, 1, 30, 31)] == [7, 8, 9, 31]
        assert np.all(f["a"][0] == 5) and np.array_equal(f["a"][1:], mesh[1:]) and f["big"][1, 1] == 0.5
    for name, error in [("filtered", stria.UnsupportedError), ("none", stria.NotFoundError)]:
        with pytest.raises(error, match=f"update\\('{name}'\\)"), stria.append(work / "foreign.h5") as f:
            f.update(name)

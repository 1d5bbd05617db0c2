"""Tests what files hold, written by one process and read by it: attributes, fill values, strings.
h5py judges."""

import h5py
import numpy as np
import pytest
import stria


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


def create(path, **options):
    return stria.create(path, sync=False, **options)


@pytest.mark.parametrize(
    "value",
    [
        np.uint64(2**63 + 5),
        np.array([0, 2**64 - 1], "u8"),
        np.int64(-(2**63)),
        np.array(["a", "bcd"]),
        np.array([b"x", b"yz"]),
        np.array(["α", "b"], dtype=object),
        [b"x", "y"],
        np.array("one"),
        b"one",
        [],
        np.array([True, False]),
        np.array([1 + 2j, 3], "c8"),
    ],
    ids=repr,
)
def test_attributes_come_back_as_they_were(path, value):
    with create(path) as f:
        f.attrs["x"] = value
    expected = np.asarray(value)
    if expected.dtype.kind in "SO":
        expected = np.array([one.decode() if isinstance(one, bytes) else one for one in np.atleast_1d(expected)])
        expected = expected[0] if np.ndim(value) == 0 else expected
    with h5py.File(path) as h, stria.open(path) as f:
        found = f.attrs["x"]
        assert np.array_equal(found, expected) and np.shape(found) == np.shape(value)
        assert expected.dtype.kind == "U" or found.dtype == expected.dtype == h.attrs["x"].dtype


@pytest.mark.parametrize("value", [[["a", "b"]], ["a", 1], "a\0b", [None], 2**70, np.eye(2, dtype=bool), {"a": 1}], ids=repr)
def test_attributes_that_cannot_be_kept(path, value):
    with pytest.raises((stria.UnsupportedError, stria.InvalidArgumentError), match="'x' of '/'"), create(path) as f:
        f.attrs["x"] = value


def test_attributes_of_other_programs(path):
    numbers = {
        f"{kind}_{dims}": np.arange(4).reshape((2, 2) if dims == 2 else 4).astype(kind)
        for kind in ["f2", "f4", "f8", ">f4", "i1", ">i4", "u8", "?", "c8", "c16"]
        for dims in (1, 2)
    }
    with h5py.File(path, "w") as h:
        x = h.create_dataset("x", data=np.arange(3))
        for name, value in numbers.items():
            x.attrs[name] = value
        x.attrs["no rows"] = np.zeros((0, 3), "i4")
        x.attrs["texts"] = np.array([["a", "bcd"]], dtype=object)
        x.attrs["bytes"] = np.array([[b"a"], [b"bcd"]])
        x.attrs["reference"] = x.ref
        x.attrs["references"] = np.array([[x.ref], [h.ref]], dtype=h5py.ref_dtype)
        x.attrs["record"] = np.array([(1, 2)], [("a", "i4"), ("b", "f4")])
        x.attrs["long double"] = np.longdouble(1)
    with stria.open(path) as f:
        attrs = f["x"].attrs
        for name, value in numbers.items():
            found = attrs[name]
            assert np.array_equal(found, value) and found.dtype == value.dtype.newbyteorder("="), name
        assert attrs["no rows"].shape == (0, 3)
        assert attrs["texts"] == [["a", "bcd"]] and attrs["bytes"] == [["a"], ["bcd"]]
        assert attrs["reference"] == "/x" and attrs["references"] == [["/x"], ["/"]]
        assert {"record", "long double"} < set(attrs.keys())
        assert set(dict(attrs.items())) == set(attrs.keys()) - {"record", "long double"}
        assert len(attrs.values()) == len(attrs) - 2
        for name in ("record", "long double"):
            with pytest.raises(stria.UnsupportedError, match=name):
                attrs[name]
    (described,) = stria.inspect(path)
    for name in ("record", "long double"):
        assert isinstance(described["attributes"][name], stria.Unreadable) and "can't read" in described["attributes"][name]
    assert described["attributes"]["reference"] == "/x"


def test_attributes_that_name_dimensions_are_no_program_s(path):
    with create(path) as f:
        f.create_dataset("a", data=np.zeros((2, 3)), dimensions=["y", "x"]).attrs["unit"] = "m"
        f.create_dataset("x", data=np.arange(3.0), dimensions=["x"])
        f.attrs["NAME"] = "mine"
    with stria.open(path) as f:
        assert dict(f["a"].attrs.items()) == {"unit": "m"} == dict(f["a"].attrs)
        assert list(f["x"].attrs) == [] and len(f["x"].attrs) == 0
        assert f["x"].attrs["CLASS"] == "DIMENSION_SCALE" and "NAME" in f["x"].attrs
        assert dict(f.attrs.items()) == {"NAME": "mine"}


def test_attributes_of_groups(path):
    with create(path) as f:
        f.create_dataset("g/h/x", (1,))
        f.attrs_of("g")["a"] = 1
        f.attrs_of("/g/h/")["b"] = "two"
    with h5py.File(path) as h, stria.open(path) as f:
        assert h["g"].attrs["a"] == f.attrs_of("g")["a"] == 1 and f.attrs_of("g/h").get("b") == "two"
        assert "'g'" in repr(f.attrs_of("g"))


def test_the_type_that_is_asked_for(path):
    numbers = np.arange(5, dtype="i4")
    with create(path) as f:
        assert f.create_dataset("f8", data=numbers, dtype="f8").dtype == np.float64
        f.create_dataset("own", data=numbers)
        f.create_dataset("neither", (2,))
    with h5py.File(path) as h:
        assert [h[name].dtype for name in ("f8", "own", "neither")] == ["f8", "i4", "f8"]
        assert h["f8"][:].tolist() == numbers.tolist()


def test_data_in_rows_without_a_limit(path):
    numbers = np.arange(15.0).reshape(5, 3)
    with create(path) as f:
        f.create_dataset("x", (None, 3), data=numbers)
    with stria.append(path) as f:
        f.append_rows("x", 1)[-1] = 7
    with h5py.File(path) as h:
        assert h["x"].maxshape == (None, 3) and np.array_equal(h["x"], [*numbers, [7] * 3])
    with pytest.raises(ValueError, match="data of 1 dimensions"), create(path) as f:
        f.create_dataset("x", (None, 3), data=numbers[0])


@pytest.mark.parametrize(
    "dtype, fill",
    [
        ("?", True),
        ("?", False),
        ("f2", 1.5),
        (">f2", -2),
        ("c8", 1 + 2j),
        (">c16", -3.5j),
        ("c16", complex("nan")),
        ("c16", 7),
        ("f4", np.float32(0.1)),
        ("f8", 1 / 3),
        ("f8", True),
        ("f8", 2 + 0j),
        ("i4", -9.0),
        ("u8", 2**64 - 1),
        ("u8", str(2**64 - 1)),
        ("f2", "nan"),
        ("i8", np.int64(-(2**63))),
    ],
)
def test_fill_values(path, dtype, fill):
    with np.printoptions(precision=3), create(path) as f:
        f.create_dataset("x", (6, 2), dtype, fill_value=fill)[1] = [1, 0]
        f.create_dataset("chunks", (6, 2), dtype, fill_value=fill, compress=True, chunks=(2, 2))[1] = [1, 0]
    fill = getattr(fill, "real", fill) if np.dtype(dtype).kind != "c" else fill
    expected = np.full((6, 2), fill, np.dtype(dtype))
    expected[1] = [1, 0]
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        for name in ("x", "chunks"):
            assert np.array_equal(h[name], expected, equal_nan=expected.dtype.kind != "b")
            assert np.array_equal(f[name][...], expected, equal_nan=expected.dtype.kind != "b")


@pytest.mark.parametrize(
    "dtype, fill", [("f8", 1j), ("i4", 0.5), ("u1", 256), ("i4", 1 + 1j), ("f8", "one"), ("f8", [1, 2]), ([("a", "i4")], 1)]
)
def test_fill_values_that_cannot_be(path, dtype, fill):
    with pytest.raises(stria.StriaError, match="fill"), create(path) as f:
        f.create_dataset("x", (3,), dtype, fill_value=fill)


def test_names_of_no_dimensions(path):
    with create(path) as f:
        f.create_dataset("time", data=0.5, dimensions=[])
    with h5py.File(path) as h:
        assert h["time"][()] == 0.5
    with pytest.raises(stria.StriaError), create(path) as f:
        f.create_dataset("x", (2, 3), dimensions=[])


def test_names_of_compression(path):
    numbers = np.arange(1000) // 9
    same = {"a": True, "b": "deflate", "c": "gzip", "d": 1, "e": np.True_}
    with create(path) as f:
        for name, compress in same.items():
            f.create_dataset(name, data=numbers, compress=compress)
        for name, compress in {"f": None, "g": 0}.items():
            f.create_dataset(name, data=numbers, compress=compress)
    with stria.open(path) as f:
        assert [f[name].filters for name in "abcdefg"] == ["shuffle deflate(1)"] * 5 + [""] * 2
    for wrong in (9, 2.5, "brotli"):
        with pytest.raises(ValueError, match="compress"), create(path) as f:
            f.create_dataset("x", data=numbers, compress=wrong)


def test_strings_in_any_shape(path):
    names = np.array([["dens", "p"], ["α", ""]])
    with create(path) as f:
        f.create_strings("names", names)
        f.create_strings("bytes", [b"x", b"yz"], 4)
        f.create_strings("title", "Sedov")
        f.create_strings("none", [])
        f.create_strings("column", ["dens", "p"], as_column=True)
        for wrong in (["a", 1], "a\0b"):
            with pytest.raises(stria.StriaError):
                f.create_strings("wrong", wrong)
    stria.write(path.with_name("b.h5"), {"names": names, "title": "Sedov", "objects": names.astype(object)})
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert h["names"].asstr()[...].tolist() == f["names"][...].tolist() == names.tolist()
        assert h["bytes"][...].tolist() == [b"x", b"yz"] and h["bytes"].dtype == "S4"
        assert f["title"][()] == "Sedov" and f["none"].shape == (0,)
        assert h["column"][...].tolist() == [[b"dens"], [b"p   "]]
        padding = [h[name].id.get_type().get_strpad() for name in ("names", "column")]
        assert padding == [h5py.h5t.STR_NULLPAD, h5py.h5t.STR_NULLTERM]
    found = stria.read(path.with_name("b.h5"))
    assert found["names"].tolist() == found["objects"].tolist() == names.tolist() and found["title"] == "Sedov"
    with pytest.raises(ValueError, match="'bcd' has 3 bytes"), create(path) as f:
        f.create_strings("x", ["a", "bcd"], 2)


def test_strings_of_records_gain_nothing(path):
    records = np.array([(b"x0", 1), (b"full!", 2), (b"", 3)], [("name", "S5"), ("value", "i4")])
    with create(path) as f:
        f.create_dataset("p", data=records)
        f.create_dataset("q", (3,), records.dtype)[::-1] = records
        f.create_table("table", records)
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert h["p"][...].tolist() == f["p"][...].tolist() == records.tolist()
        assert f["q"][...].tolist() == records[::-1].tolist()
        assert h["p"].id.get_type().get_member_type(0).get_strpad() == h5py.h5t.STR_NULLPAD
        # FLASH's runtime parameters have blanks.
        assert h["table"]["name"].tolist() == f.read_table("table")["name"].tolist() == [b"x0   ", b"full!", b"     "]


def test_strings_that_are_longer_than_their_field(path):
    longer = np.array([(b"abc", 1), (b"abcd", 2)], [("name", "S9"), ("value", "i4")])
    with create(path) as f:
        f.create_dataset("p", (1,), [("name", "S3"), ("value", "i4")])[:] = longer[:1]
    assert stria.read(path, "p").tolist() == [(b"abc", 1)]
    with pytest.raises(ValueError, match="'name' has strings of 3 bytes, and one that is put has 4"), create(path) as f:
        f.create_dataset("p", (2,), [("name", "S3"), ("value", "i4")])[:] = longer


def test_datasets_that_cannot_be_read(path):
    with h5py.File(path, "w") as h:
        x = h.create_dataset("x", data=np.arange(3))
        h["long"] = np.array([1, 2], np.longdouble)
        h["references"] = np.array([x.ref], dtype=h5py.ref_dtype)
        h.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        h.create_dataset("lzf", data=np.arange(100), compression="lzf", chunks=(10,))
    with stria.open(path) as f:
        for name in ("long", "references", "lists", "lzf"):
            with pytest.raises(stria.UnsupportedError, match=f"'{name}'"):
                f[name][...]
            assert f["x"][...].tolist() == [0, 1, 2]
        for name in ("long", "references", "lists"):
            with pytest.raises(stria.UnsupportedError, match=f"'{name}'"):
                f[name].get(..., np.zeros(2))
            with pytest.raises(stria.UnsupportedError, match=f"'{name}'"):
                print(f[name].dtype)
        assert f["x"][1] == 1
    with pytest.raises(stria.UnsupportedError, match="can be read by name"):
        stria.read(path)
    assert stria.read(path, ["x"])["x"].tolist() == [0, 1, 2]
    with create(path) as f:
        x = f.create_dataset("x", data=np.arange(3))
        with pytest.raises(ValueError, match="is being written"):
            x[0]


def test_rows_are_added_to_the_newest_file_of_a_name(path, tmp_path):
    place = tmp_path / "near"
    place.mkdir()
    staged = place / str(path).replace("/", "%2F")  # A killed program leaves it so.
    for where, rows in ((path, 1), (staged, 2)):
        with stria.create(where) as f:
            f.create_dataset("t", (None,), "f8")
            f.append_rows("t", rows)[:] = np.ones(rows)
    with stria.append(path, hints={"stria_staging": str(place)}) as f:
        f.append_rows("t", 1)[2:] = [5.0]
    assert not staged.exists()
    with stria.open(path) as f:
        assert f["t"][...].tolist() == [1, 1, 5] and f.verify() == ([], [])


@pytest.mark.parametrize("name", ["a.h5", "a.nc"])
def test_rows_at_first_and_more_of_them(tmp_path, name):
    path = tmp_path / name
    with create(path) as f:
        f.create_dataset("x", (None, 3), data=np.arange(6.0).reshape(2, 3))
        f.create_dataset("y", (2, 3), unlimited=True)[...] = 7
    with stria.append(path) as f:
        f.append_rows("x", 1)[-1] = 9
        f.append_rows("y", 1)[-1] = 8
    with stria.open(path, verify=True) as f:
        assert f["x"][...].tolist() == [[0, 1, 2], [3, 4, 5], [9, 9, 9]]
        assert f["y"][:, 0].tolist() == [7, 7, 8]


def test_a_file_that_another_program_is_writing(path):
    with h5py.File(path, "w", libver=("v110", "v110")) as h:
        grows = h.create_dataset("grows", (0,), maxshape=(None,), chunks=(4,), dtype="f8")
        h["fixed"] = np.arange(3.0)
        h.swmr_mode = True
        grows.resize((5,))
        grows[...] = np.arange(5)
        grows.flush()
        with stria.open(path) as f:
            assert f["fixed"][...].tolist() == [0, 1, 2]
            with pytest.raises(stria.UnsupportedError, match=r"(?s)SWMR.*'grows'"):
                f["grows"][...]
        with pytest.raises(stria.UnsupportedError, match="another program writes to it"), stria.append(path) as f:
            f.create_dataset("new", (2,))
    with stria.open(path) as f:
        assert f["grows"][...].tolist() == [0, 1, 2, 3, 4]


def test_strings_that_every_process_puts(path):
    with create(path) as f:
        names = f.create_dataset("names", (4, 2), "S6")
        names[0:3, :] = [["a", "bcd"], ["αβγ", ""], [b"x", b"123456"]]
        names[3] = "last"
        f.create_dataset("packed", (100,), "S3", compress=True)[:] = [f"{i:03}" for i in range(100)]
        f.create_dataset("given", data=np.array([b"one", b"three"]))
        f.create_dataset("from list", data=["one", "two"], dtype="S4")
        f.create_dataset("grows", (None,), "S2", chunks=(10,))
    with stria.append(path) as f:
        f.append_rows("grows", 2)[-2:] = ["a", "bc"]
    with h5py.File(path) as h, stria.open(path, verify=True) as f:
        assert h["names"].dtype == f["names"].dtype == "S6" and h["names"].id.get_type().get_strpad() == h5py.h5t.STR_NULLPAD
        expected = [[b"a", b"bcd"], ["αβγ".encode(), b""], [b"x", b"123456"], [b"last", b"last"]]
        assert h["names"][...].tolist() == expected and f["names"][1:2, 0].tolist() == ["αβγ"]
        assert h["packed"][...].tolist() == [f"{i:03}".encode() for i in range(100)]
        assert h["given"].dtype == "S5" and h["given"][...].tolist() == [b"one", b"three"]
        assert h["from list"][...].tolist() == [b"one", b"two"] and h["grows"][...].tolist() == [b"a", b"bc"]
        assert f.verify() == ([], [])


def test_strings_that_cannot_be_put(path):
    with pytest.raises(ValueError, match="strings of 6 bytes, and one has 7"), create(path) as f:
        f.create_dataset("names", (4, 2), "S6")[0, 0] = "1234567"
    with pytest.raises(NotImplementedError, match="fill_value is for numbers, and it holds strings"), create(path) as f:
        f.create_dataset("wrong", (2,), "S2", fill_value=1)


def test_strings_in_netcdf(tmp_path):
    xarray = pytest.importorskip("xarray")
    with stria.create(tmp_path / "a.nc") as f:
        f.create_dataset("names", (3,), "S4")[:] = ["a", "bcde", ""]
    with xarray.open_dataset(tmp_path / "a.nc", engine="scipy") as x:
        assert x["names"].values.tolist() == [b"a", b"bcde", b""]

"""Names and values that aren't UTF-8, or have commas: they come back as they are."""

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
import stria
from h5py import h5a, h5d, h5g, h5s, h5t

LATIN = b"caf\xe9"
NAME = LATIN.decode("utf-8", "surrogateescape")


@pytest.fixture
def latin(tmp_path):
    """Gives a file with such names of everything that has one."""
    path = tmp_path / "latin.h5"
    with h5py.File(path, "w") as f:
        f["good"] = np.arange(3.0)
        group = h5g.create(f.id, b"grou\xdfe")
        made = h5d.create(group, LATIN, h5t.STD_I8LE, h5s.create_simple((2,)))
        made.write(h5s.ALL, h5s.ALL, np.array([3, 4], "i1"))
        f.id.links.create_soft(b"li\xe9", b"grou\xdfe/" + LATIN)
        attribute = h5a.create(made, b"unit\xe9", h5t.py_create(np.dtype("S4")), h5s.create_simple((1,)))
        attribute.write(np.array([b"\xb5m\xe9s"], "S4"))
        names = h5t.enum_create(h5t.STD_I8LE)
        names.enum_insert(b"r\xf6t", 5)
        h5d.create(f.id, b"colours", names, h5s.create_simple((1,)))
        record = h5t.create(h5t.COMPOUND, 4)
        record.insert(b"ma\xdfe", 0, h5t.STD_I32LE)
        h5d.create(f.id, b"records", record, h5s.create_simple((2,)))
    return path


def test_names_that_are_not_utf8_are_listed_and_open_what_they_name(latin):
    group, link = "grou\udcdfe", "li\udce9"
    with stria.open(latin) as f:
        assert set(f) == {"good", f"{group}/{NAME}", link, "colours", "records"}
        for path in f:
            assert f[path].shape == f[path][...].shape
        dataset = f[f"{group}/{NAME}"]
        assert dataset[...].tolist() == [3, 4] and f[link][...].tolist() == [3, 4]
        assert f[b"grou\xdfe/" + LATIN][...].tolist() == [3, 4] and b"grou\xdfe/" + LATIN in f
        assert dict(dataset.attrs) == {"unit\udce9": ["\udcb5m\udce9s"]}
        assert f["colours"].dtype.metadata["enum"] == {"r\udcf6t": 5}
        assert f["records"].dtype.names == ("ma\udcdfe",)
        assert f["records"][...]["ma\udcdfe"].tolist() == [0, 0]
        with pytest.raises(stria.NotFoundError, match="nothing\udce9"):
            f["nothing\udce9"]
    assert {one["path"] for one in stria.inspect(latin)} >= {"good", f"{group}/{NAME}"}


def test_such_names_are_kept_and_not_made(latin):
    with stria.append(latin) as f:
        f.create_dataset("new", data=np.arange(2))
        f.attrs["text"] = [b"\xe9", "é"]
    with stria.open(latin) as f:
        assert set(f) == {"good", "grou\udcdfe/" + NAME, "li\udce9", "colours", "records", "new"}
        assert f.attrs["text"] == ["\udce9", "é"]
    for call in [
        lambda f: f.create_dataset(NAME, (2,)),
        lambda f: f.create_dataset("d", (2,), dimensions=[NAME]),
        lambda f: f.attrs.__setitem__(NAME, 1),
    ]:
        with pytest.raises(stria.InvalidArgumentError, match="not UTF-8"), stria.append(latin) as f:
            call(f)


def test_files_have_any_name(tmp_path):
    path = os.fsencode(tmp_path) + b"/fil\xe9.h5"
    with stria.create(os.fsdecode(path), sync=False) as f:
        f.create_strings("texts", [NAME, b"\xff"])
    with stria.open(path) as f:
        assert list(f["texts"][...]) == [NAME, "\udcff"]
    assert [os.fsencode(name) for name in stria.list_directory(tmp_path)] == [b"fil\xe9.h5"]


def test_commas_are_letters(tmp_path):
    colours = h5py.enum_dtype({"red, light": 1, "a=b,c=2": 2}, basetype="i4")
    kind = np.dtype([("x,y", "f8"), ("a.b", "i4"), ("v[1]", "i2")])
    with stria.create(tmp_path / "f.h5", sync=False) as f:
        f.create_dataset("d", (2, 3), dimensions=["a,b", "c\\"])
        f.create_dataset("colours", data=np.array([1, 2], "i4").astype(colours))
        f.create_dataset("records", data=np.ones(3, kind))
        f.create_dataset("p,q/r=s", data=np.arange(2))
    with stria.open(tmp_path / "f.h5") as f:
        assert f["d"].dimensions == ("a,b", "c\\")
        assert f["colours"].dtype.metadata["enum"] == {"red, light": 1, "a=b,c=2": 2}
        assert f["records"].dtype.names == kind.names and f["records"][...].tolist() == [(1.0, 1, 1)] * 3
        assert f["p,q/r=s"][...].tolist() == [0, 1]
    with h5py.File(tmp_path / "f.h5") as f:
        assert [one.label or one[0].name for one in f["d"].dims] == ["/a,b", "/c\\"]
        assert h5py.check_enum_dtype(f["colours"].dtype) == {"red, light": 1, "a=b,c=2": 2}


def test_enumerations_of_unsigned_64_bits_keep_their_values(tmp_path):
    wide = h5py.enum_dtype({"most": (1 << 64) - 1, "one": 1}, basetype="u8")
    with stria.create(tmp_path / "f.h5", sync=False) as f:
        f.create_dataset("d", data=np.array([1], "u8").astype(wide))
    with stria.open(tmp_path / "f.h5") as f:
        assert f["d"].dtype.metadata["enum"] == {"most": (1 << 64) - 1, "one": 1}


def test_a_name_does_not_end_at_a_nul(tmp_path):
    with stria.create(tmp_path / "f.h5", sync=False) as f:
        f.create_dataset("a", data=np.arange(3))
    with stria.open(tmp_path / "f.h5") as f:
        for look in [lambda: f["a\0b"], lambda: f.attrs_of("a\0b")["x"], lambda: f.read_table("a\0b")]:
            with pytest.raises(stria.InvalidArgumentError, match="NUL"):
                look()
    with pytest.raises(stria.InvalidArgumentError, match="NUL"):
        stria.open(str(tmp_path / "f.h5") + "\0x")
    for options in [{"dimensions": ["a\0b"]}, {}]:
        with pytest.raises(stria.InvalidArgumentError, match="NUL"), stria.create(tmp_path / "g.h5", sync=False) as f:
            f.create_dataset("a" if options else "a\0b", (2,), **options)


def test_programs_tell_such_names(latin):
    done = subprocess.run([sys.executable, "-m", "stria", "inspect", str(latin)], capture_output=True, check=True)
    assert b"grou\xdfe/caf\xe9" in done.stdout

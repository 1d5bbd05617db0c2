"""Files of older versions: `older/` has one that has grown and one in parts. Their tables of sums
can be seen by other programs, and the table of parts is of version 1: it has no identity."""

import pathlib
import subprocess

import h5py
import numpy as np
import pytest
import stria
from stria_program import run

OLDER = pathlib.Path(__file__).parent / "older"
BLOCKS = np.arange(6 * 4 * 20.0).reshape(6, 4, 20)
WHOLE = {"dens": BLOCKS, "packed": -BLOCKS, "level": np.arange(6), "series": np.arange(20.0).reshape(5, 4), "more": BLOCKS}
PARTED = {"dens": BLOCKS, "level": np.arange(6)}


def unpack(name, directory):
    subprocess.run(["tar", "-xzf", OLDER / f"{name}.tar.gz", "-C", directory], check=True)
    return directory / f"{name}.h5"


def check(path, content):
    with stria.open(path, verify=True) as f:
        for name, data in content.items():
            assert np.array_equal(f[name][...], data), name
        assert list(f["names"][...].ravel()) == ["dens", "pres"]
        assert f.verify() == ([], [])
    run("verify", path, ranks=2).succeeded()


def tables_of(path):
    with h5py.File(path) as f:
        return {name: table.shape for name, table in f[".stria"].items()}


def flip(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 4
    path.write_bytes(content)


def place_of(path, name):
    with h5py.File(path) as f:
        return f[name].id.get_offset()


@pytest.mark.parametrize(("name", "content"), [("whole", WHOLE), ("parts", PARTED)])
def test_they_are_read_and_compared_with_their_sums(work, name, content):
    path = unpack(name, work)
    shapes = tables_of(path)
    assert all(shapes.values()) and "seal" in shapes
    check(path, content)
    assert tables_of(path) == shapes


@pytest.mark.parametrize("table", ["datasets", "placement", "rows_0", "slabs", "chunks", "seal"])
def test_damage_to_their_tables_is_found(work, table):
    path = unpack("whole", work)
    flip(path, place_of(path, f".stria/{table}") + 9)
    assert run("verify", path).code in (1, 2)


def test_damage_to_their_data_is_found(work):
    path = unpack("whole", work)
    flip(path, place_of(path, "dens") + 100)
    with stria.open(path, verify=True) as f, pytest.raises(stria.CorruptedError, match="dens"):
        f["dens"][...]
    path = unpack("parts", work)
    part = work / "parts.h5.part-1-1"
    flip(part, place_of(part, "dens") + 100)
    assert "'dens'" in run("verify", path).stdout


def test_a_table_of_parts_without_identity_takes_any_part(work):
    """The parts of a file know only since version 2 which file they belong to."""
    path = unpack("parts", work)
    with h5py.File(path) as f:
        table = f[".stria/parts"][...].tobytes()
    assert int.from_bytes(table[8:16], "little") == 1
    with h5py.File(work / "parts.h5.part-1-0") as f:
        assert ".stria" not in f
    check(path, PARTED)


def test_they_grow_and_are_written_anew(work):
    path = unpack("whole", work)
    with stria.append(path) as f:
        f.append_rows("series", np.full((2, 4), 7.0))
        f.create_dataset("added", data=BLOCKS)
    grown = WHOLE | {"series": np.vstack([WHOLE["series"], np.full((2, 4), 7.0)]), "added": BLOCKS}
    check(path, grown)
    shapes = tables_of(path)
    assert shapes["seal"] == shapes["rows_2"] == () and shapes["rows_0"] == (6, 2)
    run("compact", path).succeeded()
    check(path, grown)
    path = unpack("parts", work)
    run("join", path).succeeded()
    check(path, PARTED)

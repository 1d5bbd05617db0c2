"""h5diff compares files of Stria: it says nothing where data are equal, however many ranks wrote
them, and finds what differs. h5repack keeps the sums, whatever it does to the data."""

import pathlib
import subprocess
import sys

import h5py
import numpy as np
import pytest
import stria
import stria_program
from stria_program import run

PROGRAM = pathlib.Path(__file__).parent / "equal_data.py"
KINDS = ["plain", "compressed", "packed", "parts", "records", "growing"]


@pytest.fixture(scope="module")
def files(session_directory):
    """Makes a file of equal_data.py once, and returns its path."""
    directory = session_directory / "h5diff"
    directory.mkdir()

    def make(kind, ranks, *more):
        path = directory / "-".join([kind, str(ranks), *more])
        if not path.exists():
            done = subprocess.run(
                [stria_program.MPIEXEC, "-n", str(ranks), sys.executable, PROGRAM, path, kind, *more],
                env=stria_program.environment(), capture_output=True, text=True, timeout=90,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
        return path

    return make


def compare(*arguments):
    done = subprocess.run(["h5diff", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_equal_data_of_one_and_of_three_ranks(files, kind):
    alone, together = files(kind, 1), files(kind, 3)
    assert compare(alone, together) == (0, "")
    code, said = compare("-v", alone, together)
    assert code == 0 and "ot comparable" not in said and "</.stria/seal>" in said
    for path in (alone, together):
        run("verify", path, ranks=2).succeeded()


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_differs_is_found(files, kind):
    plain, changed = files(kind, 3), files(kind, 3, "0.5")
    code, said = compare(plain, changed)
    assert code == 1 and "difference" in said and ".stria" not in said and "ot comparable" not in said
    assert compare("--delta=1", plain, changed) == (0, "")


def test_neither_filters_nor_the_order_of_datasets_count(files):
    plain = files("plain", 3)
    for other in (files("compressed", 3), files("packed", 1), files("plain", 3, "0", "backwards")):
        assert compare(plain, other) == (0, "")


@pytest.mark.parametrize("kind", ["plain", "compressed", "records", "growing"])
@pytest.mark.parametrize("how", [[], ["-f", "GZIP=4"], ["-f", "SHUF", "-f", "GZIP=9"], ["-f", "NONE"], ["-l", "CONTI"]])
def test_sums_survive_h5repack(files, work, kind, how):
    """They are still those of the data: damage is found."""
    if how == ["-l", "CONTI"] and kind in ("records", "growing"):
        return  # h5repack can't: their datasets have no limit
    path, packed = files(kind, 3), work / "packed"
    subprocess.run(["h5repack", *how, path, packed], check=True)
    assert compare(path, packed) == (0, "")
    verified = run("verify", packed)
    assert "no checksums" not in verified.stdout + verified.stderr, verified
    verified.succeeded()
    name = {"records": "table", "growing": "first"}.get(kind, "mesh/dens")
    with h5py.File(packed) as f:
        dataset = f[name].id
        place = dataset.get_offset() if f[name].chunks is None else dataset.get_chunk_info(0).byte_offset
    with packed.open("r+b") as f:
        f.seek(place + 100)
        byte = f.read(1)[0]
        f.seek(place + 100)
        f.write(bytes([byte ^ 4]))
    assert run("verify", packed).code == 1


@pytest.mark.parametrize("how", [["-f", "SZIP=8,NN"], ["-f", "NBIT"], ["-f", "SOFF=3,DS"], ["-l", "COMPACT"]])
def test_what_takes_libhdf5_since_is_told(files, work, how):
    packed = work / "packed"
    subprocess.run(["h5repack", *how, files("plain", 3), packed], check=True)
    verified = run("verify", packed).succeeded()
    assert "'mesh/dens' was filtered or packed by another program" in verified.stdout
    with stria.open(packed, verify=True) as f, h5py.File(packed) as seen:
        assert np.array_equal(f["mesh/dens"][...], seen["mesh/dens"])
        assert list(f["names"][...]) == ["dens", "pres"]


@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_see_one_number(files, kind):
    with h5py.File(files(kind, 3)) as f:
        assert {"datasets", "placement", "slabs", "chunks", "seal"} <= set(f[".stria"])
        for table in f[".stria"].values():
            assert table.shape == () and table.dtype.names == ("stria",) and table[()]["stria"] == 0
            assert np.dtype(table.dtype).itemsize >= 16


@pytest.mark.parametrize("kind", ["plain", "growing"])
def test_a_damaged_head_of_a_table_is_found(files, work, kind):
    path = work / "damaged"
    for table in ("datasets", "placement", "rows_0", "slabs", "chunks", "seal"):
        path.write_bytes(files(kind, 1).read_bytes())
        with h5py.File(path) as f:
            place = f[".stria"][table].id.get_offset()
        with path.open("r+b") as f:
            f.seek(place + 3)
            f.write(b"\1")
        assert run("verify", path).code != 0, table

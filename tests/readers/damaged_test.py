"""Files that are damaged, cut short or put together wrongly: what is there is read, what isn't is
told, and nothing that a file has is lost."""

import os
import shutil
import struct
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
import stria
from stria_program import PROGRAM, run


def flip_in_heap(path, offset, bit):
    content = bytearray(path.read_bytes())
    content[content.find(b"GCOL\x01") + offset] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.parametrize(("offset", "bit"), [(25, 3), (25, 6), (16, 0), (9, 4)])
def test_a_damaged_heap_of_dimension_names_is_an_error(sedov, work, offset, bit):
    run("flash", "sedov", "--names", "--max-level", 3, "--steps", 4, "--checkpoint-every", 2, "--out", work).succeeded()
    checkpoints = sorted(work.glob("*_chk_*"))
    assert len(checkpoints) >= 2
    newest = checkpoints[-1]
    flip_in_heap(newest, offset, bit)
    run("inspect", newest).refused(newest.name)
    verified = run("verify", newest)
    assert verified.code in (1, 2) and "carries no checksums" not in verified.stderr, str(verified)
    restarted = run("flash", "sedov", "--names", "--max-level", 3, "--steps", 6, "--checkpoint-every", 2, "--out", work,
                    "--restart", "latest").succeeded()  # fmt: skip
    assert newest.name in restarted.stdout + restarted.stderr
    assert checkpoints[-2].name in restarted.stdout + restarted.stderr


def test_what_libhdf5_frees_is_not_read(work):
    path = work / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(5)
    hardened = {**os.environ, "MALLOC_PERTURB_": "165"}
    result = subprocess.run([PROGRAM, "inspect", path], env=hardened, capture_output=True, text=True)
    assert result.returncode == 0 and "x" in result.stdout, result


def text_of(name):
    return struct.pack(">i", len(name)) + name + b"\0" * (-len(name) % 4)


def short_netcdf(path):
    """Returns two variables of 1,000 doubles, of which 6 were written: valid without fill
    values."""

    def variable(name, begin):
        return text_of(name) + struct.pack(">ii", 1, 0) + b"\0" * 8 + struct.pack(">iii", 6, 8000, begin)

    head = b"CDF\1" + struct.pack(">i", 0) + struct.pack(">ii", 10, 1) + text_of(b"x") + struct.pack(">i", 1000)
    head += b"\0" * 8 + struct.pack(">ii", 11, 2) + variable(b"a", 512) + variable(b"b", 8512)
    path.write_bytes(head.ljust(512, b"\0") + struct.pack(">6d", 1, 2, 3, 4, 5, 6))


def test_a_file_without_fill_values_may_end_early(work):
    path = work / "short.nc"
    short_netcdf(path)
    with netCDF4.Dataset(path) as file, stria.open(path) as ours:
        file.set_auto_mask(False)
        assert ours["a"][:6].tolist() == [1, 2, 3, 4, 5, 6]
        assert np.array_equal(ours["a"][:], file["a"][:]) and np.all(ours["b"][:] == 0)
        assert np.array_equal(ours["a"][4:9], file["a"][4:9])
        (note,) = ours.hint_warnings
        assert "ends at byte 560" in note and "'a', 'b'" in note and "zeros" in note
    assert "ends at byte 560" in run("inspect", path).succeeded().stdout


def test_records_that_the_header_does_not_count_stay(work):
    path = work / "records.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 5)
        file.createVariable("t", "f8", ("time", "x"))[:] = np.arange(20.0).reshape(4, 5) + 1
        file.createVariable("q", "f8", ("time", "x"))[:] = np.arange(20.0).reshape(4, 5) + 1
    whole = bytearray(path.read_bytes())
    whole[4:8] = struct.pack(">i", 2)
    path.write_bytes(whole)
    with pytest.raises(stria.StriaError, match="counts 2 records, and the file has 2 more") as error:
        stria.append(path)
    assert "was not changed" in str(error.value) and path.read_bytes() == whole
    # What is said there helps, both ways.
    kept = work / "kept.nc"
    assert "write 4 as the count (bytes 4 to 7, the highest first)" in str(error.value)
    kept.write_bytes(whole[:4] + (4).to_bytes(4, "big") + whole[8:])
    with stria.append(kept) as file:
        file.append_rows("t", np.full((1, 5), 7.0))
        file.append_rows("q", np.full((1, 5), 8.0))
    with netCDF4.Dataset(kept) as file:
        assert file["t"].shape == (5, 5) and np.all(file["t"][4] == 7)
        assert np.array_equal(file["q"][:4].ravel(), np.arange(20.0) + 1)
    os.truncate(path, int(str(error.value).split("truncate -s ")[1].split()[0]))
    with stria.append(path) as file:
        file.append_rows("t", np.full((1, 5), 7.0))
        file.append_rows("q", np.full((1, 5), 8.0))
    with netCDF4.Dataset(path) as file:
        assert file["t"].shape == (3, 5) and np.all(file["t"][2] == 7) and np.all(file["q"][1] == file["q"][1])


@pytest.mark.parametrize("tail", [b"a tail", b"z" * 70_000])
def test_an_append_that_fails_changes_nothing(work, tail):
    path = work / "tail.h5"
    with stria.create(path) as file:
        file.create_dataset("x", (None, 2), "f8")
    with open(path, "ab") as file:
        file.write(tail)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError), stria.append(path) as file:
        file.append_rows("x", np.ones((3, 2)))
        file.flush()
        raise ZeroDivisionError
    assert path.read_bytes() == before
    with pytest.raises(stria.StriaError), stria.append(path) as file:
        file.create_dataset("x", (1,), "f8")  # it is there
    assert path.read_bytes() == before
    with stria.append(path) as file:
        assert file.report["cleared_bytes"] == len(tail)
        file.append_rows("x", np.ones((3, 2)))
    with h5py.File(path) as file:
        assert np.all(file["x"][...] == 1) and file["x"].shape == (3, 2)


def parted(path, factor):
    with stria.create(path, hints={"stria_subfiles": 2}) as file:
        file.create_dataset("x", data=factor * np.arange(4000.0).reshape(10, 400))


def test_a_part_of_another_file_is_an_error(work):
    for name, factor in (("a.h5", 1.0), ("b.h5", 2.0)):
        parted(work / name, factor)
    with stria.open(work / "a.h5") as file:
        assert file["x"][9, 399] == 3999
    shutil.copy(work / "b.h5.part-1-1", work / "a.h5.part-1-1")
    with stria.open(work / "a.h5") as file:
        assert np.array_equal(file["x"][:5], np.arange(2000.0).reshape(5, 400))
        with pytest.raises(stria.StriaError, match="part-1-1', but belongs to another file"):
            file["x"][:]
    assert run("verify", work / "a.h5").code != 0
    # One part in the place of another.
    parted(work / "c.h5", 3.0)
    shutil.copy(work / "c.h5.part-1-0", work / "c.h5.part-1-1")
    with stria.open(work / "c.h5") as file, pytest.raises(stria.StriaError, match="belongs to another file"):
        file["x"][:]


def test_a_part_is_a_file_of_its_own(work):
    parted(work / "a.h5", 1.0)
    with stria.open(work / "a.h5.part-1-0") as file:
        assert list(file) == ["x"]
        assert np.array_equal(file["x"][:], np.arange(2000.0).reshape(5, 400))

"""stria repair puts back what is lost of files with parity: HDF5, netCDF, in parts, that grew."""

import json
import os
import time

import h5py
import numpy as np
import pytest
import stria
from stria_program import run


def content(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def damage(path, at):
    """As a disk does it: the times stay."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def write(path, parity, **more):
    with stria.create(str(path), hints={"stria_parity": str(parity), **more}) as file:
        file.create_dataset("dens", (40, 64, 8))[:] = np.arange(40 * 64 * 8.0).reshape(40, 64, 8)
    return np.arange(40 * 64 * 8.0).reshape(40, 64, 8)


def test_lost_parts(work):
    path = work / "run.h5"
    values = write(path, 2, stria_subfiles="4")
    whole = content(work)
    assert run("repair", "--dry-run", path).succeeded()
    (work / "run.h5.part-1-0").unlink()
    (work / "run.h5.part-1-3").unlink()
    with stria.open(str(path)) as file:
        assert (file["dens"][:] == values).all()
        assert "run.h5.part-1-0" in "".join(file.hint_warnings)
    assert "read by its parity" in run("verify", path).stdout
    looked = run("repair", "--dry-run", "--json", path)
    assert looked.code == 1
    assert json.loads(looked.stdout)["can_be_repaired"]
    done = run("repair", path)
    assert done.code == 0, str(done)
    assert "run.h5.part-1-3' is missing, and is put back" in done.stdout
    assert content(work) == whole
    with h5py.File(path) as file:
        assert (file["dens"][...] == values).all()


def test_too_many_lost_parts(work):
    path = work / "run.h5"
    write(path, 1, stria_subfiles="4")
    (work / "run.h5.part-1-0").unlink()
    (work / "run.h5.part-1-3").unlink()
    before = content(work)
    failed = run("repair", path)
    assert failed.code == 2
    assert "run.h5.part-1-0' is missing" in failed.stderr
    assert "run.h5.part-1-3' is missing" in failed.stderr
    assert content(work) == before


@pytest.mark.parametrize("name", ["run.h5", "run.nc"])
def test_a_file_in_one_piece(work, name):
    path = work / name
    values = write(path, 1)
    whole = path.read_bytes()
    for at in [0, 5000, 100_000, len(whole) - 1]:
        damage(path, at)
        with stria.open(str(path), verify=True) as file:
            assert (file["dens"][:] == values).all()
        assert run("repair", path).code == 0
        assert path.read_bytes() == whole


def test_a_file_that_grows(work):
    path = work / "rows.h5"
    with stria.create(str(path), hints={"stria_parity": "1"}) as file:
        file.create_dataset("x", (None, 1000))
        file.append_rows("x", np.ones((10, 1000)))
    with stria.append(str(path)) as file:
        file.append_rows("x", 2 * np.ones((10, 1000)))
    whole = path.read_bytes()
    assert run("repair", "--dry-run", path).code == 0
    damage(path, len(whole) // 2)
    assert run("repair", path).code == 0
    assert path.read_bytes() == whole


def test_what_other_programs_write_is_kept(work):
    path = work / "run.h5"
    write(path, 1)
    time.sleep(0.1)  # the system's clock for files goes on in steps of some milliseconds
    with h5py.File(path, "r+") as file:
        file["dens"][3, 4, 5] = -1
    changed = path.read_bytes()
    refused = run("repair", path)
    assert refused.code == 2
    assert "--force" in refused.stderr
    assert path.read_bytes() == changed
    assert run("repair", "--force", path).code == 0
    assert run("verify", path).code == 0


def test_renewed(work):
    path = work / "run.h5"
    write(path, 0)
    assert run("repair", path).code == 2
    assert run("repair", "--renew", 2, path).code == 0
    whole = path.read_bytes()
    damage(path, 70_000)
    assert run("repair", path).code == 0
    assert path.read_bytes() == whole

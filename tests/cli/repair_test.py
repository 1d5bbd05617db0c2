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
    """Damages a byte as a disk does it: the times stay."""
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


@pytest.mark.parametrize("in_background", [False, True])
def test_a_file_that_grows(work, in_background):
    path = work / "rows.h5"
    with stria.create(str(path), hints={"stria_parity": "1"}) as file:
        file.create_dataset("x", (None, 1000))
        file.append_rows("x", np.ones((10, 1000)))
    with stria.append(str(path)) as file:
        file.append_rows("x", 2 * np.ones((10, 1000)))
        if in_background:
            file.commit_async().wait()
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


@pytest.fixture
def places(work):
    """Three disks, and the directory of the file."""
    disks = [work / f"disk{n}" for n in range(3)]
    for directory in [*disks, work / "run"]:
        directory.mkdir()
    return disks


def write_in_places(work, places):
    hint = ":".join(str(place) for place in places)
    return write(work / "run" / "run.h5", 1, stria_subfiles="2", stria_part_places=hint)


def test_a_disk_that_is_gone(work, places):
    path = work / "run" / "run.h5"
    values = write_in_places(work, places)
    whole = content(work / "run")
    assert [len(list(place.iterdir())) for place in places] == [1, 1, 1]
    with h5py.File(path) as file:
        assert (file["dens"][...] == values).all()
    places[1].rename(work / "gone")
    with stria.open(str(path)) as file:
        assert (file["dens"][:] == values).all()
    refused = run("repair", path)
    assert refused.code == 2
    assert "--place" in refused.stderr
    assert str(places[1]) in refused.stderr
    done = run("repair", "--place", places[2], path)
    assert done.code == 0, str(done)
    assert content(work / "run") == whole
    assert [len(list(place.iterdir())) for place in (places[0], places[2])] == [1, 2]
    with h5py.File(path) as file:
        assert (file["dens"][...] == values).all()


def test_a_new_disk_in_place_of_the_old(work, places):
    path = work / "run" / "run.h5"
    write_in_places(work, places)
    whole = content(work / "run")
    (left,) = places[1].iterdir()
    left.unlink()
    assert run("repair", path).succeeded()
    assert content(work / "run") == whole
    assert [entry.name for entry in places[1].iterdir()] == [left.name]


def test_parts_come_home(work, places):
    path = work / "run" / "run.h5"
    values = write_in_places(work, places)
    for place in places:
        done = run("drain", place)
        assert done.code == 0, str(done)
        assert not list(place.iterdir())
        with h5py.File(path) as file:
            assert (file["dens"][...] == values).all()
        place.rmdir()
    assert not any(entry.is_symlink() for entry in (work / "run").iterdir())
    (work / "run" / "run.h5.part-1-0").unlink()
    assert run("repair", path).succeeded()
    assert run("repair", "--dry-run", path).succeeded()


def test_every_third_file_stays_at_home(work, places):
    """Names that differ in their digits count together, other names apart."""
    hint = ":".join(str(place) for place in places)

    def stays_home(name):
        path = work / "run" / name
        write(path, 1, stria_subfiles="2", stria_part_places=hint, stria_home_every="3")
        assert run("repair", "--dry-run", path).succeeded()
        return not any(entry.is_symlink() for entry in (work / "run").glob(f"{name}.pa*"))

    assert [stays_home(f"chk_{n:04}.h5") for n in range(7)] == [False, False, True, False, False, True, False]
    assert [stays_home(f"plot_{n}.h5") for n in range(3)] == [False, False, True]


def test_verify_looks_at_the_parity(work):
    path = work / "run.h5"
    write(path, 1)
    assert "note" not in run("verify", path).succeeded().stdout
    damage(work / "run.h5.parity-1-0", 20_000)
    said = run("verify", path).succeeded().stdout
    assert "run.h5.parity-1-0' is damaged: 'stria repair" in said


def test_parts_on_the_disk_of_another_node(work):
    """They are as good as missing here, and not lost: the messages say where they lie, and how they
    come home. Nothing is added to such a file, and its parity stays."""
    path = work / "run.h5"
    here = work / "local" / os.uname().nodename / "run"
    there = work / "local" / "other" / "run"
    here.mkdir(parents=True)
    values = write(path, 1, stria_subfiles="3", stria_part_places=str(work / "local/{node}/run"))
    names = {file.name.rsplit("run.h5.")[1]: file for file in here.iterdir()}
    assert len(names) == 4

    def moves_there(name):
        link = work / f"run.h5.{name}"
        link.unlink()
        link.symlink_to(there / names[name].name)
        (work / "away").mkdir(exist_ok=True)
        names[name].rename(work / "away" / names[name].name)

    def says(outcome, code, *words):
        told = outcome.stdout + outcome.stderr
        assert outcome.code == code and all(word in told for word in words), outcome
        return told

    advice = f"'stria drain {there}' on its node brings it home"
    moves_there("part-1-2")
    verified = says(run("verify", path), 0, "complete, every checksum is right", "run.h5.part-1-2' is out of reach", advice)
    assert f"{advice}); if it is lost, 'stria repair --place DIRECTORY {path}'" in verified
    says(run("repair", "--dry-run", path), 1, "out of reach", advice)
    before = content(work / "away"), content(here)
    with pytest.raises(stria.StriaError, match="can't grow"):
        stria.append(str(path))
    assert before == (content(work / "away"), content(here))
    moves_there("part-1-1")
    says(run("verify", path), 2, "run.h5.part-1-1' is out of reach", "run.h5.part-1-2' is out of reach", advice)
    moves_there("parity-1-0")
    says(run("verify", path), 2, "has a part in", advice)
    told = says(run("repair", "--dry-run", path), 2, "the parity of", "is out of reach", advice)
    assert "--renew" not in told, "the parity isn't lost"
    there.mkdir(parents=True)
    for file in list((work / "away").iterdir()):
        file.rename(there / file.name)
    says(run("drain", there), 0, "brought")
    says(run("drain", here), 0, "brought")
    says(run("verify", path), 0, "complete")
    with stria.open(str(path)) as file:
        assert (file["dens"][:] == values).all()

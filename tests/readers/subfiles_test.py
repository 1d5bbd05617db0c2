"""Files kept in several, in the hands of other programs: h5py and HDF5's tools open the master as
one file. Real kills, moving, joining.

STRIA_KILLS says how many kills (default 3).
"""

import os
import pathlib
import random
import subprocess
import sys

import h5py
import numpy as np
import pytest
import stria
from stria_program import run

KILLS = int(os.environ.get("STRIA_KILLS", "3"))
SHAPE = ["--nxb", 8, "--nvar", 3, "--blocks", 11, "--layout", "standard", "--rounds", 1, "--keep"]


def write(path, parts, factor=1.0):
    with stria.create(path, hints={"stria_subfiles": parts}) as f:
        f.create_dataset("mesh/dens", data=factor * np.arange(10 * 300.0).reshape(10, 300), value_range=True)
        f.create_dataset("few", data=np.array([1, 2], dtype="i4"))
        f.create_dataset("one", data=np.float32(7))
        f.create_dataset("packed", data=np.ones((64, 512)), compress=True)
        f.create_dataset("big_endian", data=np.arange(33, dtype=">f4"))
        f.create_dataset("x", data=np.linspace(0, 1, 33))
        f.create_dataset("named", data=np.ones((5, 33)), dimensions=["time", "x"])
        f.create_dataset("waves", data=np.array([1 + 2j, 3 - 1j, 4j]))
        f.attrs["factor"] = factor
        f["mesh/dens"].attrs["unit"] = "cm"


def check(path, factor=1.0):
    with h5py.File(path) as f:
        assert np.array_equal(f["mesh/dens"][...], factor * np.arange(10 * 300.0).reshape(10, 300))
        assert f["mesh/dens"].attrs["maximum"][0] == factor * 2999
        assert np.array_equal(f["few"], [1, 2]) and f["one"][()] == 7 and np.all(f["packed"][...] == 1)
        assert np.array_equal(f["big_endian"], np.arange(33)) and f["mesh/dens"].attrs["unit"] in ("cm", b"cm")
        assert f.attrs["factor"] == factor and np.array_equal(f["waves"], [1 + 2j, 3 - 1j, 4j])
        assert f["named"].dims[1].keys() == ["x"] and np.all(f["named"][...] == 1)
    with stria.open(path, verify=True) as f:
        assert f.verify() == ([], []) and f["mesh/dens"][7, 3] == factor * 2103


def records(count):
    made = np.zeros(count, np.dtype([("id", "i8"), ("mass", "f4"), ("name", "S5")]))
    made["id"], made["mass"], made["name"] = np.arange(count), np.arange(count) / 4, b"abc"
    return made


def test_records_stay_what_they_are(work):
    path = work / "records.h5"
    kinds = {"plain": {}, "packed": {"compress": True, "chunks": (50,)}, "growing": {"chunks": (40,)}, "empty": {}}
    with stria.create(path, hints={"stria_subfiles": 2}) as f:
        for name, options in kinds.items():
            grows = name in ("growing", "empty")
            f.create_dataset(name, (None,) if grows else (300,), records(0).dtype, **options)
            if name == "growing":
                f.append_rows(name, 300)
            if name != "empty":
                f[name][:] = records(300)
        f.create_table("table", records(3))
    with h5py.File(path) as f:
        assert f["plain"].is_virtual
    run("join", path).succeeded()
    assert not parts_of(path)
    with h5py.File(path) as f:
        for name in ("plain", "packed", "growing"):
            read, written = f[name][...], records(300)
            assert read["name"][0].rstrip() == b"abc"
            assert all(np.array_equal(read[field], written[field]) for field in ("id", "mass"))
        assert f["packed"].chunks == (50,) and f["packed"].compression == "gzip" and not f["plain"].is_virtual
        assert f["growing"].chunks == (40,) and f["growing"].maxshape == (None,) and f["empty"].maxshape == (None,)
        assert len(f["empty"]) == 0 and f["table"]["id"].tolist() == [0, 1, 2]
    with stria.open(path, verify=True) as f:
        assert f.verify() == ([], []) and f["plain"][7]["id"] == 7
    with h5py.File(path, "r+") as f:
        f["growing"].resize((310,))
        assert f["growing"][305]["id"] == 0


def parts_of(path):
    return sorted(name for name in os.listdir(path.parent) if name.startswith(path.name + ".part-"))


@pytest.mark.parametrize("parts", [1, 3, 12])
def test_other_programs_see_one_file(work, parts):
    path = work / "100%b run.h5"  # "%b" means something in names of sources
    write(path, parts)
    assert len(parts_of(path)) == parts
    check(path)
    escaped = path.name.replace("%", "%%")
    with h5py.File(path) as f:
        sources = f["mesh/dens"].virtual_sources()
        assert [source.file_name for source in sources] == [f"{escaped}.part-1-{i}" for i in range(min(parts, 10))]
        assert not f["packed"].is_virtual and not f["one"].is_virtual
    for name in parts_of(path):  # each is a plain file of its own
        with h5py.File(work / name) as f:
            assert all(not f[member].is_virtual for member in ("few", "mesh/dens") if member in f)
    for tool in (["h5dump", "-p"], ["h5stat"], ["h5ls", "-rv"]):
        subprocess.run([*tool, path], stdout=subprocess.DEVNULL, check=True)
    dump = subprocess.run(["h5dump", "-d", "/few", path], capture_output=True, text=True, check=True, cwd="/").stdout
    assert "(0): 1, 2" in dump
    run("join", path).succeeded()
    assert not parts_of(path)
    check(path)


def test_the_benchmark_removes_files_with_their_parts(work):
    directory = work / "bench"
    directory.mkdir()
    shape = [each for each in SHAPE if each != "--keep"]
    run("flash", "io", *shape, "--dir", directory, "--hint", "stria_subfiles=2", ranks=3).succeeded()
    assert not os.listdir(directory)


@pytest.mark.parametrize("more", [[], ["--hint", "stria_direct=enable", "--hint", "stria_method=two_phase"]])
def test_a_checkpoint_of_several_ranks_joins_to_what_one_file_is(work, more):
    directories = [work / "plain", work / "parted"]
    for directory, hints in zip(directories, ([], ["--hint", "stria_subfiles=2", *more]), strict=True):
        directory.mkdir()
        run("flash", "io", *SHAPE, "--verify", "--dir", directory, *hints, ranks=3).succeeded()
    plain, parted = (directory / "flash_io_hdf5_chk_0000" for directory in directories)
    assert len(parts_of(parted)) == 2
    run("verify", parted, ranks=2).succeeded()
    ours = ["--exclude-path", "/.stria", "--exclude-path", "/sim info"]
    subprocess.run(["h5diff", *ours, plain, parted], check=True)
    moved = work / "moved"
    directories[1].rename(moved)
    parted = moved / parted.name
    joined = work / "joined.h5"
    run("join", parted, "--output", joined).succeeded()
    run("join", parted).succeeded()
    assert os.listdir(moved) == [parted.name]
    for path in (joined, parted):
        run("verify", path).succeeded()
        subprocess.run(["h5diff", *ours, plain, path], check=True)
        with h5py.File(path) as f, h5py.File(plain) as original:
            assert not any(f[name].is_virtual for name in f if isinstance(f[name], h5py.Dataset))
            for name in original:
                if name != ".stria" and isinstance(f[name], h5py.Dataset):
                    assert f[name].dtype == original[name].dtype and dict(f[name].attrs) == dict(original[name].attrs)
    run("join", plain).refused("has no parts")


def everything_below(directory):
    return sorted(name for _, _, names in os.walk(directory) for name in names)


def test_joining_leaves_nothing_of_parts_in_their_places_and_renews_the_parity(work):
    path = work / "run.h5"
    places = [work / "a", work / "b"]
    for place in places:
        place.mkdir()
    hints = {"stria_subfiles": 3, "stria_parity": 2, "stria_part_places": ":".join(map(str, places))}
    with stria.create(path, hints=hints) as f:
        f.create_dataset("x", data=np.arange(90000.0).reshape(90, 1000))
    assert sum(len(os.listdir(place)) for place in places) == 5
    run("join", path).succeeded()
    # Two files of parity are left, each with a link.
    assert not parts_of(path) and len(everything_below(work)) == 1 + 2 * 2
    for place in places:
        assert ["parity-2" in name for name in os.listdir(place)] == [True]
    verified = run("verify", path).succeeded()
    assert "note:" not in verified.stdout
    with open(path, "r+b") as f:
        f.seek(300000)
        f.write(b"damage")
    assert run("verify", path).code == 1
    run("repair", path).succeeded()
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f["x"][...], np.arange(90000.0).reshape(90, 1000))


def test_compacting_renews_the_parity(work):
    path = work / "run.h5"
    with stria.create(path, hints={"stria_parity": 1}) as f:
        f.create_dataset("x", data=np.arange(30000.0))
    for i in range(3):
        with stria.append(path) as f:
            f.create_dataset(f"more{i}", data=np.ones(9))
    run("compact", path).succeeded()
    assert [name for name in os.listdir(work) if "parity" in name] and "note:" not in run("verify", path).succeeded().stdout
    other = work / "other.h5"
    run("compact", path, "--output", other, "--hint", "stria_parity=3").succeeded()
    assert len([name for name in os.listdir(work) if name.startswith("other.h5.parity-")]) == 3
    assert "note:" not in run("verify", other).succeeded().stdout


def test_joining_takes_no_part_from_a_file_of_another_name(work):
    path, copy, linked = work / "run.h5", work / "copy.h5", work / "linked.h5"
    write(path, 3)
    copy.write_bytes(path.read_bytes())
    os.link(path, linked)
    for other in (copy, linked):
        run("join", other).succeeded()
        assert len(parts_of(path)) == 3
        check(path)
        check(other)
    run("join", path, "--output", copy).succeeded()
    check(path)
    parted = work / "parted.h5"
    write(parted, 2)
    run("join", path, "--output", parted).succeeded()  # The parts of the file that is replaced go.
    assert not parts_of(parted) and len(parts_of(path)) == 3
    check(parted)


def test_a_missing_part_is_an_error_and_no_fill_values(work):
    path = work / "run.h5"
    write(path, 3)
    name = parts_of(path)[1]
    (work / name).rename(work / "elsewhere")
    with h5py.File(path) as f:  # HDF5 itself fills in
        assert f["mesh/dens"][9, 0] == 2700 and f["mesh/dens"][5, 1] == 0
    with stria.open(path) as f:
        assert f["mesh/dens"][9, 0] == 2700
        with pytest.raises(stria.StriaError, match=name + "', which is missing"):
            f["mesh/dens"][...]
    run("verify", path).refused(name, "is missing")
    run("join", path).refused(name, "is missing")
    (work / "elsewhere").rename(work / name)
    check(path)
    with open(work / name, "r+b") as part:
        part.seek(-80, os.SEEK_END)  # before its mark
        part.write(b"\xff" * 20)
    assert run("verify", path).code == 1


def test_what_cannot_be_parted_is_refused(work):
    with pytest.raises(stria.UnsupportedError, match="netCDF"):
        stria.create(work / "run.nc", hints={"stria_subfiles": 2})
    path = work / "run.h5"
    write(path, 2)
    with pytest.raises(stria.UnsupportedError, match="stria join"):
        stria.append(path)
    with stria.create(path, hints={"stria_subfiles": "many"}) as f:
        assert len(f.hint_warnings) == 1
        f.create_dataset("a", data=np.ones(3))


WRITER = """
import sys, pathlib
sys.path[:0] = sys.argv[2:]
import subfiles_test
subfiles_test.write(pathlib.Path(sys.argv[1]), 3, 2.0)
"""


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_clears_up(work):
    path = work / "run.h5"
    write(path, 3)
    source = random.Random(3)
    moments = [*range(1, 60)] if KILLS >= 60 else source.sample(range(1, 45), KILLS)
    here = pathlib.Path(__file__).parent
    writer = [sys.executable, "-c", WRITER, path, here, here.parent / "support", here.parents[1] / "scripts"]
    killed = 0
    for moment in moments:
        environment = {**os.environ, "STRIA_FAULT": f"any:nth={moment}:kill"}
        outcome = subprocess.run(writer, env=environment, check=False)
        assert outcome.returncode in (0, -9)
        if outcome.returncode == 0:  # there were fewer operations
            check(path, 2.0)
        else:
            killed += 1
            with h5py.File(path) as f:
                check(path, f.attrs["factor"])
        write(path, 3)
        check(path)
        assert len(parts_of(path)) == 3
    assert killed > 0

"""stria compact keeps everything that h5py sees, of every kind of file, or leaves the file alone.

STRIA_SEEDS says how many random files are made (default 3).
"""

import os
import random
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
import stria
from h5_snapshot import Snapshot, differences
from h5_zoo import KINDS, RELEASES, numbers
from stria_program import HDF5_RELEASE, run

SEEDS = int(os.environ.get("STRIA_SEEDS", "3"))


def tools_read(path):
    for tool in ("h5dump", "h5stat", "h5ls"):
        subprocess.run([tool, *(["-r", "-v"] if tool == "h5ls" else []), path], stdout=subprocess.DEVNULL, check=True)


def check_compacting(path, same_bytes=True):
    """Compacts a file in place and into a new one, and compares all that can be seen."""
    before = Snapshot(path)
    new = path.with_name("compacted.h5")
    run("compact", path, "--output", new).succeeded()
    assert differences(before, Snapshot(new)) == []
    assert differences(before, Snapshot(path)) == []
    run("compact", path).succeeded()
    assert differences(before, Snapshot(path)) == []
    assert not same_bytes or path.read_bytes() == new.read_bytes()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_stays_what_it_is(work, kind, release):
    path = work / "zoo.h5"
    with h5py.File(path, "w", libver=RELEASES[release]) as f:
        KINDS[kind](f)
    if HDF5_RELEASE >= (2,) and (kind, release) == ("links", "earliest"):
        before = path.read_bytes()  # H5Ocopy of 2.2 fails at old groups in a cycle.
        run("compact", path).refused("libhdf5 can't copy it")
        assert path.read_bytes() == before
        return
    # libhdf5 notes in a group when references in its attributes got the new addresses.
    check_compacting(path, same_bytes=kind != "references")
    if kind not in ("filters", "fill_values"):  # Release 1.10 can't read those wholly.
        tools_read(path)


def h5ls(path):
    return subprocess.run(["h5ls", "-r", "-v", path], capture_output=True, text=True, check=True).stdout


def test_comments_and_times_stay(work):
    path = work / "comments.h5"
    with h5py.File(path, "w", libver=RELEASES["v108"]) as f:
        KINDS["remarks"](f)
    told = [line.strip() for line in h5ls(path).splitlines() if "Comment:" in line or "Modified:" in line]
    assert any("about timed" in line for line in told) and any("Modified" in line for line in told)
    run("compact", path).succeeded()
    assert told == [line.strip() for line in h5ls(path).splitlines() if "Comment:" in line or "Modified:" in line]


@pytest.mark.parametrize("release", RELEASES)
def test_file_properties_stay(work, release):
    path = work / "properties.h5"
    with h5py.File(path, "w", libver=RELEASES[release], userblock_size=1024, track_order=True) as f:
        for name in "zebra":
            f[name] = numbers(100)
        f["z"].attrs["r"] = f["a"].ref
        f.create_dataset("of text", (3,), h5py.string_dtype(), fillvalue="nothing here")
    with open(path, "r+b") as raw:
        raw.write(b"#!/bin/sh\n" * 50)
    check_compacting(path)
    with h5py.File(path) as f:
        assert list(f) == [*"zebra", "of text"] and f.userblock_size == 1024 and f[f["z"].attrs["r"]].name == "/a"


def test_pages_and_shared_messages_stay(work):
    create = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    create.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_PAGE, True, 1)
    create.set_file_space_page_size(8192)
    path = work / "pages.h5"
    with h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, create)) as f:
        KINDS["many_links"](f)
        del f["many/d5"]
    check_compacting(path, same_bytes=False)  # libhdf5 keeps a time of its own
    with h5py.File(path) as f:
        assert f.id.get_create_plist().get_file_space_page_size() == 8192


def test_netcdf_files_of_others_stay(work):
    path = work / "theirs.nc"
    with netCDF4.Dataset(path, "w") as f:
        f.title = "a title"
        f.createDimension("t", None)
        f.createDimension("x", 5)
        f.createVariable("t", "f8", ("t",)).units = "days since 2000-01-01"
        f.createVariable("v", "f4", ("t", "x"), zlib=True, fill_value=-999.0)[:] = numbers((3, 5))
        f.createVariable("names", str, ("x",), fill_value="none")[1:3] = np.array(["one", "two"], object)
        f.createVariable("plain names", str, ("x",))[:] = np.array(list("abcde"), object)
        g = f.createGroup("g")
        kind = g.createEnumType("i1", "kind_t", {"a": 0, "b": 1})
        g.createVariable("k", kind, ("x",))[:] = [0, 1, 0, 1, 0]
        lists = g.createVLType("i4", "list_t")
        g.createVariable("l", lists, ("x",))[2] = np.arange(4, dtype="i4")
        record = g.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "record_t")
        g.createVariable("r", record, ("x",))[:] = np.zeros(5, np.dtype([("a", "i4"), ("b", "f8")]))
        for i in range(12):  # more than a header has
            f.variables["v"].setncattr_string(f"text {i}", f"value {i}")
    check_compacting(path)
    with netCDF4.Dataset(path) as f:
        assert list(f["names"][:]) == ["none", "one", "two", "none", "none"] and f["v"].getncattr("text 11") == "value 11"
        assert len(f.dimensions["t"]) == 3 and f["g"]["l"][2].tolist() == [0, 1, 2, 3]


def test_space_comes_back(work):
    path = work / "gaps.h5"
    with h5py.File(path, "w") as f:
        for i in range(100):
            f[f"d{i}"] = numbers(5000)
        d = f.create_dataset("hole", (1 << 28,), "u1", fill_time="never")
        d[-1] = 1
        for i in range(98):
            del f[f"d{i}"]
    before = path.stat().st_size
    run("compact", path).succeeded()
    assert path.stat().st_size < before - 90 * 40000 and path.stat().st_blocks * 512 < 4 << 20
    with h5py.File(path) as f:
        assert sorted(f) == ["d98", "d99", "hole"] and f["hole"][-1] == 1


def ours(path, foreign):
    with stria.create(path, track_order=True) as f:
        f.create_dataset("mesh/dens", data=numbers((20, 100)), value_range=True, dimensions=["block", "cell"])
        f.create_dataset("t", (None, 40), "f8", chunks=(8, 40), compress=True, value_range=True)
        f.create_dataset("parts", data=numbers((30, 3)))
        f.create_dataset("records", (None,), np.dtype([("i", "i4"), ("x", "f8")]), chunks=(16,))
        f.create_link("soft", "mesh")
        f.attrs["title"] = "ours"
    for step in range(20):
        with stria.append(path, sync=False) as f:
            f.append_rows("t", 3)[-3:] = np.full((3, 40), float(step))
            f.append_rows("records", 1)[-1:] = np.array([(step, 1.0)], dtype=[("i", "i4"), ("x", "f8")])
    if foreign:
        with h5py.File(path, "r+") as f:
            f["hard"] = f["parts"]
            f["parts"].attrs["units"] = "m/s"
            f["T"] = np.dtype("f8")
            f["text"] = np.array(["a", "bc"], object)
            f.attrs["to"] = f["mesh/dens"].ref
            f["t"].resize(65, 0)
            f["t"][60:] = -1.0


@pytest.mark.parametrize("foreign", [False, True])
def test_sums_of_our_files_hold_on(work, foreign):
    path = work / "ours.h5"
    ours(path, foreign)
    with stria.open(path, verify=True) as f:
        damages, remarks = f.verify()
        assert damages == []
    rows = numbers((65 if foreign else 60, 40))
    check = Snapshot(path)
    size = path.stat().st_size
    run("compact", path).succeeded()
    after = Snapshot(path)
    own = [line for line in differences(check, after) if "/.stria" not in line]
    assert own == [] and path.stat().st_size < size / 2
    run("verify", path, ranks=2).succeeded()
    with stria.open(path, verify=True) as f:
        damages, told = f.verify()
        assert damages == [] and f["t"][...].shape == rows.shape
        assert set(told) <= {r for r in remarks if "another program has changed it" not in r}
        assert bool(told) == foreign
    with stria.append(path) as f:
        f.append_rows("t", 2)[-2:] = np.ones((2, 40))
        f.attrs["more"] = 1
    run("verify", path).succeeded()
    run("compact", path).succeeded()
    run("verify", path).succeeded()
    tools_read(path)


@pytest.mark.parametrize("where", ["data", "metadata"])
def test_damage_after_compacting_is_found(work, where):
    path = work / "ours.h5"
    ours(path, False)
    run("compact", path).succeeded()
    content = bytearray(path.read_bytes())
    with h5py.File(path) as f:
        place = f["mesh/dens"].id.get_offset() + 1000 if where == "data" else h5py.h5o.get_info(f["t"].id).addr + 60
    content[place] ^= 1
    path.write_bytes(content)
    assert run("verify", path).code != 0
    before = path.read_bytes()
    assert run("compact", path).code == 2
    assert path.read_bytes() == before and os.listdir(work) == ["ours.h5"]


def test_what_cannot_be_kept_is_named_and_nothing_changes(work):
    path = work / "refused.h5"
    with h5py.File(path, "w") as f:
        f["a"] = 1
        raw = str(work / "raw")
        d = f.create_dataset("g/outside", (2,), h5py.ref_dtype, external=[(raw, 0, 16)])
        d[0] = f["a"].ref
    before = path.read_bytes()
    run("compact", path).refused("'/g/outside'", "another file")
    assert path.read_bytes() == before and sorted(os.listdir(work)) == ["raw", "refused.h5"]


def test_references_to_what_is_gone_become_null(work):
    path = work / "gone.h5"
    with h5py.File(path, "w") as f:
        f["a"], f["b"] = 1, 2
        f["refs"] = np.array([f["a"].ref, f["b"].ref], dtype=h5py.ref_dtype)
        del f["b"]
    run("compact", path).succeeded()
    with h5py.File(path) as f:
        assert f[f["refs"][0]].name == "/a" and not f["refs"][1]


def random_type(source, depth=0):
    simple = ["i1", ">u2", "<i4", "f4", ">f8", "S5", "?", h5py.string_dtype(), h5py.ref_dtype, h5py.vlen_dtype("i2")]
    if depth > 2 or source.random() < 0.6:
        return np.dtype(source.choice(simple))
    members = [(f"m{i}", random_type(source, depth + 1)) for i in range(source.randint(1, 3))]
    if source.random() < 0.3:
        members.append(("row", source.choice(["i4", h5py.ref_dtype]), (source.randint(1, 3),)))
    return np.dtype(members)


def random_value(source, dtype, file, objects):
    if dtype.subdtype:
        base, shape = dtype.subdtype
        values = np.empty(shape, base)
        for index in np.ndindex(shape):
            values[index] = random_value(source, base, file, objects)
        return values
    if dtype.names:
        return tuple(random_value(source, dtype[name], file, objects) for name in dtype.names)
    if h5py.check_ref_dtype(dtype):
        return file[source.choice(objects)].ref if source.random() < 0.8 else h5py.Reference()
    if h5py.check_string_dtype(dtype) and dtype.kind == "O":
        return "x" * source.choice([0, 1, 7, 600])
    if h5py.check_vlen_dtype(dtype):
        return np.arange(source.randint(0, 5), dtype="i2")
    return np.zeros((), dtype)[()] if dtype.kind == "S" else dtype.type(source.randint(0, 1))


def random_dataset(source, file, path, objects):
    dtype = random_type(source)
    shape = tuple(source.randint(0, 4) for _ in range(source.randint(0, 3)))
    options = {}
    if shape and source.random() < 0.6:
        options["chunks"] = tuple(source.randint(1, 3) for _ in shape)
        options["maxshape"] = tuple(source.choice([None, n + 5]) for n in shape)
        if source.random() < 0.5:
            options |= {"compression": "gzip", "shuffle": True, "fletcher32": not dtype.hasobject}
    d = file.create_dataset(path, shape, dtype, track_order=source.random() < 0.3, **options)
    for index in np.ndindex(shape):
        if source.random() < 0.7:
            value = random_value(source, dtype, file, objects)
            d[index] = np.array(value, dtype=dtype) if dtype.names else value
    for i in range(source.choice([0, 1, 3, 12])):
        d.attrs[f"a{source.randint(0, 99)}"] = source.choice(["text", i, [1.5, 2.5], file[source.choice(objects)].ref])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_files_stay_what_they_are(work, seed):
    source = random.Random(seed)
    path = work / "random.h5"
    release = source.choice(list(RELEASES))
    with h5py.File(path, "w", libver=RELEASES[release], track_order=source.random() < 0.3) as f:
        objects, groups = ["/"], ["/"]
        for i in range(60):
            where = f"{source.choice(groups).rstrip('/')}/n{i}"
            choice = source.random()
            if choice < 0.2:
                f.create_group(where, track_order=source.random() < 0.3)
                groups.append(where)
            elif choice < 0.3:
                f[where] = f[source.choice(objects[1:] or groups)]
                continue
            elif choice < 0.4:
                f[where] = source.choice([h5py.SoftLink("/n1"), h5py.ExternalLink("other.h5", "/x")])
                continue
            elif choice < 0.45:
                f[where] = np.dtype([("named", random_type(source))])
            else:
                random_dataset(source, f, where, objects)
            objects.append(where)
    check_compacting(path)

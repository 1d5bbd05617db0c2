"""Files that grow in the hands of other programs: h5py, HDF5's tools, and pyfive, which is no
libhdf5. Files of others that grow, or are refused; writers side by side; real kills.

STRIA_KILLS says how many kills (default 4).
"""

import os
import random
import signal
import subprocess
import sys

import h5py
import numpy as np
import pyfive
import pytest
import stria
from stria_program import run

KILLS = int(os.environ.get("STRIA_KILLS", "4"))


def tools_read(path):
    for tool in ("h5dump", "h5stat", "h5ls"):
        subprocess.run([tool, path], stdout=subprocess.DEVNULL, check=True)


def test_every_reader_sees_all_generations(work):
    path = work / "series.h5"
    mesh = np.arange(6 * 100.0).reshape(6, 100)
    with stria.create(path) as f:
        f.create_dataset("mesh/dens", data=mesh, value_range=True)
        f.create_dataset("probe", (None, 4), "f8", compress=True, chunks=(8, 4), value_range=True)
        for i in range(150):  # more links than a header has
            f.create_dataset(f"parts/p{i}", data=np.array([i], dtype="i4"))
    rows = np.empty((0, 4))
    for step in range(5):
        more = step + np.arange(4.0 * (3 + step)).reshape(-1, 4)
        rows = np.vstack([rows, more])
        with stria.append(path) as f:
            f.append_rows("probe", len(more))[-len(more) :] = more
            f.create_dataset(f"mesh/new{step}", data=mesh + step)
            f.create_dataset(f"parts/q{step}", data=mesh[0])
            f.attrs["step"] = step
        for program in (h5py.File, pyfive.File):
            with program(str(path)) as f:
                assert np.array_equal(f["probe"][...], rows)
                assert np.array_equal(f["mesh/dens"][...], mesh)
                assert np.array_equal(f[f"mesh/new{step}"][...], mesh + step)
                assert f["parts/p149"][0] == 149 and len(f["parts"]) == 151 + step
                assert f.attrs["step"] == step and f["probe"].attrs["maximum"][0] == rows.max()
        with stria.open(path, verify=True) as f:
            assert f.verify() == ([], []) and np.array_equal(f["probe"][...], rows)
    run("verify", path, ranks=2).succeeded()
    tools_read(path)
    again = work / "again.h5"
    subprocess.run(["h5repack", path, again], check=True)
    subprocess.run(["h5diff", path, again], check=True)


def test_links_lead_to_the_sums_of_what_they_name(work):
    path = work / "links.h5"
    data = np.random.default_rng(5).random((64, 100))
    with stria.create(path) as f:
        f.create_dataset("g/packed", data=data, compress=True)
        f.create_dataset("g/series", (None, 100), "f8")
        f.append_rows("g/series", 64)[:] = data
        for name in ("packed", "series"):
            f.create_link(f"a_{name}", f"/g/{name}")
        f.create_link("group", "g")
    with h5py.File(path, "r+") as f:
        f["z_packed"] = f["g/packed"]
    names = ["a_packed", "a_series", "group/packed", "group/series", "z_packed"]
    with stria.open(path, verify=True) as f:
        _, remarks = f.verify()
        assert not any("has no checksum" in remark for remark in remarks), remarks
        assert all(np.array_equal(f[name][...], data) for name in names)
    with h5py.File(path) as f:
        damaged = [f[f"g/{name}"].id.get_chunk_info(0).byte_offset + 50 for name in ("packed", "series")]
    with open(path, "r+b") as f:
        for place in damaged:
            f.seek(place)
            byte = f.read(1)
            f.seek(place)
            f.write(bytes([byte[0] ^ 1]))
    with stria.open(path, verify=True) as f:
        for name in names:
            with pytest.raises(stria.CorruptedError):
                f[name][...]


def test_compacting_keeps_everything_but_unused_space(work):
    path = work / "many.h5"
    with stria.create(path, track_order=True) as f:
        f.create_dataset("z/t", (None, 32), "f8", compress=True, value_range=True)
        f.create_dataset("a", data=np.arange(12.0).reshape(3, 4), dimensions=["y", "x"])
        f.create_dataset("filled", (5,), "i4", fill_value=7)
        f.create_dataset("records", (None,), np.dtype([("i", "i4"), ("x", "f8")]), chunks=(16,))
        f.create_link("soft", "z/t")
        f.create_link("nowhere", "missing")
        f.attrs["title"] = "many"
    for step in range(40):
        with stria.append(path, sync=False) as f:
            f.append_rows("z/t", 1)[-1:] = np.full((1, 32), float(step))
            f["z/t"].attrs["steps"] = step
    with h5py.File(path, "r+") as f:
        f["hard"] = f["a"]
    before = path.stat().st_size
    copy = work / "copy.h5"
    run("compact", path, "--output", copy).succeeded()
    assert path.stat().st_size == before
    with stria.append(path), h5py.File(path) as f:
        run("compact", path).refused("in use by another program")
        assert len(f["z/t"]) == 40
    run("compact", path).succeeded()
    assert path.read_bytes()[:8] == copy.read_bytes()[:8] and path.stat().st_size < before / 8
    assert sorted(os.listdir(work)) == ["copy.h5", "many.h5"]
    for one in (path, copy):
        tools_read(one)
        with h5py.File(one) as f:
            t = f["soft"]
            assert t.shape == (40, 32) and t.maxshape == (None, 32) and t.compression == "gzip" and t.attrs["maximum"][0] == 39
            assert np.array_equal(t[:, 5], np.arange(40.0)) and t.attrs["steps"] == 39 and f.attrs["title"] in ("many", b"many")
            assert f["a"].dims[1][0].name == "/x" and f["hard"][2, 3] == 11 and f["filled"][3] == 7
            assert f.get("nowhere", getlink=True).path == "missing" and f["records"].maxshape == (None,)
            assert [name for name in f if name in ("z", "a", "filled")] == ["z", "a", "filled"]
        with stria.open(one, verify=True) as f:
            damages, remarks = f.verify()
            assert damages == [] and len(remarks) == 1 and "'filled' has no checksum: nobody put it" in remarks[0]
    with stria.append(path) as f:
        f.append_rows("z/t", 1)[-1:] = np.ones((1, 32))
    run("verify", path).succeeded()


def names_and_groups(f):
    """Adds empty groups, and attributes that have the names of those of dimension scales."""
    f["a"].attrs["NAME"], f["a"].attrs["CLASS"] = "mine", 3
    f.attrs["CLASS"] = "root"
    f.create_group("nothing")
    f.create_group("empty").attrs["x"] = 5
    f.create_group("deep/er").attrs["NAME"] = "deep"


def check_names_and_groups(path):
    with h5py.File(path) as f:
        assert f["a"].attrs["NAME"] in ("mine", b"mine") and f["a"].attrs["CLASS"] == 3
        assert f.attrs["CLASS"] in ("root", b"root") and f["x"].is_scale and f["a"].dims[0][0].name == "/x"
        assert {"nothing", "empty", "deep", "a", "x"} <= set(f) and list(f["deep"]) == ["er"]
        assert len(f["nothing"]) == len(f["empty"]) == 0 and f["empty"].attrs["x"] == 5
        assert f["deep/er"].attrs["NAME"] in ("deep", b"deep")
    with pyfive.File(str(path)) as f:
        assert f["empty"].attrs["x"] == 5 and "nothing" in list(f)
    run("verify", path).succeeded()
    tools_read(path)


@pytest.mark.parametrize("order", [False, True])
def test_empty_groups_and_names_of_scales_stay(work, order):
    path = work / "run.h5"
    with stria.create(path, track_order=order) as f:
        f.create_dataset("x", data=np.arange(3.0), dimensions=["x"])
        f.create_dataset("a", data=np.arange(3.0), dimensions=["x"])
    with h5py.File(path, "r+") as f:
        names_and_groups(f)
    run("compact", path).succeeded()
    check_names_and_groups(path)


def test_what_is_not_compacted_stays(work):
    path = work / "run.nc"
    with stria.create(path) as f:
        f.create_dataset("a", data=np.ones(3))
    run("compact", path, "--output", work / "new").refused("netCDF")
    path = work / "run.h5"
    with stria.create(path) as f:
        f.create_dataset("few", data=np.arange(500.0))
    with h5py.File(path) as f:
        place = f["few"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place + 11] ^= 4
    path.write_bytes(content)
    run("compact", path).refused("'few'")
    assert path.read_bytes() == content and os.listdir(work).count("new") == 0


def foreign(path, libver):
    with h5py.File(path, "w", libver=libver) as f:
        f.attrs["title"] = "before"
        f["a"] = np.arange(5.0)
        f["a"].attrs["unit"] = "K"
        f["g/h/b"] = np.arange(3)
        f.create_dataset(
            "t", data=np.arange(12.0).reshape(6, 2), maxshape=(None, 2), chunks=(4, 2), compression="gzip", shuffle=True
        )
        f["texts"] = ["a", "bc"]
        for i in range(20):
            f[f"many/{i}"] = i


@pytest.mark.parametrize("libver", ["earliest", ("v108", "v108"), ("v110", "v110")])
def test_files_of_others_grow(work, libver):
    path = work / "foreign.h5"
    foreign(path, libver)
    has_trees = libver != ("v110", "v110")  # that release has other indices of chunks
    with stria.append(path) as f:
        f.create_dataset("new/x", data=np.ones((3, 2)))
        f.create_dataset("g/h/c", data=np.ones(4))
        f.attrs["title"] = "after"
        f.create_dataset("series", (None, 3), "f4")
        if has_trees:
            f.append_rows("t", 3)[6:] = np.full((3, 2), 7.0)
    with stria.append(path) as f:
        f.append_rows("series", 2)[:] = np.arange(6.0).reshape(2, 3)
        f.create_dataset("many/z", data=np.arange(2.0))
    tools_read(path)
    for program in (h5py.File, pyfive.File):
        with program(str(path)) as f:
            assert np.array_equal(f["a"][...], np.arange(5.0)) and np.array_equal(f["g/h/b"][...], np.arange(3))
            assert np.array_equal(f["g/h/c"][...], np.ones(4)) and np.array_equal(f["new/x"][...], np.ones((3, 2)))
            assert np.array_equal(f["series"][...], np.arange(6.0).reshape(2, 3))
            assert f.attrs["title"] in ("after", b"after") and f["many/3"][()] == 3 and f["many/z"].shape == (2,)
            expected = np.arange(12.0).reshape(6, 2)
            expected = np.vstack([expected, np.full((3, 2), 7.0)]) if has_trees else expected
            if has_trees or program is h5py.File:
                assert np.array_equal(f["t"][...], expected)
    with h5py.File(path, "r+") as f:  # Others go on.
        f["after"] = np.arange(7)
        f["series"].resize((4, 3))
        f["series"][2:] = 9
    with stria.append(path) as f:
        f.append_rows("series", 1)[4:] = np.full((1, 3), 5.0)
    with h5py.File(path) as f:
        assert np.array_equal(f["series"][1:, 0], [3, 9, 9, 5]) and f["after"][6] == 6
    tools_read(path)


PARTICLE = np.dtype([("x", "f8"), ("name", "S6"), ("id", "i4")])


def particles(first, count):
    made = np.zeros(count, PARTICLE)
    made["x"] = made["id"] = np.arange(first, first + count)
    made["name"] = [f"p{i}".ljust(6).encode() for i in range(first, first + count)]
    return made


@pytest.mark.parametrize("options", [{}, {"compress": True, "chunks": (7,)}, {"fletcher32": True}])
def test_records_grow(work, options):
    path = work / "particles.h5"
    with stria.create(path) as f:
        f.create_dataset("p", (None,), PARTICLE, **options)
    total = 0
    for more in (5, 20, 0, 300):
        with stria.append(path) as f:
            f.append_rows("p", more)[total:] = particles(total, more)
        total += more
        with h5py.File(path) as f:
            assert f["p"].dtype == PARTICLE and np.array_equal(f["p"], particles(0, total))
        with stria.open(path, verify=True) as f:
            assert f.verify() == ([], []) and np.array_equal(f["p"][3:], particles(3, total - 3))
    with pytest.raises(stria.InvalidArgumentError, match="column 'name' is put by no column"), stria.append(path) as f:
        f.append_rows("p", 1)[total:] = np.zeros(1, [("x", "f8"), ("id", "i4")])
    tools_read(path)


def test_records_and_strings_of_others_grow(work):
    path = work / "foreign.h5"
    unset = np.array((1.5, b"none", -1), PARTICLE)
    aligned = np.dtype([("kind", "i1"), ("mass", "f8"), ("place", "f4", (3,))], align=True)
    with h5py.File(path, "w") as f:
        options = {"maxshape": (None,), "compression": "gzip", "shuffle": True}
        f.create_dataset("p", data=particles(0, 5), chunks=(4,), fillvalue=unset[()], **options)
        f.create_dataset("aligned", data=np.ones(3, aligned), **options)
        f.create_dataset("names", data=np.array([b"abc", b"d"]), **options)
        f.create_dataset("long", data=["of any length"], dtype=h5py.string_dtype(), maxshape=(None,))
    with stria.append(path) as f:
        f.append_rows("p", 8)[8:] = particles(8, 5)  # some are left out, within a chunk and whole
        f.append_rows("aligned", 2)
        f.append_rows("names", 3)[2:] = ["xyz", b"", "q"]
    with h5py.File(path) as f:
        assert np.array_equal(f["p"], np.concatenate([particles(0, 5), [unset] * 3, particles(8, 5)]).astype(PARTICLE))
        assert np.array_equal(f["aligned"]["place"][:, 1], [1, 1, 1, 0, 0]) and f["aligned"].dtype == aligned
        assert list(f["names"]) == [b"abc", b"d", b"xyz", b"", b"q"]
    with stria.open(path) as f:
        assert np.array_equal(f["p"][6:9]["id"], [-1, -1, 8])
    tools_read(path)
    before = path.read_bytes()
    for name, value in (("names", ["four"]), ("names", np.ones(1)), ("long", ["x"])):
        with pytest.raises((stria.InvalidArgumentError, stria.UnsupportedError)), stria.append(path) as f:
            f.append_rows(name, 1)[-1:] = value
    assert path.read_bytes() == before


def test_what_another_program_added_to_a_file_of_ours_stays(work):
    path = work / "both.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None, 80), "f8")
        f.append_rows("t", 4)[:] = np.ones((4, 80))
    with h5py.File(path, "r+") as f:
        f["theirs"] = np.arange(3)
        f.attrs["theirs"] = 1
    with stria.append(path) as f:
        f.append_rows("t", 2)[4:] = np.full((2, 80), 2.0)
    with stria.open(path, verify=True) as f:
        damages, remarks = f.verify()
        assert damages == [] and any("theirs" in remark for remark in remarks)
        assert np.array_equal(f["t"][:, 0], [1, 1, 1, 1, 2, 2]) and np.array_equal(f["theirs"][...], np.arange(3))


@pytest.mark.parametrize("chunk_rows", [2, 64])  # more chunks, and room in the last one
@pytest.mark.parametrize("compress", [False, True])
def test_rows_of_another_program_are_mentioned_and_no_damage(work, chunk_rows, compress):
    path = work / "rows.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None, 4), "f8", chunks=(chunk_rows, 4), compress=compress)
        f.append_rows("t", 3)[:] = np.ones((3, 4))
        f.create_dataset("never", (None, 4), "f8", chunks=(chunk_rows, 4))
        f.create_dataset("fixed", data=np.arange(1000.0))
    with stria.open(path) as f:
        assert f.verify()[0] == []
    expected = np.ones((3, 4))
    told = []
    for step in (1, 2):
        with h5py.File(path, "r+") as f:
            f["t"].resize(len(expected) + 2, 0)
            f["t"][-2:] = 7.0 + step
        told.append(f"dataset 't': rows {len(expected)} to {len(expected) + 1} have no checksums: they were added later")
        expected = np.vstack([expected, np.full((2, 4), 7.0 + step)])
        with stria.open(path, verify=True) as f:
            damages, remarks = f.verify()
            assert damages == [] and set(told) <= set(remarks) and np.array_equal(f["t"][...], expected)
        run("verify", path, ranks=2).succeeded()
        with stria.append(path) as f:
            f.append_rows("t", 2)[-2:] = np.full((2, 4), float(step))
        expected = np.vstack([expected, np.full((2, 4), float(step))])
        with stria.open(path, verify=True) as f:
            damages, remarks = f.verify()
            assert damages == [] and set(told) <= set(remarks) and np.array_equal(f["t"][...], expected)
    with h5py.File(path, "r+") as f:  # rows of ours still count
        f["t"][len(expected) - 1] = 100.0
    with stria.open(path) as f:
        assert any(damage[0] == "t" for damage in f.verify()[0])
    tools_read(path)


def test_rows_of_another_program_are_overwritten(work):
    path = work / "rows.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None, 4), "f8", chunks=(2, 4), value_range=True)
        f.append_rows("t", 3)[:] = np.ones((3, 4))
    with h5py.File(path, "r+") as f:
        f["t"].resize(8, 0)
        f["t"][3:] = 2.0
    with stria.append(path) as f:
        f.update("t")[2:7, 1:3] = np.full((5, 2), 9.0)
    expected = np.vstack([np.ones((3, 4)), np.full((5, 4), 2.0)])
    expected[2:7, 1:3] = 9
    with stria.open(path, verify=True) as f:
        assert f.verify() == ([], []) and np.array_equal(f["t"][...], expected)
        assert f["t"].attrs["maximum"] == 9
    tools_read(path)
    with h5py.File(path, "r+") as f:  # they have sums now
        assert np.array_equal(f["t"], expected)
        f["t"][7, 3] = 100.0
    with stria.open(path) as f:
        assert any(damage[0] == "t" for damage in f.verify()[0])


def test_chunks_of_others_are_overwritten(work):
    path = work / "chunks.h5"
    kinds = {"plain": (6, 10), "grows": (None, 10), "grows_both": (None, None), "one": (6, 10), "early": (6, 10)}
    cells = {name: np.arange(60.0).reshape(6, 10) for name in kinds}
    with h5py.File(path, "w") as f:
        for name, most in kinds.items():
            early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if name == "early":
                early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            chunks = (6, 10) if name == "one" else (4, 3)
            f.create_dataset(name, data=cells[name], chunks=chunks, maxshape=most, dcpl=early)
    with stria.append(path) as f:
        for i, name in enumerate(kinds):
            dataset = f.update(name)
            dataset[5] = np.full(10, -1.0 - i)
            dataset[1:3, 2:9] = np.full((2, 7), 100.0 + i)
            cells[name][5] = -1 - i
            cells[name][1:3, 2:9] = 100 + i
    with h5py.File(path) as f:
        for name in kinds:
            assert np.array_equal(f[name], cells[name]), name
    tools_read(path)
    with h5py.File(path, "w", libver="latest") as f:  # with an index that only libhdf5 reads
        f.create_dataset("plain", data=cells["plain"], chunks=(4, 3))
    before = path.read_bytes()
    with pytest.raises(stria.UnsupportedError, match="nor in chunks that Stria reads"), stria.append(path) as f:
        f.update("plain")
    assert path.read_bytes() == before


def test_what_would_be_lost_is_refused_and_nothing_changes(work):
    path = work / "refused.h5"
    with h5py.File(path, "w") as f:
        f["a"] = 1
        f["g/b"] = 1
        f["h"] = f["g"]
    before = path.read_bytes()
    with pytest.raises(stria.UnsupportedError, match="several names"), stria.append(path) as f:
        f.create_dataset("g/new", data=np.ones(3))
    assert path.read_bytes() == before


def test_references_follow_what_moves(work):
    path = work / "ours.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None, 4), "f8")
        fixed = f.create_dataset("g/fixed", data=np.arange(3.0))
        f.attrs["r"] = stria.Reference("t")
        fixed.attrs["home"] = [stria.Reference("/"), stria.Reference("g/fixed")]
    for _ in range(2):
        with stria.append(path) as f:
            f.append_rows("t", 3)[-3:] = np.ones((3, 4))
    with h5py.File(path) as f:
        assert f[f.attrs["r"]].shape == (6, 4)
        home, fixed = f["g/fixed"].attrs["home"]
        assert f[home]["t"].shape == (6, 4) and f[fixed].name == "/g/fixed"
    with stria.open(path, verify=True) as f:
        assert f.attrs["r"] == "/t" and f.verify() == ([], [])
    tools_read(path)


@pytest.mark.parametrize("libver", ["earliest", ("v108", "v108")])
def test_references_of_others_follow_what_moves(work, libver):
    path = work / "theirs.h5"
    pair = np.dtype([("name", "i4"), ("what", h5py.ref_dtype)])
    with h5py.File(path, "w", libver=libver) as f:
        f["t"] = np.arange(4.0)
        f["far/u"] = np.arange(2.0)
        f.attrs["none"] = h5py.Reference()
        f["far/u"].attrs["many"] = np.array([[f["t"].ref, f["far/u"].ref], [f.ref, f["far"].ref]], dtype=h5py.ref_dtype)
        f["far"].attrs["pairs"] = np.array([(1, f["t"].ref), (2, f["far/u"].ref)], dtype=pair)
        f["t"].attrs["x"] = 0
    for step in (1, 2):
        with stria.append(path) as f:
            t = f.update("t")
            t[:] = np.full(4, float(step))
            t.attrs["x"] = step
    with h5py.File(path) as f:
        many = f["far/u"].attrs["many"]
        assert f[many[0, 0]].attrs["x"] == 2 and f[many[1, 0]]["t"].attrs["x"] == 2
        assert f[many[0, 1]].name == "/far/u" and f[f[many[0, 1]].attrs["many"][0, 0]].attrs["x"] == 2
        assert [f[what].name for _, what in f["far"].attrs["pairs"]] == ["/t", "/far/u"] and not f.attrs["none"]
        assert f[f["far"].attrs["pairs"][0][1]].attrs["x"] == 2
    tools_read(path)


def test_references_that_stay_with_the_old_are_refused(work):
    path = work / "refused.h5"
    with h5py.File(path, "w") as f:
        f["t"] = np.arange(4.0)
        f["u"] = np.arange(2.0)
        f["cells"] = np.array([f["t"].ref, h5py.Reference()], dtype=h5py.ref_dtype)
    with stria.append(path) as f:  # nothing moves that a cell names
        f.create_dataset("new", data=np.ones(3))
        f.update("u").attrs["x"] = 1
    before = path.read_bytes()
    with pytest.raises(stria.UnsupportedError, match="elements of dataset '/cells' refer to it"), stria.append(path) as f:
        t = f.update("t")
        t[:] = np.ones(4)
        t.attrs["x"] = 1
    assert path.read_bytes()[: len(before)] == before
    with h5py.File(path, "r+") as f:
        assert f["u"].attrs["x"] == 1 and f[f["cells"][0]].name == "/t" and np.array_equal(f["t"], np.arange(4.0))
        f.attrs["gone"] = f["u"].ref
        del f["u"]
        f.attrs["kept"] = 1
    with stria.open(path) as f:
        assert f.attrs["kept"] == 1 and list(f.attrs) == ["gone", "kept"]
        with pytest.raises(stria.NotFoundError, match="no longer in the file"):
            f.attrs["gone"]


def test_errors_say_what_is_meant(work):
    path = work / "said.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("squeezed", data=np.arange(9.0), maxshape=(None,), chunks=(4,), compression="lzf")
    with stria.append(path) as f:
        f.create_dataset("t", (None, 3), "f8", dimensions=("time", "x"))
    with stria.append(path) as f:
        with pytest.raises(stria.NotFoundError, match=r"open to be added to: use append_rows\(\) or update\(\)"):
            f["t"]
        with pytest.raises(stria.StriaError, match=r"open to be added to: use append_rows\(\) or update\(\)"):
            list(f.attrs)
        assert "t" not in f
    for path_of, match in [("x", "taken by a dimension of the file")]:
        with pytest.raises(stria.AlreadyExistsError, match=match), stria.append(path) as f:
            f.create_dataset(path_of, data=np.arange(3.0))
    with pytest.raises(stria.UnsupportedError, match=r"its filters \(lzf\) take libhdf5"), stria.append(path) as f:
        f.append_rows("squeezed", 1)
    with pytest.raises(stria.InvalidArgumentError, match="'time' is no dimension of length 3, but one without a limit"):
        with stria.append(path) as f:
            f.create_dataset("u", data=np.arange(3.0), dimensions=("time",))


def test_other_files_are_refused(work):
    path = work / "text"
    path.write_text("no HDF5 file at all")
    with pytest.raises(stria.FormatError):
        stria.append(path)
    with h5py.File(path, "w", userblock_size=512) as f:
        f["a"] = 1
    with pytest.raises(stria.UnsupportedError, match="first byte"):
        stria.append(path)


def test_one_writer_and_many_readers(work):
    path = work / "shared.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None,), "i8")
    with h5py.File(path) as before:
        with stria.append(path) as f:
            with pytest.raises(stria.AlreadyExistsError, match="in use by another program"):
                stria.append(path)
            f.append_rows("t", 3)[:] = np.arange(3)
        assert before["t"].shape == (0,)
    with h5py.File(path) as f:
        assert np.array_equal(f["t"], np.arange(3))
    with h5py.File(path, "r+"), pytest.raises(stria.AlreadyExistsError):
        stria.append(path)


def test_beyond_four_gigabytes(work):
    path = work / "large.h5"
    with stria.create(path, sync=False) as f:
        f.create_dataset("hole", (5 << 30,), "u1")
    with stria.append(path, sync=False) as f:
        f.create_dataset("behind", data=np.arange(1000.0))
        f.create_dataset("t", (None,), "f8", chunks=(100,))
        f.append_rows("t", 250)[:] = np.arange(250.0)
    with h5py.File(path) as f:
        assert f["behind"].id.get_offset() > 5 << 30 and np.array_equal(f["behind"], np.arange(1000.0))
        assert np.array_equal(f["t"], np.arange(250.0)) and f["hole"][-1] == 0
    assert path.stat().st_blocks * 512 < 1 << 20  # holes stay holes


WRITER = """
import sys, numpy as np, stria
path, first = sys.argv[1], int(sys.argv[2])
for step in range(first, 1000):
    with stria.append(path) as f:
        f.append_rows("t", 5)[-5:] = np.full((5, 3000), float(step))
        f.create_dataset(f"d{step}", data=np.full(5000, float(step)))
    print(step, flush=True)
"""


def test_kills_cost_nothing(work):
    path = work / "killed.h5"
    with stria.create(path) as f:
        f.create_dataset("t", (None, 3000), "f8", chunks=(3, 3000))
    source = random.Random(1)
    steps = 0
    for kill in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", WRITER, path, str(steps)], stdout=subprocess.PIPE, text=True) as writer:
            for _ in range(source.randint(1, 3)):
                told = int(writer.stdout.readline())
            try:
                writer.wait(source.uniform(0, 0.02))
            except subprocess.TimeoutExpired:
                writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().split()
            told = int(rest[-1]) if rest else told
        with h5py.File(path) as f:
            steps, left = divmod(len(f["t"]), 5)
            assert left == 0 and steps in (told + 1, told + 2), f"kill {kill}"
            assert np.array_equal(f["t"][:, 7], np.repeat(np.arange(float(steps)), 5))
            assert sorted(name for name in f if name[0] == "d") == sorted(f"d{i}" for i in range(steps))
        with stria.open(path) as f:
            damages, _ = f.verify()
            assert damages == []

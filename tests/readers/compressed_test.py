"""Compressed checkpoints in the hands of other programs: h5py, HDF5's tools, and pyfive, which is
no libhdf5."""

import json
import shutil
import subprocess

import h5py
import numpy as np
import pyfive
import pytest
from stria_program import has_sedov, run


@pytest.fixture(scope="module")
def checkpoints(session_directory):
    """Gives the same checkpoint, plain and compressed, and compressed by one rank."""
    made = {}
    for name, more, ranks in [("plain", [], 3), ("compressed", ["--compress"], 3), ("alone", ["--compress"], 1)]:
        directory = session_directory / f"compressed_{name}"
        directory.mkdir()
        blocks = 40 * 3 // ranks
        shape = ["--nxb", 8, "--nvar", 5, "--blocks", blocks, "--layout", "standard"]
        outcome = run("flash", "io", *shape, "--rounds", 1, "--dir", directory, "--keep", "--verify", *more, ranks=ranks)
        outcome.succeeded()
        made[name] = directory / "flash_io_hdf5_chk_0000"
    return made


def variables(file):
    return [name for name in file if isinstance(file[name], h5py.Dataset) and file[name].ndim == 4]


def test_every_reader_sees_the_same_values(checkpoints):
    with h5py.File(checkpoints["plain"]) as plain:
        assert len(variables(plain)) == 5
        for name in ["compressed", "alone"]:
            with h5py.File(checkpoints[name]) as packed, pyfive.File(str(checkpoints[name])) as seen:
                for path in variables(plain):
                    assert packed[path].compression == "gzip" and packed[path].shuffle
                    assert np.array_equal(packed[path], plain[path])
                    assert np.array_equal(seen[path][...], plain[path][...])
                    assert dict(packed[path].attrs) == dict(plain[path].attrs)


def test_tools_find_nothing_unusual(checkpoints, work):
    packed = checkpoints["compressed"]
    dump = subprocess.run(["h5dump", "-p", "-H", packed], capture_output=True, text=True, check=True)
    assert "COMPRESSION DEFLATE { LEVEL 1 }" in dump.stdout
    subprocess.run(["h5dump", packed], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["h5stat", packed], stdout=subprocess.DEVNULL, check=True)
    of_the_run = [option for path in ("/processor number", "/sim info") for option in ("--exclude-path", path)]
    subprocess.run(["h5diff", *of_the_run, packed, checkpoints["alone"]], check=True)
    with h5py.File(packed) as file:
        names = ",".join(variables(file))
    for filters in [f"{names}:GZIP=6", "NONE"]:
        again = work / "again.h5"
        subprocess.run(["h5repack", "-f", filters, packed, again], check=True)
        run("verify", again).succeeded()
        again.unlink()


def test_inspect_says_filters_and_ratio(checkpoints):
    inspected = json.loads(run("inspect", "--json", checkpoints["compressed"], ranks=2).succeeded().stdout)
    of_path = {dataset["path"]: dataset for dataset in inspected["datasets"]}
    with h5py.File(checkpoints["compressed"]) as file:
        for path in variables(file):
            assert of_path[path]["filters"] == "shuffle deflate(1)"
            assert of_path[path]["stored_bytes"] == file[path].id.get_storage_size() < of_path[path]["bytes"]
    assert "shuffle deflate(1)" in run("inspect", checkpoints["compressed"]).succeeded().stdout


def test_damage_is_named(checkpoints, work):
    path = work / "damaged"
    shutil.copy(checkpoints["compressed"], path)
    with h5py.File(path) as file:
        name = variables(file)[2]
        place = file[name].id.get_chunk_info(0)
    with path.open("r+b") as file:
        file.seek(place.byte_offset + place.size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 16]))
    result = run("verify", path, ranks=2)
    assert result.code == 1 and name.strip() in result.stdout


@pytest.mark.skipif(not has_sedov(), reason="no Sedov application")
def test_a_run_goes_on_from_a_compressed_checkpoint(work):
    common = ["flash", "sedov", "--dim", 2, "--max-level", 3, "--no-sync", "--checkpoint-every", 4]
    ends = []
    for more in [[], ["--compress"]]:
        directory = work / ("compressed" if more else "plain")
        directory.mkdir()
        run(*common, "--steps", 4, "--out", directory, *more, ranks=3).succeeded()
        run(*common, "--steps", 8, "--out", directory, "--restart", "latest", *more, ranks=2).succeeded()
        with h5py.File(sorted(directory.glob("*chk*"))[-1]) as file:
            ends.append({name: file[name][...] for name in variables(file)})
    assert ends[0] and all(np.array_equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_chunks_that_do_not_shrink_are_stored_as_they_are(work):
    stria = pytest.importorskip("stria")
    path = work / "noise.h5"
    noise = np.frombuffer(np.random.default_rng(1).bytes(8 * 64 * 512), dtype="u8").reshape(64, 512)
    mixed = noise.copy()
    mixed[32:] = 7  # shrinks
    with stria.create(path) as f:
        for name, data in [("noise", noise), ("mixed", mixed)]:
            f.create_dataset(name, data=data, compress=True, chunks=(16, 512))
    with h5py.File(path) as f:
        masks = {name: [f[name].id.get_chunk_info(i).filter_mask for i in range(4)] for name in ("noise", "mixed")}
        assert masks == {"noise": [3] * 4, "mixed": [3, 3, 0, 0]}
        assert f["noise"].id.get_storage_size() == noise.nbytes
        assert np.array_equal(f["noise"], noise) and np.array_equal(f["mixed"], mixed)
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f["noise"][...], noise) and np.array_equal(f["mixed"][...], mixed) and f.verify() == ([], [])


def complex_numbers(kind):
    parts = np.random.default_rng(3).integers(0, 50, size=(2, 12, 40))
    return (parts[0] + 1j * parts[1]).astype(kind)


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_complex_numbers_are_shuffled_as_others_do(work, kind):
    stria = pytest.importorskip("stria")
    path = work / "complex.h5"
    numbers = complex_numbers(kind)
    with stria.create(path) as f:
        f.create_dataset("ours", data=numbers, compress=True, chunks=(5, 40))
    with h5py.File(path, "r+") as f:
        filters = f["ours"].id.get_create_plist()
        assert filters.get_filter(0)[2] == (np.dtype(kind).itemsize,)
        f.create_dataset("theirs", data=numbers, maxshape=(None, 40), chunks=(5, 40), shuffle=True, compression="gzip")
    with stria.append(path) as f:
        f.append_rows("theirs", 2)[-2:] = numbers[:2]
    more = np.vstack([numbers, numbers[:2]])
    for library in (h5py, pyfive):
        with library.File(str(path)) as f:
            assert np.array_equal(f["ours"][...], numbers), library
            assert np.array_equal(f["theirs"][...], more), library
    with stria.open(path, verify=True) as f:
        assert np.array_equal(f["ours"][...], numbers) and np.array_equal(f["theirs"][...], more)
        assert f["theirs"].stored_bytes is not None


def test_files_whose_complex_numbers_were_shuffled_by_parts_stay_readable(work):
    stria = pytest.importorskip("stria")
    path = work / "old.h5"
    numbers = complex_numbers("c16")
    shuffled = numbers.view("u1").reshape(-1, 8).T.tobytes()
    with h5py.File(path, "w", libver="earliest") as f:  # Its headers have no checksums.
        made = f.create_dataset("z", shape=(12, 40), dtype="c16", maxshape=(None, 40), chunks=(12, 40), shuffle=True)
        made.id.write_direct_chunk((0, 0), shuffled)
    content = path.read_bytes()
    at = content.index(b"shuffle\0") + 8
    assert content[at : at + 4] == (16).to_bytes(4, "little")
    path.write_bytes(content[:at] + (8).to_bytes(4, "little") + content[at + 4 :])
    with stria.append(path) as f:
        f.append_rows("z", 3)[-3:] = numbers[4:7]
    more = np.vstack([numbers, numbers[4:7]])
    with h5py.File(path) as f:
        assert np.array_equal(f["z"], more)
    with stria.open(path) as f:
        assert np.array_equal(f["z"][...], more) and f["z"].stored_bytes is not None

"""stria verify finds every flipped byte of raw data; stria inspect says what is in a file. Neither
fails on damage anywhere.

STRIA_SEED says which bytes are flipped, STRIA_FLIPS how many (default 200 in raw data and
200 beside it).
"""

import json
import os
import random
import shutil

import h5py
import numpy as np
import pytest
from stria_program import run

SEED = int(os.environ.get("STRIA_SEED", "20120521"))
FLIPS = int(os.environ.get("STRIA_FLIPS", "200"))
FILES_AT_A_TIME = 40


@pytest.fixture(scope="module")
def small_file(session_directory):
    """Gives a checkpoint of 30 KB with datasets of blocks and small lists."""
    directory = session_directory / "small"
    directory.mkdir()
    run("flash", "io", "--nxb", 4, "--nvar", 3, "--blocks", 4, "--rounds", 1, "--plotfile", "--plot-variables", 1,
        "--dir", directory, "--keep", ranks=2).succeeded()  # fmt: skip
    return directory / "flash_io_hdf5_chk_0000"


def raw_places(path):
    """Returns every dataset with raw data in the file: name, first byte, bytes, bytes of one
    row."""
    places = []

    def note(name, item):
        if isinstance(item, h5py.Dataset) and item.id.get_offset() is not None and item.size:
            assert item.id.get_create_plist().get_layout() == h5py.h5d.CONTIGUOUS
            places.append(
                (name, item.id.get_offset(), item.id.get_storage_size(), item.id.get_storage_size() // (item.shape or (1,))[0])
            )

    with h5py.File(path) as file:
        file.visititems(note)
    return places


def flipped(content, offset, mask):
    return content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]


def verify_contents(directory, contents):
    """Returns what `verify --json` says about each of these files: many at a time, because starting
    MPI takes longer than verifying."""
    paths = [directory / f"flip_{number}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    verdicts = []
    for first in range(0, len(paths), FILES_AT_A_TIME):
        outcome = run("verify", "--json", *paths[first : first + FILES_AT_A_TIME])
        assert outcome.code in (0, 1, 2), str(outcome)
        assert "HDF5:" not in outcome.stderr, "libhdf5 talks while it closes itself"
        found = json.loads(outcome.stdout)
        verdicts += found if isinstance(found, list) else [found]
    assert [verdict["file"] for verdict in verdicts] == [str(path) for path in paths]
    return verdicts


def test_every_flip_in_raw_data_is_found(small_file, work):
    content = small_file.read_bytes()
    places = raw_places(small_file)
    names = {name for name, *_ in places}
    assert {"dens", "sim info", "real scalars", "unknown names", "refine level", "bounding box", ".stria/slabs"} <= names
    source = random.Random(SEED)
    # Each dataset is met, however small it is.
    chosen = [*places, *source.choices(places, weights=[bytes for _, _, bytes, _ in places], k=max(FLIPS - len(places), 0))]
    jobs = [
        (name, begin, source.randrange(bytes), row_bytes, 1 << source.randrange(8)) for name, begin, bytes, row_bytes in chosen
    ]
    verdicts = verify_contents(work, [flipped(content, begin + offset, mask) for _, begin, offset, _, mask in jobs])
    for (name, _, offset, row_bytes, mask), verdict in zip(jobs, verdicts, strict=True):
        where = f"STRIA_SEED={SEED}: byte {offset} of '{name}', mask {mask}: {verdict}"
        if name.startswith(".stria/"):
            assert not verdict["intact"], where  # the checksums' own tables
        else:
            rows = [
                range(damage["first_row"], damage["last_row"]) for damage in verdict["damages"] if damage["dataset"] == name
            ]
            assert any(offset // row_bytes in range_ for range_ in rows), where


def test_flips_anywhere_trip_nothing(small_file, work):
    content = small_file.read_bytes()
    source = random.Random(SEED + 1)
    raw = [(begin, begin + bytes) for _, begin, bytes, _ in raw_places(small_file)]
    metadata = [offset for offset in range(len(content)) if not any(begin <= offset < end for begin, end in raw)]
    jobs = [(source.choice(metadata), source.randrange(1, 256)) for _ in range(FLIPS)]
    verdicts = verify_contents(work, [flipped(content, offset, mask) for offset, mask in jobs])
    noticed = sum(not verdict["intact"] for verdict in verdicts)
    # The library's own checksums cover nearly all of the metadata; padding may change unseen.
    print(f"{noticed} of {len(jobs)} flips beside raw data were noticed")
    assert noticed > 0


def test_exit_codes_on_ranks(sedov_2d, work):
    intact = sedov_2d / "sedov_hdf5_chk_0001"
    assert "every checksum is right" in run("verify", intact, ranks=3).succeeded().stdout
    content = intact.read_bytes()
    with h5py.File(intact) as file:
        begin, row_bytes = file["dens"].id.get_offset(), 8 * 8 * 8
    damaged = work / "damaged"
    damaged.write_bytes(flipped(flipped(content, begin + 2 * row_bytes + 5, 4), begin + 3 * row_bytes + 1, 4))
    outcome = run("verify", damaged, ranks=3)
    assert outcome.code == 1 and "dataset 'dens' is damaged in blocks 2 to 3" in outcome.stdout, str(outcome)
    outcome = run("verify", "--json", damaged, ranks=3)
    assert json.loads(outcome.stdout)["damages"] == [{"dataset": "dens", "first_row": 2, "last_row": 4}]
    outcome = run("verify", intact, damaged, ranks=2)
    assert outcome.code == 1 and "every checksum is right" in outcome.stdout and "damaged in blocks" in outcome.stdout, str(
        outcome
    )


def test_a_flip_stops_a_restart(sedov_2d, work):
    """The flip may be in the small lists, too, which say from which time to go on."""
    intact = sedov_2d / "sedov_hdf5_chk_0001"
    content = intact.read_bytes()
    for name in ("real scalars", "integer runtime parameters", "bounding box", "velx"):
        with h5py.File(intact) as file:
            offset = file[name].id.get_offset() + file[name].id.get_storage_size() - 4
        damaged = work / "damaged"
        damaged.write_bytes(flipped(content, offset, 1))
        run("flash", "sedov", "--restart", damaged, "--out", work, "--steps", 5, ranks=2).refused(name, "checksum")


@pytest.mark.parametrize("name", ["gid", "coordinates", "sim info"])
def test_a_restart_checks_what_it_doesnt_load(sedov_2d, work, name):
    """A restart from a named file goes on, because it needs nothing of that. `latest` takes
    another, whole file."""
    content = (sedov_2d / "sedov_hdf5_chk_0001").read_bytes()
    with h5py.File(sedov_2d / "sedov_hdf5_chk_0001") as file:
        offset = file[name].id.get_offset() + file[name].id.get_storage_size() - 4
    damaged = work / "sedov_hdf5_chk_0001"
    damaged.write_bytes(flipped(content, offset, 1))
    shutil.copy(sedov_2d / "sedov_hdf5_chk_0000", work)
    restart = ["flash", "sedov", "--out", work, "--steps", 5, "--restart"]
    named = run(*restart, damaged, ranks=2).succeeded()
    assert f"restarted from {damaged}" in named.stdout
    assert len(named.messages) == 1 and f"'{damaged}': dataset '{name}' is damaged" in named.messages[0], str(named)
    latest = run(*restart, "latest", ranks=3).succeeded()
    assert f"passing over {damaged}: dataset '{name}' is damaged" in latest.stdout, str(latest)
    assert f"restarted from {work}/sedov_hdf5_chk_0000" in latest.stdout and not latest.messages, str(latest)


def test_a_restart_says_what_has_no_checksums(sedov_2d, work):
    """A restart from a whole file goes on silently."""
    restart = ["flash", "sedov", "--out", work, "--steps", 5, "--restart"]
    assert not run(*restart, sedov_2d / "sedov_hdf5_chk_0001", ranks=2).succeeded().messages
    path = work / "sedov_hdf5_chk_0001"
    shutil.copy(sedov_2d / "sedov_hdf5_chk_0001", path)
    with h5py.File(path, "a") as file:
        data = file["pres"][:]
        del file["pres"]
        file.create_dataset("pres", data=data, chunks=True, compression="gzip")
    assert not run(*restart, path, ranks=2).succeeded().messages, "chunks of other writers are checked too"
    # The dataset gets an index that only libhdf5 reads.
    with h5py.File(path, "a", libver=("v110", "v110")) as file:
        del file["pres"]
        file.create_dataset("pres", data=data, chunks=True, compression="gzip")
    (message,) = run(*restart, path, ranks=2).succeeded().messages
    assert "not all of it could be checked" in message and "'pres'" in message
    with h5py.File(path, "a") as file:
        del file[".stria"]
    (message,) = run(*restart, path, ranks=2).succeeded().messages
    assert f"'{path}': it has no checksums" in message


def test_inspect(sedov_2d, sedov_3d, flash_io_files):
    for directory in (sedov_2d, sedov_3d, flash_io_files):
        for path in sorted(directory.glob("*hdf5*")):
            description = json.loads(run("inspect", "--json", path).succeeded().stdout)
            with h5py.File(path) as file:
                names = [name for name in file if isinstance(file[name], h5py.Dataset)]
                shapes = {entry["path"]: entry["shape"] for entry in description["datasets"]}
                assert shapes == {name: list(file[name].shape) for name in names}
            assert description["checksums"] and description["bytes"] == path.stat().st_size
            assert description["flash"]["blocks"] == shapes["refine level"][0]
    text = run("inspect", path, ranks=3).succeeded().stdout
    assert text.count("FLASH file") == 1


def test_inspect_tells_attributes_and_types(work):
    """Attributes of all types that other programs use. Those whose value can't be shown hide none
    of the others."""
    path = work / "other.h5"
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "Überblick"
        file.attrs["count"] = np.uint64(2**64 - 1)
        data = file.create_dataset("group/wide", data=np.arange(6, dtype=">f8").reshape(2, 3))
        data.attrs["range"] = np.array([-1.5, 2.25])
        data.attrs["many"] = np.arange(20, dtype="i2")
        data.attrs["names"] = np.array([b"a", b"bcd"])
        data.attrs["back"] = data.ref
        data.attrs["half"] = np.float32(0.1)
        file["group"].attrs["level"] = np.int8(-3)
        file.create_dataset("empty", (0, 4), "i4")
        file.create_dataset("chunked", data=np.arange(8.0), chunks=(4,))
    description = json.loads(run("inspect", "--json", path, ranks=3).succeeded().stdout)
    groups = {group["path"]: {a["name"]: a for a in group["attributes"]} for group in description["groups"]}
    assert groups["/"]["title"]["value"] == "Überblick" and groups["/"]["title"]["type"].startswith("string[")
    assert groups["/"]["count"] == {"name": "count", "type": "uint64", "shape": [], "value": 2**64 - 1}
    assert groups["group"]["level"] == {"name": "level", "type": "int8", "shape": [], "value": -3}
    datasets = {entry["path"]: entry for entry in description["datasets"]}
    wide = {a["name"]: a for a in datasets["group/wide"]["attributes"]}
    assert wide["range"] == {"name": "range", "type": "float64", "shape": [2], "value": [-1.5, 2.25]}
    assert wide["many"]["value"] == list(range(20)) and wide["names"]["value"] == ["a", "bcd"]
    assert wide["back"]["value"] == "/group/wide" and np.float32(wide["half"]["value"]) == np.float32(0.1)
    assert datasets["empty"]["contiguous"] and not datasets["chunked"]["contiguous"]
    text = run("inspect", path).succeeded().stdout
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert lines["group/wide"].split()[1:] == ["float64", "big-endian", "2", "x", "3", "0.000"]
    assert lines["empty"].endswith("0.000  empty") and "not contiguous" in text[text.index("\n  chunked ") :]
    assert lines["title:"].strip().endswith('= "Überblick"') and lines["range:"].strip() == "range: float64 = [-1.5, 2.25]"
    assert lines["many:"].endswith("6, 7, … (20 values)]") and lines["back:"].strip() == 'back: reference = "/group/wide"'

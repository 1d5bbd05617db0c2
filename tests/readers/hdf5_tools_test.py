"""h5py and HDF5's own tools find nothing unusual in the files, and files that they have
repacked are accepted."""

import shutil
import subprocess

import h5py
import numpy as np
import pytest
from stria_program import read_json, run

TOOLS = {
    "h5dump": ["h5dump"],
    "h5dump_properties": ["h5dump", "-p", "-H"],
    "h5ls": ["h5ls", "-r", "-v"],
    "h5stat": ["h5stat"],
}


def files_of(request, name):
    return sorted(path for path in request.getfixturevalue(name).iterdir() if "hdf5" in path.name)


@pytest.fixture(params=["sedov_2d", "sedov_3d", "flash_io_files"])
def files(request):
    found = files_of(request, request.param)
    assert len(found) >= 3
    return found


def run_tool(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and result.stderr == "", f"{command}: {result.returncode}\n{result.stderr}"
    return result.stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_tool_runs_clean(files, tool):
    if shutil.which(TOOLS[tool][0]) is None:
        pytest.skip(f"no {TOOLS[tool][0]}")
    for path in files:
        text = run_tool(*TOOLS[tool], path)
        assert "unable to" not in text and "error" not in text.lower(), text[:2000]


def test_h5py_reads_every_dataset(files):
    for path in files:
        with h5py.File(path) as file:
            seen = []
            file.visititems(
                lambda name, item, seen=seen: seen.append((name, item[()])) if isinstance(item, h5py.Dataset) else None
            )
            assert len(seen) >= 15
            for name, content in seen:
                if content.dtype.kind == "f":
                    assert np.isfinite(content).all(), name


def test_the_file_holds_little_beside_its_data(files):
    """Metadata, alignment and checksums cost a few pages, and nothing follows the
    last byte in use."""
    for path in files:
        with h5py.File(path) as file:
            bytes_used = sum(item.nbytes for item in file.values() if isinstance(item, h5py.Dataset))
        assert path.stat().st_size < bytes_used * 1.15 + 65536, path


@pytest.mark.parametrize("layout", [[], ["-f", "GZIP=1"], ["-l", "CONTI"], ["-f", "dens:GZIP=4"]])
def test_repacked_checkpoints_restart(sedov_2d, work, layout):
    """The same state comes out, and the checksums survive the repacking."""
    original = sedov_2d / "sedov_hdf5_chk_0000"
    packed = work / "sedov_hdf5_chk_0000"
    run_tool("h5repack", *layout, original, packed)
    run_tool("h5diff", original, packed)
    run("verify", packed, ranks=2).succeeded()
    run("inspect", packed, ranks=2).succeeded()
    assert restarted_hash(packed, work) == read_json(sedov_2d / "run.json")["result"]["state_hash"]


def restarted_hash(path, work):
    json = work / "restart.json"
    run("flash", "sedov", "--restart", path, "--out", work, "--steps", 4, "--json", json, ranks=2).succeeded()
    return read_json(json)["result"]["state_hash"]


def rewrite(source_path, target_path, options, number=lambda dtype: dtype):
    """Copies the FLASH objects as another program would write them."""
    with h5py.File(source_path) as source, h5py.File(target_path, "w", **({"libver": "earliest"})) as target:
        for name, item in source.items():
            if not isinstance(item, h5py.Dataset):
                continue
            is_cells = item.ndim == 4
            dtype = number(item.dtype) if item.dtype.kind in "fi" else item.dtype
            target.create_dataset(name, data=item[()], dtype=dtype, **(options if is_cells else {}))


FOREIGN = {
    "contiguous": ({}, lambda dtype: dtype),
    "chunked": ({"chunks": (3, 1, 4, 8)}, lambda dtype: dtype),
    "gzip_shuffle": ({"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True}, lambda dtype: dtype),
    "big_endian": ({}, lambda dtype: dtype.newbyteorder(">")),
    "big_endian_gzip": ({"compression": "gzip"}, lambda dtype: dtype.newbyteorder(">")),
    "extensible": ({"maxshape": (None, 1, 8, 8)}, lambda dtype: dtype),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_another_program_restart(sedov_2d, work, name):
    options, number = FOREIGN[name]
    path = work / "sedov_hdf5_chk_0000"
    rewrite(sedov_2d / "sedov_hdf5_chk_0000", path, options, number)
    run("verify", path, ranks=2).refused("sedov_hdf5_chk_0000", "checksums")
    assert restarted_hash(path, work) == read_json(sedov_2d / "run.json")["result"]["state_hash"]
    latest = run("flash", "sedov", "--restart", "latest", "--out", work, "--steps", 3, ranks=3).succeeded()
    assert f"restarted from {path}" in latest.stdout


def test_incomplete_files_of_another_program_are_refused(sedov_2d, work):
    path = work / "sedov_hdf5_chk_0000"
    for missing in ("dens", "bounding box", "real scalars", "unknown names", "refine level", "integer runtime parameters"):
        rewrite(sedov_2d / "sedov_hdf5_chk_0000", path, {})
        with h5py.File(path, "a") as file:
            del file[missing]
        run("flash", "sedov", "--restart", path, "--out", work, "--steps", 4, ranks=2).refused(path.name)


def damage_shape(file):
    data = file["dens"][:-1]
    del file["dens"]
    file["dens"] = data


def damage_rank(file):
    data = file["pres"][:, 0]
    del file["pres"]
    file["pres"] = data


def damage_cells(file):
    data = file["pres"][:, :, :, :4]
    del file["pres"]
    file["pres"] = data


def damage_type(file):
    shape = file["pres"].shape
    del file["pres"]
    file.create_dataset("pres", shape, dtype="S8")


def damage_block_count(file):
    rows = file["integer scalars"][:]
    rows["value"][[name.strip() == b"globalnumblocks" for name in rows["name"]]] = -5
    file["integer scalars"][...] = rows


def damage_cell_count(file):
    rows = file["integer scalars"][:]
    rows["value"][[name.strip() == b"nxb" for name in rows["name"]]] = 2000000000
    file["integer scalars"][...] = rows


def damage_dimension(file):
    rows = file["integer scalars"][:]
    rows["value"][[name.strip() == b"dimensionality" for name in rows["name"]]] = 7
    file["integer scalars"][...] = rows


def damage_boxes(file):
    file["bounding box"][...] = np.nan


def damage_levels(file):
    file["refine level"][...] = 77


def damage_bounding_box_shape(file):
    del file["bounding box"]
    file["bounding box"] = np.zeros((3, 2))


def damage_level_rows(file):
    data = file["refine level"][:-2]
    del file["refine level"]
    file["refine level"] = data


def damage_lists(file):
    del file["real scalars"]
    file["real scalars"] = np.arange(4.0)


def damage_time(file):
    rows = file["real scalars"][:]
    rows["value"] = np.nan
    file["real scalars"][...] = rows


def damage_names(file):
    del file["unknown names"]
    file["unknown names"] = np.arange(10)


DAMAGES = [
    damage_shape, damage_rank, damage_cells, damage_type, damage_block_count, damage_cell_count, damage_dimension, damage_boxes,
    damage_levels, damage_bounding_box_shape, damage_level_rows, damage_lists, damage_time, damage_names,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda function: function.__name__)
def test_files_that_make_no_sense_are_refused(sedov_2d, work, damage):
    """Whatever another program left in the file, there is a message, no crash, and no run
    with nonsense."""
    path = work / "sedov_hdf5_chk_0000"
    rewrite(sedov_2d / "sedov_hdf5_chk_0000", path, {})
    with h5py.File(path, "a") as file:
        damage(file)
    run("flash", "sedov", "--restart", path, "--out", work, "--steps", 4, ranks=3).refused(path.name)
    for command in (["inspect", path], ["flash", "picture", path, "-o", work / "x.png", "--variable", "pres"]):
        outcome = run(*command, ranks=2)
        assert outcome.code in (0, 2) and len(outcome.messages) == outcome.code // 2, str(outcome)

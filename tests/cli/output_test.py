"""The files that a Sedov run leaves: which, how many, numbered how, before and after a restart."""

import shutil

import h5py
import numpy as np
import pytest
from stria_program import read_json, run

RANKS = 3
SEDOV = ["flash", "sedov", "--dim", 2, "--nxb", 8, "--max-level", 3]

pytestmark = pytest.mark.usefixtures("sedov")


def names(directory):
    return sorted(path.name.removeprefix("sedov_hdf5_") for path in directory.iterdir() if "hdf5" in path.name)


def steps(directory):
    """Returns the step of each checkpoint and plot file."""
    result = {}
    for path in directory.glob("sedov_hdf5_*"):
        with h5py.File(path) as file:
            rows = {name.strip(): value for name, value in file["integer scalars"][:][["name", "value"]]}
            result[path.name.removeprefix("sedov_hdf5_")] = int(rows[b"nstep"])
    return result


def test_only_the_last_are_kept(work):
    run(*SEDOV, "--steps", 7, "--checkpoint-every", 1, "--plot-every", 3, "--keep", 2, "--out", work, ranks=RANKS).succeeded()
    assert names(work) == ["chk_0005", "chk_0006", "plt_cnt_0000", "plt_cnt_0001", "plt_cnt_0002"]
    run("verify", *work.iterdir()).succeeded()
    # A restart counts the earlier ones among them.
    more = ["--steps", 8, "--checkpoint-every", 1, "--keep", 2, "--restart", "latest"]
    run("flash", "sedov", *more, "--out", work, ranks=2).succeeded()
    assert [name for name in names(work) if "chk" in name] == ["chk_0006", "chk_0007"]


def test_numbers_go_on_after_a_restart(work):
    """A run in two parts leaves the same files as a run in one: same numbers, same
    steps, same content."""
    whole, parts = work / "whole", work / "parts"
    every = ["--checkpoint-every", 2, "--plot-every", 2]
    run(*SEDOV, "--steps", 8, *every, "--out", whole, ranks=RANKS).succeeded()
    run(*SEDOV, "--steps", 4, *every, "--out", parts, ranks=2).succeeded()
    run("flash", "sedov", "--restart", "latest", "--steps", 8, *every, "--out", parts, ranks=4).succeeded()
    assert steps(parts) == steps(whole)
    assert steps(whole)["chk_0001"] == 4 and steps(whole)["plt_cnt_0003"] == 8
    for name in names(whole):
        with h5py.File(whole / f"sedov_hdf5_{name}") as one, h5py.File(parts / f"sedov_hdf5_{name}") as other:
            np.testing.assert_array_equal(one["dens"][:], other["dens"][:])
            np.testing.assert_array_equal(one["real scalars"][:], other["real scalars"][:])


def test_plot_files_hold_what_was_chosen(work):
    chosen = ["velx", "dens"]
    run(
        *SEDOV, "--steps", 2, "--plot-every", 2, "--plot-variables", *chosen, "--corners", "--out", work, ranks=RANKS
    ).succeeded()
    assert names(work) == ["plt_cnt_0000", "plt_crn_0000"]
    with h5py.File(work / "sedov_hdf5_plt_cnt_0000") as cells, h5py.File(work / "sedov_hdf5_plt_crn_0000") as corners:
        for file, points in ((cells, 8), (corners, 9)):
            assert [name.decode() for name in file["unknown names"][:, 0]] == chosen
            assert {name for name in file if len(name) == 4 and file[name].ndim == 4} == set(chosen)
            assert file["dens"].shape[1:] == (1, points, points) and file["dens"].dtype == np.float32
        # A corner inside of a block is the mean of the four cells around it.
        inner = cells["dens"][:].astype(float)
        mean = (inner[..., :-1, :-1] + inner[..., :-1, 1:] + inner[..., 1:, :-1] + inner[..., 1:, 1:]) / 4
        np.testing.assert_allclose(corners["dens"][:, :, 1:-1, 1:-1], mean, rtol=1e-5)


def test_experimental_layout_restarts_to_the_same_state(work):
    final = {}
    for layout in ("standard", "experimental"):
        directory = work / layout
        run(*SEDOV, "--steps", 3, "--checkpoint-every", 3, "--layout", layout, "--out", directory, ranks=RANKS).succeeded()
        json = work / f"{layout}.json"
        run("flash", "sedov", "--restart", "latest", "--steps", 6, "--out", directory, "--json", json, ranks=2).succeeded()
        final[layout] = read_json(json)["result"]["state_hash"]
    run("verify", work / "experimental" / "sedov_hdf5_chk_0000").succeeded()
    assert final["standard"] == final["experimental"]


def test_output_by_the_clock(work):
    """There is output about every 0.05 s, and once more at the end."""
    options = ["--steps", 60, "--checkpoint-seconds", 0.05, "--plot-seconds", 0.1]
    run(*SEDOV, *options, "--json", work / "run.json", "--out", work, ranks=2).succeeded()
    checkpoint_count = sum("chk" in name for name in names(work))
    seconds = read_json(work / "run.json")["run_seconds"]
    assert 1 <= checkpoint_count <= seconds / 0.05 + 1
    assert steps(work)[f"chk_{checkpoint_count - 1:04d}"] == 60


def test_the_result_speaks_of_every_file(work):
    run(
        *SEDOV, "--steps", 2, "--checkpoint-every", 1, "--plot-every", 2, "--out", work, "--json", work / "run.json", ranks=3
    ).succeeded()
    document = read_json(work / "run.json")
    assert document["ranks"] == 3
    assert sorted(entry["path"] for entry in document["files"]) == sorted(str(path) for path in work.glob("*hdf5*"))
    for entry in document["files"]:
        assert entry["file_bytes"] > entry["useful_bytes"] > 0 and entry["seconds"] > 0
        assert {"open", "metadata", "pack", "exchange", "write", "sync", "commit"} <= set(entry["phases"])


def test_waiting_for_a_commit_in_the_background_is_reported(work):
    outcome = run(
        *SEDOV, "--async", "--steps", 3, "--checkpoint-every", 1, "--out", work, "--json", work / "run.json",
        "--hint", "stria_staging_rate=2000000", ranks=2,
    ).succeeded()  # fmt: skip
    document = read_json(work / "run.json")
    assert all(entry["wait_seconds"] > 0 for entry in document["files"])
    spent = sum(entry["seconds"] + entry["wait_seconds"] for entry in document["files"])
    assert document["io_seconds"] == pytest.approx(spent)
    assert document["io_share"] == pytest.approx(spent / document["run_seconds"])
    assert "  wait ms\n" in outcome.stdout, str(outcome)


@pytest.mark.parametrize("dim", [2, 3])
def test_both_layouts_make_the_same_picture(work, dim):
    pictures = {}
    for layout in ("standard", "experimental"):
        files = work / layout
        options = ["--dim", dim, "--layout", layout, "--steps", 2, "--checkpoint-every", 2, "--out", files]
        run(*SEDOV[:2], *SEDOV[4:], *options, ranks=RANKS).succeeded()
        for variables in ([], ["velx"], ["pres", "ener"]):
            output = work / f"{layout}.png"
            options = ["-o", output, *(["--variable", *variables] if variables else [])]
            run("flash", "picture", files / "sedov_hdf5_chk_0000", *options, ranks=2).succeeded()
            pictures.setdefault(tuple(variables), set()).add(output.read_bytes())
    assert all(len(same) == 1 for same in pictures.values())
    assert len(set.union(*pictures.values())) == 3
    refused = run("flash", "picture", files / "sedov_hdf5_chk_0000", "-o", work / "x.png", "--variable", "nope")
    refused.refused("no variable 'nope'; its variables are dens")


def test_short_names_of_variables_are_padded(flash_io_files, work):
    """The file's dataset is 'dens'; names of fewer letters than four have blanks at their end."""
    path = work / "chk"
    shutil.copy(flash_io_files / "flash_io_hdf5_chk_0000", path)
    with h5py.File(path, "a") as file:
        names = file["unknown names"][:]
        old = names[1, 0].decode().strip()
        names[1, 0] = b"vx  "
        del file["unknown names"]
        file["unknown names"] = names
        file.move(old, "vx  ")
    run("flash", "picture", path, "-o", work / "x.png", "--variable", "dens", "vx").succeeded()

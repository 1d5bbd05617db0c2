"""Input that can't be used: one clear message, exit code 2, once and not per rank, and no
run that hangs."""

import json
import os
import shutil
import subprocess

import h5py
import pytest
from stria_program import PROGRAM, environment, needs_laboratory, run

RANKS = 3
# Some input is refused by the parser, or before any communication. Of these, a few run on
# ranks, to see that the message comes once and not per rank. The rest run on one process, in a
# third of the time.
ON_RANKS = {"unknown_option", "nxb_odd", "root_blocks_huge", "plot_variable", "hint_syntax", "base_with_directory",
            "restart_empty", "more_memory_than_there_is", "dir_empty", "mistyped_command", "inspect_missing",
            "verify_missing", "picture_missing", "inspect_directory"}  # fmt: skip


def ranks_for(name):
    return RANKS if name in ON_RANKS else 0


# What only fits other files, and is found before anything is computed.
FORMS = {
    "filter_of_integers": (["--compress=scale_offset"], "takes integers"),
    "filter_beyond_its_rate": (["--compress=zfp_rate:100"], "64 bits"),
    "filter_in_netcdf": (["--compress", "--format", "netcdf"], "no compression"),
    "parts_in_netcdf": (["--hint", "stria_subfiles=2", "--format", "netcdf"], "no parts"),
}

SEDOV_TABLE = {
    "unknown_option": (["--no-such-option"], "--no-such-option"),
    "value_missing": (["--steps"], "--steps"),
    "not_a_number": (["--nxb", "eight"], "eight"),
    "trailing_garbage": (["--nxb", "8x"], "8x"),
    "stray_argument": (["stray"], "stray"),
    "nxb_odd": (["--nxb", 9], "even"),
    "nxb_small": (["--nxb", 2], "8 to 64"),
    "nxb_negative": (["--nxb", -8], "-8"),
    "nxb_huge": (["--nxb", 100000], "100000"),
    "nxb_overflows": (["--nxb", 99999999999999999999], "nxb"),
    "dim_1": (["--dim", 1], "2 or 3"),
    "dim_4": (["--dim", 4], "2 or 3"),
    "levels_reversed": (["--min-level", 4, "--max-level", 2], "levels"),
    "level_0": (["--min-level", 0], "levels"),
    "level_99": (["--max-level", 99], "levels"),
    "root_blocks_0": (["--root-blocks", 0, 1, 1], "root blocks"),
    "root_blocks_huge": (["--root-blocks", 1024, 1024, 1024, "--dim", 3], "blocks"),
    "root_blocks_two": (["--root-blocks", 1, 1], "root-blocks"),
    "cfl_1": (["--cfl", 1], "Courant"),
    "cfl_0": (["--cfl", 0], "Courant"),
    "cfl_nan": (["--cfl", "nan"], "Courant"),
    "gamma_1": (["--gamma", 1], "gamma"),
    "gamma_nan": (["--gamma", "nan"], "gamma"),
    "energy_negative": (["--energy", -1], "energy"),
    "energy_infinite": (["--energy", "inf"], "energy"),
    "steps_negative": (["--steps", -1], "steps"),
    "tend_negative": (["--tend", -0.5], "end time"),
    "tend_nan": (["--tend", "nan"], "end time"),
    "refine_every_0": (["--refine-every", 0], "adapted"),
    "boundary": (["--boundary", "open"], "boundary"),
    "layout": (["--layout", "weird"], "layout"),
    "checkpoint_every_negative": (["--checkpoint-every", -1], "checkpoint-every"),
    "checkpoint_seconds_nan": (["--checkpoint-seconds", "nan"], "checkpoint-seconds"),
    "keep_negative": (["--keep", -1], "keep"),
    "plot_variable": (["--plot-variables", "dens", "dense"], "dense"),
    "plot_variable_twice": (["--plot-variables", "dens", "dens"], "twice"),
    "hint_syntax": (["--hint", "cb_nodes"], "cb_nodes"),
    "hint_without_name": (["--hint", "=4"], "name=value"),
    "base_with_directory": (["--base", "no_such_directory/x"], "no_such_directory"),
    "base_too_long": (["--base", "x" * 201], "200 characters"),
    "restart_empty": (["--restart", ""], "--restart: a name is missing"),
    "out_empty": (["--out", ""], "--out: a name is missing"),
    "json_empty": (["--json", ""], "--json: a name is missing"),
    "plot_variable_empty": (["--plot-variables", ""], "variable ''"),
    "number_in_another_form": (["--steps", "1e3"], "1e3 is not a value"),
    **{name: (["--checkpoint-every", 1, *options], words) for name, (options, words) in FORMS.items()},
}  # fmt: skip

IO_TABLE = {
    "unknown_option": (["--no-such-option"], "--no-such-option"),
    "nxb_1": (["--nxb", 1], "nxb"),
    "nxb_huge": (["--nxb", 257], "nxb"),
    "nvar_0": (["--nvar", 0], "nvar"),
    "blocks_negative": (["--blocks", -1], "blocks"),
    "rounds_0": (["--rounds", 0], "rounds"),
    "layout": (["--layout", "weird"], "layout"),
    "guard_cells_17": (["--guard-cells", 17], "guard-cells"),
    "plot_variables_0": (["--plot-variables", 0], "plot-variables"),
    "plot_variables_too_many": (["--plotfile", "--nvar", 3, "--plot-variables", 4], "--plot-variables 4"),
    "rounds_empty": (["--rounds", ""], "rounds"),
    "dir_empty": (["--dir", ""], "--dir: a name is missing"),
    "read_from_empty": (["--read-from", ""], "--read-from: a name is missing"),
    "more_memory_than_there_is": (["--nxb", 256, "--nvar", 1000, "--blocks", 100000], "blocks"),
    "hint_syntax": (["--hint", "nonsense"], "nonsense"),
    **FORMS,
}

OTHER_TABLE = {
    "unknown_command": (["fly"], "no command 'stria fly'; there are flash, convection, bench, tune, trace, inspect, verify, "),
    "mistyped_command": (["inspct", "x"], "no command 'stria inspct'; did you mean 'stria inspect'? (try"),
    "swapped_letters": (["verfiy", "--json", "x"], "did you mean 'stria verify'?"),
    "mistyped_group": (["flsah", "io"], "did you mean 'stria flash'?"),
    "mistyped_application": (["flash", "pictrue", "x"], "'stria flash pictrue'; did you mean 'stria flash picture'?"),
    "mistyped_trace_command": (["trace", "stat", "x"], "no command 'stria trace stat'; did you mean 'stria trace stats'?"),
    "command_of_a_group": (["picture", "x"], "did you mean 'stria flash picture'?"),
    "command_of_another_group": (["flash", "verify", "x"], "did you mean 'stria verify'?"),
    "mistyped_option": (["flash", "io", "--bloks", 3], "'stria flash io' has no option '--bloks'; did you mean --blocks?"),
    "mistyped_option_with_value": (["flash", "io", "--bloks=3"], "no option '--bloks'; did you mean --blocks?"),
    "mistyped_flag_without_file": (["inspect", "--jsn"], "'stria inspect' has no option '--jsn'; did you mean --json?"),
    "beginning_of_options": (["flash", "io", "--plot"], "did you mean --plot-variables or --plotfile?"),
    "mistyped_option_of_all": (["--versoin"], "'stria' has no option '--versoin'; did you mean --version?"),
    "one_hyphen": (["flash", "io", "-verify"], "'stria flash io' has no option '-verify'; did you mean --verify?"),
    "mistyped_with_one_hyphen": (["verify", "-jsno", "x"], "'stria verify' has no option '-jsno'; did you mean --json?"),
    "option_of_a_choice": (["trace", "export", "x", "-o", "y", "--chorme"], "no option '--chorme'; did you mean --chrome?"),
    "option_before_its_command": (["trace", "--paruqet", "x"], "did you mean 'stria trace stats --parquet'"),
    "option_like_none": (["verify", "--frobnicate", "x"], "has no option '--frobnicate' (try"),
    "no_application": (["flash"], "subcommand"),
    "inspect_nothing": (["inspect"], "file"),
    "join_nothing": (["join"], "file"),
    "join_missing": (["join", "missing.h5"], "missing.h5"),
    "compact_nothing": (["compact"], "file"),
    "compact_missing": (["compact", "missing.h5"], "missing.h5"),
    "drain_nothing": (["drain"], "place"),
    "drain_missing": (["drain", "missing"], "missing"),
    "drain_file": (["drain", "/etc/passwd"], "passwd"),
    "repair_nothing": (["repair"], "file"),
    "repair_missing": (["repair", "missing.h5"], "missing.h5"),
    "repair_empty": (["repair", ""], "a name is missing"),
    "repair_renew_0": (["repair", "--renew", 0, "missing.h5"], "--renew"),
    "repair_renew_many": (["repair", "--renew", 17, "missing.h5"], "--renew"),
    "repair_place_empty": (["repair", "--place", "", "missing.h5"], "--place: a name is missing"),
    "verify_nothing": (["verify"], "file"),
    "inspect_missing": (["inspect", "missing.h5"], "missing.h5"),
    "verify_missing": (["verify", "missing.h5"], "missing.h5"),
    "picture_missing": (["flash", "picture", "missing.h5"], "missing.h5"),
    "inspect_directory": (["inspect", "."], "directory"),
    "inspect_empty": (["inspect", ""], "a name is missing"),
    "verify_empty": (["verify", ""], "a name is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", SEDOV_TABLE)
def test_sedov_options(work, sedov, name):
    options, words = SEDOV_TABLE[name]
    run("flash", "sedov", "--out", work, "--steps", 1, "--plot-every", 1, *options, ranks=ranks_for(name)).refused(words)
    assert not list(work.iterdir())


@pytest.mark.parametrize("name", IO_TABLE)
def test_flash_io_options(work, name):
    options, words = IO_TABLE[name]
    run("flash", "io", "--dir", work, "--rounds", 1, *options, ranks=ranks_for(name)).refused(words)
    assert not list(work.iterdir())


@pytest.mark.parametrize("name", OTHER_TABLE)
def test_commands(name):
    options, words = OTHER_TABLE[name]
    if "flash" in words:
        needs_laboratory()
    run(*options, ranks=ranks_for(name)).refused(words)


def test_a_hint_that_cannot_be_followed_is_warned_about_once(work):
    place = work / "no_such_directory"
    outcome = run(
        "flash", "io", "--nvar", 2, "--blocks", 2, "--rounds", 2, "--layout", "standard", "--dir", work,
        "--hint", f"stria_staging={place}", ranks=RANKS,
    ).succeeded()  # fmt: skip
    assert len(outcome.messages) == 1 and "stria_staging" in outcome.messages[0], str(outcome)


@pytest.mark.parametrize("hint", ["no_such_hint=1", "cb_nodes=many", "cb_buffer_size=-5", "stria_driver=floppy"])
def test_hints_are_warned_about_once(work, hint):
    outcome = run(
        "flash", "io", "--nvar", 2, "--blocks", 2, "--rounds", 1, "--dir", work, "--hint", hint, ranks=RANKS
    ).succeeded()  # fmt: skip
    assert len(outcome.messages) == 1 and "warning" in outcome.messages[0] and hint.split("=")[0] in outcome.messages[0], str(
        outcome
    )


def test_places_that_cant_be_written_are_found_before_the_run(work, sedov):
    file = work / "file"
    file.write_text("")
    long_run = ["flash", "sedov", "--dim", 3, "--max-level", 5, "--steps", 100000]
    run(*long_run, "--out", work, "--json", work / "missing" / "run.json", ranks=RANKS).refused("run.json", "No such file")
    run(*long_run, "--out", work, "--json", work, ranks=RANKS).refused(str(work), "irectory")
    run(*long_run, "--out", file / "below", ranks=RANKS).refused("below", "Not a directory")
    run(*long_run, "--out", file, ranks=RANKS).refused("file", "irectory")
    run("flash", "io", "--rounds", 10000, "--dir", work, "--json", file / "x", ranks=RANKS).refused("Not a directory")
    assert [path.name for path in work.iterdir()] == ["file"]


def not_hdf5(path):
    path.write_text("This is no HDF5 file.\n" * 100)


def empty(path):
    path.write_text("")


def hdf5_signature_only(path):
    path.write_bytes(b"\x89HDF\r\n\x1a\n")


def not_flash(path):
    with h5py.File(path, "w") as file:
        file["temperature"] = [1.0, 2.0]


def a_pipe(path):
    os.mkfifo(path)


NOT_CHECKPOINTS = {
    "a_pipe": (a_pipe, "a pipe, not a file"),
    "not_hdf5": (not_hdf5, "HDF5"),
    "empty": (empty, "HDF5"),
    "signature_only": (hdf5_signature_only, "HDF5"),
    "not_flash": (not_flash, "not a FLASH file"),
}


@pytest.mark.parametrize("name", NOT_CHECKPOINTS)
def test_restart_from_something_else(work, sedov, name):
    make, words = NOT_CHECKPOINTS[name]
    path = work / "something"
    make(path)
    run("flash", "sedov", "--restart", path, "--out", work, "--steps", 1, ranks=RANKS).refused("something", words)
    if name != "not_flash":
        run("inspect", path, ranks=RANKS).refused("something")
    run("verify", path, ranks=RANKS).refused("something")
    run("flash", "picture", path, "-o", work / "x.png", ranks=RANKS).refused("something")


def test_restart_with_another_shape(sedov_2d, sedov_3d, work):
    checkpoint = sedov_2d / "sedov_hdf5_chk_0001"
    restart = ["flash", "sedov", "--out", work, "--steps", 9, "--restart"]
    run(*restart, checkpoint, "--dim", 3, ranks=RANKS).refused("sedov_hdf5_chk_0001", "2-D")
    run(*restart, checkpoint, "--nxb", 16, ranks=RANKS).refused("sedov_hdf5_chk_0001", "8")
    run(*restart, sedov_3d / "sedov_hdf5_chk_0001", "--dim", 2, ranks=RANKS).refused("3-D")
    run(*restart, sedov_2d / "sedov_hdf5_plt_cnt_0001", ranks=RANKS).refused("sedov_hdf5_plt_cnt_0001")
    run(*restart, checkpoint, "--root-blocks", 3, 1, 1, ranks=RANKS).refused("sedov_hdf5_chk_0001")
    run(*restart, checkpoint, "--max-level", 2, ranks=RANKS).refused("sedov_hdf5_chk_0001", "levels", "--max-level 2")
    run(*restart, checkpoint, "--min-level", 4, "--max-level", 5, ranks=RANKS).refused("levels", "--min-level 4")


def test_pictures_show_a_plane_within_the_mesh(sedov_3d, work):
    path = sedov_3d / "sedov_hdf5_plt_cnt_0001"
    said = run("flash", "picture", path, "-o", work / "x.png", "--normal", "x", "--plane", 0.25).succeeded().stdout
    assert "dens and pres in the plane x = 0.25" in said and (work / "x.png").read_bytes().startswith(b"\x89PNG")
    refused = run("flash", "picture", path, "-o", work / "y.png", "--plane", 1.5)
    refused.refused("the plane at 1.5 lies outside the mesh, which reaches from 0 to 1")
    run("flash", "picture", path, "-o", work / "y.png", "--variable", "dens", "nope").refused("no variable 'nope'")
    assert not (work / "y.png").exists()


def test_a_finished_run_says_so(sedov_2d, work):
    """A restart with nothing left to do, and a run that writes nothing."""
    options = ["flash", "sedov", "--out", work, "--restart", sedov_2d / "sedov_hdf5_chk_0001"]
    for more in ([], ["--steps", 2]):
        outcome = run(*options, *more, ranks=RANKS).succeeded()
        assert "--steps or --tend says how much further to go" in outcome.stdout, str(outcome)
        assert "no files were written: --checkpoint-every" in outcome.stdout, str(outcome)


def test_older_checkpoints_are_warned_about(sedov_2d, work):
    shutil.copy(sedov_2d / "sedov_hdf5_chk_0001", work / "sedov_hdf5_chk_0007")
    options = ["flash", "sedov", "--steps", 1, "--checkpoint-every", 1, "--out", work]
    outcome = run(*options, ranks=RANKS).succeeded()
    assert len(outcome.messages) == 1 and "sedov_hdf5_chk_0007' is from an earlier run" in outcome.messages[0], str(outcome)
    outcome = run(*options[:2], "--restart", "latest", *options[2:], ranks=RANKS).succeeded()
    assert not outcome.messages, str(outcome)


def test_latest_of_nothing(work, sedov):
    run("flash", "sedov", "--restart", "latest", "--out", work, ranks=RANKS).refused("no usable checkpoint", str(work))


def test_latest_passes_over_what_is_damaged(sedov_2d, work):
    good = work / "sedov_hdf5_chk_0003"
    shutil.copy(sedov_2d / "sedov_hdf5_chk_0001", good)
    content = good.read_bytes()
    cut, flipped = work / "sedov_hdf5_chk_0005", work / "sedov_hdf5_chk_0004"
    cut.write_bytes(content[: len(content) // 2])
    with h5py.File(good) as file:
        offset = file["pres"].id.get_offset() + 1000
    flipped.write_bytes(content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :])
    (work / "sedov_hdf5_chk_0006").write_bytes(b"")
    (work / "sedov_hdf5_chk_0007").mkdir()
    (work / "sedov_hdf5_chk_notes").write_text("not a number")
    outcome = run("flash", "sedov", "--restart", "latest", "--out", work, "--steps", 5, ranks=RANKS).succeeded()
    for number in (4, 5, 6, 7):
        assert f"passing over {work}/sedov_hdf5_chk_000{number}" in outcome.stdout, str(outcome)
    assert f"restarted from {good}" in outcome.stdout


def test_truncated_checkpoints(sedov_2d, work):
    """A file cut anywhere is refused by restart and verify, and by everything else
    that reads it."""
    content = (sedov_2d / "sedov_hdf5_chk_0001").read_bytes()
    places = sorted({1, 8, 48, 96, 200, 1000, 4096, *(len(content) * i // 12 for i in range(1, 12)), len(content) - 1})
    paths = [work / f"cut_{bytes_left}" for bytes_left in places]
    for bytes_left, path in zip(places, paths, strict=True):
        path.write_bytes(content[:bytes_left])
    outcome = run("verify", "--json", *paths).refused(*map(str, paths))
    assert all("error" in verdict for verdict in json.loads(outcome.stdout)), str(outcome)
    path = work / "cut_hdf5_chk_0001"
    path.write_bytes(content[:-1])
    run("flash", "sedov", "--restart", path, "--out", work, "--steps", 9, ranks=RANKS).refused("cut_hdf5_chk_0001")
    run("inspect", path, ranks=RANKS).refused("cut_hdf5_chk_0001")
    run("verify", path, ranks=RANKS).refused("cut_hdf5_chk_0001")


NOBODY = 65534


@pytest.fixture
def somebody(work, monkeypatch):
    """Gives the number of a user without root's rights; None for the user who runs the tests, if
    that isn't root."""
    if os.geteuid() != 0:
        return None
    work.parent.chmod(0o755)
    looked = subprocess.run([PROGRAM, "--version"], user=NOBODY, capture_output=True, check=False, env=environment(user=NOBODY))
    if looked.returncode != 0:
        pytest.skip("the programs lie where only root can read them")
    os.chown(work, NOBODY, NOBODY)
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(work))
    # The ranks keep what they share elsewhere than root's runs do.
    for parameter in ("btl_vader_backing_directory", "osc_sm_backing_directory"):
        monkeypatch.setenv(f"OMPI_MCA_{parameter}", str(work))
    return NOBODY


def test_no_permission(sedov_2d, work, somebody):
    path = work / "sedov_hdf5_chk_0001"
    shutil.copy(sedov_2d / path.name, path)
    path.chmod(0)
    for command in (["verify", path], ["inspect", path], ["flash", "sedov", "--restart", path, "--out", work]):
        run(*command, ranks=RANKS, user=somebody).refused(path.name, "Permission denied")
    closed = work / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    writing = ["--steps", 1, "--checkpoint-every", 1]
    run("flash", "sedov", *writing, "--out", closed, ranks=RANKS, user=somebody).refused(str(closed), "Permission denied")
    run("flash", "sedov", *writing, "--out", closed / "x", ranks=RANKS, user=somebody).refused("closed/x", "Permission denied")
    run("flash", "io", "--rounds", 1, "--dir", closed, ranks=RANKS, user=somebody).refused(str(closed), "Permission denied")
    run("flash", "io", "--rounds", 1, "--dir", work, "--json", closed / "x.json", ranks=RANKS, user=somebody).refused(
        "x.json", "Permission denied"
    )
    run("flash", "picture", sedov_2d / path.name, "-o", closed / "x.png", ranks=RANKS, user=somebody).refused(
        "x.png", "Permission denied"
    )
    assert not list(closed.iterdir())


def test_names_that_are_not_utf8_are_told(work):
    """The names appear as they are in words, and as valid JSON, where their bytes become U+FFFD."""
    with h5py.File(work / "latin.h5", "w") as file:
        h5py.h5d.create(file.id, b"caf\xe9", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((2,)))
        file.attrs.create("unit", b"\xb5m", dtype="S2")
    words = [PROGRAM, "inspect", work / "latin.h5"]
    told = subprocess.run(words, capture_output=True, check=True, env=environment()).stdout
    assert b"caf\xe9" in told
    told = json.loads(subprocess.run([*words, "--json"], capture_output=True, check=True, env=environment()).stdout)
    assert [one["path"] for one in told["datasets"]] == ["caf\ufffd"]
    assert told["groups"][0]["attributes"][0]["value"] == "\ufffdm"

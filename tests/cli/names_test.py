"""Tests what a name was before a command of stria writes to it: a link, a pipe, a private file, a
name that another user has taken."""

import os
import shutil
import stat
import subprocess
import threading

import h5py
import numpy as np
import pytest
from stria_program import PROGRAM, environment, run

RANKS = [1, 3]
USER, STRANGER = 1000, 1001
FLASH_IO = ["flash", "io", "--nxb", 4, "--nvar", 2, "--blocks", 2, "--rounds", 1, "--layout", "standard", "--keep"]
CHECKPOINT = "flash_io_hdf5_chk_0000"
SEDOV = ["flash", "sedov", "--dim", 2, "--nxb", 8, "--max-level", 2, "--steps", 1, "--checkpoint-every", 1]
SEDOV_CHECKPOINT = "sedov_hdf5_chk_0000"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def make_hdf5(path, mode=0o600):
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(1000.0)
    path.chmod(mode)
    return path


@pytest.fixture
def two_users(work, monkeypatch):
    """Gives a directory of a victim, who has written a thesis; needs root."""
    if os.geteuid() != 0:
        pytest.skip("it takes two users")
    work.parent.chmod(0o755)
    work.chmod(0o755)
    looked = subprocess.run([PROGRAM, "--version"], user=USER, capture_output=True, check=False, env=environment(user=USER))
    if looked.returncode != 0:
        pytest.skip("the programs lie where only root can read them")
    home = work / "home"
    home.mkdir(mode=0o700)
    (home / "thesis").write_text("thesis")
    for path in (home, home / "thesis"):
        os.chown(path, USER, USER)
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(home))
    for parameter in ("btl_vader_backing_directory", "osc_sm_backing_directory"):
        monkeypatch.setenv(f"OMPI_MCA_{parameter}", str(home))
    return home


def shared_directory(work, mode):
    shared = work / "shared"
    shared.mkdir()
    shared.chmod(mode)
    return shared


def plant(kind, name, target):
    """A name for another user's file, made by a stranger."""
    if kind == "hard":
        os.link(target, name)
    else:
        os.symlink(target, name)
        os.chown(name, STRANGER, STRANGER, follow_symlinks=False)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=["open", "sticky"])
@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_planted_temporary_name_harms_nobody(work, two_users, kind, mode, ranks):
    shared = shared_directory(work, mode)
    plant(kind, shared / f".{CHECKPOINT}.partial", two_users / "thesis")
    outcome = run(*FLASH_IO, "--dir", shared, ranks=ranks, user=USER)
    assert (two_users / "thesis").read_text() == "thesis", str(outcome)
    outcome.refused("partial", "link")
    assert names(shared) == [f".{CHECKPOINT}.partial"]


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_planted_temporary_name_harms_nobody_who_copies(work, two_users, kind):
    shared = shared_directory(work, 0o777)
    plant(kind, shared / ".copy.partial", two_users / "thesis")
    source = work / "source"
    source.write_text("other")
    run("cp", source, shared / "copy", user=USER).refused(".copy.partial")
    assert (two_users / "thesis").read_text() == "thesis"


def test_a_planted_link_is_not_followed(work, two_users):
    shared = shared_directory(work, 0o777)
    plant("symbolic", shared / CHECKPOINT, two_users / "thesis")
    run(*FLASH_IO, "--dir", shared, ranks=1, user=USER).refused(CHECKPOINT, "another user's link")
    assert (two_users / "thesis").read_text() == "thesis"


def test_a_left_over_of_ones_own_is_no_obstacle(work, two_users):
    shared = shared_directory(work, 0o777)
    left = shared / f".{CHECKPOINT}.partial"
    left.write_text("left")
    os.chown(left, USER, USER)
    run(*FLASH_IO, "--dir", shared, ranks=1, user=USER).succeeded()
    assert names(shared) == [CHECKPOINT]


@pytest.mark.parametrize("ranks", RANKS)
def test_nobody_gains_by_a_replacement(work, two_users, sedov, ranks):
    """A stranger's file, to which this user may write: the group can't be kept."""
    shared = shared_directory(work, 0o777)
    old = make_hdf5(shared / SEDOV_CHECKPOINT, 0o666)
    os.chown(old, STRANGER, STRANGER)
    old.chmod(0o662)
    run(*SEDOV, "--out", shared, ranks=ranks, user=USER).succeeded()
    assert mode_of(old) == 0o622 and old.stat().st_uid == USER


def test_a_file_that_cannot_be_written_to_stays(work, two_users):
    shared = shared_directory(work, 0o777)
    old = make_hdf5(shared / CHECKPOINT, 0o444)
    os.chown(old, USER, USER)
    before = old.read_bytes()
    run(*FLASH_IO, "--dir", shared, ranks=1, user=USER).refused("can't be written to")
    assert old.read_bytes() == before and names(shared) == [CHECKPOINT]


@pytest.mark.parametrize("ranks", RANKS)
def test_links_and_modes_stay(work, sedov, ranks):
    (work / "scratch").mkdir()
    old = make_hdf5(work / "scratch/real.h5")
    (work / SEDOV_CHECKPOINT).symlink_to("scratch/real.h5")
    run(*SEDOV, "--out", work, ranks=ranks).succeeded()
    assert (work / SEDOV_CHECKPOINT).is_symlink() and mode_of(old) == 0o600
    run("verify", old).succeeded()
    assert names(work / "scratch") == ["real.h5"]


def test_a_benchmark_leaves_a_link(work):
    (work / "scratch").mkdir()
    (work / CHECKPOINT).symlink_to("scratch/real.h5")
    run(*FLASH_IO, "--dir", work, ranks=1).succeeded()
    assert (work / CHECKPOINT).is_symlink() and names(work / "scratch") == ["real.h5"]


def test_compact_keeps_link_and_mode(work):
    (work / "scratch").mkdir()
    make_hdf5(work / "scratch/real.h5")
    link = work / "link.h5"
    link.symlink_to("scratch/real.h5")
    run("compact", link).succeeded()
    assert link.is_symlink() and mode_of(work / "scratch/real.h5") == 0o600
    run("compact", work / "scratch/real.h5", "-o", link).succeeded()
    assert link.is_symlink() and names(work / "scratch") == ["real.h5"]
    with h5py.File(link) as file:
        assert file["x"][-1] == 999


def test_join_through_a_link_removes_the_parts(work, session_directory):
    (work / "scratch").mkdir()
    (work / CHECKPOINT).symlink_to(work / "scratch/real.h5")
    run(*FLASH_IO, "--dir", work, "--hint", "stria_subfiles=2", ranks=3).succeeded()
    assert names(work) == [CHECKPOINT, "scratch"] and len(names(work / "scratch")) == 3
    run("verify", work / CHECKPOINT).succeeded()
    (work / "scratch/real.h5").chmod(0o640)
    run("join", work / CHECKPOINT).succeeded()
    assert (work / CHECKPOINT).is_symlink() and names(work / "scratch") == ["real.h5"]
    assert mode_of(work / "scratch/real.h5") == 0o640


def test_what_was_staged_comes_to_the_links_file(work):
    near = work / "near"
    near.mkdir()
    make_hdf5(work / "whole.h5", 0o644)
    make_hdf5(work / "real.h5")
    (work / "run.h5").symlink_to("real.h5")
    os.utime(work / "real.h5", (1, 1))
    shutil.copy(work / "whole.h5", near / str(work / "run.h5").replace("/", "%2F"))
    run("drain", near).succeeded()
    assert (work / "run.h5").is_symlink() and mode_of(work / "real.h5") == 0o600
    assert (work / "real.h5").read_bytes() == (work / "whole.h5").read_bytes() and names(near) == []


def test_cp_keeps_link_and_mode(work):
    source = work / "source"
    source.write_text("new")
    source.chmod(0o640)
    old = work / "old"
    old.write_text("old")
    old.chmod(0o600)
    (work / "link").symlink_to("old")
    (work / "dangling").symlink_to("to_come")
    run("cp", source, work / "link").succeeded()
    run("cp", source, work / "dangling").succeeded()
    assert (work / "link").is_symlink() and (work / "dangling").is_symlink()
    assert old.read_text() == "new" and mode_of(old) == 0o600
    assert (work / "to_come").read_text() == "new" and mode_of(work / "to_come") == 0o640


@pytest.mark.parametrize("ranks", RANKS)
def test_what_is_no_file_is_refused(work, ranks):
    os.mkfifo(work / CHECKPOINT)
    run(*FLASH_IO, "--dir", work, ranks=ranks).refused("it is a pipe")
    assert (work / CHECKPOINT).is_fifo() and names(work) == [CHECKPOINT]


def test_a_device_is_refused(work):
    device = work / CHECKPOINT
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("no device can be made here")
    run(*FLASH_IO, "--dir", work, ranks=1).refused("it is a device")
    run("cp", PROGRAM, device).refused("neither a file nor a directory")
    assert device.is_char_device()


def test_a_report_goes_into_a_pipe_whole(work):
    """It isn't opened before there is something to write."""
    os.mkfifo(work / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((work / "pipe").read_text()))
    reader.start()
    run(*FLASH_IO, "--dir", work, "--json", work / "pipe", ranks=1).succeeded()
    reader.join(timeout=60)
    assert not reader.is_alive() and read[0].startswith("{") and (work / "pipe").is_fifo()


def test_a_report_follows_a_link_to_a_file_to_come(work):
    (work / "link").symlink_to("to_come")
    run(*FLASH_IO, "--dir", work, "--json", work / "link", ranks=1).succeeded()
    assert (work / "link").is_symlink() and (work / "to_come").read_text().startswith("{")


def test_a_report_goes_to_standard_output(work):
    said = run(*FLASH_IO, "--dir", work, "--json", "/dev/stdout", ranks=0).succeeded().stdout
    assert '"modes"' in said or "{" in said, said

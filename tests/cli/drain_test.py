"""stria drain brings what a killed program has left staged to its own place, and nothing else."""

import fcntl
import os
import shutil

import pytest
from stria_program import run


@pytest.fixture(scope="module")
def whole_file(session_directory):
    run("flash", "io", "--nxb", 4, "--nvar", 2, "--blocks", 2, "--rounds", 1, "--dir", session_directory, "--keep",
        "--layout", "standard").succeeded()  # fmt: skip
    return session_directory / "flash_io_hdf5_chk_0000"


def staged_name(path):
    return str(path).replace("/", "%2F")


@pytest.fixture
def near(work, whole_file):
    """A place with a whole file for work/run.h5, half of another, and what is nobody's."""
    near = work / "near"
    near.mkdir()
    shutil.copy(whole_file, near / staged_name(work / "run.h5"))
    (near / f".{staged_name(work / 'half.h5')}.partial").write_bytes(b"half")
    (near / "notes").write_text("keep")
    return near


def names(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("end", ["", "/"])
def test_whole_files_come_to_their_place_and_the_rest_goes(work, near, whole_file, end):
    own = work / "run.h5"
    assert run("drain", f"{near}{end}").succeeded().stdout == f"brought '{own}'\n"
    assert own.read_bytes() == whole_file.read_bytes()
    assert names(near) == ["notes"] and names(work) == ["near", "run.h5"]
    assert "no file for another place" in run("drain", near).succeeded().stdout


def test_what_a_live_program_works_on_stays(work, near):
    half = near / f".{staged_name(work / 'half.h5')}.partial"
    with half.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run("drain", near).succeeded()
    assert names(near) == [half.name, "notes"]


def test_a_newer_file_at_its_place_counts(work, near):
    own = work / "run.h5"
    own.write_text("newer")
    os.utime(near / staged_name(own), (1, 1))
    run("drain", near).succeeded()
    assert own.read_text() == "newer" and names(near) == ["notes"]


def test_a_file_that_finds_no_room_stays_staged(work, near):
    """The others come all the same."""
    other = work / "other.h5"
    shutil.copy(near / staged_name(work / "run.h5"), near / staged_name(other))
    outcome = run("drain", near, fault="write:path=run.h5:errno=ENOSPC")
    assert outcome.code == 1, str(outcome)
    assert len(outcome.messages) == 1 and "No space left on device" in outcome.messages[0], str(outcome)
    assert f"'{work / 'run.h5'}', which was staged as" in outcome.messages[0], str(outcome)
    assert outcome.stdout == f"brought '{other}'\n", str(outcome)
    assert names(near) == [staged_name(work / "run.h5"), "notes"] and names(work) == ["near", "other.h5"]

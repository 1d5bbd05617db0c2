"""Fixtures for the tests that run the stria command from outside."""

import os
import pathlib
import shutil
import tempfile

import pytest
import stria_program


def memory_directory():
    """Returns the file system in memory, where it has room for the tests' files: containers often
    have 64 MB of it."""
    shared = pathlib.Path("/dev/shm")
    has_room = os.access(shared, os.W_OK) and shutil.disk_usage(shared).free >= 1 << 30
    return str(shared) if has_room else None


@pytest.fixture(scope="session", autouse=True)
def session_directory():
    """Gives a directory, in memory if possible, that outlives single tests. Every run has a place
    of Open MPI's in it (stria_program.environment())."""
    directory = tempfile.mkdtemp(prefix="stria_test_", dir=memory_directory())
    # When ranks are killed, Open MPI leaves what they shared; it is removed with this directory.
    for parameter in ("btl_vader_backing_directory", "osc_sm_backing_directory"):
        os.environ[f"OMPI_MCA_{parameter}"] = directory
    os.environ["STRIA_TEST_DIRECTORY"] = directory
    yield pathlib.Path(directory)
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def work(session_directory):
    """Gives an empty directory for one test."""
    directory = tempfile.mkdtemp(dir=session_directory)
    yield pathlib.Path(directory)
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def sedov():
    """Skips where the program was built without the Sedov application."""
    if not stria_program.has_sedov():
        pytest.skip("built without the Sedov application")


def sedov_run(directory, dim, *more, ranks=3):
    stria_program.run(
        "flash", "sedov", "--dim", dim, "--nxb", 8, "--max-level", 3, "--steps", 4, "--checkpoint-every", 2, "--plot-every", 2,
        "--out", directory, "--json", directory / "run.json", *more, ranks=ranks,
    ).succeeded()  # fmt: skip
    return directory


@pytest.fixture(scope="session")
def sedov_2d(session_directory, sedov):
    """Gives the files of a short 2-D run: checkpoints and plot files 0000 and 0001. Not to be
    changed."""
    directory = session_directory / "sedov_2d"
    directory.mkdir()
    return sedov_run(directory, 2, "--corners")


@pytest.fixture(scope="session")
def sedov_3d(session_directory, sedov):
    """Gives the same in 3-D."""
    directory = session_directory / "sedov_3d"
    directory.mkdir()
    return sedov_run(directory, 3, ranks=2)


@pytest.fixture(scope="session")
def flash_io_files(session_directory):
    """Gives the files of a small FLASH I/O benchmark."""
    directory = session_directory / "flash_io"
    directory.mkdir()
    stria_program.run(
        "flash", "io", "--nxb", 8, "--nvar", 5, "--blocks", 5, "--rounds", 1, "--dir", directory, "--plotfile",
        "--verify", "--keep", "--json", directory / "io.json", ranks=3,
    ).succeeded()  # fmt: skip
    return directory

"""Storage that fails under a running program: one message names file, rank and reason, and every
rank has the same outcome.

Runs the FLASH I/O benchmark, which every build has, over files that an earlier run left: those must
stay as they were.
"""

import hashlib

import pytest
from stria_program import run

RANKS = 3
IO = [
    "flash",
    "io",
    "--nxb",
    8,
    "--nvar",
    4,
    "--blocks",
    6,
    "--rounds",
    1,
    "--layout",
    "standard",
    "--plotfile",
    "--plot-variables",
    2,
]
# Small collective buffers make several rounds of a file of half a megabyte.
TWO_PHASE = ["stria_method=two_phase", "cb_nodes=2", "cb_buffer_size=65536"]
LIST_IO = ["stria_method=list_io"]
URING = ["stria_driver=uring"]
CHECKPOINT = "path=flash_io_hdf5_chk_0000"


def io_options(directory, hints=()):
    return [*IO, "--dir", directory, "--sync", "--keep", *(text for hint in hints for text in ("--hint", hint))]


def contents(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


@pytest.fixture(scope="module")
def earlier_files(session_directory):
    directory = session_directory / "earlier"
    directory.mkdir()
    run(*io_options(directory), ranks=RANKS).succeeded()
    return directory


FAILURES = {
    "full_list_io": (LIST_IO, f"write:rank=1:{CHECKPOINT}:after=30k:errno=ENOSPC", "rank 1", "No space left on device"),
    "full_two_phase": (TWO_PHASE, f"write:{CHECKPOINT}:after=100k:errno=ENOSPC", "rank ", "No space left on device"),
    "quota": (LIST_IO, f"write:rank=2:{CHECKPOINT}:errno=EDQUOT", "rank 2", "Disk quota exceeded"),
    "device_list_io": (LIST_IO, f"write:rank=2:{CHECKPOINT}:errno=EIO", "rank 2", "Input/output error"),
    "device_every_rank": (LIST_IO, f"write:{CHECKPOINT}:errno=EIO:count=all", "rank 0", "Input/output error"),
    "device_first_round": (TWO_PHASE, f"write:rank=0:{CHECKPOINT}:errno=EIO", "rank 0", "Input/output error"),
    "device_later_round": (TWO_PHASE, f"write:rank=0:{CHECKPOINT}:nth=3:errno=EIO", "rank 0", "Input/output error"),
    "device_uring_list_io": ([*LIST_IO, *URING], f"write:rank=1:{CHECKPOINT}:errno=EIO", "rank 1", "Input/output error"),
    "device_uring_two_phase": ([*TWO_PHASE, *URING], f"write:{CHECKPOINT}:nth=2:errno=EIO", "rank ", "Input/output error"),
    "device_system_call": (LIST_IO, f"sys_write:rank=1:{CHECKPOINT}:errno=EIO", "rank 1", "Input/output error"),
    "create": ([], f"open:rank=0:{CHECKPOINT}:errno=EACCES", "rank 0", "Permission denied"),
    "open": (LIST_IO, f"open:rank=2:{CHECKPOINT}:errno=EMFILE", "rank 2", "Too many open files"),
    "size": ([], f"size:rank=0:{CHECKPOINT}:errno=EIO", "rank 0", "Input/output error"),
    "sync": ([], f"sync:rank=0:{CHECKPOINT}:errno=EIO", "rank 0", "Input/output error"),
    "sync_full": ([], f"sys_sync:rank=0:{CHECKPOINT}:errno=ENOSPC", "rank 0", "No space left on device"),
    "close": (LIST_IO, f"close:rank=1:{CHECKPOINT}:errno=EIO", "rank 1", "Input/output error"),
    "rename": ([], f"rename:rank=0:{CHECKPOINT}:errno=EACCES", "rank 0", "Permission denied"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failure_is_said_once_and_costs_nothing_old(earlier_files, name):
    hints, fault, rank, reason = FAILURES[name]
    before = contents(earlier_files)
    run(*io_options(earlier_files, hints), ranks=RANKS, fault=fault).refused("flash_io_hdf5_chk_0000", rank, reason)
    assert contents(earlier_files) == before


def test_the_metadata_can_fail_too(earlier_files):
    """Rank 0 writes the metadata last, with the head of the file."""
    before = contents(earlier_files)
    fault = f"write:rank=0:{CHECKPOINT}:range=0-8:errno=EIO"
    run(*io_options(earlier_files), ranks=RANKS, fault=fault).refused("flash_io_hdf5_chk_0000", "rank 0", "Input/output error")
    assert contents(earlier_files) == before


SURVIVED = {
    "short_writes": "sys_write:short=1000:count=all",
    "short_writes_on_one_rank": "sys_write:rank=1:short=7:count=50",
    "interrupted": "sys_write:errno=EINTR:count=20;sys_open:errno=EINTR:count=3;sys_sync:errno=EINTR:count=2",
    "interrupted_reads": "sys_read:errno=EINTR:count=20;sys_read:short=500:count=all",
    "slow_aggregator": "write:rank=0:delay_ms=30:count=all",
}


@pytest.mark.parametrize("method", ["list_io", "two_phase"])
@pytest.mark.parametrize("name", SURVIVED)
def test_what_posix_allows_is_no_failure(work, name, method):
    hints = TWO_PHASE if method == "two_phase" else LIST_IO
    run(*io_options(work, hints), "--verify", "--read", ranks=RANKS, fault=SURVIVED[name]).succeeded()
    run("verify", *sorted(work.iterdir())).succeeded()


def test_directory_sync_fails_after_the_rename(work):
    """It is too late to withdraw the file: it is whole, and the program says that it may not
    survive a power loss."""
    fault = f"sync_directory:rank=0:{CHECKPOINT}:errno=EIO"
    run(*io_options(work), ranks=RANKS, fault=fault).refused(
        "flash_io_hdf5_chk_0000", "may not survive a power loss", "Input/output error"
    )
    assert [path.name for path in work.iterdir()] == ["flash_io_hdf5_chk_0000"]
    run("verify", work / "flash_io_hdf5_chk_0000").succeeded()


@pytest.mark.parametrize(
    "fault", ["read:rank=1:nth=2:errno=EIO", "read:rank=0:errno=EIO:count=all", "open:rank=2:nth=4:errno=EMFILE"]
)
@pytest.mark.parametrize("method", ["list_io", "two_phase"])
def test_reading_fails_once(work, fault, method):
    hints = TWO_PHASE if method == "two_phase" else LIST_IO
    options = io_options(work, hints)
    run(*options, ranks=RANKS).succeeded()
    outcome = run(*options, "--read", "--verify", ranks=RANKS, fault=fault)
    if outcome.code != 0:  # what rank 2 opens depends on the method
        outcome.refused("rank ")


def test_a_wrong_script_is_said(work):
    run(*io_options(work), ranks=RANKS, fault="write:errno=EWHATEVER").refused("STRIA_FAULT", "EWHATEVER")

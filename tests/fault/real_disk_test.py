"""Disks that are really full, read-only, gone or dying: small file systems mounted for the
purpose (needs root)."""

import contextlib
import fcntl
import os
import struct
import subprocess
import time

import pytest
import stria_program
from stria_program import run

RANKS = 3
SEDOV = ["flash", "sedov", "--dim", 2, "--nxb", 8, "--max-level", 3, "--steps", 6, "--checkpoint-every", 1]
EXT4_IOC_SHUTDOWN = 0x8004587D  # _IOR('X', 125, __u32)
EXT4_GOING_FLAGS_NOLOGFLUSH = 2


@contextlib.contextmanager
def mounted(directory, *arguments):
    directory.mkdir(exist_ok=True)
    result = subprocess.run(["mount", *map(str, arguments), str(directory)], capture_output=True, text=True)
    if result.returncode != 0:
        pytest.skip(f"mount isn't possible here: {result.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", str(directory)], check=True)


def small_tmpfs(directory, size):
    return mounted(directory, "-t", "tmpfs", "-o", f"size={size}", "tmpfs")


@pytest.fixture
def ext4_image(work):
    image = work / "image"
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mkfs.ext4 doesn't work here")
    return image


def checkpoints(directory):
    return sorted(path for path in directory.iterdir() if path.name.startswith("sedov_hdf5_chk_"))


def assert_no_rubbish(directory):
    left = [path.name for path in directory.iterdir() if "partial" in path.name]
    assert not left, left


@pytest.mark.parametrize("ways", [[], ["--async"]], ids=["commit", "commit_async"])
@pytest.mark.parametrize("method", ["list_io", "two_phase"])
def test_full_tmpfs(work, sedov, method, ways):
    """The run ends at the first file that has no room; those before it are whole, and with room
    again a restart goes on."""
    with small_tmpfs(work / "small", "400k") as directory:
        outcome = run(*SEDOV, *ways, "--out", directory, "--hint", f"stria_method={method}", ranks=RANKS)
        files = checkpoints(directory)
        outcome.refused(f"sedov_hdf5_chk_{len(files):04d}' was not written", "rank ", "No space left on device")
        assert files
        assert_no_rubbish(directory)
        run("verify", *files).succeeded()
        files[0].unlink()
        more = ["--steps", len(files) + 1, "--checkpoint-every", 1]
        run("flash", "sedov", "--restart", "latest", "--out", directory, *more, ranks=2).succeeded()
        run("verify", *checkpoints(directory)).succeeded()


NOTHING_IS_RESERVED = "preallocate:path=small/:errno=EOPNOTSUPP:count=all"


@pytest.mark.parametrize("ways, fault", [([], None), (["--async"], None), (["--async"], NOTHING_IS_RESERVED)],
                         ids=["commit", "commit_async", "no_reserving"])  # fmt: skip
def test_full_staging_place(work, sedov, ways, fault):
    """Files that don't fit where they are to be staged go straight to their own place."""
    with small_tmpfs(work / "small", "64k") as near:
        out = work / "out"
        run(*SEDOV, *ways, "--out", out, "--hint", f"stria_staging={near}", ranks=RANKS, fault=fault).succeeded()
        assert len(checkpoints(out)) > 5 and not list(near.iterdir())
        run("verify", *checkpoints(out)).succeeded()


@pytest.mark.parametrize("ways", [[], ["--async"]], ids=["commit", "commit_async"])
def test_restart_from_the_first_place_when_the_second_is_full(work, sedov, ways):
    near = work / "near"
    near.mkdir()
    staging = ["--hint", f"stria_staging={near}"]
    with small_tmpfs(work / "small", "400k") as directory:
        run(*SEDOV, *ways, "--out", directory, *staging, ranks=RANKS).refused("No space left on device", str(near))
        last = len(checkpoints(directory))
        (staged,) = near.iterdir()
        assert staged.name.endswith(f"sedov_hdf5_chk_{last:04d}")
        outcome = run("flash", "sedov", "--restart", "latest", "--out", directory, *staging, ranks=2).succeeded()
        assert f"restarted from {directory}/sedov_hdf5_chk_{last:04d}, step {last + 1}" in outcome.stdout, str(outcome)
        assert "No space left on device" in outcome.stderr and staged.name in outcome.stderr, str(outcome)
        assert list(near.iterdir()) == [staged]


def test_missing_staging_place(work, sedov):
    """The run goes on without it, and says so."""
    out = work / "out"
    outcome = run(*SEDOV, "--out", out, "--hint", f"stria_staging={work / 'absent'}", ranks=RANKS).succeeded()
    assert len(checkpoints(out)) > 5
    for words in (f"'{work / 'absent'}' can't be used", "No such file or directory"):
        assert words in outcome.stderr, str(outcome)


def test_full_from_the_first_byte(work):
    with small_tmpfs(work / "small", "64k") as directory:
        (directory / "filler").write_bytes(b"x" * (60 << 10))
        run(
            "flash", "io", "--nxb", 8, "--nvar", 4, "--blocks", 5, "--rounds", 1, "--dir", directory, ranks=RANKS
        ).refused("flash_io_hdf5_chk_0000", "No space left on device")  # fmt: skip
        assert [path.name for path in directory.iterdir()] == ["filler"]


def test_full_ext4(work, sedov, ext4_image):
    with mounted(work / "disk", "-o", "loop", ext4_image) as directory:
        free_bytes = os.statvfs(directory).f_bavail * os.statvfs(directory).f_frsize
        (directory / "filler").write_bytes(b"x" * (free_bytes - 500_000))
        outcome = run(*SEDOV, "--out", directory, ranks=RANKS).refused("rank ", "No space left on device")
        files = checkpoints(directory)
        assert 1 <= len(files) <= 4, str(outcome)
        assert_no_rubbish(directory)
        run("verify", *files).succeeded()


def test_the_disk_dies(work, sedov, ext4_image):
    """Every operation on it fails from one moment on; what was committed before is there
    after a remount."""
    with mounted(work / "disk", "-o", "loop", ext4_image) as directory:
        process = stria_program.start(
            [*SEDOV, "--steps", 500, "--keep", 4, "--out", directory], RANKS,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        committed = [line for line, _ in zip(process.stdout, range(6), strict=False) if "wrote" in line]
        descriptor = os.open(directory, os.O_RDONLY)
        fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", EXT4_GOING_FLAGS_NOLOGFLUSH))
        os.close(descriptor)
        begin = time.monotonic()
        try:
            stdout, stderr = process.communicate(timeout=stria_program.HANG_SECONDS)
        finally:
            stria_program.kill_all(process)
        outcome = stria_program.Outcome(process.args, process.returncode, stdout, stderr, time.monotonic() - begin)
        outcome.refused("sedov_hdf5_chk_", "rank ", "Input/output error")
    assert committed
    with mounted(work / "disk", "-o", "loop", ext4_image) as directory:
        files = checkpoints(directory)
        assert files
        run("verify", *files).succeeded()
        run(
            "flash", "sedov", "--restart", "latest", "--out", directory, "--steps", 12, "--checkpoint-every", 1, ranks=2
        ).succeeded()
        assert_no_rubbish(directory)


def test_read_only_file_system(work, sedov):
    plain = work / "plain"
    run(*SEDOV, "--steps", 1, "--out", plain, ranks=RANKS).succeeded()
    with mounted(plain, "--bind", plain):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(plain)], check=True)
        run(*SEDOV, "--out", plain, ranks=RANKS).refused(f"no files can be written in '{plain}'", "Read-only file system")
        run("verify", plain / "sedov_hdf5_chk_0000").succeeded()
        run("flash", "sedov", "--restart", "latest", "--out", plain, "--steps", 3, ranks=2).succeeded()


def test_leftovers_are_cleared_and_explained(work, sedov):
    (work / ".sedov_hdf5_chk_0007.partial").write_bytes(b"half")
    (work / ".other_hdf5_chk_0007.partial").write_bytes(b"somebody else's")
    outcome = run(*SEDOV, "--steps", 1, "--out", work, ranks=RANKS).succeeded()
    assert "removed" in outcome.stdout and "sedov_hdf5_chk_0007.partial" in outcome.stdout, str(outcome)
    assert not (work / ".sedov_hdf5_chk_0007.partial").exists()
    assert (work / ".other_hdf5_chk_0007.partial").exists()


def test_what_another_program_writes_is_left_alone(work, sedov):
    partial = work / ".sedov_hdf5_chk_0000.partial"
    with open(partial, "wb") as file:
        file.write(b"in the making")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        run(*SEDOV, "--steps", 1, "--out", work, ranks=RANKS).refused(".sedov_hdf5_chk_0000.partial")
        assert partial.read_bytes() == b"in the making"


@pytest.mark.parametrize("directory", ["missing", "a_file"])
def test_directory_that_is_none(work, directory):
    (work / "a_file").write_text("")
    run("flash", "io", "--rounds", 1, "--dir", work / directory, ranks=RANKS).refused(str(work / directory), "irectory")

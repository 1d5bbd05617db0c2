"""A store mounted as a directory. A test is left out, with the reason, where this machine or this
build can't mount."""

import contextlib
import os
import shutil
import subprocess

import pytest
import stria_program
from store_processes import Store
from stria_program import environment


def skip_without_fuse():
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("fusermount3") is None:
        pytest.skip("no /dev/fuse, or no fusermount3: nothing can be mounted here")


def unmount(directory):
    subprocess.run(["fusermount3", "-u", "-z", str(directory)], check=False, capture_output=True)


@contextlib.contextmanager
def mounted(url, directory, *options):
    """Gives the directory, with the store's there below it."""
    skip_without_fuse()
    directory.mkdir(exist_ok=True)
    done = subprocess.run(
        [stria_program.PROGRAM, "mount", *options, url, str(directory)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "this build can't mount" in done.stderr:
        pytest.skip("this build has no libfuse3")
    assert done.returncode == 0, done.stderr
    try:
        yield directory
    finally:
        unmount(directory)


@contextlib.contextmanager
def store_to_mount(directory, count, **options):
    """Starts so many servers, whose store can be mounted. A test is left out where nothing can
    be."""
    skip_without_fuse()
    directory.mkdir(exist_ok=True)
    with contextlib.closing(Store(directory, count, **options)) as servers:
        yield servers

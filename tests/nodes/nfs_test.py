"""The library and the drop-in on two nodes of nfs.sh, with real NFS between them. This runs inside
one of the nodes.

Run by scripts/check_nodes.sh where STRIA_NODES=nfs."""

import os
import pathlib
import signal
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODES = ROOT / "tests/nodes/nfs.sh"
BUILD = ROOT / "build/release"
SHARE = "/mnt/share"
LIMIT_SECONDS = 400


@pytest.fixture(scope="module", autouse=True)
def nodes():
    subprocess.run([NODES, "up", "2"], stdin=subprocess.DEVNULL, timeout=200, check=True)
    yield
    subprocess.run([NODES, "down"], stdin=subprocess.DEVNULL, timeout=60, check=True)


def run(*command, **environment):
    """The ranks' output goes to a file, because a rank left on a node that hangs would keep a pipe
    open for ever."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    line = [NODES, "run", "-n", "4", "env", *settings, *map(str, command)]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=ROOT, start_new_session=True
        )
        try:
            code = process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = f"none after {LIMIT_SECONDS} s"
        said.seek(0)
        output = said.read()
    assert code == 0, f"exit {code}\n{output}"
    return output


@pytest.mark.parametrize("method", ["automatic", "two_phase", "list_io"])
def test_library(method):
    """What is read just after a commit on another node is what was written, over files of
    the same names."""
    output = run(BUILD / "bin/stria", "flash", "io", "--dir", SHARE, "--rounds", 2, "--blocks", 2, "--plotfile", "--read",
                 "--verify", "--hint", f"stria_method={method}")  # fmt: skip
    assert "every value of every file was checked" in output, output


def drop_in(program, *arguments):
    """Each access waits for the server a few times, so cases that take seconds elsewhere take
    a minute here."""
    output = run(BUILD / "bin" / program, "--dir", SHARE, "--seconds", 300, *arguments, MPIIO_TEST_LIBRARY="stria",
                 LD_PRELOAD=BUILD / "lib/libstria_mpiio.so")  # fmt: skip
    assert ", 0 failed," in output, output


@pytest.mark.parametrize("seed", [1, 20, 80])
def test_views(seed):
    drop_in("mpiio_views", "--seed", seed, "--count", 3)


@pytest.mark.parametrize("program", ["mpiio_pointers", "mpiio_files", "mpiio_small"])
def test_drop_in(program):
    drop_in(program)

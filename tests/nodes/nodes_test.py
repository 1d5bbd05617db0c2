"""The library, the drop-in and the FLASH programs on the nodes of cluster.sh, which are really
apart. This runs inside one of the nodes.

Run by scripts/check_nodes.sh. STRIA_NODES_LONG=1 adds what takes minutes: a link that is cut for a
while, a node that crashes, links of a limited rate. STRIA_NODES=ceph runs what needs only a file
system on CephFS, with more patience.
"""

import itertools
import os
import pathlib
import re
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "tests/nodes/cluster.sh"
MPI = os.environ.get("STRIA_MPI", "openmpi")
BUILD = ROOT / "build" / os.environ.get("STRIA_NODES_PRESET", "release" if MPI == "openmpi" else "release-mpich")
LONG = os.environ.get("STRIA_NODES_LONG") == "1"
SHARE = "/mnt/share"
SLOW = "100mbit"  # a directory itself, and links of that rate
KINDS = ["ceph"] if os.environ.get("STRIA_NODES") == "ceph" else ["local", "cache", *([SLOW] if LONG else [])]
LIMIT_SECONDS = 400 if "ceph" in KINDS else 120
# Ranks, and the nodes that they are dealt to.
FOUR_BY_TWO = ["-n", "8"]
TWO_BY_THREE = ["-n", "6", "--nodes", "2"]
long_only = pytest.mark.skipif(not LONG, reason="takes minutes: make check-long")


def cluster(*arguments):
    outcome = subprocess.run([CLUSTER, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if outcome.returncode == 77:
        pytest.skip(outcome.stdout.strip().removeprefix("skipped: "))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.fixture(params=KINDS, scope="module")
def nodes(request):
    """Four nodes; the kind of their shared directory, or the rate of their links."""
    if os.environ.get("STRIA_CLUSTER") is None:
        pytest.skip("run by scripts/check_nodes.sh")
    try:
        cluster("up", 4, *(["--rate", SLOW] if request.param == SLOW else ["--fs", request.param]))
        yield request.param
    finally:
        cluster("down")


@pytest.fixture()
def local(nodes):
    if nodes != "local":
        pytest.skip("it asks nothing of the file system")


@pytest.fixture()
def unlimited(nodes):
    if nodes == SLOW:
        pytest.skip("it asks nothing of the links' rate")


@pytest.fixture()
def coherent(nodes):
    if nodes == "cache":
        pytest.skip("its bytes need a coherent file system")


def start(places, *command, **environment):
    settings = [f"{name}={value}" for name, value in environment.items()]
    line = [CLUSTER, "run", MPI, *places, *(["env", *settings] if settings else []), *map(str, command)]
    return subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )


def finish(process, seconds=LIMIT_SECONDS):
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise AssertionError(f"no end after {seconds} s\n{output}") from None
    return process.returncode, output


def run(places, *command, **environment):
    code, output = finish(start(places, *command, **environment))
    assert code == 0, f"exit {code}\n{output}"
    return output


def drop_in(places, program, *arguments, more="", **environment):
    preload = f"{BUILD}/lib/libstria_mpiio.so{more}"
    return run(places, BUILD / "bin" / program, "--dir", SHARE, "--seconds", LIMIT_SECONDS // 2, *arguments,
               LD_PRELOAD=preload, MPIIO_TEST_LIBRARY="stria", **environment)  # fmt: skip


def stria(places, *arguments, **environment):
    return run(places, BUILD / "bin/stria", *arguments, **environment)


@pytest.mark.parametrize("places", [FOUR_BY_TWO, TWO_BY_THREE], ids=["4x2", "2x3"])
def test_library(nodes, places):
    """Every value of checkpoints and plot files, written and read at once on all nodes, over files
    of the same names."""
    for method in ["automatic", "two_phase"]:
        output = stria(places, "flash", "io", "--dir", SHARE, "--rounds", 1, "--blocks", 3, "--plotfile", "--read", "--verify",
                       "--hint", f"stria_method={method}")  # fmt: skip
        assert "every value of every file was checked" in output, output


def test_communicator(local):
    run(FOUR_BY_TWO, BUILD / "bin/mpi_comm_test")


def test_restart_on_other_nodes(nodes):
    """6 ranks on 2 nodes go on with what 8 ranks on 4 nodes left, and the file's sums are right."""
    out = f"{SHARE}/restart"
    common = ["flash", "sedov", "--dim", 2, "--max-level", 3, "--out", out]
    stria(FOUR_BY_TWO, *common, "--steps", 3, "--checkpoint-every", 3)
    stria(TWO_BY_THREE, *common, "--steps", 5, "--checkpoint-every", 2, "--restart", "latest")
    for name in cluster("on", "n3", "ls", out).split():
        cluster("on", "n3", BUILD / "bin/stria", "verify", f"{out}/{name}")


@pytest.mark.parametrize("program", ["mpiio_views", "mpiio_pointers", "mpiio_corners", "mpiio_files"])
def test_drop_in(coherent, program):
    """Open MPI has Debian's settings, which allow no window of MPI over TCP."""
    few = ["--count", 4] if program == "mpiio_views" else []
    assert ", 0 failed," in drop_in(TWO_BY_THREE, program, *few)


@pytest.mark.parametrize("seed", [1, 20])
def test_drop_in_on_caching_nodes(nodes, unlimited, seed):
    """A rank reads after a sync what a rank of another node has written, although its page cache
    knows nothing of it."""
    if nodes == "ceph" and seed == 20:
        pytest.skip("its thousands of pieces of a few bytes wait for the stores one by one: minutes")
    assert ", 0 failed," in drop_in(TWO_BY_THREE, "mpiio_views", "--seed", seed, "--count", 5)


def test_small_accesses_that_are_gathered(coherent, unlimited):
    """Ranks of a node share what they fetch ahead, and every order of ranks shows what was
    written on the other node."""
    assert ", 0 failed," in drop_in(TWO_BY_THREE, "mpiio_small", "--prefix", "nfs:")


def test_small_accesses_on_caching_nodes(nodes, unlimited):
    """What is gathered on one node is read on the other after a sync, in spite of its cache."""
    hints = {"STRIA_HINTS": "stria_cache_bytes=8388608"}
    assert ", 0 failed," in drop_in(TWO_BY_THREE, "mpiio_views", "--seed", 1, "--count", 5, **hints)


def test_drop_in_on_four_nodes(coherent):
    assert ", 0 failed," in drop_in(FOUR_BY_TWO, "mpiio_views", "--count", 3)
    assert ", 0 failed," in drop_in(FOUR_BY_TWO, "mpiio_pointers")


def test_failures(local):
    """Storage that fails on some ranks: the same outcome everywhere, and no rank hangs."""
    assert ", 0 failed," in drop_in(["-n", "4", "--nodes", "2"], "mpiio_failures", more=f":{BUILD}/lib/libmpiio_fail_io.so")


@pytest.mark.parametrize(
    ("fault", "told", "ways"),
    [
        ("write:rank=4:errno=EIO", "rank 4", []),
        ("write:rank=4:errno=EIO", "rank 4", ["--async"]),
        ("sync:rank=3:errno=EIO", "rank 3", ["--async"]),
        ("write:rank=4:kill", "", ["--async"]),
    ],
)
def test_library_on_failing_storage(unlimited, fault, told, ways):
    """A rank of another node can't write, its first rank can't sync, or one is killed: every rank
    hears of it, and the old file remains."""
    out = f"{SHARE}/fail"
    cluster("on", "n1", "mkdir", "-p", out)
    common = ["flash", "sedov", "--dim", 3, "--max-level", 3, "--out", out, "--checkpoint-every", 1,
              "--hint", "stria_method=list_io"]  # fmt: skip
    stria(TWO_BY_THREE, *common, "--steps", 1)
    before = cluster("on", "n1", "md5sum", f"{out}/sedov_hdf5_chk_0000")
    code, output = finish(start(TWO_BY_THREE, BUILD / "bin/stria", *common, *ways, "--steps", 3, STRIA_FAULT=fault))
    assert code != 0 and told in output, output
    assert cluster("on", "n1", "md5sum", f"{out}/sedov_hdf5_chk_0000") == before


def test_commits_in_the_background(nodes):
    """Nodes that share no memory write and end files together while the program computes."""
    for method in ["automatic", "two_phase"]:
        out = f"{SHARE}/async_{method}"
        stria(FOUR_BY_TWO, "flash", "sedov", "--dim", 2, "--max-level", 3, "--out", out, "--steps", 5, "--checkpoint-every", 1,
              "--async", "--hint", f"stria_method={method}")  # fmt: skip
        names = cluster("on", "n2", "ls", out).split()
        assert len(names) > 4 and not any("partial" in name for name in names), names
        for name in names:
            cluster("on", "n2", BUILD / "bin/stria", "verify", f"{out}/{name}")


@pytest.mark.parametrize("kind", ["library", "mpiio"])
def test_cut_link(local, kind):
    """A link that stays cut: each side reports for which ranks it waits, and every rank of both
    ends at the deadline."""
    more = {"LD_PRELOAD": f"{BUILD}/lib/libstria_mpiio.so"} if kind == "mpiio" else {}
    process = start(["-n", "6", "--nodes", "3"], BUILD / "bin/waits_program", kind, f"{SHARE}/waits", 60,
                    STRIA_WAIT_WARNING_S=2, STRIA_WAIT_DEADLINE_S=5, **more)  # fmt: skip
    try:
        before = list(itertools.takewhile(lambda line: "every rank calls" not in line, process.stdout))
        time.sleep(1)
        cluster("cut", "n3")
        end = time.monotonic() + 400
        while any("waits_program" in cluster("on", node, "ps", "-A", "-o", "comm=") for node in ["n1", "n2", "n3"]):
            assert time.monotonic() < end, "ranks live on"
            time.sleep(0.5)
        process.kill()  # mpiexec may wait for its daemon on the node that it can't reach
        output = "".join(before) + process.stdout.read()
        assert " for ranks 4-5 on n3, which " in output and "rank 0 ends the job" in output, output
    finally:
        cluster("heal", "n3")


@long_only
def test_cut_link_in_the_background(local):
    """A link is cut without a word while the nodes write: every rank of both sides hears within
    half a minute after its node's last word that the commit has failed, and the old file stays."""
    write_seconds, silence_seconds, slack_seconds = 3, 30, 80
    path = f"{SHARE}/silent.h5"
    cluster("on", "n1", "sh", "-c", f"echo old > {path}")
    process = start(["-n", "6", "--nodes", "3"], BUILD / "bin/waits_program", "background", path, write_seconds)
    try:
        before = list(itertools.takewhile(lambda line: "every rank calls" not in line, process.stdout))
        cluster("cut", "n3")
        end = time.monotonic() + 2 * silence_seconds + slack_seconds
        told = []
        while len(told) < 6:
            assert time.monotonic() < end, ("ranks wait on", before, told)
            time.sleep(0.5)
            told = cluster("on", "n1", "sh", "-c", f"cat {path}.* 2>&-; true").splitlines()
    finally:
        process.kill()  # mpiexec may wait for its daemon on the node that it can't reach
        process.communicate()
        cluster("heal", "n3")
    for rank, line in enumerate(told):
        seconds, outcome = line.split(maxsplit=1)
        assert float(seconds) < write_seconds + silence_seconds + slack_seconds, told
        if rank < 4:
            assert "was not written: rank 4: its node can't be reached any more" in outcome, told
        else:
            assert "rank 0 is gone, and may have given the file its name or not" in outcome, told
    assert cluster("on", "n1", "cat", path) == "old\n"
    assert "partial" not in cluster("on", "n1", "ls", "-a", SHARE)


@long_only
def test_cut_link_that_heals(unlimited):
    """A link that is down for some seconds costs these seconds, no more."""
    process = start(FOUR_BY_TWO, BUILD / "bin/stria", "flash", "io", "--dir", SHARE, "--rounds", 6, "--blocks", 20, "--verify")
    for _ in range(2):
        time.sleep(2)
        cluster("cut", "n3")
        time.sleep(3)
        cluster("heal", "n3")
    code, output = finish(process)
    assert code == 0 and "every value of every file was checked" in output, output


@long_only
def test_crashed_node_leaves_whole_files(unlimited):
    """Last of all: the node does not come back."""
    out = f"{SHARE}/crash"
    process = start(FOUR_BY_TWO, BUILD / "bin/stria", "flash", "sedov", "--dim", 2, "--max-level", 4, "--out", out, "--steps",
                    1000, "--checkpoint-every", 1)  # fmt: skip
    time.sleep(6)
    cluster("crash", "n4")
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()  # mpiexec has not noticed; the ranks end with the cluster
        process.communicate()
    whole = [name for name in cluster("on", "n1", "ls", out).split() if re.fullmatch(r"sedov_hdf5_chk_\d+", name)]
    assert whole
    for name in whole:
        cluster("on", "n1", BUILD / "bin/stria", "verify", f"{out}/{name}")

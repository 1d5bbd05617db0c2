"""A store whose servers are on nodes that are apart: each keeps its part in its node's own
directory, and only the network joins them. The FLASH programs and the drop-in run on it, links fail
in the middle, a node dies.

Run by scripts/check_nodes.sh, beside nodes_test.py. STRIA_NODES_LONG=1 adds what takes longer.
"""

import json
import os
import subprocess
import time

import pytest
from nodes_test import BUILD, CLUSTER, FOUR_BY_TWO, LONG, ROOT, SHARE, TWO_BY_THREE, cluster, finish, long_only, run, start
from waiting import wait_until

STRIA = BUILD / "bin/stria"
NODES = ["n1", "n2", "n3", "n4"]
ADDRESSES = [f"10.77.0.{number}:7700" for number in range(1, 5)]
URL = f"stria://{ADDRESSES[0]}"
KEY = f"{SHARE}/cluster.key"
DROP_IN = {"LD_PRELOAD": f"{BUILD}/lib/libstria_mpiio.so"}
OWN = "/tmp/store"  # a node's /tmp is its own
ALONE = ["-n", "1", "--nodes", "1"]
PATIENCE_S = 3
LIMIT_S = 200  # ten times what several calls take, the first of which is patient
ROUNDS = 2  # the rounds of a bench that is told to run one: another comes before
# What each rank's exit is, also when mpiexec ends the others after the first failure.
EACH_RANK = ["sh", "-c", '"$@"; echo "rank $OMPI_COMM_WORLD_RANK ended with $?."', "sh"]
ALL_RIGHT = "every value of every file was checked"


servers = []


def serve(index):
    """Starts the server of a node; the first is the manager."""
    join = ["--join", ADDRESSES[0]] if index > 0 else []
    line = [CLUSTER, "on", NODES[index], STRIA, "serve", "--dir", OWN, "--listen", ADDRESSES[index], "--key", KEY, *join]
    process = subprocess.Popen(
        list(map(str, line)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )
    servers.append(process)
    assert ADDRESSES[index] in process.stdout.readline()


@pytest.fixture(params=["unlimited", "100mbit"] if LONG else ["unlimited"], scope="module")
def rate(request):
    """Four nodes with a server each; the rate of their links."""
    if os.environ.get("STRIA_CLUSTER") is None:
        pytest.skip("run by scripts/check_nodes.sh")
    try:
        cluster("up", 4, *([] if request.param == "unlimited" else ["--rate", request.param]))
        cluster("on", "n1", "sh", "-c", f"umask 077; head -c 32 /dev/urandom > {KEY}")
        for index in range(len(NODES)):
            serve(index)
        yield request.param
    finally:
        cluster("down")
        while servers:
            process = servers.pop()
            process.kill()
            process.communicate()


@pytest.fixture()
def fast(rate):
    if rate != "unlimited":
        pytest.skip("it asks nothing of the links' rate")


def client(program, *arguments, **environment):
    """Returns a program's words with what a client of the store needs."""
    settings = [f"{name}={value}" for name, value in {"STRIA_KEY_FILE": KEY, **environment}.items()]
    return ["env", *settings, program, *arguments]


def tool(*arguments):
    """Returns what the stria command says on a node that runs no rank."""
    return cluster("on", "n4", *client(STRIA, *arguments))


def flash_io(directory, *more, **environment):
    return client(STRIA, "flash", "io", "--dir", f"{URL}/{directory}", "--verify", *more, **environment)


def figures():
    """Returns each server's figures by name."""
    return [server["figures"] for server in json.loads(tool("status", "--json", URL))]


def grown(before, name):
    return [now[name] - then[name] for now, then in zip(figures(), before, strict=True)]


def test_flash_checkpoint_with_restart(rate):
    """Written on eight ranks of four nodes, read on six of two; each node has its part."""
    assert ALL_RIGHT in run(FOUR_BY_TWO, *flash_io("whole", "--rounds", 1, "--blocks", 4, "--keep"))
    url = f"{URL}/whole/{tool('ls', f'{URL}/whole').split()[0]}"
    described = json.loads(tool("stat", "--json", url))
    assert sorted(server["address"] for server in described["servers"]) == ADDRESSES
    parts = [int(cluster("on", node, "du", "-sB1", "--apparent-size", f"{OWN}/data").split()[0]) for node in NODES]
    assert sum(parts) >= described["bytes"] and min(parts) >= described["bytes"] // 8, parts
    run(TWO_BY_THREE, *client(STRIA, "flash", "io", "--read-from", url, "--verify", "--rounds", 1))


@pytest.mark.parametrize("method", ["list_io", pytest.param("datatype_io", marks=long_only)])
def test_drop_in(rate, method):
    """A plane of tiles, one call of MPI-IO a rank, whose rows lie on all servers. The bytes are
    right. In a round each server has one request of each rank, and no byte travels twice."""
    before = figures()
    result = f"{SHARE}/bench.json"
    run(FOUR_BY_TWO, *client(
        STRIA, "bench", "tile", "--width", 512, "--height", 128, "--element-bytes", 32, "--through", "mpiio",
        "--independent", "--dir", URL, "--rounds", 1, "--read", "--verify", "--json", result,
        "--hint", f"stria_method={method}", **DROP_IN))  # fmt: skip
    document = json.loads(cluster("on", "n1", "cat", result))
    useful = document["useful_bytes"]
    assert document["verified"] is True
    assert sum(grown(before, "written_bytes_total")) == ROUNDS * useful
    assert grown(before, 'requests_total{kind="write"}') == [8 * ROUNDS] * len(NODES)
    read = document["read"]["traffic"]
    assert useful <= read["bytes_received"] < 1.01 * useful
    assert 8 * len(NODES) <= read["requests"] <= 2 * 8 * len(NODES), "with those to the manager"


def test_small_accesses_are_seen_by_other_nodes(fast):
    """Each rank gathers small accesses; whatever call of MPI orders the ranks, others see them."""
    program = BUILD / "bin/mpiio_small"
    if not program.exists():
        pytest.skip("this build has no tests of MPI-IO")
    run(TWO_BY_THREE, *client(program, "--prefix", URL, "--dir", "/small", **DROP_IN))


@long_only
def test_drop_in_with_parallel_hdf5(fast):
    program = BUILD / "bin/mpiio_hdf5_program"
    if not program.exists():
        pytest.skip("this build has no parallel HDF5 program")
    for action in ("write", "read"):
        run(TWO_BY_THREE, *client(program, action, f"{URL}/program.h5", **DROP_IN))


@long_only
def test_sedov_goes_on_on_other_nodes(fast):
    common = client(STRIA, "flash", "sedov", "--dim", 2, "--max-level", 3, "--out", f"{URL}/sedov")
    run(FOUR_BY_TWO, *common, "--steps", 3, "--checkpoint-every", 3)
    run(TWO_BY_THREE, *common, "--steps", 5, "--checkpoint-every", 2, "--restart", "latest")
    for name in tool("ls", f"{URL}/sedov").split():
        tool("verify", f"{URL}/sedov/{name}")


def server_of(url):
    """Returns the address of the one server that has the file."""
    (server,) = json.loads(tool("stat", "--json", url))["servers"]
    return server["address"]


def test_a_checkpoint_outlives_a_server(fast):
    """Two parts, their parity and the file that names them have a node each, the parts that of
    their ranks. The restart is on two nodes, without the server of a part; then this is put on one
    of the others."""
    patience = {"STRIA_SERVER_TIMEOUT": PATIENCE_S}
    hints = [word for hint in ("stria_subfiles=2", "stria_parity=1", "start_iodevice=1") for word in ("--hint", hint)]
    assert ALL_RIGHT in run(FOUR_BY_TWO, *flash_io("safe", "--rounds", 1, "--blocks", 4, "--keep", *hints))
    url = f"{URL}/safe/{tool('ls', f'{URL}/safe').split()[0]}"
    part = f"{url}.part-1-1"
    urls = [f"{url}.part-1-0", url, part, f"{url}.parity-1-0"]
    assert [server_of(each) for each in urls] == ADDRESSES
    cluster("on", "n3", "pkill", "-KILL", "-x", "stria")
    read = client(STRIA, "flash", "io", "--read-from", url, "--verify", "--rounds", 1, **patience)
    run(TWO_BY_THREE, *read)
    told = cluster("on", "n4", *client(STRIA, "repair", url, **patience))
    assert f"{part}' is out of reach" in told and ADDRESSES[2] in told, told
    assert server_of(part) != ADDRESSES[2]
    run(TWO_BY_THREE, *read)
    serve(2)


def begin(directory, **environment):
    """Six ranks of n1 and n2 write until they are done, or can't go on; returns once the server of
    n4 has bytes of theirs."""
    before = figures()
    process = start(TWO_BY_THREE, *EACH_RANK, *flash_io(directory, "--rounds", 4, "--blocks", 40, **environment))
    deadline = time.monotonic() + 600
    while grown(before, "written_bytes_total")[3] == 0:
        assert process.poll() is None and time.monotonic() < deadline, finish(process)[1]
        time.sleep(0.05)
    return process


def check_every_rank_failed(process, since):
    """Every rank ends by itself and in time, and one says why."""
    code, output = finish(process)
    assert time.monotonic() - since < LIMIT_S, output
    assert code == 0 and sum(f"rank {rank} ended with 2." in output for rank in range(6)) == 6, output
    assert ADDRESSES[3] in output and "doesn't answer" in output, output


@long_only
def test_a_link_that_is_cut_for_a_while(fast):
    """The program stands still for these seconds, and every value is right."""
    process = begin("cut")
    cluster("cut", "n4")
    time.sleep(2)
    assert process.poll() is None, "it has not been cut in the middle"
    cluster("heal", "n4")
    code, output = finish(process)
    assert code == 0 and ALL_RIGHT in output and output.count("ended with 0.") == 6, output


@long_only
def test_a_server_that_is_killed_and_returns(fast):
    """Its clients make again what was not answered, and every value is right."""
    process = begin("returns")
    cluster("on", "n4", "pkill", "-KILL", "-x", "stria")
    time.sleep(1)
    assert process.poll() is None, "it was not killed in the middle"
    serve(3)
    code, output = finish(process)
    assert code == 0 and ALL_RIGHT in output and output.count("ended with 0.") == 6, output


@long_only
def test_a_link_that_stays_cut(fast):
    process = begin("stays_cut", STRIA_SERVER_TIMEOUT=PATIENCE_S)
    cluster("cut", "n4")
    try:
        check_every_rank_failed(process, time.monotonic())
    finally:
        cluster("heal", "n4")
    # The server lives, and has all that it had.
    wait_until(lambda: json.loads(tool("df", "--json", URL))[3]["silent_ms"] <= 2000)
    assert ALL_RIGHT in run(TWO_BY_THREE, *flash_io("after", "--rounds", 1, "--read"))


@long_only
def test_a_node_that_dies(fast):
    """Last of all: the node does not come back. The rest of the store goes on."""
    process = begin("dies", STRIA_SERVER_TIMEOUT=PATIENCE_S)
    cluster("crash", "n4")
    check_every_rank_failed(process, time.monotonic())
    known = cluster("on", "n3", *client(STRIA, "df", "--json", URL))
    assert [server["address"] for server in json.loads(known)] == ADDRESSES
    # New files go to those that live, as soon as the manager has noticed.
    fresh = flash_io("three", "--rounds", 1, "--read", STRIA_SERVER_TIMEOUT=PATIENCE_S)
    wait_until(lambda: finish(start(ALONE, *fresh))[0] == 0)

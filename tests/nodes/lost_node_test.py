"""A node died: what now? The page docs/howto/survive_a_lost_disk.md, followed on four nodes: its
program, its hints and its commands, with parts on shared storage, on the nodes' own disks, and on
servers of a store.

Run by scripts/check_nodes.sh, beside nodes_test.py.
"""

import json
import os
import re
import subprocess
import sys

import pytest
from nodes_test import BUILD, CLUSTER, FOUR_BY_TWO, ROOT, SHARE, cluster, finish, run, start
from waiting import wait_until

PAGE = (ROOT / "docs/howto/survive_a_lost_disk.md").read_text()
STRIA = BUILD / "bin/stria"
NODES = ["n1", "n2", "n3", "n4"]
THREE_BY_TWO = ["-n", "6", "--nodes", "3"]
OWN = "/tmp/own"  # a node's /tmp is its own
ADDRESSES = [f"10.77.0.{number}:7700" for number in range(1, 5)]
PATIENCE_S = 3


@pytest.fixture(scope="module")
def four_nodes():
    if os.environ.get("STRIA_CLUSTER") is None:
        pytest.skip("run by scripts/check_nodes.sh")
    if not (BUILD / "python/stria").exists():
        pytest.skip("this build has no Python module")
    try:
        cluster("up", 4)
        yield
    finally:
        cluster("down")


@pytest.fixture()
def directory(four_nodes, request):
    """Gives a directory that all nodes see."""
    place = f"{SHARE}/{request.node.name}"
    cluster("on", "n1", "mkdir", place)
    return place


def code_of(language, section):
    """Returns the first block of code of that language behind a heading of the page."""
    return re.search(rf"```{language}\n(.*?)```", PAGE[PAGE.index(f"\n## {section}\n") :], re.DOTALL)[1]


# The page's program, divided where it reads what it has written.
PROGRAM = code_of("python", "Do it")
WRITING = PROGRAM[: PROGRAM.index("with stria.open")]
READING = """
import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
with stria.open("safe.h5", comm) as f:
    assert f["dens"].shape == (40, 8, 8, 8)
    share = range(comm.rank * 40 // comm.size, (comm.rank + 1) * 40 // comm.size)
    assert (f["dens"][share.start : share.stop] == 1).all()
    if comm.rank == 0:
        print(*f.hint_warnings, sep="\\n")
"""


def line_of(program, directory, path, **environment):
    settings = {"PYTHONPATH": BUILD / "python", **environment}
    text = f"import os\nos.chdir({directory!r})\n" + program.replace('"safe.h5"', f'"{path}"')
    return ["env", *(f"{name}={value}" for name, value in settings.items()), sys.executable, "-c", text]


def program_on(places, program, directory, path="safe.h5", **environment):
    return run(places, *line_of(program, directory, path, **environment))


def tool(directory, *arguments, node="n1", code=0, **environment):
    """Returns what the stria command says on a node, in that directory."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    script = f'cd {directory} && exec "$@"'
    line = [CLUSTER, "on", node, "env", *settings, "sh", "-c", script, "sh", STRIA, *map(str, arguments)]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def names_in(directory, node="n1"):
    return cluster("on", node, "ls", directory).split()


def test_parts_on_shared_storage(directory):
    program_on(FOUR_BY_TWO, PROGRAM, directory)
    names = names_in(directory)
    assert len([name for name in names if name.startswith("safe.h5.part-")]) == 4, names
    lost = f"{directory}/safe.h5.part-1-2"
    cluster("on", "n2", "mv", lost, f"{directory}/kept")
    assert "safe.h5.part-1-2" in program_on(FOUR_BY_TWO, READING, directory)
    assert "safe.h5.part-1-2' is missing" in tool(directory, "repair", "--dry-run", "safe.h5", code=1)
    tool(directory, "repair", "safe.h5")
    cluster("on", "n2", "cmp", lost, f"{directory}/kept")
    tool(directory, "verify", "safe.h5")


@pytest.fixture()
def own(four_nodes, request):
    """Where each node has a place of its own, called after the node."""
    top = f"{OWN}/{request.node.name.translate(str.maketrans('[]', '__'))}"
    for node in NODES:
        cluster("on", node, "mkdir", "-p", f"{top}/{node}/run")
    return top


@pytest.mark.parametrize("lost", [3, 0, 1], ids=["n4", "n1", "n2"])
def test_parts_on_the_nodes_own_disks(directory, own, lost):
    """Written on four nodes, of which one loses its disk, which takes a part or the parity."""
    hints = code_of("", "The nodes' own disks").replace("/local/", f"{own}/")
    cluster("on", "n1", "sh", "-c", f"cat > {directory}/.stria-hints <<'E'\n{hints}E")
    program = WRITING.replace(", hints=hints", "")
    program_on(FOUR_BY_TWO, program, directory)
    program_on(FOUR_BY_TWO, program, directory)  # a second one replaces it on every disk
    program_on(FOUR_BY_TWO, READING, directory)
    for node in NODES:
        assert len(names_in(f"{own}/{node}/run", node)) == 1, node
    # It comes back with an empty disk.
    cluster("on", NODES[lost], "sh", "-c", f"rm {own}/{NODES[lost]}/run/*")
    read = program_on(FOUR_BY_TWO, READING, directory)
    assert ("is missing" in read) == (lost != 3), "n4 has the parity"
    for node in NODES:
        tool(directory, "drain", f"{own}/{node}/run", node=node)
    if lost == 3:
        cluster("on", "n3", "sh", "-c", f"rm {directory}/safe.h5.parity-*".replace("[", "\\[").replace("]", "\\]"))
        tool(directory, "repair", "--renew", 1, "safe.h5", node="n3")
    else:
        # n1 sees that its own disk hasn't got it.
        told = "is missing" if lost == 0 else "which isn't seen here"
        assert told in tool(directory, "repair", "--dry-run", "safe.h5", code=1)
        tool(directory, "repair", "--place", directory, "safe.h5", node="n3")
    tool(directory, "verify", "safe.h5")
    assert "is missing" not in program_on(THREE_BY_TWO, READING, directory)


def test_a_node_that_is_gone(directory, own):
    """Nodes have no rank any more: one, which the parity makes up for, then two."""
    hints = {"stria_subfiles": 3, "stria_parity": 1, "stria_part_places": f"{own}/{{node}}/run"}
    program = WRITING.replace(re.search(r"hints = .*", WRITING)[0], f"hints = {hints}")
    program_on(FOUR_BY_TWO, program, directory)
    assert "is missing" not in program_on(["-n", "3", "--nodes", "3"], READING, directory), "n4 has the parity"
    # Every rank gets an error that names part and parity, which are lost with n3 and n4.
    code, output = finish(start(["-n", "2", "--nodes", "2"], *line_of(READING, directory, "safe.h5")))
    assert code != 0
    assert "safe.h5.part-1-2" in output and "which isn't seen here" in output, output


def serve(index):
    join = ["--join", ADDRESSES[0]] if index > 0 else []
    key = ["--key", f"{SHARE}/cluster.key"]
    line = [CLUSTER, "on", NODES[index], STRIA, "serve", "--dir", "/tmp/store", "--listen", ADDRESSES[index], *key, *join]
    process = subprocess.Popen(
        list(map(str, line)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )
    assert ADDRESSES[index] in process.stdout.readline()
    return process


def test_servers_of_a_store(directory):
    """The store has the number of parts that the section names, for which four servers are
    enough."""
    cluster("on", "n1", "sh", "-c", f"umask 077; head -c 32 /dev/urandom > {SHARE}/cluster.key")
    servers = [serve(index) for index in range(len(NODES))]
    client = {"STRIA_KEY_FILE": f"{SHARE}/cluster.key", "STRIA_SERVER_TIMEOUT": PATIENCE_S}
    url = f"stria://{ADDRESSES[0]}"
    path = f"{url}/runs/safe.h5"
    hints = {"stria_subfiles": 2, "stria_parity": 1, "start_iodevice": 0}
    program = WRITING.replace(re.search(r"hints = .*", WRITING)[0], f"hints = {hints}")
    program_on(FOUR_BY_TWO, program, directory, path, **client)
    where = {
        name: json.loads(tool(directory, "stat", "--json", f"{url}/runs/{name}", **client))["servers"]
        for name in tool(directory, "ls", f"{url}/runs", **client).split()
    }
    assert sorted(server["address"] for (server,) in where.values()) == ADDRESSES, where
    lost = next(
        index for index in (3, 2, 1) if any("part" in n and s[0]["address"] == ADDRESSES[index] for n, s in where.items())
    )
    servers[lost].kill()
    cluster("on", NODES[lost], "pkill", "-KILL", "-x", "stria")
    program_on(["-n", "4"], READING, directory, path, **client)
    assert ADDRESSES[lost] in tool(directory, "status", url, code=1, **client)
    assert "is out of reach" in tool(directory, "repair", "--dry-run", path, code=1, **client)
    tool(directory, "repair", path, **client)
    tool(directory, "verify", path, **client)
    number = next(
        server["index"]
        for server in json.loads(tool(directory, "df", "--json", url, **client))
        if server["address"] == ADDRESSES[lost]
    )
    wait_until(lambda: "silent" in tool(directory, "df", url, **client))
    tool(directory, "retire", "--lost", url, number, **client)
    tool(directory, "status", url, **client)
    assert "is missing" not in program_on(THREE_BY_TWO, READING, directory, path, **client)

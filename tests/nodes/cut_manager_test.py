"""The network between a store's manager and everything else is cut, below clients that write. The
standby takes over by command; the old manager acknowledges nothing any more, hears of it when the
network is there again, and follows the new one, as docs/servers.md says.

Run by scripts/check_nodes.sh, beside nodes_test.py.
"""

import json
import os
import subprocess
import time

import pytest
from copies import Copies
from nodes_test import BUILD, CLUSTER, ROOT, SHARE, cluster
from waiting import PATIENCE_SECONDS, wait_until

STRIA = BUILD / "bin/stria"
NODES = ["n1", "n2", "n3", "n4"]
ADDRESSES = [f"10.77.0.{number}:7700" for number in range(1, 5)]
BOTH = ",".join(ADDRESSES[:2])
URL = f"stria://{BOTH}"
KEY = f"{SHARE}/cluster.key"
OWN = "/tmp/store"  # a node's /tmp is its own


def line_on(node, *arguments):
    words = [CLUSTER, "on", node, "env", f"STRIA_KEY_FILE={KEY}", STRIA, *arguments]
    return [str(word) for word in words]


def tool(node, *arguments):
    """Returns what a command on that node says, and whether it succeeded."""
    done = subprocess.run(line_on(node, *arguments), capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    return done.returncode, done.stdout + done.stderr


def succeeded(node, *arguments):
    code, output = tool(node, *arguments)
    assert code == 0, output
    return output


def serve(index, *options):
    line = line_on(NODES[index], "serve", "--dir", OWN, "--listen", ADDRESSES[index], *options)
    process = subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )
    assert ADDRESSES[index] in process.stdout.readline()
    return process


@pytest.fixture()
def servers():
    """The manager is on n1, its standby on n2."""
    if os.environ.get("STRIA_CLUSTER") is None:
        pytest.skip("run by scripts/check_nodes.sh")
    processes = []
    try:
        cluster("up", 4)
        cluster("on", "n1", "sh", "-c", f"umask 077; head -c 32 /dev/urandom > {KEY}")
        processes.append(serve(0))
        processes.append(serve(1, "--join", BOTH, "--standby"))
        processes.extend(serve(index, "--join", BOTH) for index in (2, 3))
        wait_for_standby(1)
        yield processes
    finally:
        cluster("down")
        for process in processes:
            process.kill()
            process.communicate()


def told(url=URL):
    """Returns what the servers say, by address, asked on n4."""
    return {server["address"]: server for server in json.loads(tool("n4", "status", "--json", url)[1])}


def wait_for_standby(index):
    """It has every change, and the others know."""

    def may_be_promoted():
        known = told()
        others = [known[address] for address in ADDRESSES if address != ADDRESSES[index]]
        return known[ADDRESSES[index]].get("role") == "standby with every change" and all(
            other.get("figures", {}).get("standby_marks_in_step") == 1 for other in others
        )

    wait_until(may_be_promoted)


def content_of(number):
    return f"{SHARE}/content_{number % 3}"


def test_the_managers_network_is_cut(servers):
    for number in range(3):
        cluster("on", "n1", "sh", "-c", f"head -c 1500000 /dev/urandom > {content_of(number)}")
    with Copies(lambda number, name: succeeded("n4", "cp", content_of(number), f"{URL}/{name}")) as writer:
        writer.goes_on()
        # A copy under way would have a part on the server that is cut off, and fail with it.
        with writer.between_copies:
            cluster("cut", "n1")
        # A client that reaches the old manager alone.
        begin = time.monotonic()
        alone = subprocess.Popen(
            line_on("n1", "mkdir", f"stria://{ADDRESSES[0]}/of_the_old"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)  # fmt: skip
        promoted = succeeded("n3", "promote", f"stria://{ADDRESSES[1]}")
        assert f"{ADDRESSES[1]} is the manager now (epoch 1)" in promoted and ADDRESSES[0] in promoted, promoted
        writer.goes_on()
        # New files lie on the servers that are there.
        where = json.loads(succeeded("n4", "stat", "--json", f"{URL}/{writer.copied[-1]}"))["servers"]
        assert sorted(server["address"] for server in where) == ADDRESSES[1:]
        output, _ = alone.communicate(timeout=PATIENCE_SECONDS)
        assert alone.returncode != 0, "the old manager acknowledged what is lost"
        assert "isn't known whether that will last" in output and time.monotonic() - begin < PATIENCE_SECONDS, output
        cluster("heal", "n1")
        wait_until(lambda: told()[ADDRESSES[0]].get("role") == "was the manager")
        code, output = tool("n1", "mkdir", f"stria://{ADDRESSES[0]}/late")
        assert code != 0 and "was replaced" in output and ADDRESSES[1] in output, output
        writer.goes_on()
    # Nothing that was acknowledged is lost, and nothing else is there.
    assert set(succeeded("n4", "ls", URL).split()) == set(writer.copied)
    for number, name in enumerate(writer.copied):
        succeeded("n3", "cp", f"{URL}/{name}", f"{SHARE}/back")
        cluster("on", "n3", "cmp", f"{SHARE}/back", content_of(number))
    # The old one follows, as the documents say.
    cluster("on", "n1", "pkill", "-TERM", "-x", "stria")
    servers[0].wait(timeout=PATIENCE_SECONDS)
    servers[0] = serve(0, "--join", BOTH, "--standby")
    wait_for_standby(0)
    succeeded("n4", "fsck", URL)

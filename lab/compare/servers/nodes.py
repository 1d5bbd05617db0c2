"""A store whose eight servers are on virtual nodes of their own, and clients on others: the links
between them, not this machine's memory, decide. Inside tests/nodes/cluster.sh only."""

import glob
import os
import subprocess

from programs import ROOT, STRIA

from servers.store import SERVERS, cpu_seconds

CLUSTER = os.path.join(ROOT, "tests", "nodes", "cluster.sh")
SHARE = "/mnt/share"
KEY = f"{SHARE}/cluster.key"
OWN = "/dev/shm/store"  # each node has its own
PORT = 7700
CLIENT_NODES = 8


def tell(*words):
    """Asks cluster.sh for something; the finished process."""
    return subprocess.run(
        [CLUSTER, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )  # fmt: skip


def address(number):
    return f"10.77.0.{number}:{PORT}"


def start_servers(program, numbers):
    """Returns a server on each of these nodes; the first is the manager. Returns their processes.
    Raises OSError where one does not start."""
    if tell("on", f"n{numbers[0]}", "sh", "-c", f"umask 077; head -c 32 /dev/urandom > {KEY}").returncode != 0:
        raise OSError(f"{KEY} can't be made")
    processes = []
    for number in numbers:
        words = [CLUSTER, "on", f"n{number}", program, "serve", "--dir", OWN, "--listen", address(number), "--key", KEY]
        words += ["--join", address(numbers[0])] if processes else []
        processes.append(
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        )
        if address(number) not in processes[-1].stdout.readline():
            end(processes)
            raise OSError(f"the server of n{number} did not start")
    return processes


def end(processes):
    for process in processes:
        process.kill()
        process.communicate()


def is_visible(directory):
    """The nodes have temporary directories of their own."""
    return tell("on", "n1", "test", "-d", directory).returncode == 0


def serving_processes():
    """Returns all `stria serve` of the nodes, as /proc numbers them here."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # it has just ended
        if words[:2] == [STRIA.encode(), b"serve"]:
            found.append(int(path.split("/")[2]))
    return found


class NodesStore:
    """The nodes, with links of a rate or ('') of any speed, and their servers; both go with the
    block."""

    def __init__(self, rate, out):
        self.rate = rate
        self.out = out
        self.servers = []
        self.serving = []
        self.url = f"stria://{address(CLIENT_NODES + 1)}"
        self.where = f"nodes with links of {rate or 'any speed'}"

    def __enter__(self):
        up = tell("up", CLIENT_NODES + SERVERS, *(["--rate", self.rate] if self.rate else []))
        try:
            if up.returncode != 0:
                raise OSError(f"no nodes: {(up.stdout + up.stderr).strip()}")
            if not is_visible(self.out):
                raise OSError(f"--out {self.out} can't be seen on the nodes; choose another directory")
            self.servers = start_servers(STRIA, range(CLIENT_NODES + 1, CLIENT_NODES + SERVERS + 1))
        except OSError:
            self.__exit__()
            raise
        self.serving = serving_processes()
        return self

    def launch(self, ranks):
        """Returns the words that start so many clients, on a node each as long as there are
        some."""
        nodes = str(min(ranks, CLIENT_NODES))
        return [CLUSTER, "run", "openmpi", "-n", str(ranks), "--nodes", nodes, "env", f"STRIA_KEY_FILE={KEY}"]

    def cpu_seconds(self):
        return cpu_seconds(self.serving)

    def __exit__(self, *_):
        tell("down")
        end(self.servers)

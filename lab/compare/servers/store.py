"""A store on this machine, for as long as a bench runs."""

import contextlib
import glob
import json
import os
import signal
import subprocess

from program_output import output_of
from programs import STRIA

SERVERS = 8
TIMEOUT_S = 600


def written_bytes(url):
    """Clients' bytes that each server has written so far."""
    text, why = output_of([STRIA, "status", "--json", url], TIMEOUT_S)
    if text is None:
        raise OSError(why)
    return [server["figures"]["written_bytes_total"] for server in json.loads(text)]


def cpu_seconds(processes):
    """The processor time of all threads of these processes so far."""
    nanoseconds = 0
    for process in processes:
        for path in glob.glob(f"/proc/{process}/task/*/schedstat"):
            with open(path, encoding="utf-8") as file:
                nanoseconds += int(file.read().split()[0])
    return 1e-9 * nanoseconds


class Store:
    """Servers in one process of the `program` stria, in a directory of their own; ended with the
    block."""

    where = "one machine"

    def __init__(self, directory, program=STRIA, servers=SERVERS):
        self.program = program
        self.servers = servers
        self.directory = directory
        self.process = None
        self.url = ""

    def __enter__(self):
        command = [self.program, "serve", "--cluster", str(self.servers), "--dir", os.path.join(self.directory, "store")]
        self.process = subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("stria://"):
            self.__exit__()
            raise OSError("stria serve: the store did not start")
        return self

    def launch(self, ranks):
        """Returns the words that start so many clients."""
        return ["mpiexec.openmpi", "-n", str(ranks), "env"]

    def cpu_seconds(self):
        return cpu_seconds([self.process.pid])

    @contextlib.contextmanager
    def on_one_processor(self):
        """Gives the servers, this program and what it starts stay on one processor. Otherwise it is
        a matter of luck whether a request wakes another processor, which costs more than the
        request."""
        everywhere = os.sched_getaffinity(0)
        tasks = [0, *map(int, os.listdir(f"/proc/{self.process.pid}/task"))]
        try:
            for task in tasks:
                os.sched_setaffinity(task, {min(everywhere)})
            yield
        finally:
            for task in tasks:
                os.sched_setaffinity(task, everywhere)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

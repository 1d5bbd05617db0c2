"""A store of several `stria serve` processes on this machine."""

import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess

from stria_program import PROGRAM

START_SECONDS = 60
# A program of the version before, where there is one; else this one speaks as that did.
OLD_PROGRAM = os.environ.get("STRIA_OLD_PROGRAM", PROGRAM)
OLD_VERSION = "3"


@contextlib.contextmanager
def started(*command):
    """Gives a command that works meanwhile; it is ended where the test fails."""
    words = list(map(str, [PROGRAM, *command]))
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def new_key(path):
    """Returns a cluster's key, which only this user may read."""
    path.touch(mode=0o600)
    path.write_bytes(os.urandom(32))
    return path


taken_ports = []  # sockets that tell other test programs which ports are taken here


def lasting_port():
    """A free port outside the range from which the system gives ports, so that no other program
    gets it while its server is away; nor does another test, while this process lives. 0, any port,
    where there is none."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(100 if first_given > 12000 else 0):
        port = random.SystemRandom().randrange(10000, first_given)
        taken = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                taken.bind(f"\0stria_test_port_{port}")
                probe.bind(("127.0.0.1", port))
            except OSError:
                taken.close()
                continue
            taken_ports.append(taken)
            return port
    return 0


class Store:
    """Servers 0 to count - 1, of which 0 is the manager; each can be killed and started
    again where it was."""

    def __init__(self, directory, count, key=None, options=(), descriptors=None, old=(), standby=None):
        """`options` are added to every server's; `descriptors` is the most that each may have.
        Servers whose index is in `old` are of the version before. `standby` is the index of one
        that stands by the manager."""
        self.standby = standby
        self.old = set(old)
        self.directory = directory
        self.options = options
        self.descriptors = descriptors
        self.key = key
        self.addresses = [f"127.0.0.1:{lasting_port()}" for _ in range(count)]
        self.processes = [None] * count
        for index in range(count):
            self.start(index)

    @property
    def url(self):
        return f"stria://{self.managers}"

    @property
    def managers(self):
        """The addresses at which the manager may be."""
        return ",".join(self.addresses[index] for index in (0, self.standby) if index is not None)

    def start(self, index):
        command = [
            OLD_PROGRAM if index in self.old else PROGRAM,
            "serve",
            "--dir",
            self.directory / str(index),
            "--listen",
            self.addresses[index],
        ]
        if index > 0:
            command += ["--join", self.managers]
        if index > 0 and index == self.standby:
            command += ["--standby"]
        command += self.options
        log = open(self.directory / f"server_{index}.log", "a")  # noqa: SIM115
        process = subprocess.Popen(
            [*self.limits(), *map(str, command)],
            env=self.environment(index),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        log.close()
        self.processes[index] = process
        line = process.stdout.readline().split()
        assert line, f"server {index} ended: {(self.directory / f'server_{index}.log').read_text()}"
        self.addresses[index] = line[-1].removeprefix("stria://")

    def join(self):
        """Starts one more server; returns its index."""
        self.addresses.append(f"127.0.0.1:{lasting_port()}")
        self.processes.append(None)
        self.start(len(self.processes) - 1)
        return len(self.processes) - 1

    def limits(self):
        return [] if self.descriptors is None else ["prlimit", f"--nofile={self.descriptors}"]

    def environment(self, index):
        environment = dict(os.environ)
        environment.pop("STRIA_WIRE_VERSION", None)
        if index in self.old:
            environment["STRIA_WIRE_VERSION"] = OLD_VERSION
        if self.key:
            environment["STRIA_KEY_FILE"] = str(self.key)
        return environment

    def kill(self, index):
        self.processes[index].kill()
        self.processes[index].wait()

    def end(self, index):
        """Asks it to end; returns its exit status."""
        self.processes[index].send_signal(signal.SIGTERM)
        return self.processes[index].wait(timeout=START_SECONDS)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()

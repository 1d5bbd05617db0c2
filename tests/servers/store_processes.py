"""A store of several `stria serve` processes on this machine."""

import os
import signal
import subprocess

from stria_program import PROGRAM

START_SECONDS = 60


class Store:
    """Servers 0 to count - 1, of which 0 is the manager; each can be killed and started
    again where it was."""

    def __init__(self, directory, count, key=None, options=(), descriptors=None):
        """`options` are added to every server's; `descriptors` is the most that each may have."""
        self.directory = directory
        self.options = options
        self.descriptors = descriptors
        self.key = key
        self.addresses = ["127.0.0.1:0"] * count
        self.processes = [None] * count
        for index in range(count):
            self.start(index)

    @property
    def url(self):
        return f"stria://{self.addresses[0]}"

    def start(self, index):
        command = [PROGRAM, "serve", "--dir", self.directory / str(index), "--listen", self.addresses[index]]
        if index > 0:
            command += ["--join", self.addresses[0]]
        command += self.options
        log = open(self.directory / f"server_{index}.log", "a")  # noqa: SIM115
        process = subprocess.Popen(
            [*self.limits(), *map(str, command)],
            env=self.environment(),
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

    def limits(self):
        return [] if self.descriptors is None else ["prlimit", f"--nofile={self.descriptors}"]

    def environment(self):
        environment = dict(os.environ)
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

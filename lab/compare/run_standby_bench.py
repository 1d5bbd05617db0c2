#!/usr/bin/env python3
"""Measures what a standby manager costs: names are made, opened and removed in two stores of three
server processes each, of which one has a standby.

The stores take turns in every round, so that they see the same machine; each figure is the median
of the rounds. All servers are on this machine: the round trip to the standby is the loopback's.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lab/compare"), str(ROOT / "scripts")]
from program_output import output_of  # noqa: E402
from programs import STRIA, first_of  # noqa: E402

SERVERS = 3
BENCH = first_of("bin/store_bench")
TIMEOUT_S = 300
OPERATIONS = {"create_s": "make and close a file", "open_s": "open and close it", "remove_s": "remove it"}


class Store:
    """Server processes, of which the second is a standby or not; ended with the block."""

    def __init__(self, directory, standby):
        self.directory = directory
        self.standby = standby
        self.servers = contextlib.ExitStack()
        self.addresses = []

    def __enter__(self):
        for index in range(SERVERS):
            joins = ["--join", self.addresses[0]] if index > 0 else []
            stands_by = ["--standby"] if self.standby and index == 1 else []
            words = [STRIA, "serve", "--dir", os.path.join(self.directory, str(index)), "--listen", "127.0.0.1:0"]
            process = subprocess.Popen(
                [*words, *joins, *stands_by], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            self.servers.enter_context(process)
            self.servers.callback(process.terminate)
            line = process.stdout.readline().split()
            if not line:
                self.servers.close()
                raise OSError("stria serve: a server did not start")
            self.addresses.append(line[-1].removeprefix("stria://"))
        self.wait_until_ready()
        return self

    def __exit__(self, *_):
        self.servers.close()

    @property
    def url(self):
        return f"stria://{self.addresses[0]}"

    def wait_until_ready(self):
        """The standby has every change."""
        deadline = time.monotonic() + TIMEOUT_S
        while self.standby:
            text, why = output_of([STRIA, "status", self.url], TIMEOUT_S)
            if text is not None and "standby with every change" in text:
                return
            if time.monotonic() > deadline:
                raise OSError(f"the standby does not follow: {why or text}")
            time.sleep(0.1)

    def measure(self, count):
        """Measures the seconds of each operation."""
        text, why = output_of([BENCH, "names", f"{self.url}/bench", "0", "1", str(count)], TIMEOUT_S)
        if text is None:
            raise OSError(why)
        return {name: values[0] for name, values in json.loads(text).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", default="/dev/shm", help="where the stores are (/dev/shm)")
    parser.add_argument("--rounds", type=int, default=5, help="of both stores (5)")
    parser.add_argument("--files", type=int, default=2000, help="in each round (2000)")
    options = parser.parse_args()
    times = {False: [], True: []}
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="stria-standby-", dir=options.dir))
        stores = {standby: stack.enter_context(Store(os.path.join(directory, str(standby)), standby)) for standby in times}
        for store in stores.values():
            store.measure(options.files // 10 + 1)  # warms up
        for _ in range(options.rounds):
            for standby, store in stores.items():
                times[standby].append(store.measure(options.files))
    print(f"{'microseconds':24}{'alone':>10}{'standby':>10}")
    for name, what in OPERATIONS.items():
        row = [1e6 * statistics.median(each[name] for each in times[standby]) for standby in (False, True)]
        print(f"{what:24}{row[0]:10.0f}{row[1]:10.0f}")


if __name__ == "__main__":
    main()

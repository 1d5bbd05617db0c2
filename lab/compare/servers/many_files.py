"""Many small files in a mounted store of four servers on this machine: made, listed and removed, by
each of some builds in turn. Prints for each run the seconds, and what a file costs: processor time,
changes of context, and requests to the servers.

    many_files.py [--files N] [--bytes N] [--makers N] [--rounds N] [--dir DIR] STRIA [STRIA ...]

STRIA are commands of builds, such as build/release/bin/stria.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SERVERS = 4


def make(directory, files, content):
    os.mkdir(directory)
    for index in range(files):
        with open(os.path.join(directory, f"file{index}"), "wb") as file:
            file.write(content)


def by_makers(directory, options):
    """Each maker is a process with a directory of its own."""
    makers = []
    for maker in range(options.makers):
        child = os.fork()
        if child == 0:
            make(os.path.join(directory, f"of{maker}"), options.files // options.makers, b"x" * options.bytes)
            os._exit(0)
        makers.append(child)
    for maker in makers:
        if os.waitpid(maker, 0)[1] != 0:
            sys.exit("a file could not be made")


def check(directory, options):
    """Every file is there, and has its bytes."""
    for maker in range(options.makers):
        place = os.path.join(directory, f"of{maker}")
        names = os.listdir(place)
        if len(names) != options.files // options.makers:
            sys.exit(f"{len(names)} files in {place}")
        for name in names[:: max(len(names) // 100, 1)]:
            if os.path.getsize(os.path.join(place, name)) != options.bytes:
                sys.exit(f"{place}/{name} has another size")


def list_all(directory, options):
    for maker in range(options.makers):
        subprocess.run(["ls", "-l", os.path.join(directory, f"of{maker}")], check=True, stdout=subprocess.DEVNULL)


def remove_all(directory, options):
    for maker in range(options.makers):
        subprocess.run(["rm", "-r", os.path.join(directory, f"of{maker}")], check=True)


class Mounted:
    """A new store and its mount, and what both have cost so far."""

    def __init__(self, stria, directory):
        self.stria, self.directory = stria, directory
        self.servers = subprocess.Popen(
            [stria, "serve", "--cluster", str(SERVERS), "--dir", f"{directory}/store", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.url = self.servers.stdout.readline().strip()
        self.place = os.path.join(directory, "mounted")
        os.mkdir(self.place)
        self.mount = subprocess.Popen([stria, "mount", "--foreground", self.url, self.place])
        while not os.path.ismount(self.place):
            if self.mount.poll() is not None:
                sys.exit("the store can't be mounted")
            time.sleep(0.05)

    def close(self):
        subprocess.run(["fusermount3", "-u", "-z", self.place], check=False)
        for process in (self.mount, self.servers):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        self.servers.stdout.close()

    def costs(self):
        """{what: number} so far."""
        costs = collections.Counter()
        for name, process in (("servers", self.servers), ("mount", self.mount)):
            for task in glob.glob(f"/proc/{process.pid}/task/*"):
                with contextlib.suppress(FileNotFoundError):
                    with open(f"{task}/schedstat", encoding="utf-8") as file:
                        costs[f"us of {name}"] += int(file.read().split()[0]) / 1000
                    with open(f"{task}/status", encoding="utf-8") as file:
                        costs[f"switches of {name}"] += sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", file.read())))
        told = subprocess.run([self.stria, "status", "--json", self.url], check=True, capture_output=True, text=True)
        for server in json.loads(told.stdout):
            for figure, count in server["figures"].items():
                if request := re.fullmatch(r'requests_total\{kind="(.*)"\}', figure):
                    costs[request[1]] += count
        return costs


def measure(stria, directory, options):
    """{step: (seconds, {what: number})}"""
    mounted = Mounted(stria, directory)
    try:
        steps = {}
        for name, step in (("made", by_makers), ("listed", list_all), ("removed", remove_all)):
            before, own_before, begin = mounted.costs(), time.process_time() + sum(os.times()[2:4]), time.monotonic()
            step(mounted.place, options)
            seconds = time.monotonic() - begin
            own = time.process_time() + sum(os.times()[2:4]) - own_before
            costs = mounted.costs()
            costs.subtract(before)
            costs["us of the program"] = own * 1e6
            steps[name] = seconds, costs
            if name == "made":
                check(mounted.place, options)
        return steps
    finally:
        mounted.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--bytes", type=int, default=100)
    parser.add_argument("--makers", type=int, default=1, help="processes that make files at the same time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", help="where the stores are made; otherwise where temporary files are")
    parser.add_argument("stria", nargs="+")
    options = parser.parse_args()
    seconds = collections.defaultdict(list)
    for _ in range(options.rounds):
        for stria in options.stria:
            directory = tempfile.mkdtemp(prefix="stria_many_files.", dir=options.dir)
            try:
                for step, (taken, costs) in measure(stria, directory, options).items():
                    seconds[stria, step].append(taken)
                    often = {what: n / options.files for what, n in sorted(costs.items()) if n > options.files / 200}
                    each = ", ".join(f"{what} {n:.2f}" for what, n in often.items())
                    print(f"{stria}: {step} in {taken:.2f} s; a file: {each}", flush=True)
            finally:
                shutil.rmtree(directory)
    for (stria, step), taken in seconds.items():
        print(f"{stria}: {step}, median {statistics.median(taken):.2f} s of {len(taken)}")


if __name__ == "__main__":
    main()

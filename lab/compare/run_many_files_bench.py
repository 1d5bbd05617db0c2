#!/usr/bin/env python3
"""Many small files in a mounted store of four servers on this machine: made, listed and removed, by
each of some builds in turn. Prints for each run the seconds, and what a file costs: processor time,
changes of context, and requests to the servers.

    run_many_files_bench.py [--files N] [--bytes N] [--makers N] [--rounds N] [--dir DIR] STRIA ...

STRIA are commands of builds, such as build/release/bin/stria.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "lab", "compare"), os.path.join(ROOT, "scripts")]
from servers.store import Store  # noqa: E402

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


@contextlib.contextmanager
def mounted(store, directory):
    """Gives the store's mount there, a process in the foreground."""
    os.mkdir(directory)
    mount = subprocess.Popen([store.program, "mount", "--foreground", store.url, directory])
    try:
        while not os.path.ismount(directory):
            if mount.poll() is not None:
                sys.exit("the store can't be mounted: see above")
            time.sleep(0.05)
        yield mount
    finally:
        subprocess.run(["fusermount3", "-u", "-z", directory], check=False)
        mount.terminate()
        mount.wait(timeout=60)


def costs_of(store, mount):
    """Returns {what: number} of the servers and the mount so far."""
    costs = collections.Counter()
    for name, process in (("servers", store.process), ("mount", mount)):
        for task in glob.glob(f"/proc/{process.pid}/task/*"):
            with contextlib.suppress(FileNotFoundError):
                with open(f"{task}/schedstat", encoding="utf-8") as file:
                    costs[f"us of {name}"] += int(file.read().split()[0]) / 1000
                with open(f"{task}/status", encoding="utf-8") as file:
                    costs[f"switches of {name}"] += sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", file.read())))
    told = subprocess.run([store.program, "status", "--json", store.url], check=True, capture_output=True, text=True)
    for server in json.loads(told.stdout):
        for figure, count in server["figures"].items():
            if request := re.fullmatch(r'requests_total\{kind="(.*)"\}', figure):
                costs[request[1]] += count
    return costs


def measure(stria, directory, options):
    """Returns {step: (seconds, {what: number})}"""
    place = os.path.join(directory, "mounted")
    steps = {}
    with Store(directory, stria, SERVERS) as store, mounted(store, place) as mount:
        for name, step in (("made", by_makers), ("listed", list_all), ("removed", remove_all)):
            before, own_before = costs_of(store, mount), time.process_time() + sum(os.times()[2:4])
            begin = time.monotonic()
            step(place, options)
            seconds = time.monotonic() - begin
            own = time.process_time() + sum(os.times()[2:4]) - own_before
            costs = costs_of(store, mount)
            costs.subtract(before)
            costs["us of the program"] = own * 1e6
            steps[name] = seconds, costs
            if name == "made":
                check(place, options)
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--bytes", type=int, default=100)
    parser.add_argument("--makers", type=int, default=1, help="processes that make files at the same time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", help="where the stores are made; otherwise where temporary files are")
    parser.add_argument("stria", nargs="+")
    options = parser.parse_args()
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        sys.exit("a store can't be mounted here: there is no FUSE")
    seconds = collections.defaultdict(list)
    for _ in range(options.rounds):
        for stria in options.stria:
            with tempfile.TemporaryDirectory(prefix="stria_many_files.", dir=options.dir) as directory:
                for step, (taken, costs) in measure(stria, directory, options).items():
                    seconds[stria, step].append(taken)
                    often = {what: n / options.files for what, n in sorted(costs.items()) if n > options.files / 200}
                    each = ", ".join(f"{what} {n:.2f}" for what, n in often.items())
                    print(f"{stria}: {step} in {taken:.2f} s; a file: {each}", flush=True)
    for (stria, step), taken in seconds.items():
        print(f"{stria}: {step}, median {statistics.median(taken):.2f} s of {len(taken)}")


if __name__ == "__main__":
    main()

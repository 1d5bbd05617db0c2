#!/usr/bin/env python3
"""Measures a store of eight `stria serve` on this machine, and prints goals beside the figures.

It runs Ching's experiments of 2002 by every method and gives times as ratios to the best, with the
requests and the bytes that travelled. It also compares the plainest things with plain sockets.

The methods of a point run one after another in every cycle, so that they see the same machine; a
ratio is the median over the cycles of (time / the cycle's best). Beside it stands the servers'
processor time, which other programs disturb less: of the whole run of a method, with what is read
to check it. Programs compare all that they read with what was written. Figures go to
OUT/servers.json; OUT/servers.png draws those of the experiments."""

import argparse
import contextlib
import glob
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "scripts")]
import command  # noqa: E402
import patterns  # noqa: E402
from programs import DROP_IN, STRIA  # noqa: E402
from servers import cases, chart, goals  # noqa: E402

from mpiexec_env import mpiexec_environment  # noqa: E402

BUILD = os.path.join(ROOT, "build", "release")
PLAIN = os.path.join(BUILD, "bin", "store_bench")
TIMEOUT_S = 600
QUANTITIES = ("write", "read")


def say(text):
    print(text, flush=True)


class Store:
    """Eight servers in one process, in a directory of their own; ended with the block."""

    def __init__(self, directory):
        self.directory = directory
        self.process = None
        self.url = ""

    def __enter__(self):
        command = [STRIA, "serve", "--cluster", str(cases.SERVERS), "--dir", os.path.join(self.directory, "store")]
        self.process = subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("stria://"):
            self.__exit__()
            raise OSError("stria serve: the store did not start")
        return self

    def cpu_seconds(self):
        """The processor time of all servers so far."""
        nanoseconds = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path, encoding="utf-8") as file:
                nanoseconds += int(file.read().split()[0])
        return 1e-9 * nanoseconds

    @contextlib.contextmanager
    def on_one_processor(self):
        """The servers, this program and what it starts stay on one processor. Otherwise it is a
        matter of luck whether a request wakes another processor, which costs more than the
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

    def written_bytes(self):
        """Clients' bytes that each server has written so far."""
        text, why = output_of([STRIA, "status", "--json", self.url])
        if text is None:
            raise OSError(why)
        return [server["figures"]["written_bytes_total"] for server in json.loads(text)]

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def output_of(command):
    """(what the command printed, None), or (None, why not)."""
    try:
        done = subprocess.run(
            command, env=mpiexec_environment(), capture_output=True, text=True, timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"no end after {TIMEOUT_S} s"
    if done.returncode != 0:
        return None, " | ".join((done.stdout + done.stderr).strip().splitlines()[:2]) or f"exit {done.returncode}"
    return done.stdout, None


class Bench:
    def __init__(self, options, store):
        self.options = options
        self.store = store
        self.points = []
        self.plain = {}
        self.problems = []

    def run_pattern(self, pattern, size, clients, call, hints):
        command = ["mpiexec.openmpi", "-n", str(clients), "env", f"LD_PRELOAD={DROP_IN}"]
        result = os.path.join(self.options.out, "pattern_result.json")
        command += patterns.command(STRIA, pattern, size, call, directory=self.store.url, rounds=1, result=result, hints=hints)
        text, why = output_of(command)
        return (None, why) if text is None else (patterns.take(result), None)

    def run_method(self, experiment, size, method):
        hints = [*cases.STRIPES, f"stria_method={method.hint}"]
        return self.run_pattern(experiment.pattern, size, experiment.clients, method.call, hints)

    def point(self, experiment, size):
        point = {
            "title": experiment.title(size), "pattern": experiment.pattern, "clients": experiment.clients, "size": size,
            "axis": experiment.axis, "figures": experiment.figures, "times": {quantity: {} for quantity in QUANTITIES},
            "traffic": {quantity: {} for quantity in QUANTITIES}, "server_cpu_s": {},
        }  # fmt: skip
        self.points.append(point)
        gone = set()
        for _ in range(self.options.cycles):
            for method in experiment.methods(size):
                if method in gone:
                    continue
                cpu_s = self.store.cpu_seconds()
                result, why = self.run_method(experiment, size, method)
                cpu_s = self.store.cpu_seconds() - cpu_s
                if result is None:
                    gone.add(method)
                    self.problems.append(f"{point['title']}, {method.name}: {why}")
                    continue
                point["server_cpu_s"].setdefault(method.name, []).append(cpu_s)
                point["useful_bytes"], point["pieces"] = result["useful_bytes"], result["stretches"]
                for quantity in QUANTITIES:
                    point["times"][quantity].setdefault(method.name, []).append(result[quantity]["seconds"]["median"])
                    traffic = result[quantity]["traffic"]
                    point["traffic"][quantity][method.name] = [
                        traffic[what] for what in ("requests", "bytes_sent", "bytes_received")
                    ]
        self.tell(point)
        self.save()

    def tell(self, point):
        if "pieces" not in point:
            return
        say(f"{point['title']}: {point['pieces']} pieces of {point['useful_bytes'] / point['pieces'] / point['clients']:.0f} B")
        for quantity in dict(point["figures"]):
            times = point["times"][quantity]
            for method, ratio in sorted(goals.ratios_to_best(times).items(), key=lambda entry: entry[1]):
                requests, sent, received = point["traffic"][quantity][method]
                cpu_s = statistics.median(point["server_cpu_s"][method])
                say(
                    f"  {quantity:6}{method:10}{ratio:9.2f} x best {statistics.median(times[method]):9.3f} s"
                    f"{requests:9} requests {sent / 1e6:9.2f} MB sent {received / 1e6:9.2f} MB received"
                    f"{cpu_s:9.3f} s of the servers"
                )

    def first_server(self):
        """The verdict on how even files of one server lie on all servers, in turn and not."""
        times = {name: [] for name in cases.FIRST_SERVERS}
        shares = dict.fromkeys(times)
        for _ in range(self.options.cycles):
            for name, hints in cases.FIRST_SERVERS.items():
                before = self.store.written_bytes()
                hints = ["striping_factor=1", *hints]
                result, why = self.run_pattern(cases.SEPARATE, 1, cases.SERVERS, "independent", hints)
                if result is None:
                    self.problems.append(f"first server {name}: {why}")
                    return []
                written = [now - then for now, then in zip(self.store.written_bytes(), before, strict=True)]
                shares[name] = max(written) * len(written) / sum(written)
                times[name].append(result["write"]["seconds"]["median"])
        for name, ratio in goals.ratios_to_best(times).items():
            say(f"first server {name}: {ratio:.2f} x best, the fullest has {shares[name]:.2f} of an even share")
        return goals.of_first_server(shares)

    def beside_plain(self, measure, size, cycles):
        """What store_bench tells of one measure, or None."""
        pid = str(self.store.process.pid)
        text, why = output_of([PLAIN, measure, f"{self.store.url}/plain", pid, str(cycles), str(size)])
        if text is None:
            self.problems.append(f"{measure} {size}: {why}")
            return None
        figures = self.plain[f"{measure} {size}"] = json.loads(text)
        return figures

    def plainest(self):
        """All of store_bench; the verdicts."""
        verdicts = []
        if figures := self.beside_plain("copy", 128, 5):
            verdicts += goals.of_copy(figures)
        with self.store.on_one_processor():
            figures = self.beside_plain("latency", 2000, 5)
        if figures:
            verdicts += goals.of_latency(figures)
        pieces = {}
        for piece_bytes in goals.LIST_GOALS:
            if figures := self.beside_plain("pieces", piece_bytes, 5):
                verdicts += goals.of_pieces(piece_bytes, figures)
                pieces[piece_bytes] = figures
        verdicts += goals.of_descriptions(pieces)
        if figures := self.beside_plain("names", 500, 2):
            rates = {name[:-2]: 1 / statistics.median(values) for name, values in figures.items()}
            say("names a second: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()))
        if figures := self.beside_plain("lists", 65536 if self.options.full else 8192, 2):
            say("nanoseconds a piece of 8 B, by regions of a request:")
            for name, values in sorted(figures.items(), key=lambda entry: int(entry[0].split("_")[1])):
                what, regions, _ = name.split("_")
                say(f"  {what:6}{regions:>6} {statistics.median(values) * 1e9:10.0f}")
        self.save()
        return verdicts

    def save(self):
        record = {"points": self.points, "plain": self.plain, "problems": self.problems}
        with open(os.path.join(self.options.out, "servers.json"), "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)

    def draw(self):
        try:
            chart.draw(self.points, os.path.join(self.options.out, "servers.png"))
        except ImportError:
            say("No chart: this Python has no matplotlib; scripts/bench_servers.sh takes one that has.")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="as large as in the paper, an hour or more")
    parser.add_argument("--cycles", type=int, default=3, help="times that every method runs")
    parser.add_argument("--only", default="", help="only experiments whose name contains this; 'plain', 'first server'")
    parser.add_argument("--list", action="store_true", help="print the experiments and leave")
    parser.add_argument("--dir", default="/dev/shm", help="where the store's directory is made")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    return parser.parse_args(arguments)


def main(arguments):
    """0; 1 when a program failed or read something wrong; 2 when it could not start. A missed goal
    is no failure."""
    options = parse_arguments(arguments)
    experiments = [case for case in (cases.full() if options.full else cases.quick()) if options.only in case.name]
    if options.list:
        say("\n".join(case.title(size) for case in experiments for size in case.sizes))
        return 0
    for program in (PLAIN, STRIA, DROP_IN):
        if not os.path.exists(program):
            print(f"run_servers_bench.py: no {program}; build it first (make bench-servers)", file=sys.stderr)
            return 2
    os.makedirs(options.out, exist_ok=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stria-bench-", dir=options.dir) as directory, Store(directory) as store:
        bench = Bench(options, store)
        for experiment in experiments:
            for size in experiment.sizes:
                bench.point(experiment, size)
        verdicts = goals.of_experiments(bench.points)
        if options.only in "plain":
            verdicts += bench.plainest()
        if options.only in "first server":
            verdicts += bench.first_server()
        bench.draw()
    say("")
    for verdict in verdicts:
        say(verdict.line())
    missed = sum(not verdict.met() for verdict in verdicts)
    minutes = (time.monotonic() - begin) / 60
    say(f"\n{len(bench.points)} points in {minutes:.1f} minutes, {missed} of {len(verdicts)} goals missed")
    say(f"figures in {options.out}")
    for line in bench.problems:
        say(f"PROBLEM {line}")
    return 1 if bench.problems else 0


if __name__ == "__main__":
    command.end_with(main)

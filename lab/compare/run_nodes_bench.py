#!/usr/bin/env python3
"""Measures HDF5, PnetCDF, MPI-IO patterns and the library on nodes that are really apart.

Beside them runs the native MPI-IO of Open MPI. With links of any speed and of 1 Gbit/s; goals are
printed beside ratios. Runs inside tests/nodes/cluster.sh (lab/scripts/bench_nodes.sh), 8 ranks on 4
nodes. As in run_mpiio_bench.py the implementations are interleaved, and a ratio is the median over
the cycles. All figures go to OUT/nodes.json."""

import argparse
import contextlib
import dataclasses
import json
import os
import time

import command
from mpiio import cases
from programs import PREFIX
from run_mpiio_bench import OURS, ROOT, Bench, Mpi, say
from servers import nodes
from servers.nodes import CLUSTER, SHARE

NODES = 4
RANKS = 8
LIBRARY = "library"  # stria flash io, beside programs that write the same through HDF5
# Goals of noncontiguous collectives and FLASH I/O, and of anything else.
COLLECTIVE, AS_NATIVE = 1.3, 1.0


def cluster(*words):
    done = nodes.tell(*words)
    if done.returncode != 0:
        raise SystemExit(f"run_nodes_bench.py: {' '.join(words)}: {(done.stdout + done.stderr).strip()}")
    return done.stdout


class ClusterMpi(Mpi):
    """Open MPI on the virtual nodes."""

    def __init__(self, build, natives):
        super().__init__("openmpi", build, natives)

    def launch(self, ranks, options):
        return [CLUSTER, "run", "openmpi", "-n", str(ranks), *options]


class NodesBench(Bench):
    """The same on nodes, with files on what they share."""

    figures = "nodes.json"

    @contextlib.contextmanager
    def place(self, kind):
        path = f"{SHARE}/bench-{time.monotonic_ns()}"
        cluster("on", "n1", "mkdir", path)
        try:
            yield path
        finally:
            cluster("on", "n1", "rm", "-rf", path)

    def mpis(self, ranks):
        return [self.options.openmpi]

    def library(self, case):
        """Returns a checkpoint by the library beside the same through HDF5, collectively, on the
        native implementations."""
        mpi = self.options.openmpi
        result_path = os.path.join(self.options.out, "flash_result.json")
        with self.place(None) as place:

            def measure(chosen, name, ranks):
                ours = name == OURS
                program = [chosen.program, "flash", "io"] if ours else [chosen.flash_program, "--modes", "hdf5-collective"]
                command = [
                    *program, "--nxb", str(case.nxb), "--blocks", str(case.blocks), "--rounds", str(self.options.rounds),
                    "--dir", place, "--verify", "--json", result_path,
                ]  # fmt: skip
                # The drop-in isn't needed, since the command makes no call of MPI-IO.
                text, why = chosen.run(LIBRARY if ours else name, ranks, command)
                if text is None:
                    return None, why
                with open(result_path, encoding="utf-8") as file:
                    mode = json.load(file)["modes"][0]
                return ({"write": mode["mbps"]["median"]}, None) if mode["verified"] else (None, "the file is not right")

            self.compare(case, mpi, self.cycle(mpi, case.ranks, case.title(), measure))


@dataclasses.dataclass(frozen=True)
class LibraryCase(cases.FlashCase):
    """`stria flash io`."""


def goal_of(case):
    noncontiguous = case.pattern.startswith(("block3d", "noncontig", "tile", "btio_full"))
    return COLLECTIVE if case.method == "collective" and noncontiguous else AS_NATIVE


def patterns(quick):
    if quick:
        chosen = [*cases.block3d(32, RANKS)[:1], *cases.other_patterns(NODES, 1, 12)[:2]]
        return [dataclasses.replace(case, goal=goal_of(case), ompio_goal=0.0) for case in chosen]
    chosen = [*cases.block3d(128, RANKS)[:2], *cases.other_patterns(RANKS, 2, 48)]
    chosen += [case for case in cases.other_patterns(NODES, 2, 48) if case.pattern.startswith("btio")]
    return [dataclasses.replace(case, goal=goal_of(case), ompio_goal=0.0) for case in chosen]


def flash_cases(quick):
    blocks = 1 if quick else 10
    through = [cases.FlashCase(mode, RANKS, 8, blocks, COLLECTIVE) for mode in cases.FLASH_MODES]
    return [*through, LibraryCase("library beside hdf5-collective", RANKS, 8, blocks, COLLECTIVE)]


def measure_all(bench, rate, options):
    """Returns all cases on nodes with that link."""
    where = f"{options.fs}, {rate or 'links of any speed'}"
    offered = [*flash_cases(options.quick), *patterns(options.quick)]
    chosen = [case for case in offered if options.only in f"{case.title()} {where}"]
    if not chosen or options.list:
        say("\n".join(f"{case.title()}: {where}" for case in chosen))
        return
    cluster("up", str(NODES), "--fs", options.fs, *(["--rate", rate] if rate else []))
    say(f"\n{RANKS} ranks on {NODES} nodes, {where}")
    if not nodes.is_visible(options.out):
        cluster("down")
        raise SystemExit(
            f"run_nodes_bench.py: --out {options.out} can't be seen on the nodes, whose temporary directories "
            "are their own; choose another directory"
        )
    bench.record["where"] = where
    first = len(bench.record["cases"])
    try:
        for case in chosen:
            if isinstance(case, LibraryCase):
                bench.library(case)
            elif isinstance(case, cases.FlashCase):
                bench.flash(case)
            else:
                bench.pattern(case)
            for entry in bench.record["cases"][first:]:
                entry.setdefault("where", where)
            bench.save()
    finally:
        cluster("down")


def main(arguments):
    """Returns 0; 1 when a program failed or read something wrong. A missed goal is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes once, a minute: only shows that all of it works")
    parser.add_argument("--cycles", type=int, default=3, help="times that every implementation runs")
    parser.add_argument("--rounds", type=int, default=2, help="measured rounds a run")
    parser.add_argument("--only", default="", help="only cases whose title contains this")
    parser.add_argument("--rate", action="append", help="of a node's link, such as 1gbit; '' for any; may be repeated")
    parser.add_argument("--fs", default="local", help="what the nodes share: as for cluster.sh")
    parser.add_argument("--list", action="store_true", help="print the cases and leave")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    options = parser.parse_args(arguments)
    options.out = os.path.abspath(options.out)
    if options.quick:
        options.cycles = options.rounds = 1
        options.rate = options.rate or [""]
    os.makedirs(options.out, exist_ok=True)
    natives = {"ompio": ["--mca", "io", "ompio"], "romio": ["--mca", "io", "^ompio"]}
    options.openmpi = ClusterMpi(PREFIX, natives)
    bench = NodesBench(options)
    begin = time.monotonic()
    for rate in options.rate or ["", "1gbit"]:
        measure_all(bench, rate, options)
    minutes = (time.monotonic() - begin) / 60
    say(f"\n{bench.measured} cases in {minutes:.1f} minutes, {len(bench.missed)} goals missed; figures in {options.out}")
    for line in [*(f"MISSED {line}" for line in bench.missed), *(f"PROBLEM {line}" for line in bench.problems)]:
        say(line)
    return 1 if any(f", {OURS}: " in line for line in bench.problems) else 0


if __name__ == "__main__":
    command.end_with(main)

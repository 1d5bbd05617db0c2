#!/usr/bin/env python3
"""Measures Stria on four virtual nodes beside OMPIO and ROMIO on a CephFS of the same nodes.

Eight ranks on four nodes write and read the same patterns by each way in every cycle: MPI-IO of
Open MPI's two implementations on CephFS; the drop-in's two-phase there, without and with delegates
of the nodes; and the drop-in on a store of four `stria serve`, whose parts lie in the nodes' own
directories. FLASH I/O also goes through the library. A ratio is the median over the cycles of (a
way's speed / the better native one's in that cycle). Every program compares all that it reads with
what it wrote. Runs inside tests/nodes/cluster.sh (lab/scripts/bench_nodes.sh ceph); where Ceph
isn't installed it says so and ends. All figures go to OUT/nodes_ceph.json."""

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import time

import command
import patterns
from mpiio import cases
from run_mpiio_bench import ROOT, say
from run_nodes_bench import NODES, RANKS, ClusterMpi
from servers import nodes
from servers.nodes import KEY, SHARE, address

TIMEOUT_S = 300
STRIPES = "striping_unit=262144"


@dataclasses.dataclass(frozen=True)
class Way:
    """One way to the bytes: options of mpiexec for a native implementation, or hints of ours."""

    name: str
    native: tuple = ()
    hints: tuple = ()
    on_store: bool = False
    by_library: bool = False


NATIVES = [Way("ompio", native=("--mca", "io", "ompio")), Way("romio", native=("--mca", "io", "^ompio"))]
TWO_PHASE = Way("two-phase", hints=("stria_method=two_phase", "stria_shared_memory=disable"))
DELEGATES = Way("delegates", hints=("stria_method=two_phase",))
SERVERS = Way("servers", hints=(STRIPES,), on_store=True)
LIBRARY = Way("library", by_library=True)
LIBRARY_ON_SERVERS = Way("library, servers", hints=(STRIPES,), on_store=True, by_library=True)
OF_PATTERNS = [*NATIVES, TWO_PHASE, DELEGATES, SERVERS]
OF_FLASH = [*NATIVES, TWO_PHASE, DELEGATES, LIBRARY, LIBRARY_ON_SERVERS]
CHOSEN_PATTERNS = ("block3d", "noncontig_nc_nc", "noncontig_c_nc", "tile", "ior")


class Cluster:
    """The nodes with their CephFS and their servers, while it is the context."""

    def __init__(self, mpi, rate):
        self.mpi = mpi
        self.rate = rate
        self.servers = []

    def told(self, *words):
        done = nodes.tell(*words)
        if done.returncode != 0:
            raise SystemExit(f"run_ceph_nodes_bench.py: {' '.join(map(str, words))}: {(done.stdout + done.stderr).strip()}")

    def missing(self):
        """Brings the nodes up; says what keeps Ceph from it, if anything does."""
        up = nodes.tell("up", NODES, "--fs", "ceph", *(["--rate", self.rate] if self.rate else []))
        if up.returncode == 77:
            return up.stdout.strip().removeprefix("skipped: ")
        if up.returncode != 0:
            raise SystemExit(f"run_ceph_nodes_bench.py: no cluster: {(up.stdout + up.stderr).strip()}")
        return ""

    def serve(self):
        try:
            self.servers = nodes.start_servers(self.mpi.program, range(1, NODES + 1))
        except OSError as error:
            raise SystemExit(f"run_ceph_nodes_bench.py: {error}") from error

    def down(self):
        nodes.tell("down")
        nodes.end(self.servers)

    @contextlib.contextmanager
    def place(self, way):
        """Gives a directory for the files of one run."""
        name = f"bench-{time.monotonic_ns()}"
        if way.on_store:
            yield f"stria://{address(1)}/{name}"
            nodes.tell("on", "n1", "env", f"STRIA_KEY_FILE={KEY}", self.mpi.program, "rm", "-r", f"stria://{address(1)}/{name}")
            return
        self.told("on", "n1", "mkdir", f"{SHARE}/{name}")
        yield f"{SHARE}/{name}"
        self.told("on", "n1", "rm", "-rf", f"{SHARE}/{name}")

    def run(self, way, words, ranks=RANKS):
        """Returns None, or why the program failed."""
        settings = [f"STRIA_KEY_FILE={KEY}"]
        if not way.native and not way.by_library:
            settings += [f"LD_PRELOAD={self.mpi.library}", f"STRIA_HINTS={';'.join(way.hints)}"]
        line = [*self.mpi.launch(ranks, way.native), "env", *settings, *words]
        try:
            done = subprocess.run(
                line, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"no end after {TIMEOUT_S} s"
        return None if done.returncode == 0 else " | ".join((done.stdout + done.stderr).strip().splitlines()[:2])


class Bench:
    def __init__(self, options, cluster):
        self.options = options
        self.cluster = cluster
        self.record = {"cycles": options.cycles, "rounds": options.rounds, "rate": options.rate, "cases": []}
        self.problems = []

    def measure_pattern(self, case, way, place):
        """Returns ({quantity: MB/s}, None), or (None, why not)."""
        result = os.path.join(self.options.out, "pattern_result.json")
        words = patterns.command(
            self.cluster.mpi.program, case.pattern, case.size, case.method,
            directory=place, rounds=self.options.rounds, result=result,
        )  # fmt: skip
        why = self.cluster.run(way, words)
        if why is not None:
            return None, why
        document = patterns.take(result)
        return {quantity: document[quantity]["mbps"]["median"] for quantity in ("write", "read")}, None

    def measure_flash(self, case, way, place):
        """Returns the same of FLASH I/O, which is only written; without the library through
        HDF5."""
        result = os.path.join(self.options.out, "flash_result.json")
        mpi = self.cluster.mpi
        words = [mpi.program, "flash", "io"] if way.by_library else [mpi.flash_program, "--modes", "hdf5-collective"]
        words += ["--nxb", case.nxb, "--blocks", case.blocks, "--rounds", self.options.rounds, "--dir", place]
        words += ["--verify", "--json", result]
        for hint in way.hints if way.by_library else ():
            words += ["--hint", hint]
        why = self.cluster.run(way, list(map(str, words)))
        if why is not None:
            return None, why
        with open(result, encoding="utf-8") as file:
            mode = json.load(file)["modes"][0]
        return ({"write": mode["mbps"]["median"]}, None) if mode["verified"] else (None, "the file is not right")

    def compare(self, title, ways, measure):
        speeds = {way.name: {} for way in ways}
        for _ in range(self.options.cycles):
            for way in [way for way in ways if way.name in speeds]:
                with self.cluster.place(way) as place:
                    values, why = measure(way, place)
                if values is None:
                    self.problems.append(f"{title}, {way.name}: {why}")
                    del speeds[way.name]
                    continue
                for quantity, value in values.items():
                    speeds[way.name].setdefault(quantity, []).append(value)
        self.tell(title, speeds)

    def tell(self, title, speeds):
        """Returns a line a quantity: each way's MB/s, and its ratio to the better native one."""
        entry = {"title": title, "mbps": speeds, "ratios": {}}
        self.record["cases"].append(entry)
        natives = [speeds[way.name] for way in NATIVES if way.name in speeds]
        for quantity in next(iter(speeds.values()), {}):
            columns = []
            ratios = entry["ratios"][quantity] = {}
            for name, values in speeds.items():
                if natives:
                    ratios[name] = statistics.median(
                        value / max(native[quantity][i] for native in natives) for i, value in enumerate(values[quantity])
                    )
                ratio = f" ({ratios[name]:.2f} x)" if natives else ""
                columns.append(f"{name} {statistics.median(values[quantity]):.3g}{ratio}")
            say(f"{title:42.42} {quantity:6}MB/s: {'  '.join(columns)}")
        with open(os.path.join(self.options.out, "nodes_ceph.json"), "w", encoding="utf-8") as file:
            json.dump({**self.record, "problems": self.problems}, file, indent=1)


def chosen_cases(options):
    """Returns patterns of run_nodes_bench.py's, and a checkpoint."""
    cells, mebibytes, blocks = (32, 1, 2) if options.small else (128, 2, 10)
    every = [*cases.block3d(cells, RANKS)[:1], *cases.other_patterns(RANKS, mebibytes, 48)]
    chosen = [case for case in every if case.method == "collective" and case.pattern in CHOSEN_PATTERNS]
    if options.small:
        chosen = [dataclasses.replace(case, size=min(case.size, cells)) for case in chosen if case.pattern != "ior"]
    chosen.append(cases.FlashCase("hdf5-collective", RANKS, 8, blocks))
    return [case for case in chosen if options.only in case.title()]


def measure_all(options, cluster):
    missing = cluster.missing()
    if missing:
        say(f"skipped: {missing}")
        return []
    try:
        if not nodes.is_visible(options.out):
            raise SystemExit(
                f"run_ceph_nodes_bench.py: --out {options.out} can't be seen on the nodes; choose another directory"
            )
        cluster.serve()
        say(f"{RANKS} ranks on {NODES} nodes, CephFS, {options.rate or 'links of any speed'}; x: of the better native one")
        bench = Bench(options, cluster)
        for case in chosen_cases(options):
            flash = isinstance(case, cases.FlashCase)
            measure = bench.measure_flash if flash else bench.measure_pattern
            title = "FLASH I/O, collective" if flash else f"{case.pattern} {case.size} {case.method}"
            bench.compare(title, OF_FLASH if flash else OF_PATTERNS, lambda way, place, m=measure, c=case: m(c, way, place))
        return bench.problems
    finally:
        cluster.down()


def main(arguments):
    """Returns 0; 1 when one of ours failed or read something wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=3, help="times that every way runs")
    parser.add_argument("--rounds", type=int, default=2, help="measured rounds a run")
    parser.add_argument("--only", default="", help="only cases whose title contains this")
    parser.add_argument("--rate", default="", help="of a node's link, such as 1gbit; none: any")
    parser.add_argument("--small", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"), help="where the results go")
    options = parser.parse_args(arguments)
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    problems = measure_all(options, Cluster(ClusterMpi(os.path.join(ROOT, "build", "release"), {}), options.rate))
    for line in problems:
        say(f"PROBLEM {line}")
    return 1 if any(f", {way.name}: " in line for line in problems for way in OF_FLASH + [SERVERS] if not way.native) else 0


if __name__ == "__main__":
    command.end_with(main)

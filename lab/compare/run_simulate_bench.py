#!/usr/bin/env python3
"""Does the model of `stria simulate` predict? Eight patterns, measured and simulated.

Four servers on virtual nodes, whose links take so much a second and no more, are a machine that one
computer can have. `stria tune --describe` measures its numbers. Then `stria bench` writes and reads
eight patterns on it, and `stria simulate` says beforehand how long each takes. A ratio is the
simulated time / the median of the measured ones. No pattern is among the runs that measure the
numbers. Runs inside tests/nodes/cluster.sh (lab/scripts/bench_nodes.sh simulate). All figures go to
OUT/simulate.json."""

import argparse
import dataclasses
import json
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
from command import end_with, say  # noqa: E402
from program_output import run_to_end  # noqa: E402
from programs import ROOT, STRIA  # noqa: E402
from servers import nodes  # noqa: E402

SERVERS = 4
RANKS = 4
GOAL = 1.3
TIMEOUT_S = 300
# The clients run beside the nodes, where the nodes' shared directory has another name.
KEY = os.path.join("/mnt/cluster/store", os.path.basename(nodes.KEY))


@dataclasses.dataclass(frozen=True)
class Pattern:
    """One workload through one interface. `requests`: each rank by itself, a request a piece."""

    title: str
    workload: str
    sizes: tuple
    hints: tuple = ()
    requests: bool = False

    def bench_words(self):
        words = ["bench", self.workload]
        for name, value in self.sizes:
            words += [f"--{name}", str(value)]
        words += ["--through", "posix", "--method", "multiple"] if self.requests else ["--through", "library"]
        return words + self.hint_words(self.hints)

    def simulate_words(self, machine):
        words = ["simulate", "--machine", machine, "--workload", self.workload, "--ranks", str(RANKS)]
        for name, value in self.sizes:
            words += ["--set", f"{name}={value}"]
        hints = (*self.hints, "stria_method=multiple") if self.requests else self.hints
        return words + ["--through", "alone" if self.requests else "library"] + self.hint_words(hints)

    @staticmethod
    def hint_words(hints):
        return [word for hint in hints for word in ("--hint", hint)]


def patterns(scale):
    """Returns the eight, each `scale` times as large as in the quick form."""
    return [
        Pattern("contiguous, all servers", "ior", (("block-kib", 4096 * scale), ("transfer-kib", 1024))),
        Pattern("contiguous, one server", "ior", (("block-kib", 2048 * scale), ("transfer-kib", 1024)), ("striping_factor=1",)),
        Pattern(
            "contiguous, three servers, each rank's own requests", "ior",
            (("block-kib", 4096 * scale), ("transfer-kib", 1024)), ("striping_factor=3",), requests=True,
        ),
        Pattern("checkpoint of FLASH", "flash", (("blocks", 40 * scale),)),
        Pattern(
            "3-D blocks, one aggregator", "block3d", (("cells", 128 * round(scale ** (1 / 3) * 4) // 4),),
            ("stria_method=two_phase", "cb_nodes=1"),
        ),
        Pattern("8 bytes in turn", "noncontig", (("kib", 2048 * scale),)),
        Pattern("1 KiB in turn, a request each", "cyclic", (("mib", 2 * scale), ("accesses", 512 * scale)), (), requests=True),
        Pattern("rows of blocks, by lists", "blockblock", (("mib", 16 * scale), ("accesses", 2048)), ("stria_method=list_io",)),
    ]  # fmt: skip


class Machine:
    """Servers on virtual nodes and their measured description, while it is the context."""

    def __init__(self, rate, directory):
        self.rate = rate
        self.description = os.path.join(directory, "machine.json")
        self.processes = []

    def __enter__(self):
        up = nodes.tell("up", SERVERS, "--rate", self.rate)
        if up.returncode != 0:
            raise SystemExit(f"run_simulate_bench.py: no nodes: {(up.stdout + up.stderr).strip()}")
        try:
            self.processes = nodes.start_servers(STRIA, range(1, SERVERS + 1))
        except OSError as error:
            self.__exit__()
            raise SystemExit(f"run_simulate_bench.py: {error}") from error
        return self

    def __exit__(self, *_):
        nodes.tell("down")
        nodes.end(self.processes)

    def run(self, words, ranks=0):
        """Returns what the program printed. Raises SystemExit, which says why it failed."""
        launch = ["mpiexec.openmpi", "-n", str(ranks)] if ranks else []
        ended = run_to_end([*launch, STRIA, *words], TIMEOUT_S, environment={"STRIA_KEY_FILE": KEY})
        if ended.why is not None:
            raise SystemExit(f"run_simulate_bench.py: {' '.join(words[:2])}: {ended.why}\n{ended.errors}")
        return ended.out

    def document(self, words, ranks=0):
        path = self.description + ".result"
        self.run([*words, "--json", path], ranks)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def describe(self, directory):
        url = f"stria://{nodes.address(1)}"
        words = ["tune", "--for", "ior", "--size", "block-kib=64", "--budget", "1", "--dir", url]
        self.run([*words, "--describe", self.description, "--output", os.path.join(directory, "hints")], RANKS)
        with open(self.description, encoding="utf-8") as file:
            return json.load(file)


def compare(machine, pattern, rounds):
    """Returns measured and simulated seconds of both directions."""
    url = f"stria://{nodes.address(1)}"
    measured = machine.document([*pattern.bench_words(), "--read", "--rounds", str(rounds), "--dir", url], RANKS)
    entry = {"pattern": pattern.title, "method": measured["write"]["method"]}
    for direction, option in (("write", []), ("read", ["--read"])):
        simulated = machine.document([*pattern.simulate_words(machine.description), *option])
        seconds = measured[direction]["seconds"]["median"]
        entry[direction] = {
            "measured_s": seconds,
            "range_s": [measured[direction]["seconds"]["min"], measured[direction]["seconds"]["max"]],
            "simulated_s": simulated["seconds"],
            "ratio": simulated["seconds"] / seconds,
        }
    return entry


def is_near(ratio):
    return 1 / GOAL <= ratio <= GOAL


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="run_simulate_bench.py", description=__doc__.splitlines()[0])
    parser.add_argument("--rate", default="200mbit", help="of each server's link")
    parser.add_argument("--rounds", type=int, default=5, help="times that each pattern is measured")
    parser.add_argument("--scale", type=int, default=4, help="how large patterns are")
    parser.add_argument("--quick", action="store_true", help="small patterns, two rounds")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "bench"))
    options = parser.parse_args(arguments)
    if options.quick:
        options.scale, options.rounds = 1, 2
    return options


def main(arguments):
    """Prints the verdicts, and returns 0. An outcome that isn't near is no failure: the computer
    may have other work."""
    options = parse_arguments(arguments)
    os.makedirs(options.out, exist_ok=True)
    entries = []
    with tempfile.TemporaryDirectory(prefix="stria-simulate-", dir=options.out) as directory:
        with Machine(options.rate, directory) as machine:
            description = machine.describe(directory)
            for name, (value, _) in description["servers"].items():
                say(f"servers.{name}: {value:.6g}")
            say(f"\n{'pattern':52}{'':6}{'measured s':>11}{'simulated s':>13}{'ratio':>8}")
            for pattern in patterns(options.scale):
                entry = compare(machine, pattern, options.rounds)
                entries.append(entry)
                for direction in ("write", "read"):
                    figures = entry[direction]
                    verdict = "" if is_near(figures["ratio"]) else "   MISSES"
                    say(
                        f"{pattern.title:52}{direction:6}{figures['measured_s']:>11.4f}{figures['simulated_s']:>13.4f}"
                        f"{figures['ratio']:>8.2f}{verdict}"
                    )
    ratios = [entry[direction]["ratio"] for entry in entries for direction in ("write", "read")]
    met = sum(map(is_near, ratios))
    say(f"\n{met} of {len(ratios)} predictions within a factor of {GOAL}")
    with open(os.path.join(options.out, "simulate.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": description, "goal": GOAL, "patterns": entries}, file, indent=1)
    return 0


if __name__ == "__main__":
    end_with(main)

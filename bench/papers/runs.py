"""Runs of `stria bench` for the papers' experiments: variants take turns, and times become ratios
within a turn."""

import json
import os
import shlex
import statistics
import subprocess

from mpiexec_env import mpiexec_environment

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRIA = os.path.join(ROOT, "build", "release", "bin", "stria")
DROP_IN = os.path.join(ROOT, "build", "release", "lib", "libstria_mpiio.so")
TIMEOUT_S = 600


class Failed(Exception):
    """A program that failed, read something wrong or found no end."""


class Runs:
    """Starts programs, and remembers each command for the page."""

    def __init__(self, out, cycles):
        self.out = out
        self.cycles = cycles
        self.commands = []

    def bench(self, ranks, words, directory, preload=False):
        """What one run tells (docs/bench.md)."""
        result = os.path.join(self.out, "papers_result.json")
        shown = ["stria", "bench", *map(str, words), "--read", "--verify", "--rounds", "1"]
        launch = ["mpiexec.openmpi", "-n", str(ranks)] + (["env", f"LD_PRELOAD={DROP_IN}"] if preload else [])
        command = [*launch, STRIA, *shown[1:], "--dir", directory, "--json", result]
        place = "stria://SERVER" if directory.startswith("stria://") else "DIR"
        preloaded = ["env", "LD_PRELOAD=libstria_mpiio.so"] if preload else []
        told = shlex.join(["mpiexec", "-n", str(ranks), *preloaded, *shown, "--dir", place])
        if told not in self.commands:
            self.commands.append(told)
        try:
            done = subprocess.run(
                command, env=mpiexec_environment(), capture_output=True, text=True, timeout=TIMEOUT_S,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Failed(f"{told}: no end after {TIMEOUT_S} s") from None
        if done.returncode != 0:
            raise Failed(f"{told}: {' | '.join((done.stdout + done.stderr).strip().splitlines()[-2:])}")
        with open(result, encoding="utf-8") as file:
            document = json.load(file)
        os.remove(result)
        return document

    def in_turn(self, variants):
        """{name: function that runs once} to {name: [document a cycle]}."""
        documents = {name: [] for name in variants}
        for _ in range(self.cycles):
            for name, run in variants.items():
                documents[name].append(run())
        return documents


def seconds(document, direction):
    return document[direction]["seconds"]["median"]


def ratio(documents, above, below, direction):
    """The median over the cycles of the time of one variant divided by that of another."""
    pairs = zip(documents[above], documents[below], strict=True)
    return statistics.median(seconds(a, direction) / seconds(b, direction) for a, b in pairs)


def median_seconds(documents, direction):
    return {name: statistics.median(seconds(one, direction) for one in many) for name, many in documents.items()}

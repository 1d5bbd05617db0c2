"""Runs of programs for the papers' experiments: variants take turns, and times become ratios
within a turn."""

import glob
import json
import os
import shlex
import statistics
import tempfile

from program_output import run_to_end
from programs import DROP_IN, PEERS, STRIA, WRAPPERS

TIMEOUT_S = 600


class Failed(Exception):
    """A program that failed, read something wrong or found no end; `output` is all that it
    printed."""

    def __init__(self, why, output=""):
        super().__init__(why)
        self.output = output


def shown(word):
    """Returns a word of a command as the page shows it: without this machine's places."""
    if word.startswith("stria://"):
        return "stria://SERVER"
    name, equals, value = word.rpartition("=")
    if value.startswith("/"):
        return name + equals + (os.path.basename(value) if value.endswith(".so") else "DIR")
    return word


def run(command, told):
    """Runs a program to its end and returns what it printed. Raises Failed, which names it as
    `told`."""
    ended = run_to_end(command, TIMEOUT_S, told=slice(-2, None))
    if ended.why is not None:
        raise Failed(f"{told}: {ended.why}", ended.out + ended.errors)
    return ended.out


class Runs:
    """Starts programs, and remembers each command for the page."""

    def __init__(self, out, cycles):
        self.out = out
        self.cycles = cycles
        self.commands = []

    def bench(self, ranks, words, directory, preload=False):
        """Returns what one run of `stria bench` tells (docs/bench.md)."""
        options = ["--read", "--verify", "--rounds", "1", "--dir", directory]
        return self._stria(ranks, ["bench", *map(str, words), *options], {"LD_PRELOAD": DROP_IN} if preload else {})

    def simulate(self, machine, ranks, workload, settings, through, hints=(), reads=False, numbers=(), more=()):
        """Returns what one run of `stria simulate` tells (docs/simulate.md). `more`: words that the
        page doesn't show."""
        words = ["simulate", "--machine", machine, "--workload", workload, "--ranks", str(ranks), "--through", through]
        words += [word for setting in settings for word in ("--set", setting)]
        words += [word for hint in hints for word in ("--hint", hint)]
        words += [word for number in numbers for word in ("--number", number)]
        told = shlex.join(["stria", *words, *(["--read"] if reads else [])])
        if told not in self.commands:
            self.commands.append(told)
        result = os.path.join(self.out, "papers_result.json")
        run([STRIA, *words, *(["--read"] if reads else []), "--json", result, *more], told)
        with open(result, encoding="utf-8") as file:
            document = json.load(file)
        os.remove(result)
        return document

    def traced_simulation(self, *arguments):
        """Returns what one run of `stria simulate` tells, and the tables of its timeline."""
        with tempfile.TemporaryDirectory(prefix="traces-", dir=self.out) as traces:
            more = ["--timeline", os.path.join(traces, "run.stria-trace")]
            return self.simulate(*arguments, more=more), self._stats(traces)

    def traced_bench(self, ranks, words, directory):
        """The tables of the trace of one run of `stria bench` on the drop-in (docs/tracing.md)."""
        with tempfile.TemporaryDirectory(prefix="traces-", dir=directory) as traces:
            setting = {"LD_PRELOAD": DROP_IN, "STRIA_TRACE": "full", "STRIA_TRACE_DIR": traces}
            self._stria(ranks, ["bench", *map(str, words), "--rounds", "1", "--dir", directory], setting)
            return self._stats(traces)

    def convection(self, ranks, words, directory, traced=False):
        """Returns what one run of `stria convection` tells, and where it is traced, the tables of
        its trace; else None."""
        with tempfile.TemporaryDirectory(prefix="convection-", dir=directory) as out:
            setting = {"STRIA_TRACE": "app", "STRIA_TRACE_DIR": out} if traced else {}
            report = self._stria(ranks, ["convection", *map(str, words), "--out", out], setting)
            return report, self._stats(out) if traced else None

    def peers(self, ranks, words, modes, directory):
        """Returns {mode: what bench_flash_peers tells of it}."""
        options = ["--verify", "--rounds", str(max(self.cycles, 2))]
        document = self._measured(ranks, PEERS, self._peers_words(words, modes, directory, options), {})
        return {mode["name"]: mode for mode in document["modes"]}

    def traced_peers(self, ranks, words, modes, directory):
        """Returns the tables of the trace of one run of bench_flash_peers, all calls of HDF5 and
        MPI-IO."""
        with tempfile.TemporaryDirectory(prefix="traces-", dir=directory) as traces:
            setting = {"LD_PRELOAD": WRAPPERS, "STRIA_TRACE": "library", "STRIA_TRACE_DIR": traces}
            self._measured(ranks, PEERS, self._peers_words(words, modes, directory, ["--rounds", "1"]), setting)
            return self._stats(traces)

    @staticmethod
    def _peers_words(words, modes, directory, options):
        return [*map(str, words), "--modes", ",".join(modes), *options, "--dir", directory]

    def _stats(self, directory):
        """Returns the statistics of the largest trace in a directory: a program and what it
        preloads leave one each."""
        traces = sorted(glob.glob(os.path.join(directory, "*.stria-trace")), key=os.path.getsize)
        if not traces:
            raise Failed("the run left no trace")
        return json.loads(run([STRIA, "trace", "stats", "--json", traces[-1]], "stria trace stats"))

    def _stria(self, ranks, words, setting):
        return self._measured(ranks, STRIA, words, setting)

    def _measured(self, ranks, program, words, setting):
        """Returns the JSON that a program writes on so many ranks."""
        result = os.path.join(self.out, "papers_result.json")
        settings = ["env", *(f"{name}={value}" for name, value in setting.items())] if setting else []
        told = shlex.join(["mpiexec", "-n", str(ranks), *map(shown, settings), os.path.basename(program), *map(shown, words)])
        if told not in self.commands:
            self.commands.append(told)
        run(["mpiexec.openmpi", "-n", str(ranks), *settings, program, *words, "--json", result], told)
        with open(result, encoding="utf-8") as file:
            document = json.load(file)
        os.remove(result)
        return document

    def in_turn(self, variants):
        """Turns {name: function that runs once} into {name: [document a cycle]}."""
        documents = {name: [] for name in variants}
        for _ in range(self.cycles):
            for name, run in variants.items():
                documents[name].append(run())
        return documents


def seconds(document, direction):
    return document[direction]["seconds"]["median"]


def ratio(documents, above, below, direction):
    """Returns the median over the cycles of the time of one variant divided by that of another."""
    pairs = zip(documents[above], documents[below], strict=True)
    return statistics.median(seconds(a, direction) / seconds(b, direction) for a, b in pairs)


def median_seconds(documents, direction):
    return {name: statistics.median(seconds(one, direction) for one in many) for name, many in documents.items()}

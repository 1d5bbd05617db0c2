#!/usr/bin/env python3
"""Runs the experiments of the papers that Stria rebuilds, and writes OUT/index.html.

The page shows the papers' figures beside ours.

`stria papers` starts it (docs/bench.md)."""

import argparse
import dataclasses
import importlib
import json
import os
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "lab"), os.path.join(ROOT, "lab", "compare"), os.path.join(ROOT, "scripts")]
from command import say  # noqa: E402
from programs import DROP_IN, PEERS, STRIA, WRAPPERS  # noqa: E402
from servers.store import Store  # noqa: E402

from papers import ching, flash, page, simulated, sweeps, thakur, yu  # noqa: E402
from papers.outcome import Failure  # noqa: E402
from papers.runs import Failed, Runs  # noqa: E402

EXPERIMENTS = sorted(
    (experiment for paper in (ching, flash, simulated, sweeps, thakur, yu) for experiment in paper.EXPERIMENTS),
    key=lambda experiment: experiment.key,
)


@dataclasses.dataclass(frozen=True)
class Places:
    """Where files go: a store of eight servers, and a directory."""

    store: str
    directory: str


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="stria papers", description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("list", "run"))
    parser.add_argument("ids", nargs="*", help="experiments, or all", metavar="ID")
    parser.add_argument("--quick", action="store_true", help="small sizes, some minutes")
    parser.add_argument("--cycles", type=int, default=3, help="times that every variant runs")
    parser.add_argument("--dir", default="/dev/shm", help="where the store and the files are made")
    parser.add_argument("--out", default=os.path.join("out", "papers"), help="where the page goes")
    options = parser.parse_args(arguments)
    known = {experiment.key for experiment in EXPERIMENTS}
    for key in options.ids:
        if key not in known and key != "all":
            parser.exit(2, f"stria: papers: no experiment {key}; known: {', '.join(sorted(known))}\n")
    if options.action == "run" and not options.ids:
        parser.error("run: name experiments, or all")
    return options


def what_is_missing(experiments):
    """Why these experiments can't run, or None."""
    try:
        importlib.import_module("matplotlib")
    except ImportError as error:
        return f"{sys.executable} has no matplotlib ({error}): install it there, or name another Python by STRIA_PYTHON"
    only_simulated = all(experiment.is_simulated for experiment in experiments)
    for program in (STRIA,) if only_simulated else (STRIA, DROP_IN, PEERS, WRAPPERS):
        if not os.path.exists(program):
            return f"no {program}; the experiments need a whole build for Open MPI (make papers)"
    return None


def measure(experiment, options, places):
    """Returns the outcome. An experiment that fails, in whatever way, is no reason to lose the
    others: it leaves a Failure."""
    runs = Runs(options.out, options.cycles)
    say(f"{experiment.key}: {experiment.title}")
    try:
        outcome = experiment.measure(runs, places, options.quick)
    except Failed as failed:
        outcome = Failure(str(failed), failed.output)
    except Exception as error:
        outcome = Failure(f"{type(error).__name__}: {error}", traceback.format_exc())
    outcome.commands = runs.commands
    if isinstance(outcome, Failure):
        say(f"PROBLEM {experiment.key}: {outcome.why}\n{outcome.output}".rstrip())
        return outcome
    for row in outcome.rows:
        say(f"  {row.what}: paper {page.number(row.paper)}, here {page.number(row.ours)}")
    return outcome


def recorded(outcome):
    """The outcome as papers.json has it."""
    if isinstance(outcome, Failure):
        return {"failed": outcome.why, "output": outcome.output}
    return [dataclasses.asdict(row) for row in outcome.rows]


def write(results, out):
    """Writes the page and the figures of [(experiment, its outcome or failure)]."""
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8") as file:
        file.write(page.page(results))
    with open(os.path.join(out, "papers.json"), "w", encoding="utf-8") as file:
        json.dump({experiment.key: recorded(outcome) for experiment, outcome in results}, file, indent=1)


def is_right(outcome):
    return not isinstance(outcome, Failure) and all(row.agrees() is not False for row in outcome.rows)


def main(arguments):
    """Returns 0; 1 when a program failed or a count differs from the paper's; 2 when it could not
    start."""
    options = parse_arguments(arguments)
    if options.action == "list":
        say("\n".join(f"{experiment.key}  {experiment.title}" for experiment in EXPERIMENTS))
        return 0
    chosen = [experiment for experiment in EXPERIMENTS if experiment.key in options.ids or "all" in options.ids]
    if missing := what_is_missing(chosen):
        print(f"stria: papers: {missing}", file=sys.stderr)
        return 2
    os.makedirs(options.out, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="stria-papers-", dir=options.dir) as directory, Store(directory) as store:
        for experiment in chosen:
            results.append((experiment, measure(experiment, options, Places(store.url, directory))))
            write(results, options.out)
    say(f"the page: {os.path.join(options.out, 'index.html')}")
    return 0 if all(is_right(outcome) for _, outcome in results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

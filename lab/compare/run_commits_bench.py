#!/usr/bin/env python3
"""Measures whether a change has made `stria bench` slower: each workload runs by the `stria` of
another commit and by that of this tree, in turn, so that both meet the same noise.

Printed are, for writing, reading and the processor time of all ranks, the time of this tree divided
by that of the other commit: the median of the turns' ratios, and behind it the ratio of the least
times. Noise makes times longer, never shorter, so that what both ratios say is no noise."""

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
import command  # noqa: E402
from patterns import take  # noqa: E402
from program_output import output_of  # noqa: E402

# Each workload with the options that make it last long enough to be measured.
WORKLOADS = {
    "block3d": ["--cells", "192"], "flash": [], "s3d": [], "noncontig": [], "tile": [], "turns": [],
    "cyclic": [], "pieces": [], "open": [], "sedov": [], "btio": [], "ior": [],
}  # fmt: skip
SMALL = {
    "block3d": ["--cells", "16"], "flash": ["--blocks", "2"], "s3d": ["--cells", "8"], "noncontig": ["--kib", "64"],
    "tile": ["--width", "64", "--height", "32"], "turns": ["--mib", "1"], "cyclic": ["--mib", "1", "--accesses", "100"],
    "pieces": ["--pieces", "1000"], "open": ["--count", "3"], "sedov": ["--blocks", "2"], "btio": ["--points", "8"],
    "ior": ["--block-kib", "64"],
}  # fmt: skip
SLOWER = 1.15  # a ratio above this is told of, where the least times say so too


def processor_seconds():
    """Returns what all programs that have ended took of the processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(program, workload, options):
    """Runs a workload once: {figure: (median, least) in seconds}."""
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        result = os.path.join(directory, "result.json")
        sizes = (SMALL if options.quick else WORKLOADS)[workload]
        line = [options.mpiexec, "-n", str(options.ranks), program, "bench", workload, *sizes, "--read"]
        line += ["--rounds", str(options.rounds), "--dir", directory, "--json", result]
        before = processor_seconds()
        _, problem = output_of(line, options.timeout)
        if problem:
            raise SystemExit(f"{' '.join(line)}: {problem}")
        taken = processor_seconds() - before
        document = take(result)
    figures = {way: document[way]["seconds"] for way in ("write", "read") if document.get(way)}
    return {way: (seconds["median"], seconds["min"]) for way, seconds in figures.items()} | {"processor": (taken, taken)}


def compare(workload, options):
    """Returns {figure: {"ratio": …, "least": …, "before": [seconds], "after": [seconds]}}."""
    before, after = [], []
    for turn in range(options.turns):
        pair = [(options.before, before), (options.after, after)]
        for program, runs in pair if turn % 2 == 0 else reversed(pair):
            runs.append(run(program, workload, options))
    figures = {}
    for figure in before[0].keys() & after[0].keys():
        medians = [(old[figure][0], new[figure][0]) for old, new in zip(before, after, strict=True)]
        figures[figure] = {
            "ratio": statistics.median(new / max(old, 1e-9) for old, new in medians),
            "least": min(new[figure][1] for new in after) / max(min(old[figure][1] for old in before), 1e-9),
            "before": [old for old, _ in medians],
            "after": [new for _, new in medians],
        }
    return figures


def is_slower(figure):
    return figure["ratio"] > SLOWER and figure["least"] > SLOWER


def show(workload, figures, judged):
    columns = [
        f"{name} {figures[name]['ratio']:5.2f} ({figures[name]['least']:4.2f})" if name in figures else f"{name}    – ( – ) "
        for name in ("write", "read", "processor")
    ]
    slower = [name for name in sorted(figures) if judged and is_slower(figures[name])]
    command.say(f"{workload:10} {'   '.join(columns)}{'   slower: ' + ', '.join(slower) if slower else ''}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the program `stria` of the other commit")
    parser.add_argument("after", help="that of this tree")
    parser.add_argument("--quick", action="store_true", help="small sizes once: only shows that all of it works")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--turns", type=int, default=5, help="runs of each program")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each run")
    parser.add_argument("--mpiexec", default="mpiexec.openmpi")
    parser.add_argument("--dir", default="/dev/shm", help="where files are written")
    parser.add_argument("--out", help="a JSON file with all figures")
    parser.add_argument("--timeout", type=float, default=600)
    options = parser.parse_args(arguments)
    if options.quick:
        options.turns, options.rounds = 1, 1
    command.say("time of this tree / of the other commit, median of the turns (of the least times)")
    record = {}
    for workload in options.workloads:
        record[workload] = compare(workload, options)
        show(workload, record[workload], not options.quick)
    slower = [workload for workload, figures in record.items() if any(map(is_slower, figures.values()))]
    if not options.quick:
        command.say(f"slower: {', '.join(slower)}" if slower else "nothing is slower")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as text:
            json.dump(record, text, indent=1)
    return 0


if __name__ == "__main__":
    command.end_with(main)

#!/usr/bin/env python3
"""Measures libstria_hdf5 with unmodified programs of parallel HDF5, each beside the same program
without the library. They take turns; medians of the ratios within a turn are set beside their
goals.

sections    a FLASH-like checkpoint out of hyperslabs of memory, and reading it back; beside it a
            program that packs by hand, which also runs with the library (memory in one piece),
            the first with writes that wait (STRIA_HDF5_DEFER), and a program that moves the same
            numbers by the library's own interface
narrow      the same doubles in a file of floats
h5py        sections of NumPy arrays"""

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts"))
import command  # noqa: E402
from program_output import output_of  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VARIABLES = 24
PYTHON = "/usr/bin/python3"  # Debian's h5py for MPI belongs to it
BESIDE_OTHERS = {"packed": 0.9, "contiguous": 0.98, "library": 0.6, "deferred": 0.85}
# Times as fast as the program named; "contiguous" is by hand with the preload, beside without it,
# and "deferred" is with writes that wait, beside the library's own interface.
GOALS = {
    "sections": {
        "independent": {"native": 50, **BESIDE_OTHERS},
        "collective": {"native": 1, **BESIDE_OTHERS},
    },
    "narrow": {"independent": {"native": 1, "packed": 0.9}, "collective": {"native": 1, "packed": 0.9}},
    "h5py": {"independent": {"native": 20}},
}


def run(options, ranks, program, preload, defer=None):
    """Returns the seconds of the fastest round, of writing and of reading."""
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        command_line = [os.path.join(directory, "file") if word is None else word for word in program]
        library = ["env", f"LD_PRELOAD={options.library}"] if preload else []
        library += [f"STRIA_HDF5_DEFER={defer}"] if defer else []
        line = [str(word) for word in [options.mpiexec, "-n", ranks, *library, *command_line]]
        output, problem = output_of(line, options.timeout, slice(None))
        if problem:
            raise SystemExit(f"{' '.join(line)}: {problem}")
        return json.loads(output)


def checkpoint(options, transfer, memory, nxb, *more):
    blocks = max(options.blocks * 8**3 // nxb**3, 1)
    program = os.path.join(options.build, "bin", "hdf5_hyperslabs")
    return [program, None, transfer, memory, VARIABLES, blocks, nxb, options.rounds, *more]


def turn_of(options, case):
    """Runs each program of the case once: {kind: what it printed}."""
    ranks, nxb = case["ranks"], case["nxb"]
    if case["what"] == "h5py":
        script = os.path.join(ROOT, "lab", "compare", "h5py_sections.py")
        program = [PYTHON, "-B", script, None, VARIABLES, 2 * nxb, options.rounds]
        return {"native": run(options, ranks, program, False), "preload": run(options, ranks, program, True)}
    more = ["float"] if case["what"] == "narrow" else []
    sections = checkpoint(options, case["transfer"], "hyperslabs", nxb, *more)
    by_hand = checkpoint(options, case["transfer"], "packed", nxb, *more)
    turn = {
        "native": run(options, ranks, sections, False),
        "packed": run(options, ranks, by_hand, False),
        "preload": run(options, ranks, sections, True),
    }
    if case["what"] == "sections":
        turn["contiguous"] = run(options, ranks, by_hand, True)
        turn["deferred"] = run(options, ranks, sections, True, defer="1G")
        # Its words are those of the others, but for the transfer and the memory.
        own = [os.path.join(options.build, "bin", "stria_hyperslabs"), None, *sections[4:]]
        turn["library"] = run(options, ranks, own, False)
    return turn


def measure(options, case):
    turns = [turn_of(options, case) for _ in range(options.cycles)]
    figures = []
    for way in ("write", "read"):
        seconds = {kind: [turn[kind][f"{way}_seconds"] for turn in turns] for kind in turns[0]}

        def beside(kind, served, seconds=seconds):
            pairs = zip(seconds[kind], seconds[served], strict=True)
            return statistics.median(alone / other for alone, other in pairs)

        ratios = {kind: beside(kind, "preload") for kind in seconds if kind in ("native", "packed", "library")}
        if "contiguous" in seconds:
            ratios["contiguous"] = beside("packed", "contiguous")
        if "deferred" in seconds and way == "write":
            ratios["deferred"] = beside("library", "deferred")
        figures.append(case | {"way": way, "megabytes": turns[0]["preload"]["megabytes"], "seconds": seconds, "ratios": ratios})
    return figures


def show(figure):
    goals = GOALS[figure["what"]][figure["transfer"]]
    missed = [kind for kind, ratio in figure["ratios"].items() if ratio < goals[kind]]
    seconds = "  ".join(f"{kind} {statistics.median(all_turns):.4f} s" for kind, all_turns in figure["seconds"].items())
    ratios = "  ".join(f"x {kind} {ratio:.2f}" for kind, ratio in figure["ratios"].items())
    print(
        f"{figure['what']:8} {figure['way']:5} {figure['transfer']:11} {figure['nxb']:2}^3 {figure['ranks']} ranks "
        f"{figure['megabytes']:6.1f} MB  {seconds}  {ratios}{'  missed: ' + ', '.join(missed) if missed else ''}",
        flush=True,
    )


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes once: only shows that all of it works")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--library", help="the library to preload; that of the build by default")
    parser.add_argument("--mpiexec", default="mpiexec.openmpi")
    parser.add_argument("--dir", default="/dev/shm", help="where files are written")
    parser.add_argument("--out", help="a JSON file with all figures")
    parser.add_argument("--what", nargs="+", choices=GOALS, default=list(GOALS))
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--nxb", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--blocks", type=int, default=80, help="blocks of 8^3 for each rank, or fewer larger ones")
    parser.add_argument("--cycles", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600)
    options = parser.parse_args(arguments)
    if options.quick:
        options.ranks, options.nxb, options.blocks, options.cycles, options.rounds = [2], [8], 4, 1, 1
    options.library = options.library or os.path.join(options.build, "lib", "libstria_hdf5.so")
    names = ("what", "ranks", "transfer", "nxb")
    cases = [
        dict(zip(names, values, strict=True))
        for values in itertools.product(options.what, options.ranks, ("independent", "collective"), options.nxb)
        if values[2] in GOALS[values[0]]
    ]
    figures = []
    for case in cases:
        for figure in measure(options, case):
            show(figure)
            figures.append(figure)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as text:
            json.dump(figures, text, indent=1)
    return 0


if __name__ == "__main__":
    command.end_with(main)

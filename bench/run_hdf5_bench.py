#!/usr/bin/env python3
"""Measures libstria_hdf5 with an unmodified program of parallel HDF5 that writes a FLASH-like
checkpoint out of hyperslabs of memory, and reads it back: beside the same program without the
library, and beside one that packs by hand. The three take turns; medians of the ratios within a
turn are set beside their goals."""

import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts"))
import command  # noqa: E402
from program_output import output_of  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIABLES = 24
GOAL_BESIDE_PACKED = 0.9
GOALS_BESIDE_NATIVE = {"independent": 50, "collective": 1}


def run(options, ranks, transfer, memory, nxb, preload):
    """Returns the seconds of the fastest round, of writing and of reading."""
    blocks = max(options.blocks * 8**3 // nxb**3, 1)
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        program = [os.path.join(options.build, "bin", "hdf5_hyperslabs"), os.path.join(directory, "file")]
        arguments = [transfer, memory, VARIABLES, blocks, nxb, options.rounds]
        library = ["env", f"LD_PRELOAD={options.library}"] if preload else []
        line = [str(word) for word in [options.mpiexec, "-n", ranks, *library, *program, *arguments]]
        output, problem = output_of(line, options.timeout, slice(None))
        if problem:
            raise SystemExit(f"{' '.join(line)}: {problem}")
        return json.loads(output)


def measure(options, ranks, transfer, nxb):
    turns = []
    for _ in range(options.cycles):
        turns.append(
            {
                "native": run(options, ranks, transfer, "hyperslabs", nxb, preload=False),
                "packed": run(options, ranks, transfer, "packed", nxb, preload=False),
                "preload": run(options, ranks, transfer, "hyperslabs", nxb, preload=True),
            }
        )
    figures = []
    for way in ("write", "read"):
        seconds = {kind: [turn[kind][f"{way}_seconds"] for turn in turns] for kind in turns[0]}
        ratios = {
            kind: statistics.median(a / b for a, b in zip(seconds[kind], seconds["preload"], strict=True))
            for kind in ("native", "packed")
        }
        figures.append(
            {"way": way, "ranks": ranks, "transfer": transfer, "nxb": nxb, "megabytes": turns[0]["packed"]["megabytes"]}
            | {"seconds": seconds, "beside_native": ratios["native"], "beside_packed": ratios["packed"]}
        )
    return figures


def show(figure):
    seconds = {kind: statistics.median(all_turns) for kind, all_turns in figure["seconds"].items()}
    met = figure["beside_packed"] >= GOAL_BESIDE_PACKED and figure["beside_native"] >= GOALS_BESIDE_NATIVE[figure["transfer"]]
    print(
        f"{figure['way']:5} {figure['transfer']:11} {figure['nxb']:2}^3 {figure['ranks']} ranks {figure['megabytes']:6.1f} MB"
        f"  native {seconds['native']:8.4f} s  packed {seconds['packed']:7.4f} s  preload {seconds['preload']:7.4f} s"
        f"  x native {figure['beside_native']:6.1f}  x packed {figure['beside_packed']:5.2f}{'' if met else '  missed'}",
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
    figures = []
    for ranks in options.ranks:
        for transfer in GOALS_BESIDE_NATIVE:
            for nxb in options.nxb:
                for figure in measure(options, ranks, transfer, nxb):
                    show(figure)
                    figures.append(figure)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as text:
            json.dump(figures, text, indent=1)
    return 0


if __name__ == "__main__":
    command.end_with(main)

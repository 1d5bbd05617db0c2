#!/usr/bin/env python3
"""usage: program_end_test.py MPIEXEC PROGRAM: one rank of several ends its program before the
others commit: with exit(), with MPI_Finalize, or with MPI_Abort. Where MPI goes on, the others hear
of it soon, with the rank's number, and nothing of the file is left. Nothing hangs. One rank reports
an uncaught error, in one line."""

import pathlib
import re
import subprocess
import sys
import tempfile

BOUND_SECONDS = 10
HANG_SECONDS = 40
# One line of Stria's, and what mpiexec says about MPI_Abort.
MOST_LINES = 15
HEARD = re.compile(r"rank (\d+) heard after ([\d.]+) s: (.*)")


def problems_of(mpiexec, program, ranks, odd, way):
    with tempfile.TemporaryDirectory(prefix="stria_program_end_") as directory:
        command = [mpiexec, "-n", str(ranks), program, f"{directory}/run.h5", str(odd), way]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANG_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as hang:
            return [f"hangs: {hang.stdout} {hang.stderr}"]
        if way == "abort":
            return [] if run.returncode != 0 else ["MPI_Abort ends with 0"]
        if way in ("put", "open"):
            return problems_of_uncaught(run, odd if way == "put" else 0)
        heard = {int(rank): (float(seconds), text) for rank, seconds, text in HEARD.findall(run.stdout)}
        problems = []
        if sorted(heard) != [rank for rank in range(ranks) if rank != odd]:
            problems.append(f"only {sorted(heard)} heard of it: {run.stdout} {run.stderr}")
        for rank, (seconds, text) in heard.items():
            if seconds > BOUND_SECONDS or f"rank {odd} ended its program" not in text:
                problems.append(f"rank {rank} after {seconds} s: {text}")
        if left := [path.name for path in pathlib.Path(directory).iterdir()]:
            problems.append(f"left behind: {left}")
        return problems


def problems_of_tries(mpiexec, program, ranks, odd, way):
    """Returns what the best of a few tries has where one rank speaks: the others wait a second for
    it, which a busy machine may take to end the job."""
    problems = []
    for _ in range(3 if way in ("put", "open") else 1):
        problems = problems_of(mpiexec, program, ranks, odd, way)
        if not problems:
            break
    return problems


def problems_of_uncaught(run, speaker):
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("stria: ") or "terminate called" in line]
    begin = f"stria: rank {speaker} ends the job, because this error was not caught: "
    right = run.returncode != 0 and len(ours) == 1 and ours[0].startswith(begin) and len(lines) <= MOST_LINES
    return [] if right else [f"exit {run.returncode}, {run.stderr}"]


def main(mpiexec, program):
    found = 0
    for ranks, odd in ((2, 0), (2, 1), (4, 0), (4, 2), (7, 6)):
        for way in ("exit", "finalize", "abort") + (("put", "open") if ranks == 4 and odd > 0 else ()):
            for problem in problems_of_tries(mpiexec, program, ranks, odd, way):
                print(f"{way} of rank {odd} of {ranks}: {problem}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""usage: waits_test.py MPIEXEC libstria_mpiio.so waits_program DIRECTORY

On one node a rank comes late to a collective call, of the library and of MPI-IO by
preload: the lowest rank that waits says so, by an environment variable or a hint, or
nobody does, or the job ends. The cases run side by side, as their ranks do nothing but wait.
"""

import concurrent.futures
import pathlib
import subprocess
import sys


def said(mpiexec, program, kind, path, late_rank, settings):
    command = [mpiexec, "-n", "3", "env", *settings, program, kind, path, "1", late_rank]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if (run.returncode != 0) != any("DEADLINE" in setting for setting in settings):
        return [f"exit {run.returncode}: {run.stderr}"]
    return [line for line in run.stderr.splitlines() if "has waited" in line]


def main(mpiexec, library, program, directory):
    preload = f"LD_PRELOAD={library}"
    # Kind, the rank that is late, settings, and the call that a line names; None: no line.
    cases = [
        ("library", 2, ["STRIA_WAIT_WARNING_S=1"], "flush()"),
        ("mpiio", 2, [preload, "STRIA_WAIT_WARNING_S=1"], "MPI_File_write_at_all"),
        ("mpiio", 0, [preload, "STRIA_HINTS=stria_wait_warning_s=1"], "MPI_File_write_at_all"),
        # The hint goes before the environment.
        ("mpiio", 2, [preload, "STRIA_WAIT_WARNING_S=1", "STRIA_HINTS=stria_wait_warning_s=0"], None),
        # The end of the job.
        ("mpiio", 2, [preload, "STRIA_WAIT_DEADLINE_S=3"], "MPI_File_write_at_all"),
    ]

    def problem_of(number):
        kind, late, settings, call = cases[number]
        path = pathlib.Path(directory) / f"waits_{number}.bin"
        lines = said(mpiexec, program, kind, path, late, settings)
        path.unlink(missing_ok=True)
        wanted = [f"stria: rank {1 if late == 0 else 0} on ", f" s in {call} of '{path}' for rank {late} on "]
        # Further ranks are late on a busy machine, and their lines stand beside it.
        said_well = not lines if call is None else any(all(part in line for part in wanted) for line in lines)
        return None if said_well else f"{kind}, rank {late} is late, {settings}: {lines}"

    with concurrent.futures.ThreadPoolExecutor(len(cases)) as runs:
        problems = [problem for problem in runs.map(problem_of, range(len(cases))) if problem]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

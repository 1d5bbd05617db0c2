#!/usr/bin/env python3
"""usage: waits_test.py MPIEXEC libstria_mpiio.so waits_program DIRECTORY

On one node a rank comes late to a collective call, of the library and of MPI-IO by
preload: the lowest rank that waits says so, by an environment variable or a hint, or
nobody does, or the job ends.
"""

import pathlib
import subprocess
import sys


def said(mpiexec, program, kind, path, late_rank, *settings):
    command = [mpiexec, "-n", "3", "env", *settings, program, kind, path, "1", late_rank]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if (run.returncode != 0) != any("DEADLINE" in setting for setting in settings):
        return [f"exit {run.returncode}: {run.stderr}"]
    return [line for line in run.stderr.splitlines() if "has waited" in line]


def main(mpiexec, library, program, directory):
    problems = []
    path = pathlib.Path(directory) / "waits.bin"
    preload = f"LD_PRELOAD={library}"
    cases = [
        ("library", 2, "flush()", ["STRIA_WAIT_WARNING_S=1"]),
        ("mpiio", 2, "MPI_File_write_at_all", [preload, "STRIA_WAIT_WARNING_S=1"]),
        ("mpiio", 0, "MPI_File_write_at_all", [preload, "STRIA_HINTS=stria_wait_warning_s=1"]),
    ]
    for kind, late, call, settings in cases:
        speaker = 1 if late == 0 else 0
        lines = said(mpiexec, program, kind, path, late, *settings)
        wanted = [f"stria: rank {speaker} on ", f" s in {call} of '{path}' for rank {late} on "]
        # On a busy machine further ranks are late, and their lines stand beside it.
        if not any(all(part in line for part in wanted) for line in lines):
            problems.append(f"{kind}, rank {late} is late, {settings}: {lines}")
    if lines := said(mpiexec, program, "mpiio", path, 2, preload, "STRIA_WAIT_WARNING_S=1",
                     "STRIA_HINTS=stria_wait_warning_s=0"):  # fmt: skip
        problems.append(f"the hint goes before the environment: {lines}")
    if "rank 2" not in (lines := "".join(said(mpiexec, program, "mpiio", path, 2, preload, "STRIA_WAIT_DEADLINE_S=3"))):
        problems.append(f"the end of the job: {lines}")
    path.unlink(missing_ok=True)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

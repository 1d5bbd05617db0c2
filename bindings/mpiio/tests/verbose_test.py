#!/usr/bin/env python3
"""usage: verbose_test.py MPIEXEC libstria_mpiio.so PROGRAM: with STRIA_VERBOSE=1 the
library says once that it is active, and once which hint or file of hints it can't use.
Without, it says nothing."""

import subprocess
import sys
import tempfile


def errors_of(mpiexec, library, program, *settings):
    """Returns what two ranks of the program write to standard error."""
    command = [mpiexec, "-n", "2", "env", f"LD_PRELOAD={library}", *settings, program]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    return [line for line in run.stderr.splitlines() if "stria" in line]


def main(mpiexec, library, program):
    problems = []
    if silent := errors_of(mpiexec, library, program, "STRIA_HINTS=nonsense=1"):
        problems.append(f"not asked, it says {silent}")
    spoken = errors_of(mpiexec, library, program, "STRIA_HINTS=nonsense=1; cb_nodes=2", "STRIA_VERBOSE=1")
    for wanted in ("MPI-IO is done by libstria_mpiio", "nonsense"):
        count = sum(wanted in line for line in spoken)
        if count != 1:
            problems.append(f"'{wanted}' is said {count} times in {spoken}")
    hints = "STRIA_HINTS=stria_staging_rate=1000000;stria_staging=/near"
    staged = errors_of(mpiexec, library, program, hints, "STRIA_VERBOSE=1")
    for wanted in ("'stria_staging_rate' is for files that Stria itself makes", "'stria_staging' is for files"):
        if sum(wanted in line for line in staged) != 1:
            problems.append(f"{wanted} is not said once: {staged}")
    endless = errors_of(mpiexec, library, program, "ROMIO_HINTS=/dev/zero", "STRIA_VERBOSE=1")
    if sum("/dev/zero" in line for line in endless) != 1:
        problems.append(f"a device for hints is not reported once: {endless}")
    with tempfile.NamedTemporaryFile("w", suffix=".hints") as hints:
        hints.write("cb_nodes 2\ncb_nods 3\n")
        hints.flush()
        tuned = errors_of(mpiexec, library, program, f"STRIA_HINTS_FILE={hints.name}", "STRIA_VERBOSE=1")
        if sum(f"'{hints.name}', line 2: hint 'cb_nods'" in line for line in tuned) != 1:
            problems.append(f"a broken line is not reported once: {tuned}")
    if any("cb_nodes" in line for line in spoken):
        problems.append(f"a good hint is reported: {spoken}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

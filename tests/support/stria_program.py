"""Runs the real stria command, on ranks or alone, and keeps its results.

Programs come from the environment: STRIA_PROGRAM, STRIA_MPIEXEC. Where STRIA_LABORATORY is OFF, the
command was built without its laboratory, and tests that need a subcommand of it are skipped.
STRIA_HDF5 is the release of the HDF5 that it was built with. A run that takes longer than its
timeout is killed and counts as a hang. The limits are far above what the machine needs, so only a
deadlock reaches them.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from mpiexec_env import mpiexec_environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STRIA_PROGRAM", str(ROOT / "build/release/bin/stria"))
MPIEXEC = os.environ.get("STRIA_MPIEXEC", "mpiexec.openmpi")
HDF5_RELEASE = tuple(int(number) for number in os.environ.get("STRIA_HDF5", "1.10").split("."))
LABORATORY = ("bench", "convection", "flash", "papers", "simulate", "tune")
starts = itertools.count()  # numbers that make each run's directory its own
HANG_SECONDS = float(os.environ.get("STRIA_TEST_HANG_SECONDS", "90"))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One finished run."""

    command: list
    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def messages(self):
        """What stria itself said on stderr; the rest there is mpiexec's."""
        return [line for line in self.stderr.splitlines() if line.startswith("stria: ")]

    def __str__(self):
        return f"{' '.join(self.command)}\nexit {self.code} after {self.seconds:.1f} s\n{self.stdout}\n{self.stderr}"

    def succeeded(self):
        assert self.code == 0, str(self)
        return self

    def refused(self, *parts):
        """Asserts exit code 2 and one message, beside warnings, that contains all `parts`."""
        assert self.code == 2, str(self)
        errors = [message for message in self.messages if not message.startswith("stria: warning: ")]
        assert len(errors) == 1, str(self)
        for part in parts:
            assert part in errors[0], f"'{part}' is missing\n{self}"
        return self


def environment(fault=None, user=None):
    """Returns the environment of one run; `user`: its number, where it is another's."""
    result = mpiexec_environment()
    # A rank that was killed needs no second of grace.
    result.setdefault("OMPI_MCA_odls_base_sigkill_timeout", "0")
    # One process alone needs no daemon of Open MPI's.
    result.setdefault("OMPI_MCA_ess_singleton_isolated", "1")
    # All that run so would have the same directory, and each removes it when it ends, perhaps while
    # another makes it. Open MPI makes this one.
    if user is None and "STRIA_TEST_DIRECTORY" in os.environ:
        place = f"{os.environ['STRIA_TEST_DIRECTORY']}/mpi_{os.getpid()}_{next(starts)}"
        result.setdefault("OMPI_MCA_orte_tmpdir_base", place)
    result.pop("STRIA_FAULT", None)
    if fault:
        result["STRIA_FAULT"] = fault
    return result


def needs_laboratory():
    """Skips the test where the laboratory was not built."""
    if os.environ.get("STRIA_LABORATORY") == "OFF":
        pytest.skip("built without the laboratory")


def command_line(arguments, ranks):
    if arguments and arguments[0] in LABORATORY:
        needs_laboratory()
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 0 else []
    return [*launcher, PROGRAM, *map(str, arguments)]


def start(arguments, ranks=0, fault=None, user=None, **streams):
    """Starts a run in a session of its own, for tests that kill it, and as the user of that number
    where one is given."""
    return subprocess.Popen(
        command_line(arguments, ranks), env=environment(fault, user), stdin=subprocess.DEVNULL, start_new_session=True,
        user=user, group=user, extra_groups=None if user is None else [], **streams,
    )  # fmt: skip


def run(*arguments, ranks=0, fault=None, user=None, timeout_seconds=HANG_SECONDS):
    """Runs `stria ARGUMENTS`; ranks=0 starts it without mpiexec."""
    begin = time.monotonic()
    process = start(arguments, ranks, fault, user, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        stdout, stderr = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        kill_all(process)
        stdout, stderr = process.communicate()
        raise AssertionError(
            f"hangs: {' '.join(command_line(arguments, ranks))} (STRIA_FAULT={fault})\n{stdout}\n{stderr}"
        ) from None
    return Outcome(process.args, process.returncode, stdout, stderr, time.monotonic() - begin)


def descendants(pid):
    """The processes below `pid`, parents first."""
    found = []
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def rank_processes(process):
    """Returns the ranks of a run started under mpiexec: the processes below it that run stria."""
    name = os.path.basename(PROGRAM)
    ranks = []
    for pid in descendants(process.pid):
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name[:15]:
                ranks.append(pid)
    return ranks


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_all(process):
    """Kills a run, with mpiexec last so that it cannot tidy up first, and waits until nothing
    of it is left."""
    pids = descendants(process.pid)
    for pid in [*pids, process.pid]:
        kill(pid)
    process.wait()
    deadline = time.monotonic() + 100
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < deadline, f"processes {pids} survive SIGKILL"
        time.sleep(0.01)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def has_sedov():
    """Debian's p4est needs Open MPI, so other builds lack the Sedov application."""
    return os.environ.get("STRIA_LABORATORY") != "OFF" and "sedov" in run("flash", "--help").stdout

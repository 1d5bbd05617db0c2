"""Programs that the benches run to their end, with the environment in which ranks start."""

import dataclasses
import subprocess

from mpiexec_env import mpiexec_environment

ENDING_S = 10


@dataclasses.dataclass(frozen=True)
class Ended:
    """A program that has ended: all that it printed, and why it failed, or None."""

    out: str
    errors: str
    why: str | None


def run_to_end(command, timeout_s, told=slice(2), environment=None):
    """Runs a program to its end. `told` are the lines of its output that say why it failed.
    `environment` adds to that of ranks."""
    with subprocess.Popen(
        command, env=mpiexec_environment() | (environment or {}), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Ended(*end(process), f"no end after {timeout_s} s")
        except BaseException:
            end(process)
            raise
    if process.returncode == 0:
        return Ended(out, errors, None)
    return Ended(out, errors, " | ".join((out + errors).strip().splitlines()[told]) or f"exit {process.returncode}")


def output_of(command, timeout_s, told=slice(2), environment=None):
    """(what the command printed, None), or (None, why not), as run_to_end() tells it."""
    ended = run_to_end(command, timeout_s, told, environment)
    return (ended.out, None) if ended.why is None else (None, ended.why)


def end(process):
    """Ends a program and gives what it had printed. mpiexec ends its ranks when it is asked to;
    killed, it would leave them."""
    process.terminate()
    try:
        return process.communicate(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()

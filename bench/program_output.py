"""Programs that the benches run to their end, with the environment in which ranks start."""

import subprocess

from mpiexec_env import mpiexec_environment

ENDING_S = 10


def output_of(command, timeout_s, told=slice(2), environment=None):
    """(what the command printed, None), or (None, why not): `told` are the lines that say it.
    `environment` adds to that of ranks."""
    with subprocess.Popen(
        command, env=mpiexec_environment() | (environment or {}), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            end(process)
            return None, f"no end after {timeout_s} s"
        except BaseException:
            end(process)
            raise
    if process.returncode != 0:
        return None, " | ".join((out + errors).strip().splitlines()[told]) or f"exit {process.returncode}"
    return out, None


def end(process):
    """Ends a program. mpiexec ends its ranks when it is asked to; killed, it would leave them."""
    process.terminate()
    try:
        process.communicate(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()

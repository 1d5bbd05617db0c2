"""Programs that the benches run to their end, with the environment in which ranks start."""

import subprocess

from mpiexec_env import mpiexec_environment


def output_of(command, timeout_s, told=slice(2)):
    """(what the command printed, None), or (None, why not): `told` are the lines that say it."""
    try:
        done = subprocess.run(
            command, env=mpiexec_environment(), capture_output=True, text=True, timeout=timeout_s,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"no end after {timeout_s} s"
    if done.returncode != 0:
        return None, " | ".join((done.stdout + done.stderr).strip().splitlines()[told]) or f"exit {done.returncode}"
    return done.stdout, None

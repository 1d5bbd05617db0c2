"""The environment in which the project starts ranks."""

import os
import pathlib


def mpiexec_environment(**more):
    """Returns a copy of the environment with the settings of mpiexec.env, where the user has not
    made them, and with `more`."""
    lines = (pathlib.Path(__file__).parent / "mpiexec.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {**settings, **os.environ, **more}

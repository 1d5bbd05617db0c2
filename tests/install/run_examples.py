"""Runs several of the examples for Python by one start of the ranks.

usage: mpiexec -n 2 python run_examples.py NAME=ARGUMENT...
"""

import pathlib
import runpy
import sys

examples = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
for one in sys.argv[1:]:
    name, argument = one.split("=", 1)
    sys.argv = [f"{name}.py", argument]
    runpy.run_path(str(examples / f"{name}.py"), run_name="__main__")

"""The experiments of one paper at their quick sizes: each gives its figures and its part of the
page, and its counts are the paper's. No time is looked at.

usage: papers_run_test.py STRIA PAPER [WITHOUT]...
  WITHOUT  experiments that run by the same code as others of the paper: make papers runs all"""

import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "papers"))
import run_papers  # noqa: E402

stria, paper, *without = sys.argv[1:]
chosen = [
    experiment for experiment in run_papers.EXPERIMENTS if experiment.key.startswith(paper) and experiment.key not in without
]
assert chosen, f"no experiment of {paper}"
with tempfile.TemporaryDirectory() as out:
    command = [stria, "papers", "run", *(experiment.key for experiment in chosen), "--quick", "--cycles", "1", "--out", out]
    done = subprocess.run(command, env=os.environ | {"STRIA_PYTHON": sys.executable}, stdin=subprocess.DEVNULL)
    with open(os.path.join(out, "papers.json"), encoding="utf-8") as file:
        record = json.load(file)
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        page = file.read()
assert done.returncode == 0, f"exit {done.returncode}"
assert sorted(record) == [experiment.key for experiment in chosen]
for key, rows in record.items():
    assert rows, f"{key} has no row"
    for row in rows:
        assert math.isfinite(row["ours"]), f"{key}: {row}"
    section = page.split(f'<section id="{key}">')[1].split("</section>")[0]
    command = "stria simulate" if key.endswith("-sim") else "mpiexec -n"
    assert "data:image/svg+xml" in section and command in section, f"{key}: its section has no picture or no command"

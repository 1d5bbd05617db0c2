"""The benchmark on nodes in its quick form: it gives all its figures. No time is looked at.

Run by scripts/check_nodes.sh, on the nodes of tests/nodes/cluster.sh.
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / os.environ.get("STRIA_NODES_PRESET", "release")


def test_every_figure_is_there():
    out = BUILD / "nodes_bench"  # All nodes see it.
    line = [sys.executable, "-B", ROOT / "lab/compare/run_nodes_bench.py", "--quick", "--out", out]
    done = subprocess.run(list(map(str, line)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((out / "nodes.json").read_text())
    assert not record["problems"]
    titles = [case["title"] for case in record["cases"]]
    assert len(titles) == 7 and any("library" in title for title in titles), titles
    for case in record["cases"]:
        assert {"stria", "ompio", "romio"} <= set(case["mbps"]), case
        assert case["ratios"] and all(ratio["ratio"] > 0 for ratio in case["ratios"]), case


def test_model_predicts_each_pattern():
    """How near it comes is the bench's matter, because this computer may do other things."""
    out = BUILD / "simulate_bench"
    line = [sys.executable, "-B", ROOT / "lab/compare/run_simulate_bench.py", "--quick", "--out", out]
    done = subprocess.run(list(map(str, line)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((out / "simulate.json").read_text())
    assert record["machine"]["servers"]["count"][0] == 4
    assert len(record["patterns"]) == 8
    for entry in record["patterns"]:
        for direction in ("write", "read"):
            assert entry[direction]["ratio"] > 0, entry

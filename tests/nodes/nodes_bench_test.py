"""The benchmark on nodes in its quick form: it gives all its figures. No time is looked at.

Run by scripts/check_nodes.sh, beside nodes_test.py.
"""

import json
import subprocess
import sys

from nodes_test import BUILD, ROOT


def test_every_figure_is_there():
    out = BUILD / "nodes_bench"  # which all nodes see
    line = [sys.executable, "-B", ROOT / "bench/run_nodes_bench.py", "--quick", "--out", out]
    done = subprocess.run(list(map(str, line)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((out / "nodes.json").read_text())
    assert not record["problems"]
    titles = [case["title"] for case in record["cases"]]
    assert len(titles) == 7 and any("library" in title for title in titles), titles
    for case in record["cases"]:
        assert {"stria", "ompio", "romio"} <= set(case["mbps"]), case
        assert case["ratios"] and all(ratio["ratio"] > 0 for ratio in case["ratios"]), case

"""A benchmark in its quick form: it gives all its figures, and its chart. No time is looked at.

usage: quick_run_test.py mpiio|servers|hdf5|languages|async|commits OPTION..."""

import json
import math
import os
import subprocess
import sys
import tempfile

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def numbers(value):
    """Returns all that a record holds."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in numbers(each)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def of_mpiio(record, _):
    assert not record["problems"], record["problems"]
    compared = [case for case in record["cases"] if "mbps" in case]
    assert {"stria", "ompio", "romio"} <= set(compared[0]["mbps"]), compared[0]["mbps"]
    assert all(case["ratios"] for case in compared), "a case has no ratio"
    assert any("FLASH" in case["title"] for case in compared)
    pieces = [case for case in record["cases"] if "implementations" in case]
    assert pieces and all("stria" in case["implementations"] for case in pieces)


def of_servers(record, out):
    assert not record["problems"], record["problems"]
    assert len(record["points"]) == 5, [point["title"] for point in record["points"]]
    for point in record["points"]:
        assert all(point["times"][quantity] for quantity, _ in point["figures"]), point["title"]
    assert {"copy 128", "latency 2000", "names 500"} <= set(record["plain"]), sorted(record["plain"])
    assert record["verdicts"]
    with open(os.path.join(out, "servers.png"), "rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n", "no chart"


def of_hdf5(record, _):
    assert {(figure["way"], figure["transfer"]) for figure in record} == {
        (way, transfer) for way in ("write", "read") for transfer in ("independent", "collective")
    }
    assert {figure["what"] for figure in record} == {"sections", "narrow", "h5py"}
    for figure in record:
        wanted = {"native", "preload"} | ({"packed"} if figure["what"] != "h5py" else set())
        assert wanted <= set(figure["seconds"]), figure


def of_languages(record, _):
    assert {"C++", "C", "Fortran", "Python"} <= set(record["checkpoint_seconds"]), record
    assert record["import_seconds"]["stria"]


def of_async(record, _):
    assert record["goals"]


def of_commits(record, _):
    assert len(record) >= 12, list(record)
    for workload, figures in record.items():
        assert {"write", "read", "processor"} <= set(figures) or workload == "open", (workload, list(figures))
        assert all(figure["ratio"] > 0 and figure["least"] > 0 for figure in figures.values()), figures


name, *options = sys.argv[1:]
with tempfile.TemporaryDirectory() as directory:
    # Three of them take the name of a file, the others a directory.
    result = os.path.join(directory, f"{name}.json")
    out = result if name in ("hdf5", "async", "commits") else directory
    runner = os.path.join(BENCH, f"run_{name}_bench.py")
    done = subprocess.run([sys.executable, "-B", runner, "--quick", "--out", out, *options], stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"exit {done.returncode}"
    with open(result, encoding="utf-8") as file:
        figures = json.load(file)
    assert numbers(figures) and all(math.isfinite(number) for number in numbers(figures)), figures
    globals()[f"of_{name}"](figures, directory)

"""`stria bench` from outside: its results, what it refuses, the requests on a store, and
MPI-IO by preload."""

import csv
import os
import pathlib
import subprocess

import pytest
from stria_program import HANG_SECONDS, MPIEXEC, PROGRAM, environment, read_json, run

DROP_IN = pathlib.Path(PROGRAM).resolve().parents[1] / "lib/libstria_mpiio.so"


def measure(work, *options, ranks=2):
    json = work / "bench.json"
    run("bench", *options, "--dir", work, "--rounds", 1, "--json", json, ranks=ranks).succeeded()
    return read_json(json)


def test_the_result_has_every_figure(work):
    table = work / "bench.csv"
    document = measure(work, "s3d", "--cells", 8, "--read", "--verify", "--csv", table, "--keep", "--trace", work)
    assert document["workload"] == "s3d" and document["ranks"] == 2 and document["parameters"]["cells"] == 8
    assert document["useful_bytes"] == 8**3 * 128 and document["verified"] is True
    for direction in ("write", "read"):
        figures = document[direction]
        assert figures["mbps"]["min"] <= figures["mbps"]["median"] <= figures["mbps"]["max"]
        assert figures["requests"] > 0 and figures["request_bytes"] >= document["useful_bytes"]
        assert "open" in figures["phases"] and len(figures["rounds_seconds"]) == 1
    rows = list(csv.DictReader(table.open()))
    assert [row["direction"] for row in rows] == ["write", "read"]
    assert all(int(row["useful_bytes"]) == 8**3 * 128 for row in rows)
    assert list(work.glob("*.stria-trace"))
    run("verify", document["file"]).succeeded()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["btio"], "square"),
        (["s3d", "--cells", 7], "divided"),
        (["tile", "--through", "posix", "--method", "two_phase"], "two_phase"),
        (["tile", "--through", "tape"], "tape"),
        (["no-such-workload"], "no-such-workload"),
        (["ior", "--block-kib", 0], "block-kib"),
        (["pieces", "--file", "irregular", "--pieces", 10], "hyperslabs"),
        (["tile", "--dir", "/nonexistent/place"], "/nonexistent/place"),
    ],
)
def test_what_cannot_be_is_said_once(work, options, part):
    place = [] if "--dir" in options else ["--dir", work]
    run("bench", *options, *place, ranks=2).refused(part)


def test_mpiio_by_preload_on_a_store(work):
    """The drop-in under the bench, on servers; the bytes are checked there, and the
    requests counted."""
    command = [PROGRAM, "serve", "--cluster", "2", "--dir", str(work / "store"), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as store:
        try:
            url = store.stdout.readline().strip()
            for through, preload in (("mpiio", f"LD_PRELOAD={DROP_IN}"), ("posix", "NO_PRELOAD=1")):
                json = work / "bench.json"
                bench = [PROGRAM, "bench", "display", "--width", 60, "--height", 40, "--overlap-x", 8, "--overlap-y", 6]
                bench += ["--through", through, "--dir", url, "--rounds", 1, "--read", "--verify", "--json", json]
                launch = [MPIEXEC, "-n", 2, "env", preload, *bench]
                done = subprocess.run(
                    list(map(str, launch)), env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS, check=False
                )
                assert done.returncode == 0, done.stdout + done.stderr
                document = read_json(json)
                assert document["read"]["traffic"]["requests"] > 0
                # What two displays share may come once.
                assert document["read"]["traffic"]["bytes_received"] >= (2 * 60 - 8) * 40 * 3
        finally:
            store.terminate()
            store.wait(timeout=HANG_SECONDS)
    assert os.path.exists(DROP_IN)

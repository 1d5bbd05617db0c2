"""`stria tune` on storage whose requests all take long, where larger requests must win; its file
works for the library by STRIA_HINTS_FILE and by its place."""

import json
import pathlib
import re
import subprocess

import pytest
from stria_program import MPIEXEC, PROGRAM, read_json, run

SLOW_REQUESTS = "write:delay_ms=10:count=all"
VERY_SLOW_REQUESTS = "write:delay_ms=25:count=all"  # noise of a busy machine is little beside it
WORKLOAD = ["ior", "--block-kib", 16384]


def tune(work, *options, fault=None):
    sizes = ["--size", "block-kib=16384", "--budget", 4, "--output", work / "hints", "--dir", work]
    return run("tune", "--for", "ior", *sizes, *options, fault=fault)


def hint_lines(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def requests(work):
    run("bench", *WORKLOAD, "--dir", work, "--rounds", 1, "--json", work / "bench.json").succeeded()
    return read_json(work / "bench.json")["write"]["requests"]


def test_what_must_win_wins_and_is_applied(work, monkeypatch):
    done = tune(work, "--budget", 16, fault=VERY_SLOW_REQUESTS).succeeded()
    hints = hint_lines(work / "hints")
    assert hints and "times as fast as the defaults" in (work / "hints").read_text(), done.stdout
    assert sorted(path.name for path in work.iterdir()) == ["hints"]  # nothing else is left
    cost_ms = re.search(r"# Here a request costs ([0-9.]+) ms", (work / "hints").read_text())
    assert cost_ms and float(cost_ms[1]) > 20, done.stdout
    before = requests(work)
    monkeypatch.setenv("STRIA_HINTS_FILE", str(work / "hints"))
    by_variable = requests(work)
    monkeypatch.delenv("STRIA_HINTS_FILE")
    (work / "hints").rename(work / ".stria-hints")
    assert by_variable < before and requests(work) == by_variable


def test_without_time_the_defaults_stay(work):
    done = tune(work, "--budget", 0.1, fault=SLOW_REQUESTS).succeeded()
    assert "too long for a budget" in done.stdout
    assert hint_lines(work / "hints") == []


def test_it_starts_the_ranks(work):
    done = tune(work, "--mpiexec", f"{MPIEXEC} -n 2", "--size", "block-kib=64", "--budget", 0.3, "--read").succeeded()
    assert "2 ranks, at most 0 s" in done.stdout and "block-kib=64" in (work / "hints").read_text()


def test_what_takes_too_long_is_given_up(work):
    """Runs of small buffers make more requests of 10 ms than the limit allows; the race goes on."""
    options = ["--mpiexec", f"{MPIEXEC} -n 1", "--limit", 0.1, "--budget", 3]
    done = tune(work, *options, fault=SLOW_REQUESTS).succeeded()
    assert "given up after 0.1 s" in done.stdout and done.stdout.count("tuning ior through") == 1
    assert "@stria-tune" not in done.stdout
    assert [path.name for path in work.iterdir()] == ["hints"], "no directory is left of ranks that were ended"
    assert (work / "hints").read_text().startswith("# Written by `stria tune` for ior"), "whatever won, it is told"


def trace_of(path, events):
    description = {
        "ranks": 2,
        "kinds": [{"name": "MPI_File_write_at_all", "layer": "app"}],
        "events": [{"begin_ns": 1000 * i, "end_ns": 1000 * i + 500, **event} for i, event in enumerate(events)],
    }
    path.with_suffix(".json").write_text(json.dumps(description))
    synthetic = pathlib.Path(PROGRAM).with_name("stria_trace_synthetic")
    subprocess.run([synthetic, "--from", path.with_suffix(".json"), "-o", path], check=True)
    return path


def pieces(kind, rank, count, start, stride, size):
    return [
        {"rank": rank, "kind": kind, "file": "/far/run.h5", "offset": start + i * stride, "bytes": size} for i in range(count)
    ]


def tune_for(work, trace, *options):
    return run("tune", "--for", trace, "--dir", work, "--output", work / "hints", "--budget", 0.3, *options, ranks=2)


@pytest.mark.parametrize("kind", ["storage write", "storage read"])
def test_a_recorded_run_is_played_again(work, kind):
    far = 1 << 40
    events = pieces(kind, 0, 8, far, 2 << 16, 1 << 16) + pieces(kind, 1, 8, far + (1 << 16), 2 << 16, 1 << 16)
    done = tune_for(work, trace_of(work / "run.stria-trace", events)).succeeded()
    word = "writing" if kind.endswith("write") else "reading"
    assert f"16 {word} requests of 2 ranks, 1.0 MB, of '/far/run.h5'" in done.stdout
    assert "for " + str(work / "run.stria-trace") in (work / "hints").read_text()


def test_collective_calls_are_played_unless_they_interleave(work):
    calls = pieces("MPI_File_write_at_all", 0, 4, 0, 4096, 4096) + pieces("MPI_File_write_at_all", 1, 4, 1 << 20, 4096, 4096)
    requests = pieces("storage write", 0, 1, 0, 0, 32768)
    apart = tune_for(work, trace_of(work / "apart.stria-trace", calls + requests), "--size", "mib=1").succeeded()
    assert "8 writing collective calls of 2 ranks" in apart.stdout
    mixed = calls[:4] + [{**call, "rank": 1, "offset": call["offset"] + 8} for call in calls[:4]]
    done = tune_for(work, trace_of(work / "mixed.stria-trace", mixed + requests)).succeeded()
    assert "1 writing requests of 2 ranks" in done.stdout


def test_a_trace_without_places_is_refused(work):
    trace = trace_of(work / "run.stria-trace", [{"rank": 0, "kind": "storage write", "bytes": 10}])
    tune_for(work, trace).refused("no requests with their places")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--size", "block-kib=many"], "block-kib=many"),
        (["--size", "colour=red"], "colour=red"),
        (["--for", "sleep"], "sleep"),
        (["--dir", "/nonexistent/place"], "/nonexistent/place"),
    ],
)
def test_what_cannot_be_is_said(work, options, part):
    tune(work, *options).refused(part)

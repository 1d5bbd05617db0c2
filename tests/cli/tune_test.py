"""`stria tune` on storage whose requests all take long, where larger requests must win; its file
works for the library by STRIA_HINTS_FILE and by its place."""

import pytest
from stria_program import MPIEXEC, read_json, run

SLOW_REQUESTS = "write:delay_ms=10:count=all"
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
    done = tune(work, fault=SLOW_REQUESTS).succeeded()
    hints = hint_lines(work / "hints")
    assert hints and "times as fast as the defaults" in (work / "hints").read_text(), done.stdout
    assert sorted(path.name for path in work.iterdir()) == ["hints"]  # nothing else is left
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

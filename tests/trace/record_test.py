"""Traces of real runs: what is in them at each level, and after a run that was killed."""

import json

import pytest
from stria_program import PROGRAM, kill_all, rank_processes, run, start
from waiting import wait_until

RANKS = 3
BLOCKS = 6
ROUNDS = 2
IO = ["flash", "io", "--nxb", 8, "--nvar", 5, "--blocks", BLOCKS, "--rounds", ROUNDS]
# A warm-up and the rounds, of both layouts, on every rank.
COMMITS = (ROUNDS + 1) * 2 * RANKS


def traced_run(work, monkeypatch, level, *more):
    monkeypatch.setenv("STRIA_TRACE", level)
    monkeypatch.setenv("STRIA_TRACE_DIR", str(work / "traces"))
    run(*IO, "--dir", work, *more, ranks=RANKS).succeeded()
    monkeypatch.delenv("STRIA_TRACE")
    monkeypatch.delenv("STRIA_TRACE_DIR")
    left = list((work / "traces").iterdir())
    assert len(left) == 1 and left[0].suffix == ".stria-trace", left
    return left[0]


def stats(trace):
    return json.loads(run("trace", "stats", "--json", trace).succeeded().stdout)


def by_name(description):
    return {(row["layer"], row["operation"]): row for row in description["operations"]}


def test_full(work, monkeypatch):
    description = stats(traced_run(work, monkeypatch, "full", "--hint", "romio_cb_write=enable"))
    assert description["level"] == "full" and description["ranks"] == RANKS
    assert description["dropped"] == 0 and description["incomplete_ranks"] == 0 and not description["warnings"]
    rows = by_name(description)
    assert rows["app", "File::commit"]["count"] == COMMITS
    assert rows["app", "File::create"]["count"] == COMMITS
    assert rows["app", "File::close"]["count"] == COMMITS
    # Every commit has two-phase packs, exchanges and writes.
    for phase in ("plan", "pack", "exchange", "write", "commit"):
        assert rows["engine", phase]["count"] >= COMMITS // RANKS, phase
        assert (
            rows["engine", phase]["total_seconds"]
            <= rows["app", "File::commit"]["total_seconds"] + rows["app", "File::create"]["total_seconds"]
        )
    # Two ranks wait for the aggregator, within the calls.
    counters = description["counters"]
    waiting = description["waiting"]
    assert counters["wait_ns"] * 1e-9 == pytest.approx(waiting["mean"] * RANKS)
    calls = sum(row["total_seconds"] for (layer, _), row in rows.items() if layer == "app")
    assert 0 < waiting["min"] <= waiting["mean"] <= waiting["max"] and waiting["mean"] * RANKS < calls
    written = counters["bytes_written"]
    requests = rows["storage", "storage write"]["count"] + rows.get(("storage", "storage write behind"), {"count": 0})["count"]
    behind = rows.get(("storage", "storage write behind"), {"bytes": 0})["bytes"]
    assert requests == counters["write_requests"]
    assert rows["storage", "storage write"]["bytes"] + behind == written
    # Everything put reached the storage, and the files hold nothing that wasn't written.
    assert counters["bytes_put"] <= written
    assert sum(value for name, value in counters.items() if name.startswith("write_sizes_")) == counters["write_pieces"]
    assert rows["app", "Dataset::put"]["count"] == counters["puts"]
    assert rows["app", "Dataset::put"]["bytes"] == counters["bytes_put"]
    assert rows["app", "File::commit"]["percent_of_program"] < 100
    for file in description["files"]:
        assert file["facts"]["method"] == "two_phase"
        assert file["facts"]["why collective"] == "hint romio_cb_write"
        assert file["facts"]["hint romio_cb_write"] == "enable"
        assert file["aggregators"] == [0, 1]


@pytest.mark.parametrize(
    "level, layers",
    [("app", {"app"}), ("library", {"app", "engine"}), ("counters", set())],
)
def test_levels(work, monkeypatch, level, layers):
    description = stats(traced_run(work, monkeypatch, level, "--hint", "romio_cb_write=disable"))
    assert {row["layer"] for row in description["operations"]} == layers
    assert description["counters"]["commits"] == COMMITS
    assert description["phases"]["write"]["mean"] > 0
    for file in description["files"]:
        assert file["facts"]["method"] == "list_io" and file["facts"]["why not collective"] == "hint romio_cb_write"


def test_commits_in_the_background(work, monkeypatch):
    """The thread has spans of its own in the file's time, and how long it was waited for."""
    trace = traced_run(work, monkeypatch, "library", "--async", "--limits", "--layout", "standard", "--verify", "--sync")
    description = stats(trace)
    rows = by_name(description)
    commits = (ROUNDS + 1) * RANKS
    assert rows["engine", "background write"]["count"] == commits
    assert rows["engine", "background end"]["count"] == ROUNDS + 1
    counters = description["counters"]
    worked = rows["engine", "background write"]["total_seconds"] + rows["engine", "background end"]["total_seconds"]
    assert counters["background_ns"] * 1e-9 == pytest.approx(worked, rel=0.2, abs=0.002)
    assert (counters["background_wait_ns"] > 0) == (("engine", "background wait") in rows)
    assert "Commits in the background: " in run("trace", "stats", trace).succeeded().stdout
    assert counters["unstaged_bytes"] == 0


def test_what_the_staging_did_not_take(work, monkeypatch):
    limited = ("--async", "--layout", "standard", "--hint", "stria_staging_limit=100000")
    trace = traced_run(work, monkeypatch, "counters", *limited)
    assert stats(trace)["counters"]["unstaged_bytes"] > 0
    assert "didn't fit into the staging memory" in run("trace", "stats", trace).succeeded().stdout


def test_off_and_unset_leave_nothing(work, monkeypatch):
    run(*IO, "--dir", work, ranks=2).succeeded()
    monkeypatch.setenv("STRIA_TRACE", "off")
    monkeypatch.setenv("STRIA_TRACE_DIR", str(work / "traces"))
    run(*IO, "--dir", work, ranks=2).succeeded()
    assert not (work / "traces").exists()
    monkeypatch.setenv("STRIA_TRACE", "everything")
    run(*IO, "--dir", work, ranks=2).refused("STRIA_TRACE is 'everything'", "full")
    monkeypatch.setenv("STRIA_TRACE", "full")
    monkeypatch.setenv("STRIA_TRACE_DIR", "/proc/nowhere")
    run(*IO, "--dir", work, ranks=2).refused("/proc/nowhere")


def test_a_killed_run_can_be_read(work, monkeypatch):
    monkeypatch.setenv("STRIA_TRACE", "full")
    monkeypatch.setenv("STRIA_TRACE_DIR", str(work / "traces"))
    process = start([*IO, "--rounds", 10000, "--dir", work], ranks=RANKS)
    monkeypatch.delenv("STRIA_TRACE")
    monkeypatch.delenv("STRIA_TRACE_DIR")
    wait_until(lambda: sum(part.stat().st_size for part in work.glob("traces/*.parts/*.part")) >= 300_000)
    assert rank_processes(process)
    kill_all(process)
    (parts,) = work.glob("traces/*.parts")
    merged = work / "merged.stria-trace"
    # Cut as a power loss might cut it.
    (parts / "rank_000001.part").write_bytes((parts / "rank_000001.part").read_bytes()[:-7])
    outcome = run("trace", "merge", parts, "-o", merged).succeeded()
    assert "cut off" in outcome.stderr and str(merged) in outcome.stdout
    description = stats(merged)
    assert description["incomplete_ranks"] == RANKS
    rows = by_name(description)
    assert rows["app", "File::commit"]["count"] > RANKS and rows["app", "File::commit"]["ranks"] == RANKS
    assert description["counters"]["bytes_written"] > 0
    run("trace", "merge", work / "traces").refused("no *.part")


def test_bad_files(work):
    (work / "text").write_text("no trace")
    run("trace", "stats", work / "text").refused("not a Stria trace")
    run("trace", "stats", work / "absent").refused("absent")
    assert PROGRAM

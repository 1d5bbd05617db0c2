"""Darshan's own example logs become traces: totals as PyDarshan sums them, spans from DXT,
findings, and every command on traces."""

import json
import pathlib
import sys

import pytest
from stria_program import run

# There are no wheels for later versions (scripts/requirements.txt).
HAS_DARSHAN = sys.version_info < (3, 13)
pytestmark = pytest.mark.skipif(not HAS_DARSHAN, reason="PyDarshan has no wheel for this Python")
if HAS_DARSHAN:
    import darshan
    import darshan.backend.cffi_backend as backend

    LOGS = pathlib.Path(darshan.__file__).parent / "examples/example_logs"

# Records of all ranks of a shared file; one file for each of 2048 ranks; HDF5 with DXT.
SHARED, APART, TRACED = "example", "sample-badost", "ior_hdf5_example"
OURS = {
    "opens": "POSIX_OPENS", "write_requests": "POSIX_WRITES", "read_requests": "POSIX_READS",
    "bytes_written": "POSIX_BYTES_WRITTEN", "bytes_read": "POSIX_BYTES_READ",
    "write_sizes_100M-1G": "POSIX_SIZE_WRITE_100M_1G", "sequential_writes": "POSIX_SEQ_WRITES",
}  # fmt: skip


@pytest.fixture(autouse=True)
def python(monkeypatch):
    monkeypatch.setenv("STRIA_PYTHON", sys.executable)


@pytest.fixture(scope="module")
def imported(session_directory):
    """The trace of a log, made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRIA_PYTHON", sys.executable)
        traces = {name: session_directory / f"{name}.stria-trace" for name in (SHARED, APART, TRACED)}
        said = {name: run("trace", "import", LOGS / f"{name}.darshan", "-o", path) for name, path in traces.items()}
    for outcome in said.values():
        outcome.succeeded()
    assert "no DXT" in said[SHARED].stdout and "118 requests and calls" in said[TRACED].stdout
    return traces


def stats(trace):
    return json.loads(run("trace", "stats", "--json", trace).succeeded().stdout)


def records(name, module):
    log = backend.log_open(str(LOGS / f"{name}.darshan"))
    while record := backend.log_get_record(log, module, dtype="dict"):
        yield record
    backend.log_close(log)


@pytest.mark.parametrize("name", [SHARED, APART, TRACED])
def test_totals_are_darshans(imported, name):
    found = stats(imported[name])
    theirs = [record["counters"] for record in records(name, "POSIX")]
    assert theirs
    for ours, counter in OURS.items():
        of_stdio = stdio_sum(name, counter.replace("POSIX", "STDIO"))
        assert found["counters"][ours] == sum(int(record[counter]) for record in theirs) + of_stdio, ours
    written = sum(float(record["fcounters"]["POSIX_F_WRITE_TIME"]) for record in records(name, "POSIX"))
    assert found["phases"]["write"]["mean"] * found["ranks"] == pytest.approx(written, rel=0.01)


def stdio_sum(name, counter):
    """Sums over files: the streams of the terminal are none."""
    log = backend.log_open(str(LOGS / f"{name}.darshan"))
    names = backend.log_get_name_records(log)
    backend.log_close(log)
    files = (record for record in records(name, "STDIO") if not names[record["id"]].startswith("<STD"))
    return sum(int(record["counters"].get(counter, 0)) for record in files)


def test_a_record_of_all_ranks_is_shared_out(imported):
    found = stats(imported[SHARED])
    (record,) = records(SHARED, "POSIX")
    (file,) = found["files"]
    assert found["ranks"] == file["ranks"] == 2048
    slowest = float(record["fcounters"]["POSIX_F_SLOWEST_RANK_TIME"])
    assert found["phases"]["write"]["max_rank"] == int(record["counters"]["POSIX_SLOWEST_RANK"])
    assert found["phases"]["write"]["max"] + found["phases"]["metadata"]["max"] == pytest.approx(slowest, rel=0.01)
    assert file["facts"]["stripe count"] == "24" and "all ranks together" in file["facts"]["counted"]
    assert file["common_sizes"][0] == {"bytes": 134217728, "count": 16384}


def test_segments_are_spans_within_calls(imported, work):
    run("trace", "export", "--chrome", imported[TRACED], "-o", work / "chrome.json").succeeded()
    spans = [event for event in json.loads((work / "chrome.json").read_text())["traceEvents"] if event["ph"] == "X"]
    for module, prefix in (("DXT_POSIX", "storage "), ("DXT_MPIIO", "MPI_File_")):
        theirs = sorted(
            (record["rank"], kind, segment["offset"], segment["length"], round(segment["start_time"] * 1e6))
            for record in records(TRACED, module)
            for kind in ("write", "read")
            for segment in record[f"{kind}_segments"]
        )
        ours = sorted(
            (span["pid"], span["name"].removeprefix(prefix).strip("*"), span["args"].get("offset", -1), span["args"]["bytes"],
             round(span["ts"]))
            for span in spans if span["name"].startswith(prefix)
        )  # fmt: skip
        assert ours == theirs and ours, module
    calls = {(span["pid"], span["args"]["id"]): span for span in spans if span["name"].startswith("MPI_File_")}
    for span in (span for span in spans if span["name"].startswith("storage ")):
        call = calls[span["pid"], span["args"]["parent"]]
        assert call["ts"] <= span["ts"] and span["ts"] + span["dur"] <= call["ts"] + call["dur"] + 1e-3


def test_every_command_takes_it(imported, work):
    run("trace", "report", imported[SHARED], "-o", work / "a.html", "--json", work / "a.json").succeeded()
    findings = json.loads((work / "a.json").read_text())["findings"]
    assert {"far_from_limit", "rank_imbalance"} <= {finding["rule"] for finding in findings}
    run("trace", "view", imported[TRACED], "-o", work / "b.html").succeeded()
    assert "MPI_File_write*" in (work / "b.html").read_text()
    assert "the same" in run("trace", "diff", imported[TRACED], imported[TRACED]).succeeded().stdout
    run("trace", "export", "--parquet", imported[TRACED], "-o", work / "spans.parquet").succeeded()


def test_times_of_threads_fit_into_the_run(work):
    """A Java program, whose threads were in calls for 7.6 times as long as it ran."""
    outcome = run("trace", "import", LOGS / "dxt.darshan", "-o", work / "a.stria-trace").succeeded()
    assert "threads of 1 rank" in outcome.stderr
    found = stats(work / "a.stria-trace")
    phases = sum(phase["mean"] for phase in found["phases"].values())
    assert phases == pytest.approx(found["program_seconds"], rel=1e-3)


def test_what_cannot_be_read_is_said(work, monkeypatch):
    (work / "no.darshan").write_text("not a log")
    outcome = run("trace", "import", work / "no.darshan").refused("did not read", "no.darshan")
    assert "is no log of Darshan's" in outcome.stderr
    run("trace", "import", work / "nothing.darshan").refused("nothing.darshan", "no such file")
    python = work / "bare_python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("STRIA_PYTHON", str(python))
    outcome = run("trace", "import", LOGS / "example.darshan", "-o", work / "a.stria-trace").refused("did not read")
    assert "-m pip install darshan" in outcome.stderr
    assert sorted(path.name for path in work.iterdir()) == ["bare_python", "no.darshan"]

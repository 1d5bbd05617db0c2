"""Exported traces, each read back by other projects' software; and two traces compared."""

import json
import os
import re
import subprocess
import sys

import pyarrow.parquet
import pytest
from stria_program import ROOT, run

SYNTHETIC = os.environ.get("STRIA_TRACE_SYNTHETIC", str(ROOT / "build/release/bin/stria_trace_synthetic"))


def synthetic(path, *arguments):
    subprocess.run([SYNTHETIC, *map(str, arguments), "-o", str(path)], check=True)
    return path


@pytest.fixture
def overlapping(work):
    """Gives a commit with a write under way beside the packing of the next, and one request with
    every field."""
    description = {
        "ranks": 2,
        "events": [
            {"rank": 0, "kind": "File::commit", "id": 1, "begin_ns": 1000, "end_ns": 9001, "file": "a \"b\".h5"},
            {"rank": 0, "kind": "pack", "id": 2, "parent": 1, "begin_ns": 1500, "end_ns": 4000},
            {"rank": 0, "kind": "storage write behind", "id": 3, "parent": 1, "begin_ns": 2000, "end_ns": 6000, "bytes": 4096,
             "offset": 8192, "count": 3, "file": "a \"b\".h5"},
            {"rank": 0, "kind": "storage write behind", "id": 4, "parent": 1, "begin_ns": 3000, "end_ns": 7000, "bytes": 10,
             "offset": 0, "file": "a \"b\".h5"},
            {"rank": 0, "kind": "Dataset::put", "id": 5, "begin_ns": 100, "end_ns": 200, "bytes": 80, "dataset": "dens"},
            {"rank": 1, "kind": "send", "id": 1, "begin_ns": 2000, "end_ns": 2500, "peer": 0, "bytes": 7},
        ],
        "counters": [{"rank": 1, "file": "a \"b\".h5", "values": {"bytes_written": 4106, "write_requests": 2}}],
    }  # fmt: skip
    (work / "description.json").write_text(json.dumps(description))
    return synthetic(work / "overlapping.stria-trace", "--from", work / "description.json")


def test_chrome(work, overlapping):
    run("trace", "export", "--chrome", overlapping, "-o", work / "trace.json").succeeded()
    events = json.loads((work / "trace.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert len(spans) == 6
    request = next(span for span in spans if span["args"].get("offset") == 8192)
    assert request["args"] == {"id": 3, "parent": 1, "bytes": 4096, "offset": 8192, "file": 'a "b".h5', "count": 3}
    assert request["ts"] == 2.0 and request["dur"] == 4.0 and request["cat"] == "storage"
    commit = next(span for span in spans if span["name"] == "File::commit")
    assert commit["dur"] == 8.001
    strictly_nested(spans)
    assert len({span["tid"] for span in spans if span["pid"] == 0}) == 3


def strictly_nested(spans):
    tracks = {}
    for span in spans:
        begin = round(span["ts"] * 1000)
        tracks.setdefault((span["pid"], span["tid"]), []).append((begin, begin + round(span["dur"] * 1000)))
    for track in tracks.values():
        open_ends = []
        for begin, end in sorted(track, key=lambda pair: (pair[0], -pair[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def test_chrome_of_a_made_up_run(work):
    trace = synthetic(work / "run.stria-trace", "--ranks", 7, "--events", 500)
    run("trace", "export", "--chrome", trace, "-o", work / "trace.json").succeeded()
    spans = [event for event in json.loads((work / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    stats = json.loads(run("trace", "stats", "--json", trace).succeeded().stdout)
    assert len(spans) == stats["events"] == sum(row["count"] for row in stats["operations"])
    strictly_nested(spans)


def test_otf2_is_read_without_complaint(work):
    trace = synthetic(work / "run.stria-trace", "--ranks", 7, "--events", 500)
    run("trace", "export", "--otf2", trace, "-o", work / "otf2").succeeded()
    for what in ([], ["-G"]):
        read = subprocess.run(["otf2-print", *what, work / "otf2/trace.otf2"], check=True, capture_output=True, text=True)
        assert read.stdout and not read.stderr


def test_otf2(work, overlapping):
    run("trace", "export", "--otf2", overlapping, "-o", work / "otf2").succeeded()
    events = subprocess.run(["otf2-print", work / "otf2/trace.otf2"], check=True, capture_output=True, text=True).stdout
    assert len(re.findall(r"^ENTER ", events, re.MULTILINE)) == 6
    assert len(re.findall(r"^LEAVE ", events, re.MULTILINE)) == 6
    begins = re.findall(r"^IO_OPERATION_BEGIN .*(?:\n +.*)*", events, re.MULTILINE)
    assert len(begins) == 2 and len(re.findall(r"^IO_OPERATION_COMPLETE ", events, re.MULTILINE)) == 2
    request = next(text for text in begins if "4096" in text)
    for part in ("WRITE", "NON_BLOCKING", "8192"):
        assert part in request, request
    definitions = subprocess.run(
        ["otf2-print", "-G", work / "otf2/trace.otf2"], check=True, capture_output=True, text=True
    ).stdout
    for part in ("File::commit", 'a "b".h5', "rank 1", "IO_HANDLE", "CLOCK_PROPERTIES"):
        assert part in definitions, part
    run("trace", "export", "--otf2", overlapping, "-o", work / "otf2").refused("there already")


def test_parquet(work, overlapping, monkeypatch):
    monkeypatch.setenv("STRIA_PYTHON", sys.executable)
    run("trace", "export", "--parquet", overlapping, "-o", work / "trace.parquet").succeeded()
    table = pyarrow.parquet.read_table(work / "trace.parquet")
    rows = table.to_pylist()
    assert len(rows) == 6 and table.schema.metadata[b"ranks"] == b"2"
    request = next(row for row in rows if row["offset"] == 8192)
    assert request == {
        "begin_ns": 2000, "end_ns": 6000, "bytes": 4096, "offset": 8192, "id": 3, "parent": 1, "rank": 0, "thread": 0,
        "peer": None, "count": 3, "kind": "storage write behind", "layer": "storage", "file": 'a "b".h5', "dataset": None,
    }  # fmt: skip
    put = next(row for row in rows if row["kind"] == "Dataset::put")
    assert put["dataset"] == "dens" and put["file"] is None and put["offset"] is None


def test_counters_as_parquet(work, overlapping, monkeypatch):
    monkeypatch.setenv("STRIA_PYTHON", sys.executable)
    said = run("trace", "stats", overlapping, "--parquet", work / "counters.parquet").succeeded().stdout
    assert "File::commit" in said
    (row,) = pyarrow.parquet.read_table(work / "counters.parquet").to_pylist()
    assert (row["rank"], row["file"], row["bytes_written"], row["write_requests"]) == (1, 'a "b".h5', 4106, 2)


@pytest.fixture
def communicating(work):
    """Gives a message and collective operations of two ranks on a file; a send and a barrier lack
    their other half."""
    calls = [("barrier", 100, {}), ("broadcast", 300, {"peer": 1, "bytes": 16}), ("reduce", 500, {"bytes": 8})]
    events = [
        {"rank": rank, "kind": kind, "id": number + 1, "begin_ns": begin + 10 * rank, "end_ns": begin + 90, "file": "f", **more}
        for rank in range(2)
        for number, (kind, begin, more) in enumerate(calls)
    ]
    events += [
        {
            "rank": 0,
            "kind": "send",
            "id": 10,
            "begin_ns": 1000,
            "end_ns": 1500,
            "peer": 1,
            "bytes": 77,
            "offset": 5,
            "file": "f",
        },
        {
            "rank": 1,
            "kind": "receive",
            "id": 10,
            "begin_ns": 900,
            "end_ns": 1600,
            "peer": 0,
            "bytes": 77,
            "offset": 5,
            "file": "f",
        },
        {
            "rank": 1,
            "kind": "send",
            "id": 11,
            "begin_ns": 2000,
            "end_ns": 2500,
            "peer": 0,
            "bytes": 9,
            "offset": 6,
            "file": "f",
        },
        {"rank": 1, "kind": "barrier", "id": 12, "begin_ns": 3000, "end_ns": 3100, "file": "g"},
        {"rank": 0, "kind": "storage write", "id": 13, "begin_ns": 3000, "end_ns": 3100, "file": "g", "bytes": 1},
    ]
    (work / "description.json").write_text(json.dumps({"ranks": 3, "events": events}))
    return synthetic(work / "communicating.stria-trace", "--from", work / "description.json")


def test_otf2_messages_and_collectives(work, communicating):
    run("trace", "export", "--otf2", communicating, "-o", work / "otf2").succeeded()
    printed = subprocess.run(["otf2-print", work / "otf2/trace.otf2"], check=True, capture_output=True, text=True).stdout
    events = re.findall(r"^MPI_\w+ .*(?:\n +.*)*", printed, re.MULTILINE)
    names = [event.split()[0] for event in events]
    assert sorted(names) == sorted(
        ["MPI_ISEND", "MPI_ISEND_COMPLETE", "MPI_IRECV_REQUEST", "MPI_IRECV"]
        + 2 * 3 * ["MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END"]
    ), "halves of what the trace lacks the rest of are left out"
    send, receive = (next(event for event in events if event.startswith(f"{name} ")) for name in ("MPI_ISEND", "MPI_IRECV"))
    assert "Receiver: 1" in send and "Sender: 0" in receive
    for event in (send, receive):
        assert "Tag: 5" in event and "Length: 77" in event and '"all ranks"' in event
    broadcasts = [event for event in events if "BCAST" in event]
    # Root: place 1 of the two ranks that the file is about; the third rank has no part in it.
    assert len(broadcasts) == 2 and all("Root: 1" in event and "communicator 1" in event for event in broadcasts)
    definitions = subprocess.run(
        ["otf2-print", "-G", work / "otf2/trace.otf2"], check=True, capture_output=True, text=True
    ).stdout
    assert "COMM_LOCATIONS" in definitions and '"communicator 1"' in definitions


def test_parquet_without_pyarrow(work, overlapping, monkeypatch):
    python = work / "python_without_pyarrow"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("STRIA_PYTHON", str(python))
    outcome = run("trace", "export", "--parquet", overlapping, "-o", work / "trace.parquet").refused("did not write")
    assert "install pyarrow" in outcome.stderr
    monkeypatch.setenv("STRIA_PYTHON", str(work / "no_python"))
    run("trace", "export", "--parquet", overlapping, "-o", work / "trace.parquet").refused("STRIA_PYTHON")


def test_diff(work):
    def trace(name, pack_ns):
        events = [
            {"kind": "pack", "begin_ns": 0, "end_ns": pack_ns},
            {"kind": "write", "begin_ns": pack_ns, "end_ns": pack_ns + 1000},
        ]
        counters = [{"file": "f", "values": {"pack_ns": pack_ns, "write_ns": 1000, "bytes_written": 100}}]
        (work / "description.json").write_text(json.dumps({"ranks": 1, "events": events, "counters": counters}))
        return synthetic(work / name, "--from", work / "description.json")

    slow, fast = trace("slow", 8000), trace("fast", 2000)
    answer = json.loads(run("trace", "diff", "--json", slow, fast).succeeded().stdout)
    phases = {row["name"]: row for row in answer["phases"]}
    assert phases["pack"]["ratio"] == pytest.approx(0.25) and phases["pack"]["difference"] == pytest.approx(-6e-6)
    assert phases["write"]["ratio"] == pytest.approx(1)
    assert answer["operations"][0]["name"] == "pack (engine)"
    text = run("trace", "diff", slow, fast).succeeded().stdout
    assert "4.00 times faster" in text and "the same" in text
    assert "4.00 times slower" in run("trace", "diff", fast, slow).succeeded().stdout


def test_diff_says_what_makes_a_comparison_lame(work):
    def trace(name, ranks, files, put_bytes):
        events = [{"rank": rank, "kind": "write", "begin_ns": 0, "end_ns": 2_500_000} for rank in range(ranks)]
        counters = [
            {"rank": 0, "file": f"f{i}", "values": {"write_ns": 2_500_000, "bytes_put": put_bytes}} for i in range(files)
        ]
        (work / "description.json").write_text(json.dumps({"ranks": ranks, "events": events, "counters": counters}))
        return synthetic(work / name, "--from", work / "description.json")

    one, other = trace("one", 1, 1, 100), trace("other", 2, 3, 200)
    text = " ".join(run("trace", "diff", one, other).succeeded().stdout.split())
    assert "Not the same: A ran on 1 rank, B on 2 ranks" in text and "Not the same: A used 1 file, B 3 files." in text
    assert "Not the same: the program put 100 B in A, 600 B in B." in text
    assert "all I/O 2.50 ms" in text, "seconds that can be read"
    assert "Not the same" not in run("trace", "diff", one, one).succeeded().stdout

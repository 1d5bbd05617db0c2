"""Every rule of the report has a program that shows what the rule finds, and the same program as
the rule's advice has it: that does less of the work that the rule is about. Work is counted, not
timed, so that a busy machine changes nothing. Where the rule looks at times, whether it finds
something isn't asked: made-up traces do that (tools/report/findings_test.cpp)."""

import dataclasses
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from stria_program import HDF5_RELEASE, ROOT, run

from mpiexec_env import mpiexec_environment

BUILD = Path(os.environ["STRIA_PROGRAM"]).parents[1]
MPI = os.environ["STRIA_MPI"]
PROGRAM = Path(__file__).with_name("programs") / "advised.py"
H5PY_WITH_MPI = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
NAMED = re.compile(r'\{"([a-z_]+)", [a-z_]+\}')


def counter(*names):
    return lambda stats: sum(stats["counters"][name] for name in names)


def operations(*names):
    """Returns how often the ranks have done one of these."""
    return lambda stats: sum(row["count"] for row in stats["operations"] if row["operation"] in names)


def beside_the_data(stats):
    """Bytes written that are none of the program's."""
    return stats["counters"]["bytes_written"] - stats["counters"]["bytes_put"]


def of_busiest_rank(stats):
    return stats["bytes_written"]["max"]


def of_busiest_aggregator(stats):
    return stats["aggregator_bytes_written"]["max"]


def out_of_order(stats):
    return stats["counters"]["write_pieces"] - stats["counters"]["sequential_writes"]


def refused_settings(stats):
    return sum(1 for file in stats["files"] if file["facts"].get("hint warnings"))


requests = counter("write_requests", "read_requests")
moved = counter("bytes_written", "bytes_read")
meetings = operations("reduce", "gather", "broadcast", "barrier", "all gather", "meeting")


@dataclasses.dataclass(frozen=True)
class Bench:
    rule: str
    work: object  # takes `trace stats --json`: what the advice makes less of
    less: float = 1.5  # at least so many times
    finds: bool = True  # something in the plain program, and nothing in the advised one
    ranks: int = 2
    preload: str = ""
    levels: tuple = ("full", "full")  # STRIA_TRACE of the plain and the advised program


BENCHES = [
    Bench("far_from_limit", requests, less=10, finds=False, preload="mpiio"),
    Bench("packing", operations("pack"), finds=False),
    Bench("sync", counter("syncs"), less=4, finds=False),
    Bench("metadata", beside_the_data, less=4, finds=False),
    Bench("waiting", meetings, less=5, finds=False),
    Bench("exchange", operations("exchange"), finds=False),
    Bench("sharing_memory", operations("share memory"), less=10, finds=False),
    Bench("collective_by_hint", operations("exchange"), finds=False),
    Bench("read_modify_write", moved, preload="mpiio"),
    Bench("element_by_element", requests, less=100, preload="mpiio"),
    Bench("small_requests", requests, less=10, preload="mpiio"),
    Bench("unaligned", counter("unaligned_writes"), less=10, preload="mpiio"),
    Bench("random_order", out_of_order, less=10, preload="mpiio"),
    Bench("scattered", counter("write_pieces"), less=10, preload="mpiio"),
    Bench("read_again", counter("bytes_read"), less=2),
    Bench("read_in_excess", counter("bytes_read"), less=2.5, preload="mpiio"),
    Bench("written_in_excess", counter("bytes_written"), less=2.5, preload="mpiio"),
    Bench("aggregator_imbalance", of_busiest_aggregator, ranks=4),
    Bench("rank_imbalance", of_busiest_rank, finds=False),
    Bench("one_writer", of_busiest_rank, ranks=4),
    Bench("many_opens", counter("opens"), less=5),
    Bench("small_files", counter("opens"), less=50),
    Bench("small_commits", meetings, less=5, finds=False),
    # What HDF5 says of it is recorded by libstria_trace.so (wrappers_test.py).
    Bench("collective_given_up", requests, less=10, finds=False, preload="mpiio"),
    Bench("background", operations("background write"), less=4, finds=False),
    Bench("unstaged", counter("unstaged_bytes"), less=10),
    Bench("hint_problems", refused_settings),
    Bench("dropped_records", lambda stats: stats["events"], less=2, finds=False, preload="mpiio", levels=("full", "library")),
]


def rule_names():
    sources = (ROOT / "tools" / "report" / "rules").glob("*_rules.cpp")
    tables = (re.search(r"k\w*Rules\[\] = (.*?);", source.read_text(), re.DOTALL) for source in sources)
    return sorted(name for table in tables for name in NAMED.findall(table.group(1)))


def recorded(work, bench, way, level):
    """Returns what `trace stats` and `trace report` say of a run."""
    place = work / way
    place.mkdir(parents=True)
    environment = mpiexec_environment() | {
        "PYTHONPATH": str(BUILD / "python"), "STRIA_TRACE": level, "STRIA_TRACE_DIR": str(work / f"{way}.trace"),
    }  # fmt: skip
    python = "/usr/bin/python3"
    if bench.rule != "collective_given_up":
        python = str(ROOT / "build" / "venv" / "bin" / "python")
        environment |= {"MPI4PY_MPIABI": MPI, "LD_LIBRARY_PATH": str(BUILD / "python" / MPI)}
    preload = ["env", f"LD_PRELOAD={BUILD}/lib/libstria_{bench.preload}.so"] if bench.preload else []
    command = [
        os.environ["STRIA_MPIEXEC"],
        "-n",
        str(bench.ranks),
        *preload,
        python,
        "-B",
        str(PROGRAM),
        bench.rule,
        str(place),
        way,
    ]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (trace,) = (work / f"{way}.trace").glob("*.stria-trace")
    run("trace", "report", "--no-probe", "--json", work / f"{way}.json", "-o", work / f"{way}.html", trace).succeeded()
    report = json.loads((work / f"{way}.json").read_text())
    found = {finding["rule"] for finding in report["findings"] + report["remarks"]}
    return json.loads(run("trace", "stats", "--json", trace).succeeded().stdout), found


def test_every_rule_has_a_bench():
    assert len(rule_names()) >= 20
    assert sorted(bench.rule for bench in BENCHES) == rule_names()


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.rule)
def test_the_advice_saves_work(work, bench):
    if bench.rule == "collective_given_up":
        if MPI != "openmpi" or not H5PY_WITH_MPI.exists():
            pytest.skip("Debian's h5py with Open MPI is not here")
        if HDF5_RELEASE >= (1, 14):
            pytest.skip("this HDF5 converts numbers in collective transfers too: it doesn't give them up")
    plain, found = recorded(work, bench, "plain", bench.levels[0])
    advised, found_then = recorded(work, bench, "advised", bench.levels[1])
    before, after = bench.work(plain), bench.work(advised)
    assert before > 0 and before >= bench.less * after, f"{before} before, {after} when advised"
    if bench.finds:
        assert bench.rule in found and bench.rule not in found_then, (found, found_then)

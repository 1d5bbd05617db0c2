"""Thakur, Lusk, Gropp 1995: the convection code, traced at three levels.

Their tables count calls of all processes. What was counted follows from the run: every process
makes 48 library calls (25 arrays, 11 files opened, 10 closed, 2 headers) and 170 communications
(pieces of 64 KiB of every array); each of the first column's makes 10 communications for the
averages of each of the five outputs."""

import statistics

from papers.outcome import Experiment, Figure, Outcome, Row, plain

PAPER = "Thakur, Lusk, Gropp 1995: I/O Characterization of a Portable Astrophysics Application"
RUN = ["--cells", 512, 256, "--steps", 20, "--no-sync"]
# The paper's figures stand by processes: calls of the library, communications, and the shares of
# the run's time on the SP.
PAPERS = {
    32: {"calls": 1816, "communications": 5640, "library": 26.61, "communication": 21.21, "write": 5.84},
    128: {"calls": 6704, "communications": 22160, "library": 35.18, "communication": 25.55, "write": 5.68},
}
# Outputs of averages, and the processes of a column of 32 and 128, which hold them.
OUTPUTS = 5
COLUMNS = {32: 4, 128: 8}
# The spans of our traces that are those operations.
CALL = "I/O library call"
COMMUNICATION = "communication for I/O"


def operations(stats):
    """Returns {span: its row} of `stria trace stats --json`."""
    return {row["operation"]: row for row in stats["operations"]}


def counted(rows, name):
    return rows[name]["count"] if name in rows else 0


def share(rows, name):
    return rows[name]["percent_of_program"] if name in rows else 0


def table(report, stats, paper):
    """The rows of Tables 1, 2 and 3 for one number of processes."""
    rows = operations(stats)
    ranks = report["ranks"]
    sizes = {int(size): count for size, count in report["write_sizes"].items()}
    lines = [
        Row(f"{ranks} processes: opens, all by rank 0", 11, counted(rows, "open"), True),
        Row(f"{ranks} processes: closes", 10, counted(rows, "close"), True),
        Row(f"{ranks} processes: writes", 27, counted(rows, "write"), True),
    ]
    for size, count, name in ((24, 2, "24 B"), (10 << 10, 5, "10 KB"), (64 << 10, 10, "64 KB"), (1 << 20, 10, "1 MB")):
        lines.append(Row(f"{ranks} processes: writes of {name}", count, sizes.get(size, 0), True))
    total = sum(size * count for size, count in sizes.items())
    lines += [
        Row(f"{ranks} processes: megabytes written", 10.67, total / 2**20, unit="count"),
        Row(f"{ranks} processes: communications for I/O", paper["communications"], counted(rows, COMMUNICATION), True),
        Row(f"{ranks} processes: library calls", paper["calls"], counted(rows, CALL), unit="count"),
        Row(f"{ranks} processes: % of the run in the library", paper["library"], share(rows, CALL), unit="%"),
        Row(f"{ranks} processes: % of the run in communication", paper["communication"], share(rows, COMMUNICATION), unit="%"),
        Row(f"{ranks} processes: % of the run in writes", paper["write"], share(rows, "write"), unit="%"),
    ]
    return lines


def calls_remark(report, stats, paper):
    """Returns where the library calls that we don't make could be."""
    ranks, (_, rows) = report["ranks"], report["blocks"]
    rest = paper["calls"] - 48 * ranks
    missing = paper["calls"] - counted(operations(stats), CALL)
    return (
        f"{ranks} processes: 48 calls of each process leave {rest} of the paper's {paper['calls']:,}, which are 5 outputs x "
        f"{rest / 5 / rows:g} calls x the {rows} processes of a column, which hold the averages. Ours makes 11 of them, an "
        f"average each and a flush. {missing / 5 / rows:g} an output and process are missing, {missing} in all; "
        "they write nothing."
    )


def rules(ranks, rows):
    """Calls of our library and communications of a run: each process's, and those for the averages
    by the `rows` processes of a column."""
    return 48 * ranks + OUTPUTS * 11 * rows, 170 * ranks + OUTPUTS * 10 * rows


def by_rules(ranks):
    """The rows of a number of processes that isn't run."""
    calls, communications = rules(ranks, COLUMNS[ranks])
    told = f"{ranks} processes, by the rules"
    return [
        Row(f"{told}: communications for I/O", PAPERS[ranks]["communications"], communications, True),
        Row(f"{told}: library calls", PAPERS[ranks]["calls"], calls, unit="count"),
    ]


def rules_remark(report, stats, ranks):
    """Returns what the rules say of a number of processes that isn't run, and whether they hold
    here."""
    here, rows = report["ranks"], operations(stats)
    found = counted(rows, CALL), counted(rows, COMMUNICATION)
    held = "gives" if rules(here, report["blocks"][1]) == found else "does not give"
    calls, communications = rules(ranks, COLUMNS[ranks])
    return (
        f"{ranks} processes aren't run with --quick. Each makes 48 calls and 170 communications, and each of the "
        f"{COLUMNS[ranks]} of a column 11 and 10 more in each of {OUTPUTS} outputs: {calls:,} calls and {communications:,} "
        f"communications, of which the paper prints {PAPERS[ranks]['calls']:,} and {PAPERS[ranks]['communications']:,}. The "
        f"same rule {held} what was counted with {here}."
    )


def rank_zero(runs, places, quick):
    rows, remarks = [], []
    for ranks in (32,) if quick else (32, 128):
        report, stats = runs.convection(ranks, [*RUN, "--through", "gather"], places.directory, traced=True)
        rows += table(report, stats, PAPERS[ranks])
        remarks.append(calls_remark(report, stats, PAPERS[ranks]))
    ours = {"library": share(operations(stats), CALL), "write": share(operations(stats), "write")}
    ours["communication"] = share(operations(stats), COMMUNICATION)
    ratio = ours["communication"] / max(ours["write"], 1e-9)
    theirs = PAPERS[ranks]["communication"] / PAPERS[ranks]["write"]
    remarks.append(
        f"Processes spend {ratio:.3g} times as long in communication for I/O as in writes; the paper's {theirs:.3g} times, at "
        f"{ranks} processes. Both count the time in which they wait for rank 0."
    )
    if quick:
        rows += by_rules(128)
        remarks.append(rules_remark(report, stats, 128))
    return Outcome(rows, [], remarks)


def two_phase(runs, places, quick):
    ranks = 8 if quick else 32
    ways = {
        "rank 0 writes": ["--through", "gather"],
        "two-phase": ["--through", "library", "--hint", "stria_method=two_phase"],
        "the library's choice": ["--through", "library"],
        "a file a process": ["--through", "separate"],
    }
    reports = runs.in_turn(
        {name: lambda words=words: runs.convection(ranks, [*RUN, *words], places.directory)[0] for name, words in ways.items()}
    )

    def arrays_seconds(report):
        return sum(report["outputs"][kind]["seconds"] for kind in ("restart", "data"))

    def ratio(above, below):
        pairs = zip(reports[above], reports[below], strict=True)
        return statistics.median(arrays_seconds(a) / arrays_seconds(b) for a, b in pairs)

    lines = [
        Row("restart and data: rank 0 / two-phase", None, ratio("rank 0 writes", "two-phase")),
        Row("restart and data: rank 0 / the library's choice", None, ratio("rank 0 writes", "the library's choice")),
        Row("restart and data: a file a process / two-phase", None, ratio("a file a process", "two-phase")),
    ]
    bars = {name: [(name, statistics.median(arrays_seconds(report) for report in many))] for name, many in reports.items()}
    faster = lines[0].ours
    verdict = f"takes {plain(1 / faster)} of the time" if faster > 1 else f"takes {plain(1 / faster)} times as long"
    remarks = [
        f"The paper announces two-phase writes and prints no time. Here two-phase {verdict} of rank 0's way, although its "
        "restart arrays hold doubles, twice as many bytes, and its files checksums: 14 MiB against 10.",
        "Files of a process can be read by as many processes only. The library's restart on any number.",
    ]
    return Outcome(lines, [Figure(f"restart and data, {ranks} processes", "", bars)], remarks)


EXPERIMENTS = [
    Experiment(
        "T95-1", PAPER, "Rank 0 gathers and writes",
        "What does the output of a convection code consist of, and where does its time go?",
        "The paper's run: 512 x 256 cells, 20 steps; 32 processes, and 128 without --quick. Counts are of traces.",
        rank_zero,
    ),
    Experiment(
        "T95-2", PAPER, "Two-phase writes in its place", "Does collective I/O take the bottleneck at rank 0 away?",
        "The same run; 8 processes with --quick, else 32.", two_phase,
    ),
]  # fmt: skip

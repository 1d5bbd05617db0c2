"""Ching and others 2002: noncontiguous access on a store of eight servers with
stripes of 16 KiB."""

from papers.outcome import Experiment, Figure, Outcome, Row, compared, plain
from papers.runs import median_seconds, ratio

PAPER = "Ching, Choudhary, Liao, Ross, Gropp 2002: Noncontiguous I/O through PVFS"
STRIPES = ["--hint", "striping_unit=16384", "--hint", "striping_factor=8"]


def ways(runs, places, clients, words, names=("multiple", "list", "sieving")):
    """Runs the paper's three methods for the same pieces: plain requests, lists of 64 stretches,
    windows of 32 MiB by MPI-IO."""
    options = {
        "multiple": ["--through", "posix", "--method", "multiple"],
        "list": ["--through", "posix", "--method", "list_io"],
        "sieving": [
            "--through", "mpiio", "--independent", "--method", "data_sieving", "--hint", "ind_rd_buffer_size=33554432",
            "--hint", "ind_wr_buffer_size=33554432",
        ],
    }  # fmt: skip
    return {
        name: lambda name=name: runs.bench(clients, [*words, *options[name], *STRIPES], places.store, name == "sieving")
        for name in names
    }


def by_accesses(workload, clients, title):
    """Times by the number of accesses, read and write."""

    def measure(runs, places, quick):
        mebibytes = 16 if quick else 1024
        points = (100, 1000, 10000) if quick else (1000, 10000, 100000)
        read, write = {}, {}
        for accesses in points:
            words = [workload, "--mib", mebibytes, "--accesses", accesses]
            documents = runs.in_turn(ways(runs, places, clients, words))
            for direction, lines in (("read", read), ("write", write)):
                for name, value in median_seconds(documents, direction).items():
                    lines.setdefault(name, []).append((accesses, value))
        rows = [
            Row(f"read: multiple / list at {points[-1]} accesses", 10, ratio(documents, "multiple", "list", "read")),
            Row(f"write: multiple / list at {points[-1]} accesses", 100, ratio(documents, "multiple", "list", "write")),
        ]
        figures = [
            Figure(f"{title}, {what}, {clients} clients", "accesses of a client", lines)
            for what, lines in (("read", read), ("write", write))
        ]
        growth = {name: points_of[-1][1] / points_of[0][1] for name, points_of in read.items()}
        remarks = [
            f"From {points[0]} to {points[-1]} accesses the time of a read grows to {plain(growth['multiple'])} times with "
            f"single requests, {plain(growth['list'])} with lists, {plain(growth['sieving'])} with sieving, which stays flat "
            "in the paper.",
            compared(rows[0].ours, 10, "Reads gain from lists"),
            compared(rows[1].ours, 100, "Writes gain from lists")
            + " A request costs less over loopback than over the paper's Ethernet.",
        ]
        return Outcome(rows, figures, remarks)

    return measure


def flash(runs, places, quick):
    clients = 4
    full = runs.bench(
        clients, ["flash", "--blocks-of", "turns", "--through", "posix", "--method", "list_io", *STRIPES], places.store
    )
    needs = full["needs"]
    words = ["flash", "--blocks-of", "turns", "--blocks", 2 if quick else 80]
    documents = runs.in_turn(ways(runs, places, clients, words))
    rows = [
        Row("requests of a client: multiple", 983040, needs["multiple"], True),
        Row("requests of a client: list of 64", 30, needs["list_io"], True),
        Row("requests of a client: windows of 32 MB", 1, needs["data_sieving"], True),
        Row("list requests really made by a client", 30, full["write"]["requests"] / clients, True),
        Row("write time: multiple / list", 10, ratio(documents, "multiple", "list", "write")),
        Row("write time: list / sieving", 100, ratio(documents, "list", "sieving", "write")),
    ]
    bars = {name: [(name, value)] for name, value in median_seconds(documents, "write").items()}
    theirs = {"multiple": [("multiple", 1000)], "list": [("list", 100)], "sieving": [("sieving", 1)]}
    remarks = [
        compared(rows[4].ours, 10, "Writes gain from lists"),
        compared(rows[5].ours, 100, "Sieving gains on lists")
        + " A list costs a server less here, and windows of several clients overlap, so that they wait for each other's locks.",
    ]
    return Outcome(rows, [Figure(f"FLASH I/O, write, {clients} clients", "", bars, theirs)], remarks)


def display(runs, places, quick):
    documents = runs.in_turn(ways(runs, places, 6, ["display"]))
    one = {name: many[0] for name, many in documents.items()}
    rows = [
        Row("requests of a client: multiple", 768, one["multiple"]["read"]["requests"] / 6, True),
        Row("requests of a client: list of 64", 12, one["list"]["read"]["requests"] / 6, True),
        Row("read time: multiple / list", 2, ratio(documents, "multiple", "list", "read")),
        Row("read time: sieving / list", 2, ratio(documents, "sieving", "list", "read")),
    ]
    bars = {name: [(name, value)] for name, value in median_seconds(documents, "read").items()}
    theirs = {"multiple": [("multiple", 2)], "list": [("list", 1)], "sieving": [("sieving", 2)]}
    remarks = [
        "The frame has the paper's size: 2532 x 1408 pixels. The counts are those of requests that were made.",
        compared(rows[2].ours, 2, "Lists against single requests"),
        compared(rows[3].ours, 2, "Lists against sieving, which reads three times what it needs"),
    ]
    return Outcome(rows, [Figure("tiled display, read, 6 clients", "", bars, theirs)], remarks)


EXPERIMENTS = [
    Experiment(
        "C02-1", PAPER, "1-D cyclic access", "How does the time grow with the number of accesses, by method?",
        "16 MiB in place of 1 GiB with --quick, 8 clients and 8 servers on one machine.",
        by_accesses("cyclic", 8, "1-D cyclic"),
    ),
    Experiment(
        "C02-2", PAPER, "Block-block access", "The same where a client's pieces lie on few of the servers.",
        "16 MiB in place of 1 GiB with --quick, 4 clients.", by_accesses("blockblock", 4, "block-block"),
    ),
    Experiment(
        "C02-3", PAPER, "FLASH I/O", "How many requests does each method need, and how long does it take?",
        "Counts at the paper's size; times with 2 of the 80 blocks with --quick, 4 clients.", flash,
    ),
    Experiment(
        "C02-4", PAPER, "Tiled display", "How fast can six displays read their overlapping parts of a frame?",
        "The paper's size, on one machine.", display,
    ),
]  # fmt: skip

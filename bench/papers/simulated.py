"""The experiments at the papers' own sizes, on machines that are simulated (docs/simulate.md)."""

from papers.outcome import Experiment, Figure, Outcome, Row, compared

LATHAM = "Latham and others 2012: A case study for scientific I/O: improving the FLASH astrophysics code"
YU = "Yu, Vetter, Oral 2008: Performance Characterization and Optimization of Parallel I/O on the Cray XT"
CHING = "Ching and others 2002: Noncontiguous I/O through PVFS"
SEDOV = ["nxb=16", "nvar=10"]
STANDARD = ["calls=variable"]
EXPERIMENTAL = ["layout=experimental"]
# What the model of a machine was fitted to is no check of it: docs/simulate.md says which is which.


def seconds(document):
    return document["seconds"]


def checkpoint(runs, ranks, blocks, more, through="romio", hints=()):
    settings = [*SEDOV, f"blocks={blocks}", *more]
    return seconds(runs.simulate("intrepid", ranks, "flash", settings, through, hints))


def collective(runs, places, quick):
    ranks = 1024 if quick else 8192
    together = checkpoint(runs, ranks, 32, STANDARD)
    alone = checkpoint(runs, ranks, 32, STANDARD, "alone", ["stria_method=multiple"])
    ours = checkpoint(runs, ranks, 32, STANDARD, "library")
    rows = [
        Row(f"time of independent calls, of collective ones', {ranks:,} processes", 10, alone / together),
        Row("time of the collective calls, of the library's commit", None, together / ours),
    ]
    bars = {"independent": alone, "collective": together, "the library": ours}
    return Outcome(rows, [as_bars("Sedov checkpoint, simulated", bars)], [compared(rows[0].ours, 10, "Collective calls gain")])


def layouts(runs, places, quick):
    ranks = 1024 if quick else 8192
    standard = checkpoint(runs, ranks, 32, STANDARD)
    experimental = checkpoint(runs, ranks, 32, EXPERIMENTAL)
    rows = [Row(f"time of the standard layout, of the experimental one's, {ranks:,} processes", 2.5, standard / experimental)]
    bars = {"standard": standard, "experimental": experimental}
    return Outcome(rows, [as_bars("Sedov checkpoint, simulated", bars)], [compared(rows[0].ours, 2.5, "One dataset gains")])


def scaling(runs, places, quick):
    counts = [512, 2048] if quick else [4096, 16384, 65536]
    ways = {"standard": STANDARD, "experimental": EXPERIMENTAL, "combined": ["calls=all"]}
    times = {name: [(ranks, checkpoint(runs, ranks, 11, more)) for ranks in counts] for name, more in ways.items()}
    last = {name: points[-1][1] for name, points in times.items()}
    rows = [
        Row(
            f"time of the standard layout, of combined calls', {counts[-1]:,} processes",
            3.5,
            last["standard"] / last["combined"],
        ),
        Row("time of the experimental layout, of combined calls'", 1, last["experimental"] / last["combined"]),
    ]
    remarks = [compared(rows[0].ours, 3.5, "Combined calls gain")]
    return Outcome(rows, [Figure("Sedov checkpoint, weak scaling, simulated", "processes", times)], remarks)


def as_bars(title, values):
    return Figure(title, "", {name: [(name, value)] for name, value in values.items()})


def ior(runs, ranks, mib, stripes, separate=False):
    settings = [f"block-kib={mib * 1024}", "transfer-kib=4096", *(["files=separate"] if separate else [])]
    hints = [f"striping_factor={stripes}", "stria_method=list_io"]
    return runs.simulate("jaguar", ranks, "ior", settings, "own-file" if separate else "alone", hints)["mbps"]


def servers(runs, places, quick):
    mib, ranks = (64, 128) if quick else (512, 1024)
    one, couplet = ior(runs, 64, 64, 1), ior(runs, 64, 64, 8)
    shared, separate = ior(runs, ranks, mib, 144), ior(runs, ranks, mib, 4, separate=True)
    rows = [
        Row("a server, MB/s", 406, one, unit="count"),
        Row("a couplet of eight, MB/s", 2500, couplet, unit="count"),
        Row("a server of 144, MB/s", 300, shared / 144, unit="count"),
        Row("all servers: speed of a shared file, of separate ones'", None, shared / separate),
    ]
    remarks = [compared(rows[3].ours, 1, "A shared file over all servers is faster than separate ones")]
    bars = {"shared": 1 / shared, "separate": 1 / separate}
    return Outcome(rows, [as_bars(f"IOR, {ranks:,} processes, simulated", bars)], remarks)


def aggregators(runs, places, quick):
    ranks, counts = (512, [16, 64, 512]) if quick else (2048, [64, 256, 1024, 2048])
    settings = ["nxb=16", "nvar=24", "blocks=10", *STANDARD]
    hints = ["stria_file_domains=even", "cb_buffer_size=4194304"]
    times = [
        (count, seconds(runs.simulate("jaguar", ranks, "flash", settings, "romio", [*hints, f"cb_nodes={count}"])))
        for count in counts
    ]
    best = min(time for _, time in times)
    rows = [Row("time with every process an aggregator, of that with the best number", 1.34, times[-1][1] / best)]
    remarks = [compared(rows[0].ours, 1.34, "The right number of aggregators gains")]
    return Outcome(rows, [Figure(f"Flash I/O, {ranks:,} processes, simulated", "aggregators", {"ROMIO": times})], remarks)


def cyclic(runs, places, quick):
    accesses = 1000 if quick else 4000
    rows, figures = [], []
    for direction, paper in (("read", 10), ("write", 100)):
        times = {
            method: seconds(
                runs.simulate(
                    "chiba", 8, "cyclic", ["mib=64", f"accesses={accesses}"], "alone", [f"stria_method={method}"],
                    reads=direction == "read",
                )
            )
            for method in ("multiple", "list_io")
        }  # fmt: skip
        rows.append(Row(f"{direction}: time of a request a piece, of lists'", paper, times["multiple"] / times["list_io"]))
        figures.append(as_bars(f"1-D cyclic, {direction}, simulated", times))
    remarks = [compared(rows[0].ours, 10, "Lists read faster"), compared(rows[1].ours, 100, "Lists write faster")]
    return Outcome(rows, figures, remarks)


EXPERIMENTS = [
    Experiment(
        "C02-1-sim", CHING, "1-D cyclic, simulated", "What does a list of pieces gain?",
        "Chiba City simulated: 8 clients, 8 servers, 64 MiB instead of 1 GiB.", cyclic,
    ),
    Experiment(
        "L12-1-sim", LATHAM, "Collective I/O, simulated", "What do collective calls gain?",
        "Intrepid simulated at the paper's 8,192 processes; 1,024 with --quick.", collective,
    ),
    Experiment(
        "L12-2-sim", LATHAM, "Layouts, simulated", "What does one dataset for all variables gain?",
        "Intrepid simulated at the paper's 8,192 processes; 1,024 with --quick.", layouts,
    ),
    Experiment(
        "L12-4-sim", LATHAM, "Weak scaling, simulated", "What do combined calls gain?",
        "Intrepid simulated up to the paper's 65,536 processes; 2,048 with --quick.", scaling,
    ),
    Experiment(
        "Y08-1-sim", YU, "Contiguous access, simulated", "What can a server, a couplet and all servers take?",
        "Jaguar simulated with the paper's servers and 1,024 processes; 128 with --quick.", servers,
    ),
    Experiment(
        "Y08-5-sim", YU, "Aggregators, simulated", "How many aggregators does Flash I/O want?",
        "Jaguar simulated at the paper's 2,048 processes; 512 with --quick.", aggregators,
    ),
]  # fmt: skip

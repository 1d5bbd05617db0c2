"""The experiments at the papers' own sizes, on machines that are simulated (docs/simulate.md)."""

from papers.outcome import Experiment, Figure, Outcome, Row, compared

LATHAM = "Latham and others 2012: A case study for scientific I/O: improving the FLASH astrophysics code"
YU = "Yu, Vetter, Oral 2008: Performance Characterization and Optimization of Parallel I/O on the Cray XT"
ROSS = "Ross, Nurmi, Cheng, Zingale 2001: A Case Study in Application I/O on Linux Clusters"
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


WINDOW = ["ind_rd_buffer_size=33554432"]
CHING_MIB = 64


def by_accesses(workload, counts):
    """Times by a client's accesses, which are as long as those of the paper's 1 GiB."""

    def measure(runs, places, quick):
        clients, points = (counts[0], (6250, 25000)) if quick else (counts[-1], (6250, 12500, 25000))
        rows, figures = [], []
        for direction, paper in (("read", 10), ("write", 100)):
            methods = ["multiple", "list_io"] + (["data_sieving"] if direction == "read" else [])
            times = {
                method: [
                    (16 * accesses, chiba(runs, clients, workload, accesses, method, direction == "read"))
                    for accesses in points
                ]
                for method in methods
            }
            gain = times["multiple"][-1][1] / times["list_io"][-1][1]
            rows.append(Row(f"{direction}: time of a request a piece, of lists', {clients} clients", paper, gain))
            if direction == "read":
                sieving = [time for _, time in times["data_sieving"]]
                rows.append(Row("read: time of sieving with most accesses, of that with fewest", 1, sieving[-1] / sieving[0]))
            title = f"{workload}, {direction}, {clients} clients, simulated"
            figures.append(Figure(title, "accesses of a client at 1 GiB", times))
        remarks = [
            compared(rows[0].ours, 10, "Lists read faster"),
            compared(rows[2].ours, 100, "Lists write faster") + " A list names 64 regions, so that it saves 64 waits at most.",
        ]
        return Outcome(rows, figures, remarks)

    return measure


def chiba(runs, clients, workload, accesses, method, reads):
    settings = [f"mib={CHING_MIB}", f"accesses={accesses}"]
    hints = [f"stria_method={method}", *WINDOW]
    return seconds(runs.simulate("chiba", clients, workload, settings, "alone", hints, reads=reads))


def clients_flash(runs, places, quick):
    counts = [2, 8] if quick else [2, 4, 8, 16, 32]
    settings = ["blocks-of=turns", "calls=all"]
    times = {
        method: [
            (clients, seconds(runs.simulate("chiba", clients, "flash", settings, "alone", [f"stria_method={method}"])))
            for clients in counts
        ]
        for method in ("multiple", "list_io")
    }
    gain = times["multiple"][-1][1] / times["list_io"][-1][1]
    rows = [Row(f"write: time of a request a piece, of lists', {counts[-1]} clients", 10, gain)]
    remarks = [
        compared(rows[0].ours, 10, "Lists write faster")
        + " The paper asks for each of 983,040 pieces of memory, the model for each of the 1,920 pieces in the file.",
    ]
    return Outcome(rows, [Figure("FLASH I/O, write, simulated", "clients", times)], remarks)


def display(runs, places, quick):
    times = {
        method: seconds(
            runs.simulate("chiba", 6, "display", [], "alone", [f"stria_method={method}", *WINDOW], reads=True)
        )
        for method in ("multiple", "list_io", "data_sieving")
    }  # fmt: skip
    rows = [
        Row("read: time of a request a piece, of lists'", 2, times["multiple"] / times["list_io"]),
        Row("read: time of sieving, of lists'", 2, times["data_sieving"] / times["list_io"]),
    ]
    remarks = [compared(row.ours, 2, what) for row, what in zip(rows, ("Lists on pieces", "Lists on sieving"), strict=True)]
    return Outcome(rows, [as_bars("tiled display, read, 6 clients, simulated", times)], remarks)


def for_writes(hints):
    """The hints for reads, as those for writes."""
    return [hint.replace("_rd_", "_wr_") for hint in hints if "_rd_" in hint]


def sieving(runs, places, quick):
    cells, ranks = (128, 16) if quick else (256, 64)
    settings = [f"cells={cells}"]
    hints = {"direct": ["stria_method=multiple"]}
    for name, size in (("sieving 512 KB", 1 << 19), ("sieving 8 MB", 1 << 23)):
        hints[name] = ["stria_method=data_sieving", f"ind_rd_buffer_size={size}"]
    times = {
        name: seconds(runs.simulate("jaguar", ranks, "block3d", settings, "alone", more, reads=True))
        for name, more in hints.items()
    }
    times["collective"] = seconds(runs.simulate("jaguar", ranks, "block3d", settings, "calls", reads=True))
    writes = {
        name: seconds(runs.simulate("jaguar", ranks, "block3d", settings, "alone", [*more, *for_writes(more)]))
        for name, more in hints.items()
    }
    rows = [
        Row("read: a window of 8 MB against 512 KB", 1.54, times["sieving 512 KB"] / times["sieving 8 MB"]),
        Row("read: direct against sieving", None, times["direct"] / times["sieving 512 KB"]),
        Row("read: direct against collective", None, times["direct"] / times["collective"]),
        Row("write: a window of 8 MB against 512 KB", 4.5, writes["sieving 512 KB"] / writes["sieving 8 MB"]),
        Row("write: direct against sieving", None, writes["direct"] / writes["sieving 512 KB"]),
    ]
    remarks = [
        compared(rows[0].ours, 1.54, "Larger windows of reads"),
        compared(rows[3].ours, 4.5, "Larger windows of writes"),
    ]
    figures = [
        as_bars(f"3-D block array, {direction}, {ranks} processes, simulated", bars)
        for direction, bars in (("read", times), ("write", writes))
    ]
    return Outcome(rows, figures, remarks)


def open_seconds(runs, ranks, separate, first):
    settings = ["block-kib=4", "transfer-kib=4", *(["files=separate"] if separate else [])]
    hints = ["striping_factor=72", "stria_method=list_io", *first]
    return runs.simulate("jaguar", ranks, "ior", settings, "own-file" if separate else "alone", hints)["open_seconds"]


def opens(runs, places, quick):
    counts = [64, 256] if quick else [64, 256, 1024]
    ways = {"shared": (False, []), "a file a process": (True, ["start_iodevice=0"])}
    times = {name: [(ranks, open_seconds(runs, ranks, *way)) for ranks in counts] for name, way in ways.items()}
    balanced = open_seconds(runs, counts[-1], True, [])
    last = {name: points[-1][1] for name, points in times.items()}
    rows = [
        Row(f"time to make a file a process, of a shared one's, {counts[-1]:,}", 10, last["a file a process"] / last["shared"]),
        Row("a file a process: time with one first server, with any", 1.33, last["a file a process"] / balanced),
    ]
    remarks = [
        compared(rows[0].ours, 10, "A file a process is dearer"),
        "The model makes the objects of a file on all its servers at once, so that the first one makes no difference.",
    ]
    return Outcome(rows, [Figure("Parallel create, 72 servers, simulated", "processes", times)], remarks)


GATHER = ["nodes.pack_rate=1.21e5"]  # HDF5's gather and scatter: 327,680 bytes in 2.7 s (R01-4)


def hdf5_write(runs, ranks, numbers=()):
    settings = ["nxb=8", "nvar=24", "blocks=80", *STANDARD]
    return seconds(
        runs.simulate("chiba_myrinet", ranks, "flash", settings, "alone", ["stria_method=multiple"], numbers=numbers)
    )  # fmt: skip


def gathered(runs, places, quick):
    ranks = 8 if quick else 64
    gathering, packed = hdf5_write(runs, ranks, GATHER), hdf5_write(runs, ranks)
    rows = [
        Row(f"checkpoint of {ranks} processes by hyperslabs of memory, s", None if quick else 73.6, gathering, unit="count"),
        Row("time by hyperslabs, of that from packed buffers", 6.3, gathering / packed),
    ]
    remarks = [compared(rows[1].ours, 6.3, "Packing by the application gains")]
    bars = {"hyperslabs": gathering, "packed": packed}
    return Outcome(rows, [as_bars(f"Checkpoint, {ranks} processes, simulated", bars)], remarks)


TABLE_3 = {32: 9.34, 64: 11.7, 128: 21.9, 192: 26.8, 256: 33.9}


def packed_scaling(runs, places, quick):
    counts = [32, 64] if quick else list(TABLE_3)
    times = {ranks: hdf5_write(runs, ranks) for ranks in counts}
    rows = [Row(f"checkpoint of {ranks} processes, s", TABLE_3[ranks], time, unit="count") for ranks, time in times.items()]
    figure = Figure(
        "Checkpoint from packed buffers, simulated", "processes", {"HDF5": list(times.items())},
        {"HDF5": [(ranks, TABLE_3[ranks]) for ranks in counts]},
    )  # fmt: skip
    return Outcome(rows, [figure], ["The cost of a seek was fitted to 64 processes; the others check it."])


EXPERIMENTS = [
    Experiment(
        "R01-2-sim", ROSS, "FLASH I/O by hyperslabs, simulated", "What do memory hyperslabs cost in HDF5?",
        "Chiba City simulated: the paper's 64 processes, 80 blocks each; 8 with --quick.", gathered,
    ),
    Experiment(
        "R01-3-sim", ROSS, "FLASH I/O from packed buffers, simulated", "Does packing by the application scale?",
        "Chiba City simulated: 32 to the paper's 256 processes; to 64 with --quick.", packed_scaling,
    ),
    Experiment(
        "C02-1-sim", CHING, "1-D cyclic, simulated", "What does a list of pieces gain?",
        "Chiba City simulated: 32 clients, 8 with --quick; 64 MiB in accesses as long as those of 1 GiB.",
        by_accesses("cyclic", (8, 32)),
    ),
    Experiment(
        "C02-2-sim", CHING, "Block-block, simulated", "The same where a client's pieces lie on few of the servers.",
        "Chiba City simulated: 16 clients, 4 with --quick; 64 MiB in accesses as long as those of 1 GiB.",
        by_accesses("blockblock", (4, 16)),
    ),
    Experiment(
        "C02-3-sim", CHING, "FLASH I/O, simulated", "What do lists gain for a checkpoint?",
        "Chiba City simulated: 2 to 32 clients, 8 with --quick.", clients_flash,
    ),
    Experiment(
        "C02-4-sim", CHING, "Tiled display, simulated", "How fast can six displays read their parts of a frame?",
        "Chiba City simulated at the paper's size.", display,
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
        "Y08-2-sim", YU, "3-D block array, simulated", "When does data sieving pay, and with which buffer?",
        "Jaguar simulated: 256 cells a side, 64 processes; 128 and 16 with --quick.", sieving,
    ),
    Experiment(
        "Y08-3-sim", YU, "Parallel create, simulated", "What does a file a process cost?",
        "Jaguar simulated: 72 servers, to 1,024 processes; 256 with --quick.", opens,
    ),
    Experiment(
        "Y08-5-sim", YU, "Aggregators, simulated", "How many aggregators does Flash I/O want?",
        "Jaguar simulated at the paper's 2,048 processes; 512 with --quick.", aggregators,
    ),
]  # fmt: skip

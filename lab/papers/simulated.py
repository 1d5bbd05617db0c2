"""The experiments at the papers' own sizes, on machines that are simulated (docs/simulate.md)."""

import collections
import functools

from papers import outcome
from papers.outcome import Experiment, Figure, Outcome, Row

compared = functools.partial(outcome.compared, where="simulated")

LATHAM = "Latham and others 2012: A case study for scientific I/O: improving the FLASH astrophysics code"
YU = "Yu, Vetter, Oral 2008: Performance Characterization and Optimization of Parallel I/O on the Cray XT"
ROSS = "Ross, Nurmi, Cheng, Zingale 2001: A Case Study in Application I/O on Linux Clusters"
THAKUR = "Thakur, Lusk, Gropp 1995: I/O Characterization of a Portable Astrophysics Application"
CHING = "Ching and others 2002: Noncontiguous I/O through PVFS"
SEDOV = ["nxb=16", "nvar=10"]
STANDARD = ["calls=variable"]
EXPERIMENTAL = ["layout=experimental"]
# What the model of a machine was fitted to is no check of it: docs/simulate.md says which is which.


SECONDS = "seconds"


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
    return Outcome(rows, [Figure("Sedov checkpoint, weak scaling, simulated", "processes", times, measure=SECONDS)], remarks)


def as_bars(title, values, measure=SECONDS, paper=None):
    bars = [{name: [(name, value)] for name, value in some.items()} for some in (values, paper or {})]
    return Figure(title, "", *bars, measure=measure)


# FLASH writes a checkpoint and a plot file after each of four steps, and a pair before the first.
OUTPUT_PAIRS = 5
PAIR = ((10, 8), (3, 4))  # a checkpoint and a plot file: variables, bytes of a value
MIB = 1 << 20


def request_sizes(runs, places, quick):
    sizes = {}
    for layout in ("standard", "experimental"):
        sizes[layout] = collections.Counter()
        for variables, value_bytes in PAIR:
            settings = ["blocks=37", f"nvar={variables}", f"value-bytes={value_bytes}", f"layout={layout}", *STANDARD]
            document = runs.simulate("intrepid", 512, "sedov", settings, "romio")
            for entry in document["common_write_sizes"]:
                sizes[layout][entry["bytes"]] += OUTPUT_PAIRS * entry["count"]
    more = sizes["experimental"][16 * MIB] - sizes["standard"][16 * MIB]
    rows = [
        Row("standard layout: writes of 4 MiB", 763, sizes["standard"][4 * MIB], unit="count"),
        Row("experimental layout: writes of 16 MiB more than with the standard one", 208, more, unit="count"),
        Row("experimental layout: writes of 4 MiB", None, sizes["experimental"][4 * MIB], unit="count"),
    ]
    remarks = [
        "512 processes of 36 or 37 blocks: their tree of four base blocks has 18,724 in five levels, the model 18,688. "
        "Counts are of five checkpoints and plot files, one pair of them before the first step.",
        "A variable has 146 blocks of the file system, which 16 aggregators share: those with nine write 16, 16 and 4 MiB. "
        "All variables together fill the buffers of 16 MiB.",
    ]
    shown = {layout: [(size, of[size * MIB]) for size in (4, 8, 16)] for layout, of in sizes.items()}
    printed = {"standard": [(4, 763)]}
    figure = Figure("Writes by size, 512 processes, simulated", "MiB of a write", shown, printed, "writes")
    return Outcome(rows, [figure], remarks)


# The paper's times outside of the I/O library, s: tables 1 and 4, all less calls of the library.
COMPUTING_S = {32: 43.59 - 11.60, 128: 59.35 - 20.88}
# Tables 1 to 6: seconds of a process in all calls, in communication, in writes and in opens.
SP_S = {32: (11.60, 9.538, 2.627, 1.121), 128: (20.88, 16.34, 3.635, 0.816)}
# How often each output is written in 20 steps, and the cache that it is written through.
SP_OUTPUTS = {"restart": (2, 1 << 20), "data": (2, 1 << 20), "movie": (5, 64 << 10)}
SP_OTHER_FILES = 2  # files that are opened as well: a marker, and one for averages


def sp_run(runs, ranks):
    """Seconds of a process in all calls, in communication, in writes and in opens, as the tables
    have them: waiting for rank 0 counts as communication, and rank 0's own times aren't divided."""
    library = communication = writes = opens = opening = 0
    for output, (times, cache) in SP_OUTPUTS.items():
        settings = [f"output={output}", "restart-bytes=4"]
        hints = [f"cb_buffer_size={cache}"]
        document, stats = runs.traced_simulation("sp", ranks, "convection", settings, "rank-zero", hints)
        spent = collections.defaultdict(float, {row["operation"]: row["total_seconds"] for row in stats["operations"]})
        opening = spent["storage open"]
        library += times * seconds(document)
        waits = spent["message wait"] + spent["barrier"] + spent["reduce"]
        communication += times * waits / ranks
        writes += times * spent["storage write"]
        opens += times * opening
    return library + SP_OTHER_FILES * opening, communication, writes, opens + SP_OTHER_FILES * opening


def shares(runs, places, quick):
    rows = []
    lines, paper = collections.defaultdict(list), collections.defaultdict(list)
    for ranks in (32,) if quick else (32, 128):
        ours, theirs = sp_run(runs, ranks), SP_S[ranks]
        whole, their_whole = COMPUTING_S[ranks] + ours[0], COMPUTING_S[ranks] + theirs[0]
        for name, mine, printed in zip(("the library", "communication", "writes", "opens"), ours, theirs, strict=True):
            share = 100 * printed / their_whole if name == "the library" else SP_PERCENT[ranks][name]
            rows.append(Row(f"{ranks} processes: % of the run in {name}", share, 100 * mine / whole, unit="%"))
            lines[name].append((ranks, mine))
            paper[name].append((ranks, printed))
    remarks = [
        "The time outside the library is the paper's. Rates of writes and opens are those of 32 processes; 128 check them.",
        "Rank 0 asks for each contiguous piece of a stretch of 64 KiB: a guess, to which the communication of 32 processes "
        "led; that of 128 checks it. The machine's latency and rate are the paper's.",
        "Averages, 10 KB in five writes, and the closing of files are left out.",
    ]
    figure = Figure("A process's time, simulated", "processes", dict(lines), dict(paper), SECONDS)
    return Outcome(rows, [figure], remarks)


# Tables 2 and 5.
SP_PERCENT = {
    32: {"communication": 21.21, "writes": 5.842, "opens": 2.493},
    128: {"communication": 25.55, "writes": 5.684, "opens": 1.276},
}


def ior(runs, ranks, mib, stripes, separate=False, numbers=()):
    settings = [f"block-kib={mib * 1024}", "transfer-kib=4096", *(["files=separate"] if separate else [])]
    hints = [f"striping_factor={stripes}", "stria_method=list_io"]
    return runs.simulate("jaguar", ranks, "ior", settings, "own-file" if separate else "alone", hints, numbers=numbers)["mbps"]


def over_servers(runs, ranks, mib, counts):
    """MB/s of a shared file over so many servers, and of separate ones, four of them each."""
    speeds = {"shared": [], "separate": []}
    for count in counts:
        numbers = [f"servers.count={count}"]
        speeds["shared"].append((count, ior(runs, ranks, mib, count, numbers=numbers)))
        speeds["separate"].append((count, ior(runs, ranks, mib, 4, separate=True, numbers=numbers)))
    return speeds


def servers(runs, places, quick):
    mib, ranks = (64, 128) if quick else (512, 1024)
    one, couplet = ior(runs, 64, 64, 1), ior(runs, 64, 64, 8)
    speeds = over_servers(runs, ranks, mib, (16, 144) if quick else (16, 48, 96, 144))
    shared, separate = speeds["shared"][-1][1], speeds["separate"][-1][1]
    rows = [
        Row("a server, MB/s", 406, one, unit="count"),
        Row("a couplet of eight, MB/s", 2500, couplet, unit="count"),
        Row("a server of 144, MB/s", 300, shared / 144, unit="count"),
        Row("all servers: speed of a shared file, of separate ones'", None, shared / separate),
    ]
    remarks = [compared(rows[3].ours, 1, "A shared file over all servers is faster than separate ones")]
    figure = Figure(f"IOR, {ranks:,} processes, simulated", "servers", speeds, measure="MB/s")
    return Outcome(rows, [figure], remarks)


# S3D's checkpoint: cells along a side, of which each process has some 50 x 50 x 50 (16 MB).
S3D_SIDES = {1024: 512, 2048: 640, 4096: 800, 8192: 1024}
S3D_MIB = 16
# Separate files: the plateau, and at 8,192 processes 49 % less than at 4,096 (the abstract).
S3D_SEPARATE = {2048: 33, 4096: 15 / (1 - 0.49), 8192: 15}
S3D_SHARED = 35


def checkpoints(runs, places, quick):
    counts = [1024, 8192] if quick else list(S3D_SIDES)
    speeds = {"separate": [], "shared": []}
    for ranks in counts:
        settings = [f"cells={S3D_SIDES[ranks]}", "files=separate"]
        separate = runs.simulate("jaguar", ranks, "s3d", settings, "own-file", ["striping_factor=4"])["mbps"]
        speeds["separate"].append((ranks, separate / 1000))
        speeds["shared"].append((ranks, ior(runs, ranks, S3D_MIB, 144) / 1000))
    rows = [
        Row(f"separate files, {ranks:,} processes, GB/s", S3D_SEPARATE.get(ranks), speed, unit="count")
        for ranks, speed in speeds["separate"]
    ]
    most, shared = speeds["shared"][-1]
    rows.append(Row(f"a shared file, {most:,} processes, GB/s", S3D_SHARED, shared, unit="count"))
    remarks = [
        compared(shared / speeds["separate"][-1][1], S3D_SHARED / 15, f"A shared file of {most:,} processes is faster"),
        "How much longer a creation takes in a crowd was fitted to separate files of 8,192 processes. Fewer processes, and "
        "the shared file, check it.",
        "Each process's part of the shared file is taken as contiguous. The paper doesn't say how it lies.",
    ]
    paper = {
        "separate": [(ranks, S3D_SEPARATE[ranks]) for ranks in counts if ranks in S3D_SEPARATE],
        "shared": [(most, S3D_SHARED)],
    }
    return Outcome(rows, [Figure("S3D's checkpoint, simulated", "processes", speeds, paper, "GB/s")], remarks)


# What a file gets on Jaguar whose program asks for nothing. The paper's separate files have four
# servers (3.1.3); that all 144 serve one must be asked for (Latham 2012, 4).
USUAL_SERVERS = "striping_factor=4"
BEST_AGGREGATORS = {16: 256, 32: 512}  # by cells along a side of a block; 4.2.1


def flash_speeds(runs, ranks, cells, counts):
    """MB/s of ROMIO's two-phase, by the number of aggregators."""
    settings = [f"nxb={cells}", "nvar=24", "blocks=10", *STANDARD]
    hints = [USUAL_SERVERS, "stria_file_domains=even", "cb_buffer_size=4194304"]
    return [
        (count, runs.simulate("jaguar", ranks, "flash", settings, "romio", [*hints, f"cb_nodes={count}"])["mbps"])
        for count in counts
    ]


def aggregators(runs, places, quick):
    ranks, counts = (512, [16, 64, 512]) if quick else (2048, [64, 256, 512, 1024, 2048])
    speeds = {cells: flash_speeds(runs, ranks, cells, counts) for cells in BEST_AGGREGATORS}
    best = {cells: max(of, key=lambda point: point[1]) for cells, of in speeds.items()}
    gain = best[16][1] / speeds[16][-1][1]
    rows = [Row("speed with the best number of aggregators, of that with every process one", 1.34, gain)]
    rows += [
        Row(
            f"blocks of {cells} cells a side: the best number of aggregators",
            None if quick else paper,
            best[cells][0],
            unit="count",
        )
        for cells, paper in BEST_AGGREGATORS.items()
    ]
    remarks = [
        compared(gain, 1.34, "The right number of aggregators gains"),
        "With larger blocks the paper finds 512 or 1,024 sufficient. The file lies on four servers, as it does where a program "
        "asks for nothing.",
    ]
    series = {f"blocks of {cells}": of for cells, of in speeds.items()}
    return Outcome(rows, [Figure(f"Flash I/O, {ranks:,} processes, simulated", "aggregators", series, measure="MB/s")], remarks)


WINDOW = ["ind_rd_buffer_size=33554432"]
CHING_MIB = 64
WHOLE = 16  # the paper's 1 GiB has so many times the bytes and the accesses


def by_accesses(workload, counts):
    """Times by a client's accesses, which are as long as those of the paper's 1 GiB."""

    def measure(runs, places, quick):
        clients, points = (counts[0], (6250, 25000)) if quick else (counts[-1], (6250, 12500, 25000, 50000))
        rows, figures = [], []
        for direction, paper in (("read", 10), ("write", 100)):
            methods = ["multiple", "list_io"] + (["data_sieving"] if direction == "read" else [])
            times = {
                method: [
                    (WHOLE * accesses, WHOLE * chiba(runs, clients, workload, accesses, method, direction == "read"))
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
            figures.append(Figure(title, "accesses of a client", times, measure="seconds for 1 GiB"))
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
    return Outcome(rows, [Figure("FLASH I/O, write, simulated", "clients", times, measure=SECONDS)], remarks)


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


def writing_s(document):
    """The seconds leave out the creation of the file, which the paper's program doesn't count."""
    return document["seconds"] - document["open_seconds"]


def sieving(runs, places, quick):
    cells, ranks = (128, 16) if quick else (256, 256)
    settings = [f"cells={cells}"]
    ways = {"direct": ("alone", ["stria_method=multiple"])}
    for name, size in (("sieving 512 KB", 1 << 19), ("sieving 8 MB", 1 << 23)):
        ways[name] = ("sieving", [f"ind_rd_buffer_size={size}", f"ind_wr_buffer_size={size}"])
    times, writes = (
        {name: measure(runs.simulate("jaguar", ranks, "block3d", settings, *way, reads=reads)) for name, way in ways.items()}
        for measure, reads in ((seconds, True), (writing_s, False))
    )
    times["collective"] = seconds(runs.simulate("jaguar", ranks, "block3d", settings, "calls", reads=True))
    rows = [
        Row("read: a window of 8 MB against 512 KB", 1.54, times["sieving 512 KB"] / times["sieving 8 MB"]),
        Row("read: direct against sieving", None, times["direct"] / times["sieving 512 KB"]),
        Row("read: direct against collective", None, times["direct"] / times["collective"]),
        Row("write: a window of 8 MB against 512 KB", 4.5, writes["sieving 512 KB"] / writes["sieving 8 MB"]),
        Row("write: direct against sieving", None, writes["direct"] / writes["sieving 512 KB"]),
    ]
    slower = "slower" if rows[4].ours < 1 else "faster"
    remarks = [
        compared(rows[0].ours, 1.54, "Larger windows of reads"),
        compared(rows[3].ours, 4.5, "Larger windows of writes") + " The cost of a call of flock() was fitted to it.",
        "The paper doesn't say how many processes changed the window. With few of them, those that have the same planes ask "
        "the same server at a time, while longer windows reach several.",
        f"Writes by sieving are {slower} than direct ones here, and slower in the paper. Each window locks the whole file.",
    ]
    figures = [
        as_bars(f"3-D block array, {direction}, {ranks} processes, simulated", bars)
        for direction, bars in (("read", times), ("write", writes))
    ]
    return Outcome(rows, figures, remarks)


def open_seconds(runs, ranks, separate, first):
    settings = ["block-kib=4", "transfer-kib=4", *(["files=separate"] if separate else [])]
    hints = ["striping_factor=72", "stria_method=list_io", *first]
    way = "own-file" if separate else "alone"
    return runs.simulate("jaguar", ranks, "ior", settings, way, hints, numbers=["servers.count=72"])["open_seconds"]


def opens(runs, places, quick):
    counts = [64, 256] if quick else [64, 256, 1024]
    ways = {"shared": (False, []), "a file a process": (True, ["start_iodevice=0"])}
    times = {name: [(ranks, open_seconds(runs, ranks, *way)) for ranks in counts] for name, way in ways.items()}
    balanced = {ranks: open_seconds(runs, ranks, True, []) for ranks in counts}
    last = {name: points[-1][1] for name, points in times.items()}
    rows = [
        Row(f"time to make a file a process, of a shared one's, {counts[-1]:,}", 10, last["a file a process"] / last["shared"]),
    ]
    rows += [
        Row(f"a file a process: time with one first server, with any, {ranks:,}", 1.33, time / balanced[ranks])
        for ranks, time in times["a file a process"]
    ]
    remarks = [
        compared(rows[0].ours, 10, "A file a process is dearer"),
        "The cost of an object was fitted to the first row. The paper doesn't say with how many processes it chose servers. "
        "Each process has the objects of its file made by one server after another. Where all begin with the same server, "
        "the last servers are idle first, and the first ones last.",
    ]
    return Outcome(rows, [Figure("Parallel create, 72 servers, simulated", "processes", times, measure=SECONDS)], remarks)


GATHER = ["nodes.pack_rate=1.21e5"]  # HDF5's gather and scatter: 327,680 bytes in 2.7 s (R01-4)


def hdf5_write(runs, ranks, numbers=()):
    settings = ["nxb=8", "nvar=24", "blocks=80", *STANDARD]
    return seconds(
        runs.simulate("chiba_myrinet", ranks, "flash", settings, "hdf5", ["stria_method=multiple"], numbers=numbers)
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
        {"HDF5": [(ranks, TABLE_3[ranks]) for ranks in counts]}, SECONDS,
    )  # fmt: skip
    return Outcome(rows, [figure], ["The cost of a seek was fitted to 64 processes; the others check it."])


EXPERIMENTS = [
    Experiment(
        "T95-1-sim", THAKUR, "Rank 0 gathers and writes, simulated", "Where does the time of the output go?",
        "The IBM SP of 1995 with the paper's 32 and 128 processes; 32 with --quick.", shares,
    ),
    Experiment(
        "R01-2-sim", ROSS, "FLASH I/O by hyperslabs, simulated", "What do memory hyperslabs cost in HDF5?",
        "Chiba City: the paper's 64 processes, 80 blocks each; 8 with --quick.", gathered,
    ),
    Experiment(
        "R01-3-sim", ROSS, "FLASH I/O from packed buffers, simulated", "Does packing by the application scale?",
        "Chiba City: 32 to the paper's 256 processes; to 64 with --quick.", packed_scaling,
    ),
    Experiment(
        "C02-1-sim", CHING, "1-D cyclic, simulated", "What does a list of pieces gain?",
        "Chiba City: 32 clients, 8 with --quick; 64 MiB in accesses as long as those of 1 GiB.",
        by_accesses("cyclic", (8, 32)),
    ),
    Experiment(
        "C02-2-sim", CHING, "Block-block, simulated", "The same where a client's pieces lie on few of the servers.",
        "Chiba City: 16 clients, 4 with --quick; 64 MiB in accesses as long as those of 1 GiB.",
        by_accesses("blockblock", (4, 16)),
    ),
    Experiment(
        "C02-3-sim", CHING, "FLASH I/O, simulated", "What do lists gain for a checkpoint?",
        "Chiba City: 2 to 32 clients, 8 with --quick.", clients_flash,
    ),
    Experiment(
        "C02-4-sim", CHING, "Tiled display, simulated", "How fast can six displays read their parts of a frame?",
        "Chiba City at the paper's size.", display,
    ),
    Experiment(
        "L12-1-sim", LATHAM, "Collective I/O, simulated", "What do collective calls gain?",
        "Intrepid at the paper's 8,192 processes; 1,024 with --quick.", collective,
    ),
    Experiment(
        "L12-2-sim", LATHAM, "Layouts, simulated", "What does one dataset for all variables gain?",
        "Intrepid at the paper's 8,192 processes; 1,024 with --quick.", layouts,
    ),
    Experiment(
        "L12-3-sim", LATHAM, "Sizes of requests by layout, simulated", "How large are the writes that reach the storage?",
        "Intrepid: 512 processes as in the paper's runs under Darshan.", request_sizes,
    ),
    Experiment(
        "L12-4-sim", LATHAM, "Weak scaling, simulated", "What do combined calls gain?",
        "Intrepid up to the paper's 65,536 processes; 2,048 with --quick.", scaling,
    ),
    Experiment(
        "Y08-1-sim", YU, "Contiguous access, simulated", "What can a server, a couplet and all servers take?",
        "Jaguar with the paper's servers and 1,024 processes; 128 with --quick.", servers,
    ),
    Experiment(
        "Y08-2-sim", YU, "3-D block array, simulated", "When does data sieving pay, and with which buffer?",
        "Jaguar: 256 cells a side, 256 processes; 128 and 16 with --quick.", sieving,
    ),
    Experiment(
        "Y08-3-sim", YU, "Parallel create, simulated", "What does a file a process cost?",
        "Jaguar: 72 servers, to 1,024 processes; 256 with --quick.", opens,
    ),
    Experiment(
        "Y08-4-sim", YU, "S3D's checkpoint, simulated", "One shared file or one for each process?",
        "Jaguar: to the paper's 8,192 processes.", checkpoints,
    ),
    Experiment(
        "Y08-5-sim", YU, "Aggregators, simulated", "How many aggregators does Flash I/O want?",
        "Jaguar at the paper's 2,048 processes; 512 with --quick.", aggregators,
    ),
]  # fmt: skip

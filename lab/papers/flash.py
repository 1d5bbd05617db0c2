"""FLASH I/O as two papers measured it: Ross and others 2001 through HDF5, after contiguous writes
through each interface; Latham and others 2012 with collective calls, another layout, and calls that
are combined."""

import statistics

from papers.outcome import Experiment, Figure, Outcome, Row, compared, plain
from papers.runs import median_seconds, ratio

ROSS = "Ross, Nurmi, Cheng, Zingale 2001: A Case Study in Application I/O on Linux Clusters"
LATHAM = "Latham and others 2012: A case study for scientific I/O: improving the FLASH astrophysics code"
SEDOV = ["--nxb", 16, "--nvar", 10]
# Table 3 of 2001: checkpoints from packed buffers, MB/s by processes.
PACKED_MBPS = {32: 26.0, 64: 41.7, 128: 44.4, 192: 54.4, 256: 57.4}


def speed_ratio(modes, above, below):
    """Returns how many times the speed of `below` the mode `above` has: the median over rounds in
    which the modes took turns."""
    pairs = zip(modes[above]["rounds_seconds"], modes[below]["rounds_seconds"], strict=True)
    size = modes[above]["useful_bytes"] / modes[below]["useful_bytes"]
    return statistics.median(size * b / a for a, b in pairs)


def seconds_for(modes, name):
    """Returns the seconds for as many bytes in every mode."""
    return modes[name]["seconds"]["median"] / modes[name]["useful_bytes"]


def as_bars(values):
    """Numbers by name, as a figure takes them."""
    return {name: [(name, value)] for name, value in values.items()}


def bars(modes, names, title, paper=None):
    """`paper`: times for as many bytes that it prints, by shown name."""
    ours = {shown: seconds_for(modes, mode) for mode, shown in names.items()}
    return Figure(title, "", as_bars(ours), as_bars(paper or {}))


def contiguous(runs, places, quick):
    words = ["ior", "--block-kib", 7 * 1024, "--transfer-kib", 7 * 1024]
    documents = runs.in_turn(
        {
            name: lambda through=through, more=more: runs.bench(
                4, [*words, "--through", through, *more], places.directory, through == "mpiio"
            )
            for name, through, more in (
                ("file system", "posix", ["--method", "contiguous"]),
                ("MPI-IO", "mpiio", []),
                ("the library", "library", ["--no-checksums"]),
            )
        }
    )
    # One dataset of as many bytes, from memory that is contiguous already.
    names = {"limit-contig": "file system", "hdf5-independent-prepacked": "HDF5"}
    modes = runs.peers(4, ["--nvar", 1, "--plot-variables", 1, "--blocks", 1792], names, places.directory)
    rows = [
        Row("speed of MPI-IO, of the file system's", 1.0, 1 / ratio(documents, "MPI-IO", "file system", "write")),
        Row("speed of HDF5, of the file system's", 0.6, speed_ratio(modes, "hdf5-independent-prepacked", "limit-contig")),
        Row("speed of the library, of the file system's", None, 1 / ratio(documents, "the library", "file system", "write")),
    ]
    remarks = [
        f"HDF5 has {plain(rows[1].ours)} of the file system's speed; 0.6 in the paper, where data began off the blocks of "
        f"the file system. The library writes the same format with {plain(rows[2].ours)} of it.",
        "A file of 28 MiB in memory takes milliseconds, of which opening and closing are a part.",
    ]
    medians = {**median_seconds(documents, "write"), "HDF5": modes["hdf5-independent-prepacked"]["seconds"]["median"]}
    theirs = {"file system": 1 / 410, "MPI-IO": 1 / 410, "HDF5": 1 / 240}
    return Outcome(rows, [Figure("7 MiB a process, contiguous", "", as_bars(medians), as_bars(theirs))], remarks)


def hyperslabs(runs, places, quick):
    blocks = 4 if quick else 20
    words = ["--blocks", blocks, "--slow-blocks", blocks]
    names = {
        "hdf5-independent-hyperslab": "hyperslab",
        "hdf5-collective-hyperslab": "hyperslab, collective",
        "hdf5-independent": "packed",
    }
    modes = runs.peers(4, words, names, places.directory)
    gain = speed_ratio(modes, "hdf5-independent", "hdf5-independent-hyperslab")
    rows = [
        Row("checkpoint: speed of packed, of the hyperslab's", 73.6 / 11.7, gain),
        Row(
            "checkpoint: speed of the collective hyperslab, of the independent one's", None,
            speed_ratio(modes, "hdf5-collective-hyperslab", "hdf5-independent-hyperslab"),
        ),
    ]  # fmt: skip
    remarks = [compared(gain, 73.6 / 11.7, "Packing before the call gains")]
    return Outcome(rows, [bars(modes, names, "HDF5 checkpoint, 4 processes", {"hyperslab": 73.6, "packed": 11.7})], remarks)


def packed(runs, places, quick):
    names = {"hdf5-independent": "HDF5, packed", "limit-pack-whole": "no library"}
    few, many = (2, 4) if quick else (2, 8)
    modes = {ranks: runs.peers(ranks, ["--blocks", 20 if quick else 80], names, places.directory) for ranks in (few, many)}

    def speed(ranks):
        return modes[ranks]["hdf5-independent"]["mbps"]["median"]

    rows = [
        Row(f"speed at {many // few} times the processes (the paper: 4)", 57.4 / 41.6, speed(many) / speed(few)),
        Row(
            f"HDF5's speed, of that without a library, {many} processes", None,
            speed_ratio(modes[many], "hdf5-independent", "limit-pack-whole"),
        ),
    ]  # fmt: skip
    remarks = [
        compared(rows[0].ours, rows[0].paper, "More processes write faster"),
        "All processes share two cores here, so that more of them bring no more work done.",
    ]
    growth = Figure(
        "packed checkpoint, time for as many bytes", "processes",
        {"HDF5": [(ranks, seconds_for(modes[ranks], "hdf5-independent")) for ranks in (few, many)]},
        {"HDF5": [(ranks, 1 / speed) for ranks, speed in PACKED_MBPS.items()]},
    )  # fmt: skip
    return Outcome(rows, [growth, bars(modes[many], names, f"packed checkpoint, {many} processes")], remarks)


def where(runs, places, quick):
    words = ["--blocks", 2 if quick else 8, "--slow-blocks", 2 if quick else 8]
    stats = runs.traced_peers(8, words, ["hdf5-independent-hyperslab"], places.directory)
    operations = {row["operation"]: row for row in stats["operations"]}
    inside = operations["H5Dwrite"]["own_seconds"]
    writes = [row for name, row in operations.items() if name.startswith("MPI_File_write")]
    written = sum(row["total_seconds"] for row in writes)
    count = sum(row["count"] for row in writes)
    rows = [
        Row("time in HDF5's own gather and scatter, of that in its writes", (2.5 + 0.2) / 0.04, inside / written),
        Row("writes of MPI-IO for each call of H5Dwrite", None, count / operations["H5Dwrite"]["count"]),
    ]
    place = "in these writes" if written > inside else "inside HDF5, in the gathering"
    remarks = [
        f"The paper's HDF5 gathered a variable and wrote it at once. That of today makes {rows[1].ours:,.0f} writes for each "
        f"call: here the most time goes {place}."
    ]
    parts = as_bars({"inside HDF5": inside, "writes": written})
    theirs = as_bars({"inside HDF5": 2.7, "writes": 0.04})
    return Outcome(rows, [Figure("a hyperslab's time, 8 processes", "", parts, theirs)], remarks)


def collective(runs, places, quick):
    names = {"hdf5-independent": "independent", "hdf5-collective": "collective"}
    modes = runs.peers(8, [*SEDOV, "--blocks", 4 if quick else 32], names, places.directory)
    gain = speed_ratio(modes, "hdf5-collective", "hdf5-independent")
    rows = [Row("checkpoint: speed of collective calls, of independent ones'", 10, gain)]
    remarks = [
        compared(gain, 10, "Collective calls gain"),
        "The paper's ratio is that of 8,192 processes behind few I/O nodes, whose requests collective calls combine. On one "
        "machine there is nobody to combine them for.",
    ]
    return Outcome(rows, [bars(modes, names, "HDF5 checkpoint, 8 processes", {"independent": 10, "collective": 1})], remarks)


def bench_ways(runs, places, blocks, preload):
    """Runs a variable a call; one dataset for all; one call for all variables in their own
    datasets."""
    words = ["flash", *SEDOV, "--blocks", blocks, "--through", "mpiio"]
    ways = {
        "standard": ["--layout", "standard", "--calls", "variable"],
        "experimental": ["--layout", "experimental"],
        "combined": ["--layout", "standard", "--calls", "all"],
    }
    return {name: lambda more=more: runs.bench(4, [*words, *more], places.directory, preload) for name, more in ways.items()}


def layouts(runs, places, quick):
    blocks = 8 if quick else 32
    rows, figures, remarks = [], [], []
    for name, preload in (("the MPI's own MPI-IO", False), ("the drop-in", True)):
        ways = bench_ways(runs, places, blocks, preload)
        documents = runs.in_turn({way: ways[way] for way in ("standard", "experimental")})
        ours = ratio(documents, "standard", "experimental", "write")
        rows.append(Row(f"{name}: time of the standard layout, of the experimental one's", 2.5, ours))
        theirs = as_bars({"standard": 2.5, "experimental": 1})
        figures.append(Figure(f"checkpoint by {name}, 4 processes", "", as_bars(median_seconds(documents, "write")), theirs))
        remarks.append(compared(ours, 2.5, f"One dataset for all variables gains by {name}"))
    return Outcome(
        rows, figures, [*remarks, "The paper prints a half (HDF5) to a third (PnetCDF) of the time: 2.5 stands for both."]
    )


def histogram(runs, places, quick):
    buffer_mib = 16
    hints = ["--method", "two_phase", "--hint", "cb_nodes=1", "--hint", f"cb_buffer_size={buffer_mib << 20}"]
    sizes = {}
    for layout, words in (("standard", ["--calls", "variable"]), ("experimental", [])):
        words = ["flash", *SEDOV, "--blocks", 32, "--layout", layout, *words, "--through", "mpiio", *hints]
        counters = runs.traced_bench(4, words, places.directory)
        # One round warms up.
        sizes[layout] = {row["bytes"]: row["count"] // 2 for row in counters["common_sizes"]}
    rows = []
    for layout, paper in (("standard", "763 of 4 MiB in the paper"), ("experimental", "208 of 16 MiB more")):
        for size, count in sorted(sizes[layout].items()):
            rows.append(Row(f"{layout}: writes of {size / 2**20:g} MiB ({paper})", None, count))
    most = {layout: max(of) for layout, of in sizes.items()}
    growth = most["experimental"] / most["standard"]
    rows.append(Row("largest write of the experimental layout, of the standard one's", 4, growth))
    remarks = [
        "A variable of all processes is 4 MiB, and a call that knows only it can't write more. With one dataset for all, "
        f"writes are of {most['experimental'] >> 20} MiB: the collective buffer of {buffer_mib} MiB"
        + (
            " is used whole."
            if most["experimental"] == buffer_mib << 20
            else ", of which one half is filled while the other is written."
        )
    ]
    return Outcome(rows, [], remarks)


def combined(runs, places, quick):
    documents = runs.in_turn(bench_ways(runs, places, 4 if quick else 11, True))
    gains = ratio(documents, "standard", "combined", "write")
    rows = [
        Row("time of a call a variable, of combined calls'", 3.5, gains),
        Row("time of the experimental layout, of combined calls'", 1.0, ratio(documents, "experimental", "combined", "write")),
    ]
    names = {"pnetcdf-blocking": "blocking", "pnetcdf-nonblocking": "nonblocking"}
    modes = runs.peers(4, [*SEDOV, "--blocks", 11], names, places.directory)
    rows.append(Row("PnetCDF: speed of nonblocking, of blocking calls'", 3.5, speed_ratio(modes, *reversed(names))))
    theirs = as_bars({"standard": 3.5, "experimental": 1, "combined": 1})
    figures = [
        Figure("checkpoint by the drop-in, 4 processes", "", as_bars(median_seconds(documents, "write")), theirs),
        bars(modes, names, "checkpoint by PnetCDF, 4 processes", {"blocking": 3.5, "nonblocking": 1}),
    ]
    remarks = [compared(gains, 3.5, "Combining calls on the standard layout gains")]
    return Outcome(rows, figures, remarks)


EXPERIMENTS = [
    Experiment(
        "R01-1", ROSS, "Contiguous writes through each interface", "What does each layer take of the file system's speed?",
        "4 processes on one machine; MPI-IO by the drop-in, HDF5 1.10 on the MPI's own.", contiguous,
    ),
    Experiment(
        "R01-2", ROSS, "FLASH I/O by hyperslabs of memory", "What do memory hyperslabs cost in HDF5?",
        "4 blocks a process with --quick, 20 without; 4 processes in place of 64; HDF5 1.10.", hyperslabs,
    ),
    Experiment(
        "R01-3", ROSS, "FLASH I/O from packed buffers", "Does packing by the application scale?",
        "20 blocks a process with --quick, else 80; 2 and 8 processes (4 with --quick) in place of 64 and 256.", packed,
    ),
    Experiment(
        "R01-4", ROSS, "Where the time goes", "Gathering, scattering or writing?",
        "8 processes as in the paper, with 2 or 8 blocks each; from a trace of the calls.", where,
    ),
    Experiment(
        "L12-1", LATHAM, "Collective or independent calls", "What do collective calls gain?",
        "4 blocks a process with --quick, else the paper's 32; 8 processes in place of 8,192.", collective,
    ),
    Experiment(
        "L12-2", LATHAM, "Layout of the file", "What does one dataset for all variables gain?",
        "8 blocks a process with --quick, else the paper's 32; 4 processes; the bytes of the checkpoint by MPI-IO.", layouts,
    ),
    Experiment(
        "L12-3", LATHAM, "Sizes of requests by layout", "How large are the writes that reach the storage?",
        "The paper's 32 blocks of 16 cubed and 10 variables, 4 processes, one aggregator with 16 MiB; traced.", histogram,
    ),
    Experiment(
        "L12-4", LATHAM, "Combined calls on the standard layout", "Do combined calls gain as much as the other layout?",
        "4 blocks a process with --quick, else the paper's 11; 4 processes.", combined,
    ),
]  # fmt: skip

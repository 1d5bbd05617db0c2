"""Yu, Vetter, Oral 2008: I/O of the Cray XT."""

from papers.outcome import Experiment, Figure, Outcome, Row, compared
from papers.runs import median_seconds, ratio

PAPER = "Yu, Vetter, Oral 2008: Performance Characterization and Optimization of Parallel I/O on the Cray XT"


def bars_of(documents, direction, title, paper=None):
    """`paper`: times that it prints, or their ratios, by name."""
    series = {name: [(name, value)] for name, value in median_seconds(documents, direction).items()}
    return Figure(title, "", series, {name: [(name, value)] for name, value in (paper or {}).items()})


def block_array(runs, places, quick):
    words = ["block3d", "--cells", 128 if quick else 256, "--through", "mpiio"]
    sieve = ["--independent", "--method", "data_sieving"]
    options = {
        "direct": ["--independent", "--method", "multiple"],
        "sieving 512 KB": [*sieve, "--hint", "ind_wr_buffer_size=524288", "--hint", "ind_rd_buffer_size=524288"],
        "sieving 8 MB": [*sieve, "--hint", "ind_wr_buffer_size=8388608", "--hint", "ind_rd_buffer_size=8388608"],
        "collective": [],
    }
    documents = runs.in_turn(
        {name: lambda more=more: runs.bench(8, [*words, *more], places.store, True) for name, more in options.items()}
    )
    rows = [
        Row("write: a window of 8 MB against 512 KB", 4.5, ratio(documents, "sieving 512 KB", "sieving 8 MB", "write")),
        Row("read: a window of 8 MB against 512 KB", 1.54, ratio(documents, "sieving 512 KB", "sieving 8 MB", "read")),
        Row("read: direct against sieving", None, ratio(documents, "direct", "sieving 8 MB", "read")),
        Row("write: direct against sieving", None, ratio(documents, "direct", "sieving 8 MB", "write")),
        Row("write: direct against collective", None, ratio(documents, "direct", "collective", "write")),
    ]
    figures = [
        bars_of(documents, what, f"3-D block array, {what}, 8 ranks", {"sieving 512 KB": gain, "sieving 8 MB": 1})
        for what, gain in (("read", 1.54), ("write", 4.5))
    ]
    remarks = [
        compared(rows[0].ours, 4.5, "Larger windows of writes"),
        compared(rows[1].ours, 1.54, "Larger windows of reads"),
        "The paper's windows travel to Lustre, where each is locked by a server far away; here the lock is a process on the "
        "same machine.",
    ]
    return Outcome(rows, figures, remarks)


def opens(runs, places, quick):
    count = 20 if quick else 200
    documents = runs.in_turn(
        {
            files: lambda files=files: runs.bench(
                4, ["open", "--count", count, "--files", files, "--through", "posix"], places.store
            )
            for files in ("shared", "separate")
        }
    )
    rows = [
        Row("make: a file a rank against one shared", 10, ratio(documents, "separate", "shared", "write")),
        Row("open: a file a rank against one shared", None, ratio(documents, "separate", "shared", "read")),
    ]
    remarks = [
        compared(rows[0].ours, 10, "A file a process is dearer"),
        "The paper's ratio is of many more processes, whose files all wait for one metadata server. Here four ranks make four "
        "times as many files, but meet for each shared one.",
    ]
    return Outcome(rows, [bars_of(documents, "write", "parallel create, 4 ranks", {"shared": 1, "separate": 10})], remarks)


def checkpoint(runs, places, quick):
    words = ["s3d", "--cells", 48 if quick else 128, "--through", "library"]
    documents = runs.in_turn(
        {
            files: lambda files=files: runs.bench(4, [*words, "--files", files], places.directory)
            for files in ("shared", "separate")
        }
    )
    rows = [
        Row(
            "write: a file a rank against one shared, at most processes",
            35 / 15,
            ratio(documents, "separate", "shared", "write"),
        )
    ]
    remarks = [
        compared(rows[0].ours, 35 / 15, "Separate files are dearer"),
        "The paper's ratio comes with 8,192 processes and as many files. Four ranks that each write a small file meet nobody.",
    ]
    return Outcome(
        rows, [bars_of(documents, "write", "S3D checkpoint, 4 ranks", {"shared": 1 / 35, "separate": 1 / 15})], remarks
    )


EXPERIMENTS = [
    Experiment(
        "Y08-2", PAPER, "3-D block array", "When does data sieving pay, and with which buffer?",
        "128 cells a side with --quick, 8 ranks, a store of eight servers.", block_array,
    ),
    Experiment(
        "Y08-3", PAPER, "Parallel create and open", "What does a file a process cost?",
        "4 ranks, a store of eight servers on one machine.", opens,
    ),
    Experiment(
        "Y08-4", PAPER, "S3D checkpoint", "One shared file or one for each process?",
        "48 cells a side with --quick, 4 ranks, files on this machine.", checkpoint,
    ),
]  # fmt: skip

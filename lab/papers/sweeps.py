"""Sweeps of Yu, Vetter, Oral 2008: contiguous speed by servers and transfer sizes, aggregators and
collective buffers."""

import statistics

from papers.outcome import Experiment, Figure, Outcome, Row, plain
from papers.runs import median_seconds, ratio, seconds
from papers.yu import PAPER

MIB = 1 << 20


def contiguous(runs, places, quick):
    transfers = (1, 4, 16) if quick else (4, 16, 64)
    block = 16 if quick else 128
    read, write = {}, {}
    for transfer in transfers:
        words = ["ior", "--block-kib", block * 1024, "--transfer-kib", transfer * 1024, "--through", "posix"]
        variants = {
            f"{servers} server{'s' * (servers > 1)}, {files}": [
                "--files", files, "--hint", f"striping_factor={servers}", "--hint", f"striping_unit={MIB}",
            ]
            for servers, files in ((1, "shared"), (8, "shared"), (8, "separate"))
        }  # fmt: skip
        documents = runs.in_turn(
            {
                name: lambda words=words, more=more: runs.bench(4, [*words, *more], places.store)
                for name, more in variants.items()
            }
        )
        for direction, lines in (("read", read), ("write", write)):
            for name, value in median_seconds(documents, direction).items():
                lines.setdefault(name, []).append((transfer, value))
    one, eight, separate = variants
    rows = [
        Row("write: speed of 8 servers, of one's", 2500 / 406, ratio(documents, one, eight, "write")),
        Row("read: speed of 8 servers, of one's", None, ratio(documents, one, eight, "read")),
        Row("write: speed of one shared file, of separate files', 8 servers", None, ratio(documents, separate, eight, "write")),
    ]
    gain = rows[0].ours
    remarks = [
        f"Eight servers write {plain(gain)} times as fast as one, the paper's couplet of eight {plain(2500 / 406)} times: "
        "there each had disks and a processor of its own, here all share two cores and one memory, and their clients as well.",
        "The paper's shared file beats separate files past 96 servers; here one shared file takes "
        f"{plain(1 / rows[2].ours)} times as long with 8.",
    ]
    # Transfers of 4 to 64 MB made no difference there.
    theirs = {one: [(4, 1 / 406), (64, 1 / 406)], separate: [(4, 1 / 2500), (64, 1 / 2500)]}
    figures = [
        Figure(f"contiguous, {what}, 4 processes", "MiB of a transfer", lines, theirs)
        for what, lines in (("read", read), ("write", write))
    ]
    return Outcome(rows, figures, remarks)


def tuned(runs, places, quick):
    workloads = {
        "tile": ["tile", "--width", 512, "--height", 384] if quick else ["tile"],
        "BT-IO": ["btio", "--points", 32 if quick else 64, "--dumps", 5 if quick else 40],
        "FLASH I/O": ["flash", "--blocks", 8 if quick else 80],
    }
    aggregators, buffers = ((1, 4), (1, 32)) if quick else ((1, 2, 4), (1, 4, 32))
    rows, remarks, by_aggregators, by_buffer = [], [], {}, {}
    for name, words in workloads.items():
        settings = {"the defaults": []}
        settings |= {f"{count} aggregators": ["--hint", f"cb_nodes={count}"] for count in aggregators}
        settings |= {f"buffers of {size} MiB": ["--hint", f"cb_buffer_size={size * MIB}"] for size in buffers}
        words = [*words, "--through", "mpiio", "--method", "two_phase"]
        documents = runs.in_turn(
            {
                setting: lambda words=words, more=more: runs.bench(4, [*words, *more], places.store, True)
                for setting, more in settings.items()
            }
        )
        medians = median_seconds(documents, "write")
        by_aggregators[name] = [(count, medians[f"{count} aggregators"]) for count in aggregators]
        by_buffer[name] = [(size, medians[f"buffers of {size} MiB"]) for size in buffers]
        best = min(medians, key=medians.get)
        gain = ratio(documents, "the defaults", best, "write")
        rows.append(Row(f"{name}: speed with the best setting, of the defaults'", 1.34 if name == "FLASH I/O" else None, gain))
        spread = statistics.median(
            max(times) / min(times)
            for times in zip(*([seconds(one, "write") for one in documents[setting]] for setting in settings), strict=True)
        )
        remarks.append(f"{name}: best with {best}; the slowest setting takes {plain(spread)} times as long as the fastest.")
    remarks.append(
        "The paper: 32 MB are best for tile and FLASH I/O, BT-IO hardly cares, and the best number lies inside the range."
    )
    figures = [
        Figure("write by aggregators, 4 processes", "aggregators", by_aggregators),
        Figure("write by collective buffer, 4 processes", "MiB", by_buffer),
    ]
    return Outcome(rows, figures, remarks)


EXPERIMENTS = [
    Experiment(
        "Y08-1", PAPER, "Contiguous speed by servers and transfers", "What does one server bring, and what do eight?",
        "1 and 8 servers, stripes of 1 MiB, transfers of 1 to 16 MiB with --quick, else to 64; 4 processes.", contiguous,
    ),
    Experiment(
        "Y08-5", PAPER, "Aggregators and collective buffers", "How much does the right setting bring?",
        "1 to 4 aggregators and buffers of 1 to 32 MiB, 4 processes, eight servers; small sizes with --quick.", tuned,
    ),
]  # fmt: skip

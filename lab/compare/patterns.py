"""`stria bench` as the runners use it: which words choose a pattern, and one run's results."""

import json
import os

PLACES = {"nc": "gaps", "c": "contiguous"}


def words(pattern, size):
    """Returns the workload and its options; `size`: cells along a side, MiB, pieces, accesses or
    blocks of a rank, as it has them.

    block3d, noncontig_MEMORY_FILE (nc or c), tile, btio_full, btio_simple, ior, ior_separate, small
    (ior in calls of 4 KiB), calls_KIB (ior in calls of so many KiB), turns_KIB (the same, a call of
    each rank in turn along the file), bytes_BYTES (ior in calls of so many bytes), pieces_FILE with
    _nc for memory with gaps, cyclic_MIB, blocks_MIB, flash (blocks of the ranks in turn, as in
    2002), display.
    """
    name, *rest = pattern.split("_")
    simple = {
        "block3d": ["block3d", "--cells", size],
        "tile": ["tile"],
        "display": ["display"],
        "flash": ["flash", "--blocks", size, "--blocks-of", "turns"],
        "small": ["ior", "--block-kib", size * 1024, "--transfer-kib", 4],
        "calls": ["ior", "--block-kib", size * 1024, "--transfer-kib", rest[0] if rest else 1],
        "bytes": ["ior", "--block-kib", size * 1024, "--transfer-bytes", rest[0] if rest else 64],
        "ior": ["ior", "--block-kib", size * 1024, "--files", "separate" if rest else "shared"],
    }
    if name in simple:
        return simple[name]
    if name == "turns":
        kib = int(rest[0])
        return ["ior", "--block-kib", kib, "--transfer-kib", kib, "--segments", size * 1024 // kib]
    if name == "noncontig":
        return ["noncontig", "--kib", size * 1024, "--memory", PLACES[rest[0]], "--file", PLACES[rest[1]]]
    if name == "btio":
        return ["btio", "--points", size, "--kind", rest[0]]
    if name == "pieces":
        return ["pieces", "--pieces", size, "--file", rest[0], "--memory", PLACES["nc" if rest[1:] else "c"]]
    return [{"cyclic": "cyclic", "blocks": "blockblock"}[name], "--mib", rest[0], "--accesses", size]


def command(program, pattern, size, call, **run):
    """Returns the words of one run through MPI-IO. `call` is collective, independent, or limit,
    which writes contiguously without MPI-IO.

    `run`: directory, rounds, result (the path of a file) and hints."""
    through = {"collective": ["mpiio"], "independent": ["mpiio", "--independent"], "limit": ["posix", "--method", "contiguous"]}
    chosen = [program, "bench", *words(pattern, size), "--through", *through[call], "--dir", run["directory"]]
    chosen += ["--rounds", run["rounds"], "--read", "--verify", "--json", run["result"]]
    for hint in run.get("hints", ()):
        chosen += ["--hint", hint]
    return [str(word) for word in chosen]


def take(result):
    """Returns the document that a run left there; the file is removed."""
    with open(result, encoding="utf-8") as file:
        document = json.load(file)
    os.remove(result)
    return document

"""Reads a log of Darshan's by PyDarshan. `stria trace import` runs it and makes a trace of it.

usage: darshan_log.py LOG > answer
Standard output: a line of JSON {"command", "ranks", "start_unix_ns", "run_ns", "files": names,
"facts": [[file, key, value]], "hosts": {rank: name}, "records": [...], "segments": count,
"warnings"}, then the columns of the segments one behind the other: begin_ns, end_ns, offset,
bytes as int64, kind, rank, file as int32. Kinds: 0 a write and 1 a read of POSIX, 2 a write and 3
a read of MPI-IO. A record: {"file", "rank", "values": {counter of Stria's: value}}. Rank -1 is
what Darshan keeps of all ranks together; then "extremes" has [rank, ns, bytes] of the slowest
and the fastest.
"""

import json
import os
import sys

SIZES = ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"]
BINS = ["0-100", "100-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G", "1G+"]
STREAMS = {"<STDIN>", "<STDOUT>", "<STDERR>"}
ALL_RANKS = -1
# Modules with records of files, the application's side first.
APPLICATION = ["H5D", "PNETCDF_VAR", "MPI-IO"]
STORAGE = ["POSIX", "STDIO"]


class Record:
    """A record of a module, by Darshan's names without the module's prefix; 0 where none is."""

    def __init__(self, module, raw):
        self.module, self.rank = module, int(raw["rank"])
        self.file = raw.get("file_rec_id") or raw["id"]
        self.values = {}
        prefix = {"MPI-IO": "MPIIO"}.get(module, module) + "_"
        for table in ("counters", "fcounters"):
            for name, value in raw[table].items():
                self.values[name.removeprefix(prefix)] = value

    def __getitem__(self, name):
        return max(0, int(self.values.get(name, 0)))

    def ns(self, name):
        return max(0, round(float(self.values.get(name, 0)) * 1e9))

    def sum(self, *names):
        return sum(self[name] for name in names)

    def moving_ns(self):
        return self.ns("F_READ_TIME") + self.ns("F_WRITE_TIME")

    def extremes(self):
        return [
            [self[f"{which}_RANK"], self.ns(f"F_{which}_RANK_TIME"), self[f"{which}_RANK_BYTES"]]
            for which in ("SLOWEST", "FASTEST")
        ]


class Log:
    def __init__(self, backend, path):
        self.backend, self.log = backend, backend.log_open(path)
        if not self.log["handle"]:
            sys.exit(f"'{path}' is no log of Darshan's that PyDarshan {backend.get_lib_version()} reads")
        self.job = backend.log_get_job(self.log)
        self.modules = backend.log_get_modules(self.log)
        self.names = backend.log_get_name_records(self.log)
        self.ids = {name: file for file, name in self.names.items()}

    def raw_records(self, module):
        while module in self.modules and (record := self.backend.log_get_record(self.log, module, dtype="dict")):
            yield record

    def records(self, module):
        """Returns those of files: streams of the terminal are none."""
        for raw in self.raw_records(module):
            record = Record(module, raw)
            record.file = self.file_of(record.file)
            if self.names.get(record.file, "") not in STREAMS:
                yield record

    def file_of(self, record):
        """Old logs tell a dataset's file only by its name, FILE:DATASET."""
        name = self.names.get(record, "")
        ends = (end for end, letter in enumerate(name) if letter == ":")
        return next((self.ids[name[:end]] for end in ends if name[:end] in self.ids), record)

    def warnings(self):
        for name, module in self.modules.items():
            if module["partial_flag"]:
                yield f"Darshan had no memory for all of module {name}: what it counted is incomplete"


def requests(record):
    """Returns what the storage did, from a record of POSIX or STDIO."""
    reads, writes = record["READS"], record["WRITES"]
    unaligned = record["FILE_NOT_ALIGNED"]
    unaligned_reads = unaligned * reads // max(1, reads + writes)
    values = {
        "opens": record.sum("OPENS", "FDOPENS"),
        "syncs": record.sum("FSYNCS", "FDSYNCS"),
        "max_read_end": record["MAX_BYTE_READ"] + 1 if record["BYTES_READ"] else 0,
        "max_write_end": record["MAX_BYTE_WRITTEN"] + 1 if record["BYTES_WRITTEN"] else 0,
        "unaligned_reads": unaligned_reads,
        "unaligned_writes": unaligned - unaligned_reads,
        "alignment_bytes": record["FILE_ALIGNMENT"],
        "metadata_ns": record.ns("F_META_TIME"),
    }
    for ours, theirs, count in (("read", "READ", reads), ("write", "WRITE", writes)):
        values |= {
            f"{ours}_requests": count,
            f"{ours}_pieces": count,
            f"consecutive_{ours}s": record[f"CONSEC_{theirs}S"],
            f"sequential_{ours}s": record[f"SEQ_{theirs}S"],
            f"max_{ours}_ns": record.ns(f"F_MAX_{theirs}_TIME"),
            f"max_pieces_of_{ours}": min(1, count),
            f"{ours}_ns": record.ns(f"F_{theirs}_TIME"),
        }
        values |= {f"{ours}_sizes_{b}": record[f"SIZE_{theirs}_{size}"] for b, size in zip(BINS, SIZES, strict=True)}
    values |= {"bytes_read": record["BYTES_READ"], "bytes_written": record["BYTES_WRITTEN"]}
    for place in "1234":
        for ours, theirs, value in (("size", "ACCESS", "ACCESS"), ("stride", "STRIDE", "STRIDE")):
            count = record[f"{theirs}{place}_COUNT"]
            if count:
                values[f"common_{ours}_{place}"] = record[f"{theirs}{place}_{value}"]
                values[f"common_{ours}_{place}_count"] = count
    return values


def calls(record):
    """Returns what the application asked for, from a record of any module."""
    kinds = [""] if record.module in ("POSIX", "STDIO", "H5D") else ["INDEP_", "COLL_", "SPLIT_", "NB_"]
    reads, writes = ([f"{kind}{what}S" for kind in kinds] for what in ("READ", "WRITE"))
    values = {
        "gets": record.sum(*reads),
        "puts": record.sum(*writes),
        "bytes_got": record["BYTES_READ"],
        "bytes_put": record["BYTES_WRITTEN"],
    }
    if record.module == "MPI-IO":
        together = record.sum("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")
        values |= {"transfers_two_phase": together, "transfers_other": values["gets"] + values["puts"] - together}
    return values


def share_of_rank(records, rank, ranks):
    """Returns the time that `records` of a file tell of one rank, or of all."""
    whole = sum(record.moving_ns() for record in records if record.rank == ALL_RANKS)
    if rank == ALL_RANKS:
        return whole + sum(record.moving_ns() for record in records if record.rank != ALL_RANKS)
    return whole // ranks + sum(record.moving_ns() for record in records if record.rank == rank)


def counters(log, ranks):
    """Yields (file, rank, values, record): of each file the requests by the lowest module, and the
    application's calls by the highest."""
    by_file = {}
    for module in APPLICATION + STORAGE:
        for record in log.records(module):
            by_file.setdefault(record.file, {}).setdefault(module, []).append(record)
    for file, modules in by_file.items():
        storage = [record for module in STORAGE for record in modules.get(module, [])]
        top = next((modules[module] for module in APPLICATION if module in modules), storage)
        for record in storage:
            yield file, record.rank, requests(record), record
        for record in top:
            yield file, record.rank, calls(record), record
        for record in modules.get("MPI-IO", []):
            below = share_of_rank(storage, record.rank, ranks)
            if not storage:
                yield file, record.rank, requests_of_mpiio(record), record
            yield file, record.rank, {"exchange_ns": max(0, record.moving_ns() - below)} if storage else {}, record


def requests_of_mpiio(record):
    """Where Darshan saw no request below MPI-IO, its calls stand for them."""
    made = calls(record)
    values = {
        "opens": record.sum("INDEP_OPENS", "COLL_OPENS"),
        "syncs": record["SYNCS"],
        "metadata_ns": record.ns("F_META_TIME"),
    }
    for ours, theirs, count in (("read", "READ", made["gets"]), ("write", "WRITE", made["puts"])):
        values |= {f"{ours}_requests": count, f"{ours}_pieces": count, f"{ours}_ns": record.ns(f"F_{theirs}_TIME")}
        values |= {f"{ours}_sizes_{b}": record[f"SIZE_{theirs}_AGG_{size}"] for b, size in zip(BINS, SIZES, strict=True)}
    return values | {"bytes_read": made["bytes_got"], "bytes_written": made["bytes_put"]}


def facts(log, of_all_ranks):
    """Yields (file, key, value) of files that Darshan says more about."""
    for raw in log.raw_records("LUSTRE"):
        for component in raw["components"][:1]:
            values = component["counters"]
            yield raw["id"], "stripe size", str(values["LUSTRE_COMP_STRIPE_SIZE"])
            yield raw["id"], "stripe count", str(values["LUSTRE_COMP_STRIPE_COUNT"])
    for file in of_all_ranks:
        yield file, "counted", "for all ranks together: shares are even but for the slowest and the fastest rank"


def segments(log):
    """Yields (begin_ns, end_ns, offset, bytes, kind, rank, file id, host)."""
    for module, first in (("DXT_POSIX", 0), ("DXT_MPIIO", 2)):
        for raw in log.raw_records(module):
            for kind, which in ((first, "write_segments"), (first + 1, "read_segments")):
                for piece in raw[which]:
                    begin, end = (max(0, round(piece[name] * 1e9)) for name in ("start_time", "end_time"))
                    place = max(-1, piece["offset"]), max(0, piece["length"])
                    yield begin, max(begin, end), *place, kind, raw["rank"], raw["id"], raw["hostname"]


class Files:
    """Numbers the files in the order of their use."""

    def __init__(self, names):
        self._names, self._numbers = names, {}

    def number(self, file):
        return self._numbers.setdefault(file, len(self._numbers))

    def knows(self, file):
        return file in self._numbers

    def names(self):
        return [self._names.get(file, f"file {file:x}") for file in self._numbers]


def answer_for(log, numpy):
    job, files, ranks = log.job, Files(log.names), int(log.job["nprocs"])
    hosts, rows = {}, []
    for *row, file, host in segments(log):
        rows.append((*row, files.number(file)))
        hosts[row[-1]] = host
    records, of_all_ranks = [], {}
    for file, rank, values, record in counters(log, ranks):
        entry = {"file": files.number(file), "rank": rank, "values": {name: value for name, value in values.items() if value}}
        if rank == ALL_RANKS:
            entry["extremes"] = record.extremes()
            of_all_ranks[file] = True
        records.append(entry)
    table = numpy.array(rows, dtype=numpy.int64).reshape(len(rows), 7)
    header = {
        "command": log.backend.log_get_exe(log.log),
        "ranks": ranks,
        "start_unix_ns": job["start_time_sec"] * 10**9 + job["start_time_nsec"],
        "run_ns": max(round(job["run_time"] * 1e9), int(table[:, 1].max(initial=0))),
        "facts": [[files.number(file), key, value] for file, key, value in facts(log, of_all_ranks) if files.knows(file)],
        "files": files.names(),
        "hosts": hosts,
        "records": records,
        "segments": len(rows),
        "warnings": list(log.warnings()),
    }
    columns = [table[:, i].astype("<i8" if i < 4 else "<i4").tobytes() for i in range(7)]
    return json.dumps(header).encode() + b"\n" + b"".join(columns)


def main(path):
    # What libraries print is not part of the answer.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        import darshan.backend.cffi_backend as backend
        import numpy
    except ImportError as error:
        sys.exit(
            f"{error.name} is missing in {sys.executable}: install PyDarshan there ({sys.executable} -m pip install darshan), "
            "or name another Python in STRIA_PYTHON"
        )
    with output:
        output.write(answer_for(Log(backend, path), numpy))


if __name__ == "__main__":
    main(sys.argv[1])

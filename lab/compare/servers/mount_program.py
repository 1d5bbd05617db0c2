"""Describes what scripts do with h5py on a mounted store: rows one by one, attributes one by one, a
log that is flushed after each row. Prints the seconds of each part as JSON.

    mount_program.py DIRECTORY ROWS CYCLES
"""

import json
import os
import sys
import time

import h5py
import numpy

ROW_NUMBERS = 128  # numbers of 8 bytes: a row has 1 KiB
ATTRIBUTES = 50


def row_of(index):
    return numpy.arange(ROW_NUMBERS, dtype="f8") + index


def write_rows(path, rows):
    with h5py.File(path, "w") as file:
        table = file.create_dataset("table", (rows, ROW_NUMBERS), "f8")
        for row in range(rows):
            table[row] = row_of(row)


def change_rows(path, rows):
    """Every row is read and written again."""
    with h5py.File(path, "r+") as file:
        table = file["table"]
        for row in range(rows):
            table[row] = table[row] + 1


def read_rows(path, rows):
    """Reads in an order that no reader ahead expects."""
    with h5py.File(path) as file:
        table = file["table"]
        for step in range(rows):
            row = step * 37 % rows
            if (table[row] != row_of(row) + 1).any():
                sys.exit(f"row {row} has other numbers")


def write_attributes(path, groups):
    with h5py.File(path, "a") as file:
        for group in range(groups):
            place = file.create_group(f"step{group}")
            for attribute in range(ATTRIBUTES):
                place.attrs[f"name{attribute}"] = group * attribute
            file.flush()


def read_attributes(path, groups):
    with h5py.File(path) as file:
        for group in range(groups):
            place = file[f"step{group}"]
            if [place.attrs[f"name{attribute}"] for attribute in range(ATTRIBUTES)] != [
                group * attribute for attribute in range(ATTRIBUTES)
            ]:
                sys.exit(f"group {group} has other attributes")


def log_rows(path, rows):
    """A table that grows by a row at a time, and is on the disk after each."""
    with h5py.File(path, "a") as file:
        table = file.create_dataset("log", (0, ROW_NUMBERS), "f8", maxshape=(None, ROW_NUMBERS), chunks=(64, ROW_NUMBERS))
        for row in range(rows):
            table.resize(row + 1, axis=0)
            table[row] = row_of(row)
            table.attrs["last"] = row
            file.flush()


def write_columns(path, rows):
    """Writes pieces of 8 bytes, a row apart."""
    with h5py.File(path, "a") as file:
        table = file["table"]
        for column in range(0, ROW_NUMBERS, 16):
            table[:, column] = numpy.arange(rows)


def forget(path):
    """Drops what the kernel keeps of the file, as if another machine went on with it."""
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def main():
    directory, rows, cycles = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    groups = max(rows // 100, 1)
    parts = (
        ("write_rows", write_rows, rows),
        ("change_rows", change_rows, rows),
        ("read_rows", read_rows, rows),
        ("write_attributes", write_attributes, groups),
        ("read_attributes", read_attributes, groups),
        ("log_rows", log_rows, rows),
        ("write_columns", write_columns, rows),
    )
    seconds = {name: [] for name, _, _ in parts}
    for cycle in range(cycles):
        path = os.path.join(directory, f"rows{cycle}.h5")
        for name, part, count in parts:
            if os.path.exists(path):
                forget(path)
            begin = time.monotonic()
            part(path, count)
            seconds[name].append(time.monotonic() - begin)
        os.remove(path)
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main()

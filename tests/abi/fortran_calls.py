#!/usr/bin/env python3
"""Compares stria.h with the module stria for Fortran: every function of C is called there, or
stands here with what Fortran has instead."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORTRAN = ROOT / "bindings" / "fortran"
# Functions whose names match; what Fortran has instead.
INSTEAD = {
    r"stria_(create|open|append)_mpi": "the calls with Fortran's communicator",
    r"stria_type_(?!bytes|hvector|records|size|free).*": "sections of arrays",
    r"stria_read_columns": "read_table and get_records, by the names and the order of the columns that are given",
    r"stria_(put|get)_(box|array)|stria_get_rows|stria_put_box_copy": "put and get of a section: they know its shape",
    r"stria_(put|get|put_copy)": "put_strided's call, without a stride",
    r"stria_append_own_rows": "its calls one by one, the last with a copy or without",
    r"stria_create_string_array": "create_strings: Fortran's own strings end in blanks",
    r"stria_give_up": "close: a subroutine that fails returns its status",
    r"stria_element_(bytes|name)": "Fortran's storage_size, and a dataset's type_name",
    r"stria_trace_start(_from_environment)?_mpi": "the calls with Fortran's communicator",
    r"stria_read": "read_strided's call, without a stride",
    r"stria_verify": "verify with what to leave out, which may be nothing",
}


def main():
    declared = set(re.findall(r"\b(stria_[a-z0-9_]+)\(", (ROOT / "include" / "stria.h").read_text()))
    text = "".join(path.read_text() for path in [*FORTRAN.glob("*.inc"), *FORTRAN.glob("*.c")])
    called = set(re.findall(r"\b(stria_[a-z0-9_]+)", text))
    excused = {name for name in declared if any(re.fullmatch(pattern, name) for pattern in INSTEAD)}
    for name in sorted(declared - called - excused):
        print(f"stria.h: {name}: the module stria doesn't call it")
    for name in sorted(called & excused):
        print(f"stria.h: {name}: the module stria calls it, although something else is there instead")
    return 1 if declared - called - excused or called & excused else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""usage: symbols_test.py libstria_mpiio.so LIBRARY...: the preloaded library has every MPI-IO
function of the MPI's libraries, no other visible symbol, and brings no HDF5 into the program."""

import re
import subprocess
import sys

_MPI_IO = re.compile(r"P?MPI_(File_\w+|Register_datarep(_c)?)$")
# bindings/mpiio/calls/ordering_calls.cpp
_ORDERING = (
    r"P?MPI_(I?[bsr]?send(_c)?|M?recv(_c)?|Sendrecv(_replace)?(_c)?|Start(all)?|I?m?probe|I?barrier|(I|N|In)?\w*"
    r"(bcast|gatherv?|scatterv?|alltoall[vw]?|reduce|reduce_scatter|reduce_scatter_block|scan)(_c)?"
    r"|R?(put|get|accumulate|get_accumulate)(_c)?|Fetch_and_op|Compare_and_swap|Win_\w+|Intercomm_(create|merge)"
    r"|Comm_(dup|dup_with_info|idup|split|split_type|create|create_group|spawn|spawn_multiple|accept|connect|join|disconnect)"
    r"|(Unp|P)ublish_name|Lookup_name|Cart_(create|sub)|(Dist_)?graph_create(_adjacent)?)$"
)
_ALLOWED = re.compile(
    r"P?MPI_(File_\w+|Register_datarep(_c)?|Error_string|Init(_thread)?|Wait\w*|Test\w*|Request_get_status)$"
    r"|stria_mpiio_trace_link_1$|stria_wire_traffic$"
    r"|ompi_file_create_errhandler_f$|p?mpi_file_create_errhandler_*(f08_)?$|pmpir_file_create_errhandler_f08_$"
)


def exported(library):
    """Returns the dynamic symbols that a library defines."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()}


def needed(library):
    """Returns the libraries that the loader brings along."""
    listing = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing.stdout)


def main(ours, libraries):
    mine = exported(ours)
    theirs = set().union(*(exported(library) for library in libraries))
    wanted = {name for name in theirs if _MPI_IO.match(name)}
    missing = sorted(wanted - mine)
    foreign = sorted(name for name in mine if not _ALLOWED.match(name) and not re.match(_ORDERING, name, re.IGNORECASE))
    print(f"{len(wanted)} symbols of MPI-IO, {len(missing)} missing, {len(foreign)} that should be hidden")
    if not wanted:
        print("the MPI's libraries were not found")
    for name in missing:
        print(f"missing: {name}")
    for name in foreign:
        print(f"visible: {name}")
    hdf5 = [name for name in needed(ours) if "hdf5" in name]
    for name in hdf5:
        print(f"needs {name}")
    return 1 if missing or foreign or hdf5 or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

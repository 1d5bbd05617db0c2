"""Knows where the programs and libraries are that the benches run: in the build tree, or around the
installed `stria` that STRIA_PROGRAM names."""

import glob
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRIA = os.environ.get("STRIA_PROGRAM") or os.path.join(ROOT, "build", "release", "bin", "stria")
PREFIX = os.path.dirname(os.path.dirname(STRIA))


def first_of(*patterns):
    """Returns the first file below the prefix that a pattern finds; where there is none, the first
    pattern's own name."""
    found = [path for pattern in patterns for path in sorted(glob.glob(os.path.join(PREFIX, pattern)))]
    return found[0] if found else os.path.join(PREFIX, patterns[0])


def library(name):
    """A build has one for its MPI; an installed one has the MPI in its name."""
    return first_of(f"lib/{name}.so", f"lib*/{name}_openmpi.so", f"lib/*/{name}_openmpi.so")


DROP_IN = library("libstria_mpiio")
WRAPPERS = library("libstria_trace")
PEERS = first_of("bin/bench_flash_peers", "libexec/stria/bench_flash_peers")

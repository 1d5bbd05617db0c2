"""A FLASH checkpoint, whole: name-value lists, names, what says where the blocks lie, and all
variables. Reads one on any number of ranks and writes it once more, byte for byte.

mpiexec -n 4 python flash_checkpoint.py sedov_hdf5_chk_0000 copy_hdf5_chk_0000
"""

import itertools
import sys

import numpy as np
import stria
from mpi4py import MPI

KINDS = ["integer", "real", "string", "logical"]
LISTS = ["sim info", *(f"{kind} {what}" for kind in KINDS for what in ("scalars", "runtime parameters"))]
OF_BLOCKS = ["refine level", "node type", "gid", "which child", "processor number"]
OF_BLOCKS += ["coordinates", "block size", "bounding box"]
GUARDS = 4

comm = MPI.COMM_WORLD
with stria.open(sys.argv[1], comm, verify=True) as f:
    lists = {name: f.read_table(name) for name in LISTS if name in f}
    names = [name.ljust(4) for name in f["unknown names"][:, 0]]
    # Each rank takes what some of the writers had, and puts it as they did: checksums of small rows
    # are kept by puts.
    writers = f["processor number"][:]
    blocks = len(writers)
    cuts = np.flatnonzero(np.diff(writers, prepend=-1, append=-1))
    some = f.share_rows(len(cuts) - 1)
    parts = [slice(*pair) for pair in itertools.pairwise(cuts[some.start : some.stop + 1])]
    mine = slice(cuts[some.start], cuts[some.stop])
    mesh = {name: f[name][mine] for name in OF_BLOCKS}
    # FLASH's array: the variables of a cell side by side, guard cells around each block.
    cells = f[names[0]].shape[1:]
    guards = [GUARDS if n > 1 else 0 for n in cells]  # none across a plane
    unk = np.full((mine.stop - mine.start, *np.add(cells, np.multiply(guards, 2)), len(names)), np.nan)
    inner = unk[(slice(None), *(slice(g, g + n) for g, n in zip(guards, cells, strict=True)))]
    for v, name in enumerate(names):
        f[name].get(mine, inner[..., v])
    f.flush()  # reads all variables at once

with stria.create(sys.argv[2], comm) as f:
    for name, records in lists.items():
        f.create_table(name, records)
    f.create_strings("unknown names", names, 4, as_column=True)
    made = [(f.create_dataset(name, (blocks, *rows.shape[1:]), rows.dtype), rows) for name, rows in mesh.items()]
    for v, name in enumerate(names):
        made.append((f.create_dataset(name, (blocks, *cells), value_range=True), inner[..., v]))
    for part in parts:
        for dataset, rows in made:
            dataset[part] = rows[part.start - mine.start : part.stop - mine.start]
if comm.rank == 0:
    print(f"{blocks} blocks, {len(names)} variables")

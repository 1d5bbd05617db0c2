"""A FLASH checkpoint, whole: name-value lists, names, what says where the blocks lie, and all
variables. Reads one on any number of ranks and writes it once more, byte for byte.

mpiexec -n 4 python flash_checkpoint.py sedov_hdf5_chk_0000 copy_hdf5_chk_0000
"""

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
    blocks = len(f["refine level"])
    mine = f.share_rows(blocks)
    mesh = {name: f[name][mine] for name in OF_BLOCKS}
    # FLASH's array: the variables of a cell side by side, guard cells around each block.
    cells = f[names[0]].shape[1:]
    guards = [GUARDS if n > 1 else 0 for n in cells]  # none across a plane
    wide = [n + 2 * g for n, g in zip(cells, guards, strict=True)]
    unk = np.full((mine.stop - mine.start, *wide, len(names)), np.nan)
    inner = unk[(slice(None), *(slice(g, g + n) for n, g in zip(cells, guards, strict=True)))]
    for v, name in enumerate(names):
        f[name].get(mine, inner[..., v])
    f.flush()  # reads all variables at once

with stria.create(sys.argv[2], comm) as f:
    for name, records in lists.items():
        f.create_table(name, records)
    f.create_strings("unknown names", names, 4, as_column=True)
    for name, rows in mesh.items():
        f.create_dataset(name, (blocks, *rows.shape[1:]), rows.dtype)[mine] = rows
    for v, name in enumerate(names):
        f.create_dataset(name, (blocks, *cells), value_range=True)[mine] = inner[..., v]
if comm.rank == 0:
    print(f"{blocks} blocks, {len(names)} variables")

"""openPMD: a mesh and particles that openpmd-viewer, openpmd-api and what builds on them open. The
standard (openPMD 1.1.0) says which attributes give numbers their meaning.

mpiexec -n 4 python openpmd.py data00000000.h5
"""

import sys

import numpy as np
import stria
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = sys.argv[1] if len(sys.argv) > 1 else "data00000000.h5"
STEP = "data/0"  # the name of the file has the step, too
# Powers of m, kg, s, A, K, mol, cd.
MASS_DENSITY, LENGTH = (-3, 1, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0)


def describe(f, name, **attributes):
    for key, value in attributes.items():
        f.attrs_of(name)[key] = value


with stria.create(path, comm) as f:
    # Each rank has a slab of the mesh, and another number of particles.
    slab, side = f.share_rows(40), (40, 16, 24)
    z, y, x = np.ix_(np.arange(slab.start, slab.stop), np.arange(side[1]), np.arange(side[2]))
    f.create_dataset(f"{STEP}/fields/density", side, "f8")[slab] = z + 0.1 * y + 0.01 * x
    where, total = f.place_rows(1000 + 10 * comm.rank)
    for axis, scale in zip("xyz", (0.1, 0.2, 0.3), strict=True):
        numbers = np.arange(where.start, where.stop)
        f.create_dataset(f"{STEP}/particles/electrons/position/{axis}", (total,), "f8")[where] = scale * numbers
        f.create_dataset(f"{STEP}/particles/electrons/positionOffset/{axis}", (total,), "f8")[where] = 0 * numbers
    f.create_dataset(f"{STEP}/particles/electrons/id", (total,), "u8")[where] = numbers

    describe(
        f, "/", openPMD="1.1.0", openPMDextension=np.uint32(0), basePath="/data/%T/", meshesPath="fields/",
        particlesPath="particles/", iterationEncoding="fileBased", iterationFormat="data%08T.h5",
        software="Stria", author="an example",
    )  # fmt: skip
    describe(f, STEP, time=0.0, dt=1.0, timeUnitSI=1.0)
    describe(
        f, f"{STEP}/fields/density", geometry="cartesian", dataOrder="C", axisLabels=["z", "y", "x"],
        gridSpacing=[0.5, 0.5, 0.5], gridGlobalOffset=[0.0, 0.0, 0.0], gridUnitSI=1.0, position=[0.5, 0.5, 0.5],
        unitDimension=np.array(MASS_DENSITY, "f8"), timeOffset=0.0, unitSI=1.0,
    )  # fmt: skip
    for record, dimension in (("position", LENGTH), ("positionOffset", LENGTH), ("id", (0,) * 7)):
        name = f"{STEP}/particles/electrons/{record}"
        describe(f, name, unitDimension=np.array(dimension, "f8"), timeOffset=0.0)
        for component in [name] if record == "id" else [f"{name}/{axis}" for axis in "xyz"]:
            describe(f, component, unitSI=1.0)

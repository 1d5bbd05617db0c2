"""A table of numbers is written with what they mean, and read back, without MPI.

python one_process.py table.h5
"""

import sys

import numpy as np
import stria

path = sys.argv[1] if len(sys.argv) > 1 else "table.h5"
with stria.create(path) as f:
    waves = np.array([[0, 1, 0, -1], [0, 2, 0, -2], [0, 3, 0, -3]], "f4")
    dataset = f.create_dataset("waves", data=waves)
    dataset.attrs["unit"] = "m"
    dataset.attrs["periods"] = [0.5, 1.0, 2.0]
# The file has its name only now.

with stria.open(path) as f:
    dataset = f["waves"]
    for period, height in zip(dataset.attrs["periods"], dataset[:, 1], strict=True):
        print(f"period {period:g} s: height {height:g} {dataset.attrs['unit']}")

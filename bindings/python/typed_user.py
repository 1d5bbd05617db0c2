"""A program with types, for typing_test.py: mypy accepts it, and refuses each line that ends with
its mistake."""

import numpy as np
import stria

path: str = "typed.h5"
with stria.create(path, hints={"cb_nodes": 2, "romio_ds_write": "disable"}) as f:
    density = f.create_dataset("density", (4, 8), "f4", compress="zstd")
    density[1:3, ::2] = np.ones((2, 4))
    density[0] = 1
    density[[2, 3], ...] = [[1.0] * 8] * 2
    density.attrs["unit"] = "kg/m3"
    f.create_dataset(4, (2,))  # refused: call-overload
    f.create_dataset("x", shape="wide")  # refused: call-overload
    density["first"] = 1  # refused: index
    print(f.commit())  # refused: func-returns-value

with stria.open(path) as f:
    read: np.ndarray = f.dataset("density")[::2]
    total: float = float(f.dataset("density")[0, 0] + 1)
    names: list[str] = list(f.keys())
    text: str = f.dataset("density")[0]  # refused: assignment
    found = f.get("density")
    print(found.shape)  # refused: union-attr

stria.open(path, "a")  # refused: arg-type
stria.open(path, hints=["cb_nodes"])  # refused: arg-type
stria.write(path, {"x": np.zeros(3)}, attrs={"time": 1.5})
stria.wrote(path)  # refused: attr-defined

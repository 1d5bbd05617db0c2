"""Datasets read as another type, or some fields of their records."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._typing import DType, Index


class View:
    """What Dataset.astype() and Dataset.fields() return: an index reads, as that of the dataset
    does."""

    def __init__(self, dataset: "Dataset", dtype: np.dtype, names: "str | list[str] | None" = None) -> None:
        self._dataset = dataset
        self._names = names
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype:
        return self._dtype[self._names] if isinstance(self._names, str) else self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._dataset.shape

    def __len__(self) -> int:
        return len(self._dataset)

    def __repr__(self) -> str:
        return f"<stria.View of '{self._dataset.name}' as {self.dtype}>"

    def __getitem__(self, key: "Index") -> np.ndarray:
        """Collective, as the dataset's own."""
        key = ... if isinstance(key, tuple) and not key and self.shape else key
        read = self._dataset._read(key, self._dtype)
        if self._names is None:
            return read if read.dtype == self._dtype else read.astype(self._dtype)
        return read[self._names] if isinstance(self._names, str) else read

    def __array__(self, dtype: "DType | None" = None, copy: "bool | None" = None) -> np.ndarray:
        return np.asarray(self[...], dtype=dtype)

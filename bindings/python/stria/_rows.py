"""The rows of a dataset, one after the other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dataset import Dataset

_BATCH_BYTES = 16 << 20


def rows_of(dataset: "Dataset") -> Iterator[Any]:
    """Reads as many rows at a time as fit a batch, in whole chunks. Collective, as
    dataset[index]."""
    total = len(dataset)
    batch = rows_of_batch(total, dataset.nbytes, dataset.chunks)
    if dataset.type_name.startswith("string"):  # Strings are read whole in any case.
        batch = max(total, 1)
    for first in range(0, total, batch):
        yield from dataset[first : first + batch]


def rows_of_batch(total: int, total_bytes: int, chunks: "tuple[int, ...] | None") -> int:
    """Returns how many of `total` rows are read at a time; at least one."""
    row_bytes = max(total_bytes // max(total, 1), 1)
    rows = max(_BATCH_BYTES // row_bytes, 1)
    height = chunks[0] if chunks else 1
    return max(rows // height, 1) * height

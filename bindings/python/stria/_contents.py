"""Describes what all ranks have alike, of which one puts it."""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._file import File


def hash_of(array: np.ndarray) -> int:
    """Returns a hash of the elements, in any strides; never 0."""
    digest = hashlib.blake2b(str((array.dtype, array.shape)).encode(), digest_size=8)
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return int.from_bytes(digest.digest(), "little") or 1


def is_first_rank(file: "File") -> bool:
    """Tells whether this rank puts what all have: the first one."""
    first = file.share_rows(1)
    return first.stop > first.start

"""Describes what public functions take, for type checkers and editors: imported by them alone."""

import os
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Protocol, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt


class Communicator(Protocol):
    """A communicator as mpi4py has them."""

    def py2f(self) -> int: ...


Comm: TypeAlias = "Communicator | int | None"
Path: TypeAlias = "str | os.PathLike[str]"
Hints: TypeAlias = "Mapping[str, str | int | bool]"
OneIndex: TypeAlias = "SupportsIndex | slice | EllipsisType | Sequence[int] | Sequence[bool] | np.ndarray | None"
Index: TypeAlias = "OneIndex | tuple[OneIndex, ...]"
Values: TypeAlias = "npt.ArrayLike"
DType: TypeAlias = "npt.DTypeLike"

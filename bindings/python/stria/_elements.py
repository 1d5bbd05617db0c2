"""Maps of single elements."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import WrongTypeError

if TYPE_CHECKING:
    from ._typing import Values


class Elements:
    """A map of single elements, for Dataset.put_elements() and get_elements() of any number of
    datasets and files.

    `offsets[i]` is the place of value i: the number of elements before it in the dataset, in C
    order of its dimensions. Any order; -1 leaves a value out. A place that comes twice is refused
    when the map is first used. Linear in the number of values.
    """

    def __init__(self, offsets: "Values") -> None:
        given = np.asarray(offsets)
        if given.size > 0 and given.dtype.kind not in "iu":
            raise WrongTypeError(f"offsets of elements are integers, not {given.dtype}")
        self.offsets = np.array(given, dtype=np.int64).reshape(-1)
        self.offsets.flags.writeable = False
        self._maps: dict[Any, Any] = {}  # by the library that made it

    def __len__(self) -> int:
        return self.offsets.size

    def _of(self, library: Any) -> Any:
        if library not in self._maps:
            self._maps[library] = library.make_map(self.offsets)
        return self._maps[library]

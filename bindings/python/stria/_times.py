"""Points in time and spans of it, as readers of netCDF have them: integers, with their unit in an
attribute, as xarray writes them."""

from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnsupportedError

_UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
NOT_A_TIME = np.iinfo(np.int64).min


class TimeType:
    """datetime64 or timedelta64 of a unit, as a dataset holds them."""

    def __init__(self, path: str, dtype: np.dtype) -> None:
        unit, step = np.datetime_data(dtype)
        if unit in ("Y", "M", "W") and dtype.kind == "M" or unit == "W":
            unit, step = "D", 1
        if unit not in _UNITS or step != 1:
            raise UnsupportedError(f"'{path}': {dtype} has no unit that files name: convert it, as to {dtype.kind}8[ns]")
        self.dtype = np.dtype(f"{dtype.kind}8[{unit}]")
        self._words = _UNITS[unit]

    def numbers(self, path: str, value: Any) -> np.ndarray:
        """Returns the integers of times, which must be representable in the dataset's unit."""
        times = np.asarray(value)
        if times.dtype.kind != self.dtype.kind:
            raise InvalidArgumentError(f"'{path}' holds {self.dtype}, not {times.dtype}")
        converted = times.astype(self.dtype)
        if np.any((converted != times) & ~np.isnat(times)):
            raise InvalidArgumentError(f"'{path}' holds {self.dtype}, in which not all of these times can be said")
        return converted.view(np.int64)

    def attributes(self) -> dict[str, Any]:
        """Returns the attributes by which xarray and other readers know what the numbers are."""
        if self.dtype.kind == "m":
            return {"dtype": f"timedelta64[{np.datetime_data(self.dtype)[0]}]", "units": self._words}
        return {"units": f"{self._words} since 1970-01-01", "calendar": "proleptic_gregorian"}


def time_type(path: str, dtype: Any) -> "TimeType | None":
    """None for types that aren't times."""
    return TimeType(path, np.dtype(dtype)) if dtype is not None and np.dtype(dtype).kind in "mM" else None

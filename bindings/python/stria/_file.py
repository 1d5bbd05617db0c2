"""Files, datasets and attributes."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ._attributes import Attributes
from ._dataset import Dataset
from ._numbers import (
    MEANINGS,
    array_of,
    element_of,
    is_private,
    lengths_of,
)
from ._options import DatasetOptions, options_of
from ._strings import array_of_texts, text_of_name, texts_of
from ._tables import COMPLEX, as_table, columns_of, dtype_of, packed, with_text
from .errors import InvalidArgumentError, NotFoundError, of_file


class Commit:
    """A commit that goes on by itself; made by File.commit_async()."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def done(self) -> bool:
        """True when wait() would not block."""
        return self._handle.done()

    def wait(self) -> None:
        """Waits until the file has its name, or raises the error, the same on every rank."""
        self._handle.wait()


_MOST_REASON_BYTES = 200  # that the library tells the other ranks


class File:
    """An open file, made by stria.create(), stria.append() or stria.open(). For use in a `with`:
    leaving it commits a file that is being written, an exception discards it. The other ranks hear
    of that in their next collective call, and never wait for it."""

    def __init__(self, library: Any, handle: Any, path: str, writing: bool) -> None:
        self._library = library
        self._handle = handle
        self._kept: list[Any] = []  # arrays that the library still reads or fills
        # Arrays in another byte order, and those from which they are filled.
        self._swapped: list[tuple[np.ndarray, np.ndarray]] = []
        self._committed = False
        self.path = path
        self.writing = writing

    def __enter__(self) -> "File":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        try:
            if kind is not None:
                reason = f"{kind.__name__}: {error}" if str(error) else kind.__name__
                self._handle.give_up(reason.encode(errors="replace")[:_MOST_REASON_BYTES].decode(errors="ignore"))
            elif self._handle.is_open and not self._committed:
                self.commit()
        finally:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if not self._handle.is_open else "being written" if self.writing else "open"
        return f"<stria.File '{self.path}' {state}>"

    @property
    def attrs(self) -> Attributes:
        """Those of the file itself."""
        return Attributes(self, "/")

    def attrs_of(self, path: str) -> Attributes:
        """Those of a group or dataset: `f.attrs_of("fields")["time"] = 0.25`."""
        return Attributes(self, path)

    def create_dataset(
        self,
        path: str,
        shape: "tuple[int | None, ...] | int | None" = None,
        dtype: Any = None,
        data: Any = None,
        *,
        value_range: bool = False,
        alignment: int = 0,
        compress: "bool | int | str | None" = False,
        shuffle: "bool | None" = None,
        fletcher32: bool = False,
        chunks: "tuple[int, ...] | None" = None,
        dimensions: "Sequence[str] | None" = None,
        unlimited: bool = False,
        fill_value: Any = None,
    ) -> Dataset:
        """Makes a dataset of numbers; a byte order in `dtype` is that of the file, and h5py's
        enum_dtype() makes an enumeration; None is the type of `data`, or else "f8". `compress`:
        True, "deflate" and "gzip" shuffle and deflate its chunks; "zstd": that in place of deflate;
        "scale_offset": integers in as few bits as they need; "zfp_absolute:BOUND" and
        "zfp_relative:BOUND": lossy, no number differs by more (relative: times its chunk's
        greatest); "zfp_reversible"; "zfp_rate:BITS": so many of each number. `shuffle`: with
        `compress` or without; `fletcher32`: a sum behind each chunk, which other readers compare. A
        first length of None: it has no rows yet, and append_rows() gives it some, in netCDF files
        once the file is there. `unlimited`: it has the rows of its shape, and gets more likewise.
        `dimensions` are their names, for xarray and other readers of netCDF: a dataset of one
        dimension that has its name holds its coordinates. Elements that nobody puts read as
        `fill_value`, or zero. With `data`, an array that this process puts whole, as d[...] = data,
        of as many rows as it has where the first length is None. Collective: all ranks pass the
        same."""
        array = None if data is None else array_of(data)
        if array is not None:
            shape = array.shape if shape is None else shape
            dtype = array.dtype if dtype is None else dtype
        dtype = np.dtype("f8" if dtype is None else dtype)
        dims = list(shape) if np.iterable(shape) else [] if shape is None else [shape]
        grows = bool(dims) and dims[0] is None
        if grows and array is not None and array.ndim != len(dims):
            raise InvalidArgumentError(f"'{path}': data of {array.ndim} dimensions for a dataset of {len(dims)}")
        given = DatasetOptions(
            value_range=value_range, alignment=alignment, compress=compress, shuffle=shuffle, fletcher32=fletcher32,
            fill_value=fill_value,
        )  # fmt: skip
        options = options_of(self._library, dtype, given)
        meaning = MEANINGS.get(dtype.newbyteorder("="))
        parts = [2] if meaning is not None and meaning[0] == COMPLEX else []
        if chunks is not None:
            options.chunk = [*lengths_of(f"the chunks of '{path}'", chunks), *parts]
        if dimensions is not None:
            if dims and not dimensions:
                raise InvalidArgumentError(f"'{path}' has {len(dims)} dimensions, and names for none; \"\" leaves one without")
            options.set_dimensions(list(dimensions))
        options.unlimited = unlimited or (grows and array is not None)
        known = lengths_of(f"the shape of '{path}'", dims[1:] if grows else dims)
        first = [-1 if array is None else len(array)] if grows else []
        sizes = [*first, *known, *parts]
        if dtype.fields is not None:
            made = self._handle.create_records(path, columns_of(self._library, path, packed(dtype)), sizes, options)
        else:
            if meaning is not None:
                options.set_meaning(meaning[0])
            made = self._handle.create_dataset(path, element_of(dtype), sizes, options)
        dataset = Dataset(self, made, path)
        if array is not None:
            dataset.put(..., array, copy=not is_private(array, data))
        return dataset

    def update(self, path: str) -> Dataset:
        """Takes up a dataset of a file opened by append(), to overwrite elements in the file
        itself. That is not crash-safe; what ends the program during a flush or the commit leaves a
        part of it. Checksums follow. UnsupportedError for datasets whose chunks pass filters, and
        from the commit for a chunk that the file doesn't have yet. Collective: all ranks pass the
        same.

            f.update("dens")[3] = repaired
        """
        return Dataset(self, self._handle.update(path), path)

    def create_link(self, path: str, target: str, file: "str | None" = None) -> None:
        """Makes another name for the object at `target`, of this file or of another one.
        Collective: all ranks pass the same."""
        self._handle.create_link(path, target, file)

    def append_rows(self, path: str, rows: Any, *, copy: bool = False) -> Dataset:
        """Gives a dataset that was made with a first length of None more rows, the last ones of the
        result. What it had before can't be put again. `rows` is their number, the same on all
        ranks; or an array of this rank's rows, of which each rank may have another number: they are
        put behind those of lower ranks, and, as by put(), must not change until flush() or
        commit(), unless `copy` is True. Collective.

            f.append_rows("probe", 1)[-1, rank] = mine
            f.append_rows("particles", mine)
        """
        if not isinstance(rows, (int, np.integer)):
            where, total = self.place_rows(len(rows))
            dataset = self.append_rows(path, total)
            dataset._put_last(where, total, rows, copy)
            return dataset
        return Dataset(self, self._handle.append_rows(path, rows), path)

    def create_strings(self, path: str, strings: Any, width: "int | None" = None, *, as_column: bool = False) -> None:
        """Makes a dataset of strings of `width` bytes, or as many as the longest has, in the shape
        of `strings`: one, a list or an array. `as_column`: as FLASH has its names, in the shape
        (n, 1) and padded with blanks. Collective: all ranks pass the same."""
        texts = texts_of(f"'{path}'", strings)
        if as_column:
            longest = max([len(one.encode("utf-8", "surrogateescape")) for one in texts] + [1])
            self._handle.create_string_column(path, texts, longest if width is None else width)
        else:
            self._handle.create_string_array(path, list(array_of_texts(strings).shape), texts, width or 0)

    def create_table(self, path: str, records: np.ndarray) -> None:
        """Makes a small dataset of records from a structured array, whose fields are numbers,
        strings of bytes ("S80"), padded with blanks in the file, and arrays and records of these.
        Collective: all ranks pass the same.

            f.create_table("runs", np.array([(b"a", 1)], [("name", "S80"), ("value", "i4")]))
        """
        columns, rows = as_table(self._library, path, np.asarray(records))
        self._handle.create_table(path, columns, rows.itemsize, rows.tobytes())

    def read_table(self, path: str) -> np.ndarray:
        """The records of a small dataset, with the blanks that end their strings. Text of any
        length is an object, a string. Collective."""
        columns, row_bytes = self._handle.columns(path)
        rows = np.frombuffer(self._handle.read_table(path), dtype_of(columns, row_bytes))
        text = dtype_of(columns, row_bytes, as_text=True)
        return with_text(rows, text) if text.hasobject else rows.copy()

    def __getitem__(self, path: "str | bytes") -> Dataset:
        name = text_of_name(path)
        return Dataset(self, self._handle.find_dataset(name), name)

    def __contains__(self, path: object) -> bool:
        try:
            self._handle.find_dataset(text_of_name(path))
        except NotFoundError:
            return False
        return True

    def keys(self) -> list[str]:
        """The paths of all datasets."""
        return self._handle.datasets()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def flush(self) -> None:
        """Moves everything put or got so far; the arrays may change after it. Collective."""
        self._move(self._handle.flush)

    def commit(self) -> None:
        """Moves everything put or got so far; a new file is completed and takes its name.
        Collective: the same outcome on all ranks. After an error a new file is gone, and the old
        one of that name is untouched."""
        self._move(self._handle.commit)
        self._committed = True

    def commit_async(self) -> "Commit":
        """As commit(), but returns once the data are packed into memory: the arrays may change, and
        the file may be closed. Collective."""
        commit = self._move(self._handle.commit_async)
        self._committed = True
        return Commit(commit)

    def _move(self, call: "Callable[[], Any]") -> Any:
        """Calls what moves the arrays. They live until it returns, even if a report of progress
        closes the file."""
        kept, self._kept = self._kept, []
        swapped, self._swapped = self._swapped, []
        try:
            with of_file(self.path):
                done = call()
        finally:
            kept.clear()
        for out, filled in swapped:
            out[...] = filled
        return done

    def place_rows(self, count: int) -> tuple[slice, int]:
        """The place of this rank's `count` rows among those of all ranks, which follow each other
        in order of ranks, and the number of all. Collective.

            where, total = f.place_rows(len(mine))
            f.create_dataset("position", (total, 3))[where] = mine
        """
        first, count, total = self._handle.place_rows(count)
        return slice(first, first + count), total

    def share_rows(self, total: int) -> slice:
        """This rank's share when all ranks share `total` rows evenly. Local."""
        first, count = self._handle.share_rows(total)
        return slice(first, first + count)

    def progress(self, report: "Callable[[int, int], object] | None") -> None:
        """Calls report(bytes done, bytes in all) of this rank while a later commit() or flush()
        moves data, at most about a hundred times. A report of None ends that. It must not use the
        file: such a call raises InvalidArgumentError, and so does the file's next collective call
        on every rank. close() takes effect when the outer call returns."""
        self._handle.progress(report)

    def discard(self) -> None:
        """Gives up a new file. Collective."""
        self._handle.discard()
        self._committed = True
        self._kept.clear()

    def close(self) -> None:
        """Ends the file on this rank; one that was not committed is given up. Waits for nobody."""
        self._handle.close()
        self._kept.clear()

    def verify(self, except_for: "Sequence[str]" = ()) -> "tuple[list[tuple[str, int, int]], list[str]]":
        """Reads everything but the datasets `except_for` and compares it with its checksums:
        (dataset, first row, last row) of what is damaged, and sentences on what can't be checked.
        Collective."""
        return self._handle.verify(list(except_for))

    @property
    def format(self) -> str:
        """ "hdf5", or "cdf1", "cdf2", "cdf5" of an opened netCDF file."""
        return self._handle.format()

    @property
    def report(self) -> dict[str, Any]:
        """What the last commit or flush did, the seconds of each phase on this rank, and the most
        memory that copies of arrays have taken there at a time, "copied_bytes"."""
        return self._handle.report()

    @property
    def hints(self) -> dict[str, str]:
        """With the values really in effect."""
        return dict(one.split("=", 1) for one in self._handle.hints())

    @property
    def hint_warnings(self) -> list[str]:
        return self._handle.hint_warnings()

"""Files, datasets and attributes."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ._attributes import Attributes, Named
from ._described import Described
from ._elements import Elements
from ._numbers import (
    EXACT,
    HALF,
    MEANINGS,
    MEANT_BY_NAME,
    array_of,
    as_numbers,
    element_of,
    has_strides_of_elements,
    lengths_of,
    target_of,
)
from ._options import DatasetOptions, options_of
from ._rows import rows_of
from ._selection import Selection, box_of, many_runs, select, sorted_by_list, sorted_once
from ._strings import array_of_texts, text_of_name, texts_of
from ._tables import COMPLEX, ELEMENTS, as_records, as_strings, as_table, columns_of, dtype_of, enum_of, packed, with_text
from .errors import InvalidArgumentError, NotFoundError, UnsupportedError, of_file


class Dataset(Named, Described):
    """A dataset of an open file.

    `d[index] = array` records a write, of a file that is being written; the array is kept, and must
    not change until flush() or commit(). `d[index]` reads at once, and is collective: all ranks of
    the file's communicator do it in the same order, each with an index of its own, perhaps an empty
    one. get() records a read. Indices are NumPy's: integers, slices with any step, Ellipsis, and
    one list of integers or mask of booleans; InvalidIndexError is an IndexError. `for row in d`
    reads many rows at a time; it is collective too, so that all ranks go on to the same row.

    Elements are numbers, or records where the dtype of create_dataset() has fields: numbers,
    strings of bytes, arrays and records, which are one behind the other in the file. Records are
    converted as numbers are, field by field, by their names; those that are put have all of them,
    and those that get() fills may have some. append_rows() gives rows to datasets of strings of a
    fixed length, too.
    """

    def __init__(self, file: "File", handle: Any, path: str) -> None:
        self._file = file
        self._handle = handle
        self.name = path
        kind = handle.type_name.removesuffix(" big-endian")
        self._has_records = kind.startswith("record")
        # None: of records, until somebody asks.
        self._dtype: Any = MEANT_BY_NAME.get(kind) or np.dtype(ELEMENTS[handle.element])
        self._moved_dtype: Any = None  # of records, where text of any length is bytes
        if self._has_records:
            self._dtype = None
        if handle.enumeration:
            self._dtype = enum_of(self._dtype, handle.enumeration)
        if kind.startswith("string"):
            self._dtype = np.dtype(f"S{kind[len('string[') : -1]}")
        # For the library a complex number is a pair, along one dimension more.
        self._parts = [2] if kind.startswith("complex") else []
        self.shape: tuple[int, ...] = tuple(handle.dims[: len(handle.dims) - len(self._parts)])
        self._ones = [1] * len(handle.dims)

    @property
    def dtype(self) -> np.dtype:
        """That of NumPy for the elements. Text of any length in records is an object, a string."""
        self._require_readable()
        if self._dtype is None:
            columns, row_bytes = self._file._handle.columns(self.name)
            self._moved_dtype = dtype_of(columns, row_bytes)
            self._dtype = dtype_of(columns, row_bytes, as_text=True)
        return self._dtype

    @property
    def _of_moved(self) -> np.dtype:
        """The type of the arrays that the library fills."""
        return self.dtype if not self._has_records or self.dtype is None else self._moved_dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a dataset without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("a dataset without dimensions has no rows")
        return rows_of(self)

    def __repr__(self) -> str:
        return f"<stria.Dataset '{self.name}' {self._handle.type_name} {self.shape}>"

    @property
    def attrs(self) -> "Attributes":
        return Attributes(self._file, self.name)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def put(self, key: Any, value: Any) -> None:
        """Records a write of `value`, of any strides and number type, broadcast as NumPy does.
        Local: any rank may put, any number of times, also none; each element at most once in the
        life of the file."""
        array = self._of_own_kind(value)
        box = box_of(key, self.shape)
        if box is not None and array.shape == box.shape:
            start, count = [*box.start, *(0 for _ in self._parts)], [*box.count, *self._parts]
            self._call("put", start, count, self._ones, array)
            self._file._kept.append(array)
            return
        selection = select(key, self.shape, self.name)
        if array.shape != selection.shape:
            array = np.broadcast_to(array, selection.shape)
        array = sorted_by_list(selection, array, self.name)
        if elements := self._elements_for(selection):
            self.put_elements(elements, array)
            return
        self._move("put", selection.parts(array))
        self._file._kept.append(array)

    def _elements_for(self, selection: Selection) -> "Elements | None":
        """A map for a list of many single elements; None for other indices."""
        if len(self.shape) != 1 or selection.list_axis is None or not self._has_single_elements:
            return None
        indices = selection.axes[0].indices
        return Elements(indices) if many_runs(indices) else None

    def _of_own_kind(self, value: Any) -> np.ndarray:
        """An array in the dataset's type where the library can't convert it."""
        if self._dtype is not None and self._dtype.kind == "S":
            return as_strings(self.name, value, self._dtype)
        array = array_of(value)
        if self._has_records:
            if self._dtype is None and self._moved_dtype is None:
                self.dtype  # noqa: B018 - it is found out
            return as_records(self.name, array, self._moved_dtype)
        return array.astype(self._dtype) if self._needs_own_kind(array.dtype) else array

    def _needs_own_kind(self, dtype: np.dtype) -> bool:
        if dtype.fields is not None:
            raise InvalidArgumentError(f"'{self.name}' holds {self._dtype}, not records")
        if dtype == self._dtype:
            return False
        exact = self._dtype in EXACT or dtype == HALF
        return exact or (dtype.kind == "c") != bool(self._parts)

    def _require_readable(self) -> None:
        if self.type_name.startswith(("other", "reference")):
            raise UnsupportedError(
                f"'{self._file.path}': the dataset '{self.name}' holds {self.type_name}, which stria can't read; the other "
                "datasets can be read by name"
            )

    def _require_own_kind(self, out: np.ndarray) -> None:
        if self._has_records:
            if out.dtype.fields is None or out.dtype.hasobject:
                raise InvalidArgumentError(
                    f"'{self.name}' holds {self.type_name}: give an array of some of its fields, with bytes for text, not of "
                    f"{out.dtype}"
                )
            return
        if self._needs_own_kind(out.dtype):
            raise InvalidArgumentError(f"'{self.name}': an array of {out.dtype} can't take numbers of {self._dtype}")

    def _move(self, call: str, parts: Any) -> None:
        none = [0 for _ in self._parts]
        ones = [1 for _ in self._parts]
        for start, count, stride, part in parts:
            self._call(call, [*start, *none], [*count, *self._parts], [*stride, *ones], part)

    def _call(self, call: str, start: list[int], count: list[int], stride: list[int], part: np.ndarray) -> None:
        """Puts or gets a hyperslab."""
        handle = self._file._handle
        if self._has_records:
            columns = columns_of(self._file._library, self.name, part.dtype)
            getattr(handle, call + "_records")(self._handle, start, count, stride, as_numbers(part), columns)
        else:
            getattr(handle, call)(self._handle, start, count, stride, as_numbers(part))

    def get(self, key: Any, out: Any) -> None:
        """Records a read into `out`, an array of the index's shape with any strides and number
        type: filled by the file's next flush() or commit(). Local."""
        self._require_readable()
        selection = select(key, self.shape, self.name)
        out = target_of(self.name, out)
        if not has_strides_of_elements(out):
            raise InvalidArgumentError(f"'{self.name}': get() can't fill members of packed records; align them")
        if out.shape != selection.shape:
            raise InvalidArgumentError(f"'{self.name}': an array of shape {out.shape} for a selection of {selection.shape}")
        if any(axis.indices is not None and np.any(np.diff(axis.indices) <= 0) for axis in selection.axes):
            raise InvalidArgumentError(f"'{self.name}': get() takes a list of increasing indices; dataset[list] takes any")
        self._require_own_kind(out)
        elements = self._elements_for(selection) if out.flags.c_contiguous else None
        if elements is not None:
            self.get_elements(elements, out)
            return
        filled = self._native(out)
        self._move("get", selection.parts(filled))
        self._file._kept.append(filled)

    def _native(self, out: np.ndarray) -> np.ndarray:
        """The array that the library fills: `out`, or, for another byte order, one from which it is
        filled then."""
        if out.dtype.isnative:
            return out
        native = out.astype(out.dtype.newbyteorder("="))
        self._file._swapped.append((out, native))
        return native

    def put_rows(self, rows: Any) -> None:
        """Records a write of this rank's rows, of which each rank may have another number, also
        none: they follow those of lower ranks. All have as many as the dataset, or, where it can
        grow, as append_rows() has given it last. Collective."""
        where, total = self._file.place_rows(len(rows))
        self._put_last(where, total, rows)

    def _put_last(self, where: slice, total: int, rows: Any) -> None:
        begin = len(self) - total
        if begin < 0 or (begin > 0 and not self.can_grow):
            raise InvalidArgumentError(f"'{self.name}' has {len(self)} rows, but all ranks have {total}")
        self.put(slice(begin + where.start, begin + where.stop), rows)

    def get_rows(self) -> Any:
        """This rank's share of the rows when all ranks share them evenly, whatever ranks have put
        them. Reads at once. Collective."""
        return self[self._file.share_rows(len(self))]

    def put_elements(self, elements: Elements, values: Any) -> None:
        """Records a write of scattered elements, each value to its place. Local, as put()."""
        array = np.ascontiguousarray(self._of_own_kind(values))
        self._require_one_each(elements, array)
        self._file._handle.put_elements(self._handle, elements._of(self._file._library), as_numbers(array))
        self._file._kept.append(array)

    def get_elements(self, elements: Elements, out: np.ndarray) -> None:
        """Records a read of scattered elements into `out`, a contiguous array: filled by the file's
        next flush() or commit(). Local."""
        out = target_of(self.name, out)
        self._require_one_each(elements, out)
        self._require_own_kind(out)
        if not out.flags.c_contiguous:
            raise InvalidArgumentError(f"'{self.name}': get_elements() fills contiguous arrays only")
        filled = self._native(out)
        self._file._handle.get_elements(self._handle, elements._of(self._file._library), as_numbers(filled))
        self._file._kept.append(filled)

    @property
    def _has_single_elements(self) -> bool:
        return not self._parts and not self._has_records and not self.type_name.startswith("string")

    def _require_one_each(self, elements: Elements, array: np.ndarray) -> None:
        if not self._has_single_elements:
            raise UnsupportedError(f"'{self.name}' holds complex numbers, records or strings, which are put and got by indices")
        if array.size != len(elements):
            raise InvalidArgumentError(f"'{self.name}': {array.size} values for a map of {len(elements)} elements")

    def __getitem__(self, key: Any) -> Any:
        if self._file.writing:
            raise InvalidArgumentError(f"'{self._file.path}' is being written: stria.open() reads it after its commit")
        self._require_readable()
        if self._handle.type_name.startswith("string"):
            return np.array(self._file._handle.read_strings(self.name), dtype=object).reshape(self.shape)[key]
        selection = select(key, self.shape, self.name)
        back = sorted_once(selection)
        out = np.empty(selection.shape, self._of_moved)
        elements = self._elements_for(selection)
        try:
            if elements is not None:
                self.get_elements(elements, out)
            else:
                self._move("get", selection.parts(out))
        finally:
            self._file.flush()  # after an error too, of which the ranks hear by it
        return with_text(out, self._dtype)[back] if self._has_records else out[back]

    def __array__(self, dtype: Any = None, copy: "bool | None" = None) -> np.ndarray:
        return np.asarray(self[...], dtype=dtype)


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
        `fill_value`, or zero. With `data`, an array that this process puts whole, of as many rows
        as it has where the first length is None. Collective: all ranks pass the same."""
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
            dataset[...] = array
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

    def append_rows(self, path: str, rows: Any) -> Dataset:
        """Gives a dataset that was made with a first length of None more rows, the last ones of the
        result. What it had before can't be put again. `rows` is their number, the same on all
        ranks; or an array of this rank's rows, of which each rank may have another number: they are
        put behind those of lower ranks. Collective.

            f.append_rows("probe", 1)[-1, rank] = mine
            f.append_rows("particles", mine)
        """
        if not isinstance(rows, (int, np.integer)):
            where, total = self.place_rows(len(rows))
            dataset = self.append_rows(path, total)
            dataset._put_last(where, total, rows)
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
        """What the last commit or flush did, and the seconds of each phase on this rank."""
        return self._handle.report()

    @property
    def hints(self) -> dict[str, str]:
        """With the values really in effect."""
        return dict(one.split("=", 1) for one in self._handle.hints())

    @property
    def hint_warnings(self) -> list[str]:
        return self._handle.hint_warnings()

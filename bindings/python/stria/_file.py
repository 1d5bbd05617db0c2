"""Files, datasets and attributes."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload
from weakref import WeakValueDictionary

import numpy as np

from ._attributes import Attributes, Named
from ._contents import hash_of, is_first_rank
from ._dataset import Dataset
from ._groups import Group, html_of, through_link
from ._numbers import (
    MEANINGS,
    array_of,
    element_of,
    is_private,
    lengths_of,
)
from ._options import DatasetOptions, options_of
from ._other_words import missing_member, refuse_options
from ._strings import array_of_texts, holds_text, is_text, text_of_name, texts_of
from ._tables import COMPLEX, as_table, columns_of, dtype_of, packed, strings_of, with_text
from ._times import time_type
from ._turns import TakingTurns, Turn
from .errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError, WrongTypeError, of_file

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import DType, Values

T = TypeVar("T")


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


class Texts(Named):
    """A dataset of text of any length that was made in a file that is being written."""

    def __init__(self, file: "File", path: str, shape: tuple[int, ...]) -> None:
        self._file = file
        self.name = path
        self.shape = shape

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._file, self.name)

    def __repr__(self) -> str:
        return f"<stria.Texts '{self.name}' {self.shape}>"


_MOST_LINKS = 16  # from file to file, on the way to an object
_MOST_REASON_BYTES = 200  # the part that the library tells the other ranks


class File:
    """An open file, made by stria.create(), stria.append() or stria.open(). For use in a `with`:
    leaving it commits a file that is being written, an exception discards it. The other ranks hear
    of that in their next collective call, and never wait for it."""

    def __new__(cls, *arguments: Any, **_: Any) -> "File":
        """Tells who knows h5py's File how files are opened here."""
        if arguments and isinstance(arguments[0], (str, bytes, os.PathLike)):
            raise WrongTypeError(
                "files are made by functions: stria.open(path) to read, stria.create(path) and stria.append(path)"
            )
        return super().__new__(cls)

    def __init__(
        self, library: Any, handle: Any, path: str, writing: bool, comm: Any = None, options: "Mapping[str, Any] | None" = None
    ) -> None:
        self._library = library
        self._comm = comm
        self._options = dict(options or {})  # with which open() was called
        self._linked: dict[str, File] = {}  # files to which links lead
        self._turn: Any = nullcontext()  # the turn of a thread that reads
        self._handle = handle
        if not writing and comm is None:
            self._turn = Turn()
            self._handle = TakingTurns(handle, self._turn)
        self._kept: list[Any] = []  # arrays that the library still reads or fills
        # Arrays in another byte order, and those from which they are filled.
        self._swapped: list[tuple[np.ndarray, np.ndarray]] = []
        self._committed = False
        self.path = path
        self.writing = writing
        if writing:
            _being_written[os.path.abspath(path)] = self

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

    if not TYPE_CHECKING:  # for which it would make any name an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(missing_member(name))

    def __repr__(self) -> str:
        state = "closed" if not self._handle.is_open else "being written" if self.writing else "open"
        return f"<stria.File '{self.path}' {state}>"

    @property
    def attrs(self) -> Attributes:
        """Those of the file itself."""
        return Attributes(self, "/")

    def attrs_of(self, path: str) -> Attributes:
        """Returns those of a group or dataset: `f.attrs_of("fields")["time"] = 0.25`."""
        return Attributes(self, text_of_name(path))

    @overload
    def create_dataset(
        self,
        path: str,
        shape: None = None,
        dtype: None = None,
        *,
        data: "str | Sequence[str]",
        **options: "Unpack[DatasetOptions]",
    ) -> "Texts": ...

    @overload
    def create_dataset(
        self,
        path: str,
        shape: "tuple[int | None, ...] | int | None" = None,
        dtype: "DType | None" = None,
        data: "Values | None" = None,
        **options: "Unpack[DatasetOptions]",
    ) -> Dataset: ...

    def create_dataset(
        self,
        path: str,
        shape: "tuple[int | None, ...] | int | None" = None,
        dtype: "DType | None" = None,
        data: "Values | None" = None,
        *,
        value_range: bool = False,
        alignment: int = 0,
        compress: "bool | int | str | None" = False,
        shuffle: "bool | None" = None,
        fletcher32: bool = False,
        chunks: "tuple[int, ...] | None" = None,
        dimensions: "Sequence[str] | None" = None,
        unlimited: bool = False,
        fill_value: "Values | None" = None,
        **unknown: object,
    ) -> "Dataset | Texts":
        """Makes a dataset of numbers, of records, or of strings of bytes ("S8"), of which every
        rank may put its own; a byte order in `dtype` is that of the file, and h5py's enum_dtype()
        makes an enumeration; None is the type of `data`, or else "f8". `compress`: True, "deflate"
        and "gzip" shuffle and deflate its chunks; "zstd": that in place of deflate; "scale_offset":
        integers in as few bits as they need; "zfp_absolute:BOUND" and "zfp_relative:BOUND": lossy,
        no number differs by more (relative: times its chunk's greatest); "zfp_reversible";
        "zfp_rate:BITS": so many of each number. `shuffle`: with `compress` or without;
        `fletcher32`: a sum behind each chunk, which other readers compare. A first length of None:
        it has no rows yet, and append_rows() gives it some, in netCDF files once the file is there.
        `unlimited`: it has the rows of its shape, and gets more likewise. `dimensions` are their
        names, for xarray and other readers of netCDF: a dataset of one dimension that has its name
        holds its coordinates. Elements that nobody puts read as `fill_value`, or zero. With `data`,
        an array that all ranks have alike, one of them puts it whole, as d[...] = data, of as many
        rows as it has where the first length is None; the commit fails where the ranks' arrays
        differ. `data` of strings, or a list of them, makes text of any length in UTF-8, which must
        be given whole. Points in time and spans become integers with the attributes by which xarray
        knows them. Collective: all ranks pass the same."""
        path = text_of_name(path)
        refuse_options(path, unknown)
        if is_text(dtype) or (data is not None and (dtype is None or np.dtype(dtype).kind == "O")):
            texts = None if data is None else array_of_texts(data)
            if is_text(dtype) or (texts is not None and holds_text(texts)):
                return self._create_texts(path, data, shape, dimensions or ())
        time = time_type(path, getattr(data, "dtype", None) if dtype is None else dtype)
        if time is not None:
            data = None if data is None else time.numbers(path, data)
            dtype = np.dtype(np.int64)
        array = None if data is None else strings_of(path, data, dtype)
        if data is not None and array is None:
            array = array_of(data, path)
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
        if array is not None and self._comm is not None:
            options.data_hash = hash_of(array)
        known = lengths_of(f"the shape of '{path}'", dims[1:] if grows else dims)
        first = [-1 if array is None else len(array)] if grows else []
        sizes = [*first, *known, *parts]
        if dtype.fields is not None:
            made = self._handle.create_records(path, columns_of(self._library, path, packed(dtype)), sizes, options)
        elif dtype.kind == "S" and dtype.itemsize > 0:
            made = self._handle.create_string_dataset(path, dtype.itemsize, sizes, options)
        else:
            if meaning is not None:
                options.set_meaning(meaning[0])
            made = self._handle.create_dataset(path, element_of(dtype, path), sizes, options)
        dataset = Dataset(self, made, path)
        for name, value in (time.attributes() if time is not None else {}).items():
            dataset.attrs[name] = value
        if array is not None:
            dataset._of_own_kind(array)  # a wrong type is told on every rank
            if is_first_rank(self):
                dataset.put(..., array, copy=not is_private(array, data))
        dataset._time = time
        return dataset

    def _create_texts(
        self, path: str, data: Any, shape: "tuple[int | None, ...] | int | None", dimensions: "Sequence[str]"
    ) -> Texts:
        if data is None:
            raise UnsupportedError(f"'{path}': text of any length is made whole: give it as data=")
        texts = array_of_texts(data)
        if texts.dtype.kind not in "UTO":
            raise WrongTypeError(f"'{path}': text is strings, not {texts.dtype}")
        values = texts_of(f"'{path}'", data)  # NumPy drops NULs at their ends
        wanted = texts.shape if shape is None else tuple(shape) if np.iterable(shape) else (shape,)
        if wanted != texts.shape:
            raise InvalidArgumentError(f"'{path}': data of shape {texts.shape} for a dataset of shape {wanted}")
        self._handle.create_texts(path, list(texts.shape), values, list(dimensions))
        return Texts(self, path, texts.shape)

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

    def append_rows(self, path: str, rows: "Values", *, copy: bool = False) -> Dataset:
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

    def create_strings(
        self, path: str, strings: "Sequence[str | bytes] | np.ndarray", width: "int | None" = None, *, as_column: bool = False
    ) -> None:
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
        """Reads the records of a small dataset, with the blanks that end their strings. Text of any
        length is an object, a string. Collective."""
        columns, row_bytes = self._handle.columns(path)
        rows = np.frombuffer(self._handle.read_table(path), dtype_of(columns, row_bytes))
        text = dtype_of(columns, row_bytes, as_text=True)
        return with_text(rows, text) if text.hasobject else rows.copy()

    def __getitem__(self, path: "str | bytes") -> "Dataset | Group":
        """Returns the dataset or group at a path; of a file that is being written, a dataset.
        Looking up is local; where a link leads to another file, all ranks open that together."""
        return self._look_up(text_of_name(path), 0)

    def dataset(self, path: "str | bytes") -> Dataset:
        """Does the same as self[path], for a dataset: WrongTypeError for a group."""
        found = self[path]
        if not isinstance(found, Dataset):
            raise WrongTypeError(f"'{self.path}': '{text_of_name(path)}' is a group")
        return found

    def group(self, path: "str | bytes" = "/") -> Group:
        """Does the same as self[path], for a group: WrongTypeError for a dataset."""
        found = self[path]
        if not isinstance(found, Group):
            raise WrongTypeError(f"'{self.path}': '{text_of_name(path)}' is a dataset")
        return found

    def _look_up(self, path: str, depth: int) -> "Dataset | Group":
        try:
            return Dataset(self, self._handle.find_dataset(path), path)
        except NotFoundError:
            if self.writing:
                raise
            if self._handle.has_group(path):
                return Group(self, path)
            if depth >= _MOST_LINKS:
                raise UnsupportedError(f"'{self.path}': links lead to '{path}' through more than {_MOST_LINKS} files") from None
            found = through_link(self, path, depth)
            if found is None:
                raise
            return found

    def _linked_file(self, name: str) -> "File":
        """Returns the file of that name to which a link of this one leads. Collective."""
        path = os.path.join(os.path.dirname(self.path), name)
        if path not in self._linked or not self._linked[path]._handle.is_open:
            self._linked[path] = self._opened(path, self._comm)
        return self._linked[path]

    def _opened(self, path: str, comm: Any) -> "File":
        from . import open as open_file

        return open_file(path, comm, **self._options)

    def _has_dataset(self, path: str) -> bool:
        try:
            self._handle.find_dataset(path)
        except NotFoundError:
            return False
        return True

    def __contains__(self, path: object) -> bool:
        name = text_of_name(path)
        if self.writing or self._has_dataset(name):
            return self._has_dataset(name)
        return self._handle.has_group(name) or self._handle.link_to_file(name)[1] != ""

    def alone(self) -> "File":
        """Returns another handle of an opened file, of this process alone: its reads are collective
        no more, so that one rank may read by itself what the others don't. For use in a `with`."""
        if self.writing:
            raise InvalidArgumentError(f"'{self.path}' is being written: it is read after its commit")
        return self._opened(self.path, None)

    def __reduce__(self) -> tuple[Any, ...]:
        """An opened file goes to other processes by its name, where it is of that process alone;
        handles that come from one file share theirs there."""
        if self.writing:
            raise TypeError(f"'{self.path}' is being written, and can't be pickled")
        path = self.path if "://" in self.path else os.path.abspath(self.path)
        return _unpickled, (path, self._options)

    def get(self, path: str, default: "T | None" = None) -> "Dataset | Group | T | None":
        return self[path] if path in self else default

    def keys(self) -> list[str]:
        """Returns the paths of all datasets; those of a group are those in it: f["/"].keys()."""
        return self._handle.datasets()

    def values(self) -> list[Dataset]:
        """Returns all datasets."""
        return [self.dataset(path) for path in self.keys()]

    def items(self) -> list[tuple[str, Dataset]]:
        """Returns the paths of all datasets, and these."""
        return [(path, self.dataset(path)) for path in self.keys()]

    def visit(self, function: "Callable[[str], T | None]") -> "T | None":
        """Calls function(path) for all groups and datasets, until it returns something else than
        None, which is returned."""
        return self.group().visit(function)

    def visititems(self, function: "Callable[[str, Dataset | Group], T | None]") -> "T | None":
        """Does the same as visit(), for function(path, object)."""
        return self.group().visititems(function)

    def _ipython_key_completions_(self) -> list[str]:
        if self.writing:
            return self.keys()
        paths = self.keys()
        groups = {path[:end] for path in paths for end in range(len(path)) if path[end] == "/"}
        return sorted({*paths, *groups, *self._handle.members("/")})

    def _repr_html_(self) -> str:
        return html_of(repr(self), self, self.keys()) if self._handle.is_open and not self.writing else repr(self)

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
        """Does the same as commit(), but returns once the data are packed into memory: the arrays
        may change, and the file may be closed. Collective."""
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
        """Returns the place of this rank's `count` rows among those of all ranks, which follow each
        other in order of ranks, and the number of all. Collective.

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
        for other in self._linked.values():
            other.close()
        self._kept.clear()

    def verify(self, except_for: "Sequence[str]" = ()) -> "tuple[list[tuple[str, int, int]], list[str]]":
        """Reads everything but the datasets `except_for` and compares it with its checksums:
        (dataset, first row, end) of what is damaged, the rows [first row, end), none where the
        dataset is missing; and sentences on what can't be checked. Collective."""
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
        """The hints have the values that are really in effect."""
        return dict(one.split("=", 1) for one in self._handle.hints())

    @property
    def hint_warnings(self) -> list[str]:
        return self._handle.hint_warnings()


# These are the files that this process writes, by their paths.
_being_written: "WeakValueDictionary[str, File]" = WeakValueDictionary()


@contextmanager
def told_of_writers(path: str, call: str) -> Iterator[None]:
    """Says of a file that isn't there yet, or can't be opened again: this process writes it."""
    try:
        yield
    except (NotFoundError, AlreadyExistsError, InvalidArgumentError) as error:
        writer = _being_written.get(os.path.abspath(path))
        if writer is None or not writer._handle.is_open or writer._committed:
            raise
        more = f"this process has '{path}' open to write it, and {call}() comes after its commit"
        raise type(error)(f"{error}; {more}") from None


# These are the files that were unpickled in this process.
_shared: "WeakValueDictionary[tuple[Any, ...], File]" = WeakValueDictionary()


def _unpickled(path: str, options: "dict[str, Any]") -> File:
    from . import open as open_file

    key = (os.getpid(), path, repr(options))
    file = _shared.get(key)
    if file is None or not file._handle.is_open:
        file = _shared[key] = open_file(path, **options)
    return file

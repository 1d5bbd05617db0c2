"""One dataset of a file: what is put into it and got from it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._attributes import Attributes, Named
from ._described import Described
from ._elements import Elements
from ._numbers import (
    EXACT,
    HALF,
    MEANT_BY_NAME,
    array_of,
    as_numbers,
    copy_of,
    has_strides_of_elements,
    is_private,
    target_of,
)
from ._rows import rows_of
from ._selection import (
    Mask,
    Selection,
    box_of,
    has_dots,
    many_runs,
    mask_of,
    select,
    sorted_by_list,
    sorted_once,
    without_newaxis,
)
from ._tables import ELEMENTS, as_records, as_strings, columns_of, dtype_of, enum_of, with_text
from ._times import TimeType
from ._views import View
from .errors import InvalidArgumentError, UnsupportedError, WrongTypeError

if TYPE_CHECKING:
    from ._file import File
    from ._typing import DType, Index, Values

_BAND_BYTES = 1 << 20


class Dataset(Named, Described):
    """A dataset of an open file.

    `d[index] = array` records a write of what the array holds now, of a file that is being written:
    it copies the array, which may change at once. put() does so without a copy, of an array that
    must not change until flush() or commit(). `d[index]` reads at once, and is collective: all
    ranks of the file's communicator do it in the same order, each with an index of its own, perhaps
    an empty one. get() records a read. Indices are NumPy's: integers, slices with any step,
    Ellipsis, np.newaxis, one list of integers or mask of booleans, or a mask of the whole dataset;
    of records also the names of fields. InvalidIndexError is an IndexError. `for
    row in d` reads many rows at a time; it is collective too, so that all ranks go on to the same
    row.

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
        self._time: TimeType | None = None  # its unit, where it has points in time or spans
        kind = handle.type_name.removesuffix(" big-endian")
        self._has_records = kind.startswith("record")
        # None: of records, until somebody asks.
        self._dtype: Any = MEANT_BY_NAME.get(kind) or np.dtype(ELEMENTS[handle.element])
        self._moved_dtype: Any = None  # the type of records, where text of any length is bytes
        if self._has_records:
            self._dtype = None
        if handle.enumeration:
            self._dtype = enum_of(self._dtype, handle.enumeration)
        if kind.startswith("string"):
            self._dtype = np.dtype(f"S{kind[len('string[') : -1]}")
        # The library takes a complex number for a pair, along one dimension more.
        self._parts = [2] if kind.startswith("complex") else []
        self.shape: tuple[int, ...] = tuple(handle.dims[: len(handle.dims) - len(self._parts)])
        self._ones = [1] * len(handle.dims)

    def __reduce__(self) -> tuple[Any, ...]:
        """Does the same as File.__reduce__()."""
        return _of_file, (self._file, self.name)

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of the elements. Text of any length in records is an object, a string."""
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

    def __iter__(self) -> Iterator[np.ndarray]:
        if not self.shape:
            raise TypeError("a dataset without dimensions has no rows")
        return rows_of(self)

    def __repr__(self) -> str:
        return f"<stria.Dataset '{self.name}' {self._handle.type_name} {self.shape}>"

    @property
    def attrs(self) -> "Attributes":
        return Attributes(self._file, self.name)

    def __setitem__(self, key: "Index", value: "Values") -> None:
        self.put(key, value, copy=True)

    def put(self, key: "Index", value: "Values", *, copy: bool = False) -> None:
        """Records a write of `value`, of any strides and number type, broadcast as NumPy does. An
        array is kept as it is, and must not change until flush() or commit(), which raise
        InvalidArgumentError on every rank where they see that it has: a sample of it is compared,
        or, of 64 KiB at most, a copy stored. `copy`: of a copy, as `d[key] = value`; report tells
        its memory. Local: any rank may put, any number of times, also none; each element once. Two
        puts of one flush() or commit() that share elements make it raise InvalidArgumentError,
        but for what several ranks put alike; the hint stria_put_overlaps allows them."""
        array = self._of_own_kind(value)
        copy = copy and not is_private(array, value)
        mask = mask_of(key, self.shape, self.name)
        if mask is not None:
            self.put_elements(Elements(mask.offsets()), self._spread(array, (mask.count,)), copy=copy)
            return
        key, puts = without_newaxis(key, self.name)
        if puts is not None:
            shape = select(key, self.shape, self.name).shape
            array = self._spread(array, np.broadcast_to(0, shape)[puts].shape).reshape(shape)
        box = box_of(key, self.shape)
        if box is not None and array.shape == box.shape:
            start, count = [*box.start, *(0 for _ in self._parts)], [*box.count, *self._parts]
            array, copy = self._held(array, copy)
            self._call("put", start, count, self._ones, array, copy)
            return
        selection = select(key, self.shape, self.name)
        if array.shape != selection.shape:
            array = self._spread(array, selection.shape)
        in_order = sorted_by_list(selection, array, self.name)
        copy = copy and in_order is array
        if elements := self._elements_for(selection):
            self.put_elements(elements, in_order, copy=copy)
            return
        array, copy = self._held(in_order, copy)
        self._move("put", selection.parts(array), copy)

    def _spread(self, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Returns the array broadcast to a shape; first lengths of 1 that are too many don't
        count."""
        given = array.shape
        while array.ndim > len(shape) and array.shape[0] == 1:
            array = array[0]
        try:
            return np.broadcast_to(array, shape)
        except ValueError:
            raise InvalidArgumentError(f"'{self.name}': values of shape {given} for a selection of shape {shape}") from None

    def _held(self, array: np.ndarray, copy: bool) -> tuple[np.ndarray, bool]:
        """Returns the array from which to put, and whether the library is to copy it; else it is
        kept. Where values repeat, the copy is made here, of each value once."""
        if copy and 0 in array.strides:
            array, copy = copy_of(array), False
        if not copy:
            self._file._kept.append(array)
        return array, copy

    def _elements_for(self, selection: Selection) -> "Elements | None":
        """Returns a map for a list of many single elements; None for other indices."""
        if len(self.shape) != 1 or selection.list_axis is None or not self._has_single_elements:
            return None
        indices = selection.axes[0].indices
        return Elements(indices) if many_runs(indices) else None

    def _of_own_kind(self, value: Any) -> np.ndarray:
        """Returns an array in the dataset's type where the library can't convert it."""
        if self._dtype is not None and self._dtype.kind == "S":
            return as_strings(self.name, value, self._dtype)
        if self._time is not None:
            value = self._time.numbers(self.name, value)
        array = array_of(value, self.name)
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
        if dtype.kind == "c" and not self._parts:
            raise WrongTypeError(f"'{self.name}' holds {self._dtype}, which has no imaginary parts: put or get .real or .imag")
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

    def _move(self, call: str, parts: Any, *how: bool) -> None:
        none = [0 for _ in self._parts]
        ones = [1 for _ in self._parts]
        for start, count, stride, part in parts:
            self._call(call, [*start, *none], [*count, *self._parts], [*stride, *ones], part, *how)

    def _call(self, call: str, start: list[int], count: list[int], stride: list[int], part: np.ndarray, *how: bool) -> None:
        """Puts or gets a hyperslab. `how`: of a put, whether the library copies."""
        handle = self._file._handle
        if self._has_records:
            columns = columns_of(self._file._library, self.name, part.dtype)
            getattr(handle, call + "_records")(self._handle, start, count, stride, as_numbers(part), columns, *how)
        else:
            getattr(handle, call)(self._handle, start, count, stride, as_numbers(part), *how)

    def get(self, key: "Index", out: np.ndarray) -> None:
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

    def _fill(self, selection: Selection, out: np.ndarray) -> None:
        """Records the read of a selection."""
        if selection.list_axis is None or self._has_records:
            self._move("get", selection.parts(out))
            return
        (start, count, stride), which, runs, array = selection.runs(out)
        none, ones = [0 for _ in self._parts], [1 for _ in self._parts]
        slab = ([*start, *none], [*count, *self._parts], [*stride, *ones])
        self._file._handle.get_runs(self._handle, slab, which, runs, as_numbers(array))

    def _native(self, out: np.ndarray) -> np.ndarray:
        """Returns the array that the library fills: `out`, or, for another byte order, one from
        which it is filled then."""
        if out.dtype.isnative:
            return out
        native = out.astype(out.dtype.newbyteorder("="))
        self._file._swapped.append((out, native))
        return native

    def put_rows(self, rows: "Values", *, copy: bool = False) -> None:
        """Records a write of this rank's rows, of which each rank may have another number, also
        none: they follow those of lower ranks. All have as many as the dataset, or, where it can
        grow, as append_rows() has given it last. As put(), an array must not change until flush()
        or commit(), unless `copy` is True. Collective."""
        where, total = self._file.place_rows(len(rows))
        self._put_last(where, total, rows, copy)

    def _put_last(self, where: slice, total: int, rows: Any, copy: bool) -> None:
        begin = len(self) - total
        if begin < 0 or (begin > 0 and not self.can_grow):
            raise InvalidArgumentError(f"'{self.name}' has {len(self)} rows, but all ranks have {total}")
        self.put(slice(begin + where.start, begin + where.stop), rows, copy=copy)

    def get_rows(self) -> np.ndarray:
        """This rank's share of the rows when all ranks share them evenly, whatever ranks have put
        them. Reads at once. Collective."""
        return self[self._file.share_rows(len(self))]

    def put_elements(self, elements: Elements, values: "Values", *, copy: bool = False) -> None:
        """Records a write of scattered elements, each value to its place. As put(), an array must
        not change until flush() or commit(), unless `copy` is True. Local."""
        array = np.ascontiguousarray(self._of_own_kind(values))
        self._require_one_each(elements, array)
        array, copy = self._held(array, copy and not is_private(array, values))
        self._file._handle.put_elements(self._handle, elements._of(self._file._library), as_numbers(array), copy)

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

    def __getitem__(self, key: "Index | str | list[str]") -> np.ndarray:
        if isinstance(key, str) or (isinstance(key, list) and key and all(isinstance(one, str) for one in key)):
            return self.fields(key)[()]
        return self._read(key)

    def astype(self, dtype: "DType") -> View:
        """Returns a view whose indices read numbers as another type: `d.astype("f4")[:10]`."""
        return View(self, np.dtype(dtype))

    def fields(self, names: "str | list[str]") -> View:
        """Returns a view whose indices read some fields of records, or, by its name alone, the
        values of one: `d.fields("mass")[:10]`, and the same whole: `d["mass"]`."""
        missing = [name for name in ([names] if isinstance(names, str) else names) if name not in (self.dtype.names or ())]
        if missing:
            raise InvalidArgumentError(f"'{self.name}' has no field '{missing[0]}': it holds {self.type_name}")
        return View(self, np.dtype([(name, self.dtype[name]) for name in np.atleast_1d(names).tolist()]), names)

    def _read(self, key: Any, dtype: "np.dtype | None" = None) -> Any:
        """Returns what an index means, in the dataset's type, or as `dtype`: another type of
        numbers, or some fields."""
        if self._file.writing:
            raise InvalidArgumentError(f"'{self._file.path}' is being written: stria.open() reads it after its commit")
        with self._file._turn:
            return self._read_in_turn(key, dtype)

    def _read_in_turn(self, key: Any, dtype: "np.dtype | None") -> Any:
        self._require_readable()
        if self._handle.type_name.startswith("string"):
            return np.array(self._file._handle.read_strings(self.name), dtype=object).reshape(self.shape)[key]
        moved, text = self._types_of_read(dtype)
        mask = mask_of(key, self.shape, self.name)
        if mask is not None:
            return self._read_mask(mask, moved, text)
        key, puts = without_newaxis(key, self.name)
        selection = select(key, self.shape, self.name)
        back = sorted_once(selection)
        hull = selection.hull(self.shape, moved.itemsize, in_chunks=self.chunks is not None)
        if hull is None:
            out = self._now(selection, moved)
        else:
            out = self._picked(*hull, moved)
        if self._has_records:
            out = with_text(out, text)
        out = out[(...,) if back == () and has_dots(key) else back]
        return out if puts is None else out[puts]

    def _types_of_read(self, dtype: "np.dtype | None") -> tuple[np.dtype, np.dtype]:
        """Returns the type of the array that is filled, and of the one that is returned."""
        own = self.dtype
        if dtype is None:
            return self._of_moved, own
        if self._has_records:
            return np.dtype([(name, self._moved_dtype[name]) for name in dtype.names]), dtype
        return (own if self._needs_own_kind(dtype) else dtype), dtype

    def _now(self, selection: Selection, dtype: np.dtype) -> np.ndarray:
        """Reads a selection. Collective."""
        out = np.empty(selection.shape, dtype)
        elements = self._elements_for(selection)
        try:
            if elements is not None:
                self.get_elements(elements, out)
            elif out.dtype.isnative or self._has_records:
                self._fill(selection, out)
            else:
                self._fill(selection, self._native(out))
        finally:
            self._file.flush()  # after an error too, of which the ranks hear by it
        return out

    def _picked(self, box: Selection, axis: int, places: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Returns what lies at some places along one dimension of a box. A process that reads alone
        takes a band of rows at a time, which stays in the processor's cache. Collective."""
        rows = box.axes[0]
        in_bands = self._file._comm is None and axis > 0 and rows.kept and not rows.flipped and box.first is None
        if not in_bands:
            return np.take(self._now(box, dtype), places, axis=axis)
        out = np.empty((*box.shape[:axis], places.size, *box.shape[axis + 1 :]), dtype)
        row_bytes = max(math.prod(box.shape[1:]) * dtype.itemsize, 1)
        height = self.chunks[0] if self.chunks else 1
        step = max(_BAND_BYTES // row_bytes // height, 1) * height
        for first in range(0, rows.count, step):
            band = replace(rows, start=rows.start + first * rows.step, count=min(step, rows.count - first))
            part = self._now(Selection([band, *box.axes[1:]], box.dots), dtype)
            np.take(part, places, axis=axis, out=out[first : first + band.count], mode="clip")
        return out

    def _read_mask(self, mask: Mask, moved: np.dtype, text: np.dtype) -> np.ndarray:
        box = mask.box()
        if mask.is_dense(box, moved.itemsize) or not self._has_single_elements:
            out = self._now(select(box, self.shape, self.name), moved)[mask.mask[box]]
            return with_text(out, text) if self._has_records else out
        out = np.empty(mask.count, moved)
        try:
            self.get_elements(Elements(mask.offsets()), out)
        finally:
            self._file.flush()
        return out

    def __array__(self, dtype: "DType | None" = None, copy: "bool | None" = None) -> np.ndarray:
        return np.asarray(self[...], dtype=dtype)


def _of_file(file: "File", path: str) -> Any:
    return file[path]

"""Groups of a file, and what datasets are in them."""

import html
from collections.abc import Callable, Iterator, KeysView
from typing import TYPE_CHECKING, Any, TypeVar

from ._attributes import Attributes, Named
from ._strings import text_of_name
from .errors import NotFoundError, StriaError, WrongTypeError

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import File

T = TypeVar("T")

_MOST_ROWS = 100  # the rows of a table in a notebook


class Group(Named):
    """A group of an opened file, a mapping of the names in it: `g["dens"]` is a Dataset, or another
    Group; `g["/run/dens"]` begins at the root. Looking up is local, but for links to other files,
    which all ranks follow together."""

    def __init__(self, file: "File", path: str) -> None:
        self.file = file
        self.name = "/" + path.strip("/")

    def __reduce__(self) -> tuple[Any, ...]:
        """Does the same as File.__reduce__()."""
        return Group, (self.file, self.name)

    def __repr__(self) -> str:
        return f"<stria.Group '{self.name}' of '{self.file.path}'>"

    @property
    def attrs(self) -> Attributes:
        return Attributes(self.file, self.name)

    @property
    def parent(self) -> "Group":
        return Group(self.file, self.name.rpartition("/")[0])

    def _path(self, name: "str | bytes") -> str:
        text = text_of_name(name)
        return text if text.startswith("/") else f"{self.name}/{text}".lstrip("/")

    def __getitem__(self, name: "str | bytes") -> "Dataset | Group":
        return self.file[self._path(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, (str, bytes)) and self._path(name) in self.file

    def get(self, name: str, default: "T | None" = None) -> "Dataset | Group | T | None":
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.file._handle.members(self.name))

    def __len__(self) -> int:
        return len(self.file._handle.members(self.name))

    def keys(self) -> "KeysView[str]":
        return KeysView(self)  # type: ignore[arg-type]

    def values(self) -> "list[Dataset | Group]":
        return [self[name] for name in self]

    def items(self) -> "list[tuple[str, Dataset | Group]]":
        return [(name, self[name]) for name in self]

    def visit(self, function: "Callable[[str], T | None]") -> "T | None":
        """Calls function(path) for everything below, paths relative to this group, until it returns
        something else than None, which is returned."""
        return self.visititems(lambda name, _: function(name))

    def visititems(self, function: "Callable[[str, Dataset | Group], T | None]") -> "T | None":
        """Does the same as visit(), for function(path, object)."""
        prefix = self.name.strip("/") + "/" if self.name != "/" else ""
        for path in paths_below(self.file, prefix):
            found = function(path[len(prefix) :], self.file[path])
            if found is not None:
                return found
        return None

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.file, [self._path(name) for name in self])


def paths_below(file: "File", prefix: str) -> list[str]:
    """Lists the paths of all datasets and groups, groups before what they have. A link that leads
    back to a group above is a group without members here."""
    found: list[str] = []

    def walk(group: str, above: "list[list[str]]") -> None:
        names = file._handle.members(group)
        if names and names in above:
            return
        for name in names:
            path = f"{group}/{name}".lstrip("/")
            if file._handle.has_group(path):
                found.append(path)
                walk(path, [*above, names])
            elif file._has_dataset(path):
                found.append(path)

    walk(prefix.rstrip("/"), [])
    return found


def html_of(title: str, file: "File", paths: "list[str]") -> str:
    """Returns a table of objects for notebooks."""
    rows = []
    for path in paths[:_MOST_ROWS]:
        try:
            found = file[path] if file._handle.link_to_file(path)[1] == "" else None
            kind, shape = ("link to another file", "") if found is None else _told(found)
        except (StriaError, WrongTypeError) as error:
            kind, shape = str(error), ""
        rows.append("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in (path, kind, shape)) + "</tr>")
    more = f"<p>and {len(paths) - _MOST_ROWS} more</p>" if len(paths) > _MOST_ROWS else ""
    head = "<tr><th>name</th><th>type</th><th>shape</th></tr>"
    return f"<p><b>{html.escape(title)}</b></p><table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _told(found: "Dataset | Group") -> tuple[str, str]:
    return ("group", f"{len(found)} members") if isinstance(found, Group) else (found.type_name, str(found.shape))


def through_link(file: "File", path: str, depth: int) -> "Dataset | Group | None":
    """Returns what a link to another file leads to; None where there is no such link on the
    path."""
    names = path.strip("/").split("/")
    for end in range(1, len(names) + 1):
        target, name = file._handle.link_to_file("/".join(names[:end]))
        if name:
            rest = "/".join([target.strip("/"), *names[end:]])
            try:
                return file._linked_file(name)._look_up(rest, depth + 1)
            except NotFoundError as error:
                raise NotFoundError(
                    f"'{file.path}': '{'/'.join(names[:end])}' leads to '{target}' of '{name}', which isn't there: {error}"
                ) from None
    return None

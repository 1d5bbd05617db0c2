"""Links of the repository's documents, made into links of the site.

A document of the site is the page of its path without docs/. Any other file that a document links
to gets a page that shows it, and a folder a page that lists it: both below files/."""

import posixpath
import re

_LINK = re.compile(r"(?<=\])\(([^)\s]+)\)")
_PICTURES = (".svg", ".png")
# Interfaces whose declarations the site has as a reference.
_REFERENCES = {
    "include/stria.h": "reference/c.md",
    "include/stria/file.hpp": "reference/cpp.md",
    "include/stria/memory.hpp": "reference/cpp.md",
    "bindings/fortran/stria.f90": "reference/fortran.md",
}


class Links:
    def __init__(self, documents):
        """`documents`: the paths that have a page of their own."""
        self._pages = {path: _page_of(path) for path in documents} | _REFERENCES
        self.shown = set()  # files and folders that need a page, by path
        self.pictures = set()

    def page(self, path):
        """Returns the page of a path, relative to the site's sources."""
        if path in self._pages:
            return self._pages[path]
        if path.endswith(_PICTURES):
            self.pictures.add(path)
            return _page_of(path)
        self.shown.add(path)
        return f"files/{path}/index.md" if self._is_folder(path) else f"files/{path}.md"

    def rewrite(self, path, text):
        """The document at `path` with the site's links."""
        return "".join(self._rewrite_line(path, line, in_code) for line, in_code in _lines(text))

    def _rewrite_line(self, path, line, in_code):
        return line if in_code else _LINK.sub(lambda match: f"({self._target(path, match.group(1))})", line)

    def _target(self, path, link):
        if re.match(r"\w+:", link) or link.startswith("#"):
            return link
        target, mark, heading = link.partition("#")
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        here = posixpath.dirname(self.page(path))
        return posixpath.relpath(self.page(there), here or ".") + mark + heading

    @staticmethod
    def _is_folder(path):
        return "." not in posixpath.basename(path)


def _page_of(path):
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.endswith("/README.md"):
        return path.removesuffix("/README.md") + ".md"
    return path.lower()


def _lines(text):
    """Yields pairs: a line with its end, and whether it is code."""
    fence = None
    for line in text.splitlines(keepends=True):
        mark = re.match(r" *(```+|~~~+)", line)
        in_code = fence is not None or mark is not None
        if mark:
            fence = None if fence and mark.group(1).startswith(fence) else fence or mark.group(1)
        yield line, in_code

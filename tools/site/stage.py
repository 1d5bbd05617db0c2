#!/usr/bin/env python3
"""Lays out the sources of the documentation site: the repository's documents with their links, a
page for every file that they link to, and the references of the languages.

usage: stage.py ROOT OUT
  ROOT  the repository
  OUT   a folder, made anew; Sphinx builds the site from it, with conf.py of this folder
"""

import argparse
import pathlib
import posixpath
import shutil

import c_reference
import cpp_reference
import fortran_reference
import links
import navigation
import python_reference

_LEXERS = {
    ".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".f90": "fortran", ".sh": "bash", ".patch": "diff",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    stage(arguments.root, arguments.out)


def stage(root, out):
    sections = navigation.sections(root)
    documents = navigation.pages(sections)
    linked = links.Links(documents)
    for path in documents:
        text = linked.rewrite(path, (root / path).read_text())
        _write(out / linked.page(path), text + _contents(sections, linked) if path == navigation.HOME else text)
    for name, text in _references(root):
        _write(out / "reference" / name, text)
    done = set()
    while linked.shown - done:  # a folder's page links to those of its files
        for path in sorted(linked.shown - done):
            _write(out / linked.page(path), _shown(root, path, linked))
            done.add(path)
    for path in linked.pictures:
        (out / linked.page(path)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, out / linked.page(path))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _references(root):
    yield "c.md", c_reference.page((root / "include/stria.h").read_text())
    yield "cpp.md", cpp_reference.page(root / "include")
    fortran = root / "bindings/fortran"
    included = [(fortran / f"{name}.inc").read_text() for name in ("texts", "checks", "tracing")]
    yield "fortran.md", fortran_reference.page((fortran / "stria.f90").read_text(), included)
    yield "python.md", python_reference.PAGE


def _contents(sections, linked):
    """Sphinx's tables of contents, for the bar at the left."""
    text = ""
    for title, entries in sections.items():
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
        for entry in entries:
            name, path = (None, entry) if isinstance(entry, str) else entry
            page = path if path.startswith("reference/") else linked.page(path)
            text += f"{name} <{page}>\n" if name else f"{page}\n"
        text += "```\n"
    return text


def _shown(root, path, linked):
    """Returns a page that shows a file, or lists the files of a folder."""
    place = root / path
    if place.is_dir():
        here = posixpath.dirname(linked.page(path))
        files = sorted(child.name for child in place.iterdir() if child.is_file())
        pages = {name: posixpath.relpath(linked.page(f"{path}/{name}"), here) for name in files}
        items = "".join(f"- [{name}]({page})\n" for name, page in pages.items())
        return f"---\norphan: true\n---\n# {path}\n\n{items}"
    lexer = _LEXERS.get(place.suffix, "text")
    return f"---\norphan: true\n---\n# {path}\n\n~~~~~~{lexer}\n{place.read_text()}~~~~~~\n"


if __name__ == "__main__":
    main()

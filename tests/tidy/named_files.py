"""What documents and comments point to exists: links with their headings, files and folders."""

import posixpath
import re

import prose_rules
from source_tree import Violation

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.*)$")
# wire/frame.hpp, docs/hints.md: at least one folder, and an ending that sources have.
_FILE = re.compile(r"(?<![\w./~$*{}<>%-])((?:[a-z_]\w*/)+\w+\.(?:md|hpp|cpp|py|sh|cmake|f90))(?![\w/])")
_FOLDERS = "src|docs|tests|lab|tools|bindings|scripts|include"
_FOLDER = re.compile(rf"(?<![\w./~$*{{}}<>%-])((?:{_FOLDERS})/(?:\w+/)*)(?![\w/<*{{])")
# Places that builds and runs make.
_MADE = re.compile(r"(?:build|out)/")


def check(files):
    names = {file.path for file in files}
    ends = {"/".join(parts[i:]) for parts in (path.split("/") for path in names) for i in range(len(parts))}
    folders = {path[: i + 1] for path in names for i, letter in enumerate(path) if letter == "/"}
    headings = {file.path: _headings(file.text) for file in files if file.suffix == ".md" and file.text}
    violations = []
    for file in files:
        if file.text is None or file.is_corpus or file.path.startswith("tests/tidy/"):
            continue
        for number, text in _lines(file):
            for name in _FILE.findall(text):
                if name not in ends and not _MADE.match(name):
                    violations.append(Violation(file.path, number, f"names {name}, which is no file of ours"))
            for name in _FOLDER.findall(text):
                if name not in folders:
                    violations.append(Violation(file.path, number, f"names {name}, which is no folder of ours"))
            if file.suffix == ".md":
                violations += _links(file.path, number, text, names | folders, headings)
    return violations


def _lines(file):
    """Yields numbered prose; every line of a document, for its tables and commands name files
    too."""
    if file.suffix == ".md":
        return file.lines()
    return ((number, text) for number, text, _ in prose_rules.prose_lines(file))


def _links(path, number, text, places, headings):
    for link in _LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        target, _, heading = link.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
        if place not in places and place + "/" not in places:
            yield Violation(path, number, f"links to {target}, which is not there")
        elif heading and heading not in headings.get(place, ()):
            yield Violation(path, number, f"links to {link}, which has no such heading")


def _headings(text):
    """Returns the anchors of a document's headings: small letters, hyphens for blanks, no other
    signs."""
    found = set()
    in_fence = False
    for line in text.splitlines():
        in_fence ^= line.startswith("```")
        match = _HEADING.match(line)
        if match and not in_fence:
            found.add(re.sub(r"[^\w\- ]", "", match.group(1).lower()).strip().replace(" ", "-"))
    return found

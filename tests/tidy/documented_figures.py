"""What is measured has one place, docs/performance.md: a figure that another document repeats is
one of its own."""

import re

from source_tree import Violation

SOURCE = "docs/performance.md"
REPEATING = ("README.md", "docs/index.md", "docs/mpiio.md", "docs/hdf5_preload.md")

# "1.5 to 2.2 times", "3 times", "1/85": how fast one thing is beside another.
_RATIO = re.compile(r"\b\d[\d.]*(?: to \d[\d.]*)? times\b|(?<![\w/])1/\d+\b")
_CELL = re.compile(r"(?<![\d.,])\d{3,}(?![\d.,])")


def check(files):
    source = next((file.text for file in files if file.path == SOURCE), "")
    prose, cells = _joined(source), set(_CELL.findall(_tables(source)))
    violations = []
    for file in files:
        if file.path not in REPEATING:
            continue
        missing = [figure for figure in _RATIO.findall(_joined(file.text)) if figure not in prose]
        missing += [figure for figure in _CELL.findall(_tables(file.text)) if figure not in cells]
        violations += [Violation(file.path, 0, f"the figure '{figure}' is not one of {SOURCE}") for figure in missing]
    return violations


def _joined(text):
    """Returns a document as one line, so that figures are found across the ends of lines."""
    return " ".join(text.split())


def _tables(text):
    return "\n".join(line for line in text.split("\n") if line.startswith("|"))

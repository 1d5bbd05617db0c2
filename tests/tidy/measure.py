#!/usr/bin/env python3
"""Measures the C++ of checkouts, and prints them side by side as a table of Markdown.

usage: measure.py [CHECKOUT ...]
  CHECKOUT    a work tree or a git directory; this repository comes first anyway

What is counted: files that are neither tests nor of third parties, their functions and classes. A
method is a function that a class declares, but for constructors, destructors and what is defaulted
or deleted. A contract is a call of a check or an assertion. A fragment is a comment that opens with
a preposition instead of its subject; behind code only "of", "as", "which" and the like count.
"""

import argparse
import dataclasses
import io
import pathlib
import re
import statistics
import subprocess
import tarfile

import function_length
import prose_rules
import source_tree

MOST_METHODS = 25
_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".cc", ".cxx", ".hh"}
_FOREIGN = re.compile(r"(^|/)(third_party|external|vendor|vendored)/")
_TEST = re.compile(r"(^|/)tests?/|(^|[_/])(test|tests|testutil|fuzz\w*)(_\w*)?\.\w+$|_(test|tests|fuzz)\.")
_CONTRACT = re.compile(r"\b(?:STRIA_CHECK|STRIA_ASSERT|A?BSL_D?CHECK\w*|D?CHECK(?:_\w+)?|TENSORSTORE_CHECK\w*|assert)\s*\(")
_CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(?:[A-Z_]{3,}\s+)?([A-Za-z_][\w:]*)[^;{}()=]*\{")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
_METHOD = re.compile(r"(operator\s*[^\s(]+|~?\w+)\s*\(")
_NO_METHOD = re.compile(r"^\s*(?:using|typedef|friend|static_assert|enum|class|struct|union)\b")
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")


@dataclasses.dataclass
class Measures:
    """What was measured of one checkout."""

    file_lines: list
    function_lines: list
    methods: dict  # by class: how many
    contracts: int
    comments: int
    fragments: int

    @property
    def lines(self):
        return sum(self.file_lines)


def load(checkout):
    """The files of a work tree, or of the last commit of a git directory."""
    root = pathlib.Path(checkout)
    if (root / ".git").exists():
        return source_tree.load(root)
    archive = subprocess.run(["git", f"--git-dir={root}", "archive", "HEAD"], check=True, capture_output=True)
    files = []
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        for member in tar:
            if member.isfile() and pathlib.PurePosixPath(member.name).suffix in _SUFFIXES:
                text = tar.extractfile(member).read().decode(errors="replace")
                files.append(source_tree.SourceFile(member.name, text))
    return files


def is_measured(file):
    is_code = file.text is not None and file.suffix in _SUFFIXES
    return is_code and not file.is_test and not _TEST.search(file.path) and not _FOREIGN.search(file.path)


def measure(files):
    measures = Measures([], [], {}, 0, 0, 0)
    for file in filter(is_measured, files):
        blanked = function_length.blank(file.text)
        measures.file_lines.append(file.text.count("\n"))
        measures.function_lines += [length for _, _, length in function_length.functions(file.text)]
        for name, methods in classes(blanked):
            measures.methods[f"{name} ({file.path})"] = methods
        measures.contracts += len(_CONTRACT.findall(blanked))
        for _, words, is_label in prose_rules.comments(file.text):
            measures.comments += words != ""
            measures.fragments += prose_rules.is_fragment(words, is_label)
    return measures


def classes(blanked):
    """Yields (name, number of methods) of the classes that a blanked text defines."""
    for match in _CLASS.finditer(blanked):
        if not re.search(r"\benum\s*$", blanked[: match.start()]):
            name = match.group(1).rpartition("::")[2]
            yield name, sum(_is_method(each, name) for each in _members(blanked[match.end() :]))


def _members(text):
    """Yields what the class declares whose body the text begins with, without inner braces."""
    depth, member = 0, ""
    for position, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                return
            if depth == 0 and "(" in member and not re.match(r"\s*[;,)]", text[position + 1 :]):
                yield member
                member = ""
        elif depth == 0 and character == ";":
            yield member
            member = ""
        elif depth == 0:
            member += character


def _is_method(member, class_name):
    member = _ACCESS.sub("", re.sub(r"\[\[.*?\]\]", "", member))
    while (simpler := _TEMPLATE_ARGUMENTS.sub("", member)) != member:
        member = simpler
    member = re.sub(r"^\s*template\s*", "", member)
    if _NO_METHOD.match(member) or re.search(r"=\s*(?:default|delete)\s*$", member):
        return False
    name = _METHOD.search(member)
    if name is not None and member[name.end() :].lstrip().startswith("*"):
        return False  # a pointer to a function
    return name is not None and name.group(1).lstrip("~") != class_name and "=" not in member[: name.start()]


def table(named):
    """Yields rows of Markdown: measures by name."""
    rows = [
        ("lines", lambda each: f"{each.lines:,}"),
        ("files: median, 95 %, longest", lambda each: _spread(each.file_lines)),
        ("functions: median, 95 %, longest", lambda each: _spread(each.function_lines)),
        (f"classes; with more than {MOST_METHODS} methods", _large),
        ("most methods of one class", lambda each: f"{max(each.methods.values(), default=0)}"),
        ("contracts; a thousand lines", lambda each: f"{each.contracts:,}; {1000 * each.contracts / each.lines:.1f}"),
        ("comments that open with a preposition", lambda each: f"{100 * each.fragments / max(each.comments, 1):.1f} %"),
    ]
    yield "| | " + " | ".join(named) + " |"
    yield "|---|" + "---:|" * len(named)
    for title, cell in rows:
        yield f"| {title} | " + " | ".join(cell(measures) for measures in named.values()) + " |"


def _spread(numbers):
    ordered = sorted(numbers)
    return f"{statistics.median_low(ordered)}, {ordered[int(0.95 * (len(ordered) - 1))]}, {ordered[-1]}"


def _large(measures):
    return f"{len(measures.methods):,}; {sum(methods > MOST_METHODS for methods in measures.methods.values())}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", action="store_true", help="list the classes with the most methods of each too")
    parser.add_argument("checkouts", nargs="*", metavar="CHECKOUT", help="another project: a work tree or a git directory")
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parents[2]
    named = {"Stria": measure(load(here))}
    for checkout in arguments.checkouts:
        path = pathlib.Path(checkout).resolve()
        named[path.name if path.name not in {"repo", ".git"} else path.parent.name] = measure(load(path))
    print("\n".join(table(named)))
    for name, measures in named.items() if arguments.largest else ():
        for label, methods in sorted(measures.methods.items(), key=lambda each: -each[1])[:15]:
            print(f"{name}: {methods:3} methods  {label}")


if __name__ == "__main__":
    main()

"""A precondition that a comment states is checked by code.

Behind `\\pre` stands what the function itself can see. Its body, wherever that is, holds
STRIA_CHECK, STRIA_ASSERT or, in applications and public headers, assert. What no code can check
("the memory outlives this") is a sentence of the comment, without `\\pre`. Who holds a mutex can be
seen: the function takes the lock as a parameter, and asserts that it is held."""

import collections
import re

import function_length
from source_tree import Violation

_PRECONDITION = re.compile(r"\\pre\b")
_HELD = re.compile(
    r"//.*\b(?:the caller (?:holds|has) (?:the|its) (?:mutex|lock)|(?:the mutex|mutex_) is held)",
    re.IGNORECASE,
)
_CHECK = re.compile(r"\b(?:STRIA_CHECK|STRIA_ASSERT|assert)\(")
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_NAME = re.compile(r"(operator\s*[^\s(]+|~?\w+)\s*\($")


def check(files):
    code = [file for file in files if file.is_cpp and not file.is_corpus]
    violations = [
        Violation(file.path, number, "whose lock is held, a comment says: take the lock as a parameter, and assert it")
        for file in code
        for number, line in file.lines()
        if _HELD.search(line)
    ]
    if not any(_PRECONDITION.search(file.text) for file in code):
        return violations
    bodies = _bodies(code)
    for file in code:
        for line, name in _preconditions(file.text):
            if name is None:
                violations.append(Violation(file.path, line, "\\pre of what is no function: say it in a sentence"))
            elif not any(_CHECK.search(body) for body in _of_function(bodies[name], file.path)):
                text = f"{name} does not check its \\pre: add STRIA_ASSERT, or name the caller's duty in a sentence"
                violations.append(Violation(file.path, line, text))
    return violations


def _bodies(files):
    """Returns (path, text) of each definition, by a function's last name."""
    bodies = collections.defaultdict(list)
    for file in files:
        lines = function_length.blank(file.text).split("\n")
        for name, first, length in function_length.functions(file.text):
            bodies[name.rpartition("::")[2]].append((file.path, "\n".join(lines[first - 1 : first - 1 + length])))
    return bodies


def _of_function(definitions, path):
    """Returns the bodies that may be meant: beside the declaration, else in its folder, else
    anywhere."""
    stem = path.rpartition(".")[0]
    beside = [body for where, body in definitions if where.rpartition(".")[0] == stem]
    folder = path.rpartition("/")[0] + "/"
    near = [body for where, body in definitions if where.startswith(folder)]
    return beside or near or [body for _, body in definitions]


def _preconditions(text):
    """Yields (line, name of the function that is declared there, or None)."""
    blanked = function_length.blank(text)
    for match in _PRECONDITION.finditer(text):
        begin = text.rfind("\n", 0, match.start()) + 1
        line = text.count("\n", 0, match.start()) + 1
        if blanked[begin : match.start()].strip():
            declaration = blanked[begin : match.start()]  # the comment stands behind it
        else:
            declaration = blanked[match.start() :]
        yield line, _declared(declaration)


def _declared(text):
    """Returns the name of the function that the text begins with, or None."""
    text = re.sub(r"\btemplate\s*<[^;{}]*?>\s*(?=[\w\[])", "", _ATTRIBUTE.sub("", text))
    end = re.search(r"[;{]|$", text)
    head = text[: end.start() if text[end.start() : end.start() + 1] else len(text)]
    opening = head.find("(")
    match = _NAME.search(head[: opening + 1]) if opening >= 0 else None
    return re.sub(r"\s+", "", match.group(1)) if match else None

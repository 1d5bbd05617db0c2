"""Rules for every file as text: its name, its length, its white space, and forbidden words."""

import re

from source_tree import Violation

MAX_FILE_LINES = 600
# One header is the whole interface of C.
MORE_LINES = {"include/stria.h": 700}

# Names that tools or habit prescribe; all others are snake_case with extensions.
PRESCRIBED_NAMES = {
    ".clang-format",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "CMakeLists.txt",
    "CMakePresets.json",
}
# Debian's rules are a Makefile.
MAKEFILES = {"Makefile", "rules"}
# Folders whose files have the names of packages.
PRESCRIBED_FOLDERS = ("packaging/debian/", "packaging/easybuild/")
_SNAKE_CASE = re.compile(r"\.?[a-z0-9_]+(\.[a-z0-9_]+)*")
# Written in two halves, so that this file passes its own check.
_UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
_HOME_PATH = re.compile(r"(?<![\w./$}*~-])/(?:" + "|".join(["ro" + "ot", "ho" + "me", "wo" + "rk"]) + r")(?![\w.-])")
# The text of a Status, an Error or an Outcome is looked at, or compared.
_MESSAGE_LOOKED_AT = re.compile(
    r"\b(?:message|what)\(\)\)?\s*(?:\.\s*(?:r?find\w*|starts_with|ends_with|contains|substr|compare)\(|[!=]=)"
    r"|[!=]=\s*[\w.>()*-]*(?<!\w)(?:message|what)\(\)"
    r"|\bstr(?:n?cmp|str)\([^;]*\b(?:message|what)\(\)"
)
_TEMPORARY_PATH = re.compile(r"(?<![\w./$}*~-])/" + r"tmp(?![\w.-])")


def check(files):
    violations = []
    for file in files:
        if file.is_corpus:
            continue
        violations += _name(file)
        if file.text is None:
            continue
        violations += _white_space(file)
        violations += _forbidden_words(file)
        if file.is_code:
            violations += _length(file)
        if file.suffix in {".hpp", ".h"}:
            violations += _header(file)
        if file.is_cpp and not file.is_test:
            violations += _decisions_by_words(file)
    return violations


def _name(file):
    if file.path.startswith(PRESCRIBED_FOLDERS):
        return
    for part in file.path.split("/"):
        if part not in PRESCRIBED_NAMES and not _SNAKE_CASE.fullmatch(part):
            yield Violation(file.path, 0, f"'{part}' is not snake_case")


def _length(file):
    count = len(file.text.splitlines())
    allowed = MORE_LINES.get(str(file.path), MAX_FILE_LINES)
    if count > allowed:
        yield Violation(file.path, 0, f"has {count} lines; {allowed} are allowed: split it")


def _white_space(file):
    for number, line in file.lines():
        if line != line.rstrip():
            yield Violation(file.path, number, "white space at the end of the line")
        if "\t" in line and file.name not in MAKEFILES:
            yield Violation(file.path, number, "a tab")
        if "\r" in line:
            yield Violation(file.path, number, "a carriage return")
    if file.text and not file.text.endswith("\n"):
        yield Violation(file.path, 0, "the last line does not end")


def _forbidden_words(file):
    for number, line in file.lines():
        match = _UNFINISHED.search(line)
        if match:
            yield Violation(file.path, number, f"{match.group()}: finish it, or open an issue")
        match = _HOME_PATH.search(line)
        if match:
            yield Violation(file.path, number, f"{match.group()} is a place on one machine")
        match = _TEMPORARY_PATH.search(line)
        if match and not file.is_test:
            yield Violation(file.path, number, f"{match.group()}: take the directory from the user or from TMPDIR")


def _decisions_by_words(file):
    for number, line in file.lines():
        if _MESSAGE_LOOKED_AT.search(line):
            yield Violation(file.path, number, "decides by the words of a message: an error has a code() and a reason()")


def _header(file):
    lines = file.text.splitlines()
    if not lines or not lines[0].startswith(("//", "/*")):
        yield Violation(file.path, 1, "a header begins with a comment that says what it is for")
    # A header that may be read a second time, for another part of it, has guards of its own.
    is_guarded = any(line.startswith("#ifndef ") and f"#define {line[8:]}" in lines for line in lines)
    if "#pragma once" not in lines and not is_guarded:
        yield Violation(file.path, 0, "a header says #pragma once")

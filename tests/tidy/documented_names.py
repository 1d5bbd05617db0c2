"""What users type or read is documented: options of the programs in docs/command_line.md, hints of
the library in docs/hints.md, rules of the report in docs/trace_report.md. In turn, what a document
names is there: targets of make, parts of `make check-all`, variables and hints."""

import re

from source_tree import Violation

OPTIONS_DOCUMENT = "docs/command_line.md"
OPTION_FOLDERS = ("lab/bench/", "lab/command/", "lab/convection/", "lab/flash/", "lab/shared/", "tools/")
HINTS_DOCUMENT = "docs/hints.md"
HINTS_SOURCE = "src/access/request/hints.cpp"

RULES_DOCUMENT = "docs/trace_report.md"
RULES_SOURCE = re.compile(r"tools/report/rules/\w+_rules\.cpp")

# CLI11: add_option("-o,--output", …), add_flag("--sync,!--no-sync", …)
_OPTION_CALL = re.compile(r'add_(?:option|flag)\w*\(\s*"([^"]*)"')
_OPTION = re.compile(r"--[a-z0-9][a-z0-9-]*")
# The table of setters: {"cb_nodes", set_aggregators},
_HINT = re.compile(r'\{"([a-z]\w*)",')
# The table of rules: {"packing", packing},
_RULE = re.compile(r'\{"([a-z]\w*)", [a-z]\w*\}')
_RULE_ROW = re.compile(r"^\| (\w+_?\w*) \| (?!finds something)", re.MULTILINE)
# A command stands in backticks, or at the beginning of a line of a block of commands.
_MAKE = re.compile(r"(?:(?<=`)make ([a-z][a-z0-9-]*[a-z0-9])(?![\w…-])|^make (\S+))", re.MULTILINE)
_TARGETS = re.compile(r"^([a-z][a-z0-9-]*):", re.MULTILINE)
_TARGETS_OF_OTHERS = {"libs", "ptests", "link"}  # Other projects have them; the last is a request.
_COMMANDS = re.compile(r"^```sh\n(.*?)^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"PART=\"?([a-z0-9_]+)")
_PARTS = re.compile(r"^parts=\((.*?)\)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"\b(?:STRIA_[A-Z0-9_]*[A-Z0-9]|stria_[a-z0-9_]*[a-z0-9])\b")
_HINT_ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def check(files):
    return _options(files) + _hints(files) + _rules(files) + _invented(files)


def _options(files):
    documented = set(_OPTION.findall(_text(files, OPTIONS_DOCUMENT)))
    violations = []
    for file in files:
        if not file.is_cpp or file.is_test or not file.path.startswith(OPTION_FOLDERS):
            continue
        for match in _OPTION_CALL.finditer(file.text):
            for option in sorted(set(_OPTION.findall(match.group(1))) - documented):
                line = file.text.count("\n", 0, match.start()) + 1
                violations.append(Violation(file.path, line, f"{option} is not described in {OPTIONS_DOCUMENT}"))
    return violations


def _hints(files):
    known = set(_HINT.findall(_text(files, HINTS_SOURCE)))
    documented = set(_HINT_ROW.findall(_text(files, HINTS_DOCUMENT)))
    missing = [
        Violation(HINTS_SOURCE, 0, f"the hint {name} is not described in {HINTS_DOCUMENT}") for name in known - documented
    ]
    invented = [Violation(HINTS_DOCUMENT, 0, f"no hint is called {name}") for name in documented - known]
    return missing + invented


def _rules(files):
    documented = set(_RULE_ROW.findall(_text(files, RULES_DOCUMENT)))
    known = {name: file.path for file in files if RULES_SOURCE.fullmatch(file.path) for name in _RULE.findall(file.text)}
    missing = [
        Violation(path, 0, f"the rule {name} is not described in {RULES_DOCUMENT}")
        for name, path in known.items()
        if name not in documented
    ]
    invented = [Violation(RULES_DOCUMENT, 0, f"no rule is called {name}") for name in documented - known.keys()]
    return missing + invented


def _invented(files):
    """What a document names and nothing else knows."""
    targets = set(_TARGETS.findall(_text(files, "Makefile"))) | _TARGETS_OF_OTHERS
    parts = set(" ".join(_PARTS.findall(_text(files, "scripts/check_all.sh"))).split())
    known = set()
    for file in files:
        if file.suffix != ".md" and file.text is not None and not file.is_corpus:
            known.update(_NAME.findall(file.text))
    violations = []
    for file in files:
        if file.suffix != ".md" or file.text is None:
            continue
        for begin, text in _commands(file.text):
            for pattern, names, what in ((_MAKE, targets, "target of make"), (_PART, parts, "part of make check-all")):
                violations += _unknown(file, begin, pattern.finditer(text), names, what)
        violations += _unknown(file, 0, _NAME.finditer(file.text), known, "variable or hint")
    return violations


def _commands(text):
    """Where each piece of code begins, and the piece."""
    for match in _COMMANDS.finditer(text):
        yield match.start(), match.group(0)


def _unknown(file, begin, matches, names, what):
    for match in matches:
        name = match.group(match.lastindex or 0)
        if name not in names:
            line = file.text.count("\n", 0, begin + match.start()) + 1
            yield Violation(file.path, line, f"no {what} is called {name}")


def _text(files, path):
    return next((file.text for file in files if file.path == path), "")

"""What users type or read is documented: options of the programs in docs/command_line.md, hints of
the library in docs/hints.md, rules of the report in docs/trace_report.md."""

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
_HINT_ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def check(files):
    return _options(files) + _hints(files) + _rules(files)


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


def _text(files, path):
    return next((file.text for file in files if file.path == path), "")

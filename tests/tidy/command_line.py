"""Every long option of the programs is described in docs/command_line.md."""

import re

from source_tree import Violation

DOCUMENT = "docs/command_line.md"
FOLDERS = ("apps/", "tools/")

# CLI11: add_option("-o,--output", …), add_flag("--sync,!--no-sync", …)
_OPTION = re.compile(r'add_(?:option|flag)\w*\(\s*"([^"]*)"')


def check(files):
    document = next((file.text for file in files if file.path == DOCUMENT), "")
    documented = set(re.findall(r"--[a-z0-9][a-z0-9-]*", document))
    violations = []
    for file in files:
        if not file.is_cpp or file.is_test or not file.path.startswith(FOLDERS):
            continue
        for match in _OPTION.finditer(file.text):
            line = file.text.count("\n", 0, match.start()) + 1
            for option in sorted(set(re.findall(r"--[a-z0-9][a-z0-9-]*", match.group(1))) - documented):
                violations.append(Violation(file.path, line, f"{option} is not described in {DOCUMENT}"))
    return violations

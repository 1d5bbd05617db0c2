"""Describes what axe-core says of a page: text that is hard to read, things without a name, what a
keyboard doesn't reach."""

import pathlib

import axe_playwright_python

_AXE = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js")


def violations(page):
    """Returns a line for each element of the page that breaks a rule, with the rule."""
    page.add_script_tag(path=_AXE)
    found = page.evaluate("() => axe.run()")
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]

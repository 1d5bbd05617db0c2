"""The reference of the C++ interface: each header's declarations with their comments."""

import re

import c_reference
import cpp_header

_HEADERS = [
    "file", "dataset", "memory", "datatype", "distributed_array", "commit", "element_type", "meaning", "filters", "fill_value",
    "format", "hints", "phases", "paths", "status", "trace",
]  # fmt: skip


def page(include):
    """`include`: the folder that programs see."""
    headers = {path.stem for path in (include / "stria").glob("*.hpp")}
    if headers != set(_HEADERS):
        differing = ", ".join(f"{name}.hpp" for name in sorted(headers ^ set(_HEADERS)))
        raise SystemExit(f"tools/site/cpp_reference.py: _HEADERS and include/stria differ in {differing}")
    text = "# C++: stria/*.hpp\n\nOne section for each header; programs include `stria/file.hpp`.\n\n"
    return text + "".join(_section(name, (include / "stria" / f"{name}.hpp").read_text()) for name in _HEADERS)


def _section(name, source):
    header = cpp_header.parse(source)
    text = f"## stria/{name}.hpp\n\n" + "".join(map(_paragraph, re.split(r"\n\s*\n", header.introduction)))
    text += f"```{{cpp:namespace}} {header.namespace}\n```\n\n"
    return text + "".join(_entry(entry, header.namespace) for entry in header.entries)


def _paragraph(block):
    if not block.startswith("  "):
        return f"{block}\n\n"
    lines = "\n".join(line.removeprefix("  ") for line in block.splitlines())
    return f"```cpp\n{lines}\n```\n\n"


def _entry(entry, namespace):
    if entry.name:
        base = f" : public {entry.base}" if entry.base else ""
        declared = f"{entry.template} {entry.name}{base}".lstrip()
        members = "".join(_members(member) for member in entry.entries)
        return f"### {namespace}::{entry.name}\n\n````{{cpp:class}} {declared}\n{_words(entry)}{members}````\n\n"
    named = re.match(r"(?:struct|enum class|class) (\w+) ", entry.declarations[0])
    return (f"### {namespace}::{named.group(1)}\n\n" if named else "") + _members(entry)


def _members(entry):
    if cpp_header.is_data(entry.declarations[0]):
        declarations = "\n".join(entry.declarations)
        return f"{_words(entry)}```cpp\n{declarations}\n```\n\n"
    return c_reference.described("cpp:function", entry.declarations, _words(entry))


def _words(entry):
    return f"{_escaped(entry.comment)}\n\n" if entry.comment else ""


def _escaped(comment):
    """Turns Doxygen's words into Markdown's."""
    return comment.replace("\\pre ", "Precondition: ")

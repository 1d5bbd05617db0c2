"""The reference of stria.h: its declarations with their comments, section by section."""

import re

import c_header


def page(source):
    header = c_header.parse(source)
    text = "# C: stria.h\n\n" + "".join(map(_paragraph, header.introduction))
    text += "## Types\n\n" + "".join(_type(comment, declaration) for comment, declaration in header.types)
    section = None
    for group in header.groups:
        if group.section != section:
            section = group.section
            text += f"## {section}\n\n" + _words(header.sections.get(section, ""))
        text += _group(group)
    return text


def _paragraph(block):
    return f"```c\n{block}\n```\n\n" if block.startswith("  ") else _words(block)


def _words(comment):
    return f"{comment}\n\n" if comment else ""


def _type(comment, declaration):
    return f"```c\n{declaration}\n```\n\n" + _words(comment)


def _group(group):
    """The calls become entries of the index and of the search."""
    text = "".join(f"```c\n{declaration}\n```\n\n" for declaration in group.declarations if declaration.startswith("typedef"))
    calls = [" ".join(declaration.split()).rstrip(";") for declaration in group.declarations if _is_call(declaration)]
    if not calls:
        return text + _words(group.comment)
    needs = "Needs `mpi.h` before `stria.h`.\n\n" if group.needs_mpi else ""
    return text + "```{c:function} " + "\n".join(calls) + "\n\n" + _words(group.comment) + needs + "```\n\n"


def _is_call(declaration):
    return re.match(r"(?:const )?\w+\*? \*?stria_\w+\(", declaration) is not None

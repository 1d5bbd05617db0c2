"""The reference of stria.h: its declarations with their comments, section by section."""

import pathlib
import re
import sys

# stria.h is read as for the man pages.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "manual"))

import c_header  # noqa: E402


def page(source):
    header = c_header.parse(source)
    text = "# C: stria.h\n\n" + "".join(map(_paragraph, header.introduction))
    text += "## Types\n\n```c\n" + "".join(_type(comment, declaration) for comment, declaration in header.types) + "```\n\n"
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
    return (f"/* {comment} */\n" if comment else "") + declaration + "\n"


def _group(group):
    """The calls become entries of the index and of the search."""
    text = "".join(f"```c\n{declaration}\n```\n\n" for declaration in group.declarations if declaration.startswith("typedef"))
    calls = [_signature(declaration) for declaration in group.declarations if _is_call(declaration)]
    if not calls:
        return text + _words(group.comment)
    needs = "Needs `mpi.h` before `stria.h`.\n\n" if group.needs_mpi else ""
    return text + described("c:function", calls, _words(group.comment) + needs)


def described(directive, declarations, words):
    """Declarations, one beneath the other, with their words beneath the last."""
    text = "".join(f"```{{{directive}}} {declaration}\n```\n" for declaration in declarations)
    return text.removesuffix("```\n") + f"\n{words}```\n\n"


def _is_call(declaration):
    return re.match(r"(?:const )?\w+\*? \*?stria_\w+\(", declaration) is not None


def _signature(declaration):
    """Returns the declaration on one line, without what is said behind it."""
    return " ".join(declaration.partition(";")[0].split())

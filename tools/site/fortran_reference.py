"""The reference of the module stria for Fortran: its types and calls with the comments of
stria.f90 and of the files that it includes."""

import re

_COMMENT = re.compile(r"^ *! ?(.*)$")
_TYPE = re.compile(r"^  type, public :: (\w+)")
_BINDING = re.compile(r"^ *(generic|procedure) :: (\w+) =>")
# A call's comment begins with its form: "put(start, array [, ierr]): what it does".
_FORM = re.compile(r"^(\w+)(\([^:]*\)):? ?(.*)$", re.DOTALL)


# A call of the module itself, with the comment above it.
_CALL = re.compile(r"((?:^  !.*\n)+)  [\w ()]*?\b(?:subroutine|function) (stria_\w+)(\([^)]*\))", re.MULTILINE)


def page(source, included=()):
    """`included`: the texts of the files with the procedures."""
    head, _, body = source.partition("\nmodule stria\n")
    text = "# Fortran: the module stria\n\n[Fortran](../fortran.md) is the introduction.\n\n" + _head(head)
    text += "## Constants\n\n" + _constants(body)
    for name, comment, members in _types(body):
        text += f"## {name}\n\n{comment}\n\n" + "".join(_member(name, *member) for member in members)
    return text + "## Calls of the module\n\n" + _generic_calls(body) + "".join(map(_calls, included))


def _generic_calls(body):
    """Returns those of several kinds of arguments: their words stand above their interfaces."""
    words = re.findall(r"((?:^  !.*\n)+)  interface stria_", body, re.MULTILINE)
    return "".join(_uncommented(one) + "\n\n" for one in words)


def _calls(text):
    return "".join(f"### {name}\n\n```fortran\n{name}{arguments}\n```\n\n{_uncommented(comment)}\n\n"
                   for comment, name, arguments in _CALL.findall(text))  # fmt: skip


def _uncommented(comment):
    return "\n".join(_COMMENT.match(line).group(1) for line in comment.splitlines())


def _head(source):
    """Yields its paragraphs; those that are indented are code."""
    lines = [_COMMENT.match(line).group(1) for line in source.splitlines()]
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "".join(f"```fortran\n{_dedent(block)}\n```\n\n" if block.startswith("  ") else f"{block}\n\n" for block in blocks)


def _dedent(block):
    return "\n".join(line.removeprefix("  ") for line in block.splitlines())


def _constants(body):
    found = re.findall(r"integer, parameter, public :: ((?:.*&\n)*.*)\n", body)
    names = [re.findall(r"\bstria_\w+(?= =)", text) for text in found]
    return "".join("- " + ", ".join(f"`{name}`" for name in group) + "\n" for group in names) + "\n"


def _types(body):
    """Yields (name, comment, members); a member is (name, comment)."""
    comment, name, members = [], None, []
    for line in body.splitlines():
        words, begin, binding = _COMMENT.match(line), _TYPE.match(line), _BINDING.match(line)
        if words:
            comment.append(words.group(1))
        elif begin:
            name, about, members, comment = begin.group(1), "\n".join(comment), [], []
        elif name and line.strip() == "end type":
            yield name, about, members
            name, comment = None, []
        elif name and binding:
            if binding.group(2) not in (member for member, _ in members):
                members.append((binding.group(2), _about(binding.group(2), comment)))
        elif not line.strip().startswith(("procedure, private", "#")):
            comment = []


def _about(name, comment):
    """Returns the part of the comment that speaks of `name`: several calls may share one."""
    parts = re.split(r"\n(?=\w+\([^\n]*\):)", "\n".join(comment))
    return next((part for part in parts if part.startswith(name + "(")), "")


def _member(owner, name, comment):
    form = _FORM.match(comment)
    call = name + (form.group(2) if form else "(…)")
    words = form.group(3) if form else ""
    first, _, rest = words.partition(" ")
    arguments = re.findall(r"\w+", form.group(2)) if form else []
    words = f"`{first}` {rest}" if first in arguments else words[:1].upper() + words[1:]
    return f"### {owner}%{name}\n\n```fortran\n{call}\n```\n\n{words}\n\n"

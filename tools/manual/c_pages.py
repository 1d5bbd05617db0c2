"""Man pages for the calls of stria.h, out of its comments: a page for those that share a comment,
and a short page that leads there for each other name."""

import re

import roff

_OVERVIEW = "stria.h"
_MAX_WHAT = 90
_CLAUSE = re.compile(r"[,;] |(?<![,;])(?<! so) (?=that |which |where |whose |in each |for a )")


def pages(header, release):
    """Yields (file name, text)."""
    yield f"{_OVERVIEW}.3", _overview(header, release)
    for group in header.groups:
        if group.functions:
            first, *others = group.functions
            yield f"{first}.3", _page(header, group, release)
            for name in others:
                yield f"{name}.3", f".so man3/{first}.3\n"


def _page(header, group, release):
    words = " ".join(part for part in (group.comment, header.sections.get(group.section, "")) if part)
    text = roff.header(group.functions[0], 3, release)
    text += roff.heading("NAME") + f"{', '.join(map(roff.literal, group.functions))} \\- {roff.text(_what(group))}\n"
    text += roff.heading("SYNOPSIS")
    include = ["#include <mpi.h>"] if group.needs_mpi else []
    text += roff.verbatim([*include, "#include <stria.h>"])
    own = [line for declaration in group.declarations for line in declaration.splitlines()]
    text += roff.verbatim(own)
    text += roff.heading("DESCRIPTION")
    text += roff.paragraph(roff.marked(words)) if words else f"See the section on {group.section.lower()} of stria.h(3).\n"
    for struct in _structs(header, group):
        text += roff.verbatim(struct.declarations[0].splitlines())
        text += roff.paragraph(roff.marked(struct.comment)) if struct.comment else ""
    if _returns_codes(group):
        text += roff.heading("ERRORS")
        text += roff.marked("`stria.h`(3) lists the codes that a call returns, and says how to learn more of an error.") + "\n"
    near = [other for other in header.groups if other.section == group.section and other is not group and other.functions]
    return text + roff.see_also([(_OVERVIEW, 3), *((other.functions[0], 3) for other in near)])


def _returns_codes(group):
    """A comment that says what a call returns means another number than a code."""
    return not group.comment.startswith("Returns ") and any(text.startswith("int stria_") for text in group.declarations)


def _what(group):
    """Returns what whatis and apropos show: the comment's first sentence, or as many of its clauses
    as fit, or the section's title."""
    sentence = re.split(r"(?<=[a-z0-9)`\"])[.:;](?:\s|$)", " ".join(group.comment.split()))[0].replace("`", "")
    if len(sentence) > _MAX_WHAT:
        ends = [match.start() for match in _CLAUSE.finditer(sentence) if match.start() <= _MAX_WHAT]
        whole = [sentence[:end] for end in ends if _is_balanced(sentence[:end])]
        sentence = whole[-1] if whole else ""
    sentence = sentence or group.section
    return sentence if re.match(r"[A-Z]{2}", sentence) else sentence[:1].lower() + sentence[1:]


def _is_balanced(text):
    return text.count("(") == text.count(")") and text.count('"') % 2 == 0


def _structs(header, group):
    """Structs that the declarations take and that stand elsewhere."""
    code = " ".join(group.declarations)
    for name in dict.fromkeys(re.findall(r"\bstria_\w+", code)):
        other = header.struct(name)
        if other is not None and other is not group:
            yield other


def _overview(header, release):
    text = roff.header(_OVERVIEW, 3, release)
    what, _, rest = header.introduction[0].partition(": ")
    text += roff.heading("NAME") + f"{_OVERVIEW} \\- {what[:1].lower() + what[1:]}: {' '.join(rest.split())}\n".replace(
        "..", "."
    )
    text += roff.heading("SYNOPSIS") + roff.verbatim(["#include <stria.h>", "", "cc program.c -lstria_c"])
    text += roff.heading("DESCRIPTION")
    for paragraph in header.introduction[1:]:
        is_code = paragraph.startswith("  ")
        text += roff.verbatim(paragraph.splitlines()) if is_code else roff.paragraph(roff.marked(paragraph))
    text += roff.heading("TYPES")
    for comment, declaration in header.types:
        text += roff.paragraph(roff.marked(comment)) if comment else ""
        text += roff.verbatim(declaration.splitlines())
    text += roff.heading("CALLS")
    for section in dict.fromkeys(group.section for group in header.groups):
        names = [name for group in header.groups if group.section == section for name in group.functions]
        text += roff.item(roff.text(section), ", ".join(f"{roff.bold(name)}(3)" for name in names))
    return text + roff.see_also([("stria", 1)])

"""A man page for `stria` and each of its commands: options out of the program's own tables, prose
out of docs/command_line.md."""

import roff


def pages(root, document, release):
    """Yields (file name, text)."""
    for command in root.walk():
        parent = _find(root, command.path[:-1])
        yield f"{command.page}.1", _page(command, parent, document, release)


def _find(root, path):
    return next((command for command in root.walk() if command.path == path), None)


def _page(command, parent, document, release):
    text = roff.header(command.page, 1, release)
    text += roff.heading("NAME") + f"{roff.literal(command.page)} \\- {roff.text(command.help)}\n"
    text += roff.heading("SYNOPSIS") + _synopsis(command)
    prose = document.about(command.title)
    if parent is None:
        prose = document.introduction() + prose
    text += roff.heading("DESCRIPTION")
    text += "".join(map(_block, prose)) if prose else roff.text(_sentence(command.help)) + "\n"
    if command.arguments:
        text += roff.heading("ARGUMENTS") + "".join(map(_argument, command.arguments))
    if command.commands:
        text += roff.heading("COMMANDS")
        text += "".join(roff.item(f"{roff.bold(c.page)}(1)", roff.text(_sentence(c.help))) for c in command.commands)
    text += roff.heading("OPTIONS") + "".join(map(_option, command.options))
    if parent is not None:
        text += roff.heading("EXIT STATUS") + roff.marked(_first_sentence(document.introduction()[0])) + "\n"
    return text + _see_also(command, parent)


def _synopsis(command):
    words = [roff.bold(command.title)]
    if command.commands:
        words.append("\\fICOMMAND\\fR ...")
    for argument in command.arguments:
        name = f"\\fI{roff.literal(argument.place)}\\fR" + (" ..." if argument.several else "")
        words.append(name if argument.required else f"[{name}]")
    return " ".join([*words, "[\\fIOPTIONS\\fR]"]) + "\n"


def _block(block):
    if block.startswith("- "):
        items = block[2:].replace("\n  ", " ").split("\n- ")
        return "".join(f".IP \\(bu 2\n{roff.marked(item)}\n" for item in items)
    return roff.paragraph(roff.marked(block))


def _argument(argument):
    return roff.item(f"\\fI{roff.literal(argument.place)}\\fR", _meaning(argument))


def _option(option):
    value = f" \\fI{option.value}\\fR" if option.takes_value else ""
    return roff.item(", ".join(roff.bold(name) + value for name in option.names), _meaning(option))


def _meaning(option):
    parts = [_sentence(option.help or option.place)]
    if option.choices:
        parts.append("One of " + ", ".join(f"`{choice}`" for choice in option.choices) + ".")
    if option.bounds:
        parts.append(f"From {option.bounds}.")
    if option.default:
        parts.append(f"Default: `{option.default}`.")
    if option.required and option.names:
        parts.append("It must be given.")
    return roff.marked(" ".join(parts))


def _sentence(words):
    """Begins with a capital, unless its first word is something to type."""
    first = words.split(" ")[0].rstrip(",:;")
    begin = words[:1].upper() if first.isalpha() else words[:1]
    return begin + words[1:] + ("" if words.endswith(".") else ".")


def _first_sentence(paragraph):
    return " ".join(paragraph.split()).split(". ")[0] + "."


def _see_also(command, parent):
    near = [parent] if parent else []
    near += [other for other in (parent.commands if parent else command.commands) if other is not command]
    return roff.see_also([*((other.page, 1) for other in near), ("stria.h", 3)])

"""Describes what docs/command_line.md says about a command beyond its table of options."""

import re

_HEADING = re.compile(r"^## (stria .*)$")


class Document:
    def __init__(self, markdown):
        self._intro = []
        self._sections = []  # (commands, blocks)
        _, *parts = re.split(r"(?m)^(?=#{1,2} )", markdown)
        for part in parts:
            title, _, body = part.partition("\n")
            blocks = _blocks(body)
            match = _HEADING.match(title)
            if match:
                self._sections.append((_commands(match.group(1)), blocks))
            else:
                self._intro += blocks

    def introduction(self):
        return [block for block in self._intro if not block.startswith("|")]

    def about(self, title):
        """Returns the paragraphs on the command, in Markdown."""
        found = []
        for commands, blocks in self._sections:
            for block in blocks:
                if block.startswith("|"):
                    found += _rows_on(title, block)
                elif _begins_with(block):
                    found += [_own_sentence(block)] if _begins_with(block) == title else []
                elif title in commands:
                    found.append(block)
        return [paragraph for paragraph in found if not paragraph.endswith(" take")]


def _blocks(body):
    return [block.strip() for block in re.split(r"\n\s*\n", body) if block.strip()]


def _commands(heading):
    """'stria ls, cp' names two; words in capitals stand for something."""
    words = re.sub(r"[\[\]]", "", heading).split()
    first, rest = [], []
    for word in words[1:]:
        if not word.isupper():
            (rest if first and first[-1].endswith(",") else first).append(word)
    if rest:
        return ["stria " + word.rstrip(",") for word in first[-1:] + rest]
    return ["stria " + " ".join(first)]


def _begins_with(block):
    """Returns the command that a paragraph begins with, or ""."""
    match = re.match(r"`(stria [^`]*)`", block)
    return _commands(match.group(1))[0] if match else ""


def _own_sentence(block):
    """Turns "`stria trace stats FILE`: how often …" into "How often …"."""
    words = re.sub(r"^`[^`]*`:?\s*", "", block)
    return words[:1].upper() + words[1:]


def _rows_on(title, table):
    for row in table.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        if cells and _begins_with(cells[0]) == title:
            yield cells[-1][:1].upper() + cells[-1][1:] + "."

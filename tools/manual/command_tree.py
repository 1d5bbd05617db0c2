"""The commands of `stria --describe`, as the pages and the completion need them."""

import dataclasses
import re

_CHOICES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r":(-?\d+ to -?\d+)")
_AFTER_EQUALS = re.compile(r"(?<!\w)=([a-z]\w*:?)")


@dataclasses.dataclass
class Option:
    names: list  # "-o", "--output"; none: an argument that is known by its place
    place: str
    help: str
    value: str  # what is shown for its value; "": a flag
    choices: list
    bounds: str  # "1 to 64", or ""
    default: str
    required: bool
    several: bool
    after_equals: list  # a flag's value in the same word: "--name=value"

    @property
    def takes_value(self):
        return bool(self.value)

    @property
    def is_number(self):
        return self.value in ("N", "NUMBER")


@dataclasses.dataclass
class Command:
    path: tuple  # ("stria", "flash", "io")
    help: str
    options: list
    arguments: list
    commands: list

    @property
    def title(self):
        return " ".join(self.path)

    @property
    def page(self):
        return "-".join(self.path)

    def walk(self):
        """Yields this command and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def from_json(described, above=()):
    path = (*above, described["name"])
    options = [_option(entry) for entry in described["options"]]
    return Command(
        path,
        described["help"],
        [option for option in options if option.names],
        [option for option in options if option.place],
        [from_json(command, path) for command in described["commands"]],
    )


def _option(entry):
    kind = entry["type"]
    choices = _CHOICES.search(kind)
    bounds = _RANGE.search(kind)
    return Option(
        entry["names"],
        entry["positional"],
        entry["help"],
        _value(kind, choices),
        choices.group(1).split(",") if choices else [],
        bounds.group(1) if bounds else "",
        entry["default"].strip("[]").replace(",", " ") if entry["values"] > 1 else entry["default"],
        entry["required"],
        entry["several"],
        [] if kind else _AFTER_EQUALS.findall(entry["help"]),
    )


def _value(kind, choices):
    """Returns what stands for an option's value: "" of flags."""
    if not kind:
        return ""
    if choices:
        return "WORD"
    shown = {"INT": "N", "UINT": "N", "FLOAT": "NUMBER"}
    parts = [shown.get(part, "TEXT") for part in re.sub(r":.*", "", kind).strip("[]").split(",")]
    return " ".join(parts)

"""Describes what an experiment leaves for the page."""

import dataclasses
import math

# Ratios whose quotient is at most this count as the same; as no difference what is so near to 1.
SAME_RATIO = 1.5
NO_DIFFERENCE = 1.05

SAME, ANOTHER = "the same", "another"
AS_PAPER, MORE, LESS = "as in the paper", "the same way, more", "the same way, less"
NONE, OTHER = "no difference here", "the other way round"


def plain(value, digits=2):
    """Returns a number rounded to so many digits that count, and never as a power of ten: 550,
    0.25."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:,.12f}".rstrip("0")


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure that the paper prints, and ours. None: the paper prints none."""

    what: str
    paper: float | None
    ours: float
    exact: bool = False  # a count that must be the same
    unit: str = "ratio"  # "ratio" around 1, "%", or "count", as all that are exact

    def scale(self):
        return "count" if self.exact else self.unit

    def agrees(self):
        """Tells whether our figure is the paper's; None where they need not be equal."""
        return self.ours == self.paper if self.exact else None

    def verdict(self):
        """Returns the verdict in words; empty where there is nothing to compare."""
        if self.exact:
            return SAME if self.agrees() else ANOTHER
        if not self.paper or self.ours <= 0:
            return ""
        if abs(math.log(self.ours / self.paper)) <= math.log(SAME_RATIO):
            return AS_PAPER
        if self.unit != "ratio":
            return ""
        ours, paper = math.log(self.ours), math.log(self.paper)
        if abs(ours) <= math.log(NO_DIFFERENCE):
            return NONE
        if ours * paper < 0:
            return OTHER
        return MORE if abs(ours) > abs(paper) else LESS


def tally(rows):
    """Returns how many rows have each verdict, in a sentence; empty where none can be compared."""
    counts = {}
    for verdict in filter(None, (row.verdict() for row in rows)):
        counts[verdict] = counts.get(verdict, 0) + 1
    parts = []
    exact = counts.get(SAME, 0) + counts.get(ANOTHER, 0)
    if exact:
        parts.append(f"{counts.get(SAME, 0)} of {exact} counts are the paper's")
    parts += [f"{counts[name]} {name}" for name in (AS_PAPER, MORE, LESS, NONE, OTHER) if name in counts]
    return "; ".join(parts)


def compared(ours, paper, what, where="here"):
    """Returns a sentence on how far a ratio of ours is from the paper's. `where`: how ours came
    about."""
    if ours >= paper:
        return f"{what}: {plain(ours)} {where}, {plain(paper)} in the paper."
    direction = "as in the paper, but less" if ours > 1 else "the other way round than in the paper"
    return f"{what}: {direction} ({plain(ours)} against {plain(paper)})."


@dataclasses.dataclass(frozen=True)
class Figure:
    """Times as lines over an axis, or as bars where the axis has no name. `series`: {name: [(x,
    seconds)]}; bars: {name: [(label, seconds)]}. They are drawn as multiples of the shortest.
    `paper` has what the paper prints of some of them, in the same form and in any unit of time;
    then the shortest of these is 1 on both sides. With `measure`, a quantity and its unit, values
    of both are drawn as they are."""

    title: str
    axis: str
    series: dict
    paper: dict = dataclasses.field(default_factory=dict)
    measure: str = ""


@dataclasses.dataclass
class Outcome:
    rows: list
    figures: list
    remarks: list  # what agrees, what doesn't, and why
    commands: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Failure:
    """What an experiment leaves for the page that came to no end: why, and what its program
    printed."""

    why: str
    output: str = ""
    commands: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One experiment of a paper: what it asked, how it is scaled here, and the function (runs,
    places, quick) that measures it."""

    key: str
    paper: str
    title: str
    asked: str
    scaled: str
    measure: object

    @property
    def is_simulated(self):
        return self.key.endswith("-sim")

    @property
    def ours(self):
        """What our figures are called beside the paper's."""
        return "simulated" if self.is_simulated else "here"

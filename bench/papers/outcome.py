"""What an experiment leaves for the page."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure that the paper prints, and ours. None: the paper prints none."""

    what: str
    paper: float | None
    ours: float
    exact: bool = False  # a count that must be the same

    def agrees(self):
        """Whether our figure is the paper's; None where they need not be equal."""
        return self.ours == self.paper if self.exact else None


def compared(ours, paper, what):
    """A sentence on how far a ratio of ours is from the paper's."""
    if ours >= paper:
        return f"{what}: {ours:.2g} here, {paper:.2g} in the paper."
    direction = "as in the paper, but less" if ours > 1 else "the other way round than in the paper"
    return f"{what}: {direction} ({ours:.2g} against {paper:.2g})."


@dataclasses.dataclass(frozen=True)
class Figure:
    """Times as lines over an axis, or as bars where the axis has no name. `series`: {name: [(x,
    seconds)]}; bars: {name: [(label, seconds)]}. They are drawn as multiples of the shortest."""

    title: str
    axis: str
    series: dict


@dataclasses.dataclass
class Outcome:
    rows: list
    figures: list
    remarks: list  # what agrees, what doesn't, and why
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

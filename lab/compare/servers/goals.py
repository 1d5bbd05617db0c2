"""The goals: turns the record of a run into lines with figure and goal."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A figure and its goal: at least, or with `at_most` at most."""

    what: str
    value: float
    goal: float
    at_most: bool = False

    def met(self):
        return self.value <= self.goal if self.at_most else self.value >= self.goal

    def line(self):
        sign = "at most" if self.at_most else "at least"
        return f"{self.value:9.3g}  {sign:>8} {self.goal:<7g}{'met' if self.met() else 'MISSED':8}{self.what}"


def table(verdicts):
    """Returns a line for each, below a head."""
    return [f"{'figure':>9}  {'goal':>8}{'':8}{'':8}what", *(verdict.line() for verdict in verdicts)]


def ratios_to_best(times):
    """Turns {method: [seconds a cycle]} into {method: median over the cycles of its time as a
    multiple of the best method's in that cycle}. The best method is the one that is nearest to each
    cycle's quickest; the quickest itself would be the luckiest of several that do the same."""
    cycles = min(len(values) for values in times.values())
    quickest = [min(values[i] for values in times.values()) for i in range(cycles)]

    def ratio(name, to):
        return statistics.median(times[name][i] / to[i] for i in range(cycles))

    best = min(times, key=lambda name: ratio(name, quickest))
    return {name: ratio(name, times[best]) for name in times}


def of_experiments(points):
    """Verdicts on the points of the patterns, in the direction that the experiment is about: the
    hybrid of independent calls and the choice for collective calls beside the best, lists beside
    one request per piece, FLASH I/O."""
    verdicts = []
    for point in points:
        for quantity in dict(point["figures"]):
            times = point["times"][quantity]
            if not times:
                continue
            ratios = ratios_to_best(times)
            if point["pattern"] == "cyclic_1":
                if quantity == "write" and {"list", "multiple"} <= set(ratios):
                    ratio = ratios["multiple"] / ratios["list"]
                    verdicts.append(Verdict(f"{point['title']}, {point['size']} accesses: list against multiple", ratio, 100))
                continue
            for name in ("hybrid", "automatic"):
                if name in ratios:
                    verdicts.append(Verdict(f"{point['title']}, {quantity}: {name} to the best", ratios[name], 1.1, True))
            others = [ratios[name] for name in ("datatype", "two-phase") if name in ratios]
            if point["pattern"] == "flash" and quantity == "write" and others and "sieving" in ratios:
                ratio = ratios["sieving"] / min(others)
                verdicts.append(Verdict(f"{point['title']}: datatype or two-phase against sieving", ratio, 1))
    return verdicts


# Millions of pieces per second, by bytes per piece.
LIST_GOALS = {8: 15, 64: 3, 512: 0.8, 4096: 0.15}
TYPE_GOALS = {8: 30}


def median_ratio(above, below):
    """Returns the median over the cycles of above / below."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def of_copy(figures):
    """Gives figures as multiples of the processor time of a plain copy through a socket, client and
    server together."""
    plain = figures["plain_cpu_s"]
    return [
        Verdict(f"contiguous {what}, of a plain socket copy by CPU time", median_ratio(plain, figures[f"{what}_cpu_s"]), goal)
        for what, goal in (("rewrite", 0.7), ("read", 0.8))
    ]


def of_latency(figures):
    return [
        Verdict(f"4 KiB {what}, times a plain echo", median_ratio(figures[f"{what}_s"], figures["echo_s"]), 2, True)
        for what in ("write", "read")
    ]


def of_pieces(piece_bytes, figures):
    verdicts = []
    for what in ("write", "read"):
        by_list = statistics.median(figures[f"list_{what}_s"])
        by_type = statistics.median(figures[f"type_{what}_s"])
        name = f"pieces of {piece_bytes} B, {what}"
        verdicts.append(Verdict(f"{name}, list, million/s", 1e-6 / by_list, LIST_GOALS[piece_bytes]))
        if piece_bytes in TYPE_GOALS:
            verdicts.append(Verdict(f"{name}, datatype, million/s", 1e-6 / by_type, TYPE_GOALS[piece_bytes]))
        verdicts.append(Verdict(f"{name}, datatype against list", by_list / by_type, 1))
    return verdicts


def of_descriptions(figures_by_bytes):
    """Tells whether a datatype is described in as few bytes for many pieces as for few. Each of
    these two is one request to each server."""
    many, few = (figures_by_bytes.get(piece_bytes) for piece_bytes in (64, 4096))
    if many is None or few is None:
        return []
    name = "type_write_description_bytes"
    ratio = median_ratio(many[name], few[name])
    return [Verdict("description by datatype, of 262,144 pieces against 4,096", ratio, 1.1, True)]


def of_small_calls(times, calls):
    """Small calls beside long ones of the same bytes: {quantity: {which: [seconds a cycle]}}."""
    longest = next(iter(calls))
    return [
        Verdict(f"independent {quantity}s {which}, of the speed of those {longest}", median_ratio(of[longest], of[which]), goal)
        for quantity, of in times.items()
        for which, (_, goal) in calls.items()
        if which != longest and of[which]
    ]


def of_mount(seconds):
    """Returns a Python program on a mount, on one that keeps nothing, and on one that nobody else
    changes: {part: {how: [seconds]}}."""
    places = {"usual": "a mount", "alone": "a mount alone"}
    return [
        Verdict(f"h5py on {place}, {part.replace('_', ' ')}, of the speed without memory", median_ratio(of["none"], of[how]), 5)
        for part, of in seconds.items()
        for how, place in places.items()
    ]


def of_first_server(shares):
    """Shares of the fullest server, as multiples of an even one."""
    return [Verdict("files of one server each, in turn: the fullest server's share", shares["in turn"], 1.2, True)]

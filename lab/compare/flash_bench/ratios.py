"""Medians over all rounds, ratios between modes, and their goals.

The programs run in turn, so that both see the same machine. A machine that is slower for a while
would still distort the ratio of two programs. So where both ran the same limit in their own
process, each cycle's ratio compares their distances from that limit instead of their speeds."""

from dataclasses import dataclass
from statistics import median

from .runs import mode_kind

LARGE_BYTES = 100e6
COMMON_LIMIT = "limit-pack"
NOT_PEERS = ("limit", "plot-limit", "read-limit")


@dataclass
class Summary:
    """All measured rounds of one mode of one program, over all cycles."""

    name: str
    program: str
    kind: str
    useful_bytes: int
    cycles: list  # seconds of the rounds, one list a cycle
    verified: object  # True, False or None: not asked
    memory_bytes: object = None  # the most that a rank held above its own arrays; None: not told
    file_bytes: object = None  # the size of the last file; None: not told, or none is written

    def size_ratio(self):
        """Returns the bytes of the values over those of their file; None where these aren't
        known."""
        return self.useful_bytes / self.file_bytes if self.file_bytes else None

    def seconds(self):
        """Returns every measured round."""
        return [value for cycle in self.cycles for value in cycle]

    def mbps(self):
        """Returns median, minimum and maximum in 10^6 useful bytes per second."""
        rates = [self.useful_bytes / 1e6 / value for value in self.seconds()]
        return {"median": median(rates), "min": min(rates), "max": max(rates)}

    def cycle_mbps(self):
        """Returns the median of each cycle."""
        return [self.useful_bytes / 1e6 / median(cycle) for cycle in self.cycles]


def rounds_of(mode, parameters_rounds):
    """The seconds of a mode's rounds; a program that does not list them gives median, minimum
    and maximum only."""
    if mode.get("rounds_seconds"):
        return mode["rounds_seconds"]
    seconds = mode["seconds"]
    return [seconds["min"], seconds["median"], seconds["max"]] if parameters_rounds > 1 else [seconds["median"]]


def mode_bytes(mode):
    """Returns the useful bytes of a mode: as it says, else from its own speed."""
    return mode.get("useful_bytes") or round(mode["mbps"]["median"] * 1e6 * mode["seconds"]["median"])


def summarise(results, rounds):
    """Joins the results of the cycles, a list of (program, JSON), into {(program,
    mode): Summary}."""
    summaries = {}
    for program, result in results:
        seen = set()
        for mode in result["modes"]:
            key = (program, mode["name"])
            if key in seen:  # the same limit, run beside each layout
                continue
            seen.add(key)
            summary = summaries.setdefault(
                key, Summary(mode["name"], program, mode_kind(mode), mode_bytes(mode), [], mode.get("verified"))
            )
            summary.cycles.append(rounds_of(mode, rounds))
            summary.file_bytes = mode.get("file_bytes") or summary.file_bytes
            if mode.get("memory_growth_bytes") is not None:
                summary.memory_bytes = max(summary.memory_bytes or 0, mode["memory_growth_bytes"])
            if mode.get("verified") is False:
                summary.verified = False
    return summaries


def ratio(summaries, ours, theirs):
    """Returns the median over the cycles of ours / theirs, both keys (program, mode)."""
    mine, other = summaries[ours].cycle_mbps(), summaries[theirs].cycle_mbps()
    scale_mine = scale_other = [1.0] * max(len(mine), len(other))
    limits = [(program, COMMON_LIMIT) for program in (ours[0], theirs[0])]
    if ours[0] != theirs[0] and all(limit in summaries for limit in limits):
        scale_mine, scale_other = (summaries[limit].cycle_mbps() for limit in limits)
    cycles = zip(mine, other, scale_mine, scale_other, strict=False)
    return median((a / limit_a) / (b / limit_b) for a, b, limit_a, limit_b in cycles)


def is_peer(summary):
    """Returns true for a peer library, as opposed to a limit or Stria."""
    return summary.program == "peers" and not summary.name.startswith(NOT_PEERS)


def best_peer(summaries, kind):
    """Returns the key of the fastest peer of a kind, an ideal pack allowed if it is timed; None
    when there is none."""
    keys = [key for key, value in summaries.items() if is_peer(value) and value.kind == kind and "prepacked" not in value.name]
    return max(keys, key=lambda key: summaries[key].mbps()["median"], default=None)


def limit_key(summaries, name):
    """The limit of our own process if it ran there, else the peers'."""
    return next((key for key in (("stria", name), ("peers", name)) if key in summaries), None)


def limit_goal(case, useful_bytes):
    """The least share of the packed limit that a checkpoint must reach; None where none is set."""
    if case.sync:
        return 1.3 if case.place == "disk" and useful_bytes >= LARGE_BYTES else None
    if case.ranks > 4:
        return 0.85
    if useful_bytes >= LARGE_BYTES:
        return 0.95
    return 0.85 if useful_bytes >= 15e6 else None


def plot_goal(useful_bytes):
    """Returns the least multiple of the best peer that a plot file must reach."""
    if useful_bytes >= 30e6:
        return 1.5
    return 1.0 if useful_bytes <= 2e6 else None


PEER_GOALS = {
    "hdf5-independent": 1.6,
    "hdf5-collective": 2.0,
    "pnetcdf-nonblocking": 1.6,
    "hdf5-independent-hyperslab": 10.0,
    "hdf5-collective-hyperslab": 10.0,
    "mpiio-collective-derived": 10.0,
}
NETCDF_GOALS = {"pnetcdf-nonblocking": 1.6, "pnetcdf-blocking": 3.0}
NETCDF_OF_HDF5_GOAL = 0.9  # a share of our own HDF5's speed
GZIP_MODE = "hdf5-collective-gzip"
# These are goals for the ways of cases.WAYS: (ours, program, theirs): goal.
WAY_GOALS = {
    ("stria-compressed", "peers", GZIP_MODE): 12.0,
    ("read-stria-compressed", "peers", "read-hdf5-collective-gzip"): 10.0,
    ("stria-incompressible", "stria", "stria-standard"): 0.8,  # at most 1.25 times as long
    ("stria-subfiles", "peers", "limit-fpp+pack"): 0.95,
    # The bytes of the parity are a quarter of the data, and it may take 15 % more time than these.
    ("stria-parity-4+1", "stria", "stria-parts"): 1 / 1.40,
    ("stria-parity-8+2", "stria", "stria-parts"): 1 / 1.40,
}
SIZE_GOAL = 1.0  # compressed files are no larger than those of gzip
COMPRESSED_OF_PLAIN_GOAL = 0.5
COMPRESSED_OF_PLAIN_SYNCED_GOAL = 1.5
BEST_PEER_GOAL = 1.15
READ_GOAL = 0.9
RESTART_GOAL = 0.8  # on another number of ranks
MEMORY_ALLOWED_BYTES = (32 + 16) << 20  # an aggregator's buffers, and a rank's own needs


@dataclass
class Comparison:
    """One ratio and the goal for it, if there is one."""

    ours: str
    against: str
    ratio: float
    goal: object = None

    def met(self):
        """Returns True, False, or None without a goal."""
        return None if self.goal is None else self.ratio >= self.goal


def compare_way(case, summaries):
    """Returns the ratios of a case that measures one more way of Stria."""
    goals = dict(WAY_GOALS)
    plain = COMPRESSED_OF_PLAIN_SYNCED_GOAL if case.sync else COMPRESSED_OF_PLAIN_GOAL
    goals[("stria-compressed", "stria", "stria-standard")] = plain
    comparisons = []
    for (ours, program, theirs), goal in goals.items():
        if ("stria", ours) in summaries and (program, theirs) in summaries:
            measured = ratio(summaries, ("stria", ours), (program, theirs))
            # Where everything is synced, the peers' own time is the device's.
            comparisons.append(Comparison(ours, theirs, measured, None if case.sync and program == "peers" else goal))
    ours, theirs = (summaries.get(key) for key in (("stria", "stria-compressed"), ("peers", GZIP_MODE)))
    if ours and theirs and ours.file_bytes and theirs.file_bytes:
        smaller = theirs.file_bytes / ours.file_bytes
        comparisons.append(Comparison(ours.name, f"the file of {GZIP_MODE}, how small", smaller, SIZE_GOAL))
    return comparisons


def compare(case, summaries):
    """Returns every ratio of ours to the limits and the peers of a case. Empty when ours did not
    run."""
    if case.way:
        return compare_way(case, summaries)
    comparisons = []

    def add(ours, theirs, goal, label=None):
        if theirs is not None and theirs in summaries:
            comparisons.append(Comparison(ours[1], label or theirs[1], ratio(summaries, ours, theirs), goal))

    for ours in [key for key, value in summaries.items() if key[0] == "stria" and "limit" not in value.name]:
        kind, size = summaries[ours].kind, summaries[ours].useful_bytes
        best = best_peer(summaries, kind)
        best_label = f"best peer ({best[1]})" if best else None
        if kind == "checkpoint":
            standard = ours[1] == "stria-standard"  # the goals are for the standard layout
            netcdf = ours[1] == "stria-netcdf"
            goals = PEER_GOALS if standard else NETCDF_GOALS if netcdf and size >= LARGE_BYTES else {}
            add(ours, limit_key(summaries, COMMON_LIMIT), limit_goal(case, size) if standard else None)
            for name in sorted(value.name for value in summaries.values() if is_peer(value) and value.kind == kind):
                add(ours, ("peers", name), None if case.sync else goals.get(name))
            if netcdf:
                add(ours, ("stria", "stria-standard"), NETCDF_OF_HDF5_GOAL if goals and not case.sync else None)
            add(ours, best, BEST_PEER_GOAL if standard and not case.sync else None, best_label)
        elif kind == "plot":
            add(ours, limit_key(summaries, "plot-limit-pack"), None)
            add(ours, best, None if case.sync else plot_goal(size), best_label)
        elif kind == "read":
            add(ours, limit_key(summaries, "read-limit"), READ_GOAL)
            add(ours, best, None, best_label)
        elif kind == "restart":
            add(ours, limit_key(summaries, "restart-limit"), RESTART_GOAL)
        used_bytes = summaries[ours].memory_bytes
        if used_bytes:
            comparisons.append(Comparison(ours[1], "memory: 48 MiB / used", MEMORY_ALLOWED_BYTES / used_bytes, 1.0))
    return comparisons

"""The cases of the MPI-IO benchmark: pattern, size, method, ranks, place, and goals."""

import dataclasses

# Goals of: anything; noncontiguous collectives; derived memory types; coll_perf-like patterns with
# pieces under 4 KiB.
AS_NATIVE, COLLECTIVE, DERIVED, SMALL_PIECES = 0.95, 1.5, 5.0, 2.0


@dataclasses.dataclass(frozen=True)
class Case:
    """One pattern through every implementation. A goal is a ratio to the better native
    implementation."""

    pattern: str
    size: int
    method: str  # collective or independent
    ranks: int
    place: str = "tmpfs"
    hints: tuple = ()
    goal: float = AS_NATIVE
    ompio_goal: float = 0.0  # a second goal, against OMPIO alone

    def title(self):
        hints = "".join(f" {hint}" for hint in self.hints)
        return f"{self.pattern} {self.size} {self.method}{hints}, {self.ranks} ranks, {self.place}"


SIEVING = ("romio_ds_read=enable", "romio_ds_write=enable")
DIRECT = ("romio_ds_read=disable", "romio_ds_write=disable")


def block3d(size, ranks, place="tmpfs"):
    """Returns coll_perf in four ways. Pieces are rows of size / 2 ints on 8 ranks, planes of size^2
    / 2 on 4, all of a half on 2."""
    together = COLLECTIVE if ranks > 2 else AS_NATIVE
    alone = SMALL_PIECES if ranks > 4 else AS_NATIVE
    return [
        Case("block3d", size, "collective", ranks, place, goal=together),
        Case("block3d", size, "independent", ranks, place, goal=alone),
        Case("block3d", size, "independent", ranks, place, SIEVING, alone),
        # One system call per piece in every implementation.
        Case("block3d", size, "independent", ranks, place, DIRECT),
    ]


def other_patterns(ranks, mebibytes, grid, place="tmpfs"):
    cases = [
        Case("noncontig_nc_nc", mebibytes, "collective", ranks, place, goal=COLLECTIVE, ompio_goal=DERIVED),
        Case("noncontig_nc_c", mebibytes, "collective", ranks, place, goal=COLLECTIVE, ompio_goal=DERIVED),
        Case("noncontig_c_nc", mebibytes, "collective", ranks, place, goal=COLLECTIVE),
        Case("tile", 0, "collective", ranks, place, goal=COLLECTIVE if ranks > 2 else AS_NATIVE),
        Case("tile", 0, "independent", ranks, place),
        Case("ior", 32, "independent", ranks, place),
        Case("ior", 32, "collective", ranks, place),
        Case("ior_separate", 32, "independent", ranks, place),
        # Far apart, so that what lies between must not count.
        Case("small", 8, "collective", ranks, place),
    ]
    if round(ranks**0.5) ** 2 == ranks:
        cases.append(Case("btio_full", grid, "collective", ranks, place, goal=COLLECTIVE, ompio_goal=DERIVED))
        cases.append(Case("btio_simple", grid, "independent", ranks, place))
    return cases


def headline():
    """Returns the headline figures, four minutes; on 2 ranks, which are as many as MPICH's may be
    here, of both MPIs."""
    both = [block3d(256, 2)[0], *other_patterns(2, 2, 48)[:4]]
    return [block3d(256, 4)[0], *block3d(256, 8)[1:], *other_patterns(4, 2, 48), *both]


def least():
    """The headline's patterns on 2 ranks at a size of milliseconds."""
    return [*block3d(32, 2)[:2], *(case for case in other_patterns(2, 1, 12) if case.pattern != "small")]


def full():
    """Returns every combination: 2, 4, 8 ranks (9 for BT-IO), memory and disk."""
    cases = []
    for place in ("tmpfs", "disk"):
        for ranks in (2, 4, 8):
            for size in (128, 256, 512):
                cases += block3d(size, ranks, place)
            cases += other_patterns(ranks, 2, 102, place)
        cases += [case for case in other_patterns(9, 2, 102, place) if case.pattern.startswith("btio")]
    return cases


@dataclasses.dataclass(frozen=True)
class FlashCase:
    """FLASH I/O through a library above MPI-IO: a mode of bench_flash_peers."""

    mode: str
    ranks: int
    nxb: int = 16
    blocks: int = 20
    goal: float = 1.3

    def title(self):
        return f"FLASH I/O {self.mode}, {self.ranks} ranks, {self.blocks} blocks of {self.nxb}^3, tmpfs"


FLASH_MODES = ("hdf5-collective", "pnetcdf-blocking", "pnetcdf-nonblocking")


@dataclasses.dataclass(frozen=True)
class PiecesCase:
    """A view of very many pieces of 8 bytes: memory beside the data, and time per piece."""

    pattern: str
    size: int  # pieces of a rank
    method: str
    ranks: int
    goal_ns: int = 0

    def title(self):
        return f"{self.pattern}, {self.size:.0e} pieces of 8 bytes, {self.method}, {self.ranks} ranks"

    def goal_bytes(self):
        """Returns 64 MiB; an irregular view also holds its own list, 16 bytes per piece."""
        return (64 << 20) + (16 * self.size if "irregular" in self.pattern else 0)


def pieces(count, rank_counts):
    """The pieces have gaps, none, or irregular ones; memory is packed or not; one rank has them
    too."""
    regular = [("pieces_gaps", 50), ("pieces_full", 50), ("pieces_gaps_nc", 50), ("pieces_irregular", 0)]
    return [
        PiecesCase(pattern, count, method, ranks, goal_ns)
        for ranks in sorted({1, *rank_counts})
        for pattern, goal_ns in regular
        for method in ("collective", "independent")
    ]

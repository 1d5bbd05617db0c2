"""Describes what is measured: which sizes, rank counts, places and modes make up each profile."""

from dataclasses import dataclass, replace

# Families of modes whose library not every build of the peers has: HDF5 1.14 and ADIOS2.
OPTIONAL_FAMILIES = ("hdf5-multi", "adios2")
# The write modes that every case measures. Slow and less telling modes are added where there is
# time for them.
MAIN_MODES = [
    "limit-contig",
    "limit-pack-whole",
    "limit-pack-staged",
    "hdf5-independent",
    "hdf5-collective",
    "hdf5-independent+pack",
    "hdf5-multi",
    "hdf5-multi-independent+pack",
    "hdf5-multi-selection+pack",
    "pnetcdf-blocking",
    "pnetcdf-nonblocking",
    "pnetcdf-nonblocking+pack",
    "mpiio-independent+pack",
    "adios2-bp5",
    "adios2-bp5+pack",
    "adios2-bp5-everyone+pack",
]
# The few that tell most where every byte goes to the device.
SYNC_MODES = [
    "limit-contig",
    "limit-pack-whole",
    "limit-pack-staged",
    "limit-direct",
    "hdf5-independent",
    "hdf5-independent+pack",
    "pnetcdf-nonblocking",
    "mpiio-independent+pack",
    "hdf5-multi-independent+pack",
    "adios2-bp5-everyone+pack",
]
SLOW_MODES = [
    "hdf5-independent-hyperslab",
    "hdf5-collective-hyperslab",
    "hdf5-multi-hyperslab",
    "hdf5-multi-selection-hyperslab",
    "mpiio-collective-derived",
    "adios2-bp5-in-place",
]
EXTRA_MODES = [
    "limit-fpp",
    "hdf5-collective+pack",
    "hdf5-independent-prepacked",
    "hdf5-collective-prepacked",
    "hdf5-multi+pack",
    "pnetcdf-nonblocking-prepacked",
    "pnetcdf-nonblocking-derived",
    "mpiio-independent-prepacked",
    "mpiio-collective+pack",
]
PLOT_MODES = [
    "plot-limit-pack",
    "plot-hdf5-independent-libconv",
    "plot-hdf5-collective-libconv",
    "plot-hdf5-independent-appconv",
    "plot-hdf5-collective-appconv",
    "plot-pnetcdf-blocking-libconv",
    "plot-pnetcdf-blocking-appconv",
    "plot-pnetcdf-nonblocking-libconv",
    "plot-pnetcdf-nonblocking-appconv",
    "plot-adios2-bp5-appconv",
]
READ_MODES = [
    "read-limit",
    "read-hdf5-independent",
    "read-hdf5-collective",
    "read-hdf5-multi",
    "read-pnetcdf-blocking",
    "read-adios2-bp5",
]

# The peers' modes of the cases that measure one more way of Stria.
LIMIT_MODES = ["limit-contig", "limit-pack-whole", "limit-pack-staged"]
WAYS = {
    # The values of a Sedov blast, against parallel HDF5 with gzip.
    "compressed": [*LIMIT_MODES, "hdf5-collective-gzip", "read-hdf5-collective-gzip"],
    # Noise.
    "incompressible": LIMIT_MODES,
    # The raw data in a file for each rank, against programs that write such files.
    "subfiles": [*LIMIT_MODES, "limit-fpp+pack"],
    # Parts with parity, against the same parts without.
    "parity-4+1": LIMIT_MODES,
    "parity-8+2": LIMIT_MODES,
}
PARITIES = {"parity-4+1": (4, 1), "parity-8+2": (8, 2)}  # files with data, and with parity
COMPRESSED_BLOCKS = 224  # 176 MB, in chunks of four blocks
SLOW_MBPS = 400  # the most that the device of the place "slow" takes
SLOW_ROOM_BYTES = 2e9

LARGE_BLOCKS = 688  # 16^3 blocks in all: 541 MB at 24 variables
PADDED_SIDE_EXTRA = 8  # two layers of four guard cells


def is_optional(mode):
    """True for a mode that a build of the peers may lack."""
    return mode.removeprefix("read-").removeprefix("plot-").startswith(OPTIONAL_FAMILIES)


@dataclass(frozen=True)
class Case:
    """One size on one number of ranks in one place."""

    ranks: int
    nxb: int
    nvar: int
    blocks: int  # on every rank; 0: 80 + mod(rank, 3)
    place: str  # "tmpfs", "disk" or "slow"
    sync: bool = False
    modes: tuple = tuple(MAIN_MODES)
    plot: bool = False
    read: bool = False
    way: str = ""  # one of WAYS, measured beside the plain checkpoint
    left_out: frozenset = frozenset()  # the modes that this build of the peers lacks

    def total_blocks(self):
        """Blocks on all ranks."""
        return sum(self.blocks or 80 + rank % 3 for rank in range(self.ranks))

    def writers(self):
        """Counts the ranks on which the checkpoint was written that a restart reads: another number
        than its own."""
        return 4 if self.ranks == 2 else 2

    def useful_bytes(self):
        """Counts the bytes of the interior cells of all variables, as double."""
        return self.total_blocks() * self.nxb**3 * self.nvar * 8

    def room_bytes(self):
        """Returns what lies in the directory at most: a written file and what a check takes out of
        it, and the file of each mode that reads."""
        kept = sum(1 for mode in self.all_modes() if mode.startswith("read-"))
        return int((2.2 + kept) * self.useful_bytes())

    def memory_bytes(self):
        """Returns what the arrays, the packed copies, the read targets and the files on tmpfs take
        at most."""
        arrays = self.total_blocks() * (self.nxb + PADDED_SIDE_EXTRA) ** 3 * self.nvar * 8
        return arrays * (3 if self.read else 1) + 2 * self.useful_bytes() + self.room_bytes()

    def title(self):
        """Returns a short name for people; also the case's key in the JSON."""
        size = f"{self.useful_bytes() / 1e6:.0f} MB"
        synced = " fsync" if self.sync else ""
        way = f" {self.way}" if self.way else ""
        return f"{self.place}{synced} {self.ranks} ranks {self.nxb}^3 {self.nvar} vars {size}{way}"

    def all_modes(self):
        """Returns the peers' modes that this case asks for."""
        modes = list(self.modes) + (PLOT_MODES if self.plot else []) + (READ_MODES if self.read else [])
        return [mode for mode in modes if mode not in self.left_out]

    def without(self, known):
        """Returns the same without the optional modes that aren't among the known."""
        missing = (mode for mode in self.all_modes() if mode not in known and is_optional(mode))
        return replace(self, left_out=frozenset(missing))


def large(ranks, place, nvar=24, share=1, **more):
    """Returns a file of 541 MB (at 24 variables) on any number of ranks, or a share of it."""
    return Case(ranks, 16, nvar, LARGE_BLOCKS // ranks // share, place, **more)


def small(ranks, place, nxb=8, nvar=24, **more):
    """Returns the original benchmark's blocks: 80 a rank of 8^3, or 32 a rank of 16^3."""
    return Case(ranks, nxb, nvar, 0 if nxb == 8 else 32, place, **more)


def compressed(ranks, place, way="compressed", **more):
    """Compression, of the values of a Sedov blast or of values that don't shrink."""
    return Case(ranks, 16, 24, COMPRESSED_BLOCKS // ranks, place, way=way, modes=tuple(WAYS[way]), **more)


def subfiles(ranks, place):
    """Returns a checkpoint of 541 MB in as many files as ranks."""
    return large(ranks, place, way="subfiles", modes=tuple(WAYS["subfiles"]))


def parity(way):
    """Returns a checkpoint of 541 MB in parts, whose parity takes a quarter of that."""
    return large(4, "tmpfs", way=way, modes=tuple(WAYS[way]))


def way_cases():
    """One more way of Stria each, with the goals of its own."""
    return [
        compressed(2, "tmpfs"),
        compressed(4, "tmpfs"),
        compressed(4, "disk", sync=True),
        compressed(4, "slow", sync=True),
        compressed(2, "tmpfs", "incompressible"),
        compressed(4, "tmpfs", "incompressible"),
        subfiles(4, "tmpfs"),
        subfiles(8, "tmpfs"),
        subfiles(4, "disk"),
        subfiles(8, "disk"),
        *(parity(way) for way in PARITIES),
    ]


def quick_cases():
    """Returns the headline figures, in about three minutes."""
    return [
        large(4, "tmpfs", plot=True, read=True, modes=tuple(MAIN_MODES + SLOW_MODES)),
        small(2, "tmpfs"),
        large(4, "disk", share=2, sync=True, modes=tuple(SYNC_MODES)),
    ]


def default_cases():
    """Returns every rank count and size on tmpfs, the main ones on disk, in about half an hour."""
    with_slow = tuple(MAIN_MODES + SLOW_MODES)
    return [
        large(2, "tmpfs", plot=True, read=True, modes=with_slow),
        large(4, "tmpfs", plot=True, read=True, modes=with_slow),
        large(8, "tmpfs"),
        large(4, "tmpfs", nvar=10),
        small(2, "tmpfs", plot=True, modes=with_slow),
        small(4, "tmpfs", plot=True),
        small(8, "tmpfs"),
        small(4, "tmpfs", nvar=10),
        small(2, "tmpfs", nxb=16),
        large(4, "disk", read=True),
        small(4, "disk"),
        large(4, "disk", sync=True, modes=tuple(MAIN_MODES + ["limit-direct"])),
        *way_cases(),
    ]


def full_cases():
    """Returns everything, which takes hours."""
    modes = tuple(MAIN_MODES + SLOW_MODES + EXTRA_MODES + ["limit-direct"])
    return [
        shape(ranks, place, nvar=nvar, sync=sync, modes=modes, plot=not sync, read=not sync)
        for place in ("tmpfs", "disk")
        for sync in (False, True)
        for shape in (large, small)
        for nvar in (24, 10)
        for ranks in (2, 4, 8)
    ]


@dataclass(frozen=True)
class Profile:
    """How much is measured. A cycle runs every program once with one warm-up and `rounds`
    measured rounds."""

    name: str
    cases: tuple
    cycles: int
    rounds: int


def profile(name):
    """Returns the profile of that name: quick, default or full."""
    if name == "quick":
        return Profile(name, tuple(quick_cases()), 2, 3)
    if name == "full":
        return Profile(name, tuple(full_cases()), 3, 5)
    return Profile(name, tuple(default_cases()), 2, 3)

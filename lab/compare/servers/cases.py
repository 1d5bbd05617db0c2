"""Ching's experiments of 2002 on a store: patterns of `stria bench`, methods, and the
numbers of accesses."""

import dataclasses

from servers.store import SERVERS

STRIPES = ("striping_unit=16384", f"striping_factor={SERVERS}")


@dataclasses.dataclass(frozen=True)
class Method:
    """How the pieces of a client travel: the call of MPI-IO, and the method by name."""

    name: str
    call: str
    hint: str


MULTIPLE = Method("multiple", "independent", "multiple")
LIST = Method("list", "independent", "list_io")
DATATYPE = Method("datatype", "independent", "datatype_io")
SIEVING = Method("sieving", "independent", "data_sieving")
HYBRID = Method("hybrid", "independent", "hybrid")
TWO_PHASE = Method("two-phase", "collective", "two_phase")
AUTOMATIC = Method("automatic", "collective", "automatic")  # without a hint
METHODS = (MULTIPLE, LIST, DATATYPE, SIEVING, HYBRID, TWO_PHASE, AUTOMATIC)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A pattern on so many clients; `sizes` are its points along the figure's axis."""

    name: str
    pattern: str
    clients: int
    sizes: tuple
    # Accesses of a client beyond which a request for each takes too long to wait for.
    most_multiple: int
    figures: tuple  # quantity, title in the chart
    axis: str = ""  # empty: one point, drawn as bars
    most_cycles: int = 100  # where one takes a minute

    def methods(self, size):
        return [method for method in METHODS if method is not MULTIPLE or size <= self.most_multiple]

    def title(self, size):
        point = f", {size:.0e} {self.axis}" if self.axis else ""
        return f"{self.name}, {self.clients} clients{point}"


def cyclic(clients, mebibytes, sizes, most_multiple):
    figures = (("read", "1-D cyclic, read (Figure 9)"), ("write", "1-D cyclic, write (Figure 10)"))
    return Experiment("1-D cyclic", f"cyclic_{mebibytes}", clients, sizes, most_multiple, figures, "accesses")


def blocks(clients, mebibytes, sizes, most_multiple):
    figures = (("read", "block-block, read (Figure 11)"), ("write", "block-block, write (Figure 12)"))
    return Experiment("block-block", f"blocks_{mebibytes}", clients, sizes, most_multiple, figures, "accesses")


def flash(clients, block_count):
    """Sizes are blocks; each has 24 pieces of a block's cells."""
    figures = (("write", "FLASH I/O, write (Figure 15)"),)
    return Experiment("FLASH I/O", "flash", clients, (block_count,), block_count, figures)


DISPLAY = Experiment("tiled display", "display", 6, (1,), 1, (("read", "tiled display, read (Figure 17)"),))
# Each client's own file on one server, and which server that is (Yu 2008: dynamic and static).
SEPARATE = "ior_separate"
FIRST_SERVERS = {
    "in turn": ("stria_first_server=in_turn",),
    "by load": ("stria_first_server=by_load",),
    "always the same": ("start_iodevice=0",),
}
# Independent calls by each of so many clients, the long ones first: pattern, and goal as a share of
# the long ones' speed.
CALLS = {
    "of 1 MiB": ("calls_1024", 1),
    "of 1 KiB": ("calls_1", 0.5),
    "of 1 KiB, the clients' in turn": ("turns_1", 0.5),
    "of 64 B": ("bytes_64", 0.2),
}
CALL_CLIENTS = 4
# Where list I/O is compared with one request for each of as many pieces of 8 bytes.
TINY = "cyclic_1"


def tiny(count):
    """A request for each takes a minute."""
    figures = (("write", "8-byte pieces, write"),)
    return Experiment("8-byte pieces", TINY, 4, (count,), count, figures, most_cycles=1)


SIZES = (1000, 10000, 100000, 1000000)


def headline():
    """Returns a sixty-fourth of the paper's bytes, and all of its accesses, of which the smallest
    have 8 bytes."""
    return [cyclic(8, 16, SIZES, 1000), blocks(4, 16, SIZES, 1000), flash(4, 20), DISPLAY, tiny(100000)]


def least():
    """Returns each experiment at one small size; without a minute's requests one by one."""
    return [cyclic(8, 1, SIZES[:1], 1000), blocks(4, 1, SIZES[:1], 1000), flash(4, 1), DISPLAY, tiny(1000)]


def on_slow_links():
    """Returns the same with fewer points: between nodes each run takes seconds to start."""
    sizes = SIZES[:3]
    return [cyclic(8, 16, sizes, 1000), blocks(4, 16, sizes, 1000), flash(4, 20), DISPLAY, tiny(10000)]


def full():
    """The cases are the paper's, but with 32 clients, and one request per piece for up to a hundred
    thousand pieces."""
    cases = [cyclic(clients, 1024, SIZES, 100000) for clients in (8, 16)]
    cases += [blocks(clients, 1024, SIZES, 100000) for clients in (4, 9, 16)]
    cases += [flash(clients, 80) for clients in (2, 4, 8, 16)]
    return [*cases, DISPLAY, tiny(100000)]

"""Describes what the site shows at its left, in order. Paths are those of the repository."""

HOME = "docs/index.md"

# Title: pages; each a path, or a pair of a title and a path. Pages of reference/ are generated.
SECTIONS = {
    "Begin": ["docs/tutorial.md", "examples/README.md", "docs/howto/install.md", "docs/from_hdf5.md", "docs/from_pnetcdf.md"],
    "How to": [
        "docs/howto/write_amr_blocks.md",
        "docs/howto/restart_on_more_ranks.md",
        "docs/howto/add_rows.md",
        "docs/howto/compress.md",
        "docs/howto/name_dimensions.md",
        "docs/howto/write_many_files.md",
        "docs/howto/survive_a_lost_disk.md",
        "docs/howto/compute_while_writing.md",
        "docs/howto/check_files.md",
        "docs/howto/look_at_files.md",
        "docs/howto/run_an_hdf5_program.md",
        "docs/howto/find_slow_io.md",
        "docs/howto/tune_a_storage.md",
        ("Run a store of your own", "docs/servers.md"),
        ("Keep files in a Ceph pool", "docs/rados.md"),
    ],
    "Your code on Stria": ["docs/adopting/athena.md", "docs/adopting/pencil.md", "docs/adopting/unchanged.md"],
    "Languages": ["docs/python.md", "docs/fortran.md"],
    "Reference": [
        ("Python: the package stria", "reference/python.md"),
        ("C: stria.h", "reference/c.md"),
        ("C++: stria/*.hpp", "reference/cpp.md"),
        ("Fortran: the module stria", "reference/fortran.md"),
        "docs/command_line.md",
        "docs/hints.md",
        "docs/mpiio.md",
        "docs/async.md",
        "docs/tracing.md",
        "docs/trace_report.md",
        "docs/bench.md",
        "docs/glossary.md",
    ],
    "Design": [
        "docs/design.md",
        "docs/design_in_depth.md",
        "docs/performance.md",
        "docs/checked.md",
        "docs/ross_discovery.md",
        "src/README.md",
    ],
    "File formats": [
        "docs/formats/hdf5.md",
        "docs/formats/netcdf.md",
        "docs/formats/parity.md",
        "docs/formats/flash.md",
        "docs/formats/trace.md",
        "docs/formats/store.md",
        "docs/formats/rados.md",
        "docs/formats/wire.md",
        "docs/formats/datatype.md",
    ],
    "Project": [("About Stria", "README.md"), "CHANGELOG.md", "CONTRIBUTING.md", "packaging/README.md"],
}


def sections(root):
    """Returns the sections, with one more for documents of docs/ that nobody has put into
    another."""
    found = sorted(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md"))
    rest = [path for path in found if path not in pages(SECTIONS)]
    return {**SECTIONS, "More": rest} if rest else SECTIONS


def pages(of_sections):
    """Returns the repository's documents among them."""
    entries = (entry for section in of_sections.values() for entry in section)
    paths = (entry if isinstance(entry, str) else entry[1] for entry in entries)
    return [HOME, *(path for path in paths if not path.startswith("reference/"))]

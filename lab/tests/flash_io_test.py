"""The FLASH I/O benchmark from outside: what it measures, and how much memory the library
takes for itself."""

import pytest
from stria_program import read_json, run

RANKS = 3
COLLECTIVE_BUFFER = 32 << 20
A_RANK = 16 << 20


def measure(work, *options, ranks=RANKS):
    """Runs the benchmark and returns its modes by name."""
    json = work / "io.json"
    run("flash", "io", *options, "--dir", work, "--json", json, ranks=ranks, timeout_seconds=180).succeeded()
    document = read_json(json)
    assert document["ranks"] == ranks
    return {mode["name"]: mode for mode in document["modes"]}


@pytest.mark.parametrize("method", ["list_io", "two_phase"])
def test_memory_does_not_grow_with_the_file(work, method):
    """A rank needs no more than the arrays, the collective buffers and 16 MiB, for 13 MB per rank
    and for 50."""
    for blocks in (16, 64):
        options = ["--nxb", 16, "--nvar", 24, "--blocks", blocks, "--rounds", 1, "--plotfile", "--read"]
        modes = measure(work, *options, "--hint", f"stria_method={method}", ranks=2)
        assert {"standard", "experimental", "plotfile", "plotfile-corners", "read"} == set(modes)
        for name, mode in modes.items():
            # One aggregator on this node, whose buffers all its ranks share.
            buffers = COLLECTIVE_BUFFER if mode["method"] == "two_phase" else 0
            assert 0 < mode["memory_growth_bytes"] <= buffers + A_RANK, f"{name} of {blocks} blocks"


@pytest.mark.parametrize("ranks", [2, 5])
def test_reads_what_another_number_of_ranks_wrote(work, ranks):
    options = ["--nxb", 8, "--nvar", 5, "--rounds", 1]
    written = measure(work, *options, "--keep", "--layout", "standard")
    file = written["standard"]["file"]
    modes = measure(work, "--read-from", file, "--limits", "--verify", "--rounds", 2, ranks=ranks)
    assert set(modes) == {"restart-limit", "restart"}
    for mode in modes.values():
        assert mode["kind"] == "read" and mode["verified"] is True
        assert mode["useful_bytes"] == written["standard"]["useful_bytes"]
    run("verify", file).succeeded()  # The file stays where it was.


def test_reads_only_what_the_benchmark_wrote(work):
    from h5py import File

    with File(work / "other.h5", "w") as file:
        file["dens"] = [1.0]
    run("flash", "io", "--read-from", work / "other.h5", "--dir", work, ranks=2).refused("other.h5")


def test_the_result_has_every_figure(work):
    json = work / "io.json"
    options = ["--nxb", 4, "--nvar", 3, "--blocks", 5, "--rounds", 3, "--layout", "experimental", "--plotfile", "--verify"]
    run("flash", "io", *options, "--sync", "--keep", "--dir", work, "--json", json, ranks=RANKS).succeeded()
    document = read_json(json)
    parameters = document["parameters"]
    assert parameters["nxb"] == 4 and parameters["nvar"] == 3 and parameters["blocks"] == 5 and parameters["rounds"] == 3
    assert parameters["sync"] is True
    assert [mode["name"] for mode in document["modes"]] == ["experimental", "plotfile", "plotfile-corners"]
    for mode in document["modes"]:
        for figure in ("seconds", "mbps"):
            assert mode[figure]["min"] <= mode[figure]["median"] <= mode[figure]["max"] and mode[figure]["min"] > 0
        assert len(mode["rounds_seconds"]) == 3 and mode["verified"] is True
        assert {"open", "metadata", "pack", "exchange", "write", "sync", "commit"} <= set(mode["phases"])
        assert mode["useful_bytes"] / mode["seconds"]["median"] / 1e6 == pytest.approx(mode["mbps"]["median"], rel=1e-6)
        run("verify", mode["file"]).succeeded()

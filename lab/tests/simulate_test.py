"""`stria simulate`: the same seed gives the same times; its timeline is a trace like any other; a
recorded run is played on more ranks. `stria tune` searches on the model, and describes a machine
that the model takes."""

import json
import re

from stria_program import read_json, run

JAGUAR = ["simulate", "--machine", "jaguar", "--workload", "flash"]


def simulated(work, *options):
    path = work / "simulated.json"
    run("simulate", *options, "--json", path).succeeded()
    return read_json(path)


def test_a_seed_decides_the_times(work):
    first = simulated(work, *JAGUAR[1:], "--ranks", 48)
    assert simulated(work, *JAGUAR[1:], "--ranks", 48) == first
    other = simulated(work, *JAGUAR[1:], "--ranks", 48, "--seed", 7)
    assert other["seconds"] != first["seconds"] and other["useful_bytes"] == first["useful_bytes"]


def test_the_timeline_is_a_trace(work):
    trace = work / "run.stria-trace"
    document = simulated(work, *JAGUAR[1:], "--ranks", 12, "--timeline", trace)
    spans = run("trace", "stats", "--json", trace).succeeded()
    stats = json.loads(spans.stdout)
    operations = {entry["operation"]: entry for entry in stats["operations"]}
    assert operations["File::commit"]["count"] == 12
    assert {"pack", "message wait", "storage open"} <= set(operations), sorted(operations)
    assert stats["ranks"] == 12 and stats["nodes"] == 6
    assert abs(stats["program_seconds"] - document["seconds"]) < 1e-6
    run("trace", "view", trace, "-o", work / "run.html").succeeded()
    assert "flash on 12 ranks of jaguar, simulated" in (work / "run.html").read_text()


def recorded(work):
    """Returns the trace of a run on two ranks."""
    traces = work / "traces"
    traces.mkdir()
    sizes = ["--block-kib", 256, "--transfer-kib", 64]
    words = ["bench", "ior", *sizes, "--through", "posix", "--rounds", 1, "--dir", work, "--trace", traces]
    run(*words, ranks=2).succeeded()
    return next(traces.glob("*.stria-trace"))


def test_a_recorded_run_goes_on_more_ranks(work):
    trace = recorded(work)
    two = simulated(work, "--machine", "jaguar", "--trace", trace, "--ranks", 2)
    assert two["workload"] == "replay" and two["through"] == "alone"
    many = simulated(work, "--machine", "jaguar", "--trace", trace, "--ranks", 10)
    assert many["useful_bytes"] == 5 * two["useful_bytes"] > 0
    assert many["servers"]["bytes"] == 5 * two["servers"]["bytes"]
    run("simulate", "--machine", "jaguar", "--ranks", 2).refused("either --workload or --trace")
    run(*JAGUAR, "--ranks", 2, "--trace", trace).refused("either --workload or --trace")


def test_tuning_on_the_model_finds_what_the_model_gains(work):
    hints = work / "hints"
    words = ["tune", "--machine", "jaguar", "--ranks", 64, "--for", "flash", "--budget", 60, "--output", hints]
    run(*words).succeeded()
    text = hints.read_text()
    gain = float(re.search(r"# ([0-9.]+) times as fast as the defaults on the model", text)[1])
    chosen = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert chosen and gain > 1.03, text
    options = [word for name, value in chosen for word in ("--hint", f"{name}={value}")]
    plain = simulated(work, *JAGUAR[1:], "--ranks", 64)["seconds"]
    assert abs(plain / simulated(work, *JAGUAR[1:], "--ranks", 64, *options)["seconds"] - gain) < 0.01
    run("tune", "--machine", "jaguar", "--for", "flash", "--output", hints).refused("--ranks says of how many ranks")


def test_a_described_machine_is_simulated(work):
    machine = work / "machine.json"
    words = ["tune", "--for", "ior", "--size", "block-kib=64", "--budget", 0.3, "--dir", work, "--output", work / "hints"]
    run(*words, "--describe", machine, ranks=2).succeeded()
    numbers = read_json(machine)
    assert numbers["nodes"]["ranks_per_node"][0] == 2
    assert numbers["servers"]["write_rate"][0] > 0 and "measured" in numbers["servers"]["write_rate"][1]
    document = simulated(work, "--machine", machine, "--workload", "ior", "--ranks", 4)
    assert document["seconds"] > 0

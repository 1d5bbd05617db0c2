"""What the command prints fits a terminal of 80 columns: its help, and the tables of its
subcommands. Only a word that is wider stays whole, such as a path."""

import json
import subprocess

import pytest
from stria_program import MPIEXEC, PROGRAM, environment, run

COLUMNS = 80


def described():
    return json.loads(subprocess.run([PROGRAM, "--describe"], capture_output=True, check=True, text=True).stdout)


def commands(command, words=()):
    """Returns the words of every command, those below others too."""
    yield words
    for below in command["commands"]:
        yield from commands(below, (*words, below["name"]))


def wide(text):
    """Returns the lines that are too long, without those that name a file of the test's."""
    return [line for line in text.splitlines() if len(line) > COLUMNS and "/stria_test_" not in line]


def fits(outcome):
    assert wide(outcome.succeeded().stdout) == []
    return outcome.stdout


def test_what_starts_alone_has_a_directory_of_its_own():
    """Else one that ends removes another's, which then says that it can't start."""
    key = "OMPI_MCA_orte_tmpdir_base"
    assert environment()[key] != environment()[key]


def test_help_of_every_command_fits():
    words = list(commands(described()))
    assert len(words) > 20
    for command in words:
        assert wide(run(*command, "--help").succeeded().stdout) == [], command


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["bench", "--help"]])
def test_what_only_tells_begins_no_mpi(words):
    """MPI can't begin on the login nodes of many clusters."""
    broken = environment() | {"OMPI_MCA_pml": "none_such"}
    told = subprocess.run([PROGRAM, *words], env=broken, capture_output=True, check=True, text=True)
    assert told.stderr == "" and told.stdout == run(*words).stdout


def test_help_is_by_task_and_has_examples():
    shown = run("--help").succeeded().stdout
    for command in described()["commands"]:
        assert shown.count(f"\n  {command['name']} ") == 1, command["name"]
    assert "\nLook at files:\n  inspect" in shown and "\nExamples:\n  stria inspect FILE" in shown
    assert "Other commands" not in shown, "a new command has a task in tools/stria/help.cpp"


def test_alone_it_says_what_it_can():
    outcome = run()
    assert outcome.code == 2 and outcome.stdout == run("--help").stdout


def test_help_of_one_command_is_not_by_task():
    assert "Examples" not in run("trace", "--help").succeeded().stdout


def test_tables_of_the_benchmarks_fit(work):
    io = [
        "flash",
        "io",
        "--nxb",
        4,
        "--nvar",
        3,
        "--blocks",
        4,
        "--rounds",
        1,
        "--limits",
        "--plotfile",
        "--read",
        "--dir",
        work,
    ]
    shown = fits(run(*io, ranks=2))
    assert "ms of a rank in each phase" in shown
    fits(run("bench", "block3d", "--cells", 16, "--rounds", 1, "--read", "--dir", work, ranks=2))


@pytest.mark.usefixtures("sedov")
def test_tables_of_an_application_fit(work):
    sedov = ["flash", "sedov", "--dim", 2, "--max-level", 3, "--steps", 4, "--checkpoint-every", 2, "--out", "."]
    done = subprocess.run(
        [MPIEXEC, "-n", "1", PROGRAM, *map(str, sedov)],
        cwd=work, env=environment(), capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    assert wide(done.stdout) == [] and "sedov_hdf5_chk_0001" in done.stdout
    fits(run("inspect", work / "sedov_hdf5_chk_0001"))
    fits(run("verify", work / "sedov_hdf5_chk_0001"))


def test_tables_of_a_trace_fit(work):
    run("bench", "block3d", "--cells", 16, "--rounds", 1, "--dir", work, "--trace", work / "traces", ranks=2).succeeded()
    (trace,) = (work / "traces").glob("*.stria-trace")
    fits(run("trace", "stats", trace))
    fits(run("trace", "diff", trace, trace))
    fits(run("trace", "report", trace, "-o", work / "report.html", "--no-probe"))

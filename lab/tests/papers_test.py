"""`stria papers`: its list, and what it says where something is missing."""

import sys

import pytest
from stria_program import run


@pytest.fixture(autouse=True)
def python(monkeypatch):
    monkeypatch.setenv("STRIA_PYTHON", sys.executable)
    return monkeypatch


def test_the_list_has_every_paper():
    lines = run("papers", "list").succeeded().stdout.splitlines()
    assert {line[:3] for line in lines} == {"C02", "L12", "R01", "T95", "Y08"}
    assert len(lines) >= 19


def test_an_unknown_experiment_is_named():
    run("papers", "run", "X99-1").refused("X99-1", "C02-3")


def test_a_python_that_is_not_there_is_named(python):
    python.setenv("STRIA_PYTHON", "/nonexistent/python")
    run("papers", "list").refused("/nonexistent/python")


def test_a_module_that_is_not_there_is_named(work, python):
    (work / "matplotlib.py").write_text("raise ImportError('left out')")
    python.setenv("PYTHONPATH", str(work))
    run("papers", "run", "C02-3", "--out", work / "page").refused("matplotlib", "STRIA_PYTHON")

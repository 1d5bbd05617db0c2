"""Whole files, ours and those of h5py and netCDF4, damaged in many ways: nothing crashes, hangs or
takes all of the memory. STRIA_DAMAGES says how often, STRIA_SEED by which numbers; what fails stays
in STRIA_FAILED, if that is given."""

import os
import shutil
import subprocess

import damaged_seeds
import pytest
import stria
from stria_program import run

SEED = os.environ.get("STRIA_SEED", "1")
DAMAGES = os.environ.get("STRIA_DAMAGES", "400")
FAILED = os.environ.get("STRIA_FAILED")


@pytest.fixture(scope="module")
def seeds(session_directory):
    directory = session_directory / "damaged_seeds"
    damaged_seeds.make(directory)
    return directory


def test_whole_files_are_read(seeds):
    for folder in sorted(seeds.iterdir()):
        path = min(folder.iterdir())
        run("inspect", path).succeeded()
        with stria.open(path) as file:
            assert len(list(file)) > 0
            assert not path.name.startswith("ours") or file.verify()[0] == []


def test_damaged_files_do_no_harm(seeds, work):
    result = subprocess.run([os.environ["STRIA_DAMAGED_FILES"], seeds, work, DAMAGES, SEED], capture_output=True, text=True)
    if result.returncode != 0 and FAILED:
        shutil.copytree(work / "failed", FAILED, dirs_exist_ok=True)
    assert result.returncode == 0, f"seed {SEED}\n{result.stdout}{result.stderr}"
    assert result.stdout.splitlines()[-1] == f"{DAMAGES} rounds, 0 failures"

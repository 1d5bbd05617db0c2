"""The example for openPMD in the hands of the standard's programs."""

import pathlib
import subprocess
import sys

import h5py
import numpy as np
import openpmd_api as api
import openpmd_viewer
import pytest
import stria_program

EXAMPLE = pathlib.Path(stria_program.ROOT) / "examples" / "python" / "openpmd.py"
RANKS = 2
PARTICLES = 1000 + 1010


@pytest.fixture(scope="module")
def path(session_directory):
    made = session_directory / "data00000000.h5"
    done = subprocess.run(
        [stria_program.MPIEXEC, "-n", str(RANKS), sys.executable, EXAMPLE, made],
        env=stria_program.environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def density():
    z, y, x = np.ix_(np.arange(40), np.arange(16), np.arange(24))
    return z + 0.1 * y + 0.01 * x


def test_what_the_standard_requires_is_there(path):
    with h5py.File(path) as h:
        assert h.attrs["openPMD"] == "1.1.0" and h.attrs["openPMDextension"].dtype == np.uint32
        assert h.attrs["basePath"] == "/data/%T/"
        step = h["data/0"]
        assert {"time", "dt", "timeUnitSI"} <= set(step.attrs)
        mesh = step["fields/density"]
        required = {"geometry", "dataOrder", "axisLabels", "gridSpacing", "gridGlobalOffset", "gridUnitSI", "position"}
        assert required | {"unitDimension", "timeOffset", "unitSI"} <= set(mesh.attrs)
        assert mesh.attrs["unitDimension"].shape == (7,) and list(mesh.attrs["axisLabels"]) == ["z", "y", "x"]
        np.testing.assert_array_equal(mesh, density())
        for record in ("position", "positionOffset"):
            group = step["particles/electrons"][record]
            assert {"unitDimension", "timeOffset"} <= set(group.attrs)
            assert all(group[axis].shape == (PARTICLES,) and group[axis].attrs["unitSI"] == 1 for axis in "xyz")
    stria_program.run("verify", path).succeeded()


def test_openpmd_api_reads_it(path):
    series = api.Series(str(path.parent / "data%08T.h5"), api.Access.read_only)
    step = series.iterations[0]
    mesh = step.meshes["density"]
    values = mesh[api.Mesh_Record_Component.SCALAR].load_chunk()
    position = step.particles["electrons"]["position"]["y"].load_chunk()
    series.flush()
    np.testing.assert_array_equal(values, density())
    np.testing.assert_array_equal(position, 0.2 * np.arange(PARTICLES))
    assert list(mesh.axis_labels) == ["z", "y", "x"] and list(mesh.grid_spacing) == [0.5, 0.5, 0.5]


def test_openpmd_viewer_reads_it(path):
    series = openpmd_viewer.OpenPMDTimeSeries(str(path.parent), check_all_files=True)
    values, info = series.get_field("density", iteration=0)
    np.testing.assert_array_equal(values, density())
    assert info.axes == {0: "z", 1: "y", 2: "x"} and info.dz == 0.5
    (z,) = series.get_particle(["z"], species="electrons", iteration=0)
    np.testing.assert_array_equal(z, 0.3 * np.arange(PARTICLES))

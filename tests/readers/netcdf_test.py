"""Classic netCDF files: what Stria writes in the hands of PnetCDF's tools, netCDF4 and xarray, and
what PnetCDF writes in the hands of Stria."""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from stria_program import MPIEXEC, environment, has_sedov, read_json, run

FILE_PROGRAM = os.environ["STRIA_NETCDF_FILE"]
PNETCDF_PROGRAM = os.environ["STRIA_PNETCDF_RECORDS"]
FORMATS = ["cdf1", "cdf2", "cdf5"]


def tool(*command, ranks=0):
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks else []
    done = subprocess.run(
        [*launcher, *map(str, command)], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def values_in(path, ranks=2):
    """Returns the datasets of a file, as Stria reads them."""
    lines = [line.split() for line in tool(FILE_PROGRAM, "dump", path, ranks=ranks).splitlines()]
    return {name: values for name, *values in lines}


def numbers(values):
    return np.array([float(value) for value in values])


@pytest.fixture(scope="module")
def checkpoints(session_directory):
    """FLASH files of the same content in netCDF, written by 1 and by 3 ranks, and in HDF5."""
    made = {}
    for name, ranks, more in [("one", 1, ["--format", "netcdf"]), ("three", 3, ["--format", "netcdf"]), ("hdf5", 3, [])]:
        directory = session_directory / f"netcdf_{name}"
        directory.mkdir()
        shape = ["--nxb", 4, "--nvar", 12, "--blocks", 12 // ranks, "--plotfile", "--rounds", 1]
        json_path = directory / "io.json"
        run(
            "flash", "io", *shape, *more, "--dir", directory, "--keep", "--verify", "--json", json_path, ranks=ranks
        ).succeeded()
        made[name] = {mode["name"]: pathlib.Path(mode["file"]) for mode in read_json(json_path)["modes"]}
    return made


def test_flash_files_are_valid_and_the_same_on_any_number_of_ranks(checkpoints):
    for kind, path in checkpoints["one"].items():
        assert "ncmpi_" in path.name
        for made in (path, checkpoints["three"][kind]):
            tool("ncvalidator", "-q", made)
            run("verify", made).succeeded()
    variables = "dens,temp,sp00,lrefine,gid,bndbox,coordinates"
    tool("ncmpidiff", "-q", "-v", variables, checkpoints["one"]["standard"], checkpoints["three"]["standard"])
    header = tool("ncmpidump", "-h", checkpoints["one"]["standard"])
    for line in [
        "double dens(dim_tot_blocks, dim_nzb, dim_nyb, dim_nxb)",
        "int gid(dim_tot_blocks, dim_NGID)",
        "scalars:nxb = 4",
    ]:
        assert line in header, header
    assert "double unknowns(dim_tot_blocks, dim_nzb, dim_nyb, dim_nxb, dim_nvar)" in tool(
        "ncmpidump", "-h", checkpoints["one"]["experimental"]
    )


def test_a_checkpoint_is_inspected_and_read_on_other_ranks(checkpoints, work):
    path = checkpoints["three"]["standard"]
    described = json.loads(run("inspect", "--json", path).succeeded().stdout)
    assert described["format"] == "netCDF CDF-1" and described["checksums"] is True
    assert described["flash"]["blocks"] == 12 and len(described["flash"]["variables"]) == 12
    assert "netCDF CDF-1" in run("inspect", checkpoints["one"]["standard"]).succeeded().stdout
    run("flash", "io", "--read-from", path, "--rounds", 1, "--dir", work, "--verify", ranks=2).succeeded()


def test_what_netcdf_lacks_is_refused(work):
    shape = ["--nxb", 4, "--nvar", 2, "--blocks", 2, "--rounds", 1]
    run("flash", "io", *shape, "--format", "cdf5", "--compress", "--dir", work, ranks=2).refused("no compression")


@pytest.mark.parametrize("version", FORMATS)
def test_records(work, version):
    path = work / "records.nc"
    tool(FILE_PROGRAM, "write", path, version, ranks=3)
    tool("ncvalidator", "-q", path)
    header = tool("ncmpidump", "-h", path)
    assert "time = UNLIMITED ; // (5 currently)" in header and 'even:units = "K"' in header
    dumped = tool("ncmpidump", "-v", "odd", path).split("data:")[1]
    assert [int(word) for word in dumped.replace(",", " ").split() if word.isdigit()] == list(range(1, 16))
    seen = values_in(path)
    np.testing.assert_array_equal(numbers(seen["even"]), np.arange(15) + 0.5)
    np.testing.assert_array_equal(numbers(seen["odd"]), np.arange(15) + 1)
    np.testing.assert_array_equal(numbers(seen["x"]), [7, 8, 9])
    assert seen["names"] == ["one", "three"]
    run("verify", path, ranks=2).succeeded()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 9)
    run("inspect", path).refused("cut short")


@pytest.mark.parametrize("version", [1, 2, 5])
@pytest.mark.skipif(not os.path.exists(PNETCDF_PROGRAM), reason="no PnetCDF for this MPI")
def test_reads_what_pnetcdf_wrote(work, version):
    path = work / "by_pnetcdf.nc"
    tool(PNETCDF_PROGRAM, path, version)
    seen = values_in(path, ranks=3)
    np.testing.assert_array_equal(numbers(seen["bytes"]), np.arange(12))
    np.testing.assert_array_equal(numbers(seen["floats"]), np.arange(12))
    np.testing.assert_array_equal(numbers(seen["shorts"]), np.arange(4))
    np.testing.assert_array_equal(numbers(seen["fixed"]), np.arange(3))
    described = json.loads(run("inspect", "--json", path).succeeded().stdout)
    fixed = next(dataset for dataset in described["datasets"] if dataset["path"] == "fixed")
    assert fixed["attributes"] == [{"name": "units", "type": "string[2]", "shape": [], "value": "cm"}]


@pytest.mark.skipif(not has_sedov(), reason="no Sedov application")
def test_a_run_goes_on_from_a_netcdf_checkpoint(work):
    common = ["flash", "sedov", "--dim", 2, "--max-level", 3, "--no-sync", "--checkpoint-every", 4, "--json", work / "run.json"]
    ends = []
    for name in ["netcdf", "hdf5"]:
        directory = work / name
        directory.mkdir()
        run(*common, "--steps", 4, "--out", directory, "--format", name, ranks=3).succeeded()
        run(*common, "--steps", 8, "--out", directory, "--restart", "latest", "--format", "netcdf", ranks=2).succeeded()
        ends.append(directory / "sedov_ncmpi_chk_0001")
    tool("ncvalidator", "-q", ends[0])
    tool("ncmpidiff", "-q", "-v", "dens,pres,velx,vely,lrefine,bndbox", *ends)


def test_netcdf4_and_xarray_open_them(work, checkpoints):
    netcdf = pytest.importorskip("netCDF4")
    xarray = pytest.importorskip("xarray")
    for version in FORMATS:
        path = work / f"{version}.nc"
        tool(FILE_PROGRAM, "write", path, version)
        with xarray.open_dataset(path, engine="netcdf4") as seen:
            assert dict(seen.sizes)["time"] == 5 and seen["even"].dims == ("time", "x")
            np.testing.assert_array_equal(seen["even"].values.ravel(), np.arange(15) + 0.5)
            np.testing.assert_array_equal(seen["x"].values, [7, 8, 9])
            assert list(seen["names"].values) == [b"one  ", b"three"]
    import h5py

    with netcdf.Dataset(checkpoints["one"]["standard"]) as seen, h5py.File(checkpoints["hdf5"]["standard"]) as other:
        for name in ["dens", "temp", "sp00"]:
            np.testing.assert_array_equal(seen[name][:], other[name][:])
            assert seen[name].minimum == other[name].attrs["minimum"][0]


@pytest.mark.parametrize("version", FORMATS)
def test_sums_of_records_outlast_other_programs(work, version):
    netcdf = pytest.importorskip("netCDF4")
    path = work / "records.nc"
    tool(FILE_PROGRAM, "write", path, version, ranks=3)
    with netcdf.Dataset(path, "a") as file:
        file["even"][5:7] = 8
        file["odd"][5:7] = 9
    tool("ncvalidator", "-q", path)
    said = run("verify", path, ranks=2).succeeded().stdout
    for name in ("even", "odd"):
        assert f"'{name}': rows 5 to 6 have no checksums: they were added later" in said
    # One more variable moves the records, and their distance.
    moved = work / "moved.nc"
    shutil.copy(path, moved)
    with netcdf.Dataset(moved, "a") as file:
        file.createVariable("third", "f8", ("time", "x"))[:] = 1
    run("verify", moved, ranks=2).succeeded()
    for changed, row in [(path, 3), (moved, 1)]:
        with netcdf.Dataset(changed, "a") as file:
            file["odd"][row, 1] += 1
        outcome = run("verify", changed)
        assert outcome.code == 1 and f"'odd' is damaged in block {row}" in outcome.stdout, outcome.stdout


def test_verify_knows_what_other_programs_have_changed(work, checkpoints):
    netcdf = pytest.importorskip("netCDF4")
    paths = {name: work / name for name in ("attribute", "variable", "value")}
    for path in paths.values():
        shutil.copy(checkpoints["one"]["standard"], path)
    with netcdf.Dataset(paths["attribute"], "a") as file:
        file.title = "in place"
    with netcdf.Dataset(paths["variable"], "a") as file:
        file.createVariable("extra", "f4", ("dim_nxb",))[:] = 1
    with netcdf.Dataset(paths["value"], "a") as file:
        file["dens"][2, 1, 1, 1] = 5
    outcome = run("verify", paths["attribute"])
    assert outcome.code == 1 and "the metadata" in outcome.stdout
    assert "'extra' has no checksum: another program has added it" in run("verify", paths["variable"]).succeeded().stdout
    outcome = run("verify", paths["value"])
    assert outcome.code == 1 and "'dens' is damaged in block 2" in outcome.stdout

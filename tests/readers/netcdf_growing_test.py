"""Classic netCDF files that get more records, of Stria and of other programs, in the hands of
netCDF4 and PnetCDF's ncvalidator."""

import subprocess

import netCDF4
import numpy as np
import pytest
import stria
from stria_program import run

NAMES = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}


@pytest.mark.parametrize("version", list(NAMES))
def test_records_are_added_for_other_programs(work, version):
    own, foreign = work / "own.nc", work / "foreign.nc"
    with stria.create(own, format=version) as file:
        for name, kind in (("even", "f8"), ("odd", "i1")):
            dataset = file.create_dataset(name, (2, 3), kind, dimensions=["time", "x"], unlimited=True)
            dataset[0:2] = np.arange(6).reshape(2, 3)
    with netCDF4.Dataset(foreign, "w", format=NAMES[version]) as file:
        file.step = np.int32(1)
        file.createDimension("time", None)
        file.createDimension("x", 3)
        for name, kind in (("even", "f8"), ("odd", "i1")):
            file.createVariable(name, kind, ("time", "x"))[0:2] = np.arange(6).reshape(2, 3)
    for path in (own, foreign):
        for step in (2, 3):
            with stria.append(path) as file:
                for name in ("even", "odd"):
                    file.append_rows(name, 1)[step : step + 1] = np.arange(3).reshape(1, 3) + 3 * step
                if path == foreign:
                    file.attrs["step"] = np.int32(step)
        subprocess.run(["ncvalidator", "-q", path], check=True)
        with netCDF4.Dataset(path) as file:
            for name in ("even", "odd"):
                np.testing.assert_array_equal(file[name][:], np.arange(12).reshape(4, 3))
            assert path == own or file.step == 3
    assert "in the file" not in run("inspect", own).succeeded().stdout  # they take what they have
    assert "rows 2 to 3 have no checksums" in run("verify", own, ranks=2).succeeded().stdout
    before = own.read_bytes()
    with pytest.raises(stria.UnsupportedError, match="no new datasets"), stria.append(own) as file:
        file.create_dataset("new", (3,), "f8")
    assert own.read_bytes() == before
    with netCDF4.Dataset(own, "a") as file:  # They go on.
        file["even"][4] = 5


# The times are WRF's; all records grow together.
@pytest.mark.parametrize("version", list(NAMES))
@pytest.mark.parametrize("numbers", [False, True])
def test_records_of_characters_are_added(work, version, numbers):
    path = work / "wrf.nc"
    times = [f"2000-01-24_12:00:0{second}" for second in range(4)]
    with netCDF4.Dataset(path, "w", format=NAMES[version]) as file:
        for name, length in (("Time", None), ("DateStrLen", 19), ("x", 3)):
            file.createDimension(name, length)
        file.createVariable("Times", "S1", ("Time", "DateStrLen"))[0] = np.frombuffer(times[0].encode(), "S1")
        file.createVariable("flag", "S1", ("Time",))[0] = b"0"
        if numbers:
            file.createVariable("T", "f4", ("Time", "x"))[0] = np.arange(3)
    for first, last in ((1, 2), (2, 4)):
        with stria.append(path) as file:
            file.append_rows("Times", last - first)[first:last] = times[first:last]
            file.append_rows("flag", last - first)[first:last] = [str(i) for i in range(first, last)]
            if numbers:
                file.append_rows("T", last - first)[first:last] = np.arange(3 * first, 3 * last).reshape(-1, 3)
    subprocess.run(["ncvalidator", "-q", path], check=True)
    with netCDF4.Dataset(path) as file:
        assert list(netCDF4.chartostring(file["Times"][:])) == times and b"".join(file["flag"][:]) == b"0123"
        assert not numbers or np.array_equal(file["T"][:], np.arange(12).reshape(4, 3))


def test_a_record_of_one_character_is_added(work):
    path = work / "flag.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createVariable("flag", "S1", ("time",))[0] = b"0"
    with stria.append(path) as file:
        file.append_rows("flag", 2)[1:] = ["1", "2"]
    with netCDF4.Dataset(path) as file:
        assert b"".join(file["flag"][:]) == b"012"

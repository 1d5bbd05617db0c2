"""pyfive, which reads HDF5 without libhdf5, sees every dataset and attribute of a file
as libhdf5 does."""

import os
import subprocess

import h5py
import numpy as np
import pyfive
import pytest
from stria_program import MPIEXEC, environment


@pytest.mark.parametrize("name", ["chk_0000", "plt_cnt_0000", "plt_crn_0000"])
def test_every_dataset_and_attribute(flash_io_files, name):
    path = flash_io_files / f"flash_io_hdf5_{name}"
    paths = []
    with h5py.File(path) as expected, pyfive.File(str(path)) as seen:
        expected.visititems(lambda at, item: paths.append(at) if isinstance(item, h5py.Dataset) else None)
        assert len(paths) > 20
        for at in paths:
            assert seen[at].shape == expected[at].shape, at
            assert np.asarray(seen[at][...]).tobytes() == expected[at][...].tobytes(), at
            for attribute in expected[at].attrs:
                assert np.array_equal(seen[at].attrs[attribute], expected[at].attrs[attribute]), (at, attribute)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


@pytest.mark.parametrize("ranks", [1, 3])
def test_names_beyond_ascii_and_ranges_of_nothing(work, ranks):
    path = work / "names.h5"
    subprocess.run([MPIEXEC, "-n", str(ranks), os.environ["STRIA_NAMES_FILE"], path], check=True, env=environment(), timeout=60)
    for library in (h5py, pyfive):
        with library.File(str(path)) as file:
            assert {"Größe", "naměs", "never put", "no elements", "tabelle", "viele"} <= set(file)
            density = file["Größe/密度"]
            assert np.array_equal(density[...], np.arange(6.0 * ranks).reshape(-1, 3)), library
            assert set(density.attrs) == {"minimum", "maximum", "Einheit", "größte Zahl"}
            assert text(density.attrs["Einheit"]) == "g/cm³" and density.attrs["größte Zahl"] == 42
            assert density.attrs["minimum"] == 0 and density.attrs["maximum"] == 6 * ranks - 1
            assert text(file.attrs["título"]) == "☃ is a snowman"
            assert [text(name) for name in file["Größe"].attrs["names"]] == ["α", "beta"]
            assert [text(name).strip() for name in file["naměs"][:, 0]] == ["dens", "ρρ"]
            assert np.array_equal(file["never put"][...], np.zeros(5)) and file["no elements"].shape == (0, 3)
            assert not dict(file["never put"].attrs) and not dict(file["no elements"].attrs)
            row = file["tabelle"][0]
            assert file["tabelle"].dtype.names == ("wört", "zähl") and text(row["wört"]) == "größer" and row["zähl"] == 7
            assert set(file["viele"]) == {f"ü{i}" for i in range(150)}
            assert [text(file[f"viele/ü{i}"][0]).strip() for i in (0, 77, 149)] == ["0", "77", "149"]

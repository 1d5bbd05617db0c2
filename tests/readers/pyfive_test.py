"""pyfive, which reads HDF5 without libhdf5, sees every dataset and attribute of a file as libhdf5 does."""

import h5py
import numpy as np
import pyfive
import pytest


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

"""yt opens the files with its own FLASH reader, and every block of its fields is
what was written."""

import h5py
import numpy as np
import pytest
import yt

yt.set_log_level("error")


def load(path):
    dataset = yt.load(str(path))
    assert type(dataset).__name__ == "FLASHDataset"
    return dataset


def compare_blocks(path, variables):
    """Compares every block of every variable, as yt has it, with the file's raw bytes; yt orders
    cells x, y, z."""
    dataset = load(path)
    with h5py.File(path) as file:
        assert len(dataset.index.grids) == file["refine level"].shape[0]
        for variable in variables:
            stored = file[variable][:]
            for grid in dataset.index.grids:
                seen = grid["flash", variable].to_ndarray()
                np.testing.assert_array_equal(seen, stored[grid.id - grid._id_offset].transpose(2, 1, 0), variable)
    return dataset


@pytest.mark.parametrize("name", ["sedov_hdf5_chk_0001", "sedov_hdf5_plt_cnt_0001"])
@pytest.mark.parametrize("dim", [2, 3])
def test_sedov(request, dim, name):
    path = request.getfixturevalue(f"sedov_{dim}d") / name
    variables = ["dens", "pres"] if "plt" in name else ["dens", "pres", "ener", "velx", "vely"]
    dataset = compare_blocks(path, variables)
    assert dataset.dimensionality == dim
    assert dataset.current_time > 0
    assert dataset.index.max_level == 2
    np.testing.assert_array_equal(dataset.domain_left_edge, 0)
    np.testing.assert_array_equal(dataset.domain_right_edge, 1)


@pytest.mark.parametrize("dim", [2, 3])
def test_sedov_mesh_covers_the_domain_once(request, dim):
    """The masses of the leaves add up to that of the ambient gas, which the blast
    doesn't change."""
    dataset = load(request.getfixturevalue(f"sedov_{dim}d") / "sedov_hdf5_chk_0001")
    data = dataset.all_data()
    mass = (data["flash", "dens"] * data["index", "cell_volume"]).sum()
    assert float(data["index", "cell_volume"].sum()) == pytest.approx(1.0, rel=1e-12)
    assert float(mass) == pytest.approx(1.0, rel=1e-12)
    peak = dataset.find_max(("flash", "dens"))[1].to_ndarray()
    assert 0.05 < np.linalg.norm(peak[:dim] - 0.5) < 0.4


def expected_value(block, variable, nvar, nxb, guard_cells):
    """Returns the values of the FLASH I/O benchmark's cells, from the cells' numbers: 1 plus a
    fraction that a multiplication makes of the number."""
    side = nxb + 2 * guard_cells
    inner = np.arange(guard_cells, guard_cells + nxb, dtype=np.uint64)
    cell = (inner[:, None, None] * side + inner[None, :, None]) * side + inner[None, None, :]
    number = np.uint64((block * nvar + variable) * side**3) + cell
    fraction = (number * np.uint64(0x9E3779B97F4B)) & np.uint64((1 << 48) - 1)
    return 1 + fraction.astype(np.float64) / 2.0**48


def test_flash_io(flash_io_files):
    checkpoint = flash_io_files / "flash_io_hdf5_chk_0000"
    dataset = compare_blocks(checkpoint, ["dens"])
    with h5py.File(checkpoint) as file:
        names = [name.decode() for (name,) in file["unknown names"][:]]
    assert {name for kind, name in dataset.field_list if kind == "flash"} == set(names)
    assert len(names) == 5
    for grid in dataset.index.grids:
        for variable, name in enumerate(names):
            expected = expected_value(grid.id - grid._id_offset, variable, nvar=5, nxb=8, guard_cells=4)
            np.testing.assert_array_equal(grid["flash", name].to_ndarray(), expected.transpose(2, 1, 0))
    plot = load(flash_io_files / "flash_io_hdf5_plt_cnt_0000")
    for kind, name in plot.field_list:
        variable = names.index(name)
        for grid in plot.index.grids:
            expected = expected_value(grid.id - grid._id_offset, variable, nvar=5, nxb=8, guard_cells=4)
            np.testing.assert_array_equal(grid[kind, name].to_ndarray(), expected.astype(np.float32).transpose(2, 1, 0))

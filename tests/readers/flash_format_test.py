"""The FLASH file format version 9 as its readers need it, looked at with h5py: types, shapes,
order, padding, links."""

import h5py
import numpy as np
import pytest


@pytest.fixture(params=["sedov_2d", "sedov_3d", "flash_io_files"])
def directory(request):
    return request.getfixturevalue(request.param)


def checkpoints_and_plots(directory):
    base = "flash_io_" if list(directory.glob("flash_io_*")) else "sedov_"
    return directory / f"{base}hdf5_chk_0000", directory / f"{base}hdf5_plt_cnt_0000"


def pairs(file, name):
    """Returns the list as it stands: blank-padded names, never a NUL."""
    rows = file[name][:]
    assert b"\0" not in rows["name"].tobytes()
    return [(name.decode().rstrip(" "), value) for name, value in zip(rows["name"], rows["value"], strict=True)]


def as_c_program_reads(dataset):
    """Returns the bytes that FLASH and VisIt get: they read strings as C strings of the file's
    size."""
    text = h5py.h5t.C_S1.copy()
    text.set_size(dataset.dtype.itemsize)
    buffer = np.zeros(dataset.shape, dataset.dtype)
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, buffer, text)
    return buffer.tobytes()


LIST_TYPES = {
    "integer": {"itemsize": 84, "name": 0, "value": 80, "kind": "<i4"},
    "real": {"itemsize": 88, "name": 0, "value": 80, "kind": "<f8"},
    "string": {"itemsize": 160, "name": 80, "value": 0, "kind": "S80"},
    "logical": {"itemsize": 84, "name": 4, "value": 0, "kind": "<i4"},
}


def test_lists(directory):
    for path in checkpoints_and_plots(directory):
        with h5py.File(path) as file:
            for kind, wanted in LIST_TYPES.items():
                dtype = file[f"{kind} scalars"].dtype
                assert dtype.itemsize == wanted["itemsize"] and dtype.names is not None
                assert dtype.fields["name"][1] == wanted["name"] and dtype.fields["name"][0] == np.dtype("S80")
                assert dtype.fields["value"][1] == wanted["value"] and dtype.fields["value"][0] == np.dtype(wanted["kind"])
                assert file[f"{kind} scalars"].ndim == 1
            real = pairs(file, "real scalars")
            integer = pairs(file, "integer scalars")
            assert real[0][0] == "time"
            # Readers that compare by prefix and let the last match win.
            assert [name for name, _ in real if name.startswith("time")] == ["time"]
            for prefix in ("nxb", "nyb", "nzb", "nstep"):
                assert [name for name, _ in integer if name.startswith(prefix)] == [prefix]
            values = dict(integer)
            assert values["globalnumblocks"] == file["gid"].shape[0]
            assert {
                "nbegin",
                "iprocs",
                "jprocs",
                "kprocs",
                "checkpointfilenumber",
                "plotfilenumber",
                "globalnumparticles",
            } <= set(values)
            assert {"dt", "dtold", "dtnew"} <= set(dict(real))
            assert dict(pairs(file, "string scalars"))["geometry"].strip() == b"cartesian"
            assert dict(pairs(file, "logical scalars")) == {"corners": 0, "double_precision": 1}
            bounds = dict(pairs(file, "real runtime parameters"))
            assert all(bounds[f"{axis}min"] < bounds[f"{axis}max"] for axis in "xyz")
            counts = dict(pairs(file, "integer runtime parameters"))
            assert {"lrefine_min", "lrefine_max", "nblockx", "nblocky", "nblockz"} <= set(counts)


def test_sim_info(directory):
    for path in checkpoints_and_plots(directory):
        with h5py.File(path) as file:
            info = file["sim info"]
            assert info.shape == (1,) and info.dtype.itemsize == 1764
            offsets = {name: info.dtype.fields[name][1] for name in info.dtype.names}
            assert list(offsets) == [
                "file format version", "setup call", "file creation time", "flash version", "build date", "build dir",
                "build machine", "cflags", "fflags", "setup time stamp", "build time stamp",
            ]  # fmt: skip
            assert list(offsets.values()) == [0, 4, 404, 484, 564, 644, 724, 804, 1204, 1604, 1684]
            assert info[0]["file format version"] == 9
            assert "file format version" not in file


def test_names_and_variables(directory):
    for path, kind in zip(checkpoints_and_plots(directory), ("<f8", "<f4"), strict=True):
        with h5py.File(path) as file:
            names = file["unknown names"]
            assert names.dtype == np.dtype("S4") and names.ndim == 2 and names.shape[1] == 1
            # Declared as FLASH declares them; for any other padding the library would cut off the
            # fourth letter.
            assert names.id.get_type().get_strpad() == h5py.h5t.STR_NULLTERM
            assert as_c_program_reads(names) == b"".join(name for (name,) in names[:])
            integer = dict(pairs(file, "integer scalars"))
            cells = tuple(integer[name] for name in ("nzb", "nyb", "nxb"))
            for (name,) in names[:]:
                label = name.decode()
                assert label == label.lower() and len(label) == 4
                data = file[label]
                assert data.shape == (integer["globalnumblocks"], *cells) and data.dtype == np.dtype(kind)
                for attribute, reduce in (("minimum", np.min), ("maximum", np.max)):
                    assert data.attrs[attribute].shape == (1,) and data.attrs[attribute].dtype == np.dtype(kind)
                    assert data.attrs[attribute][0] == reduce(data[:])


def test_block_lists(directory):
    for path, kind in zip(checkpoints_and_plots(directory), ("<f8", "<f4"), strict=True):
        with h5py.File(path) as file:
            integer = dict(pairs(file, "integer scalars"))
            blocks, dim = integer["globalnumblocks"], integer["dimensionality"]
            shapes = {"refine level": (), "node type": (), "which child": (), "processor number": (),
                      "gid": (2 * dim + 1 + 2**dim,)}  # fmt: skip
            for name, shape in shapes.items():
                assert file[name].shape == (blocks, *shape) and file[name].dtype == np.dtype("<i4"), name
            for name, shape in {"coordinates": (3,), "block size": (3,), "bounding box": (3, 2)}.items():
                assert file[name].shape == (blocks, *shape) and file[name].dtype == np.dtype(kind), name
            box = file["bounding box"][:].astype(float)
            np.testing.assert_allclose(box.mean(axis=2)[:, :dim], file["coordinates"][:, :dim], rtol=1e-6)
            np.testing.assert_allclose((box[:, :, 1] - box[:, :, 0])[:, :dim], file["block size"][:, :dim], rtol=1e-5)
            assert (file["refine level"][:] >= 1).all() and np.isin(file["node type"][:], (1, 2, 3)).all()
            for item in file.values():
                if isinstance(item, h5py.Dataset):
                    assert item.id.get_create_plist().get_layout() == h5py.h5d.CONTIGUOUS


def check_links(file, dim):
    """Neighbours, parents and children of `gid` are what the boxes say."""
    gid, levels, box = file["gid"][:], file["refine level"][:], file["bounding box"][:].astype(float)
    kinds = file["node type"][:]
    faces, parent, children = gid[:, : 2 * dim], gid[:, 2 * dim], gid[:, 2 * dim + 1 :]
    assert (gid != 0).all() and (gid <= len(gid)).all()
    assert ((children == -1) | (children > 0)).all()
    assert ((children == -1).all(axis=1) == (kinds == 1)).all(), "leaves have no children, others do"
    assert ((parent == -1) | (parent > 0)).all()
    for block, block_faces in enumerate(faces):
        for face, other in enumerate(block_faces):
            if other <= -20:  # the domain's wall
                assert box[block, face // 2, face % 2] in (0, 1)
            elif other > 0:
                assert levels[other - 1] == levels[block]
                mine, theirs = box[block, face // 2, face % 2], box[other - 1, face // 2, 1 - face % 2]
                assert mine == pytest.approx(theirs) or abs(mine - theirs) == pytest.approx(1), "neither beside nor periodic"


@pytest.mark.parametrize("dim", [2, 3])
def test_links(request, dim):
    directory = request.getfixturevalue(f"sedov_{dim}d")
    for path in checkpoints_and_plots(directory):
        with h5py.File(path) as file:
            check_links(file, dim)
            leaves = file["node type"][:] == 1
            volume = np.prod(file["block size"][:].astype(float)[leaves][:, :dim], axis=1).sum()
            assert volume == pytest.approx(1), "the leaves cover the domain once"


def test_experimental_layout_is_version_10(flash_io_files):
    with (
        h5py.File(flash_io_files / "flash_io_hdf5_chk_0001") as file,
        h5py.File(flash_io_files / "flash_io_hdf5_chk_0000") as standard,
    ):
        assert file["sim info"][0]["file format version"] == 10
        assert file["unknowns"].shape == (*standard["dens"].shape, 5)
        for number, (name,) in enumerate(file["unknown names"][:]):
            np.testing.assert_array_equal(file["unknowns"][..., number], standard[name.decode()][:])

"""Makes the whole files that the test of damaged files damages: ours, and those of h5py and netCDF4
with what their formats have. Each in a folder of its own, which holds its parts as well."""

import pathlib
import sys

import h5py
import netCDF4
import numpy as np
import stria

RANDOM = np.random.default_rng(7)


def ours_plain(path):
    with stria.create(path) as file:
        for i in range(5):
            file.create_dataset(f"g{i % 2}/v{i}", data=RANDOM.random((4, 96)))
            file[f"g{i % 2}/v{i}"].attrs["unit"] = "cm"
        file.create_strings("names", ["dens", "pres"])


def ours_named(path):
    with stria.create(path) as file:
        for i in range(4):
            file.create_dataset(f"v{i}", data=RANDOM.random((4, 8)), dimensions=["y", "x"])


def ours_chunked(path):
    with stria.create(path) as file:
        for i, compress in enumerate([False, "gzip", "zstd"]):
            file.create_dataset(
                f"c{i}", data=np.arange(600.0).reshape(60, 10), chunks=(7, 4), compress=compress, fletcher32=i == 0
            )
        file.create_dataset("n", data=np.arange(600), chunks=(70,), compress="scale_offset")


def ours_many(path):
    with stria.create(path) as file:
        for i in range(150):
            file.create_dataset(f"v{i:03}", data=np.float64(i))


def ours_grown(path):
    with stria.create(path) as file:
        file.create_dataset("t", (None, 2), "f8")
    for i in range(3):
        with stria.append(path) as file:
            file.append_rows("t", np.full((2, 2), float(i)))


def ours_parts(path):
    with stria.create(path, hints={"stria_subfiles": "2"}) as file:
        for i in range(3):
            file.create_dataset(f"p{i}", data=RANDOM.random((4, 96)))


def ours_netcdf(path):
    with stria.create(path) as file:
        file.create_dataset("u", data=RANDOM.random((4, 6)), dimensions=["y", "x"])
        file["u"].attrs["unit"] = "m/s"


def fill_h5py(file):
    group = file.create_group("g/h")
    group.create_dataset("plain", data=np.arange(40, dtype="i4").reshape(5, 8))
    group.create_dataset("big", data=np.arange(12, dtype=">f4"))
    group.create_dataset("chunked", data=np.arange(400.0).reshape(20, 20), chunks=(6, 7), compression="gzip", shuffle=True)
    group.create_dataset("summed", data=np.arange(90), chunks=(20,), fletcher32=True)
    group.create_dataset("offset", data=np.arange(100, dtype="i4"), chunks=(30,), scaleoffset=0)
    group.create_dataset("rounded", data=RANDOM.random(100), chunks=(30,), scaleoffset=3)
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        group.create_dataset("szip", data=np.arange(200.0), chunks=(64,), compression="szip", shuffle=True)
    packed = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    packed.set_chunk((30,))
    packed.set_filter(h5py.h5z.FILTER_NBIT)
    bits = h5py.h5t.STD_I32LE.copy()
    bits.set_precision(20)
    made = h5py.h5d.create(group.id, b"nbit", bits, h5py.h5s.create_simple((100,)), packed)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(100, dtype="i4"))
    group.create_dataset("grows", data=np.arange(10), maxshape=(None,), chunks=(4,))
    text = h5py.string_dtype()
    file.create_dataset("text", data=["one", "two", "three and more"] * 5, dtype=text)
    file.create_dataset("text_chunks", data=["x" * i for i in range(30)], dtype=text, chunks=(8,), compression="gzip")
    lists = file.create_dataset("lists", (3,), dtype=h5py.vlen_dtype("i4"))
    for i in range(3):
        lists[i] = np.arange(i + 2)
    record = np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", "S5")])
    file.create_dataset("records", data=np.zeros(4, dtype=record))
    file.create_dataset("colours", data=np.array([0, 1], "i1"), dtype=h5py.enum_dtype({"red": 0, "blue": 1}, "i1"))
    file["type"] = np.dtype([("x", "f4"), ("y", "f4")])
    file.create_dataset("named", (3,), dtype=file["type"])
    file["soft"] = h5py.SoftLink("/g/h/plain")
    file["outside"] = h5py.ExternalLink("other.h5", "/x")
    file["hard"] = group["plain"]
    file["text"].attrs["of text"] = "variable"
    file["text"].attrs["several"] = np.array(["a", "bb", "ccc"], dtype=object)
    file["records"].attrs["where"] = group.ref
    file["records"].attrs["part"] = group["plain"].regionref[1:3, 2:4]
    group.attrs["fixed"] = np.bytes_("text")
    group.attrs["numbers"] = np.arange(7)
    group["plain"].make_scale("row")
    group["chunked"].dims[0].label = "y"
    scale = group.create_dataset("scale", data=np.arange(20.0))
    scale.make_scale("x")
    group["chunked"].dims[0].attach_scale(scale)
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    made = h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((6,)), compact)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype="i4"))


def h5py_old(path):
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        fill_h5py(file)


def h5py_latest(path):
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        fill_h5py(file)
        file.create_dataset("filtered", data=np.arange(300.0), chunks=(32,), maxshape=(None,), compression="gzip")


def h5py_many(path):
    with h5py.File(path, "w") as file:
        for i in range(60):
            file.create_group(f"groups/g{i}").attrs["n"] = i
        for i in range(30):
            file.create_dataset(f"d{i}", data=np.arange(4))


def h5py_dense(path):
    with h5py.File(path, "w", libver=("v110", "v110"), track_order=True) as file:
        data = file.create_dataset("d", data=np.arange(10), track_order=True)
        for i in range(40):
            data.attrs[f"text {i}"] = "value " * i
            data.attrs[f"number {i}"] = i
        for i in range(40):
            file.create_dataset(f"many/d{i}", data=i)


def h5py_virtual(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("source", data=np.arange(10.0))
        layout = h5py.VirtualLayout((10,), "f8")
        layout[:] = h5py.VirtualSource(file["source"])
        file.create_virtual_dataset("virtual", layout)


def h5py_user_block(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("x", data=np.arange(20.0))
        file.create_dataset("c", data=np.arange(200), chunks=(16,), compression="gzip")


def netcdf(path, form):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None)
        file.createDimension("x", 10)
        rows = file.createVariable("t", "f4", ("time", "x"))
        rows[:] = RANDOM.random((5, 10))
        rows.units = "K"
        file.createVariable("time", "f8", ("time",))[:] = np.arange(5)
        file.createVariable("x", "i4", ("x",))[:] = np.arange(10)
        file.title = "a file"
        if form == "NETCDF4":
            for i in range(12):
                file.setncattr(f"a{i}", "text" * i)
            names = file.createVariable("s", str, ("x",))
            for i in range(10):
                names[i] = "name" * i


SEEDS = {
    "ours_plain.h5": ours_plain,
    "ours_named.h5": ours_named,
    "ours_chunked.h5": ours_chunked,
    "ours_many.h5": ours_many,
    "ours_grown.h5": ours_grown,
    "ours_parts.h5": ours_parts,
    "ours_netcdf.nc": ours_netcdf,
    "h5py_old.h5": h5py_old,
    "h5py_latest.h5": h5py_latest,
    "h5py_many.h5": h5py_many,
    "h5py_dense.h5": h5py_dense,
    "h5py_virtual.h5": h5py_virtual,
    "h5py_user_block.h5": h5py_user_block,
    "netcdf_3.nc": lambda path: netcdf(path, "NETCDF3_CLASSIC"),
    "netcdf_offsets.nc": lambda path: netcdf(path, "NETCDF3_64BIT_OFFSET"),
    "netcdf_data.nc": lambda path: netcdf(path, "NETCDF3_64BIT_DATA"),
    "netcdf_4.nc": lambda path: netcdf(path, "NETCDF4"),
}


def make(directory):
    for name, fill in SEEDS.items():
        folder = pathlib.Path(directory) / name.split(".")[0]
        folder.mkdir(parents=True)
        fill(str(folder / name))


if __name__ == "__main__":
    make(sys.argv[1])

"""HDF5 files of every kind that h5py makes: every type, layout and filter, links, references, named
types. Each kind is a function that fills a new file."""

import h5py
import numpy as np

RELEASES = {"earliest": "earliest", "v108": ("v108", "v108"), "v110": ("v110", "v110")}
KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def numbers(shape, dtype="f8"):
    return np.arange(np.prod(shape), dtype="f8").reshape(shape).astype(dtype)


@kind
def plain_numbers(f):
    for name in (
        "i1",
        "u1",
        "<i2",
        ">i2",
        "<u4",
        ">u4",
        "<i8",
        ">u8",
        "<f2",
        ">f2",
        "<f4",
        ">f4",
        "<f8",
        ">f8",
        "g",
        "c8",
        "c16",
    ):
        f[f"n {name.replace('<', 'l').replace('>', 'b')}"] = numbers((3, 4), name)
    f["bool"] = np.array([True, False])
    f["enum"] = np.array([0, 42], dtype=h5py.enum_dtype({"RED": 0, "BLUE": 42}, basetype="i2"))
    f["opaque"] = np.array([b"abcd", b"efgh"], dtype="V4")
    f["time"] = np.array(["2026-01-01"], dtype="M8[s]").astype(h5py.opaque_dtype("M8[s]"))
    f["array"] = np.zeros(3, dtype=np.dtype(("i4", (2, 3))))
    f.attrs["array"] = np.zeros(3, dtype=[("a", "f4", (2, 2))])


@kind
def odd_numbers(f):
    bits = h5py.h5t.STD_B16LE.copy()
    narrow = h5py.h5t.STD_I32LE.copy()
    narrow.set_precision(20)
    narrow.set_offset(3)
    floating = h5py.h5t.IEEE_F32LE.copy()
    floating.set_fields(20, 14, 6, 0, 14)
    floating.set_offset(0)
    floating.set_precision(21)
    floating.set_ebias(31)
    space = h5py.h5s.create_simple((5,))
    for name, tid in ((b"bits", bits), (b"narrow", narrow), (b"floating", floating)):
        h5py.h5d.create(f.id, name, tid, space)


@kind
def text(f):
    f["fixed"] = np.array([b"abc", b"d", b""])
    f["one"] = "of any length"
    f["many"] = np.array(["a", "bc", "", "d" * 5000], dtype=object)
    f["ascii"] = np.array([b"x", b"yz"], dtype=h5py.string_dtype("ascii"))
    f["fixed utf8"] = np.array(["ä".encode()], dtype=h5py.string_dtype("utf-8", 8))
    f.create_dataset("growing", data=["a", "b"], maxshape=(None,), chunks=(2,), dtype=h5py.string_dtype(), compression="gzip")
    f.attrs["title"] = "a title"
    f.attrs["titles"] = ["one", "two"]
    f["one"].attrs["units"] = "m/s"
    f["one"].attrs["bytes"] = np.bytes_(b"fixed")
    f["ümlaut"] = 1


@kind
def lists(f):
    ints = h5py.vlen_dtype("i4")
    d = f.create_dataset("ints", (4,), dtype=ints)
    d[0], d[2] = [1, 2, 3], np.arange(3000)
    d = f.create_dataset("chunked", (5, 2), dtype=ints, chunks=(2, 2), maxshape=(None, 2), shuffle=True)
    d[1, 1] = [7]
    record = np.dtype([("name", h5py.string_dtype()), ("x", "f8"), ("list", ints)])
    f["records"] = np.array([("a", 1.0, np.arange(2, dtype="i4")), ("bb", 2.0, np.arange(0, dtype="i4"))], dtype=record)
    f.attrs.create(
        "lists", np.array([np.arange(3, dtype="f4"), np.arange(1, dtype="f4")], dtype=object), dtype=h5py.vlen_dtype("f4")
    )


@kind
def records(f):
    inner = np.dtype([("a", "<i2"), ("b", ">f8"), ("s", "S5")])
    outer = np.dtype([("inner", inner, (2,)), ("flag", "?"), ("z", "c16")], align=True)
    f["outer"] = np.zeros((2, 3), outer)
    f.create_dataset("rows", data=np.zeros(7, inner), maxshape=(None,), chunks=(3,), compression="gzip", fletcher32=True)


@kind
def layouts(f):
    f["contiguous"] = numbers((10, 10))
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    f.create_dataset("compact", data=numbers((4, 4)), dcpl=compact)
    f.create_dataset("compact text", data=np.array(["x", "yy"], object), dtype=h5py.string_dtype(), dcpl=compact.copy())
    f.create_dataset("unwritten", (5, 5), "f8")
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    f.create_dataset("early", (5, 5), "f8", dcpl=early)
    f.create_dataset("zero", (0, 3), "f8")
    f.create_dataset("zero growing", (0, 3), "f8", maxshape=(None, 3), chunks=(2, 3))
    f["scalar"] = 3.5
    f["null"] = h5py.Empty("f8")
    f.attrs["null"] = h5py.Empty("i4")
    f.attrs["zero"] = np.zeros((0, 2))


@kind
def chunks(f):
    f.create_dataset("one", data=numbers((6, 10)), chunks=(6, 10))
    f.create_dataset("edges", data=numbers((7, 10)), chunks=(4, 3))
    f.create_dataset("grows", data=numbers((7, 10)), chunks=(4, 3), maxshape=(None, 10))
    f.create_dataset("grows second", data=numbers((7, 10)), chunks=(4, 3), maxshape=(7, None))
    f.create_dataset("limited", data=numbers((7,)), chunks=(2,), maxshape=(20,))
    f.create_dataset("both", data=numbers((5, 3)), chunks=(2, 3), maxshape=(None, None))
    d = f.create_dataset("some", (1000, 1000), "f4", chunks=(100, 100), fillvalue=-1.0)
    d[250:260, 310:320] = 5
    f.create_dataset("none", (1000,), "f4", chunks=(10,))
    d = f.create_dataset("shrunk", data=numbers((50, 2)), chunks=(5, 2), maxshape=(None, 2))
    d.resize(7, 0)
    f.create_dataset("many", data=numbers(3000), chunks=(3,))


@kind
def filters(f):
    data = numbers((40, 50))
    f.create_dataset("gzip", data=data, chunks=(10, 50), compression="gzip", compression_opts=7, shuffle=True, fletcher32=True)
    f.create_dataset("lzf", data=data, chunks=(10, 50), compression="lzf")
    f.create_dataset("szip", data=data, chunks=(10, 50), compression="szip")
    f.create_dataset("offset", data=data.astype("i4"), chunks=(10, 50), scaleoffset=0)
    f.create_dataset("float offset", data=data, chunks=(10, 50), scaleoffset=3)
    f.create_dataset("strings", data=np.array([b"ab"] * 9), maxshape=(None,), chunks=(4,), compression="gzip")
    nbit = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    nbit.set_chunk((10, 50))
    nbit.set_filter(h5py.h5z.FILTER_NBIT)
    f.create_dataset("nbit", data=data.astype("i2"), dcpl=nbit)
    unknown = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    unknown.set_chunk((8,))
    unknown.set_filter(300, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    d = f.create_dataset("unknown", (16,), "u1", dcpl=unknown)
    d.id.write_direct_chunk((0,), b"\1" * 5)  # Nobody here can decode it.


@kind
def fill_values(f):
    for name, value in (("i4", -7), ("f8", 1e30), ("S3", b"abc"), ("?", True)):
        f.create_dataset(f"of {name}".replace("?", "bool"), (3,), name, fillvalue=value)
    record = np.dtype([("a", "i4"), ("b", "f8")])
    f.create_dataset("of records", (3,), record, fillvalue=np.array((1, 2.0), record)[()])
    f.create_dataset("of text", (3,), h5py.string_dtype(), fillvalue="nothing here")
    d = f.create_dataset("of text in chunks", (5,), h5py.string_dtype(), chunks=(2,), maxshape=(None,), fillvalue="none")
    d[1] = "some"
    f.create_dataset("of empty text", (3,), h5py.string_dtype(), fillvalue="")
    f.create_dataset("never", (3,), "i4", fillvalue=5, fill_time="never")
    f.create_dataset("always", (3,), "i4", fillvalue=5, fill_time="alloc")


@kind
def links(f):
    f["g/h/d"] = numbers(5)
    f["hard"] = f["g/h/d"]
    f["g/again"] = f["g/h"]
    f["g/h/root"] = f["/"]
    f["g/h/up"] = f["g"]
    f["soft"] = h5py.SoftLink("/g/h/d")
    f["relative"] = h5py.SoftLink("g/h")
    f["nowhere"] = h5py.SoftLink("/not/here")
    f["external"] = h5py.ExternalLink("other file.h5", "/x/y")
    f["g/external"] = h5py.ExternalLink("../elsewhere.h5", "z")
    f.create_group("empty")


@kind
def many_links(f):
    for i in range(700):
        f[f"many/d{i * 7919 % 700}"] = i
    f["few/x"] = 1


@kind
def ordered(f):
    g = f.create_group("by creation", track_order=True)
    for name in "zebra":
        g[name] = 1
    g.attrs["later"], g.attrs["first"] = 1, 2
    d = f.create_dataset("data", data=1, track_order=True)
    for i in range(20):
        d.attrs[f"a{i * 7 % 20}"] = i
    many = f.create_group("many by creation", track_order=True)
    for i in range(50):
        many[f"n{i * 7 % 50}"] = i


@kind
def many_attributes(f):
    d = f.create_dataset("d", data=1)
    for i in range(120):
        d.attrs[f"a{i}"] = f"value {i}"
        f.attrs[f"root{i}"] = i
    if f.libver[0] != "earliest":
        f.attrs["long"] = np.arange(30000.0)


@kind
def named_types(f):
    f["T"] = np.dtype("f8")
    f["T"].attrs["doc"] = "important"
    f["types/record"] = np.dtype([("a", "i4"), ("s", h5py.string_dtype())])
    f["types/colour"] = h5py.enum_dtype({"RED": 0, "BLUE": 1})
    f["types/text"] = h5py.string_dtype()
    f["unused"] = np.dtype("i2")
    f["same again"] = np.dtype("f8")
    for i in range(3):
        f.create_dataset(f"x{i}", data=numbers(3), dtype=f["T"])
    f.create_dataset("other", data=numbers(3), dtype=f["same again"])
    f.create_dataset("records", (2,), dtype=f["types/record"], chunks=(1,), maxshape=(None,))
    f["records"][0] = (5, "five")
    f["x0"].attrs.create("colour", 1, dtype=f["types/colour"])
    f.attrs.create("text", "named", dtype=f["types/text"])
    f["hard"] = f["T"]


@kind
def references(f):
    f["a"] = numbers((10, 10))
    f["g/b"] = numbers(5)
    f["T"] = np.dtype("f4")
    null = h5py.Reference()
    refs = np.array([f["a"].ref, f["g"].ref, null, f.ref, f["T"].ref], dtype=h5py.ref_dtype)
    f["plain"] = refs
    f.create_dataset("chunked", data=refs, chunks=(2,), maxshape=(None,), compression="gzip")
    f.create_dataset("sparse", (1000,), dtype=h5py.ref_dtype, chunks=(10,))[505] = f["a"].ref
    f["one"] = f["g/b"].ref
    f["regions"] = np.array([f["a"].regionref[2:5, 3:9:2], f["g/b"].regionref[[0, 3]]], dtype=h5py.regionref_dtype)
    f.attrs["region"] = f["a"].regionref[1, :]
    f["g"].attrs["back"] = f.ref
    f["a"].attrs["many"] = refs.reshape(5, 1)
    pair = np.dtype([("name", h5py.string_dtype()), ("what", h5py.ref_dtype), ("x", "f8")])
    f["pairs"] = np.array([("one", f["a"].ref, 1.0), ("none", null, 2.0)], dtype=pair)
    f.attrs["pairs"] = np.array([("g", f["g"].ref, 3.0)], dtype=pair)
    triple = f.create_dataset("lists", (3,), dtype=h5py.vlen_dtype(h5py.ref_dtype))
    triple[1] = refs[:2]
    f["arrays"] = np.array([(refs[:2],), (refs[:2],)], dtype=[("two", h5py.ref_dtype, (2,))])


@kind
def scales(f):
    f["t"] = numbers((3, 4))
    f["u"] = numbers((3,))
    for name, length in (("x", 4), ("y", 3), ("other", 3)):
        f[name] = numbers(length)
        f[name].make_scale(f"scale {name}")
    f["t"].dims[0].attach_scale(f["y"])
    f["t"].dims[0].attach_scale(f["other"])
    f["t"].dims[1].attach_scale(f["x"])
    f["u"].dims[0].attach_scale(f["y"])
    f["t"].dims[1].label = "along x"


@kind
def elsewhere(f):
    import os

    directory = os.path.dirname(f.filename)
    with open(os.path.join(directory, "raw bytes"), "wb") as raw:
        raw.write(numbers(20).tobytes())
    f.create_dataset("external", (20,), "f8", external=[(os.path.join(directory, "raw bytes"), 0, 160)])
    f["source"] = numbers(20)
    if f.libver[1] == "v108":
        return
    layout = h5py.VirtualLayout((2, 20), "f8")
    layout[0] = h5py.VirtualSource(".", "source", (20,))
    layout[1] = h5py.VirtualSource("not there.h5", "nothing", (20,))
    f.create_virtual_dataset("virtual", layout, fillvalue=-1)


@kind
def remarks(f):
    f.create_dataset("timed", data=1, track_times=True)
    f.create_dataset("timeless", data=1, track_times=False)
    f.create_group("g")
    for name in ("timed", "g"):
        h5py.h5o.set_comment(f[name].id, f"about {name}".encode())
    deep = f
    for i in range(60):
        deep = deep.create_group(f"level {i}")
    deep["bottom"] = 1


@kind
def gaps(f):
    """Much of it was deleted, and what stays was rewritten."""
    for i in range(40):
        f[f"d{i}"] = numbers(2000)
    d = f.create_dataset("rewritten", (30,), h5py.string_dtype(), chunks=(10,), compression="gzip")
    for i in range(30):
        d[i] = "x" * (i * 50)
    for i in range(0, 40, 2):
        del f[f"d{i}"]
    f.attrs["renamed"] = "short"
    f.attrs["renamed"] = "much longer than before"


@kind
def nothing(f):
    pass

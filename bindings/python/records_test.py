"""Records of other programs: h5py writes them and Stria reads them and adds to them, and the other
way about. The members have any order, width, byte order and nesting."""

import random
import shutil

import h5py
import numpy as np
import pytest
import stria

SEEDS = range(40)
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
COLOURS = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE, dark": 42}, basetype="i4")


def random_leaf(chance: random.Random) -> np.dtype:
    kind = chance.choice([*NUMBERS, "S", "enum"])
    if kind == "S":
        return np.dtype(f"S{chance.randint(1, 9)}")
    if kind == "enum":
        return COLOURS
    return np.dtype(("" if kind == "?" else chance.choice("<>")) + kind)


def random_type(chance: random.Random, depth: int = 0) -> np.dtype:
    """Returns a structured type with padding, arrays and records within."""
    names = [f"m{i}" for i in range(chance.randint(1, 5))]
    formats: list = []
    for _ in names:
        base = random_type(chance, depth + 1) if depth < 2 and chance.random() < 0.2 else random_leaf(chance)
        shape = tuple(chance.randint(1, 3) for _ in range(chance.choice([0, 0, 0, 1, 2])))
        formats.append(np.dtype((base, shape)) if shape else base)
    offsets, end = [], 0
    for kind in formats:
        end += chance.choice([0, 0, 1, 3])
        offsets.append(end)
        end += kind.itemsize
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end + chance.choice([0, 2])})


def random_values(chance: random.Random, kind: np.dtype, shape: tuple) -> np.ndarray:
    base = kind.base
    shape = (*shape, *kind.shape)
    made = np.zeros(shape, base)
    if base.fields is not None:
        for name in base.names:
            made[name] = random_values(chance, base.fields[name][0], shape)
        return made
    draws = np.random.default_rng(chance.randrange(1 << 30))
    if base.kind == "S":
        letters = [bytes(chance.choices(b"abcz", k=chance.randint(0, base.itemsize))) for _ in range(made.size)]
        made[...] = np.array(letters, base).reshape(shape) if letters else made
    elif (base.metadata or {}).get("enum"):
        made[...] = draws.choice([0, 1, 42], shape)
    elif base.kind == "c":
        made[...] = draws.normal(size=shape) + 1j * draws.normal(size=shape)
    elif base.kind == "f":
        made[...] = draws.normal(size=shape)
    else:
        low, high = (0, 2) if base.kind == "b" else (np.iinfo(base).min, np.iinfo(base).max)
        made[...] = draws.integers(
            low, high, shape, base.newbyteorder("=") if base.kind != "b" else "i8", endpoint=base.kind != "b"
        )
    return made


def same(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Tells whether the values are the same, field by field, whatever their layout."""
    if wanted.dtype.fields is None:
        equal_nan = wanted.dtype.kind in "fc"
        return found.shape == wanted.shape and np.array_equal(found, wanted, equal_nan=equal_nan)
    return found.dtype.names == wanted.dtype.names and all(same(found[name], wanted[name]) for name in wanted.dtype.names)


def shuffled(chance: random.Random, kind: np.dtype) -> np.dtype:
    """Returns the fields in another order, without padding, in the machine's byte order."""
    if kind.base.fields is None:
        return np.dtype((kind.base.newbyteorder("="), kind.shape))
    names = chance.sample(kind.base.names, len(kind.base.names))
    inner = np.dtype([(name, shuffled(chance, kind.base.fields[name][0])) for name in names])
    return np.dtype((inner, kind.shape))


def copied(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Copies field by field, by name: NumPy's own assignment goes by place."""
    out = np.empty(values.shape[: values.ndim], kind.base)
    for name in kind.base.names:
        part = kind.base.fields[name][0]
        out[name] = copied(values[name], np.dtype(part.base)) if part.base.fields is not None else values[name]
    return out


@pytest.mark.parametrize("chunks", [None, (3,)], ids=["in one piece", "chunks"])
@pytest.mark.parametrize("seed", SEEDS)
def test_are_read_as_h5py_wrote_them(tmp_path, seed, chunks):
    chance = random.Random(seed)
    kind = random_type(chance)
    values = random_values(chance, kind, (7,))
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("t", data=values, chunks=chunks, compression="gzip" if chunks and seed % 2 else None)
    with stria.open(tmp_path / "f.h5") as f:
        dataset = f["t"]
        assert same(dataset[...], values), seed
        assert same(f.read_table("t"), values), seed
        assert same(dataset[5:1:-2], values[5:1:-2]), seed
        some = chance.sample(kind.names, chance.randint(1, len(kind.names)))
        out = np.empty(7, np.dtype([(name, shuffled(chance, kind.fields[name][0])) for name in some]))
        dataset.get(..., out)
        f.flush()
        for name in some:
            wanted = values[name] if kind[name].base.fields is None else copied(values[name], out.dtype[name])
            assert same(out[name], wanted), (seed, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_are_appended_as_h5py_would(tmp_path, seed):
    chance = random.Random(1000 + seed)
    kind = random_type(chance)
    first, more = random_values(chance, kind, (4,)), random_values(chance, kind, (5,))
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("t", data=first, maxshape=(None,), chunks=(3,))
        type_before = f["t"].id.get_type()
        assert type_before.get_size() == kind.itemsize
    memory = copied(more, shuffled(chance, kind)) if seed % 2 else more
    with stria.append(tmp_path / "f.h5") as f:
        f.append_rows("t", memory)
    with h5py.File(tmp_path / "f.h5") as f:
        assert f["t"].id.get_type().get_size() == kind.itemsize
        assert same(f["t"][:4], first) and same(f["t"][4:], more), seed


@pytest.mark.parametrize("seed", SEEDS)
def test_are_made_for_h5py(tmp_path, seed):
    chance = random.Random(2000 + seed)
    kind = random_type(chance)
    values = random_values(chance, kind, (6,))
    with stria.create(tmp_path / "f.h5", sync=False) as f:
        f.create_dataset("t", data=values)
        f.create_table("small", values)
    with h5py.File(tmp_path / "f.h5") as f:
        assert same(f["t"][...], values), seed
        small = f["small"][...]
    with stria.open(tmp_path / "f.h5", verify=True) as f:
        assert same(f["t"][...], values), seed
        assert same(f.read_table("small"), small), seed
        assert f.verify()[0] == []


def put_and_read(tmp_path, of_file, memory):
    """Returns what h5py finds of records that Stria has appended."""
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("t", shape=(0,), dtype=of_file, maxshape=(None,), chunks=(4,))
    with stria.append(tmp_path / "f.h5") as f:
        f.append_rows("t", memory)
    with h5py.File(tmp_path / "f.h5") as f:
        return f["t"][...]


def test_numbers_convert_as_those_of_datasets_do(tmp_path):
    values = np.array(
        [(1e300, -3, 2.9, 7, 70000), (np.nan, 300, -2.9, 1, 3)],
        [("a", "f8"), ("b", "i4"), ("c", "f8"), ("d", "u2"), ("e", "i4")],
    )
    found = put_and_read(tmp_path, [("a", ">f4"), ("b", "u1"), ("c", ">i2"), ("d", "f2"), ("e", "f2")], values)
    assert found["a"].tolist()[0] == np.inf and np.isnan(found["a"][1])
    assert found["b"].tolist() == [0, 255] and found["c"].tolist() == [2, -2]
    assert found["d"].tolist() == [7, 1] and found["e"].tolist() == [np.inf, 3]
    with stria.open(tmp_path / "f.h5") as f:
        out = np.empty(2, [("e", "f8"), ("b", "f4"), ("d", "i8")])
        f["t"].get(..., out)
        f.flush()
    assert out["e"].tolist() == [np.inf, 3] and out["b"].tolist() == [0, 255] and out["d"].tolist() == [7, 1]


def test_half_precision_converts_from_any_number(tmp_path):
    values = np.array([0.1, 65519.9, -1e-7, 2049, np.nan])
    rows = np.zeros(5, [("x", "f8")])
    rows["x"] = values
    with np.errstate(over="ignore"):
        wanted = values.astype("f2")
    assert same(put_and_read(tmp_path, [("x", "f2")], rows)["x"], wanted)


def test_strings_take_what_has_room(tmp_path):
    found = put_and_read(tmp_path, [("s", "S6")], np.array([(b"ab",), (b"abc",)], [("s", "S9")]))
    assert found["s"].tolist() == [b"ab", b"abc"]
    with pytest.raises(stria.InvalidArgumentError, match="'s'.*6 bytes.*9"):
        put_and_read(tmp_path, [("s", "S6")], np.array([(b"abcdefghi",)], [("s", "S9")]))


@pytest.mark.parametrize(
    ("of_file", "memory", "words"),
    [
        ([("a", "i4"), ("b", "f8")], [("a", "i4")], "'b'.*whole"),
        ([("a", "i4")], [("a", "i4"), ("b", "f8")], "no column 'b'"),
        ([("a", "i4")], [("a", "S4")], "'a' is int32 in the file"),
        ([("a", "S4")], [("a", "i4")], r"'a' is string\[4\] in the file"),
        ([("a", "i4", 3)], [("a", "i4", 2)], "'a' is an array of"),
        ([("a", "i4")], [("a", "c8")], r"no column 'a\.r'"),
        ([("p", [("x", "f4"), ("y", "f4")])], [("p", [("x", "f4")])], r"'p\.y'"),
    ],
)
def test_others_are_refused_by_name(tmp_path, of_file, memory, words):
    with pytest.raises(stria.InvalidArgumentError, match=words):
        put_and_read(tmp_path, of_file, np.zeros(2, memory))


def test_text_of_any_length_is_text(tmp_path):
    text = h5py.string_dtype()
    inner = np.dtype([("name", text), ("n", ">i2")])
    kind = np.dtype([("i", ">i4"), ("s", text), ("p", inner), ("v", text, (2,))])
    values = np.array(
        [(1, "a", ("é", 3), ["x", ""]), (2, "", ("", -4), ["yy", "zzz"]), (3, "ccc dd", ("q", 5), ["", ""])], kind
    )
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["t"] = values
        f.create_dataset("chunks", data=values, chunks=(2,), maxshape=(None,), compression="gzip")
        f.create_dataset("none", shape=(0,), dtype=kind, maxshape=(None,), chunks=(2,))
    with stria.open(tmp_path / "f.h5") as f:
        for name in ["t", "chunks"]:
            for found in [f[name][...], f.read_table(name), f[name][[2, 0, 1]][[1, 2, 0]]]:
                assert found["i"].tolist() == [1, 2, 3] and found["s"].tolist() == ["a", "", "ccc dd"]
                assert found["p"]["name"].tolist() == ["é", "", "q"] and found["p"]["n"].tolist() == [3, -4, 5]
                assert found["v"].tolist() == [["x", ""], ["yy", "zzz"], ["", ""]]
        assert h5py.check_string_dtype(f["t"].dtype["s"]).encoding == "utf-8"
        assert len(f["none"][...]) == 0
        out = np.empty(3, [("s", "S8"), ("i", "f8")])
        f["t"].get(..., out)
        f.flush()
        assert out["s"].tolist() == [b"a", b"", b"ccc dd"] and out["i"].tolist() == [1, 2, 3]
    with (
        pytest.raises(stria.UnsupportedError, match="column 's' is of a type that only libhdf5"),
        stria.append(tmp_path / "f.h5") as f,
    ):
        f.append_rows("chunks", 1)


def test_members_that_are_not_known_leave_the_others(tmp_path):
    kind = np.dtype([("ref", h5py.ref_dtype), ("n", ">i4"), ("list", h5py.vlen_dtype("i4"))])
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("t", shape=(3,), dtype=kind)
        f["opaque"] = np.zeros(2, [("raw", "V5"), ("n", "f4")])
    with stria.open(tmp_path / "f.h5") as f:
        for name, column in [("t", "ref"), ("opaque", "raw")]:
            with pytest.raises(stria.UnsupportedError, match=f"'{column}'"):
                f[name][...]
            out = np.ones(len(f[name]), [("n", "f8")])
            f[name].get(..., out)
            f.flush()
            assert out["n"].tolist() == [0] * len(out)
            with pytest.raises(stria.UnsupportedError, match=f"'{column}'"):
                f.read_table(name)


def test_records_that_are_only_compact_or_of_newer_indices(tmp_path):
    values = np.array([(1, [1.5, 2.5]), (2, [3.5, 4.5])], [("a", ">i4"), ("b", ">f8", 2)])
    with h5py.File(tmp_path / "f.h5", "w", libver=("v110", "v110")) as f:
        f.create_dataset("t", data=values, chunks=(2,), maxshape=(None,))
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(f.id, b"c", h5py.h5t.py_create(values.dtype), h5py.h5s.create_simple((2,)), compact)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    with stria.open(tmp_path / "f.h5") as f:
        assert same(f["t"][...], values) and same(f["c"][...], values)


def test_memory_may_change_after_records_that_are_converted_are_put(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("t", shape=(0,), dtype=[("a", ">i4")], maxshape=(None,), chunks=(4,))
    rows = np.array([(1,), (2,)], [("a", "i4")])
    with stria.append(tmp_path / "f.h5") as f:
        f.append_rows("t", 2).put(..., rows)
        rows["a"] = 0
    with stria.open(tmp_path / "f.h5") as f:
        assert f["t"][...]["a"].tolist() == [1, 2]
    shutil.rmtree(tmp_path)

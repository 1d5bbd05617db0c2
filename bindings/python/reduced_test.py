"""Numbers of fewer bits than their bytes have, as HDF5's filter nbit stores them: random types."""

import random

import h5py
import numpy as np
import pytest
import stria
from h5py import h5d, h5p, h5s, h5t

SEEDS = range(40)


def integer_type(chance: random.Random) -> "tuple[h5t.TypeIntegerID, np.dtype]":
    """Returns a type of some bits, and the one of NumPy that holds its values."""
    order = chance.choice("<>")
    signed = chance.random() < 0.5
    size = chance.choice([1, 2, 4, 8])
    kind = np.dtype(f"{order}{'i' if signed else 'u'}{size}")
    made = h5t.py_create(kind).copy()
    precision = chance.randint(4 * size + 1, 8 * size)  # libhdf5 takes fewer for a mistake
    made.set_precision(precision)
    made.set_offset(chance.randint(0, 8 * size - precision))
    return made, kind.newbyteorder("=")


def values_of(chance: random.Random, made, kind: np.dtype, shape: tuple) -> np.ndarray:
    bits = made.get_precision()
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind.kind == "i" else (0, (1 << bits) - 1)
    draws = np.random.default_rng(chance.randrange(1 << 30))
    return draws.integers(low, high, shape, kind, endpoint=True)


def creation(chance: random.Random, chunk: tuple, *, nbit: bool) -> h5p.PropDCID:
    plist = h5p.create(h5p.DATASET_CREATE)
    if nbit or chance.random() < 0.5:
        plist.set_chunk(chunk)
    if nbit:
        plist.set_filter(h5py.h5z.FILTER_NBIT, 0)
    return plist


@pytest.mark.parametrize("nbit", [True, False], ids=["nbit", "without"])
@pytest.mark.parametrize("seed", SEEDS)
def test_integers_of_some_bits(tmp_path, seed, nbit):
    chance = random.Random(seed)
    made, kind = integer_type(chance)
    shape = (chance.randint(1, 9), chance.randint(1, 5))
    values = values_of(chance, made, kind, shape)
    plist = creation(chance, (1, min(shape[1], 2)), nbit=nbit)
    fill = values_of(chance, made, kind, (1,))
    plist.set_fill_value(fill)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        dataset = h5d.create(f.id, b"d", made, h5s.create_simple(shape), plist)
        dataset.write(h5s.ALL, h5s.ALL, values)
        h5d.create(f.id, b"unset", made, h5s.create_simple(shape), plist)
        wanted = np.empty(shape, kind)
        dataset.read(h5s.ALL, h5s.ALL, wanted)
    assert np.array_equal(wanted, values)
    with stria.open(tmp_path / "f.h5") as f:
        assert f["d"].dtype == kind and np.array_equal(f["d"][...], values), seed
        assert np.array_equal(f["d"][1:, :1], values[1:, :1])
        assert np.array_equal(f["unset"][...], np.full(shape, fill[0])), seed
        assert f["d"].fill_value == fill[0]
        wide = np.empty(shape, "f8")
        f["d"].get(..., wide)
        f.flush()
        assert np.array_equal(wide, values.astype("f8")), seed
    if nbit or made.get_precision() < 8 * made.get_size():
        with pytest.raises(stria.UnsupportedError), stria.append(tmp_path / "f.h5") as f:
            f.update("d")


@pytest.mark.parametrize("seed", SEEDS)
def test_records_with_such_members(tmp_path, seed):
    chance = random.Random(500 + seed)
    members = [(f"m{i}", *integer_type(chance)) for i in range(chance.randint(1, 4))]
    record = h5t.create(h5t.COMPOUND, sum(made.get_size() for _, made, _ in members) + 4)
    end = 0
    for name, made, _ in members:
        record.insert(name.encode(), end, made)
        end += made.get_size()
    record.insert(b"x", end, h5t.IEEE_F32BE)
    memory = np.dtype([*((name, kind) for name, _, kind in members), ("x", "f4")])
    values = np.zeros(6, memory)
    for name, made, kind in members:
        values[name] = values_of(chance, made, kind, (6,))
    values["x"] = np.arange(6) / 2
    plist = creation(chance, (4,), nbit=seed % 2 == 0)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        h5d.create(f.id, b"t", record, h5s.create_simple((6,)), plist).write(h5s.ALL, h5s.ALL, values)
    with stria.open(tmp_path / "f.h5") as f:
        assert np.array_equal(f["t"][...], values), seed
        assert np.array_equal(f.read_table("t"), values), seed


@pytest.mark.parametrize(("bits", "sign", "kind"), [((7, 8), 15, "f4"), ((12, 6), 18, "f4"), ((30, 9), 39, "f8")])
@pytest.mark.parametrize("nbit", [True, False], ids=["nbit", "without"])
def test_floating_point_numbers_of_some_bits(tmp_path, bits, sign, kind, nbit):
    mantissa, exponent = bits
    made = (h5t.IEEE_F32LE if sign < 32 else h5t.IEEE_F64LE).copy()
    made.set_fields(sign, mantissa, exponent, 0, mantissa)
    made.set_precision(sign + 1)
    made.set_ebias((1 << (exponent - 1)) - 1)
    values = np.array([0, 1, -1.5, 0.25, 96, -0.0078125], kind)
    plist = creation(random.Random(0), (4,), nbit=nbit)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        h5d.create(f.id, b"d", made, h5s.create_simple((6,)), plist).write(h5s.ALL, h5s.ALL, values)
    with stria.open(tmp_path / "f.h5") as f:
        assert f["d"].dtype == np.dtype(kind) and np.array_equal(f["d"][...], values)


def test_enumerations_of_some_bits(tmp_path):
    base = h5t.STD_I16BE.copy()
    base.set_precision(9)
    made = h5t.enum_create(base)
    made.enum_insert(b"low", -5)
    made.enum_insert(b"high", 200)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        h5d.create(f.id, b"d", made, h5s.create_simple((3,)))
    with stria.open(tmp_path / "f.h5") as f:
        assert f["d"].dtype.kind == "i" and f["d"][...].tolist() == [0, 0, 0]


def test_an_attribute_of_some_bits(tmp_path):
    made = h5t.STD_I32BE.copy()
    made.set_precision(20)
    made.set_offset(3)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        attribute = h5py.h5a.create(f.id, b"a", made, h5s.create_simple((2,)))
        attribute.write(np.array([-7, 400], "i4"))
    with stria.open(tmp_path / "f.h5") as f:
        assert f.attrs["a"].tolist() == [-7, 400]

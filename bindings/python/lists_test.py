"""Lists of indices on one process, compared with NumPy; also in the middle of other indices."""

import numpy as np
import pytest
import stria

KINDS = [
    ("f8", {}),
    (">i4", {}),
    ("?", {}),
    ("f2", {"compress": True}),
    ("c16", {}),
    ("u2", {"compress": True}),
    ("i8", {"fill_value": 7}),
]


def lists(random, size):
    """A list of indices, in many forms and orders."""
    form = random.integers(7)
    some = random.permutation(size)[: random.integers(0, size + 1)]
    if form == 0:
        return some.tolist()
    if form == 1:
        return np.sort(some) - size * (some.size % 2)
    if form == 2:
        return random.random(size) < 0.6
    if form == 3:
        return np.arange(size)[:: random.integers(1, 4)]
    if form == 4:
        return list(range(size))[:: -int(random.integers(1, 4))]
    return [int(random.integers(size))] if size else []


def keys(random, shape):
    """Returns an index that has one list, and slices and integers around it."""
    listed = random.integers(len(shape))
    key = []
    for i, size in enumerate(shape):
        step = int(random.integers(1, 3)) * (1 if random.random() < 0.7 else -1)
        other = int(random.integers(size)) if random.random() < 0.4 else slice(None, None, step)
        key.append(lists(random, size) if i == listed else other)
    if random.random() < 0.3:
        return tuple(key[: listed + 1])
    if random.random() < 0.5:  # dots in place of some whole dimensions, or none
        first, last = sorted(random.integers(0, len(shape) + 1, 2))
        if not first <= listed < last:
            return (*key[:first], ..., *key[last:])
    return tuple(key)


@pytest.mark.parametrize("dtype, options", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_lists_mean_what_numpy_says(tmp_path, seed, dtype, options):
    random = np.random.default_rng(seed)
    shapes = [tuple(random.integers(1, 60 // dims**2 + 2, dims).tolist()) for dims in (1, 1, 2, 3, 4)]
    given = [(random.random(shape) * 90 - 9).astype(dtype) for shape in shapes]
    asked = [[keys(random, shape) for _ in range(8)] for shape in shapes]
    expected = []
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        for i, (values, indices) in enumerate(zip(given, asked, strict=True)):
            f.create_dataset(f"whole{i}", data=values, dtype=dtype, **options)
            for j, key in enumerate(indices):
                written = np.full(values.shape, options.get("fill_value", 0), dtype)
                written[key] = values[key]
                expected.append((f"part{i}_{j}", written))
                f.create_dataset(f"part{i}_{j}", values.shape, dtype, **options)[key] = values[key]
    with stria.open(tmp_path / "a.h5", verify=True) as f:
        for name, written in expected:
            assert np.array_equal(f[name][...], written), name
        for i, (values, indices) in enumerate(zip(given, asked, strict=True)):
            for key in indices:
                found = f[f"whole{i}"][key]
                assert np.array_equal(found, values[key]) and found.shape == values[key].shape, (seed, key)


def test_lists_of_many_single_elements(tmp_path):
    random = np.random.default_rng(5)
    values = random.random(3000)
    some = np.sort(random.permutation(3000)[:1000])
    with stria.create(tmp_path / "a.h5", sync=False) as f:
        f.create_dataset("whole", (3000,)).put(..., values)
        f.create_dataset("part", (3000,)).put(some[::-1], values[some[::-1]])
        f.create_dataset("wide", (3000, 2)).put((some, 1), np.stack([values[some]] * 2, axis=1)[:, 1])
        assert len(f._kept) == 3  # There isn't one for each run.
    written = np.zeros(3000)
    written[some] = values[some]
    with stria.open(tmp_path / "a.h5", verify=True) as f:
        assert np.array_equal(f["part"][...], written) and np.array_equal(f["wide"][:, 1], written)
        for out in (np.zeros(1000), np.zeros(2000, "f4")[::2], np.zeros(1000, ">f8")):
            f["whole"].get(some, out)
            f.flush()
            assert np.array_equal(out, values[some].astype(out.dtype))
        repeated = random.integers(-3000, 3000, 900)
        assert np.array_equal(f["whole"][repeated], values[repeated])


def test_lists_that_put_twice_are_refused(tmp_path):
    twice = np.repeat(np.arange(0, 300, 2), 2)
    for shape in [(300,), (300, 2)]:
        with pytest.raises(stria.InvalidArgumentError, match="twice"), stria.create(tmp_path / "a.h5") as f:
            f.create_dataset("x", shape)[twice] = 1

"""The examples of docs/formats/hdf5.md: the files that it describes are written, and have the bytes
that it shows."""

import pathlib
import re
import zlib

import h5py
import numpy as np
import stria

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/formats/hdf5.md").read_text(encoding="utf-8")
TOKEN = "(?:[0-9a-f]{2}|xx|…)"


def shown_blocks(beginning, count):
    """Returns the blocks of bytes behind the paragraph that begins so, as patterns. In them "xx" is
    any byte, and "…" repeats the byte before it."""
    assert PAGE.count(beginning) == 1
    blocks = re.findall(r"(?:^ {4,}.*\n)+", PAGE[PAGE.index(beginning) :], re.MULTILINE)[:count]
    patterns = []
    for block in blocks:
        pattern = b""
        for line in block.splitlines():
            tokens = re.match(rf" *({TOKEN}(?:  ?{TOKEN})*)(?:  +.*)?$", line)
            assert tokens, line
            for token in tokens[1].split():
                pattern += b"." if token == "xx" else b"+" if token == "…" else re.escape(bytes.fromhex(token))
        patterns.append(re.compile(pattern, re.DOTALL))
    return patterns


def test_a_dataset_in_chunks(work):
    path = work / "chunked.h5"
    with stria.create(path, checksums=False) as f:
        data = f.create_dataset("data", (4, 8), chunks=(2, 8), compress=True)
        data[0:2] = np.arange(16.0).reshape(2, 8)
    content = path.read_bytes()
    header, node = shown_blocks("A float64 dataset `data` of {4, 8}", 2)
    assert header.search(content)
    assert node.match(content, 48), content[48:200].hex(" ")
    stored = int.from_bytes(content[48 + 24 : 48 + 28], "little")
    shuffled = zlib.decompress(content[65536 : 65536 + stored])
    assert np.array_equal(np.frombuffer(shuffled, "u1").reshape(8, 16).T.copy().view("<f8")[:, 0], np.arange(16.0))


def test_a_file_that_grows(work):
    path = work / "growing.h5"
    with stria.create(path, checksums=False) as f:
        f.create_dataset("probe", (None, 2), "f8", chunks=(4, 2))
    before = path.read_bytes()
    assert len(before) == 215 and before[48:52] == b"OHDR" and before[156:160] == b"OHDR"
    with stria.append(path) as f:
        f.append_rows("probe", 1)[0:1] = np.array([[1.0, 2.0]])
    after = path.read_bytes()
    assert after[48:215] == before[48:] and after[:28] == before[:28] and len(after) == 10975
    superblock, header = shown_blocks("The dataset `probe`, float64 {unlimited, 2}", 2)
    assert superblock.match(after, 28) and superblock.match(after, 28).end() == 48
    assert np.frombuffer(after[4096 : 4096 + 16], "<f8").tolist() == [1, 2]
    assert after[8192:8196] == b"TREE" and after[10808:10812] == b"OHDR" and after[10916:10920] == b"OHDR"
    assert header.search(after, 10808, 10916), after[10808:10916].hex(" ")


def test_the_tables_of_checksums(work):
    path = work / "summed.h5"
    with stria.create(path) as f:
        f.create_dataset("dens", data=np.ones((2, 64)))
        f.create_dataset("grid/x", data=np.array([1.0, 2, 3]))
        f.create_strings("names", ["dens"], 4)
    content = path.read_bytes()
    example = PAGE[PAGE.index("### Example") :]
    tables = {}
    with h5py.File(path) as f:
        for name, table in f[".stria"].items():
            begin = table.id.get_offset()
            tables[name] = content[begin + 8 : begin + table.id.get_storage_size()]
    seal = np.frombuffer(tables["seal"], "<u8")
    shown = example[example.index("    seal ") :]
    shown = re.sub("(?<=[0-9]),(?=[0-9]{3})", "", shown)
    numbers = [int(number, 0) for number in re.findall(r"\b0x[0-9a-f]{15,16}\b|(?<![\w.,])[0-9]+(?= |$)", shown)]
    assert set(seal.tolist()) <= set(numbers) and f"has {len(content)} bytes" in shown
    assert f"{int.from_bytes(tables['rows_0'][:8], 'little'):#x} twice" in example
    for name in ("slabs", "chunks"):
        first = re.search(rf"^    {name} +((?:[0-9a-f]{{2}} )+)", example, re.MULTILINE)[1]
        assert tables[name].startswith(bytes.fromhex(first)) and len(bytes.fromhex(first)) == 8
    assert len(tables["slabs"]) == 8 + 122 and len(tables["datasets"]) == 6 * 16

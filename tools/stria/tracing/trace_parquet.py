"""Writes a Parquet table of a trace. `stria trace export` and `stria trace stats` run it and
send the columns.

usage: trace_parquet.py OUTPUT < columns
Standard input: a line of JSON {"rows", "columns": [{"name", "dtype", "names": [...] or
absent, "all": true or absent}], "metadata": {...}}, then the columns one behind the other as
they lie in memory. A column with names holds indices into them; -1 is null but in columns of
which all values count.
"""

import json
import sys


def main(output):
    try:
        import numpy
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        sys.exit(f"{error.name} is missing in {sys.executable}: install pyarrow, or name another Python in STRIA_PYTHON")
    source = sys.stdin.buffer
    header = json.loads(source.readline())
    rows = header["rows"]
    arrays, names = [], []
    for column in header["columns"]:
        dtype = numpy.dtype(column["dtype"])
        values = numpy.frombuffer(source.read(rows * dtype.itemsize), dtype)
        absent = values == -1 if dtype.kind == "i" and not column.get("all") else None
        array = pyarrow.array(values, mask=absent)
        if "names" in column:
            names_of_column = pyarrow.array(column["names"], pyarrow.string())
            array = pyarrow.DictionaryArray.from_arrays(array.cast(pyarrow.int32()), names_of_column)
        arrays.append(array)
        names.append(column["name"])
    table = pyarrow.table(arrays, names=names)
    table = table.replace_schema_metadata({key: str(value) for key, value in header["metadata"].items()})
    pyarrow.parquet.write_table(table, output, compression="zstd")


if __name__ == "__main__":
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Reads damaged files, each by its number; run as a process of its own, which a file might end.

Usage: python malformed_cases.py FOLDER FIRST LAST

Prints the number of a case before it, and its outcome after it.
"""

import random
import struct
import sys
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

from jaxframes.frame import JaxFrame, read_parquet, scan_parquet  # noqa: E402

KINDS = ("parquet", "filtered", "planned", "stream", "file")
NUM_ROWS = 150


def rows():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "i": rng.integers(0, 9, NUM_ROWS),
            "f": rng.normal(size=NUM_ROWS),
            "b": rng.integers(0, 2, NUM_ROWS) > 0,
            "s": rng.choice(["a", "bb", "ccc", None], NUM_ROWS),
            "t": pd.to_datetime(rng.integers(0, 10**9, NUM_ROWS), unit="s"),
            "c": pd.Categorical(rng.choice(["x", "y"], NUM_ROWS)),
        },
        index=pd.Index(rng.permutation(NUM_ROWS), name="id"),
    )


def written(kind, path):
    """Writes a sound file."""
    if kind in ("parquet", "filtered", "planned"):
        JaxFrame(rows()).to_parquet(path)
        return
    table = pa.Table.from_pandas(rows())
    writer = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, writer(sink, table.schema) as batches:
        batches.write_table(table, max_chunksize=64)


def read(kind, path):
    match kind:
        case "parquet":
            return read_parquet(path).to_pandas()
        case "filtered":
            return read_parquet(path, filters=[("i", ">=", 0), ("f", ">", -99.0)]).to_pandas()
        case "planned":
            plan = scan_parquet(str(path))
            return plan[(plan["i"] >= 0) & (plan["f"] > -99.0)].collect().to_pandas()
    # Arrow's reader checks the messages; the frame checks what they hold.
    reader = pa.ipc.open_stream if kind == "stream" else pa.ipc.open_file
    with pa.OSFile(str(path)) as source:
        table = reader(source.read()).read_all()
    return JaxFrame(table).to_pandas()


def damaged(sound, case):
    """The bytes of a file, cut or with some bits flipped, and the positions of the damage."""
    choose = random.Random(case)
    if choose.random() < 0.2:
        size = choose.randrange(len(sound))
        return sound[:size], [size]
    data = bytearray(sound)
    start = 0
    if choose.random() < 0.3 and sound[-4:] == b"PAR1":
        start = len(sound) - 8 - struct.unpack("<I", sound[-8:-4])[0]
    positions = [choose.randrange(start, len(data)) for _ in range(choose.choice([1, 1, 1, 2, 8]))]
    for position in positions:
        data[position] ^= 1 << choose.randrange(8)
    return bytes(data), positions


def outcome(kind, path, expected):
    try:
        found = read(kind, path)
    except Exception as error:
        if kind in ("parquet", "filtered", "planned"):
            # A flipped bit of the schema may leave a sound file, of a type without a column.
            is_named = isinstance(error, (OSError, NotImplementedError)) and str(path) in str(error)
        else:
            # A flipped bit of a string may be found where the string is made.
            is_named = isinstance(error, (pa.ArrowException, OSError, UnicodeDecodeError)) or (
                isinstance(error, (ValueError, NotImplementedError))
                and str(error).startswith(("JaxFrame: ", "pandas' metadata"))
            )
        return "error" if is_named else f"strange {type(error).__name__}: {error}"[:300]
    return "same" if found.equals(expected) else "different"


def main(folder, first, last):
    expected, sound = {}, {}
    for kind in KINDS:
        path = folder / f"{kind}.sound"
        written(kind, path)
        expected[kind], sound[kind] = read(kind, path), path.read_bytes()
    (folder / "pages").write_text(str(pages(folder / "parquet.sound")))
    for case in range(first, last):
        kind = KINDS[case % len(KINDS)]
        path = folder / f"{kind}.damaged"
        data, positions = damaged(sound[kind], case)
        path.write_bytes(data)
        print(case, kind, flush=True)
        print(case, *positions, "|", outcome(kind, path, expected[kind]), flush=True)


def pages(path):
    """Where the column chunks of a file lie."""
    metadata = pq.ParquetFile(path).metadata
    chunks = [metadata.row_group(0).column(position) for position in range(metadata.num_columns)]
    starts = [chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks]
    return [
        (start, start + chunk.total_compressed_size)
        for start, chunk in zip(starts, chunks, strict=True)
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

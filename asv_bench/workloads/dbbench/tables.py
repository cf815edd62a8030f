# SPDX-License-Identifier: Apache-2.0
"""The tables of db-benchmark, by its description: no nulls, rows in random order."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

NUM_GROUPS = 100
# Of the keys of a side, this share occurs on the other side, too.
MATCHING_SHARE = 0.9
FEWEST_KEYS = 10


def write(folder: Path, size: float) -> None:
    num_rows = int(size)
    rng = np.random.default_rng(0)
    pq.write_table(grouped(num_rows, rng), folder / "x.parquet")
    for name, table in joined(num_rows, rng).items():
        pq.write_table(table, folder / f"{name}.parquet")


def grouped(num_rows: int, rng: np.random.Generator) -> pa.Table:
    """Keys of 100 values and of a hundredth as many values as rows, as strings and as integers."""
    num_small = max(num_rows // NUM_GROUPS, 1)

    def numbers(most: int) -> np.ndarray:
        return rng.integers(1, most + 1, num_rows)

    return pa.table(
        {
            "id1": _strings(numbers(NUM_GROUPS), 3),
            "id2": _strings(numbers(NUM_GROUPS), 3),
            "id3": _strings(numbers(num_small), 10),
            "id4": numbers(NUM_GROUPS),
            "id5": numbers(NUM_GROUPS),
            "id6": numbers(num_small),
            "v1": numbers(5),
            "v2": numbers(15),
            "v3": rng.uniform(0, 100, num_rows).round(6),
        }
    )


def joined(num_rows: int, rng: np.random.Generator) -> dict[str, pa.Table]:
    """The left side, and right sides of a millionth and a thousandth of its rows and of as many.

    The keys of a right side are distinct. Nine of ten keys occur on both sides.
    """
    num_keys = [max(num_rows // share, FEWEST_KEYS) for share in (1_000_000, 1000, 1)]
    left_keys, right_keys = zip(*(_two_sides(number, rng) for number in num_keys), strict=True)
    ids = [_with_all(keys, num_rows, rng) for keys in left_keys]
    tables = {"lhs": _side(ids, "v1", rng)}
    for level, name in enumerate(("small", "medium", "big")):
        rows = num_keys[level]
        others = [_with_all(keys, rows, rng) for keys in right_keys[:level]]
        tables[name] = _side([*others, rng.permutation(right_keys[level])], "v2", rng)
    return tables


def _two_sides(num_keys: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of keys, which have most of their keys in common."""
    num_matching = int(num_keys * MATCHING_SHARE)
    num_other = num_keys - num_matching
    keys = rng.permutation(num_keys + num_other) + 1
    return keys[:num_keys], np.concatenate([keys[:num_matching], keys[num_keys:]])


def _with_all(keys: np.ndarray, num_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Random keys in which each key occurs, as far as there are rows."""
    keys = keys[:num_rows]
    return rng.permutation(np.concatenate([keys, rng.choice(keys, num_rows - len(keys))]))


def _side(ids: list[np.ndarray], value: str, rng: np.random.Generator) -> pa.Table:
    """A table of ids as integers and, three columns later, as strings, and a column of values."""
    numbers = {f"id{place}": column for place, column in enumerate(ids, 1)}
    strings = {f"id{place}": _strings(column) for place, column in enumerate(ids, 4)}
    return pa.table({**numbers, **strings, value: rng.uniform(0, 100, len(ids[0])).round(6)})


def _strings(numbers: np.ndarray, width: int = 0) -> pa.Array:
    """Names such as "id007", with zeros up to a width."""
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise("id", digits, "")

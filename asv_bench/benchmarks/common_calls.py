# SPDX-License-Identifier: Apache-2.0
"""Fifteen common calls, in words that this library and pandas share."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

NUM_KEYS = 100
NUM_GROUPS = 10
NUM_NAMES = 1000
NUM_LARGEST = 100
WINDOW = 10
MERGE_ROWS = 1000


def call_columns(num_rows: int) -> dict[str, dict[str, np.ndarray]]:
    """The columns of the two tables of the calls."""
    rng = np.random.default_rng(0)
    names = np.array([f"name {number:04}" for number in range(NUM_NAMES)])
    rows = {
        "k": rng.integers(0, NUM_KEYS, num_rows),
        "g": rng.integers(0, NUM_GROUPS, num_rows).astype(np.int32),
        "i": rng.integers(0, MERGE_ROWS, num_rows),
        "x": rng.standard_normal(num_rows),
        "y": rng.standard_normal(num_rows),
        "s": names[rng.integers(0, NUM_NAMES, num_rows)],
    }
    other = {"i": rng.permutation(MERGE_ROWS), "z": rng.standard_normal(MERGE_ROWS)}
    return {"rows": rows, "other": other}


Call = Callable[[Any, Mapping[str, Any]], Any]

# The first argument is the module: `pandas` or `jaxframes.frame`.
CALLS: dict[str, Call] = {
    "filter": lambda _, t: t["rows"][t["rows"]["x"] > 0.0],
    "arithmetic": lambda _, t: t["rows"]["x"] * 2.0 + t["rows"]["y"] - t["rows"]["i"] / 3.0,
    "mean of columns": lambda _, t: t["rows"][["i", "x", "y"]].mean(),
    "sort_values": lambda _, t: t["rows"].sort_values("x"),
    "sort_values by two": lambda _, t: t["rows"].sort_values(["k", "x"]),
    "groupby sum": lambda _, t: t["rows"].groupby("k")["x"].sum(),
    "groupby two mean": lambda _, t: t["rows"].groupby(["k", "g"])[["x", "y"]].mean(),
    "value_counts": lambda _, t: t["rows"]["s"].value_counts(),
    "merge": lambda module, t: module.merge(t["rows"], t["other"], on="i"),
    "describe": lambda _, t: t["rows"][["i", "x", "y"]].describe(),
    "rank": lambda _, t: t["rows"]["x"].rank(),
    "drop_duplicates": lambda _, t: t["rows"].drop_duplicates(["k", "i"]),
    "rolling mean": lambda _, t: t["rows"]["x"].rolling(WINDOW).mean(),
    "nlargest": lambda _, t: t["rows"].nlargest(NUM_LARGEST, "x"),
    "str.upper": lambda _, t: t["rows"]["s"].str.upper(),
}

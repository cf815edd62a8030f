# SPDX-License-Identifier: Apache-2.0
"""Common methods on few rows, where Python takes the time, in words shared with pandas."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

NUM_KEYS = 9


def small_columns(num_rows: int) -> dict[str, dict[str, np.ndarray]]:
    """The columns of a table, of a small one to join, and of one without rows."""
    rng = np.random.default_rng(0)
    other = {"k": np.arange(NUM_KEYS), "c": rng.standard_normal(NUM_KEYS)}
    return {
        "rows": {
            "k": rng.integers(0, NUM_KEYS, num_rows),
            "a": rng.standard_normal(num_rows),
            "b": rng.standard_normal(num_rows),
            "s": rng.choice(np.array(["x", "y", "z"]), num_rows),
        },
        "other": other,
        "empty": {name: column[:0] for name, column in other.items()},
    }


Call = Callable[[Any, Mapping[str, Any]], Any]


def _of_rows(call: Callable[[Any], Any]) -> Call:
    return lambda _, tables: call(tables["rows"])


# The first argument is the module: `pandas` or `jaxframes.frame`.
SMALL_CALLS: dict[str, Call] = {
    "merge": lambda _, t: t["rows"].merge(t["other"], on="k"),
    "left merge": lambda _, t: t["rows"].merge(t["other"], on="k", how="left"),
    "merge of no rows": lambda _, t: t["rows"].merge(t["empty"], on="k"),
    "concat": lambda module, t: module.concat([t["rows"], t["rows"]]),
    "filter": _of_rows(lambda f: f[f.a > 0]),
    "take": _of_rows(lambda f: f.take([1, 3, 5])),
    "iloc": _of_rows(lambda f: f.iloc[2:7]),
    "row": _of_rows(lambda f: f.iloc[3]),
    "value": _of_rows(lambda f: f.a.iloc[3]),
    "head": _of_rows(lambda f: f.head()),
    "column": _of_rows(lambda f: f["a"]),
    "columns": _of_rows(lambda f: f[["a", "k"]]),
    "add": _of_rows(lambda f: f.a + f.b),
    "compare": _of_rows(lambda f: f.a > 0),
    "sum of products": _of_rows(lambda f: (f.a * f.b).sum()),
    "and": _of_rows(lambda f: (f.k > 1) & (f.k < 5)),
    "sort_values": _of_rows(lambda f: f.sort_values("a")),
    "sort_index": _of_rows(lambda f: f.sort_index()),
    "groupby sum": _of_rows(lambda f: f.groupby("k").a.sum()),
    "groupby mean": _of_rows(lambda f: f.groupby("k").a.mean()),
    "groupby size": _of_rows(lambda f: f.groupby("k").size()),
    "groupby agg": _of_rows(lambda f: f.groupby("k").agg({"a": "sum", "b": "max"})),
    "isin": _of_rows(lambda f: f.k.isin([1, 2])),
    "sum": _of_rows(lambda f: f.a.sum()),
    "mean": _of_rows(lambda f: f.a.mean()),
    "max": _of_rows(lambda f: f.a.max()),
    "count": _of_rows(lambda f: f.a.count()),
    "sum of columns": _of_rows(lambda f: f[["a", "b"]].sum()),
    "rename": _of_rows(lambda f: f.rename(columns={"a": "z"})),
    "drop": _of_rows(lambda f: f.drop(columns=["a"])),
    "assign": _of_rows(lambda f: f.assign(z=f.a)),
    "reset_index": _of_rows(lambda f: f.reset_index(drop=True)),
    "set_index": _of_rows(lambda f: f.set_index("k")),
    "str.contains": _of_rows(lambda f: f.s.str.contains("x")),
    "str.upper": _of_rows(lambda f: f.s.str.upper()),
    "fillna": _of_rows(lambda f: f.fillna(0)),
    "fillna of a column": _of_rows(lambda f: f.a.fillna(0)),
    "where": _of_rows(lambda f: f.a.where(f.a > 0, 0)),
    "dropna": _of_rows(lambda f: f.dropna()),
    "isna": _of_rows(lambda f: f.a.isna()),
    "astype": _of_rows(lambda f: f.k.astype("float64")),
    "drop_duplicates": _of_rows(lambda f: f.drop_duplicates("k")),
    "value_counts": _of_rows(lambda f: f.k.value_counts()),
    "nunique": _of_rows(lambda f: f.k.nunique()),
    "unique": _of_rows(lambda f: f.k.unique()),
    "cumsum": _of_rows(lambda f: f.a.cumsum()),
    "shift": _of_rows(lambda f: f.a.shift()),
    "clip": _of_rows(lambda f: f.a.clip(-1, 1)),
    "round": _of_rows(lambda f: f.a.round(1)),
}

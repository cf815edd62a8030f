# SPDX-License-Identifier: Apache-2.0
"""The questions of db-benchmark in the words of Polars."""

from collections.abc import Callable
from typing import Any

import polars as pl

IDS = ["id1", "id2", "id3", "id4", "id5", "id6"]


def _grouped(*keys: str) -> Callable[..., Callable[[Any], pl.DataFrame]]:
    def aggregated(*columns: pl.Expr) -> Callable[[Any], pl.DataFrame]:
        return lambda t: t["x"].lazy().group_by(keys).agg(*columns).collect()

    return aggregated


def _joined(right: str, on: str, how: Any = "inner") -> Callable[[Any], pl.DataFrame]:
    return lambda t: t["lhs"].lazy().join(t[right].lazy(), on=on, how=how).collect()


QUESTIONS: dict[str, Callable[[Any], pl.DataFrame]] = {
    "groupby q1": _grouped("id1")(pl.sum("v1")),
    "groupby q2": _grouped("id1", "id2")(pl.sum("v1")),
    "groupby q3": _grouped("id3")(pl.sum("v1"), pl.mean("v3")),
    "groupby q4": _grouped("id4")(pl.mean("v1", "v2", "v3")),
    "groupby q5": _grouped("id6")(pl.sum("v1", "v2", "v3")),
    "groupby q6": _grouped("id4", "id5")(
        pl.median("v3").alias("median"), pl.std("v3").alias("std")
    ),
    "groupby q7": _grouped("id3")((pl.max("v1") - pl.min("v2")).alias("spread")),
    "groupby q8": lambda t: (
        t["x"].lazy().group_by("id6").agg(pl.col("v3").top_k(2)).explode("v3").collect()
    ),
    "groupby q9": _grouped("id2", "id4")((pl.corr("v1", "v2") ** 2).alias("r2")),
    "groupby q10": _grouped(*IDS)(pl.sum("v3").alias("sum"), pl.count("v1").alias("n")),
    "join q1": _joined("small", "id1"),
    "join q2": _joined("medium", "id2"),
    "join q3": _joined("medium", "id2", "left"),
    "join q4": _joined("medium", "id5"),
    "join q5": _joined("big", "id3"),
    "sort by id6": lambda t: t["x"].sort("id6"),
    "sort by v3": lambda t: t["x"].sort("v3"),
    "sort by id3": lambda t: t["x"].sort("id3"),
    "sort by id1, id4": lambda t: t["x"].sort("id1", "id4"),
}

# SPDX-License-Identifier: Apache-2.0
"""The calls in the words of Polars."""

from collections.abc import Callable
from typing import Any

import polars as pl
from benchmarks.common_calls import NUM_LARGEST, WINDOW

NUMBERS = ("i", "x", "y")
STATISTICS = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


def _described(rows: pl.DataFrame) -> pl.DataFrame:
    described = rows.select(NUMBERS).describe(interpolation="linear")
    return described.filter(pl.col("statistic").is_in(STATISTICS)).drop("statistic")


QUESTIONS: dict[str, Callable[[Any], pl.DataFrame]] = {
    "filter": lambda t: t["rows"].filter(pl.col("x") > 0.0),
    "arithmetic": lambda t: t["rows"].select(pl.col("x") * 2.0 + pl.col("y") - pl.col("i") / 3.0),
    "mean of columns": lambda t: t["rows"].select(pl.col(NUMBERS).mean()).transpose(),
    "sort_values": lambda t: t["rows"].sort("x"),
    "sort_values by two": lambda t: t["rows"].sort("k", "x"),
    "groupby sum": lambda t: t["rows"].group_by("k").agg(pl.col("x").sum()),
    "groupby two mean": lambda t: t["rows"].group_by("k", "g").agg(pl.col("x", "y").mean()),
    "value_counts": lambda t: t["rows"]["s"].value_counts(sort=True),
    "merge": lambda t: t["rows"].join(t["other"], on="i"),
    "describe": lambda t: _described(t["rows"]),
    "rank": lambda t: t["rows"].select(pl.col("x").rank()),
    "drop_duplicates": lambda t: t["rows"].unique(["k", "i"], keep="first", maintain_order=True),
    "rolling mean": lambda t: t["rows"].select(pl.col("x").rolling_mean(WINDOW)),
    "nlargest": lambda t: t["rows"].top_k(NUM_LARGEST, by="x").sort("x", descending=True),
    "str.upper": lambda t: t["rows"].select(pl.col("s").cast(pl.String).str.to_uppercase()),
}

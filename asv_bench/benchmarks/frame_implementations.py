# SPDX-License-Identifier: Apache-2.0
"""Eager frame operations of this library, pandas and Polars."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
import polars as pl
from jaxframes.frame import JaxFrame

from .adapters import Call

NUM_STRINGS = 1_000_000
# One row of `apply` in pandas takes as long as 100 rows of other operations.
APPLY_SHARE = 100


def frame_columns(operation: str, keys: np.ndarray) -> tuple[pd.DataFrame, ...]:
    """The frames of an operation, made from keys."""
    rng = np.random.default_rng(0)
    num_rows = len(keys)
    x = rng.standard_normal(num_rows)
    match operation:
        case "frame groupby strings":
            names = np.array([f"name {number:07}" for number in range(NUM_STRINGS)], object)
            distinct = pd.array(names, dtype="str")
            codes = (keys.astype(np.uint64) % min(NUM_STRINGS, max(num_rows // 10, 1))).astype(int)
            return (pd.DataFrame({"keys": distinct.take(codes), "x": x}),)
        case "frame merge" | "frame merge many to many" | "frame merge left":
            return _sides_of(operation, keys, rng)
        case "frame apply rows":
            rows = max(num_rows // APPLY_SHARE, 1)
            return (pd.DataFrame({"x": x[:rows], "y": np.arange(rows, dtype=np.float64)}),)
    return (pd.DataFrame({"keys": keys, "x": x, "y": np.arange(num_rows)}),)


def _sides_of(
    operation: str, keys: np.ndarray, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    if operation == "frame merge left":
        right = rng.permutation(np.unique(keys))
        return (
            pd.DataFrame({"keys": keys, "x": rng.standard_normal(len(keys))}),
            pd.DataFrame({"keys": right, "y": rng.standard_normal(len(right))}),
        )
    distinct = rng.permutation(np.unique(keys[: max(len(keys) // 10, 1)]))
    is_unique = operation == "frame merge"
    left_rows = len(keys) if is_unique else int(len(keys) / 10**0.5)
    right = distinct if is_unique else rng.choice(distinct, left_rows)
    left = rng.choice(distinct, left_rows)
    return (
        pd.DataFrame({"keys": left, "x": rng.standard_normal(len(left))}),
        pd.DataFrame({"keys": right, "y": rng.standard_normal(len(right))}),
    )


def _ours(function: Callable[..., Any]) -> Callable[..., Call]:
    def prepare(*frames: pd.DataFrame) -> Call:
        on_device = [JaxFrame(frame) for frame in frames]
        return lambda: jax.block_until_ready(function(*on_device))

    return prepare


def _pandas(function: Callable[..., Any]) -> Callable[..., Call]:
    return lambda *frames: lambda: function(*frames)


def _polars(function: Callable[..., Any]) -> Callable[..., Call]:
    def prepare(*frames: pd.DataFrame) -> Call:
        theirs = [pl.from_pandas(frame) for frame in frames]
        return lambda: function(*theirs)

    return prepare


def _scored(row: Any) -> Any:
    return row.x * 2.0 + row.y if isinstance(row, pd.Series) else row["x"] * 2.0 + row["y"]


def _sums(frame: Any) -> Any:
    return frame.groupby("keys")["x"].sum()


def _polars_sums(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by("keys").agg(pl.col("x").sum())


def _sums_of_products(frame: Any) -> Any:
    products = frame.assign(n=1, yy=frame["y"] * frame["y"], yk=frame["y"] * frame["keys"])
    return products.groupby("keys", sort=False)[["n", "y", "yy", "yk"]].sum()


def _polars_sums_of_products(frame: pl.DataFrame) -> pl.DataFrame:
    y = pl.col("y")
    sums = [pl.len(), y.sum(), (y * y).sum().alias("yy"), (y * pl.col("keys")).sum().alias("yk")]
    return frame.group_by("keys").agg(sums)


def _same(ours: Callable[..., Any], polars: Callable[..., Any]) -> dict[str, Any]:
    """The same call for this library and pandas."""
    return {"jaxframes": _ours(ours), "pandas": _pandas(ours), "polars": _polars(polars)}


_MERGE = _same(
    lambda left, right: left.merge(right, on="keys"),
    lambda left, right: left.join(right, on="keys"),
)
_SUMS = _same(_sums, _polars_sums)
FRAME_IMPLEMENTATIONS: dict[str, dict[str, Callable[..., Call]]] = {
    "frame sort_values": _same(
        lambda frame: frame.sort_values("keys"), lambda frame: frame.sort("keys")
    ),
    "frame filter": _same(
        lambda frame: frame[frame["x"] > 0][["x", "y"]],
        lambda frame: frame.filter(pl.col("x") > 0).select("x", "y"),
    ),
    "frame filter by loc": _same(
        lambda frame: frame.loc[frame["x"] > 0, ["x", "y"]],
        lambda frame: frame.filter(pl.col("x") > 0).select("x", "y"),
    ),
    "frame groupby sum": _SUMS,
    "frame groupby strings": _SUMS,
    "frame groupby sums of products": _same(_sums_of_products, _polars_sums_of_products),
    "frame merge": _MERGE,
    "frame merge many to many": _MERGE,
    "frame merge left": _same(
        lambda left, right: left.merge(right, on="keys", how="left"),
        lambda left, right: left.join(right, on="keys", how="left"),
    ),
    "frame apply rows": {
        "jaxframes": _ours(lambda frame: frame.apply(_scored, axis=1)),
        "pandas": _pandas(lambda frame: frame.apply(_scored, axis=1)),
    },
}

# SPDX-License-Identifier: Apache-2.0
"""As-of join of one device's rows."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
import polars as pl
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call

NUM_GROUPS = 1000


class JoinAsof:
    """How long does an as-of join take, compared with libraries that need sorted rows?

    There are ten left rows for each right one. Rows in any order are sorted by those libraries
    within the time that is measured.
    """

    params = (
        axis(2**16, 10_000_000),
        axis("sorted", "any"),
        axis("none", "by"),
        axis("jaxframes", "pandas", "polars"),
    )
    param_names = ("rows", "order", "groups", "implementation")

    def setup(self, rows, order, groups, implementation):
        self.run = prepared(rows, order, groups, implementation)

    def time_join_asof(self, rows, order, groups, implementation):
        self.run()


@functools.lru_cache(maxsize=1)
def prepared(num_rows: int, order: str, groups: str, implementation: str) -> Callable[[], Any]:
    """A call of the join, after one warm-up call. asv repeats the set-up for each sample."""
    use_devices(1)
    rng = np.random.default_rng(0)
    lengths = num_rows, num_rows // 10
    times = [rng.integers(0, 2**40, length) for length in lengths]
    if order == "sorted":
        times = [np.sort(side) for side in times]
    group_ids = [rng.integers(0, NUM_GROUPS, length) for length in lengths]
    if implementation == "jaxframes":
        columns = jax.device_put((*times, tuple(group_ids) if groups == "by" else None))
        return waiting_call(lambda left, right, by: local.join_asof(left, right, by=by), *columns)
    sides = [{"time": side} for side in times]
    if groups == "by":
        sides = [{**side, "group": ids} for side, ids in zip(sides, group_ids, strict=True)]
    sides[1]["row"] = np.arange(lengths[1])
    by = "group" if groups == "by" else None
    call = (_with_pandas if implementation == "pandas" else _with_polars)(sides, order, by)
    call()
    return call


def _with_pandas(sides: list[Any], order: str, by: str | None) -> Callable[[], Any]:
    frames = [pd.DataFrame(side) for side in sides]

    def join() -> pd.DataFrame:
        ready = frames
        if order != "sorted":
            ready = [frame.sort_values("time", kind="stable") for frame in frames]
        return pd.merge_asof(*ready, on="time", by=by)

    return join


def _with_polars(sides: list[Any], order: str, by: str | None) -> Callable[[], Any]:
    frames = [pl.DataFrame(side) for side in sides]

    def join() -> pl.DataFrame:
        ready = frames
        if order != "sorted":
            ready = [frame.sort("time", maintain_order=True) for frame in frames]
        return ready[0].join_asof(ready[1], on="time", by=by, check_sortedness=False)

    return join

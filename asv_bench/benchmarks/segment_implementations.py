# SPDX-License-Identifier: Apache-2.0
"""Order statistics, scans and shifts of segments, as this library and its peers do them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxframes.primitives import local

from .adapters import Call, with_jax, with_pandas_frames, with_polars_frames

NUM_SEGMENTS = 1000


def _pandas(operate: Callable[[Any], Any]) -> Callable[..., Call]:
    return with_pandas_frames(
        lambda frame: operate(frame.groupby("segment_ids")["values"]), "values", "segment_ids"
    )


def _polars_rows(values: pl.Expr) -> Callable[..., Call]:
    """A value for each row."""
    rows = values.over("segment_ids")
    return with_polars_frames(lambda frame: frame.select(rows), "values", "segment_ids")


def _polars_groups(values: pl.Expr) -> Callable[..., Call]:
    """A value for each segment."""
    return with_polars_frames(
        lambda frame: frame.group_by("segment_ids").agg(values), "values", "segment_ids"
    )


def _jnp_medians(values: jax.Array, segment_ids: jax.Array) -> jax.Array:
    # lax.sort is stable by both keys; the two rows in the middle of each segment are picked.
    sorted_ids, sorted_values = jax.lax.sort((segment_ids, values), num_keys=2)
    bounds = jnp.searchsorted(sorted_ids, jnp.arange(NUM_SEGMENTS + 1))
    counts = jnp.diff(bounds)
    low, high = bounds[:-1] + (counts - 1) // 2, bounds[:-1] + counts // 2
    return (sorted_values[low] + sorted_values[high]) / 2


def _jnp_scan(values: jax.Array, segment_ids: jax.Array) -> jax.Array:
    order = jnp.argsort(segment_ids)
    ids, rows = segment_ids[order], values[order]
    is_head = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])

    def combine(left: Any, right: Any) -> Any:
        (left_head, left_sum), (right_head, right_sum) = left, right
        return left_head | right_head, jnp.where(right_head, right_sum, left_sum + right_sum)

    sums = jax.lax.associative_scan(combine, (is_head, rows))[1]
    return jnp.zeros_like(sums).at[order].set(sums)


def _scan(values: jax.Array, segment_ids: jax.Array) -> jax.Array:
    return local.segmented_scan(
        values, segment_ids=segment_ids, is_sorted=False, num_segments=NUM_SEGMENTS
    )


_VALUES = pl.col("values")

SEGMENT_IMPLEMENTATIONS: dict[str, dict[str, Callable[..., Call]]] = {
    "segment_quantile": {
        "jaxframes": with_jax(lambda x, ids: local.segment_quantile(x, ids, NUM_SEGMENTS)),
        "jnp": with_jax(_jnp_medians),
        "pandas": _pandas(lambda groups: groups.median()),
        "polars": _polars_groups(_VALUES.median()),
    },
    "segment_nunique": {
        "jaxframes": with_jax(lambda x, ids: local.segment_nunique(x, ids, NUM_SEGMENTS)),
        "pandas": _pandas(lambda groups: groups.nunique()),
        "polars": _polars_groups(_VALUES.n_unique()),
    },
    "segment_rank": {
        "jaxframes": with_jax(lambda x, ids: local.segment_rank(x, ids, NUM_SEGMENTS)),
        "pandas": _pandas(lambda groups: groups.rank()),
        "polars": _polars_rows(_VALUES.rank()),
    },
    "segment_shift": {
        "jaxframes": with_jax(lambda x, ids: local.segment_shift(x, ids, NUM_SEGMENTS)),
        "pandas": _pandas(lambda groups: groups.shift(fill_value=0)),
        "polars": _polars_rows(_VALUES.shift(fill_value=0)),
    },
    "segmented_scan of unsorted ids": {
        "jaxframes": with_jax(_scan),
        "associative_scan": with_jax(_jnp_scan),
        "pandas": _pandas(lambda groups: groups.cumsum()),
        "polars": _polars_rows(_VALUES.cum_sum()),
    },
}


def segment_columns(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the segment of each in no order."""
    return keys, np.random.default_rng(0).integers(0, NUM_SEGMENTS, len(keys)).astype(np.int32)

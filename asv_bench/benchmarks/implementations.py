# SPDX-License-Identifier: Apache-2.0
"""Each local op in this library, `jnp`, NumPy, pandas and Polars.

`prepared(operation, implementation, *columns)` puts the columns where the implementation wants
them, compiles what there is to compile, and returns a call without arguments that waits for its
result. All get the same dtype, the same data, and all the threads that they make use of.

`numpy` is NumPy's default sort, which is not stable; every other one is, but for Polars' sorts of a
single column.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
from jaxframes.primitives import local

from .adapters import (
    Call,
    with_jax,
    with_numpy,
    with_pandas,
    with_pandas_frames,
    with_polars,
    with_polars_frames,
)
from .frame_implementations import FRAME_IMPLEMENTATIONS, frame_columns
from .key_distributions import make_keys
from .key_implementations import KEY_IMPLEMENTATIONS
from .measuring import use_devices, waiting_call
from .segment_implementations import SEGMENT_IMPLEMENTATIONS, segment_columns

TOP = 100
NUM_BUCKETS = 64
MEAN_SEGMENT_ROWS = 100
NUM_SEGMENTS = 1000
FEW_SEGMENTS = 10
MANY_SEGMENTS = 2**20
NUM_BINS = 256
WINDOW = 1000
NUM_PIECES = 4


def columns_of(operation: str, num_rows: int, dtype: str, distribution: str) -> tuple[Any, ...]:
    """The columns or frames of an operation, made from `num_rows` keys of a distribution."""
    keys = make_keys(distribution, num_rows, dtype)
    if operation in FRAME_IMPLEMENTATIONS:
        return frame_columns(operation, keys)
    if operation == "merge":
        return np.sort(keys[: num_rows // 2]), np.sort(keys[num_rows // 2 :])
    if operation == "radix_sort with values":
        return keys, np.arange(num_rows, dtype=np.float32)
    if operation == "bucket":
        return np.arange(num_rows, dtype=np.float32), (keys % NUM_BUCKETS).astype(np.int32)
    if operation == "segmented_scan":
        is_head = np.random.default_rng(0).random(num_rows) < 1 / MEAN_SEGMENT_ROWS
        return keys, is_head
    if operation in SEGMENT_IMPLEMENTATIONS:
        return segment_columns(keys)
    if operation == "segment_sum":
        return np.arange(num_rows, dtype=np.float64), (keys % NUM_SEGMENTS).astype(np.int32)
    if operation == "segment_sum of few":
        return np.arange(num_rows, dtype=np.float64), (keys % FEW_SEGMENTS).astype(np.int32)
    if operation == "segment_sum of many":
        return np.arange(num_rows, dtype=np.float64), (keys % MANY_SEGMENTS).astype(np.int32)
    if operation == "reduce with a mask":
        return keys, np.random.default_rng(0).random(num_rows) < 0.5
    if operation == "concatenate":
        return tuple(np.array_split(keys, NUM_PIECES))
    if operation == "compact":
        return np.random.default_rng(0).random(num_rows) < 0.5, keys
    if operation == "gather_rows":
        return keys, np.random.default_rng(0).permutation(num_rows).astype(np.int32)
    if operation == "searchsorted":
        return np.sort(keys[: num_rows // 10]), keys
    if operation == "segmented_sort":
        return keys, np.sort(keys % NUM_SEGMENTS).astype(np.int32)
    if operation == "run_length_encode":
        return (np.sort(keys % (num_rows // MEAN_SEGMENT_ROWS + 1)),)
    if operation in ("reduce_by_key", "reduce_by_key of several", "set_intersection"):
        return keys, np.random.default_rng(0).permutation(keys)
    if operation == "cross join":
        side = keys[: math.isqrt(num_rows)]
        return side, side
    if operation in ("join", "join many to many", "isin"):
        return _sides_of(operation, keys)
    return (keys,)


def _sides_of(operation: str, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two sides; one or both draw from a tenth as many distinct keys as rows."""
    rng = np.random.default_rng(0)
    num_rows = len(keys)
    if operation == "isin":
        return keys, rng.choice(keys, num_rows // 10)
    distinct = rng.permutation(np.unique(keys[: num_rows // 10]))
    if operation == "join":
        return rng.choice(distinct, num_rows), distinct
    # The rows of each key on both sides give `num_rows` pairs in total.
    side_rows = int(num_rows / 10**0.5)
    return rng.choice(distinct, side_rows), rng.choice(distinct, side_rows)


def prepared(operation: str, implementation: str, *columns: Any) -> Call:
    """A call of an operation on columns, after one warm-up call."""
    use_devices(1)
    call = IMPLEMENTATIONS[operation][implementation](*columns)
    call()
    return call


@functools.lru_cache(maxsize=1)
def prepared_for(
    operation: str, implementation: str, num_rows: int, dtype: str, distribution: str
) -> Call:
    """The same, for columns by name. The last call is kept: asv sets up anew for each sample."""
    return prepared(
        operation, implementation, *columns_of(operation, num_rows, dtype, distribution)
    )


def _numpy_sort_with_values(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    row_ids = np.argsort(keys, kind="stable")
    return keys[row_ids], values[row_ids]


def _numpy_top_k(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    row_ids = np.argpartition(keys, len(keys) - TOP)[-TOP:]
    row_ids = row_ids[np.argsort(keys[row_ids])[::-1]]
    return keys[row_ids], row_ids


def _numpy_bucket(values: np.ndarray, bucket_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    row_ids = np.argsort(bucket_ids, kind="stable")
    return values[row_ids], np.bincount(bucket_ids, minlength=NUM_BUCKETS)


def _jnp_bucket(values: jax.Array, bucket_ids: jax.Array) -> tuple[jax.Array, jax.Array]:
    row_ids = jnp.argsort(bucket_ids)
    return values[row_ids], jnp.bincount(bucket_ids, length=NUM_BUCKETS)


def _jnp_compact(mask: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
    (row_ids,) = jnp.nonzero(mask, size=len(mask), fill_value=0)
    return rows[row_ids], jnp.sum(mask)


def _jnp_unique(keys: jax.Array) -> jax.Array:
    return jnp.unique(keys, size=len(keys), fill_value=0)


def _numpy_unique(keys: np.ndarray) -> np.ndarray:
    # `np.unique` hashes, and takes 40 times as long as this where all keys differ.
    sorted_keys = np.sort(keys)
    is_head = np.ones(len(keys), bool)
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=is_head[1:])
    return sorted_keys[is_head]


def _pandas_merge(a: np.ndarray, b: np.ndarray) -> Call:
    parts = [pd.Series(a), pd.Series(b)]
    return lambda: pd.concat(parts).sort_values(kind="stable", ignore_index=True)


def _polars_merge(a: np.ndarray, b: np.ndarray) -> Call:
    left, right = pl.DataFrame({"keys": a}), pl.DataFrame({"keys": b})
    return lambda: left.merge_sorted(right, "keys")


def _polars_top_k(keys: np.ndarray) -> Call:
    frame = pl.DataFrame({"keys": keys, "row_ids": np.arange(len(keys), dtype=np.int32)})
    return lambda: frame.top_k(TOP, by="keys")


def _jax_factorize(keys: np.ndarray, sort: bool) -> Call:
    # Like the eager global call, which sizes its result exactly.
    capacity = int(jax.jit(functools.partial(local.factorize, capacity=0))(keys).count)
    factorize = functools.partial(local.factorize, capacity=capacity, sort=sort)
    return waiting_call(factorize, jax.device_put(keys))


def _jax_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    capacity = int(local.join_size(left_keys, right_keys))
    join = functools.partial(local.join, capacity=capacity)
    return waiting_call(join, *jax.device_put((left_keys, right_keys)))


def _jax_cross_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    join = functools.partial(local.join, how="cross")
    return waiting_call(join, *jax.device_put((left_keys, right_keys)))


def _side_columns(keys: np.ndarray, row_ids: str) -> dict[str, np.ndarray]:
    return {"keys": keys, row_ids: np.arange(len(keys), dtype=np.int32)}


def _pandas_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    left = pd.DataFrame(_side_columns(left_keys, "left_rows"))
    right = pd.DataFrame(_side_columns(right_keys, "right_rows"))
    return lambda: left.merge(right, on="keys")


def _pandas_cross_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    left, right = pd.DataFrame({"left": left_keys}), pd.DataFrame({"right": right_keys})
    return lambda: left.merge(right, how="cross")


def _polars_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    left = pl.DataFrame(_side_columns(left_keys, "left_rows"))
    right = pl.DataFrame(_side_columns(right_keys, "right_rows"))
    return lambda: left.join(right, on="keys")


def _polars_cross_join(left_keys: np.ndarray, right_keys: np.ndarray) -> Call:
    left, right = pl.DataFrame({"left": left_keys}), pl.DataFrame({"right": right_keys})
    return lambda: left.join(right, how="cross")


def _polars_factorize(keys: np.ndarray) -> Call:
    frame = pl.DataFrame({"keys": keys})
    ranks = pl.col("keys").rank("dense")
    return lambda: frame.select(ranks)


def _pandas_isin(keys: np.ndarray, test_keys: np.ndarray) -> Call:
    series = pd.Series(keys)
    return lambda: series.isin(test_keys)


def _polars_isin(keys: np.ndarray, test_keys: np.ndarray) -> Call:
    series, test_series = pl.Series(keys), pl.Series(test_keys)
    return lambda: series.is_in(test_series.implode())


_JOINS = {"jaxframes": _jax_join, "pandas": _pandas_join, "polars": _polars_join}


def _jnp_segmented_scan(values: jax.Array, head_flags: jax.Array) -> jax.Array:
    def combine(left: Any, right: Any) -> Any:
        (left_has_head, left_sum), (right_has_head, right_sum) = left, right
        total = jnp.where(right_has_head, right_sum, left_sum + right_sum)
        return left_has_head | right_has_head, total

    return jax.lax.associative_scan(combine, (head_flags, values))[1]


def _jnp_recurrence(factors: jax.Array, terms: jax.Array) -> jax.Array:
    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    return jax.lax.associative_scan(combine, (factors, terms))[1]


def _lax_recurrence(factors: jax.Array, terms: jax.Array) -> jax.Array:
    def step(state: jax.Array, row: Any) -> tuple[jax.Array, jax.Array]:
        state = row[0] * state + row[1]
        return state, state

    return jax.lax.scan(step, jnp.zeros_like(terms[0]), (factors, terms))[1]


def _pandas_segmented_scan(values: np.ndarray, head_flags: np.ndarray) -> Call:
    groups = pd.Series(values).groupby(np.cumsum(head_flags), sort=False)
    return groups.cumsum


def _polars_segmented_scan(values: np.ndarray, head_flags: np.ndarray) -> Call:
    frame = pl.DataFrame({"values": values, "segment_ids": np.cumsum(head_flags)})
    sums = pl.col("values").cum_sum().over("segment_ids")
    return lambda: frame.select(sums)


def _pandas_concatenate(*pieces: np.ndarray) -> Call:
    series = [pd.Series(piece) for piece in pieces]
    return lambda: pd.concat(series, ignore_index=True)


def _polars_concatenate(*pieces: np.ndarray) -> Call:
    series = [pl.Series(piece) for piece in pieces]
    return lambda: pl.concat(series, rechunk=True)


def _segment_sums(num_segments: int) -> dict[str, Callable[..., Call]]:
    return {
        "jaxframes": with_jax(lambda values, ids: local.segment_sum(values, ids, num_segments)),
        "jnp": with_jax(lambda values, ids: jax.ops.segment_sum(values, ids, num_segments)),
        "numpy": with_numpy(lambda values, ids: np.bincount(ids, values, num_segments)),
        "pandas": with_pandas_frames(
            lambda frame: frame.groupby("segment_ids")["values"].sum(), "values", "segment_ids"
        ),
        "polars": with_polars_frames(_polars_segment_sum, "values", "segment_ids"),
    }


def _polars_segment_sum(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by("segment_ids").agg(pl.col("values").sum())


IMPLEMENTATIONS: dict[str, dict[str, Callable[..., Call]]] = {
    "radix_argsort": {
        "jaxframes": with_jax(local.radix_argsort),
        "jnp": with_jax(jnp.argsort),
        "numpy_stable": with_numpy(functools.partial(np.argsort, kind="stable")),
        "numpy": with_numpy(np.argsort),
        "pandas": with_pandas(lambda keys: keys.argsort(kind="stable")),
        "polars": with_polars(lambda keys: keys.arg_sort()),
    },
    "radix_sort": {
        "jaxframes": with_jax(local.radix_sort),
        "jnp": with_jax(jnp.sort),
        "numpy_stable": with_numpy(functools.partial(np.sort, kind="stable")),
        "numpy": with_numpy(np.sort),
        "pandas": with_pandas(lambda keys: keys.sort_values(kind="stable", ignore_index=True)),
        "polars": with_polars(lambda keys: keys.sort()),
    },
    "radix_sort with values": {
        "jaxframes": with_jax(lambda keys, values: local.radix_sort(keys, values=values)),
        "jnp": with_jax(lambda keys, values: jax.lax.sort((keys, values), num_keys=1)),
        "numpy_stable": with_numpy(_numpy_sort_with_values),
        "pandas": with_pandas_frames(
            lambda frame: frame.sort_values("keys", kind="stable", ignore_index=True),
            "keys",
            "values",
        ),
        "polars": with_polars_frames(
            lambda frame: frame.sort("keys", maintain_order=True), "keys", "values"
        ),
    },
    "top_k": {
        "jaxframes": with_jax(lambda keys: local.top_k(keys, TOP)),
        "jnp": with_jax(lambda keys: jax.lax.top_k(keys, TOP)),
        "numpy": with_numpy(_numpy_top_k),
        "pandas": with_pandas(lambda keys: keys.nlargest(TOP)),
        "polars": _polars_top_k,
    },
    "compact": {
        "jaxframes": with_jax(local.compact),
        "jnp": with_jax(_jnp_compact),
        "numpy": with_numpy(lambda mask, rows: rows[mask]),
        "pandas": with_pandas_frames(lambda frame: frame[frame["mask"]], "mask", "rows"),
        "polars": with_polars_frames(lambda frame: frame.filter(pl.col("mask")), "mask", "rows"),
    },
    "gather_rows": {
        "jaxframes": with_jax(local.gather_rows),
        "jnp": with_jax(lambda rows, row_ids: rows[row_ids]),
        "numpy": with_numpy(lambda rows, row_ids: rows[row_ids]),
        "pandas": lambda rows, row_ids: functools.partial(pd.Series(rows).take, row_ids),
        "polars": lambda rows, row_ids: functools.partial(pl.Series(rows).gather, row_ids),
    },
    "unique": {
        "jaxframes": with_jax(local.unique),
        "jnp": with_jax(_jnp_unique),
        "numpy": with_numpy(_numpy_unique),
        "pandas": with_pandas(lambda keys: np.sort(keys.unique())),
        "polars": with_polars(lambda keys: keys.unique().sort()),
    },
    "factorize": {
        "jaxframes": functools.partial(_jax_factorize, sort=True),
        "numpy": with_numpy(lambda keys: np.unique(keys, return_inverse=True)),
        "pandas": with_pandas(lambda keys: pd.factorize(keys, sort=True)),
        "polars": _polars_factorize,
    },
    "factorize by first row": {
        "jaxframes": functools.partial(_jax_factorize, sort=False),
        "pandas": with_pandas(lambda keys: pd.factorize(keys)),
    },
    "isin": {
        "jaxframes": with_jax(local.isin),
        # By default it compares every key with every other.
        "jnp": with_jax(functools.partial(jnp.isin, method="sort")),
        "numpy": with_numpy(np.isin),
        "pandas": _pandas_isin,
        "polars": _polars_isin,
    },
    "join": _JOINS,
    "cross join": {
        "jaxframes": _jax_cross_join,
        "pandas": _pandas_cross_join,
        "polars": _polars_cross_join,
    },
    "join many to many": _JOINS,
    "merge": {
        "jaxframes": with_jax(local.merge),
        "jnp": with_jax(lambda a, b: jnp.sort(jnp.concatenate([a, b]))),
        "numpy_stable": with_numpy(lambda a, b: np.sort(np.concatenate([a, b]), kind="stable")),
        "pandas": _pandas_merge,
        "polars": _polars_merge,
    },
    "bucket": {
        "jaxframes": with_jax(lambda rows, ids: local.bucket(rows, ids, NUM_BUCKETS)),
        "jnp": with_jax(_jnp_bucket),
        "numpy_stable": with_numpy(_numpy_bucket),
        "pandas": with_pandas_frames(
            lambda frame: frame.sort_values("bucket_ids", kind="stable", ignore_index=True),
            "values",
            "bucket_ids",
        ),
        "polars": with_polars_frames(
            lambda frame: frame.partition_by("bucket_ids", maintain_order=True),
            "values",
            "bucket_ids",
        ),
    },
    "inclusive_scan": {
        "jaxframes": with_jax(local.inclusive_scan),
        "jnp": with_jax(lambda keys: jnp.cumsum(keys, dtype=keys.dtype)),
        "associative_scan": with_jax(lambda keys: jax.lax.associative_scan(jnp.add, keys)),
        "numpy": with_numpy(lambda keys: np.cumsum(keys, dtype=keys.dtype)),
        "pandas": with_pandas(lambda keys: keys.cumsum()),
        "polars": with_polars(lambda keys: keys.cum_sum()),
    },
    "linear_recurrence": {
        "jaxframes": with_jax(local.linear_recurrence),
        "associative_scan": with_jax(_jnp_recurrence),
        "lax.scan": with_jax(_lax_recurrence),
    },
    "segmented_scan": {
        "jaxframes": with_jax(lambda keys, flags: local.segmented_scan(keys, head_flags=flags)),
        "associative_scan": with_jax(_jnp_segmented_scan),
        "pandas": _pandas_segmented_scan,
        "polars": _polars_segmented_scan,
    },
    "reduce": {
        "jaxframes": with_jax(lambda keys: local.reduce(keys, "sum").values),
        "jnp": with_jax(lambda keys: jnp.sum(keys, dtype=keys.dtype)),
        "numpy": with_numpy(np.sum),
        "pandas": with_pandas(lambda keys: keys.sum()),
        "polars": with_polars(lambda keys: keys.sum()),
    },
    "reduce with a mask": {
        "jaxframes": with_jax(lambda keys, mask: local.reduce(keys, "var", where=mask).values),
        "jnp": with_jax(lambda keys, mask: jnp.var(keys, where=mask)),
        "numpy": with_numpy(lambda keys, mask: np.var(keys, where=mask)),
        "pandas": with_pandas_frames(
            lambda frame: frame["keys"][frame["mask"]].var(ddof=0), "keys", "mask"
        ),
        "polars": with_polars_frames(
            lambda frame: frame.filter(pl.col("mask"))["keys"].var(ddof=0), "keys", "mask"
        ),
    },
    "windowed_reduce": {
        "jaxframes": with_jax(lambda keys: local.windowed_reduce(keys, WINDOW, "max").values),
        "pandas": with_pandas(lambda keys: keys.rolling(WINDOW, min_periods=1).max()),
        "polars": with_polars(lambda keys: keys.rolling_max(WINDOW, min_samples=1)),
    },
    "concatenate": {
        "jaxframes": with_jax(lambda *pieces: local.concatenate(pieces, [None] * NUM_PIECES)),
        "jnp": with_jax(lambda *pieces: jnp.concatenate(pieces)),
        "numpy": with_numpy(lambda *pieces: np.concatenate(pieces)),
        "pandas": _pandas_concatenate,
        "polars": _polars_concatenate,
    },
    "segment_sum": _segment_sums(NUM_SEGMENTS),
    "segment_sum of few": _segment_sums(FEW_SEGMENTS),
    "segment_sum of many": _segment_sums(MANY_SEGMENTS),
    "histogram": {
        "jaxframes": with_jax(lambda keys: local.histogram(keys, bins=NUM_BINS)),
        "jnp": with_jax(lambda keys: jnp.histogram(keys, NUM_BINS)),
        "numpy": with_numpy(lambda keys: np.histogram(keys, NUM_BINS)),
    },
    "digit_histogram": {
        "jaxframes": with_jax(lambda keys: local.digit_histogram(keys, 0, 8)),
        "jnp": with_jax(lambda keys: jnp.bincount(keys, length=2**8)),
        "numpy": with_numpy(lambda keys: np.bincount(keys, minlength=2**8)),
    },
    **KEY_IMPLEMENTATIONS,
    **SEGMENT_IMPLEMENTATIONS,
    **FRAME_IMPLEMENTATIONS,
}

# SPDX-License-Identifier: Apache-2.0
"""Ops on keys in this library and in the few other libraries that have them."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
from jaxframes import primitives
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

QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
RANKS = (0, 100, 1000)
SEVERAL = ("sum", "mean", "max", "count")


def _numpy_runs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    heads = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[heads], np.diff(heads, append=len(keys))


def _jnp_segmented_sort(keys: jax.Array, segment_ids: jax.Array) -> jax.Array:
    return jax.lax.sort((segment_ids, keys), num_keys=2)[1]


def _numpy_segmented_sort(keys: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
    return keys[np.lexsort((keys, segment_ids))]


def _jnp_sums(keys: jax.Array, values: jax.Array) -> tuple[jax.Array, jax.Array]:
    unique_keys, inverse = jnp.unique(keys, size=keys.shape[0], return_inverse=True)
    return unique_keys, jax.ops.segment_sum(values, inverse, keys.shape[0])


def _several_reductions(keys: np.ndarray, values: np.ndarray) -> Call:
    # Not compiled as a whole: an eager call inspects the keys and sizes its tables.
    keys_on_device, leaf = jax.device_put((keys, values))
    leaves, ops = [leaf] * len(SEVERAL), list(SEVERAL)
    return lambda: jax.block_until_ready(primitives.reduce_by_key(keys_on_device, leaves, ops))


def _polars_runs(keys: np.ndarray) -> Call:
    return functools.partial(pl.Series("keys", keys).rle)


KEY_IMPLEMENTATIONS: dict[str, dict[str, Callable[..., Call]]] = {
    "segmented_sort": {
        "jaxframes": with_jax(local.segmented_sort),
        "jnp": with_jax(_jnp_segmented_sort),
        "numpy": with_numpy(_numpy_segmented_sort),
        "pandas": with_pandas_frames(
            lambda frame: frame.sort_values(["ids", "keys"]), "keys", "ids"
        ),
        "polars": with_polars_frames(lambda frame: frame.sort("ids", "keys"), "keys", "ids"),
    },
    "searchsorted": {
        "jaxframes": with_jax(local.searchsorted),
        "jnp": with_jax(jnp.searchsorted),
        "numpy": with_numpy(np.searchsorted),
    },
    "select_rank": {
        "jaxframes": with_jax(lambda keys: local.select_rank(keys, np.array(RANKS))),
        "jnp": with_jax(lambda keys: jnp.sort(keys)[np.array(RANKS)]),
        "numpy": with_numpy(lambda keys: np.partition(keys, RANKS)[list(RANKS)]),
    },
    "quantile": {
        "jaxframes": with_jax(lambda keys: local.quantile(keys, np.array(QUANTILES))),
        "jnp": with_jax(lambda keys: jnp.quantile(keys, np.array(QUANTILES))),
        "numpy": with_numpy(lambda keys: np.quantile(keys, QUANTILES)),
        "pandas": with_pandas(lambda keys: keys.quantile(list(QUANTILES))),
        "polars": with_polars(lambda keys: [keys.quantile(q) for q in QUANTILES]),
    },
    "run_length_encode": {
        "jaxframes": with_jax(local.run_length_encode),
        "numpy": with_numpy(_numpy_runs),
        "polars": _polars_runs,
    },
    "reduce_by_key": {
        "jaxframes": with_jax(lambda keys, values: local.reduce_by_key(keys, values, "sum")),
        "jnp": with_jax(_jnp_sums),
        "pandas": with_pandas_frames(lambda frame: frame.groupby("keys").sum(), "keys", "values"),
        "polars": with_polars_frames(
            lambda frame: frame.group_by("keys").agg(pl.col("values").sum()).sort("keys"),
            "keys",
            "values",
        ),
    },
    "reduce_by_key of several": {
        "jaxframes": _several_reductions,
        "pandas": with_pandas_frames(
            lambda frame: frame.groupby("keys").agg(list(SEVERAL)), "keys", "values"
        ),
        "polars": with_polars_frames(
            lambda frame: (
                frame.group_by("keys")
                .agg([getattr(pl.col("values"), op)().alias(op) for op in SEVERAL])
                .sort("keys")
            ),
            "keys",
            "values",
        ),
    },
    "set_intersection": {
        "jaxframes": with_jax(local.set_intersection),
        "jnp": with_jax(lambda a, b: jnp.intersect1d(a, b, size=a.shape[0])),
        "numpy": with_numpy(np.intersect1d),
        "pandas": lambda a, b: functools.partial(pd.Index(a).intersection, pd.Index(b)),
    },
}

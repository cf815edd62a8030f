# SPDX-License-Identifier: Apache-2.0
"""Keys that sorting code is tried on, by name. Seeded: the same arguments give the same keys.

`num_shards` shapes the distributions that are hard for one number of shards: rows lie along the
shards in order, as many on each.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

KEY_DTYPES = tuple(
    np.dtype(dtype)
    for dtype in (
        bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
        np.float16, jnp.bfloat16, np.float32, np.float64,
    )
)  # fmt: skip
FLOAT_DTYPES = tuple(dtype for dtype in KEY_DTYPES if jnp.issubdtype(dtype, jnp.floating))
INTEGER_DTYPES = tuple(dtype for dtype in KEY_DTYPES if jnp.issubdtype(dtype, jnp.integer))


def make_keys(
    distribution: str, num_rows: int, dtype: Any, num_shards: int = 8, seed: int = 0
) -> np.ndarray:
    """Draws `num_rows` keys of a named distribution."""
    rng = np.random.default_rng([seed, list(DISTRIBUTIONS).index(distribution)])
    return DISTRIBUTIONS[distribution](num_rows, np.dtype(dtype), num_shards, rng)


def distributions_for(dtype: Any) -> tuple[str, ...]:
    """The names that make sense for a dtype."""
    is_float = np.dtype(dtype) in FLOAT_DTYPES
    return tuple(name for name in DISTRIBUTIONS if is_float or name not in FLOAT_ONLY)


def _uniform(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Integers over the whole range; floats of many magnitudes."""
    if dtype.kind == "b":
        return rng.integers(0, 2, num_rows).astype(bool)
    if dtype in INTEGER_DTYPES:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, num_rows, dtype, endpoint=True)
    magnitudes = np.exp2(rng.integers(-8, 8, num_rows).astype(np.float64))
    return (rng.standard_normal(num_rows) * magnitudes).astype(dtype)


def _of_ranks(ranks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Small non-negative integers as keys of any dtype, wrapped where the dtype is too narrow."""
    if dtype.kind == "b":
        return ranks % 2 == 1
    if dtype in FLOAT_DTYPES:
        # Beyond its mantissa a float no longer tells neighbouring integers apart.
        limit = 2 ** (jnp.finfo(dtype).nmant + 1)
    else:
        limit = min(np.iinfo(dtype).max, 2**31)
    return (ranks % limit).astype(dtype)


def _shard_of_row(num_rows: int, num_shards: int) -> np.ndarray:
    return np.arange(num_rows) * num_shards // max(num_rows, 1)


def _four_values(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    return _uniform(4, dtype, num_shards, rng)[rng.integers(0, 4, num_rows)]


def _constant(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    return np.repeat(_uniform(1, dtype, num_shards, rng), num_rows)


def _all_max(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """The value that padding by a sentinel would collide with."""
    if dtype.kind == "b" or dtype in FLOAT_DTYPES:
        return np.full(num_rows, True if dtype.kind == "b" else np.inf, dtype)
    return np.full(num_rows, np.iinfo(dtype).max, dtype)


def _sorted(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    return np.sort(_uniform(num_rows, dtype, num_shards, rng))


def _reversed(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    return _sorted(num_rows, dtype, num_shards, rng)[::-1].copy()


def _rotated(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Sorted, then moved on by one shard."""
    return np.roll(_sorted(num_rows, dtype, num_shards, rng), -(-num_rows // num_shards))


def _zipf(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Few keys hold most rows."""
    return _of_ranks(np.minimum(rng.zipf(1.2, num_rows), 2**30) - 1, dtype)


def _two_valued(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """One key in ten rows, another in the rest."""
    return _of_ranks((rng.random(num_rows) < 0.1).astype(np.int64), dtype)


def _shard_constant(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Every shard holds one key, the shards not in the order of their keys."""
    return _of_ranks(rng.permutation(num_shards)[_shard_of_row(num_rows, num_shards)], dtype)


def _block_duplicated(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """One key in the first half of the rows, the next in half of the rest, and so on."""
    rows_left = num_rows - np.arange(num_rows)
    return _of_ranks(np.log2(rows_left).astype(np.int64), dtype)


def _staggered(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Each shard's keys lie in one range, the ranges of the odd shards below the even ones'."""
    shard_of_row = _shard_of_row(num_rows, num_shards)
    range_of_shard = np.argsort(np.argsort(np.arange(num_shards) % 2 == 0, kind="stable"))
    span = 128 // num_shards or 1
    return _of_ranks(range_of_shard[shard_of_row] * span + rng.integers(0, span, num_rows), dtype)


def _signed_zeros(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    return rng.choice(np.array([0.0, -0.0, 1.0, -1.0]), num_rows).astype(dtype)


def _nan_inf_sprinkled(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """NaNs of either sign and of several bit patterns among infinities and numbers."""
    keys = _uniform(num_rows, dtype, num_shards, rng)
    words = keys.view(f"u{dtype.itemsize}")
    infinity = np.array(np.inf, dtype).view(words.dtype)
    quiet = np.array(np.nan, dtype).view(words.dtype)
    sign = words.dtype.type(1 << (8 * dtype.itemsize - 1))
    specials = np.array([infinity, quiet, quiet + 1, infinity + 1])
    specials = np.concatenate([specials, specials | sign])
    is_special = rng.random(num_rows) < 0.3
    words[is_special] = rng.choice(specials, int(is_special.sum()))
    return keys


def _denormals(num_rows: int, dtype: np.dtype, num_shards: int, rng: Any) -> np.ndarray:
    """Numbers too small for a full mantissa, of both signs, and zeros."""
    word = np.dtype(f"u{dtype.itemsize}")
    sign = word.type(1 << (8 * dtype.itemsize - 1))
    smallest_normal = np.array(jnp.finfo(dtype).tiny, dtype).view(word)
    magnitudes = rng.integers(0, int(smallest_normal), num_rows).astype(word)
    return (magnitudes | rng.choice(np.array([0, sign], word), num_rows)).view(dtype)


DISTRIBUTIONS: dict[str, Callable[..., np.ndarray]] = {
    "uniform": _uniform,
    "four_values": _four_values,
    "constant": _constant,
    "all_max": _all_max,
    "sorted": _sorted,
    "reversed": _reversed,
    "rotated": _rotated,
    "zipf": _zipf,
    "two_valued": _two_valued,
    "shard_constant": _shard_constant,
    "block_duplicated": _block_duplicated,
    "staggered": _staggered,
    "signed_zeros": _signed_zeros,
    "nan_inf_sprinkled": _nan_inf_sprinkled,
    "denormals": _denormals,
}
FLOAT_ONLY = ("signed_zeros", "nan_inf_sprinkled", "denormals")
# The dtypes, the order and the bits of several key columns. Some fit one word together, some need
# two, and NaN must be last in its own column.
KEY_TUPLES = [
    (("bool", "int8", "uint16"), (False, True, False), None),
    (("int32", "float32"), (True, False), None),
    (("float64", "int64", "bfloat16"), (False, True, True), None),
    (("float16", "float64"), (True, True), None),
    (("uint64", "int32", "uint32"), (False, True, False), (3, None, 17)),
]

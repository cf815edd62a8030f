# SPDX-License-Identifier: Apache-2.0
"""Random orders of one device's rows."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_rows,
    as_static_int,
    as_valid_rows,
    num_rows_of,
)
from ..contract._random_rows import as_key_words, random_words
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree, Shaped
from ..tiers._tiered import tiered
from ._radix_sort import radix_argsort, radix_sort


def random_permutation(key: Shaped[ArrayLike, "..."], num_rows: int) -> Int[Array, " rows"]:
    """Draws a permutation of row ids; all are equally likely.

    Rows are sorted by 64 random bits, which depend on the key and the row's number alone. So a mesh
    of any size draws the same permutation.

    Args:
        key: a key of `jax.random`.
        num_rows: the number of rows. Static.

    Returns:
        The numbers from 0 to `num_rows - 1` in random order, int32.

    Raises:
        TypeError: `key` is not a key of `jax.random`, or `num_rows` is traced.
        ValueError: `key` is an array of keys, or `num_rows` is negative.

    Cost:
        Work O(rows x 8): 64 random bits for each row, and a sort by them. No communication.

    Guarantees:
        Deterministic. Equal bits of two rows, which occur with probability `rows**2 / 2**65`,
        leave these in order.

    Example:
        >>> import jax
        >>> from jaxframes.primitives import local
        >>> sorted(local.random_permutation(jax.random.key(0), 5).tolist())
        [0, 1, 2, 3, 4]
    """
    caller = "random_permutation"
    words = as_key_words(key, caller)
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, MAX_SHARD_ROWS)
    return _permutation(words, num_rows)


def shuffle(
    key: Shaped[ArrayLike, "..."],
    rows: PyTree,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Puts rows in random order; all orders are equally likely.

    The order is that of `random_permutation` of the same key, on every mesh.

    Args:
        key: a key of `jax.random`.
        rows: any pytree of arrays with the same leading axis.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The rows in random order. Padding stays behind the valid rows.

    Raises:
        TypeError: `key` is not a key of `jax.random`.
        ValueError: leading axes differ, or `key` is an array of keys.

    Cost:
        Work O(rows x (8 + row bytes)). No communication.

    Guarantees:
        Deterministic; differentiable in `rows`.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> sorted(local.shuffle(jax.random.key(0), jnp.array([20, 10, 30])).tolist())
        [10, 20, 30]
    """
    caller = "shuffle"
    words = as_key_words(key, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    return _shuffle(words, rows, as_valid_rows(num_valid, num_rows, caller))


@functools.partial(tiered, static_argnums=1)
def _permutation(words: Array, num_rows: int) -> Array:
    row_ids = jax.lax.iota(jnp.int32, num_rows)
    return radix_argsort(random_words(words, row_ids))


@tiered
def _shuffle(words: Array, rows: Any, num_valid: Array | None) -> Any:
    row_ids = jax.lax.iota(jnp.int32, jax.tree.leaves(rows)[0].shape[0])
    bits = random_words(words, row_ids)
    return radix_sort(bits, values=rows, num_valid=num_valid)[1]

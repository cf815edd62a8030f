# SPDX-License-Identifier: Apache-2.0
"""The k first rows in the order of a sort."""

import functools
from typing import NamedTuple

from ..contract._arguments import as_flag, as_keys, as_num_valid, as_static_int
from ..contract._key_bits import ordered_word
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Int, Integer, Shaped
from ..kernels.sort._top_k import top_k_words
from ..tiers._tiered import tiered


class TopK(NamedTuple):
    """The k first keys of a sort, and their row ids."""

    values: Shaped[Array, " k"]
    row_ids: Int[Array, " k"]


def top_k(
    x: ArrayLike,
    k: int,
    *,
    largest: bool = True,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> TopK:
    """Finds the k largest (or smallest) elements, in order.

    They are the first k rows of a stable sort in that direction, so ties go to the lowest row id,
    -0.0 equals 0.0, and NaN comes after every number, in both directions.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        k: number of elements. Static.
        largest: finds the largest elements if True, else the smallest.
        num_valid: number of valid rows, at the front; all rows by default. With fewer than `k`
            valid rows, padding fills the end of the result.

    Returns:
        `TopK(values, row_ids)`, each of shape `(k,)`; row ids are int32.

    Raises:
        ValueError: `k` is not in `[0, rows]`.
        TypeError: a dtype that is not a key dtype, or `k` is traced.

    Cost:
        Work O(rows) on CPU, a sort elsewhere. No communication.

    Guarantees:
        Stable; deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> top = local.top_k(jnp.array([5, 9, 9, 1]), 3)
        >>> top.values.tolist(), top.row_ids.tolist()
        ([9, 9, 5], [1, 2, 0])
    """
    caller = "top_k"
    largest = as_flag(largest, caller, "largest")
    columns, is_tuple = as_keys(x, caller, "x")
    if is_tuple:
        raise TypeError(
            f"{caller}: x must be one array, got a tuple of {len(columns)}. "
            "For several columns take the first rows of radix_argsort."
        )
    (column,) = columns
    num_rows = column.shape[0]
    k = as_static_int(k, caller, "k", 0, num_rows)
    return _select(column, as_num_valid(num_valid, num_rows, caller), k, largest)


@functools.partial(tiered, static_argnums=(2, 3))
def _select(column: Array, num_valid: Array, k: int, largest: bool) -> TopK:
    row_ids = top_k_words(ordered_word(column, descending=largest), k, num_valid)
    return TopK(take_rows(column, row_ids), row_ids)

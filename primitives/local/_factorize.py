# SPDX-License-Identifier: Apache-2.0
"""Dense group ids for the keys of one device's rows."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_flag, as_keys, as_num_valid
from ..contract._key_bits import ordered_words
from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..kernels.groups._factorize import WordGroups, factorize_words, number_groups
from ..tiers._tiered import tiered
from ._look_up import look_up


class Factorized(NamedTuple):
    """Keys as dense group ids: row `i` has the key `unique_keys[group_ids[i]]`.

    The first row with that key is `row_ids[group_ids[i]]`.
    """

    group_ids: Int[Array, " rows"]
    unique_keys: PyTree
    row_ids: Int[Array, " groups"] | None
    count: Int[Array, ""]


def factorize(
    keys: Keys,
    *,
    capacity: int | None = None,
    sort: bool = True,
    return_first: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Factorized:
    """Encodes keys as dense group ids: equal keys get equal ids.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first. -0.0
            equals 0.0, and all NaNs are equal.
        capacity: most distinct keys of the result. Static; by default the number of rows.
        sort: assign group ids in key order, NaN last; otherwise in the order of first rows.
        return_first: also return the first row of each key.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Factorized(group_ids, unique_keys, row_ids, count)`: the group id of each row, int32, -1 in
        padding; the distinct keys by group id, with the bits of their first rows, an array or a
        tuple, like the argument; the ids of these rows, `None` unless requested; and the number of
        keys. Padding keys are zero. `count > capacity` means that some did not fit; the group ids
        are correct anyway.

    Raises:
        TypeError: a dtype that cannot be a key, or `capacity` is traced.
        ValueError: arrays of different lengths, or `capacity` is negative.

    Cost:
        Work O(rows) on CPU, for a single column (or several that fit one word of 64 bits
        together); a sort elsewhere. No communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    References:
        Manegold, Boncz, Kersten (2002), "Optimizing main-memory join on modern hardware"
        (partitioning by hash); Belazzougui, Botelho, Dietzfelbinger (2009), "Hash, displace, and
        compress" (the table of few keys).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> groups = local.factorize(jnp.array([30, 10, 30, 20]), capacity=4, return_first=True)
        >>> groups.group_ids.tolist(), groups.unique_keys.tolist(), groups.count.tolist()
        ([2, 0, 2, 1], [10, 20, 30, 0], 3)
        >>> groups.row_ids.tolist()
        [1, 3, 0, 0]
        >>> local.factorize(jnp.array([30, 10, 30, 20]), sort=False).group_ids.tolist()
        [0, 1, 0, 2]
    """
    caller = "factorize"
    return_first = as_flag(return_first, caller, "return_first")
    sort = as_flag(sort, caller, "sort")
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    groups = factorize_columns(columns, valid, capacity, sort)
    unique_columns = keys_of_groups(columns, groups.first_row_ids, groups.count)
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    row_ids = groups.first_row_ids if return_first else None
    return Factorized(groups.group_ids, unique_keys, row_ids, groups.count)


# Compiled as one program: an eager call would copy the kernel's results and its scratch memory.
@functools.partial(tiered, static_argnums=(2, 3))
def factorize_columns(
    columns: tuple[Any, ...], num_valid: Array, capacity: int, in_key_order: bool
) -> WordGroups:
    """Assigns group ids to the distinct rows of checked key columns."""
    words = ordered_words(columns, (False,) * len(columns))
    if len(words) == 1:
        return factorize_words(words[0], num_valid, capacity, in_key_order=in_key_order)
    return number_groups(words, num_valid, capacity, in_key_order=in_key_order)


@tiered
def keys_of_groups(
    columns: tuple[Array, ...], first_row_ids: Array, count: Array
) -> tuple[Array, ...]:
    """The keys of `count` groups, taken from their first rows and padded with zeros."""
    is_group = jax.lax.iota(jnp.int32, first_row_ids.shape[0]) < count
    return look_up(columns, jnp.where(is_group, first_row_ids, -1), _rows_or_zeros)


def _rows_or_zeros(columns: tuple[Array, ...], row_ids: Array) -> tuple[Array, ...]:
    return take_rows_or_zeros(columns, jnp.maximum(row_ids, 0), row_ids >= 0)

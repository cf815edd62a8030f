# SPDX-License-Identifier: Apache-2.0
"""The distinct keys of one device's rows."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_flag, as_keys, as_num_valid, as_valid_rows
from ..contract._key_bits import ordered_words
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..tiers._tiered import tiered
from ._radix_sort import radix_sort
from ._runs import find_runs, runs_of_words


class Unique(NamedTuple):
    """The distinct keys in order, and the requested results; None for the others."""

    unique_keys: PyTree
    row_ids: Int[Array, " groups"] | None
    inverse: Int[Array, " rows"] | None
    counts: Int[Array, " groups"] | None
    count: Int[Array, ""]


def unique(
    keys: Keys,
    *,
    capacity: int | None = None,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Unique:
    """Finds the distinct keys, in order.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first. Keys are
            equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        capacity: most distinct keys of the result. Static; by default the number of rows.
        return_index: also return the first row of each key.
        return_inverse: also return, for each row, the position of its key among the distinct ones.
        return_counts: also return the number of rows of each key.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Unique(unique_keys, row_ids, inverse, counts, count)`, ascending, NaN last, padded with
        zeros; `None` for results that were not requested. A key has the bits of its first row.
        `inverse` has an entry for each row, zero in padding. `count > capacity` means that keys did
        not fit: the first `capacity` of them are there.

    Raises:
        TypeError: a dtype that is not a key dtype, or `capacity` is traced.
        ValueError: keys that differ in length or are not one-dimensional.

    Cost:
        Work O(rows x key bytes): a sort of the keys alone, or with row ids if other results are
        requested. No communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> found = local.unique(jnp.array([7, 3, 7, 5]), capacity=4, return_inverse=True)
        >>> found.unique_keys.tolist(), found.inverse.tolist(), found.count.tolist()
        ([3, 5, 7, 0], [2, 0, 2, 1], 3)
    """
    caller = "unique"
    return_index = as_flag(return_index, caller, "return_index")
    return_inverse = as_flag(return_inverse, caller, "return_inverse")
    return_counts = as_flag(return_counts, caller, "return_counts")
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_valid_rows(num_valid, num_rows, caller)
    asked = (return_index, return_inverse, return_counts)
    unique_columns, *rest = unique_columns_of(columns, valid, capacity, asked)
    return Unique(unique_columns if is_tuple else unique_columns[0], *rest)


@functools.partial(tiered, static_argnums=(2, 3))
def unique_columns_of(
    columns: tuple[Array, ...],
    num_valid: Array | None,
    capacity: int,
    asked: tuple[bool, bool, bool],
) -> tuple[Any, ...]:
    """The distinct keys of checked columns; row ids, inverse and counts; and their number.

    If all rows are valid, `num_valid` is None, and the sort needs no mask.
    """
    with_index, with_inverse, with_counts = asked
    given, num_rows = num_valid, columns[0].shape[0]
    if num_valid is None:
        num_valid = as_num_valid(None, num_rows, "unique")
    if with_index or with_inverse:
        runs = find_runs(columns, num_valid, is_sorted=False)
        row_ids = jax.lax.iota(jnp.int32, num_rows) if with_index else None
        rows, sorted_rows = (columns, row_ids), (runs.columns, runs.row_ids if with_index else None)
    else:
        # No row ids are needed: the keys alone are sorted.
        columns = radix_sort(columns, num_valid=given)
        words = ordered_words(columns, (False,) * len(columns))
        runs, sorted_rows = runs_of_words(words, None, num_valid, columns), None
        rows = (columns, None)
    (unique_columns, row_ids), count = runs.first_rows(rows, capacity, sorted_rows)
    inverse = runs.of_rows(jnp.maximum(runs.segment_ids, 0)) if with_inverse else None
    counts = runs.lengths(capacity) if with_counts else None
    return unique_columns, row_ids, inverse, counts, count

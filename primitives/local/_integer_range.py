# SPDX-License-Identifier: Apache-2.0
"""The range of a column of integers."""

from typing import NamedTuple

import jax.numpy as jnp

from ..contract._arguments import as_key, as_num_valid, type_of
from ..contract._typing import Array, ArrayLike, Integer
from ..kernels.reduce._integer_range import range_of_integers
from ..tiers._tiered import tiered


class IntegerRange(NamedTuple):
    """The smallest and the largest integer of a column."""

    least: Integer[Array, ""]
    greatest: Integer[Array, ""]


def integer_range(
    x: Integer[ArrayLike, " rows"],
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> IntegerRange:
    """Finds the smallest and the largest integer of a column.

    Integers in a narrow range can serve as segment ids directly: see `first_id` of
    `segment_reduce`.

    Args:
        x: array of shape `(rows,)`, of integers.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `IntegerRange(least, greatest)`, two numbers of the dtype of `x`. Without valid rows they
        are the largest and the smallest number of that dtype.

    Raises:
        TypeError: `x` does not hold integers.
        ValueError: `x` is not one-dimensional.

    Cost:
        Work O(rows). No communication.

    Guarantees:
        Deterministic.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> found = local.integer_range(jnp.array([7, 3, 9, 4]), num_valid=2)
        >>> found.least.tolist(), found.greatest.tolist()
        (3, 7)
    """
    caller = "integer_range"
    column = as_key(x, caller)
    if not jnp.issubdtype(column.dtype, jnp.integer):
        raise TypeError(f"{caller}: x must be integers, got {type_of(column)}.")
    return _range_of(column, as_num_valid(num_valid, column.shape[0], caller))


@tiered
def _range_of(column: Array, num_valid: Array) -> IntegerRange:
    return IntegerRange(*range_of_integers(column, num_valid))

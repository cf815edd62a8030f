# SPDX-License-Identifier: Apache-2.0
"""Key columns of two sides."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import MAX_SHARD_ROWS, as_keys, as_num_valid, as_pair, type_of
from ..contract._custom_jvp import custom_jvp
from ..contract._typing import Array
from ..kernels.join._grouped_sides import one_after_the_other
from ._searchsorted import check_same_columns


class KeySides(NamedTuple):
    """Checked key columns of `a` and of `b`, and their numbers of valid rows."""

    a: tuple[Array, ...]
    b: tuple[Array, ...]
    num_a: Array
    num_b: Array

    def swapped(self) -> "KeySides":
        """Exchanges `a` and `b`."""
        return KeySides(self.b, self.a, self.num_b, self.num_a)

    def stacked(self) -> tuple[Array, ...]:
        """Concatenates the valid rows of `a` and `b`, with all padding at the end."""
        return stack_columns(self.a, self.b, self.num_a)


def as_key_sides(
    a: Any,
    b: Any,
    num_valid: Any,
    caller: str,
    names: tuple[str, str],
    num_shards: int = 1,
    *,
    are_compared: bool = True,
) -> tuple[KeySides, bool]:
    """Checks the keys of two sides; returns them, and whether those of `a` are a tuple."""
    a_columns, is_tuple = as_keys(a, caller, names[0], num_shards)
    b_columns, _ = as_keys(b, caller, names[1], num_shards)
    if are_compared:
        check_same_columns(a_columns, b_columns, caller, *names)
    check_rows_of_sides(a_columns, b_columns, caller, names, num_shards)
    valid_a, valid_b = as_pair(num_valid, caller, "num_valid")
    counts = (
        as_num_valid(valid_a, a_columns[0].shape[0], caller),
        as_num_valid(valid_b, b_columns[0].shape[0], caller),
    )
    return KeySides(a_columns, b_columns, *counts), is_tuple


def check_rows_of_sides(
    a: tuple[Array, ...],
    b: tuple[Array, ...],
    caller: str,
    names: tuple[str, str],
    num_shards: int = 1,
) -> None:
    """Raises if the shards cannot hold the rows of both sides."""
    if a[0].shape[0] + b[0].shape[0] > num_shards * MAX_SHARD_ROWS:
        raise ValueError(
            f"{caller}: {names[0]} and {names[1]} together must hold fewer than 2**31 rows, got "
            f"{type_of(a[0])} and {type_of(b[0])}. Spread the rows over more devices."
        )


def stack_columns(a: tuple[Array, ...], b: tuple[Array, ...], num_a: Array) -> tuple[Array, ...]:
    """Concatenates the first `num_a` rows of each column of `a` with the column of `b`."""
    return tuple(
        (_stack_bits if a_column.dtype == jnp.bfloat16 else one_after_the_other)(
            a_column, b_column, num_a
        )
        for a_column, b_column in zip(a, b, strict=True)
    )


@custom_jvp
def _stack_bits(a: Array, b: Array, num_a: Array) -> Array:
    # XLA on CPU moves bfloat16 through float32, which rewrites NaNs.
    a_words, b_words = (jax.lax.bitcast_convert_type(side, jnp.uint16) for side in (a, b))
    return jax.lax.bitcast_convert_type(one_after_the_other(a_words, b_words, num_a), jnp.bfloat16)


@_stack_bits.defjvp
def _stack_tangents(
    primals: tuple[Array, Array, Array], tangents: tuple[Array, Array, Any], stacked: Array
) -> Array:
    del stacked
    a_tangent, b_tangent, _ = tangents
    return one_after_the_other(a_tangent, b_tangent, primals[2])

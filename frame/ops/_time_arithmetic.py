# SPDX-License-Identifier: Apache-2.0
"""Sums, multiples and quotients of times, as arrays of counts: NaT, and results past the range."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, Array
from ..table._table import Count, is_row
from ..table._tracing import at_once, is_traced
from ..table._types import Function
from ._array_ops import divided


def checked(compute: Function, op: str, *operands: object) -> Array:
    """Computes times, and raises pandas' error outside `jit` if one is past the range of its unit.

    Inside `jit` such a time is NaT.
    """
    data, is_any_lost = at_once(compute, op, *operands)
    if not is_traced(is_any_lost) and bool(is_any_lost):
        remedy = "Convert the times to a coarser unit first, with astype."
        if op in ("add", "sub"):
            raise OverflowError(f"Overflow in int64 addition. {remedy}")
        what = "int64 multiplication" if op == "mul" else "timedelta division"
        raise pd.errors.OutOfBoundsTimedelta(f"Overflow in {what}. {remedy}")
    return data


@functools.partial(tiered, static_argnums=0)
def sum_of_times(op: str, a: Array, b: Array, num_rows: Count) -> tuple[Array, Array]:
    """Adds, subtracts or takes the remainder of counts of one unit; see `checked`."""
    is_missing = (a == NAT) | (b == NAT)
    if op == "mod":
        result = jnp.where(b == 0, a, jnp.remainder(a, jnp.where(b == 0, np.int64(1), b)))
        return jnp.where(is_missing, np.int64(NAT), result), jnp.zeros((), jnp.bool_)
    result = a + b if op == "add" else a - b
    # The sign is wrong if the result wrapped around.
    signs = (a ^ result) & (b ^ result) if op == "add" else (a ^ b) & (a ^ result)
    is_lost = ~is_missing & ((signs < 0) | (result == NAT))
    return counts_kept(result, is_missing, is_lost, num_rows)


def product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of counts and integers, and where it is past the range."""
    result = a * b.astype(jnp.int64)
    # Rounded, the product is too large, or tells the sign that the result must have.
    rounded = a.astype(jnp.float64) * b.astype(jnp.float64)
    is_wrapped = (rounded != 0) & ((rounded < 0) != (result < 0))
    return result, (jnp.abs(rounded) > 1.5 * 2**63) | is_wrapped | (result == NAT)


def counts_kept(
    counts: Array, is_missing: Array, is_lost: Array, num_rows: Count
) -> tuple[Array, Array]:
    """Counts with NaT in the place of flagged ones, and whether a row of the table was lost."""
    is_any_lost = jnp.any(is_lost & is_row(counts.shape[0], num_rows))
    return jnp.where(is_missing | is_lost, np.int64(NAT), counts), is_any_lost


@functools.partial(tiered, static_argnums=0)
def quotient(op: str, a: Array, b: Array) -> tuple[Array, Array | None]:
    """The quotient of counts of one unit, and flags of those that are not missing."""
    is_missing = (a == NAT) | (b == NAT)
    if op == "floordiv":
        by_zero = b == 0
        result = jnp.floor_divide(a, jnp.where(by_zero, np.int64(1), b))
        return jnp.where(by_zero, np.int64(0), result), ~is_missing
    x, y = a.astype(jnp.float64), b.astype(jnp.float64)
    # The `where` hides a uniform divisor from XLA; see `_truediv` in _array_ops.
    result = x / jnp.where(is_missing, x, y)
    return jnp.where(is_missing, np.float64(np.nan), result), None


@functools.partial(tiered, static_argnums=0)
def scaled(
    op: str, time: Array, factor: Array, valid: Array | None, num_rows: Count
) -> tuple[Array, Array]:
    """Multiplies or divides counts by numbers; see `checked`."""
    time = jnp.asarray(time)
    is_missing = (time == NAT) | (False if valid is None else ~valid)
    if jnp.issubdtype(factor.dtype, jnp.floating):
        result, is_nat, is_lost = _scaled_by_float(op, time, factor.astype(jnp.float64))
    else:
        result, is_nat, is_lost = _scaled_by_integer(op, time, factor)
    is_missing = is_missing | is_nat
    return counts_kept(result, is_missing, is_lost & ~is_missing, num_rows)


def _scaled_by_integer(op: str, time: Array, factor: Array) -> tuple[Array, Array, Array]:
    """The result, where it is NaT, and where it is past the range."""
    time, factor = jnp.broadcast_arrays(time, factor)
    divisor = factor.astype(jnp.int64)
    none = jnp.zeros(time.shape, jnp.bool_)
    if op == "mul":
        result, is_lost = product(time, factor)
        return result, none, is_lost
    by_zero = divisor == 0
    divisor = jnp.where(by_zero, np.int64(1), divisor)
    # As in NumPy: truncates towards zero, for floordiv too.
    quotient = jax.lax.div(time, divisor)
    if op != "mod":
        return quotient, by_zero, none
    return time - quotient * divisor, by_zero, none


def _scaled_by_float(op: str, time: Array, factor: Array) -> tuple[Array, Array, Array]:
    """The result, where it is NaT, and where it is past the range."""
    x = time.astype(jnp.float64)
    shape = jnp.broadcast_shapes(x.shape, factor.shape)
    x, y = jnp.broadcast_to(x, shape), jnp.broadcast_to(factor, shape)
    if op == "mul":
        result = x * y
        is_nat = jnp.isnan(result)
    else:
        result = divided(x, y)
        is_nat = jnp.isnan(y) | (y == 0)
    is_lost = ~is_nat & ~(jnp.abs(result) < 2.0**63)
    whole = jnp.where(is_nat | is_lost, 0.0, result).astype(jnp.int64)
    if op != "mod":
        return whole, is_nat, is_lost
    product = whole.astype(jnp.float64) * y
    is_nat = is_nat | ~jnp.isfinite(product)
    rest = time - jnp.where(is_nat, 0.0, product).astype(jnp.int64)
    return rest, is_nat, is_lost

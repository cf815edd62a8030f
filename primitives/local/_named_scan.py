# SPDX-License-Identifier: Apache-2.0
"""Scans by a named operator, with derivatives.

A kernel scans the rows; it has no derivative. XLA scans the tangents, linearly, and only under
differentiation.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._associative_scan import associative_scan
from ..contract._custom_jvp import custom_jvp
from ..contract._scan_operators import Scan, is_kept
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import (
    fill_padding,
    per_row,
    scan_rows,
    scan_rows_xla,
    shift_rows,
    start_flags,
)
from ..tiers._tiered import tiered


@functools.partial(tiered, static_argnums=3)
def scan_named(rows: Any, heads: Array | None, num_valid: Array, scan: Scan) -> Any:
    """Scans every leaf of a pytree; see `scan_rows`."""

    def of_leaf(leaf: Array) -> Array:
        is_inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return (_scan if is_inexact else scan_rows)(leaf, heads, num_valid, scan)

    return jax.tree.map(of_leaf, rows)


@functools.partial(custom_jvp, nondiff_argnums=(3,))
def _scan(values: Array, heads: Array | None, num_valid: Array, scan: Scan) -> Array:
    return scan_rows(values, heads, num_valid, scan)


@_scan.defjvp
def _tangent_of_scan(scan: Scan, primals: Any, tangents: Any, scanned: Array) -> Array:
    del scanned
    values, heads, num_valid = primals
    tangent_of = {"add": _tangent_of_sum, "mul": _tangent_of_product}.get(
        scan.op, _tangent_of_extreme
    )
    tangent = tangent_of(values, tangents[0], heads, num_valid, scan._replace(exclusive=False))
    if scan.exclusive:
        tangent = shift_rows(tangent, heads, num_valid, scan.reverse, jnp.zeros((), tangent.dtype))
    return fill_padding(tangent, num_valid)


@functools.partial(tiered, static_argnums=4)
def _tangent_of_sum(
    values: Array, tangent: Array, heads: Array | None, num_valid: Array, scan: Scan
) -> Array:
    del values
    return scan_rows_xla(tangent, heads, num_valid, scan)


@functools.partial(tiered, static_argnums=4)
def _tangent_of_product(
    values: Array, tangent: Array, heads: Array | None, num_valid: Array, scan: Scan
) -> Array:
    """Scans (value, tangent) by the product rule, without quotients, which zeros would break."""
    one, zero = jnp.ones((), values.dtype), jnp.zeros((), values.dtype)
    values = fill_padding(values, num_valid, one)
    tangent = fill_padding(tangent, num_valid)

    def combine(left: Any, right: Any) -> Any:
        left_has_head, left_value, left_tangent = left
        right_has_head, right_value, right_tangent = right
        # A value before a head is replaced before the product: an infinity would turn its zero
        # derivative into NaN.
        left_value = jnp.where(right_has_head, one, left_value)
        left_tangent = jnp.where(right_has_head, zero, left_tangent)
        factor = jnp.where(right_has_head, one, right_value)
        total = left_tangent * factor + left_value * right_tangent
        return left_has_head | right_has_head, left_value * right_value, total

    if heads is None:
        heads = jnp.zeros_like(values, jnp.bool_, shape=values.shape[:1])
    triples = (per_row(heads, values.ndim), values, tangent)
    _, _, result = associative_scan(combine, triples, reverse=scan.reverse)
    return result


@functools.partial(tiered, static_argnums=4)
def _tangent_of_extreme(
    values: Array, tangent: Array, heads: Array | None, num_valid: Array, scan: Scan
) -> Array:
    """Takes the tangent of the row with the extreme so far."""
    values = jax.lax.stop_gradient(values)
    extremes = scan_rows(values, heads, num_valid, scan)
    previous = jnp.roll(extremes, -1 if scan.reverse else 1, axis=0)
    is_start = start_flags(heads, values.shape[0], num_valid, scan.reverse)
    is_new = per_row(is_start, values.ndim) | ~is_kept(scan.op, previous, values)
    # The extreme is in the last row that set a new one. That row is at or after the start of the
    # segment, so heads need no further check.
    row_ids = jax.lax.broadcasted_iota(jnp.int32, values.shape, 0)
    nowhere = np.int32(values.shape[0] if scan.reverse else -1)
    last = Scan("min" if scan.reverse else "max", scan.reverse, False)
    winners = scan_rows(jnp.where(is_new, row_ids, nowhere), None, num_valid, last)
    return jnp.take_along_axis(tangent, winners, axis=0, mode="promise_in_bounds")

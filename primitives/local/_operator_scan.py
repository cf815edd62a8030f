# SPDX-License-Identifier: Apache-2.0
"""Scans by a function, along the leading axes of a pytree."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._scan_operators import Scan
from ..contract._typing import Array
from ..kernels.scan._function_scan import scan_by_function
from ..kernels.scan._function_scan import where_rows as where_rows
from ..kernels.scan._segmented_scan import fill_padding, shift_rows, start_flags
from ..tiers._tiered import tiered


@functools.partial(tiered, static_argnums=(4, 5))
def scan_by_operator(
    rows: Any, heads: Array | None, num_valid: Array, initial: Any, scan: Scan, is_padded: bool
) -> Any:
    """`scan_rows` for a pytree; an exclusive scan starts each segment with `initial`."""
    combine = jax.vmap(scan.op)
    if is_padded:
        # Padding rows start too, and are constants: NaN in them must not reach a derivative.
        # Reversed they come first.
        num_rows = jax.tree.leaves(rows)[0].shape[0]
        is_padding = jax.lax.iota(jnp.int32, num_rows) >= num_valid
        heads = start_flags(heads, num_rows, num_valid, scan.reverse) | is_padding
        rows = where_rows(is_padding, jax.lax.stop_gradient(rows), rows)
    results = scan_by_function(scan.op, rows, heads, scan.reverse)
    if scan.exclusive:
        results = with_initial(combine, initial, results, heads, num_valid, scan.reverse)
    return jax.tree.map(lambda leaf: fill_padding(leaf, num_valid), results)


def with_initial(
    combine: Callable[..., Any],
    initial: Any,
    results: Any,
    heads: Array | None,
    num_valid: Array,
    reverse: bool,
) -> Any:
    """Converts inclusive results to exclusive ones that start each segment with `initial`."""
    num_rows = jax.tree.leaves(results)[0].shape[0]
    first = jax.tree.map(lambda row: jnp.broadcast_to(row[None], (num_rows, *row.shape)), initial)

    def shifted(start: Array, leaf: Array) -> Array:
        return shift_rows(leaf, heads, num_valid, reverse, start)

    # The derivative combines all rows: those of other segments must not be among them.
    continued = combine(first, jax.tree.map(shifted, first, results))
    is_start = start_flags(heads, num_rows, num_valid, reverse)
    return where_rows(is_start, first, continued)

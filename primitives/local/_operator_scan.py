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


@functools.partial(tiered, static_argnums=4)
def scan_by_operator(
    rows: Any, heads: Array | None, num_valid: Array, initial: Any, scan: Scan
) -> Any:
    """`scan_rows` for a pytree; an exclusive scan starts each segment with `initial`."""
    combine = jax.vmap(scan.op)
    if scan.reverse:
        # Padding comes first in the order of the scan.
        num_rows = jax.tree.leaves(rows)[0].shape[0]
        heads = start_flags(heads, num_rows, num_valid, reverse=True)
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
    continued = combine(first, results)
    return jax.tree.map(
        lambda start, leaf: shift_rows(leaf, heads, num_valid, reverse, start), first, continued
    )

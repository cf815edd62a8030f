# SPDX-License-Identifier: Apache-2.0
"""Inclusive scans by an associative function, on TPU."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ._block_scan_tpu import Operands, restarting, scan_columns


def scan_by_function_tpu(
    function: Callable[[Any, Any], Any],
    rows: Any,
    heads: Array | None,
    reverse: bool,
    interpret: Any = False,
) -> Any:
    """`scan_by_function` for columns of numbers of 32 bits, and a function of single numbers."""
    columns, structure = jax.tree.flatten(rows)
    combine_rows = jax.vmap(jax.vmap(function))

    def combine(left: Operands, right: Operands) -> Operands:
        combined = combine_rows(structure.unflatten(left), structure.unflatten(right))
        return tuple(jax.tree.leaves(combined))

    def load(operands: Operands, is_valid: Array) -> Operands:
        del is_valid
        flags = (leaf.astype(np.int32) for leaf in operands[len(columns) :])
        return (*operands[: len(columns)], *flags)

    num_rows = columns[0].shape[0]
    if reverse:
        # What a block holds past the rows comes first, and ends where the scan starts.
        is_start = jax.lax.iota(jnp.int32, num_rows) == num_rows - 1
        heads = is_start if heads is None else heads | is_start
    flags = () if heads is None else (heads.astype(np.int8),)
    results = scan_columns(
        combine if heads is None else restarting(combine),
        load,
        (*columns, *flags),
        jnp.asarray(num_rows, jnp.int32),
        reverse,
        num_results=len(columns),
        interpret=interpret,
    )
    return structure.unflatten(results)

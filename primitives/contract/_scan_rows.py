# SPDX-License-Identifier: Apache-2.0
"""A scan as one loop over the rows: the fastest way on a CPU core.

XLA compiles the loop to machine code that takes a few nanoseconds a row, and its size does not
depend on the number of rows. The derivative is one more loop, in the other direction.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from ...shardings._compat import as_varying, varying_axes
from ._typing import Array

State = TypeVar("State")
Row = TypeVar("Row")


def scan_rows_in_order(
    act: Callable[[State, Row], State],
    start: Callable[[Row], State],
    rows: Row,
    heads: Array | None,
    reverse: bool,
) -> State:
    """Returns the state after each row.

    Args:
        act: the state after a row, given the state before it.
        start: the state after a row that nothing comes before.
        rows: a pytree of arrays with one leading axis.
        heads: flags of the rows that nothing comes before, `bool[rows]`, or None. The first row in
            the order of the scan needs no flag.
        reverse: scans from the last row to the first.

    Cost:
        Work O(rows x row bytes), each row read and written once, one after the other.
    """
    axes = varying_axes(*jax.tree.leaves((rows, heads)))
    rows, heads = as_varying((rows, heads), axes)
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    if num_rows == 0:
        return jax.vmap(start)(rows)
    first = num_rows - 1 if reverse else 0
    is_start = jax.lax.iota(jnp.int32, num_rows) == first
    is_start = as_varying(is_start, axes) if heads is None else is_start | heads

    def step(state: State, row_and_flag: tuple[Row, Array]) -> tuple[State, State]:
        row, is_start = row_and_flag
        state = jax.tree.map(
            lambda alone, both: jnp.where(is_start, alone, both), start(row), act(state, row)
        )
        return state, state

    # The first row starts: the state before it is of no account.
    before = start(jax.tree.map(lambda leaf: leaf[first], rows))
    return jax.lax.scan(step, before, (rows, is_start), reverse=reverse)[1]

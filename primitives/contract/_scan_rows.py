# SPDX-License-Identifier: Apache-2.0
"""A scan as one loop over the rows: the fastest way on a CPU core.

XLA compiles the loop to machine code that takes a few nanoseconds a row, and its size does not
depend on the number of rows. The derivative is one more loop, in the other direction.
"""

import functools
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
    before: State | None = None,
) -> State:
    """Returns the state after each row.

    Args:
        act: the state after a row, given the state before it.
        start: the state after a row that nothing comes before.
        rows: a pytree of arrays with one leading axis.
        heads: flags of the rows that nothing comes before, `bool[rows]`, or None.
        reverse: scans from the last row to the first.
        before: the state before the first row; by default nothing comes before it.

    Cost:
        Work O(rows x row bytes), each row read and written once, one after the other.
    """
    axes = varying_axes(*jax.tree.leaves((rows, heads)))
    rows, heads = as_varying((rows, heads), axes)
    if jax.tree.leaves(rows)[0].shape[0] == 0:
        return jax.vmap(start)(rows)
    if before is None:
        return _after_first(act, start, rows, heads, reverse)

    def step(state: State, row_and_flag: tuple[Row, Array | None]) -> tuple[State, State]:
        row, is_start = row_and_flag
        if is_start is None:
            after = act(state, row)
        else:
            # The derivative acts here too: NaN of the rows before times zero is NaN.
            restart = functools.partial(jnp.where, is_start)
            first = start(row)
            after = act(jax.tree.map(restart, first, state), row)
            after = jax.tree.map(restart, first, after)
        return after, after

    states = as_varying(before, axes)
    return jax.lax.scan(step, states, (rows, heads), reverse=reverse, unroll=_unroll(rows))[1]


def _unroll(rows: object) -> int:
    """The rows of one turn of the loop: a few, if a row is one to three numbers.

    A turn costs as much as one such row. XLA computes the rows of a turn anew for each of them, so
    that more than four lose, and compiles a turn of the moments of a window for seconds.
    """
    leaves = jax.tree.leaves(rows)
    is_small = len(leaves) <= 3 and all(leaf.ndim == 1 for leaf in leaves)
    return 4 if is_small else 1


def _after_first(
    act: Callable[[State, Row], State],
    start: Callable[[Row], State],
    rows: Row,
    heads: Array | None,
    reverse: bool,
) -> State:
    """The scan whose first row is not part of the loop.

    There it would not act, but its derivative would: NaN times zero is NaN.
    """
    first, others = (-1, slice(-1)) if reverse else (0, slice(1, None))
    state = start(jax.tree.map(lambda leaf: leaf[first], rows))
    rows, heads = jax.tree.map(lambda leaf: leaf[others], (rows, heads))
    states = scan_rows_in_order(act, start, rows, heads, reverse, state)

    def joined(of_first: Array, of_others: Array) -> Array:
        parts = [of_first[None], of_others]
        return jnp.concatenate(parts[::-1] if reverse else parts)

    return jax.tree.map(joined, state, states)

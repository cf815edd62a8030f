# SPDX-License-Identifier: Apache-2.0
"""A scan by any associative function, in logarithmically many steps over whole arrays.

`jax.lax.associative_scan` assembles its parts by adding zeros, which turns -0.0 into 0.0. This one
adds -0.0, which changes no number.

References:
    Blelloch (1990), "Prefix sums and their applications", CMU-CS-90-190.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ._typing import Array

Rows = TypeVar("Rows")


def associative_scan(
    combine: Callable[[Rows, Rows], Rows], rows: Rows, reverse: bool = False
) -> Rows:
    """Combines each row with all rows before it, or after it if reversed.

    Args:
        combine: an associative function of two pytrees like `rows`, row by row.
        rows: a pytree of arrays with one leading axis.
        reverse: scans from the last row to the first; the first argument of `combine` is the row
            scanned earlier.

    Returns:
        The results, like `rows`.

    Cost:
        At most 2 x rows combinations, in 2 x log2(rows) steps.
    """
    if reverse:
        rows = jax.tree.map(lambda leaf: jnp.flip(leaf, 0), rows)
    results = _scan(combine, rows)
    return jax.tree.map(lambda leaf: jnp.flip(leaf, 0), results) if reverse else results


def _scan(combine: Callable[[Rows, Rows], Rows], rows: Rows) -> Rows:
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    if num_rows < 2:
        return rows
    # The combined pairs are scanned. This gives the results of the odd rows; those of the even
    # rows follow from them.
    firsts = _every_second(rows, 0, num_rows - 1)
    odd = _scan(combine, combine(firsts, _every_second(rows, 1, num_rows)))
    before = jax.tree.map(lambda leaf: leaf[:-1], odd) if num_rows % 2 == 0 else odd
    later = combine(before, _every_second(rows, 2, num_rows))
    even = jax.tree.map(lambda leaf, rest: jnp.concatenate([leaf[:1], rest]), rows, later)
    return jax.tree.map(_interleave, even, odd)


def _every_second(rows: Rows, start: int, stop: int) -> Rows:
    return jax.tree.map(lambda leaf: jax.lax.slice_in_dim(leaf, start, stop, 2), rows)


def _interleave(even: Array, odd: Array) -> Array:
    """Interleaves both arrays; `even` has as many rows as `odd`, or one more."""
    num_rows = even.shape[0] + odd.shape[0]
    rest = (0, 0, 0)
    padded = [
        jax.lax.pad(
            leaf,
            nothing_of(leaf.dtype),
            [(start, num_rows - start - 2 * leaf.shape[0] + 1, 1), *[rest] * (leaf.ndim - 1)],
        )
        for start, leaf in ((0, even), (1, odd))
    ]
    if even.dtype == jnp.bool_:
        return padded[0] | padded[1]
    return padded[0] + padded[1]


def nothing_of(dtype: np.dtype) -> np.ndarray:
    """The additive identity of a dtype that preserves every bit: -0.0, not 0.0."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return np.array(complex(-0.0, -0.0), dtype)
    return np.array(-0.0 if jnp.issubdtype(dtype, jnp.floating) else 0, dtype)

# SPDX-License-Identifier: Apache-2.0
"""Moments of the windows of rows that end with their own row: the C++ kernel on CPU."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ....shardings._compat import like_varying
from ...contract._typing import Array
from ..base._foreign import call


class WindowPlaces(NamedTuple):
    """The windows of all rows: each is the end of one block and the front of the next, or one part.

    Attributes:
        heads: whether a block begins with a row.
        first: the position of the first row of each window, int32.
        is_split: whether the window begins in the block before that of its own row.
        has_front: whether the rows of the block up to its own row are part of it.
    """

    heads: Array
    first: Array
    is_split: Array
    has_front: Array


def native_window_moments(
    columns: Sequence[Array], held: Array | None, places: WindowPlaces, num_sums: int
) -> tuple[Array, ...]:
    """The counts of the windows of one or two columns, and the sums of powers from their means.

    Args:
        columns: floats of shape `(rows, ...)`, zero where a row is not held.
        held: whether a row counts, bool of shape `(rows,)`; None if all do.
        places: of the windows.
        num_sums: 1 to 3 powers of one column; 3 for two: both squares and the products.
    """
    x = columns[0]
    num_rows, *others = x.shape
    width = math.prod(others)
    lines = [column.reshape(num_rows, width).T[None] for column in columns]
    flags = like_varying(jnp.zeros((0,), jnp.bool_), x) if held is None else held
    arrays: list[Any] = [array[None, None] for array in (*places, flags)]
    results = call(
        "jaxframes_window_moments_v1",
        (*arrays, *lines),
        [((width, num_rows), x.dtype)] * (1 + num_sums),
    )
    return tuple(column.T.reshape(num_rows, *others) for column in results)

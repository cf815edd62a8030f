# SPDX-License-Identifier: Apache-2.0
"""Few rows in pieces: programs that XLA's CPU client runs on the calling thread."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

# Whether functions are traced only for XLA, on one CPU device. JAX's caches tell its values
# apart.
for_xla = jax.make_user_context(False)

# XLA's CPU client wakes a thread for a program if it counts 1000 operations on elements, or more.
# It counts the body of a loop once. With up to seven operations per row, such a piece has fewer.
_MOST_ROWS_OF_PIECE = 128
# Shorter pieces would take more steps than the thread takes to wake up.
_LEAST_ROWS_OF_PIECE = 32
# For more rows, the loop takes as long as the thread needs to wake up.
_MOST_ROWS = 4096


def by_pieces(function: Callable[..., Any], *rows: jax.Array) -> Any:
    """Calls a function that computes each row by itself, for few rows in a loop over pieces.

    For `tiered(..., in_pieces=True)`: in the program that XLA compiles for one CPU device, whose
    caller would otherwise wait for another thread. Elsewhere it is `function(*rows)`. The function
    must have the same results, to the last bit, however its rows are divided: no products that are
    added, no transcendental functions.

    Args:
        function: called with arrays of one length, returns one of that length.
        rows: arrays of shape `(rows,)`.

    Returns:
        `function(*rows)`, of shape `(rows,)`.

    Raises:
        ValueError: the arrays are not one-dimensional and of one length.

    Cost:
        Work O(rows). With 1,000 rows, calling the program takes 1 microsecond longer, and its
        result is there when the call returns.

    Guarantees:
        Deterministic; the same bits with and without pieces.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> half = staging.tiered(
        ...     lambda x: staging.by_pieces(lambda rows: rows / 2, x), in_pieces=True
        ... )
        >>> half(jnp.arange(512.0))[-1].tolist()
        255.5
    """
    shapes = {jnp.shape(x) for x in rows}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 1:
        got = " and ".join(map(str, map(jax.typeof, rows)))
        raise ValueError(f"by_pieces: rows must be one-dimensional, of one length, got {got}.")
    (num_rows,) = shape
    piece = math.gcd(num_rows, _MOST_ROWS_OF_PIECE)
    are_few = _MOST_ROWS_OF_PIECE < num_rows <= _MOST_ROWS
    if not for_xla.value or not are_few or piece < _LEAST_ROWS_OF_PIECE:
        return function(*rows)
    pieces = tuple(x.reshape(-1, piece) for x in rows)
    return jax.lax.map(lambda piece: function(*piece), pieces).reshape(num_rows)

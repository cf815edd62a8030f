# SPDX-License-Identifier: Apache-2.0
"""The bin of each value: searches among edges and among intervals."""

import functools

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array
from ..table._layout import ONE_DEVICE
from ..table._search import search_few
from ..table._take import gather


def as_narrow(edges: np.ndarray, dtype: np.dtype, right: bool) -> tuple[np.ndarray, int]:
    """Casts 64-bit edges to a narrow dtype without moving a value to another bin.

    An edge that the dtype cannot represent is rounded down if bins include the right edge, else up.

    Returns:
        The edges within the dtype's range, and the number of edges below it.
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            cast_edges = edges.astype(dtype)
        is_past = cast_edges > edges if right else cast_edges < edges
        limit = dtype.type(-np.inf if right else np.inf)
        return np.where(is_past, np.nextafter(cast_edges, limit), cast_edges), 0
    ends = np.iinfo(dtype)
    whole = edges if edges.dtype.kind in "iu" else np.floor(edges) if right else np.ceil(edges)
    is_passed = whole < ends.min
    return whole[~is_passed & (whole <= ends.max)].astype(dtype), int(is_passed.sum())


@functools.partial(tiered, static_argnums=(6, 7))
def bins_of_values(
    data: Array,
    valid: Array | None,
    edges: Array,
    num_passed: Array,
    num_edges: Array,
    lowest: Array,
    right: bool,
    has_lowest: bool,
) -> Array:
    """The bin of each row, or -1; `num_passed` further edges are below all values."""
    values = data.astype(edges.dtype)
    position = search_few(edges, values, "left" if right else "right") + num_passed
    if has_lowest:
        position = jnp.where(values == lowest[0], np.int32(1), position)
    is_in_bin = position < num_edges
    if jnp.issubdtype(values.dtype, jnp.floating):
        is_in_bin = is_in_bin & ~jnp.isnan(values)
    if valid is not None:
        is_in_bin = is_in_bin & valid
    return jnp.where(is_in_bin, position - np.int32(1), np.int32(-1))


@functools.partial(tiered, static_argnums=(5, 6))
def interval_of_values(
    data: Array,
    valid: Array | None,
    lefts: Array,
    rights: Array,
    order: Array,
    has_left: bool,
    has_right: bool,
) -> Array:
    """The number of the interval that each row is in, or -1; intervals ascend."""
    values = data.astype(lefts.dtype)
    position = search_few(lefts, values, "right" if has_left else "left") - np.int32(1)
    right = gather(rights, position, ONE_DEVICE)
    is_inside = (position >= 0) & ((values <= right) if has_right else (values < right))
    if valid is not None:
        is_inside = is_inside & valid
    return jnp.where(is_inside, gather(order, position, ONE_DEVICE), np.int32(-1))

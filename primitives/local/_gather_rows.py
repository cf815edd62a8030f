# SPDX-License-Identifier: Apache-2.0
"""Gathers of one device's rows by row id."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..contract._arguments import MAX_SHARD_ROWS, as_row_ids, as_rows, fits, num_rows_of
from ..contract._moved import with_tangents
from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..kernels.move._gather import gather_words
from ..tiers._tiered import tiered

# The bytes of the fill value of each leaf: bytes can be compared, NaNs cannot.
FillBytes = tuple[bytes, ...]
CALLER = "gather_rows"


def gather_rows(
    rows: PyTree, row_ids: Integer[ArrayLike, " ids"], *, fill_value: PyTree = 0
) -> PyTree:
    """Gathers rows by row id.

    Args:
        rows: any pytree of arrays with the same leading axis.
        row_ids: ids of the rows, integers of shape `(ids,)`.
        fill_value: the value for an id out of range. A number for all arrays, or a pytree of
            numbers with the structure of `rows`. Static.

    Returns:
        The rows in the order of the ids. An id outside `[0, rows)`, a negative one too, gives
        `fill_value`.

    Raises:
        TypeError: `row_ids` are not integers, or `fill_value` is traced.
        ValueError: leading axes differ, `row_ids` are not one-dimensional, `rows` or `fill_value`
            have another structure than required, or the dtype of an array does not hold its
            `fill_value`.

    Cost:
        Work O(ids x row bytes). No communication. An eager call gathers all columns in one pass
        over the ids. A traced call gathers each by itself, so that XLA leaves out of a compiled
        program the arrays that nothing uses. On CPU an eager call with random ids of most rows of a
        large table first packs the columns into rows, a copy of the table, in temporary memory. On
        TPU single words come by lookups from up to 32,768 rows, else by two sorts of the ids.

    Guarantees:
        Deterministic; differentiable in `rows`: the cotangent of a row is the sum over all its
        copies.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> rows = {"x": jnp.array([10, 11, 12]), "y": jnp.array([0.5, 1.5, 2.5])}
        >>> taken = local.gather_rows(rows, jnp.array([2, 0, -1]), fill_value={"x": -1, "y": 0.0})
        >>> taken["x"].tolist(), taken["y"].tolist()
        ([12, 10, -1], [2.5, 0.5, 0.0])
    """
    if not all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves((rows, row_ids))):
        rows, row_ids = _checked(rows, row_ids)
    fills = _fill_bytes(fill_value, rows)
    is_traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((rows, row_ids)))
    return _gather(rows, row_ids, fills, one_pass=not is_traced)


def _checked(rows: Any, row_ids: Any) -> tuple[Any, Array]:
    """Checks rows and row ids; returns them as arrays."""
    num_rows = num_rows_of(rows, CALLER)
    rows = as_rows(rows, num_rows, CALLER, "rows")
    row_ids = as_row_ids(row_ids, CALLER, "row_ids")
    if num_rows > MAX_SHARD_ROWS:
        raise ValueError(f"{CALLER}: rows must be fewer than 2**31, got {num_rows}.")
    return rows, row_ids


def _fill_bytes(fill_value: Any, rows: Any) -> FillBytes | None:
    """The bytes of the fill values; None if all are zero."""
    is_number = isinstance(fill_value, (int, float))
    # A negative zero has a bit.
    if is_number and fill_value == 0 and math.copysign(1, fill_value) > 0:
        return None
    leaves, structure = jax.tree.flatten(rows)
    fills, fill_structure = jax.tree.flatten(fill_value)
    if any(isinstance(fill, Tracer) for fill in fills):
        raise TypeError(f"{CALLER}: fill_value must be static, got a traced array.")
    if fill_structure == jax.tree.structure(0):
        fills = fills * len(leaves)
    elif fill_structure != structure:
        raise ValueError(
            f"{CALLER}: fill_value must be a number or have the structure of rows, {structure}, "
            f"got {fill_structure}."
        )
    for fill, leaf in zip(fills, leaves, strict=True):
        if np.ndim(fill) or not fits(fill, leaf.dtype):
            raise ValueError(
                f"{CALLER}: fill_value must be a number of {leaf.dtype}, got {fill}. Cast the rows."
            )
    return tuple(
        np.asarray(fill).astype(leaf.dtype).tobytes()
        for fill, leaf in zip(fills, leaves, strict=True)
    )


# Compiled with its checks: an eager call of a few rows would take longer to check than to run.
@functools.partial(tiered, static_argnums=2, static_argnames="one_pass")
def _gather(rows: Any, row_ids: Array, fills: FillBytes | None, *, one_pass: bool) -> Any:
    rows, row_ids = _checked(rows, row_ids)
    leaves, structure = jax.tree.flatten(rows)
    num_rows = leaves[0].shape[0]
    ids = _as_row_ids(row_ids, num_rows)
    is_row = (ids >= 0) & (ids < np.int32(num_rows))
    plan = (jnp.where(is_row, ids, 0), is_row)
    fill_values = _values_of(fills, leaves)
    plain = jax.lax.stop_gradient(leaves)
    words = [i for i, leaf in enumerate(plain) if leaf.ndim == 1]
    gathered: list[Any] = [None] * len(leaves)
    for members in [words] if one_pass and words else [[i] for i in words]:
        arrays = [plain[i] for i in members], [fill_values[i] for i in members]
        for i, result in zip(members, gather_words(ids, *arrays), strict=True):
            gathered[i] = result
    for i, leaf in enumerate(plain):
        if leaf.ndim > 1:
            taken = take_rows_or_zeros(leaf, *plan)
            fill = jnp.broadcast_to(fill_values[i], taken.shape)
            flags = jax.lax.broadcast_in_dim(is_row, taken.shape, (0,))
            gathered[i] = taken if fills is None else jax.lax.select(flags, taken, fill)
        if num_rows > 0:
            gathered[i] = with_tangents(_take, gathered[i], leaves[i], plan)
    return jax.tree.unflatten(structure, gathered)


def _values_of(fills: FillBytes | None, leaves: list[Array]) -> list[Array]:
    if fills is None:
        return [jnp.zeros((), leaf.dtype) for leaf in leaves]
    return [
        jnp.asarray(np.frombuffer(fill, leaf.dtype)[0])
        for fill, leaf in zip(fills, leaves, strict=True)
    ]


def _as_row_ids(row_ids: Array, num_rows: int) -> Array:
    """Row ids as int32, -1 for those out of range that int32 does not hold."""
    if row_ids.dtype == jnp.int32 or row_ids.dtype.itemsize < 4:
        return row_ids.astype(jnp.int32)
    is_row = (row_ids >= 0) & (row_ids < row_ids.dtype.type(num_rows))
    return jnp.where(is_row, row_ids.astype(jnp.int32), np.int32(-1))


def _take(matrix: Array, plan: tuple[Array, Array]) -> Array:
    return take_rows_or_zeros(matrix, *plan, is_tangent=True)

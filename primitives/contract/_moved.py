# SPDX-License-Identifier: Apache-2.0
"""Derivatives for rows that move as packed words.

Bits have no derivative. The words carry the values of all columns in one exchange. Tangents take
the same route as floats, and only under differentiation.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ._custom_jvp import with_tangent
from ._typing import Array

# A route is a linear function that moves the rows of a matrix of any dtype, given its plan.
Route = Callable[[Array, Any], Array]


def with_tangents(route: Route, moved: Any, rows: Any, plan: Any) -> Any:
    """Gives `moved`, the result of the route, derivatives with respect to `rows`."""
    moved_leaves, structure = jax.tree.flatten(moved)
    rows_leaves = jax.tree.leaves(rows)
    inexact = [i for i, leaf in enumerate(moved_leaves) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    if not inexact:
        return moved
    attached = with_tangent(
        _move_tangents,
        (route,),
        tuple(jax.lax.stop_gradient(moved_leaves[i]) for i in inexact),
        (tuple(rows_leaves[i] for i in inexact), plan),
    )
    for i, leaf in zip(inexact, attached, strict=True):
        moved_leaves[i] = leaf
    return jax.tree.unflatten(structure, moved_leaves)


def with_tangent_of(
    sort_by_rows: Callable[[Array, Any], Array], sorted_key: Array, key: Array, residuals: Any
) -> Array:
    """Gives a key sorted without row ids the derivative of `sort_by_rows(key, residuals)`.

    Row ids cost nothing without differentiation.
    """
    if not jnp.issubdtype(key.dtype, jnp.floating):
        return sorted_key
    sorted_key = jax.lax.stop_gradient(sorted_key)
    return with_tangent(_sort_tangent, (sort_by_rows,), sorted_key, (key, residuals))


def _sort_tangent(
    sort_by_rows: Callable[[Array, Any], Array], primals: Any, tangents: Any, sorted_key: Array
) -> Array:
    del sorted_key
    key, residuals = primals
    return jax.jvp(lambda key: sort_by_rows(key, residuals), (key,), tangents[:1])[1]


def _move_tangents(route: Route, primals: Any, tangents: Any, moved: Any) -> tuple[Array, ...]:
    del moved
    return _route_leaves(route, tangents[0], primals[1])


def _route_leaves(route: Route, leaves: tuple[Array, ...], plan: Any) -> tuple[Array, ...]:
    """Moves leaves together, as one matrix for each dtype."""
    by_dtype: dict[Any, list[int]] = {}
    for i, leaf in enumerate(leaves):
        by_dtype.setdefault(leaf.dtype, []).append(i)
    routed: list[Any] = [None] * len(leaves)
    for members in by_dtype.values():
        # Of no rows, -1 would not tell the number of columns.
        columns = [
            leaves[i].reshape(leaves[i].shape[0], math.prod(leaves[i].shape[1:])) for i in members
        ]
        matrix = route(jnp.concatenate(columns, axis=1), plan)
        start = 0
        for i, column in zip(members, columns, strict=True):
            part = matrix[:, start : start + column.shape[1]]
            routed[i] = part.reshape(part.shape[0], *leaves[i].shape[1:])
            start += column.shape[1]
    return tuple(routed)

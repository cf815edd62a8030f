# SPDX-License-Identifier: Apache-2.0
"""Rows reduced by their keys: one row for each distinct key."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._arguments import as_capacity, as_keys, as_num_valid, as_rows, as_static_int, type_of
from .._typing import Array, ArrayLike, Int, Integer, PyTree
from ._one_device import OneDevice
from ._radix_sort import Keys
from ._runs import KeyRuns, find_runs
from ._segment_ops import REDUCTIONS, Segments
from ._take import keep_or_zero

REDUCE_OPS = (
    "sum", "prod", "min", "max", "count", "mean", "var", "std", "first", "last", "any", "all",
)  # fmt: skip
_NOT_COMPLEX = ("min", "max", "var", "std")


class ReducedRuns(NamedTuple):
    """One row for each distinct key, in the order of the keys, and how many there are."""

    unique_keys: PyTree
    values: PyTree
    num_runs: Int[Array, ""]


def reduce_by_key(
    keys: Keys,
    values: PyTree,
    ops: Any,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    keys_are_sorted: bool = False,
    ddof: int = 0,
) -> ReducedRuns:
    """Reduces the rows of each distinct key to one row.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; in any
            order. Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        values: array of shape `(rows, ...)`, or a pytree of them.
        ops: what to compute of the values of a key: "sum", "prod", "min", "max", "count", "mean",
            "var", "std", "first", "last", "any" or "all", as in `segment_reduce`. One for all
            leaves of `values`, or a pytree of them of the same structure. Static.
        capacity: distinct keys that the result has room for. Static; as many as rows if left out.
        num_valid: the rows that count, from the front; all of them if left out.
        keys_are_sorted: a promise that equal keys stand together and in their order, which saves
            the sort. Without it kept, a key comes once for each of its runs. Static.
        ddof: what the number of rows is lessened by in the divisor of "var" and "std". Static.

    Returns:
        `ReducedRuns(unique_keys, values, num_runs)`, in the order of the keys, with zeros behind
        the last. Keys have the bits of the first row that has them. `num_runs > capacity` says
        that keys did not fit: the first `capacity` of them are there.

    Raises:
        TypeError: a dtype that cannot be sorted by or that an op does not take, or a static
            argument that is traced.
        ValueError: lengths differ, or there is no such op.

    Cost:
        Work O(rows x (key bytes + value bytes)): a sort, and a scatter or three for each leaf. No
        communication.

    Guarantees:
        Deterministic; differentiable in `values`. Integers are exact, and wrap. Floats are added
        in the order of the rows: a sum is within `rows x precision x sum(abs(values))`.

    References:
        Merrill (2015), "CUB: flexible library of cooperative threadblock primitives and other
        utilities for CUDA kernel programming" (`DeviceReduce::ReduceByKey`).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> keys, x = jnp.array([7, 3, 7, 3, 7]), jnp.array([1, 2, 3, 4, 5])
        >>> runs = local.reduce_by_key(keys, {"x": x, "y": x}, {"x": "sum", "y": "max"}, capacity=3)
        >>> runs.unique_keys.tolist(), runs.num_runs.tolist()
        ([3, 7, 0], 2)
        >>> runs.values["x"].tolist(), runs.values["y"].tolist()
        ([6, 9, 0], [4, 5, 0])
    """
    caller = "reduce_by_key"
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    values, names, ddof = as_reduction(values, ops, ddof, num_rows, caller)
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    unique_columns, reduced, num_runs = reduce_columns(
        columns, values, valid, names, capacity, bool(keys_are_sorted), ddof
    )
    return ReducedRuns(unique_columns if is_tuple else unique_columns[0], reduced, num_runs)


def as_reduction(
    values: Any, ops: Any, ddof: Any, num_rows: int, caller: str
) -> tuple[Any, tuple[str, ...], int]:
    """Checks the values and what to compute of them; returns an op for each leaf."""
    values = as_rows(values, num_rows, caller)
    leaves, structure = jax.tree.flatten(values)
    if isinstance(ops, str):
        names = (ops,) * len(leaves)
    else:
        try:
            names = tuple(structure.flatten_up_to(ops))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{caller}: ops must be one name, or names in the structure of values, "
                f"{structure}, got {ops!r}."
            ) from error
    for name, leaf in zip(names, leaves, strict=True):
        if name not in REDUCE_OPS:
            known = ", ".join(map(repr, REDUCE_OPS))
            shown = repr(name) if isinstance(name, str) else type_of(name)
            raise ValueError(f"{caller}: ops must be of {known}, got {shown}.")
        if name in _NOT_COMPLEX and jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise TypeError(
                f"{caller}: values must be real for {name!r}, got {type_of(leaf)}. Reduce their "
                "real and imaginary parts."
            )
    return values, names, as_static_int(ddof, caller, "ddof", 0)


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def reduce_columns(
    columns: tuple[Array, ...],
    values: Any,
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    keys_are_sorted: bool,
    ddof: int,
) -> tuple[tuple[Array, ...], Any, Array]:
    """Reduces checked arguments: distinct keys, values in the same structure, and their number."""
    runs = find_runs(columns, num_valid, keys_are_sorted)
    unique_columns, num_runs = runs.first_rows(columns, capacity)
    segments = segments_of(runs, capacity)
    leaves, structure = jax.tree.flatten(runs.moved(values))
    reduced = [
        segments.counts if name == "count" else REDUCTIONS[name](leaf, segments, ddof)
        for name, leaf in zip(names, leaves, strict=True)
    ]
    return unique_columns, of_runs(structure.unflatten(reduced), capacity, num_runs), num_runs


def segments_of(runs: KeyRuns, capacity: int) -> Segments:
    """The runs as the segments of a reduction, of which there is one at least."""
    return Segments(runs.segment_ids, max(capacity, 1), OneDevice())


def of_runs(reduced: Any, capacity: int, num_runs: Array) -> Any:
    """What was reduced of the runs that there are, and zeros behind."""
    is_run = jax.lax.iota(jnp.int32, capacity) < num_runs
    return keep_or_zero(jax.tree.map(lambda leaf: leaf[:capacity], reduced), is_run)

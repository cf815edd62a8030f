# SPDX-License-Identifier: Apache-2.0
"""Reductions by key: one row for each distinct key."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying, varying_axes
from ..contract._arguments import (
    as_capacity,
    as_keys,
    as_num_valid,
    as_rows,
    as_static_int,
    type_of,
)
from ..contract._key_bits import ordered_words
from ..contract._moved import with_tangents
from ..contract._take import keep_or_zero, take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..kernels.groups._factorize import factorize_words
from ..kernels.groups._group_sums import can_sum_groups, native_group_sums
from ._one_device import OneDevice
from ._runs import KeyRuns, find_runs
from ._segment_ops import REDUCTIONS, Segments, as_summed
from ._segments import add

REDUCE_OPS = (
    "sum", "prod", "min", "max", "count", "mean", "var", "std", "first", "last", "any", "all",
)  # fmt: skip
_NOT_COMPLEX = ("min", "max", "var", "std")


class ReducedRuns(NamedTuple):
    """One row for each distinct key, in the order of the keys, and their true number."""

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
    is_sorted: bool = False,
    ddof: int = 0,
) -> ReducedRuns:
    """Reduces the rows of each distinct key to one row.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; in any
            order. Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        values: array of shape `(rows, ...)`, or a pytree of them.
        ops: reductions of the values of a key: "sum", "prod", "min", "max", "count", "mean",
            "var", "std", "first", "last", "any" or "all", as in `segment_reduce`. One for all
            leaves of `values`, or a pytree of them of the same structure. Static.
        capacity: most distinct keys of the result. Static; by default the number of rows.
        num_valid: number of valid rows, at the front; all rows by default.
        is_sorted: promises that the keys are sorted, which saves the sort. If they are not, a key
            occurs once for each of its runs. Static.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `ReducedRuns(unique_keys, values, num_runs)`, in the order of the keys, padded with zeros.
        A key has the bits of its first row. `num_runs > capacity` means that keys did
        not fit: the first `capacity` of them are there.

    Raises:
        TypeError: a dtype that is not a key dtype or not supported by an op, or a traced static
            argument.
        ValueError: lengths differ, or there is no such op.

    Cost:
        Work O(rows x (key bytes + value bytes)): a sort, and a scatter or three for each leaf. On
        CPU a "sum" of one column of numbers of 32 or 64 bits, by keys that fit one word, is no
        sort: while distinct keys are few, keys and values are read once and nothing is written
        for each row. No communication.

    Guarantees:
        Deterministic; differentiable in `values`. Integers are exact, and wrap. Floats are added
        in the order of the rows: a sum is within `rows x precision x sum(abs(values))`.

    References:
        Merrill (2015), "CUB: flexible library of cooperative threadblock primitives and other
        utilities for CUDA kernel programming" (`DeviceReduce::ReduceByKey`). Belazzougui, Botelho,
        Dietzfelbinger (2009), "Hash, displace, and compress", for the tables of few keys on CPU.

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
        columns, values, valid, names, capacity, bool(is_sorted), ddof
    )
    return ReducedRuns(unique_columns if is_tuple else unique_columns[0], reduced, num_runs)


def as_reduction(
    values: Any, ops: Any, ddof: Any, num_rows: int, caller: str
) -> tuple[Any, tuple[str, ...], int]:
    """Checks the values and the ops; returns one op for each leaf."""
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
    is_sorted: bool,
    ddof: int,
) -> tuple[tuple[Array, ...], Any, Array]:
    """Reduces checked arguments: distinct keys, values in the same structure, and their number."""
    leaves, structure = jax.tree.flatten(values)

    def by_sort(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        return _reduce_runs(columns, leaves, num_valid, names, capacity, is_sorted, ddof)

    def by_kernel(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        return _sum_groups(columns, leaves[0], num_valid, capacity)

    if is_sorted or names != ("sum",) or not _has_kernel(columns, leaves[0], num_valid):
        unique_columns, reduced, num_runs = by_sort(columns, leaves, num_valid)
    else:
        unique_columns, reduced, num_runs = jax.lax.platform_dependent(
            columns, leaves, num_valid, cpu=by_kernel, default=by_sort
        )
    return unique_columns, structure.unflatten(reduced), num_runs


def _reduce_runs(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    is_sorted: bool,
    ddof: int,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """The definition: sorts rows by key and reduces each run."""
    runs = find_runs(columns, num_valid, is_sorted)
    unique_columns, num_runs = runs.first_rows(columns, capacity)
    segments = segments_of(runs, capacity)
    reduced = [
        segments.counts if name == "count" else REDUCTIONS[name](leaf, segments, ddof)
        for name, leaf in zip(names, runs.moved(leaves), strict=True)
    ]
    return unique_columns, of_runs(reduced, capacity, num_runs), num_runs


def _has_kernel(columns: tuple[Array, ...], leaf: Array, num_valid: Array) -> bool:
    """Whether the kernel can sum the rows of each key."""
    is_one_word = len(ordered_words(columns, (False,) * len(columns))) == 1
    # The kernel's results vary over the mesh axes of all that it reads: so do keys and their
    # number then, which a sort of the keys alone would leave as they are.
    is_like_keys = varying_axes(leaf) <= varying_axes(*columns, num_valid)
    return is_one_word and is_like_keys and can_sum_groups(as_summed(leaf)[0])


def _sum_groups(
    columns: tuple[Array, ...], leaf: Array, num_valid: Array, capacity: int
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """The sums by the kernel, in the order of the rows as the definition has them."""
    (word,) = ordered_words(columns, (False,) * len(columns))
    rows, dtype = as_summed(leaf)
    groups = native_group_sums(word, jax.lax.stop_gradient(rows), num_valid, capacity)
    is_group = jax.lax.iota(jnp.int32, capacity) < groups.count
    unique_columns = take_rows_or_zeros(columns, groups.first_row_ids, is_group)
    # Group ids are computed only under differentiation.
    group_ids = factorize_words(word, num_valid, capacity, in_key_order=True).group_ids
    route = functools.partial(_add_by_group, capacity=capacity)
    sums = with_tangents(route, groups.sums, rows, group_ids).astype(dtype)
    return like_varying((unique_columns, [sums], groups.count), *columns, num_valid)


def _add_by_group(matrix: Array, group_ids: Array, *, capacity: int) -> Array:
    return add(matrix, group_ids, max(capacity, 1))[:capacity]


def segments_of(runs: KeyRuns, capacity: int) -> Segments:
    """The runs as segments of a reduction, at least one."""
    return Segments(runs.segment_ids, max(capacity, 1), OneDevice())


def of_runs(reduced: Any, capacity: int, num_runs: Array) -> Any:
    """Pads reduced values with zeros past the last run."""
    is_run = jax.lax.iota(jnp.int32, capacity) < num_runs
    return keep_or_zero(jax.tree.map(lambda leaf: leaf[:capacity], reduced), is_run)

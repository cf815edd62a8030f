# SPDX-License-Identifier: Apache-2.0
"""The columns of a reduction: their rows and masks, and the dtypes in which they are reduced."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import type_of
from ..contract._typing import Array

REDUCE_OPS = (
    "sum", "prod", "min", "max", "count", "mean", "var", "std", "any", "all", "argmin", "argmax",
)  # fmt: skip
_ORDERED = ("min", "max", "argmin", "argmax", "var", "std")
_AVERAGES = ("mean", "var", "std")
_SUMMED = ("sum", "prod", *_AVERAGES)

Transform = Callable[..., tuple[Any, Any]]


class MaskedRows(NamedTuple):
    """The rows to be reduced, and the masks for them, a prefix of `x` or None."""

    x: Any
    where: Any

    @property
    def num_rows(self) -> int:
        """Rows, padding included."""
        return jax.tree.leaves(self.x)[0].shape[0]


class ReducePlan(NamedTuple):
    """How rows are reduced. Hashable: static under `jit`.

    Attributes:
        caller: the op, for errors.
        ops: the leaves of `op`.
        op_tree: its structure.
        transform: applied to blocks of the rows; None for none.
        dtype: of sums, products and averages; None for that of the rows.
        ddof: see `reduce`.
        skip_nan: see `reduce`.
        sources: for each array to be reduced, its place among the distinct ones; None if all are.
        tree: the structure of all arrays, if some are the same.
    """

    caller: str
    ops: tuple[str, ...]
    op_tree: Any
    transform: Transform | None
    dtype: np.dtype | None
    ddof: int
    skip_nan: bool = False
    sources: tuple[int, ...] | None = None
    tree: Any = None

    def all_of(self, distinct: Any) -> Any:
        """The arrays to be reduced, repeated as they were given."""
        if self.sources is None:
            return distinct
        return jax.tree.unflatten(self.tree, [distinct[source] for source in self.sources])

    def ops_of(self, values: Any) -> list[str]:
        """An op for each leaf of a pytree."""
        ops = jax.tree.unflatten(self.op_tree, self.ops)
        return jax.tree.leaves(_spread(ops, values, self.caller, "op"))


def _spread(prefix: Any, tree: Any, caller: str, name: str) -> Any:
    """A leaf of `prefix` for each leaf of `tree`."""
    try:
        return jax.tree.broadcast(prefix, tree, is_leaf=lambda leaf: leaf is None)
    except ValueError as error:
        raise ValueError(
            f"{caller}: {name} must be one leaf, or a prefix of the rows, "
            f"{jax.tree.structure(tree)}, got {jax.tree.structure(prefix)}."
        ) from error


def masks_of(where: Any, tree: Any, caller: str) -> list[Array | None]:
    """A mask, or None, for each leaf of a pytree."""
    spread = _spread(where, tree, caller, "where")
    return jax.tree.leaves(spread, is_leaf=lambda leaf: leaf is None)


def check_dtype(leaf: Array, op: str, dtype: np.dtype | None, caller: str) -> None:
    """Raises if an op does not take an array, or cannot reduce it in a dtype."""
    if op in _ORDERED and jnp.issubdtype(leaf.dtype, jnp.complexfloating):
        raise TypeError(
            f"{caller}: x must be real for {op!r}, got {type_of(leaf)}. Reduce its real and "
            "imaginary parts."
        )
    if op not in _SUMMED or dtype is None:
        return
    kinds = [_kind(leaf.dtype), _kind(dtype)]
    if kinds[1] < kinds[0] or (kinds[0] == kinds[1] and dtype.itemsize < leaf.dtype.itemsize):
        raise TypeError(
            f"{caller}: dtype must hold the rows, got {dtype.name} for {type_of(leaf)}. "
            "Cast x first."
        )
    if op in _AVERAGES and not jnp.issubdtype(dtype, jnp.inexact):
        raise TypeError(f"{caller}: dtype must be a float for {op!r}, got {dtype.name}.")


def _kind(dtype: Any) -> int:
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return next(place for place, kind in enumerate(kinds) if jnp.issubdtype(dtype, kind))


class Column(NamedTuple):
    """One leaf of the rows to be reduced.

    Attributes:
        op: how it is reduced.
        shape: of its value.
        dtype: of its rows.
        computed: the dtype in which it is reduced.
        result: the dtype of its value.
        is_masked: whether it has a mask of its own, or skips NaNs.
    """

    op: str
    shape: tuple[int, ...]
    dtype: np.dtype
    computed: np.dtype
    result: np.dtype
    is_masked: bool

    @property
    def first(self) -> str:
        """The reduction of the first pass."""
        name = self.op.removeprefix("arg")
        return "sum" if name in _AVERAGES else name

    @property
    def can_be_nan(self) -> bool:
        """Whether its extreme may be NaN, which XLA's minimum may or may not find."""
        is_float = jnp.issubdtype(self.dtype, jnp.floating)
        return is_float and self.first in ("min", "max")


def both(flags: Any, others: Any) -> Any:
    """Rows that have both flags; None for no flags."""
    if flags is None or others is None:
        return others if flags is None else flags
    return flags & others


def reduced_dtypes(op: str, dtype: np.dtype, asked: np.dtype | None) -> tuple[np.dtype, np.dtype]:
    """The dtype in which a leaf is reduced, and that of its value."""
    if op in ("any", "all"):
        return np.dtype(np.bool_), np.dtype(np.bool_)
    if op not in _SUMMED:
        return dtype, dtype
    result = dtype if asked is None else asked
    if asked is None and op in _AVERAGES and not jnp.issubdtype(dtype, jnp.inexact):
        result = np.dtype(jax.dtypes.canonicalize_dtype(float))
    elif asked is None and dtype == np.bool_:
        result = np.dtype(np.int32)
    is_narrow = jnp.issubdtype(result, jnp.floating) and result.itemsize < 4
    return (np.dtype(np.float32) if is_narrow else result), result

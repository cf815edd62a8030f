# SPDX-License-Identifier: Apache-2.0
"""Rows reduced to one."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import (
    as_array,
    as_flag,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._op_names import as_reduction_name
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..tiers._tiered import tiered
from ._plain_columns import reduce_in_passes
from ._reduce_passes import OneShard
from ._reduced_columns import (
    REDUCE_OPS,
    MaskedRows,
    ReducePlan,
    Transform,
    check_dtype,
    masks_of,
)


class Reduced(NamedTuple):
    """One row for all rows.

    Attributes:
        values: the reduced values, a pytree like the rows that were reduced.
        counts: the rows that each value was reduced from, a pytree like `values`.
    """

    values: PyTree
    counts: PyTree


def reduce(
    x: PyTree,
    op: PyTree,
    *,
    where: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    skip_nan: bool = False,
    transform: Transform | None = None,
    operands: tuple[PyTree, ...] = (),
    dtype: Any = None,
    ddof: int = 0,
) -> Reduced:
    """Reduces all rows to one.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "any", "all", "argmin" or
            "argmax"; or a pytree of these that is a prefix of `x`, so that one pass over the rows
            serves several. Static.
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded. Or a
            pytree of these, and of None, that is a prefix of `x`.
        num_valid: number of valid rows, at the front; all rows by default.
        skip_nan: excludes NaNs. Static.
        transform: a function that takes a block of the rows of `x`, and returns a pytree of arrays
            with as many rows, and a mask for them as `where`, or None. Those arrays are reduced in
            place of `x`, and are never materialized as a whole. If no rows are excluded, they
            may have fewer rows: a product of matrices has one. It never sees the padding behind
            `num_valid` rows: the first row, or ones, are in its place. Static.
        operands: further arguments of `transform`, pytrees of arrays, the same for each block.
        dtype: the dtype of sums, products, means and variances, no narrower than that of their
            rows, which are cast as they are read. By default it is that of the rows; int32
            for sums of bools, and a float for means of integers.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `Reduced(values, counts)`: for each array of shape `(rows, ...)` a value of shape `(...)`,
        and the number of rows in it, int32. Of no rows the value is the identity element of `op`:
        zero for a sum, infinity for a minimum, NaN for a mean, -1 for a row id.

    Raises:
        TypeError: a dtype that `op` does not support, `where` is not bool, or `dtype` does not hold
            the rows.
        ValueError: lengths differ, or `op` is unknown.

    Cost:
        Work O(rows): one pass over the rows, and another one for "var", "std", "argmin" and
        "argmax". No communication.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float. "argmin" and "argmax"
        name the first of equal rows. Sums of floats without a mask are those of `pairwise_sum`.

    References:
        Higham (1993), "The accuracy of floating point summation", on sums of blocks.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x = jnp.array([5.0, jnp.nan, 4.0, 2.0])
        >>> total = local.reduce(x, "sum", where=x != 2, skip_nan=True)
        >>> total.values.tolist(), total.counts.tolist()
        (9.0, 2)
        >>> local.reduce({"a": x, "b": x > 4}, {"a": "argmin", "b": "any"}, num_valid=3).values
        {'a': Array(1, dtype=int32), 'b': Array(True, dtype=bool)}
    """
    skip_nan = as_flag(skip_nan, "reduce", "skip_nan")
    rows, valid, plan = as_rows_to_reduce("reduce", x, op, where, num_valid, transform, dtype, ddof)
    return _reduce(rows, operands, valid, plan._replace(skip_nan=skip_nan))


def as_rows_to_reduce(
    caller: str,
    x: Any,
    op: Any,
    where: Any,
    num_valid: Any,
    transform: Any,
    dtype: Any,
    ddof: Any,
) -> tuple[MaskedRows, Array | None, ReducePlan]:
    """Checks all arguments of one device's rows."""
    rows, plan = as_reduce_plan(caller, x, op, where, transform, dtype, ddof)
    valid = None if num_valid is None else as_num_valid(num_valid, rows.num_rows, caller)
    return rows, valid, plan


def as_reduce_plan(
    caller: str, x: Any, op: Any, where: Any, transform: Any, dtype: Any, ddof: Any
) -> tuple[MaskedRows, ReducePlan]:
    """Checks all arguments but the number of valid rows."""
    ops, op_tree = jax.tree.flatten(op, is_leaf=lambda leaf: leaf is None)
    names = [as_reduction_name(name, REDUCE_OPS, caller) for name in ops]
    num_rows = num_rows_of(x, caller, "x")
    x = as_rows(x, num_rows, caller, "x")
    if dtype is not None:
        dtype = as_sum_dtype(dtype, caller)
    ddof = as_static_int(ddof, caller, "ddof", 0)
    plan = ReducePlan(caller, tuple(names), op_tree, transform, dtype, ddof)
    where = as_masks(where, num_rows, caller)
    if transform is not None:
        return MaskedRows(x, where), plan
    _check_values(x, where, plan)
    leaves, tree = jax.tree.flatten(x)
    distinct = {id(leaf): leaf for leaf in leaves}
    if where is None and len(distinct) < len(leaves):
        # They are read once.
        places = {key: place for place, key in enumerate(distinct)}
        plan = plan._replace(sources=tuple(places[id(leaf)] for leaf in leaves), tree=tree)
        x = list(distinct.values())
    return MaskedRows(x, where), plan


def as_sum_dtype(dtype: Any, caller: str) -> np.dtype:
    """Checks the dtype of a sum."""
    wide = np.dtype(dtype)
    is_wide = wide.itemsize == (16 if wide.kind == "c" else 8)
    if is_wide and not is_x64_enabled():
        raise TypeError(
            f"{caller}: dtype must be one that JAX has, got {wide.name} while its x64 mode is off. "
            "Set jax_enable_x64, or leave dtype out."
        )
    if wide == np.bool_ or not jnp.issubdtype(wide, jnp.number):
        raise TypeError(f"{caller}: dtype must be of numbers, got {wide.name}.")
    return wide


def as_masks(where: Any, num_rows: int, caller: str) -> Any:
    """Checks a mask of rows, or a pytree of them."""

    def check(mask: Any) -> Array:
        mask = as_array(mask, caller, "where")
        if mask.dtype != jnp.bool_:
            raise TypeError(f"{caller}: where must be bool, got {type_of(mask)}.")
        if mask.shape != (num_rows,):
            raise ValueError(
                f"{caller}: where must have one flag for each of the {num_rows} rows, "
                f"got {type_of(mask)}."
            )
        return mask

    return jax.tree.map(check, where)


def _check_values(values: Any, where: Any, plan: ReducePlan) -> None:
    masks_of(where, values, plan.caller)
    for leaf, op in zip(jax.tree.leaves(values), plan.ops_of(values), strict=True):
        check_dtype(leaf, op, plan.dtype, plan.caller)


@functools.partial(tiered, static_argnums=3)
def _reduce(
    rows: MaskedRows, operands: tuple[Any, ...], num_valid: Array | None, plan: ReducePlan
) -> Reduced:
    return Reduced(*reduce_in_passes(rows, operands, num_valid, plan, OneShard()))

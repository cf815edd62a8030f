# SPDX-License-Identifier: Apache-2.0
"""Scan operators: named ones, and associative functions from the caller."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ._arguments import KEY_DTYPES, as_array, fits, is_key_dtype, type_of
from ._op_names import as_scan_name
from ._typing import Array

# The position of a name is its number in the C++ kernel.
NAMED_OPERATORS = ("add", "mul", "min", "max")
NamedOperator: TypeAlias = Literal["add", "mul", "min", "max"]
# What callers may write; within the scans a sum is "add".
Operator: TypeAlias = Literal["sum", "prod"] | NamedOperator | Callable[[Any, Any], Any]


class Scan(NamedTuple):
    """The static parameters of a scan. Hashable."""

    op: Any
    reverse: bool
    exclusive: bool

    @property
    def is_named(self) -> bool:
        """Whether the operator is a named one."""
        return isinstance(self.op, str)


def identity_of(op: NamedOperator, dtype: Any) -> Any:
    """The identity element of a named operator for a dtype, as a NumPy scalar."""
    dtype = np.dtype(dtype)
    if op in ("add", "mul"):
        return dtype.type(op == "mul")
    is_min = op == "min"
    if dtype == np.bool_:
        return np.bool_(is_min)
    if jnp.issubdtype(dtype, jnp.inexact):
        infinity = dtype.type(np.inf if is_min else -np.inf)
        # Some floats of 8 bits have no infinity, and NaN in its place.
        if infinity == infinity:
            return infinity
        limits: Any = jnp.finfo(dtype)
    else:
        limits = jnp.iinfo(dtype)
    return dtype.type(limits.max if is_min else limits.min)


def combine_named(op: NamedOperator, left: Array, right: Array) -> Array:
    """One step of a named scan, elementwise."""
    if op == "add":
        return left + right
    if op == "mul":
        return left * right
    return jnp.where(is_kept(op, left, right), left, right)


def is_kept(op: NamedOperator, left: Array, right: Array) -> Array:
    """Whether `left` stays the extreme: the first of equal numbers wins, and the first NaN."""
    is_first = left <= right if op == "min" else left >= right
    return is_first | (left != left) if jnp.issubdtype(left.dtype, jnp.floating) else is_first


def as_operator(op: Any, caller: str) -> Any:
    """Checks that `op` is a function or a name; returns the name within the scans."""
    name = as_scan_name(op) if isinstance(op, str) else op
    if callable(name) or (isinstance(name, str) and name in NAMED_OPERATORS):
        return name
    raise ValueError(
        f"{caller}: op must be 'sum', 'prod', 'min', 'max' or an associative function of two rows, "
        f"got {op if op is None else repr(op) if isinstance(op, str) else type_of(op)}."
    )


def check_rows(op: Any, rows: Any, caller: str) -> None:
    """Checks that an operator accepts the rows, and that a function returns a row like them."""
    if isinstance(op, str):
        for leaf in jax.tree.leaves(rows):
            is_complex = jnp.issubdtype(leaf.dtype, jnp.complexfloating)
            if is_complex and op in ("min", "max"):
                raise TypeError(
                    f"{caller}: complex numbers have no {op}, got {type_of(leaf)}. "
                    "Scan real and imaginary parts."
                )
            if not is_complex and not is_key_dtype(leaf.dtype):
                raise TypeError(
                    f"{caller}: x must be of complex numbers or of one of the dtypes {KEY_DTYPES}, "
                    f"got {type_of(leaf)}."
                )
        return
    row = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), rows)
    combined = jax.eval_shape(op, row, row)
    if jax.tree.structure(combined) != jax.tree.structure(row) or any(
        (got.shape, got.dtype) != (taken.shape, taken.dtype)
        for got, taken in zip(jax.tree.leaves(combined), jax.tree.leaves(row), strict=True)
    ):
        raise TypeError(
            f"{caller}: op must return a row like those that it takes, {_shown(row)}, "
            f"got {_shown(combined)}."
        )


def _shown(row: Any) -> str:
    def of_leaf(leaf: Any) -> str:
        return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"

    return str(jax.tree.map(of_leaf, row)).replace("'", "")


def as_initial(initial: Any, rows: Any, scan: Scan, caller: str, name: str = "x") -> Any:
    """Validates `initial`: one row for each leaf of `rows`, or `None`.

    A single number serves all leaves. `name` is that of the rows.
    """
    if initial is None:
        if not scan.is_named and scan.exclusive:
            raise ValueError(
                f"{caller}: an exclusive scan by a function needs initial, the value before the "
                "first row, got None."
            )
        return None
    if not scan.exclusive:
        raise ValueError(
            f"{caller}: initial is for exclusive scans only, got it for an inclusive one. "
            "Pass exclusive=True, or leave initial out."
        )
    leaves, structure = jax.tree.flatten(rows)
    given = jax.tree.leaves(initial)
    if len(given) == 1 and jax.tree.structure(initial) == jax.tree.structure(0):
        given = given * len(leaves)
    elif jax.tree.structure(initial) != structure:
        raise ValueError(
            f"{caller}: initial must be one number, or a pytree like {name}, {structure}, "
            f"got {jax.tree.structure(initial)}."
        )
    return jax.tree.unflatten(
        structure,
        [
            _as_initial(value, leaf, scan, caller, name)
            for value, leaf in zip(given, leaves, strict=True)
        ],
    )


def _as_initial(value: Any, leaf: Array, scan: Scan, caller: str, name: str) -> Array:
    # Booleans are counted, and a count may start at any integer.
    is_count = leaf.dtype == jnp.bool_ and scan.op in ("add", "mul")
    dtype = np.dtype(np.int32) if is_count else leaf.dtype
    if isinstance(value, (bool, int, float, complex)):
        if not fits(value, dtype):
            raise ValueError(f"{caller}: initial must be a number of {dtype}, got {value}.")
        return jnp.full(leaf.shape[1:], value, dtype)
    array = as_array(value, caller, "initial")
    if array.dtype not in (leaf.dtype, dtype) or array.shape not in ((), leaf.shape[1:]):
        raise ValueError(
            f"{caller}: initial must be like a row of {name}, "
            f"{_shown(jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype))}, got {type_of(array)}."
        )
    return jnp.broadcast_to(array, leaf.shape[1:])


def widened(rows: Any, op: Any) -> Any:
    """Casts rows to the dtypes that a named scan computes in.

    Floats of 16 bits are summed in float32 and rounded at the end; booleans are counted.
    """

    def widen(leaf: Array) -> Array:
        if leaf.dtype in (jnp.float16, jnp.bfloat16):
            return leaf.astype(jnp.float32)
        if leaf.dtype == jnp.bool_ and op in ("add", "mul"):
            return leaf.astype(jnp.int32)
        return leaf

    return jax.tree.map(widen, rows) if isinstance(op, str) else rows


def narrowed(results: Any, like: Any) -> Any:
    """Casts the results of a widened scan back to the dtypes of the rows; counts stay int32."""

    def narrow(result: Array, leaf: Array) -> Array:
        return result.astype(leaf.dtype) if result.dtype == jnp.float32 else result

    return jax.tree.map(narrow, results, like)

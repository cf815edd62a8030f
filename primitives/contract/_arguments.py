# SPDX-License-Identifier: Apache-2.0
"""Argument checks. Each error names the rule, what arrived and the remedy."""

import contextlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...shardings._arguments import MAX_SHARD_ROWS, as_static_int, type_of
from ...shardings._compat import is_under_trace, is_x64_enabled
from ._typing import Array

KEY_DTYPES = (
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
    "float16, bfloat16, float32 and float64"
)

PyTreeOfArrays: TypeAlias = Any


class CapacityError(ValueError):
    """A result does not fit the capacity that the caller gave.

    Attributes:
        needed: the capacity that would have sufficed.
    """

    def __init__(self, caller: str, count: int, capacity: int):
        super().__init__(
            f"{caller}: {count} rows do not fit a capacity of {capacity}. "
            f"Call again with capacity={count} or more."
        )
        self.needed = count
        self._arguments = (caller, count, capacity)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def as_array(value: Any, caller: str, name: str) -> Array:
    """Converts an argument to a JAX array of the same dtype, or raises."""
    if isinstance(value, jax.Array):
        array_dtype = value.dtype
    else:
        if not hasattr(value, "dtype"):
            try:
                value = np.asarray(value)
            except ValueError as error:
                raise TypeError(f"{caller}: {name} must be an array, got {error}.") from error
            if value.dtype == np.float64 or value.dtype == np.int64:
                # Python numbers take JAX's default width, as they do in `jnp.asarray`; integers
                # that do not fit it are 64-bit ones.
                with contextlib.suppress(OverflowError):
                    return jnp.asarray(value.tolist()).reshape(value.shape)
        array_dtype = np.dtype(value.dtype)
    if jnp.issubdtype(array_dtype, jax.dtypes.extended):
        raise TypeError(
            f"{caller}: {name} must be an array of numbers, got {type_of(value)}. "
            "Pass jax.random.key_data of it."
        )
    if array_dtype.kind in "OSUMm":
        raise TypeError(
            f"{caller}: {name} must be an array of numbers, got {type_of(value)}. "
            "Encode it as integers first (numpy.unique with return_inverse, or a view)."
        )
    if array_dtype.itemsize == 8 and array_dtype.kind != "c" and not is_x64_enabled():
        raise TypeError(
            f"{caller}: 64-bit {name} need JAX's x64 mode, got {type_of(value)}. "
            'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
        )
    if array_dtype == np.complex128 and not is_x64_enabled():
        raise TypeError(
            f"{caller}: complex128 {name} need JAX's x64 mode, got {type_of(value)}. "
            'Call jax.config.update("jax_enable_x64", True) first, or cast to complex64.'
        )
    if "int2" in array_dtype.name or "int4" in array_dtype.name or "float4" in array_dtype.name:
        raise TypeError(
            f"{caller}: {name} must have items of whole bytes, got {type_of(value)}. "
            "Cast to 8 bits."
        )
    if isinstance(value, jax.Array) and not value.weak_type:
        # `jnp.asarray` would take as long as a small op.
        return value
    try:
        return placed(value)
    except TypeError:
        raise TypeError(
            f"{caller}: {name} must be an array of numbers that JAX has, got {type_of(value)}."
        ) from None


def placed(value: Any) -> Array:
    """`jnp.asarray`, which outside of a trace compiles a copy for each shape, without a program."""
    if is_under_trace() or not isinstance(value, (np.ndarray, np.generic)):
        return jnp.asarray(value)
    # A copy, as JAX may take over the memory, and the caller may write to it later.
    return jax.device_put(np.array(value))


def as_tree(tree: Any, caller: str, name: str = "tree") -> PyTreeOfArrays:
    """Checks that the leaves of a pytree are arrays of numbers; an error names the path."""
    paths, structure = jax.tree_util.tree_flatten_with_path(tree)
    leaves = [as_array(leaf, caller, name + jax.tree_util.keystr(path)) for path, leaf in paths]
    return jax.tree.unflatten(structure, leaves)


def as_keys(
    keys: Any, caller: str, name: str = "keys", num_shards: int = 1
) -> tuple[tuple[Array, ...], bool]:
    """Checks key columns; returns them as a tuple, and whether a tuple was given."""
    is_tuple = are_columns(keys)
    columns = tuple(keys) if is_tuple else (keys,)
    if is_tuple and not keys:
        raise ValueError(f"{caller}: {name} must be at least one array, got an empty tuple.")
    arrays = tuple(as_array(column, caller, name) for column in columns)
    for array in arrays:
        if array.ndim != 1:
            raise ValueError(
                f"{caller}: {name} must be one-dimensional, got {type_of(array)}. "
                "Use jax.vmap for a batch, a tuple of arrays for several columns."
            )
        if not is_key_dtype(array.dtype):
            raise TypeError(
                f"{caller}: {name} must be of one of the dtypes {KEY_DTYPES}, got {type_of(array)}."
            )
        if array.shape[0] > num_shards * MAX_SHARD_ROWS:
            raise ValueError(
                f"{caller}: a shard must hold fewer than 2**31 rows, got {type_of(array)}. "
                "Spread the rows over more devices."
            )
    if len({array.shape[0] for array in arrays}) > 1:
        raise ValueError(
            f"{caller}: {name} must have the same length, got "
            f"{', '.join(type_of(array) for array in arrays)}."
        )
    return arrays, is_tuple


def are_columns(keys: Any) -> bool:
    """Whether keys are several columns: a tuple or a list, but not of numbers, which is one."""
    if not isinstance(keys, (tuple, list)) or not keys:
        return isinstance(keys, tuple)
    return not all(np.isscalar(key) for key in keys)


def as_key(x: Any, caller: str, name: str = "x", num_shards: int = 1) -> Array:
    """Checks a single key column."""
    columns, is_tuple = as_keys(x, caller, name, num_shards)
    if is_tuple:
        raise TypeError(
            f"{caller}: {name} must be one array, got a tuple of {len(columns)}. For several "
            "columns sort them, with radix_sort."
        )
    return columns[0]


def is_key_dtype(dtype: Any) -> bool:
    """Whether arrays of this dtype can be sort keys."""
    dtype = np.dtype(dtype)
    return dtype.name in {
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "bfloat16", "float32", "float64",
    }  # fmt: skip


def as_rows(rows: Any, num_rows: int | None, caller: str, name: str = "values") -> Any:
    """Checks that the leaves of a pytree are arrays of `num_rows` rows each."""

    def check(leaf: Any) -> Array:
        array = as_array(leaf, caller, name)
        if array.ndim == 0 or (num_rows is not None and array.shape[0] != num_rows):
            expected = "the same number of rows" if num_rows is None else f"{num_rows} rows"
            raise ValueError(
                f"{caller}: every leaf of {name} must have {expected} along its leading axis, "
                f"got {type_of(array)}."
            )
        return array

    return jax.tree.map(check, rows)


def as_row_ids(ids: Any, caller: str, name: str) -> Array:
    """Checks ids of rows: integers of shape `(ids,)`."""
    ids = as_array(ids, caller, name)
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: {name} must be integers, got {type_of(ids)}.")
    if ids.ndim != 1:
        raise ValueError(
            f"{caller}: {name} must be one-dimensional, got {type_of(ids)}. Flatten them, and "
            "reshape the result."
        )
    return ids


def num_rows_of(rows: Any, caller: str, name: str = "rows") -> int:
    """The length that the leaves of a pytree share along their leading axis."""
    leaves = jax.tree.leaves(rows)
    if not leaves:
        raise ValueError(f"{caller}: {name} must hold at least one array, got an empty pytree.")
    lengths = {np.shape(leaf)[:1] for leaf in leaves}
    if len(lengths) > 1 or () in lengths:
        raise ValueError(
            f"{caller}: every leaf of {name} must have the same number of rows along its leading "
            f"axis, got {', '.join(type_of(leaf) for leaf in leaves)}."
        )
    return int(lengths.pop()[0])


def as_num_valid(num_valid: Any, num_rows: int, caller: str) -> Array:
    """Converts `num_valid` of a shard to an int32 scalar in `[0, num_rows]`."""
    if num_valid is None:
        # Whole arrays may have more rows than a shard; `RowMesh.num_valid` counts those of each.
        return _count(min(num_rows, MAX_SHARD_ROWS))
    if isinstance(num_valid, jax.Array):
        check_num_valid(num_valid, caller)
        if num_valid.dtype.itemsize < 4:
            # A narrow integer cannot hold the upper limit.
            num_valid = num_valid.astype(jnp.int32)
        return jnp.clip(num_valid, 0, num_rows).astype(jnp.int32)
    return _count(as_static_int(num_valid, caller, "num_valid", 0, num_rows))


def _count(number: int) -> Any:
    # Programs take a number of the host in less time than it takes to place it.
    return jnp.asarray(np.int32(number)) if is_under_trace() else np.int32(number)


def as_valid_rows(num_valid: Any, num_rows: int, caller: str) -> Array | None:
    """`as_num_valid`, but None if all rows are known to be valid: programs then need no mask."""
    is_number = isinstance(num_valid, (int, np.integer)) and not isinstance(num_valid, bool)
    if num_valid is None or (is_number and num_valid == num_rows):
        return None
    return as_num_valid(num_valid, num_rows, caller)


def check_num_valid(num_valid: Array, caller: str) -> None:
    """Raises unless an array is an integer scalar."""
    if num_valid.ndim != 0 or not jnp.issubdtype(num_valid.dtype, jnp.integer):
        raise TypeError(f"{caller}: num_valid must be an integer scalar, got {type_of(num_valid)}.")


def fits(number: Any, dtype: Any) -> bool:
    """Whether a dtype can represent a concrete number; floats may be rounded."""
    value, dtype = np.asarray(number)[()], np.dtype(dtype)
    if np.iscomplexobj(value) or jnp.issubdtype(dtype, jnp.complexfloating):
        return jnp.issubdtype(dtype, jnp.complexfloating)
    if dtype == jnp.bool_:
        return bool(value in (0, 1))
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        is_finite = not np.issubdtype(type(value), np.floating) or bool(np.isfinite(value))
        # As Python's integers: no other type compares all numbers.
        return is_finite and int(value) == value and limits.min <= int(value) <= limits.max
    try:
        wide = float(value)
    except OverflowError:
        return False
    return not np.isfinite(wide) or abs(wide) <= float(jnp.finfo(dtype).max)


def as_capacity(capacity: Any, default: int, caller: str) -> int:
    """Validates the capacity of a result, or returns the default."""
    if capacity is None:
        return default
    return as_static_int(capacity, caller, "capacity", 0, MAX_SHARD_ROWS)


def as_pair(pair: Any, caller: str, name: str) -> tuple[Any, Any]:
    """Checks an argument that is given for both sides, or for neither."""
    if pair is None:
        return None, None
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"{caller}: {name} must be a pair, for a and for b, got {type_of(pair)}.")
    return pair[0], pair[1]


def as_flag(flag: Any, caller: str, name: str) -> bool:
    """Validates a bool that the program depends on."""
    _refuse_traced_flag(flag, caller, name)
    if not isinstance(flag, (bool, np.bool_)):
        raise TypeError(f"{caller}: {name} must be a bool, got {type_of(flag)}.")
    return bool(flag)


def _refuse_traced_flag(flag: Any, caller: str, name: str) -> None:
    if isinstance(flag, Tracer):
        raise TypeError(
            f"{caller}: {name} must be a Python bool, because the program depends on it, "
            f"got the traced {type_of(flag)}. Mark it static (static_argnames in jax.jit)."
        )


def as_directions(descending: Any, num_keys: int, caller: str) -> tuple[bool, ...]:
    """Validates `descending`; returns one direction for each key column."""
    _refuse_traced_flag(descending, caller, "descending")
    if isinstance(descending, (bool, np.bool_)):
        return (bool(descending),) * num_keys
    if not isinstance(descending, Sequence) or not all(
        isinstance(direction, (bool, np.bool_)) for direction in descending
    ):
        raise TypeError(
            f"{caller}: descending must be a bool, or one bool for each key, "
            f"got {type_of(descending)}."
        )
    if len(descending) != num_keys:
        raise ValueError(
            f"{caller}: descending must name a direction for each of the {num_keys} keys, "
            f"got {len(descending)}."
        )
    return tuple(bool(direction) for direction in descending)

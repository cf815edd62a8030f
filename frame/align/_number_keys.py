# SPDX-License-Identifier: Apache-2.0
"""Keys of two columns of numbers that no common dtype represents exactly."""

import functools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array, Column, in_dtype, missing_rows
from ..table._object_functions import as_objects, joined_objects
from ..table._table import Count, is_row
from ..table._to_host import host_array
from ._join_types import JoinType

Keys = tuple[Array, ...]


def number_keys(left: Column, right: Column) -> tuple[Keys, Keys] | None:
    """Keys of 64-bit integers beside others of other sign, or beside floats, in numeric order.

    Missing values come last. Returns None if the common dtype of the columns is exact.
    """
    if not _are_rounded(left, right):
        return None
    if not (left.is_float or right.is_float):
        return _sign_and_word(*left.arrays), _sign_and_word(*right.arrays)
    dtype = right.dtype if left.is_float else left.dtype
    return _whole_and_rest(*left.arrays, dtype), _whole_and_rest(*right.arrays, dtype)


def _are_rounded(left: Column, right: Column) -> bool:
    """Whether the common dtype of two columns of numbers rounds integers."""
    columns = left, right
    if not all(column.is_numeric and column.dtype.kind in "iuf" for column in columns):
        return False
    is_float = np.result_type(left.dtype, right.dtype).kind == "f"
    return is_float and any(
        column.dtype.kind in "iu" and column.dtype.itemsize == 8 for column in columns
    )


@tiered
def _sign_and_word(data: Array, valid: Array | None) -> Keys:
    """Flags of integers that are not negative, or 2 for a missing value, and their lower bits."""
    rank = (data >= data.dtype.type(0)).astype(jnp.int8)
    word = data.astype(jnp.uint64)
    if valid is None:
        return rank, word
    return jnp.where(valid, rank, np.int8(2)), jnp.where(valid, word, np.uint64(0))


@functools.partial(tiered, static_argnums=2)
def _whole_and_rest(data: Array, valid: Array | None, dtype: np.dtype) -> Keys:
    """Whole parts, rounded to zero, in an integer dtype, and what is left of the numbers.

    Left is a fraction, or the number itself if its whole part is out of range. It is NaN for a
    missing value.
    """
    info = np.iinfo(dtype)
    least, most = dtype.type(info.min), dtype.type(info.max)
    missing = missing_rows(data, valid, "nan")
    if not jnp.issubdtype(data.dtype, jnp.floating):
        rest = jnp.where(missing, np.float64(np.nan), np.float64(0))
        return jnp.where(missing, most, data.astype(dtype)), rest
    number = data.astype(jnp.float64)
    whole = jnp.trunc(number)
    is_low, is_high = whole < float(info.min), whole >= float(int(info.max) + 1)
    is_inside = ~(is_low | is_high | missing)
    whole = jnp.where(is_inside, whole, np.float64(0))
    # XLA on CPU flushes results below the normal numbers to zero, but keeps operands.
    rest = jnp.where(whole == 0, number, number - whole)
    key = jnp.where(is_low, least, jnp.where(is_inside, whole.astype(dtype), most))
    return key, rest


def are_of_two_signs(left: Column, right: Column) -> bool:
    """Whether labels are signed integers on one side and uint64 on the other."""
    are_plain = not (left.is_float or right.is_float or left.is_nullable or right.is_nullable)
    return are_plain and _are_rounded(left, right)


def in_joined_dtype(
    left: Column, right: Column, counts: tuple[Count, Count], num_rows: int, join: JoinType | None
) -> tuple[Column, Column]:
    """Labels of two signs in the dtype that pandas gives those of a join, or of an alignment.

    `num_rows` is the number of rows of the result, and `join` is None for an alignment.
    """
    sides = zip((left, right), counts, strict=True)
    a, b = (host_array(one.data)[: int(count)] for one, count in sides)
    dtype = _joined_dtype(a, b, num_rows, join)
    if dtype.kind != "O":
        left, right = in_dtype([left, right], dtype)
        return left, right
    return objects_of_two_signs(left, right, counts)


def objects_of_two_signs(
    left: Column, right: Column, counts: tuple[Count, Count]
) -> tuple[Column, Column]:
    """Labels of two signs as objects."""
    sides = zip((left, right), counts, strict=True)
    left, right = joined_objects([as_objects(one, count, "index") for one, count in sides])
    return left, right


def _joined_dtype(a: np.ndarray, b: np.ndarray, num_rows: int, join: JoinType | None) -> np.dtype:
    if a.dtype == np.uint64 and len(b) and b.min() >= 0:
        return a.dtype
    keeps = (True, True) if join is None else join.keeps
    if keeps[0] != keeps[1]:
        return b.dtype if keeps[1] else a.dtype
    is_outer = keeps[0]
    if not (len(a) and len(b)):
        return a.dtype if is_outer == bool(len(a)) else b.dtype
    steps = [one[1:] > one[:-1] for one in (a, b)]
    ascend = all((one[1:] >= one[:-1]).all() for one in (a, b)) and any(s.all() for s in steps)
    if join is None and ascend and num_rows == len(a):
        return a.dtype
    if not (ascend and num_rows) or num_rows in (len(a), len(b)):
        return np.dtype(object)
    # pandas infers a dtype from the labels.
    if not is_outer or max(int(a[-1]), int(b[-1])) < 2**63:
        return np.dtype(np.int64)
    return np.dtype(np.uint64 if min(int(a[0]), int(b[0])) >= 0 else object)


def check_labels(
    pairs: Sequence[tuple[Column, Column]], counts: tuple[Count, Count], caller: str
) -> None:
    """Raises if labels of int64 and uint64 would be rounded in their union.

    Raises:
        NotImplementedError: they would be.
    """
    for left, right in pairs:
        if not _are_rounded(left, right) or left.is_float or right.is_float:
            continue
        sides = zip((left, right), counts, strict=True)
        if any(bool(_is_any_rounded(*one.arrays, count)) for one, count in sides):
            raise NotImplementedError(
                f"{caller}: labels of {left.dtype_name} and {right.dtype_name} beyond 2**53 have "
                "no common dtype. Cast the labels of one side to the dtype of the other first."
            )


@tiered
def _is_any_rounded(data: Array, valid: Array | None, count: object) -> Array:
    limit = data.dtype.type(2**53)
    is_large = data > limit
    if jnp.issubdtype(data.dtype, jnp.signedinteger):
        is_large |= data < -limit
    return jnp.any(is_large & is_row(data.shape[0], count) & (True if valid is None else valid))

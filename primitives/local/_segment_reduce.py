# SPDX-License-Identifier: Apache-2.0
"""Segment reductions."""

import functools
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_num_valid, as_rows, as_static_int, fits, type_of
from ..contract._op_names import as_reduction_name
from ..contract._segment_forms import HAVE_DDOF, SEGMENT_OPS, documented
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..tiers._tiered import tiered
from ._bucket import as_bucket_ids
from ._one_device import OneDevice
from ._segment_ops import REDUCTIONS, Segments
from ._segments import as_given_ids, place_segment_ids

_ORDERED = ("min", "max", "argmin", "argmax", "logsumexp", *HAVE_DDOF)
_AVERAGES = ("mean", "logsumexp", *HAVE_DDOF)
_OF_DTYPE = ("sum", "prod", "min", "max", "first", "last")


def segment_reduce(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    op: str,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    fill_value: Any = None,
    ddof: int = 0,
    first_id: Any = None,
) -> PyTree:
    """Reduces the rows of each segment to one.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them; may be None for "count".
        segment_ids: segment of each row, integers of shape `(rows,)`. Rows with an id outside `[0,
            num_segments)`, negative ids included, are dropped.
        num_segments: number of segments. Static.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "logsumexp", "first",
            "last", "any", "all", "argmin" or "argmax"; see the function of that name, such as
            `segment_sum`.
        num_valid: number of valid rows, at the front; all rows by default.
        fill_value: result of an empty segment, a number of the dtype of the result; by default the
            identity element of `op`: zero for a sum, infinity for a minimum, NaN for a mean, -1 for
            a row id.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        first_id: id of the first segment; the others follow. Zero by default.

    Returns:
        An array of shape `(num_segments, ...)` for each leaf of `x`; for "count" one of shape
        `(num_segments,)`.

    Raises:
        TypeError: `segment_ids` or `first_id` are not integers, `num_segments` is traced, or a
            dtype that `op` does not support.
        ValueError: lengths differ, `op` is unknown, `num_segments` is less than one, or a dtype
            cannot hold a concrete `fill_value` or `first_id`.

    Cost:
        Work O(rows + num_segments): one scatter for most, two for "mean", three for "argmin",
        "argmax", "var" and "std". Floats are summed on GPU by a sort of the ids. On TPU numbers of
        32 bits take no scatter: the matrix unit adds the rows of up to 4,096 segments, the vector
        unit combines those of up to 1,024, and more are sorted by id. No communication.

    Guarantees:
        Deterministic, on every platform; differentiable in `x` if the result is a float.

    References:
        Blelloch (1990), "Prefix sums and their applications", on segmented operations.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([5, 1, 4, 2, 8]), jnp.array([0, 2, 0, 2, 7])
        >>> local.segment_reduce(x, segment_ids, 3, "sum").tolist()
        [9, 0, 3]
        >>> local.segment_reduce(x, segment_ids, 3, "max", fill_value=0).tolist()
        [5, 0, 2]
    """
    caller = "segment_reduce"
    arguments = as_segment_arguments(caller, x, segment_ids, num_segments, op, fill_value, ddof)
    if first_id is not None:
        first_id = _as_first_id(first_id, arguments[1], caller)
    return reduce_on_one_device(*arguments, num_valid, caller, first_id)


def _as_first_id(first_id: Any, segment_ids: Array, caller: str) -> Array:
    known, first_id = first_id, as_array(first_id, caller, "first_id")
    if first_id.ndim != 0 or not jnp.issubdtype(first_id.dtype, jnp.integer):
        raise TypeError(f"{caller}: first_id must be one integer, got {type_of(first_id)}.")
    if isinstance(known, jax.Array) and known.dtype != segment_ids.dtype:
        raise TypeError(
            f"{caller}: first_id must be of {segment_ids.dtype}, the dtype of segment_ids, "
            f"got {type_of(known)}."
        )
    if not isinstance(known, jax.Array) and not fits(known, segment_ids.dtype):
        raise ValueError(
            f"{caller}: first_id must be a number of {segment_ids.dtype}, the dtype of "
            f"segment_ids, got {known}."
        )
    return first_id.astype(segment_ids.dtype)


def as_segment_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    op: Any,
    fill_value: Any = None,
    ddof: Any = 0,
) -> tuple[Any, Array, int, str, Any, int]:
    """Checks the arguments that all levels share."""
    op = as_reduction_name(op, SEGMENT_OPS, caller)
    num_segments = as_static_int(num_segments, caller, "num_segments", 1, 2**31 - 1)
    ddof = as_static_int(ddof, caller, "ddof", 0)
    segment_ids = as_array(segment_ids, caller, "segment_ids")
    if segment_ids.ndim != 1:
        raise ValueError(
            f"{caller}: segment_ids must be one-dimensional, got {type_of(segment_ids)}."
        )
    num_rows = segment_ids.shape[0]
    segment_ids = as_bucket_ids(segment_ids, num_rows, caller, "segment_ids")
    x = as_rows(x, num_rows, caller, "x")
    if op != "count" and not jax.tree.leaves(x):
        raise ValueError(f"{caller}: x must hold an array for {op!r}, got {type_of(x)}.")
    if op in _ORDERED:
        for leaf in jax.tree.leaves(x):
            if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
                raise TypeError(
                    f"{caller}: x must be real for {op!r}, got {type_of(leaf)}. Reduce its real "
                    "and imaginary parts."
                )
    fill_value = _check_fill(fill_value, x, op, caller)
    return x, segment_ids, num_segments, op, fill_value, ddof


def _check_fill(fill_value: Any, x: Any, op: str, caller: str) -> Array | None:
    if fill_value is None:
        return None
    known, fill_value = fill_value, as_array(fill_value, caller, "fill_value")
    if fill_value.ndim != 0:
        raise ValueError(f"{caller}: fill_value must be one number, got {type_of(fill_value)}.")
    if jnp.issubdtype(fill_value.dtype, jnp.inexact) and op not in _AVERAGES:
        dtypes = {np.dtype(leaf.dtype) for leaf in jax.tree.leaves(x)}
        if op not in _OF_DTYPE or not all(jnp.issubdtype(dtype, jnp.inexact) for dtype in dtypes):
            raise TypeError(
                f"{caller}: fill_value must be an integer where the result is one, "
                f"got {type_of(fill_value)}."
            )
    if isinstance(known, jax.Array):
        return fill_value
    dtypes = {_result_dtype(np.dtype(leaf.dtype), op) for leaf in jax.tree.leaves(x)}
    for dtype in dtypes or {np.dtype(np.int32)}:
        if not fits(known, dtype):
            raise ValueError(f"{caller}: fill_value must be a number of {dtype}, got {known}.")
    return fill_value


def _result_dtype(dtype: np.dtype, op: str) -> np.dtype:
    if op in ("any", "all"):
        return np.dtype(np.bool_)
    if op not in (*_AVERAGES, *_OF_DTYPE) or (op in ("sum", "prod") and dtype == np.bool_):
        return np.dtype(np.int32)
    is_averaged = op in _AVERAGES and not jnp.issubdtype(dtype, jnp.inexact)
    return np.dtype(jax.dtypes.canonicalize_dtype(float)) if is_averaged else dtype


def reduce_on_one_device(
    x: Any,
    segment_ids: Array,
    num_segments: int,
    op: str,
    fill_value: Array | None,
    ddof: int,
    num_valid: Any,
    caller: str,
    first_id: Array | None = None,
) -> Any:
    """Reduces checked arguments; checks only `num_valid`."""
    if num_valid is not None:
        num_valid = as_num_valid(num_valid, segment_ids.shape[0], caller)
    return reduce_rows(
        x, segment_ids, num_valid, fill_value, num_segments, num_segments, op, ddof, OneDevice(),
        first_id,
    )  # fmt: skip


@functools.partial(tiered, static_argnums=(4, 5, 6, 7, 8))
def reduce_rows(
    x: Any,
    segment_ids: Array,
    num_valid: Array | None,
    fill_value: Array | None,
    num_segments: int,
    capacity: int,
    op: str,
    ddof: int,
    over: Any,
    first_id: Array | None = None,
) -> Any:
    """Reduces every leaf of checked arguments; segments past the last one are empty."""
    is_exact = capacity == num_segments
    ids = place_segment_ids(segment_ids, num_segments, num_valid, is_exact, first_id)
    given = as_given_ids(segment_ids, first_id, num_valid, num_segments) if is_exact else None
    segments = Segments(ids, capacity, over, given)
    if op == "count":
        return _filled(over.total(segments.counts), segments, fill_value)
    return jax.tree.map(
        lambda rows: _filled(REDUCTIONS[op](rows, segments, ddof), segments, fill_value), x
    )


def _filled(reduced: Array, segments: Segments, fill_value: Array | None) -> Array:
    if fill_value is None:
        return reduced
    counts = segments.over.piece(segments.over.whole_total(segments.counts))
    is_empty = (counts == 0).reshape(-1, *(1,) * (reduced.ndim - 1))
    return jnp.where(is_empty, fill_value.astype(reduced.dtype), reduced)


@runtime_checkable
class SegmentReduction(Protocol):
    """A segment reduction of one name."""

    def __call__(
        self,
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
    ) -> PyTree:
        """Reduces the rows of each segment to one."""
        ...


@runtime_checkable
class SegmentMoment(Protocol):
    """A segment reduction with delta degrees of freedom."""

    def __call__(
        self,
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        ddof: int = 0,
    ) -> PyTree:
        """Reduces the rows of each segment to one."""
        ...


def _form(op: str) -> SegmentReduction:
    caller = f"segment_{op}"

    def form(
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
    ) -> PyTree:
        arguments = as_segment_arguments(caller, x, segment_ids, num_segments, op, fill_value)
        return reduce_on_one_device(*arguments, num_valid, caller)

    return documented(op, ("num_valid", "fill_value"), "local")(form)


def _form_with_ddof(op: str) -> SegmentMoment:
    caller = f"segment_{op}"

    def form(
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        ddof: int = 0,
    ) -> PyTree:
        arguments = as_segment_arguments(caller, x, segment_ids, num_segments, op, fill_value, ddof)
        return reduce_on_one_device(*arguments, num_valid, caller)

    return documented(op, ("num_valid", "fill_value", "ddof"), "local")(form)


@documented("count", ("num_valid",), "local")
def segment_count(
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Array:
    arguments = as_segment_arguments("segment_count", None, segment_ids, num_segments, "count")
    return reduce_on_one_device(*arguments, num_valid, "segment_count")


segment_sum: SegmentReduction = _form("sum")
segment_prod: SegmentReduction = _form("prod")
segment_min: SegmentReduction = _form("min")
segment_max: SegmentReduction = _form("max")
segment_mean: SegmentReduction = _form("mean")
segment_var: SegmentMoment = _form_with_ddof("var")
segment_std: SegmentMoment = _form_with_ddof("std")
segment_logsumexp: SegmentReduction = _form("logsumexp")
segment_first: SegmentReduction = _form("first")
segment_last: SegmentReduction = _form("last")
segment_any: SegmentReduction = _form("any")
segment_all: SegmentReduction = _form("all")
segment_argmin: SegmentReduction = _form("argmin")
segment_argmax: SegmentReduction = _form("argmax")

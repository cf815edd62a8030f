# SPDX-License-Identifier: Apache-2.0
"""Segment reductions over the shards of a mesh axis."""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag, as_num_valid
from ..contract._segment_forms import documented
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local.parts import OneDevice, as_segment_arguments, place_segment_ids, reduce_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._over_shards import OverShards
from ._segment_ranges import Ranges


def segment_reduce(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    op: str,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    fill_value: Any = None,
    ddof: int = 0,
    scattered: bool = False,
) -> PyTree:
    """Reduces the rows of each segment, on any shards, to one.

    Each shard reduces its own rows; its partial results are then reduced over the shards.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them; may be None for
            "count".
        segment_ids: segment of each row, integers of shape `(rows,)`. Rows with an id outside `[0,
            num_segments)`, negative ids included, are dropped.
        num_segments: number of segments. Static.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "logsumexp", "first",
            "last", "any", "all", "argmin" or "argmax"; see the function of that name, such as
            `segment_sum`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        fill_value: result of an empty segment, a number of the dtype of the result; by default the
            identity element of `op`: zero for a sum, infinity for a minimum, NaN for a mean, -1 for
            a row id.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        scattered: returns only this shard's piece of the segments. Static.

    Returns:
        An array of shape `(num_segments, ...)` for each leaf of `x`, the same on every shard; for
        "count" one of shape `(num_segments,)`. With `scattered`, shard `i` gets segments
        `i * piece` to `(i + 1) * piece`, where `piece` is `num_segments / num_shards` rounded up;
        segments past `num_segments` are empty.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or a dtype that `op`
            does not support.
        ValueError: lengths differ, `op` is unknown, `num_segments` is less than one, the dtype of
            the result cannot hold a concrete `fill_value`, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        Work O(rows + num_segments). Communication O(num_segments) for any number of rows: for most
        ops one `psum`, `pmin` or `pmax` of the segments, with `scattered` a `psum_scatter`; three
        at most. With `scattered` and more segments than this shard has rows, no shard holds them
        all: work O(rows + piece), a `partition` of a partial result for each segment that a shard
        has rows of, as in `reduce_by_key`, and one of the results to their shards.

    Guarantees:
        Deterministic; integers, minima, maxima and row ids do not depend on the number of shards;
        differentiable in `x` if the result is a float.

    Example:
        Two shards, three segments, "sum":

            shard 0   x [5 1 4]   segment_ids [0 2 0]
            shard 1   x [2 8 3]   segment_ids [2 7 2]
            ->
            both      [9 0 6]

        The same with `scattered`:

            shard 0   [9 0]
            shard 1   [6 0]       (the last is no segment)
    """
    return _reduce(
        "segment_reduce", x, segment_ids, num_segments, op, axis_name, num_valid, fill_value, ddof,
        scattered,
    )  # fmt: skip


def _reduce(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    op: str,
    axis_name: AxisName,
    num_valid: Any,
    fill_value: Any,
    ddof: Any,
    scattered: bool,
) -> Any:
    scattered = as_flag(scattered, caller, "scattered")
    num_shards = num_shards_on(axis_name, caller)
    x, ids, num_segments, op, fill_value, ddof = as_segment_arguments(
        caller, x, segment_ids, num_segments, op, fill_value, ddof
    )
    # Ids past the last segment are dropped, so that the segments that pad the pieces are empty.
    padded = num_segments + (-num_segments % num_shards if scattered else 0)
    num_rows = ids.shape[0]
    if num_rows == 0:
        # XLA cannot compile an exchange over a mesh if all arguments are empty, and there is
        # nothing to exchange: all shards agree.
        x, ids = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), (x, ids))
        capacity = padded // num_shards if scattered else num_segments
        empty = reduce_rows(x, ids, None, fill_value, capacity, capacity, op, ddof, OneDevice())
        return as_shards(empty, axis_name) if scattered else empty
    valid = None if num_valid is None else as_num_valid(num_valid, num_rows, caller)
    if scattered and num_segments > num_rows:
        x, ids, valid = as_shards((x, ids, valid), axis_name)
        ids = place_segment_ids(ids, num_segments, valid, is_exact=False)
        ranges = Ranges(ids, num_segments, axis_name, "auto", caller)
        return ranges.reduce(x, op, ddof, fill_value)
    over = OverShards(axis_name, num_shards, scattered, caller)
    x, ids, valid = as_shards((x, ids, valid), axis_name)
    return reduce_rows(x, ids, valid, fill_value, num_segments, padded, op, ddof, over)


@runtime_checkable
class SegmentReduction(Protocol):
    """A segment reduction of one name."""

    def __call__(
        self,
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        axis_name: AxisName,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        scattered: bool = False,
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
        axis_name: AxisName,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        ddof: int = 0,
        scattered: bool = False,
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
        axis_name: AxisName,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        scattered: bool = False,
    ) -> PyTree:
        return _reduce(
            caller, x, segment_ids, num_segments, op, axis_name, num_valid, fill_value, 0, scattered
        )

    return documented(op, ("axis_name", "num_valid", "fill_value", "scattered"), "collective")(form)


def _form_with_ddof(op: str) -> SegmentMoment:
    caller = f"segment_{op}"

    def form(
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        *,
        axis_name: AxisName,
        num_valid: int | Integer[ArrayLike, ""] | None = None,
        fill_value: Any = None,
        ddof: int = 0,
        scattered: bool = False,
    ) -> PyTree:
        return _reduce(
            caller, x, segment_ids, num_segments, op, axis_name, num_valid, fill_value, ddof,
            scattered,
        )  # fmt: skip

    return documented(
        op, ("axis_name", "num_valid", "fill_value", "ddof", "scattered"), "collective"
    )(form)


@documented("count", ("axis_name", "num_valid", "scattered"), "collective")
def segment_count(
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    scattered: bool = False,
) -> Array:
    return _reduce(
        "segment_count", None, segment_ids, num_segments, "count", axis_name, num_valid, None, 0,
        scattered,
    )  # fmt: skip


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

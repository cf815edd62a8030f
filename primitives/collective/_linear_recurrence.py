# SPDX-License-Identifier: Apache-2.0
"""Linear recurrences over the shards of a mesh axis."""

import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._scan_operators import Scan
from ..contract._typing import Array, ArrayLike, Bool, Integer, Shaped
from ..kernels.scan._segmented_scan import fill_padding
from ..local.parts import Recurrence, ScanArguments, as_recurrence, compose
from ._axis import AxisName, as_shards, num_shards_on
from ._scan_shards import scan_shards


def linear_recurrence(
    a: Shaped[ArrayLike, "rows ..."],
    b: Shaped[ArrayLike, "rows ..."],
    *,
    axis_name: AxisName,
    initial: Shaped[ArrayLike, "..."] | complex | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, "rows ..."]:
    """Solves `h[i] = a[i] * h[i - 1] + b[i]` for the rows of all shards.

    Args:
        a: this shard's factors, of the shape of `b`, or one for each row, of shape `(rows,)`.
        b: this shard's terms: floats, complex numbers or integers, of any shape with a leading
            axis.
        axis_name: mesh axis of the rows, or a tuple of axes.
        initial: the value before the first row of each segment, the same on every shard: one
            number, or an array like a row of `b`; zero by default.
        head_flags: True at the first row of each segment, of shape `(rows,)`; one segment by
            default.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids, on one shard or several.
        reverse: solves `h[i] = a[i] * h[i + 1] + b[i]`, from the last row of each segment.
        num_valid: number of valid rows of this shard, at its front; all rows by default. A shard
            may have no valid rows.

    Returns:
        An array like `b`. Padding rows are zero.

    Raises:
        TypeError: `a` and `b` differ in dtype, or are no numbers.
        ValueError: shapes differ, both `head_flags` and `segment_ids` are given, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x row bytes + num_shards x row bytes): each shard also computes the product of
        its factors. Communication: one `all_gather` of two rows and a few numbers from each shard.

    Guarantees:
        As `local.linear_recurrence`. Floats depend on the number of shards within rounding, while
        no product of a shard's factors overflows: one that does gives NaN beside a state of zero.

    References:
        Blelloch (1990), "Prefix sums and their applications" (recurrences).

    Example:
        Two shards:

            shard 0   a [0.5 0.5]   b [8 0]
            shard 1   a [0.5 0.5]   b [4 2]
            ->
            shard 0   [8 4]
            shard 1   [6 5]
    """
    caller = "linear_recurrence"
    reverse = as_flag(reverse, caller, "reverse")
    num_shards_on(axis_name, caller)
    arguments = as_recurrence(a, b, initial, head_flags, segment_ids, num_valid, caller)
    return solve_shards(arguments, reverse, axis_name)


def solve_shards(arguments: Recurrence, reverse: bool, axis_name: AxisName) -> Array:
    """Solves the recurrence of checked arguments over all shards."""
    a, b, initial, encoding, num_valid = arguments.widened()
    # NaN in padding rows must not reach the derivatives.
    a, b = (fill_padding(rows, num_valid) for rows in (a, b))
    steps = ScanArguments((a, b), Scan(compose, reverse, False), None, num_valid)
    factors, results = scan_shards(steps, encoding, axis_name)
    if initial is not None:
        initial, num_valid = as_shards((initial, num_valid), axis_name)
        results = fill_padding(factors * initial[None] + results, num_valid)
    return jnp.asarray(results, arguments.b.dtype)

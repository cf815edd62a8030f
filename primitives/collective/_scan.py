# SPDX-License-Identifier: Apache-2.0
"""Scans over the shards of a mesh axis."""

from ..contract._scan_operators import Operator, Scan
from ..contract._typing import ArrayLike, Integer, PyTree
from ..local.parts import SegmentEncoding, as_scan
from ._axis import AxisName, num_shards_on
from ._scan_shards import scan_shards


def inclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    axis_name: AxisName,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Combines each row with those before it, on this shard and on the shards before it.

    Args:
        x: this shard's rows, any pytree of arrays with the same leading axis. For a named `op`, of
            key dtypes, and of complex numbers for `"sum"` and `"prod"`.
        op: `"sum"`, `"prod"`, `"min"` or `"max"`, applied to each leaf; or an associative function
            of two rows, each a pytree like `x` without the leading axis, that returns such a row.
            It need not commute: its first argument comes first in the order of the scan.
        axis_name: mesh axis of the rows, or a tuple of axes.
        reverse: scan from the last row of the last shard to the first row of the first shard.
        num_valid: number of valid rows of this shard, at its front; all rows by default. A shard
            may have no valid rows.

    Returns:
        A pytree like `x`, of the same dtypes; bool under `"sum"` and `"prod"` becomes int32.
        Padding rows are zero.

    Raises:
        TypeError: a dtype that `op` does not support, or a function `op` with a result unlike its
            arguments.
        ValueError: leading axes differ, `op` is unknown, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        Work O(rows x row bytes + num_shards x row bytes). On CPU a named operator reads and writes
        the rows twice. Communication: one `all_gather` of one row and a few numbers from each
        shard, for each dtype.

    Guarantees:
        As `local.inclusive_scan`. Integers, minima and maxima do not depend on the number of
        shards; sums and products of floats do, within the bounds given there. Differentiable in
        `x`.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        Three shards:

            shard 0   x [3 1]
            shard 1   x [4 1]   num_valid 1
            shard 2   x [5 9]
            ->
            shard 0   [ 3  4]
            shard 1   [ 8  0]
            shard 2   [13 22]
    """
    caller = "inclusive_scan"
    num_shards_on(axis_name, caller)
    arguments = as_scan(x, Scan(op, reverse, False), None, num_valid, caller)
    return scan_shards(arguments, SegmentEncoding(None, None), axis_name)


def exclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    axis_name: AxisName,
    initial: PyTree | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Combines the rows before each row, on this shard and on the shards before it.

    Args:
        x: this shard's rows, as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        initial: the value before the first row of all shards, the same on every shard: one number,
            or a pytree like `x` of single rows. For a named `op` it defaults to the identity
            element: zero, one, or the largest or smallest number of the dtype. Required if `op` is
            a function.
        reverse: scan from the last row of the last shard to the first row of the first shard.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`.
        ValueError: as `inclusive_scan`; `op` is a function and `initial` is missing.

    Cost:
        That of `inclusive_scan`.

    Guarantees:
        As `inclusive_scan`; differentiable in `initial` too.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        Three shards:

            shard 0   x [3 1]
            shard 1   x [4 1]   num_valid 1
            shard 2   x [5 9]
            ->
            shard 0   [0  3]
            shard 1   [4  0]
            shard 2   [8 13]
    """
    caller = "exclusive_scan"
    num_shards_on(axis_name, caller)
    arguments = as_scan(x, Scan(op, reverse, True), initial, num_valid, caller)
    return scan_shards(arguments, SegmentEncoding(None, None), axis_name)

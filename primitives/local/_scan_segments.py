# SPDX-License-Identifier: Apache-2.0
"""The checked arguments of scans, and the scan that they describe."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import (
    as_array,
    as_flag,
    as_num_valid,
    as_rows,
    as_valid_rows,
    num_rows_of,
    type_of,
)
from ..contract._scan_operators import (
    Scan,
    as_initial,
    as_operator,
    check_rows,
    combine_named,
    narrowed,
    widened,
)
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import fill_padding
from ..tiers._tiered import tiered
from ._named_scan import scan_named
from ._operator_scan import scan_by_operator


class ScanArguments(NamedTuple):
    """The checked arguments of a scan, without its segments, and whether rows may be padding."""

    rows: Any
    scan: Scan
    initial: Any
    num_valid: Array
    is_padded: bool = True

    @property
    def num_rows(self) -> int:
        """The number of rows, padding included."""
        return jax.tree.leaves(self.rows)[0].shape[0]


class SegmentEncoding(NamedTuple):
    """The encoding of segments: head flags, or runs of equal ids."""

    head_flags: Array | None
    segment_ids: Array | None

    def heads_inside(self, reverse: bool) -> Array | None:
        """Flags the rows where the scan restarts, except its first row; None without segments."""
        if self.segment_ids is not None:
            return self.segment_ids != jnp.roll(self.segment_ids, -1 if reverse else 1)
        if self.head_flags is not None and reverse:
            # A reversed scan restarts at a segment's last row, just before the next head.
            return jnp.roll(self.head_flags, -1)
        return self.head_flags


def as_scan(x: Any, scan: Scan, initial: Any, num_valid: Any, caller: str) -> ScanArguments:
    """Checks the arguments that all scans share."""
    op = as_operator(scan.op, caller)
    num_rows = num_rows_of(x, caller, "x")
    rows = as_rows(x, num_rows, caller, "x")
    check_rows(op, rows, caller)
    scan = Scan(
        op,
        as_flag(scan.reverse, caller, "reverse"),
        as_flag(scan.exclusive, caller, "exclusive"),
    )
    initial = as_initial(initial, rows, scan, caller)
    is_padded = as_valid_rows(num_valid, num_rows, caller) is not None
    valid = as_num_valid(num_valid, num_rows, caller)
    return ScanArguments(rows, scan, initial, valid, is_padded)


def as_segments(head_flags: Any, segment_ids: Any, num_rows: int, caller: str) -> SegmentEncoding:
    """Checks that exactly one of the two encodings is given."""
    if (head_flags is None) == (segment_ids is None):
        given = "neither" if head_flags is None else "both"
        raise ValueError(
            f"{caller}: segments are given by head_flags or by segment_ids, got {given}."
        )
    name = "head_flags" if segment_ids is None else "segment_ids"
    array = as_array(head_flags if segment_ids is None else segment_ids, caller, name)
    if segment_ids is None and array.dtype != jnp.bool_:
        raise TypeError(
            f"{caller}: head_flags must be bool, got {type_of(array)}. "
            "Pass segment_ids if they are ids."
        )
    if segment_ids is not None and not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{caller}: segment_ids must be integers, got {type_of(array)}.")
    if array.shape != (num_rows,):
        raise ValueError(
            f"{caller}: {name} must have one entry for each of the {num_rows} rows, "
            f"got {type_of(array)}."
        )
    if segment_ids is None:
        return SegmentEncoding(array, None)
    return SegmentEncoding(None, array)


def scan_segments(arguments: ScanArguments, segments: SegmentEncoding | None) -> Any:
    """Scans one shard's rows, each segment for itself."""
    rows, scan, initial, num_valid, is_padded = arguments
    if scan.is_named:
        return _scan_named(rows, segments, num_valid, initial, scan)
    heads = None if segments is None else segments.heads_inside(scan.reverse)
    return scan_by_operator(rows, heads, num_valid, initial, scan, is_padded)


@functools.partial(tiered, static_argnums=4)
def _scan_named(
    rows: Any, segments: SegmentEncoding | None, num_valid: Array, initial: Any, scan: Scan
) -> Any:
    heads = None if segments is None else segments.heads_inside(scan.reverse)
    results = scan_named(widened(rows, scan.op), heads, num_valid, scan)
    if initial is not None:
        results = put_initial_first(widened(initial, scan.op), results, num_valid, scan)
    return narrowed(results, rows)


def put_initial_first(initial: Any, results: Any, num_valid: Array, scan: Scan) -> Any:
    """Combines the initial value of each segment with the exclusive results of a named scan."""

    def of_leaf(first: Array, leaf: Array) -> Array:
        combined = combine_named(scan.op, jnp.broadcast_to(first[None], leaf.shape), leaf)
        return fill_padding(combined, num_valid)

    return jax.tree.map(of_leaf, initial, results)

# SPDX-License-Identifier: Apache-2.0
"""The scan of checked arguments that every form of a scan over a mesh is made of."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._scan_operators import Scan, combine_named, identity_of, narrowed, widened
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import fill_padding, shift_rows
from ..local.parts import (
    ScanArguments,
    SegmentEncoding,
    put_initial_first,
    scan_by_operator,
    scan_named,
    scan_segments,
    where_rows,
)
from ._axis import AxisName, as_shards
from ._shard_carries import carry_into_shard, summary_of, with_carry


def scan_shards(arguments: ScanArguments, encoding: SegmentEncoding, axis_name: AxisName) -> Any:
    """Scans over all shards; unsegmented if `encoding` is empty."""
    scan = arguments.scan
    rows, initial, num_valid = as_shards(
        (arguments.rows, arguments.initial, arguments.num_valid), axis_name
    )
    encoding = as_shards(encoding, axis_name)
    if arguments.num_rows == 0:
        return scan_segments(ScanArguments(rows, scan, initial, num_valid), encoding)
    heads = encoding.heads_inside(scan.reverse)

    # Upsweep: each shard scans its own rows, as if the scan began there.
    wide = widened(rows, scan.op)
    inclusive = scan._replace(exclusive=False)
    if scan.is_named:
        results = scan_named(wide, heads, num_valid, inclusive)
    else:
        results = scan_by_operator(wide, heads, num_valid, None, inclusive, arguments.is_padded)
    is_head, is_before_head = _around_first_head(heads, arguments.num_rows, num_valid, scan.reverse)
    summary = summary_of(results, encoding, is_head, num_valid, scan.reverse)
    goes_on, carry = carry_into_shard(summary, scan, axis_name)

    # Downsweep: apply the carry to the rows before the first head.
    finish = _finish_named if scan.is_named else _finish_by_operator
    results = finish(
        results, heads, initial, goes_on, carry, is_before_head,
        num_valid=num_valid, scan=scan,
    )  # fmt: skip
    results = jax.tree.map(lambda leaf: fill_padding(leaf, num_valid), results)
    return narrowed(results, rows) if scan.is_named else results


def _around_first_head(
    heads: Array | None, num_rows: int, num_valid: Array, reverse: bool
) -> tuple[Array, Array]:
    """Flags the heads after the first row of the scan, and the rows before the first of them."""
    row_ids = jax.lax.iota(jnp.int32, num_rows)
    if heads is None:
        return jnp.zeros(num_rows, jnp.bool_), jnp.ones(num_rows, jnp.bool_)
    first = num_valid - 1 if reverse else 0
    is_head = heads & (row_ids < num_valid) & (row_ids != first)
    if reverse:
        return is_head, row_ids > jnp.max(jnp.where(is_head, row_ids, -1))
    return is_head, row_ids < jnp.min(jnp.where(is_head, row_ids, num_rows))


def _finish_named(
    results: Any,
    heads: Array | None,
    initial: Any,
    goes_on: Array,
    carry: Any,
    is_before_head: Array,
    *,
    num_valid: Array,
    scan: Scan,
) -> Any:
    identity = jax.tree.map(
        lambda leaf: jnp.full_like(leaf, identity_of(scan.op, leaf.dtype)), results
    )
    if scan.exclusive:
        results = jax.tree.map(
            lambda leaf: shift_rows(
                leaf, heads, num_valid, scan.reverse, identity_of(scan.op, leaf.dtype)
            ),
            results,
        )
    combine = functools.partial(jax.tree.map, functools.partial(combine_named, scan.op))
    results = with_carry(goes_on, carry, results, is_before_head, combine, identity)
    if initial is not None:
        results = put_initial_first(widened(initial, scan.op), results, num_valid, scan)
    return results


def _finish_by_operator(
    results: Any,
    heads: Array | None,
    initial: Any,
    goes_on: Array,
    carry: Any,
    is_before_head: Array,
    *,
    num_valid: Array,
    scan: Scan,
) -> Any:
    combine = jax.vmap(scan.op)
    # The identity of a function is unknown: rows without a carry are combined with themselves.
    results = with_carry(goes_on, carry, results, is_before_head, combine, results)
    if not scan.exclusive:
        return results
    num_rows = is_before_head.shape[0]
    first_row = num_valid - 1 if scan.reverse else 0
    is_first = jax.lax.iota(jnp.int32, num_rows) == first_row
    is_start = jnp.where(is_first, ~goes_on, False if heads is None else heads)
    first, carried = (
        jax.tree.map(lambda row, leaf: jnp.broadcast_to(row[None], leaf.shape), row, results)
        for row in (initial, carry)
    )
    before = jax.tree.map(lambda leaf: jnp.roll(leaf, -1 if scan.reverse else 1, axis=0), results)
    before = where_rows(is_first & goes_on, carried, before)
    return where_rows(is_start, first, combine(first, before))

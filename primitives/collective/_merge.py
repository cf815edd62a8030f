# SPDX-License-Identifier: Apache-2.0
"""Merge of two sorted sequences over the shards of a mesh axis."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..contract._arguments import as_directions, as_keys, as_num_valid, as_pair, as_rows
from ..contract._take import take_words
from ..contract._typing import Keys, NumValid, PyTree
from ..kernels.sort._merge import merge_words
from ..local.parts import check_merged_rows, check_same_columns, check_same_rows, concatenate_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._sorted_runs import Dealing, SortOrder, deal_out_sorted


def merge(
    a_keys: Keys,
    b_keys: Keys,
    *,
    axis_name: AxisName,
    values: tuple[PyTree, PyTree] | None = None,
    descending: bool | Sequence[bool] = False,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Merges two sequences that are sorted over the shards, and distributes the result evenly.

    Args:
        a_keys: this shard's keys of a sequence in the order of `radix_sort`: one array of shape
            `(a_rows,)`, or a tuple of them, most significant first.
        b_keys: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        values: the values of `a` and of `b`: two pytrees of the same structure; leaves may
            differ in their number of rows only.
        descending: the direction of both sequences, or one direction for each key.
        num_valid: numbers of valid rows of `a` and of `b` on this shard, at their fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        This shard's keys, `a_rows + b_rows` of them, an array or a tuple, like the argument; with
        values `(keys, values)`. Shares are as in `radix_sort`; padding is zero.

    Raises:
        TypeError: dtypes of `a` and `b` differ, or cannot be sorted by.
        ValueError: numbers of columns, structures of values or lengths differ, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        A local merge and a local sort. Communication: that of `radix_sort`, with one bit more for
        each key.

    Guarantees:
        Stable: equal keys of `a` come before those of `b`. Deterministic; exactly balanced;
        differentiable in `values` and in float keys.

    Example:
        Two shards:

            shard 0   a [1 4]   b [2 4]
            shard 1   a [4 9]   b [5 6]
            ->
            shard 0   [1 2 4 4]
            shard 1   [4 5 6 9]
    """
    caller = "merge"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    a_columns, is_tuple = as_keys(a_keys, caller, "a_keys")
    b_columns, _ = as_keys(b_keys, caller, "b_keys")
    check_same_columns(a_columns, b_columns, caller, "a_keys", "b_keys")
    directions = as_directions(descending, len(a_columns), caller)
    num_a, num_b = a_columns[0].shape[0], b_columns[0].shape[0]
    check_merged_rows(a_columns[0], b_columns[0], caller)
    a_values, b_values = as_pair(values, caller, "values")
    a_values, b_values = (
        as_rows(a_values, num_a, caller),
        as_rows(b_values, num_b, caller),
    )
    valid_a, valid_b = as_pair(num_valid, caller, "num_valid")
    counts = as_num_valid(valid_a, num_a, caller), as_num_valid(valid_b, num_b, caller)
    columns, merged_values, _ = merge_shards(
        (a_columns, a_values),
        (b_columns, b_values),
        directions,
        counts,
        Dealing(axis_name, "even", transport),
    )
    merged_keys = columns if is_tuple else columns[0]
    return merged_keys if values is None else (merged_keys, merged_values)


def merge_shards(
    a: Any,
    b: Any,
    descending: tuple[bool, ...],
    counts: Any,
    dealing: Dealing,
) -> tuple[Any, Any, Any]:
    """Merges checked `(columns, values)`; returns this shard's share and its number of rows."""
    axis_name = dealing.axis_name
    a, b, (valid_a, valid_b) = as_shards((a, b, counts), axis_name)
    num_a, num_b = a[0][0].shape[0], b[0][0].shape[0]
    check_same_rows(a, b, "merge")
    columns, values = concatenate_rows(a, b)
    # Rows of `a` on a later shard precede equal rows of `b` on an earlier one: the last key is the
    # sequence of a row.
    is_b = jnp.concatenate([jnp.zeros((num_a,), bool), jnp.ones((num_b,), bool)])
    columns = (*columns, as_shards(is_b, axis_name))
    order = SortOrder((*descending, False), (None,) * len(columns))
    a_order = SortOrder(descending, (None,) * len(descending))
    sources = merge_words(a_order.words(a[0]), a_order.words(b[0]), valid_a, valid_b)
    (columns, values), count = deal_out_sorted(
        (columns, values),
        sources,
        take_words(order.words(columns), sources),
        order,
        valid_a + valid_b,
        dealing,
    )
    return columns[:-1], values, count

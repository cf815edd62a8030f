# SPDX-License-Identifier: Apache-2.0
"""Binary search in keys that are sorted over the shards."""

from collections.abc import Sequence
from typing import Literal

from ..contract._arguments import as_num_valid
from ..contract._key_bits import ordered_words
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..local.parts import as_search, check_rows_of_sides
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._meeting import meet


def searchsorted(
    sorted_keys: Keys,
    queries: Keys,
    *,
    axis_name: AxisName,
    side: Literal["left", "right"] = "left",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " queries"]:
    """Finds the insertion position of each query among the sorted keys of all shards.

    Args:
        sorted_keys: this shard's keys of a sequence that is sorted over the shards in the order of
            `radix_sort`: one array of shape `(rows,)`, or a tuple of them, most significant first.
        queries: the same number of columns, of the same dtypes, each of shape `(queries,)`: this
            shard's queries, in any order.
        axis_name: mesh axis of the rows, or a tuple of axes.
        side: before the keys that equal the query (`"left"`) or after them (`"right"`).
        descending: the direction of the sorted keys, or one direction for each key.
        num_valid: number of valid keys of this shard, at its front; all keys by default.
        transport: transport of the rows; see `partition`.

    Returns:
        For each query the number of valid keys before it, on all shards. int32, or int64 if the
        mesh holds more than 2^31 keys and queries.

    Raises:
        TypeError: dtypes of keys and queries differ, or cannot be sorted by.
        ValueError: numbers of columns differ, `side` is unknown, positions need 64 bits
            without x64 mode, `transport` is unknown, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        Work O((rows + queries) x key bytes), two sorts. Communication: that of `unique` with an
        inverse, for keys and queries together: each shard sends each of its distinct keys once,
        however many rows have it.

    Guarantees:
        Deterministic. NaN comes after every number, and all NaNs are equal. Equal queries do not
        overload a shard.

    Example:
        Two shards:

            shard 0   sorted keys [10 20]   queries [25 20]
            shard 1   sorted keys [20 30]   queries [20 99]
            ->
            shard 0   [3 1]
            shard 1   [1 4]
    """
    caller = "searchsorted"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    columns, query_columns, directions = as_search(sorted_keys, queries, side, descending)
    num_rows, num_queries = columns[0].shape[0], query_columns[0].shape[0]
    check_rows_of_sides(columns, query_columns, caller, ("sorted_keys", "queries"))
    valid = as_num_valid(num_valid, num_rows, caller)
    valid_queries = as_num_valid(None, num_queries, caller)
    # The words of a descending key ascend.
    words, query_words, valid, valid_queries = as_shards(
        (
            tuple(column.ordered() for column in ordered_words(columns, directions)),
            tuple(column.ordered() for column in ordered_words(query_columns, directions)),
            valid,
            valid_queries,
        ),
        axis_name,
    )
    met = meet(query_words, words, valid_queries, valid, axis_name, transport, caller)
    positions = met.counts.right_before
    if side == "right":
        positions = positions + met.counts.num_right
    return met.of_left_rows(positions, num_queries, axis_name, transport)

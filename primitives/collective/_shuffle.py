# SPDX-License-Identifier: Apache-2.0
"""Random orders of the rows of a mesh axis."""

from typing import Any

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
)
from ..contract._random_rows import as_key_words, random_words
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree, Shaped
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._radix_sort import global_row_ids
from ._sort_shards import sort_shards
from ._sorted_runs import Dealing, SortOrder

# Two words of random bits, most significant first.
ORDER = SortOrder((False, False), (None, None))


def random_permutation(
    key: Shaped[ArrayLike, "..."],
    num_rows: int,
    *,
    axis_name: AxisName,
    transport: Transport = "auto",
) -> Int[Array, " rows"]:
    """Draws a permutation of the row ids of all shards; all are equally likely.

    Args:
        key: a key of `jax.random`, the same on every shard.
        num_rows: the number of rows of each shard. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        transport: transport of the row ids; see `partition`.

    Returns:
        This shard's share of the permutation, `num_rows` global ids `shard * num_rows + row`:
        int32, or int64 if the mesh holds more than 2^31 rows.

    Raises:
        TypeError: `key` is not a key of `jax.random`, or `num_rows` is traced.
        ValueError: `key` is an array of keys, `num_rows` is negative, or `axis_name` is not an
            axis of the enclosing `shard_map`.

    Cost:
        That of `radix_argsort` of two words.

    Guarantees:
        Deterministic; the shares of all shards, one after the other, are the same on every mesh.

    Example:
        Two shards, num_rows=2: a permutation of four rows, such as

            shard 0   [2 0]
            shard 1   [3 1]
    """
    caller = "random_permutation"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    words = as_key_words(key, caller)
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, MAX_SHARD_ROWS)
    row_ids = global_row_ids(num_rows, axis_name, caller)
    valid = as_shards(as_num_valid(None, num_rows, caller), axis_name)
    return shuffle_shards(words, row_ids, valid, Dealing(axis_name, "even", transport), caller)


def shuffle(
    key: Shaped[ArrayLike, "..."],
    rows: PyTree,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Puts the rows of all shards in random order; all orders are equally likely.

    Args:
        key: a key of `jax.random`, the same on every shard.
        rows: this shard's rows, any pytree of arrays with the same leading axis.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        This shard's rows, distributed as in `radix_sort`, padded with zeros.

    Raises:
        TypeError: `key` is not a key of `jax.random`.
        ValueError: leading axes differ, `key` is an array of keys, or `axis_name` is not an axis
            of the enclosing `shard_map`.

    Cost:
        That of `radix_sort` by two words. Each row travels once.

    Guarantees:
        Deterministic; exactly balanced; differentiable in `rows`. The order depends on the key and
        the global row ids alone, so full shards give the same order on every mesh.

    Example:
        Two shards, in one of 24 orders:

            shard 0   rows [1 2]
            shard 1   rows [3 4]
            ->
            shard 0   rows [3 1]
            shard 1   rows [4 2]
    """
    caller = "shuffle"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    words = as_key_words(key, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    rows, valid = as_shards((rows, as_num_valid(num_valid, num_rows, caller)), axis_name)
    dealing = Dealing(axis_name, "even", transport)
    return shuffle_shards(words, rows, valid, dealing, caller)


def shuffle_shards(words: Array, rows: Any, num_valid: Array, dealing: Dealing, caller: str) -> Any:
    """Shuffles checked rows in the layout of a dealing."""
    row_ids = global_row_ids(num_rows_of(rows, caller), dealing.axis_name, caller)
    bits = random_words(words, row_ids)
    return sort_shards(bits, rows, ORDER, num_valid, dealing)[1]

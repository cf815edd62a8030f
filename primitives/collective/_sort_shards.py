# SPDX-License-Identifier: Apache-2.0
"""The sort of checked arguments behind all forms of `radix_sort` over a mesh."""

import functools
from typing import Any

import jax

from ..contract._moved import with_tangent_of
from ..contract._take import take_words
from ..contract._typing import Array
from ..kernels.sort._radix_sort import sort_words_with_row_ids
from ..local import radix_sort
from ..local.parts import argsort_columns
from ._exchange import exchange
from ._packing import pack_rows, unpack_rows
from ._sorted_runs import Dealing, SortOrder, deal_out_sorted, plan_shares


def sort_shards(
    columns: tuple[Array, ...], values: Any, order: SortOrder, num_valid: Array, dealing: Dealing
) -> tuple[tuple[Array, ...], Any, Array]:
    """Sorts columns and values; returns this shard's share and its number of rows."""
    if values is None and len(columns) == 1:
        key, count = _sort_single_key(columns[0], order, num_valid, dealing)
        return (key,), None, count
    return _sort_by_rows(columns, values, order, num_valid, dealing)


def _sort_by_rows(
    columns: tuple[Array, ...], values: Any, order: SortOrder, num_valid: Array, dealing: Dealing
) -> tuple[tuple[Array, ...], Any, Array]:
    words = order.words(columns)
    if len(words) == 1:
        sorted_word, row_ids = sort_words_with_row_ids(words[0], num_valid)
        sorted_words = (words[0]._replace(word=sorted_word),)
    else:
        row_ids = argsort_columns(words, num_valid)
        sorted_words = take_words(words, row_ids)
    (columns, values), count = deal_out_sorted(
        (columns, values), row_ids, sorted_words, order, num_valid, dealing
    )
    return columns, values, count


def _sort_single_key(
    key: Array, order: SortOrder, num_valid: Array, dealing: Dealing
) -> tuple[Array, Array]:
    """Sorts a single key without values, which needs no row ids."""
    plain_key = jax.lax.stop_gradient(key)
    sort_keys = functools.partial(radix_sort, descending=order.descending, bits=order.bits)
    (sorted_key,) = sort_keys((plain_key,), num_valid=num_valid)
    capacity = key.shape[0]
    runs = plan_shares(order.words((sorted_key,)), num_valid, capacity, dealing)
    received = exchange(pack_rows(sorted_key), runs, capacity, dealing.axis_name, dealing.transport)
    (final_key,) = sort_keys((unpack_rows(received, key),), num_valid=runs.count)

    def sort_by_rows(key: Array, num_valid: Array) -> Array:
        (sorted_key,), _, _ = _sort_by_rows((key,), None, order, num_valid, dealing)
        return sorted_key

    return with_tangent_of(sort_by_rows, final_key, key, num_valid), runs.count

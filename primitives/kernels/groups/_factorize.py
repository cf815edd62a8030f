# SPDX-License-Identifier: Apache-2.0
"""Group ids of equal words: the portable definition, and the C++ kernel on CPU."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._scan_operators import Scan
from ...contract._typing import Array
from ..base._cuda import on_cuda
from ..base._foreign import call, word_attribute
from ..base._library import is_native, load
from ..move._compact import flagged_rows, select_words
from ..move._run_ends import first_of_equals
from ..scan._reduce_by_key_cuda import reduce_by_key_on_cuda
from ..scan._running import running_count
from ..scan._segmented_scan import scan_rows
from ..sort._number_runs import number_runs
from ..sort._put_back import put_back, take_permuted
from ..sort._radix_sort import compared_words, sort_columns


class WordGroups(NamedTuple):
    """Groups of equal words.

    Attributes:
        group_ids: the group of each row, -1 for padding.
        first_row_ids: the first row of each of the first `capacity` groups, 0 in padding.
        count: the number of groups.
    """

    group_ids: Array
    first_row_ids: Array
    count: Array


def factorize_words(
    column: OrderedWord, num_valid: Array, capacity: int, *, in_key_order: bool
) -> WordGroups:
    """Assigns group ids to words, in the order of the words or of their first rows."""

    def xla(word: Array, num_valid: Array) -> WordGroups:
        own = column._replace(word=word)
        return number_groups((own,), num_valid, capacity, in_key_order=in_key_order)

    def native(word: Array, num_valid: Array) -> WordGroups:
        library, _ = load()
        assert library is not None
        num_rows = word.shape[0]
        scratch_bytes = library.jaxframes_factorize_scratch_bytes(num_rows, word.dtype.itemsize)
        group_ids, first_row_ids, count, _ = call(
            "jaxframes_factorize_v1",
            (word[None], num_valid[None]),
            (
                ((num_rows,), jnp.int32),
                ((capacity,), jnp.int32),
                ((), jnp.int32),
                ((scratch_bytes,), jnp.uint8),
            ),
            flip=word_attribute(column.flip),
            in_key_order=np.bool_(in_key_order),
        )
        return WordGroups(group_ids, first_row_ids, count)

    if column.word.shape[0] == 0 or not is_native():
        return xla(column.word, num_valid)
    return by_platform(column.word, num_valid, cpu=native, default=xla)


def number_groups(
    columns: tuple[OrderedWord, ...], num_valid: Array, capacity: int, *, in_key_order: bool
) -> WordGroups:
    """Assigns group ids to words of columns, by a stable sort."""
    wanted = compared_words(columns)
    words, row_ids, _ = sort_columns(columns, num_valid, words=wanted, with_ids=True)
    by_scans, by_kernel = (
        functools.partial(number, capacity=capacity, in_key_order=in_key_order)
        for number in (_number_by_scans, _number_by_kernel)
    )
    kernel = on_cuda(by_kernel) if row_ids.shape[0] else {}
    return by_platform(words, row_ids, num_valid, default=by_scans, **kernel)


def _number_by_scans(
    words: tuple[Array, ...],
    row_ids: Array,
    num_valid: Array,
    *,
    capacity: int,
    in_key_order: bool,
) -> WordGroups:
    """Numbers the groups of sorted words."""
    is_valid = jax.lax.iota(jnp.int32, row_ids.shape[0]) < num_valid
    # A stable sort puts the first row of a group before the others.
    heads = first_of_equals(words) & is_valid
    if in_key_order:
        numbers = running_count(heads) - 1
        (first_row_ids,), count = select_words(heads, (row_ids,), capacity, num_valid)
    else:
        (is_first,) = put_back(row_ids, (heads,))
        (seen,) = take_permuted(row_ids, (running_count(is_first) - 1,))
        numbers = _of_heads(seen, heads)
        first_row_ids, count = flagged_rows(is_first, capacity, num_valid)
    (group_ids,) = put_back(row_ids, (jnp.where(is_valid, numbers, -1),))
    return WordGroups(group_ids, first_row_ids, count)


def _number_by_kernel(
    words: tuple[Array, ...],
    row_ids: Array,
    num_valid: Array,
    *,
    capacity: int,
    in_key_order: bool,
) -> WordGroups:
    """`_number_by_scans` on CUDA: one pass over the sorted rows."""
    num_rows = row_ids.shape[0]
    is_one = len(words) == 1
    found = reduce_by_key_on_cuda(
        (row_ids,),
        None if is_one else first_of_equals(words),
        num_valid,
        capacity if in_key_order else num_rows,
        compared=words[0] if is_one else None,
        with_run_ids=True,
        row_ids=row_ids,
    )
    (first_row_ids,), group_ids, count = found.first_rows, found.run_ids, found.count
    assert group_ids is not None
    if in_key_order:
        return WordGroups(group_ids, first_row_ids, count)
    is_group = jax.lax.iota(jnp.int32, num_rows) < count
    is_first = like_varying(jnp.zeros((num_rows,), jnp.bool_), count)
    is_first = is_first.at[jnp.where(is_group, first_row_ids, num_rows)].set(True, mode="drop")
    first_row = _take(first_row_ids, jnp.maximum(group_ids, 0))
    seen = _take(number_runs(is_first, num_valid), first_row)
    first_row_ids, count = flagged_rows(is_first, capacity, num_valid)
    return WordGroups(jnp.where(group_ids < 0, group_ids, seen), first_row_ids, count)


def _of_heads(values: Array, heads: Array) -> Array:
    """The non-negative value at the last head up to each row."""

    def by_scan(values: Array, heads: Array) -> Array:
        num_rows = jnp.asarray(values.shape[0], jnp.int32)
        return scan_rows(jnp.where(heads, values, 0), heads, num_rows, Scan("max", False, False))

    def by_gather(values: Array, heads: Array) -> Array:
        positions = jax.lax.iota(jnp.int32, heads.shape[0])
        return _take(values, jax.lax.cummax(jnp.where(heads, positions, 0)))

    if values.shape[0] == 0:
        return values
    ways = {"tpu": by_scan, **({"cpu": by_scan} if is_native() else {})}
    return by_platform(values, heads, default=by_gather, **ways)


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")

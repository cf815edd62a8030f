# SPDX-License-Identifier: Apache-2.0
"""Matches by direct addressing: the portable definition, and the C++ kernel on CPU.

The right keys are distinct integers in a dense range. A table has a slot for each integer of it.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native
from ._join import Pairs

# Rows in which repeated keys are sought first; see `_num_sampled`.
SAMPLE_ROWS = 1 << 14
_CHUNK_ROWS = 1 << 16  # match_chunks in direct_match.h


class KeyTable(NamedTuple):
    """The right row of each key.

    Attributes:
        rows: row ids by distance from the smallest key, -1 if empty.
        least: the smallest key.
        num_distinct: the number of distinct keys. If a key is repeated among the first rows, the
            table and this number describe those rows only. The rows of repeated keys are arbitrary.
    """

    rows: Array
    least: Array
    num_distinct: Array


class DirectMatches(NamedTuple):
    """The right row of each left row, if each has at most one.

    Attributes:
        right_rows: the matching right row of each left row; -1 for none and in padding.
        num_left: the number of valid left rows.
        num_matches: the number of left rows with a match.
        num_unmatched_left: the number of left rows without a match.
        num_unmatched_right: the number of right rows without a match.
        before: the number of matches before each chunk of left rows; None without a kernel.
    """

    right_rows: Array
    num_left: Array
    num_matches: Array
    num_unmatched_left: Array
    num_unmatched_right: Array
    before: Array | None


def key_table(keys: Array, least: Array, num_valid: Array, num_slots: int) -> KeyTable:
    """Builds a table of integer keys, `num_slots` from the smallest key on, at least one."""

    def xla(keys: Array, least: Array, num_valid: Array) -> tuple[Array, Array]:
        return _key_table_xla(keys, least, num_valid, num_slots)

    def native(keys: Array, least: Array, num_valid: Array) -> tuple[Array, Array]:
        table, num_distinct = call(
            "jaxframes_key_table_v1",
            (_as_words(keys)[None], num_valid[None], _as_words(least)[None]),
            (((num_slots,), jnp.int32), ((), jnp.int32)),
            num_sampled=np.int64(_num_sampled(keys.shape[0])),
        )
        return table, num_distinct

    rows, num_distinct = _on_cpu(native, xla, keys, least, num_valid)
    return KeyTable(rows, least, num_distinct)


def look_up(
    table: KeyTable, keys: Array, num_left: Array, num_right: Array, right_length: int
) -> DirectMatches:
    """Looks up the left keys in a table of `num_right` distinct right keys.

    `right_length` is the number of right rows with padding, which bounds `num_right`.
    """
    num_chunks = max(-(-keys.shape[0] // _CHUNK_ROWS), 1)

    def xla(table: KeyTable, keys: Array, num_left: Array, num_right: Array) -> Any:
        right_rows, num_matches = _look_up_xla(table, keys, num_left)
        num_unmatched = _num_not_in(right_rows, num_right, right_length)
        before = like_varying(jnp.zeros((num_chunks,), jnp.int32), num_matches)
        return right_rows, before, num_matches, num_unmatched

    def native(table: KeyTable, keys: Array, num_left: Array, num_right: Array) -> Any:
        numbers = num_left, _as_words(table.least), table.rows, num_right
        right_rows, before, counts, _ = call(
            "jaxframes_look_up_v1",
            tuple(array[None] for array in (_as_words(keys), *numbers)),
            (
                (keys.shape, jnp.int32),
                ((num_chunks,), jnp.int32),
                ((2,), jnp.int32),
                ((right_length,), jnp.uint8),
            ),
        )
        return right_rows, before, counts[0], counts[1]

    found = _on_cpu(native, xla, table, keys, num_left, num_right)
    right_rows, before, num_matches, num_unmatched = found
    return DirectMatches(
        right_rows,
        num_left,
        num_matches,
        num_left - num_matches,
        num_unmatched,
        before if is_native() else None,
    )


def matched_pairs(matches: DirectMatches, capacity: int) -> Pairs:
    """The pairs of an inner join, by left row, up to the capacity."""

    def xla(matches: DirectMatches) -> tuple[Array, Array]:
        has_match = matches.right_rows >= 0
        positions = jnp.cumsum(has_match, dtype=jnp.int32) - 1
        # Rows without a match and rows that do not fit are written past the end.
        positions = jnp.where(has_match, positions, capacity)
        nothing = like_varying(jnp.full((capacity,), -1, jnp.int32), positions)
        left_rows = jax.lax.iota(jnp.int32, positions.shape[0])
        return (
            nothing.at[positions].set(left_rows, mode="drop"),
            nothing.at[positions].set(matches.right_rows, mode="drop"),
        )

    def native(matches: DirectMatches) -> tuple[Array, Array]:
        assert matches.before is not None
        arrays = matches.right_rows, matches.before, matches.num_matches
        left_rows, right_rows = call(
            "jaxframes_matched_rows_v1",
            tuple(array[None] for array in arrays),
            (((capacity,), jnp.int32), ((capacity,), jnp.int32)),
        )
        return left_rows, right_rows

    left_rows, right_rows = _on_cpu(native, xla, matches)
    num_unmatched = matches.num_unmatched_left, matches.num_unmatched_right
    return Pairs(left_rows, right_rows, matches.num_matches, *num_unmatched)


def _on_cpu(native: Any, xla: Any, *arguments: Any) -> Any:
    if not is_native():
        return xla(*arguments)
    return by_platform(*arguments, cpu=native, default=xla)


def _as_words(keys: Array) -> Array:
    """Keys of at least 32 bits."""
    return keys.astype(jnp.int32) if keys.dtype.itemsize < 4 else keys


def _num_sampled(num_rows: int) -> int:
    """The number of first rows among which repeated keys are sought.

    Repeated keys usually show early: hundreds in a small sample of a million random rows.
    """
    return num_rows if num_rows <= 4 * SAMPLE_ROWS else SAMPLE_ROWS


def _key_table_xla(
    keys: Array, least: Array, num_valid: Array, num_slots: int
) -> tuple[Array, Array]:
    def of_first(num_rows: int) -> tuple[Array, Array]:
        row_ids = jax.lax.iota(jnp.int32, num_rows)
        slots = _slots(keys[:num_rows], least, num_slots)
        slots = jnp.where(row_ids < num_valid, slots, num_slots)
        empty = like_varying(jnp.full((num_slots,), -1, jnp.int32), slots)
        table = empty.at[slots].set(row_ids, mode="drop")
        return table, jnp.sum(table >= 0, dtype=jnp.int32)

    num_rows, num_sampled = keys.shape[0], _num_sampled(keys.shape[0])
    table, num_distinct = of_first(num_sampled)
    if num_sampled == num_rows:
        return table, num_distinct
    is_distinct = num_distinct == jnp.minimum(num_valid, num_sampled)
    return jax.lax.cond(is_distinct, lambda: of_first(num_rows), lambda: (table, num_distinct))


def _look_up_xla(table: KeyTable, keys: Array, num_left: Array) -> tuple[Array, Array]:
    num_slots = table.rows.shape[0]
    is_left = jax.lax.iota(jnp.int32, keys.shape[0]) < num_left
    slots = _slots(keys, table.least, num_slots)
    is_near = is_left & (slots < num_slots)
    rows = table.rows.at[jnp.where(is_near, slots, 0)].get(mode="promise_in_bounds")
    rows = jnp.where(is_near, rows, -1)
    return rows, jnp.sum(rows >= 0, dtype=jnp.int32)


def _slots(keys: Array, least: Array, num_slots: int) -> Array:
    """Distances of keys from the smallest one, at most `num_slots`."""
    keys, least = _as_words(keys), _as_words(least)
    # The difference of unsigned numbers wraps around for keys below the smallest one.
    unsigned = jnp.dtype(f"uint{8 * keys.dtype.itemsize}")
    distances = jax.lax.bitcast_convert_type(keys - least, unsigned)
    return jnp.minimum(distances, unsigned.type(num_slots)).astype(jnp.int32)


def _num_not_in(row_ids: Array, num_valid: Array, num_rows: int) -> Array:
    """Counts the valid ones of `num_rows` rows that no row id names; -1 names none."""

    def named_by(named: Array, ids: Array) -> Array:
        return named.at[jnp.where(ids < 0, num_rows, ids)].set(True, mode="drop")

    def missing(named: Array) -> Array:
        return num_valid - jnp.sum(named, dtype=jnp.int32)

    named = like_varying(jnp.zeros((num_rows,), jnp.bool_), row_ids)
    num_ids = row_ids.shape[0]
    block = max(SAMPLE_ROWS, num_rows)
    if num_ids < 4 * block:
        return missing(named_by(named, row_ids))

    # Many ids for each row: mostly all rows are named long before the last block.
    def is_open(state: tuple[Array, Array, Array]) -> Array:
        start, _, num_missing = state
        return (start < np.uint32(num_ids)) & (num_missing > 0)

    def name_block(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        start, named, _ = state
        # The last block overlaps the one before.
        first = jnp.minimum(start, np.uint32(num_ids - block))
        named = named_by(named, jax.lax.dynamic_slice_in_dim(row_ids, first, block))
        return start + np.uint32(block), named, missing(named)

    # Past the last id it may pass 2^31.
    start = jnp.zeros((), jnp.uint32)
    return jax.lax.while_loop(is_open, name_block, (start, named, missing(named)))[2]

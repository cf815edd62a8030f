# SPDX-License-Identifier: Apache-2.0
"""Runs of equal adjacent keys in the rows of all shards."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_keys, as_num_valid
from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer, Keys
from ..local import RunLengths
from ..local.parts import runs_of_words
from ._axis import AxisName, as_shards, num_shards_on
from ._wide_counts import saturated, sum_wide


def run_length_encode(
    keys: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> RunLengths:
    """Finds the runs of equal adjacent keys in the rows of all shards.

    A run may cross any number of shards, including empty ones. The shard of its first row owns it,
    with all of its rows. No row moves.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most runs of a shard. Static; by default its number of rows, which always
            suffices.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        `RunLengths(unique_keys, run_lengths, num_runs)`: the runs that begin on this shard, at its
        front, padded with zeros; `num_runs` counts this shard's runs. Lengths are int32 and
        saturate at 2^31 - 1.

    Raises:
        TypeError: a dtype that is not a key dtype, or `capacity` is traced.
        ValueError: keys that differ in length or are not one-dimensional, or `axis_name` is not an
            axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x key bytes). Communication: one `all_gather` of two keys and two counts.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards:

            shard 0   keys [5 5 2]
            shard 1   keys [2 2 5]
            ->
            shard 0   unique keys [5 2 0]   run lengths [2 3 0]   num_runs 2
            shard 1   unique keys [5 0 0]   run lengths [1 0 0]   num_runs 1
    """
    caller = "run_length_encode"
    num_shards_on(axis_name, caller)
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    columns, valid = as_shards((columns, valid), axis_name)
    words = ordered_words(columns, (False,) * len(columns))
    runs = runs_of_words(words, None, valid)
    if num_rows:
        continues, rows_behind = _across_shards(words, runs.is_head, valid, axis_name)
        is_first = jax.lax.iota(jnp.int32, num_rows) == 0
        runs = runs._replace(is_head=runs.is_head & ~(continues & is_first))
        unique_columns, num_runs = runs.first_rows(columns, capacity)
        is_last = jax.lax.iota(jnp.int32, capacity) == num_runs - 1
        # The sum of two counts fits an unsigned word.
        lengths = runs.lengths(capacity).astype(jnp.uint32)
        lengths += jnp.where(is_last, rows_behind, 0).astype(jnp.uint32)
        lengths = jnp.minimum(lengths, jnp.uint32(2**31 - 1)).astype(jnp.int32)
    else:
        unique_columns, num_runs = runs.first_rows(columns, capacity)
        lengths = runs.lengths(capacity)
    return RunLengths(unique_columns if is_tuple else unique_columns[0], lengths, num_runs)


def _across_shards(
    words: tuple[OrderedWord, ...], is_head: Array, num_valid: Array, axis_name: AxisName
) -> tuple[Array, Array]:
    """Whether the first row continues a run, and the rows of the last run on later shards."""
    num_rows = is_head.shape[0]
    row_ids = jax.lax.iota(jnp.int32, num_rows)
    ends = jnp.stack([jnp.zeros_like(num_valid), jnp.maximum(num_valid - 1, 0)])
    # The rows of the first run: up to the second head.
    second = jnp.min(jnp.where(is_head & (row_ids > 0), row_ids, num_valid))
    end_words = tuple(take_rows(column.ordered(), ends, is_unique=False) for column in words)
    end_words, counts, first_rows = jax.lax.all_gather((end_words, num_valid, second), axis_name)

    shards = jax.lax.iota(jnp.int32, counts.shape[0])
    me = jax.lax.axis_index(axis_name)
    holds_rows = counts > 0
    # The nearest earlier shard with rows, or -1.
    latest = jax.lax.cummax(jnp.where(holds_rows, shards, -1))
    before = jnp.concatenate([jnp.full_like(latest[:1], -1), latest[:-1]])
    continues = holds_rows & (before >= 0)
    for word in end_words:
        continues &= word[:, 0] == word[jnp.maximum(before, 0), 1]
    # A run continues past a shard that is empty, or that continues the run with all of its rows.
    passes = ~holds_rows | (continues & (first_rows == counts))
    # The first later shard that stops the run is the last shard it can reach.
    stops = jnp.where((shards > me) & ~passes, shards, counts.shape[0])
    reached = (shards > me) & (shards <= jnp.min(stops)) & continues
    rows_behind = saturated(sum_wide(jnp.where(reached, first_rows, 0), axis=0))
    return continues[me], rows_behind

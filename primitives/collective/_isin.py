# SPDX-License-Identifier: Apache-2.0
"""Set membership of the keys of all shards, in a set over all shards."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._key_bits import ordered_words
from ..contract._typing import Array, Bool, Keys, NumValid
from ..local.parts import as_key_sides
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._meeting import meet


def isin(
    keys: Keys,
    test_keys: Keys,
    *,
    axis_name: AxisName,
    invert: bool = False,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> Bool[Array, " rows"]:
    """Tests whether the key of each row of this shard is among the test keys of all shards.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them. -0.0 equals 0.0,
            and unlike in NumPy NaN equals NaN.
        test_keys: this shard's part of the test keys: the same number of columns, of the same
            dtypes.
        axis_name: mesh axis of the rows, or a tuple of axes.
        invert: flags the rows with a key outside the set instead. Static.
        num_valid: numbers of valid rows of `keys` and of `test_keys` on this shard, at their
            fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        A flag for each row of this shard, False in padding.

    Raises:
        TypeError: dtypes of both differ or cannot be keys.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        Work O((rows + test rows) x key bytes), two sorts. Communication: each shard sends each of
        its distinct keys once and receives a flag for it.

    Guarantees:
        Deterministic. Frequent keys do not overload a shard.

    Example:
        Two shards:

            shard 0   keys [5 2]   test keys [7 9]
            shard 1   keys [5 7]   test keys [5 5]
            ->
            shard 0   [True False]
            shard 1   [True True]
    """
    caller = "isin"
    invert = as_flag(invert, caller, "invert")
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    sides, _ = as_key_sides(keys, test_keys, num_valid, caller, ("keys", "test_keys"))
    sides = as_shards(sides, axis_name)
    ascending = (False,) * len(sides.a)
    words, test_words = (
        tuple(column.ordered() for column in ordered_words(columns, ascending))
        for columns in (sides.a, sides.b)
    )
    met = meet(words, test_words, sides.num_a, sides.num_b, axis_name, transport, caller)
    num_rows = words[0].shape[0]
    flags = met.of_left_rows(met.counts.num_right > 0, num_rows, axis_name, transport)
    is_valid = jax.lax.iota(jnp.int32, num_rows) < sides.num_a
    return (~flags if invert else flags) & is_valid

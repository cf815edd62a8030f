# SPDX-License-Identifier: Apache-2.0
"""Set membership of one device's keys."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._typing import Array, Bool, Keys, NumValid
from ..kernels.join._membership import flag_matches
from ..tiers._tiered import tiered
from ._join import word_sides
from ._sides import KeySides, as_key_sides


def isin(
    keys: Keys,
    test_keys: Keys,
    *,
    invert: bool = False,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> Bool[Array, " rows"]:
    """Tests whether each row's key is in a set of keys.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them. -0.0 equals 0.0, and unlike in NumPy
            NaN equals NaN, as in pandas and everywhere in this library.
        test_keys: the set: the same number of columns, of the same dtypes, in any order and of any
            length, duplicates included.
        invert: flags the rows with a key outside the set instead. Static.
        num_valid: numbers of valid rows of `keys` and of `test_keys`, at their fronts.

    Returns:
        A flag for each row, False in padding.

    Raises:
        TypeError: dtypes of both differ or cannot be keys.
        ValueError: numbers of columns or lengths differ.

    Cost:
        Work O(rows + test rows) on CPU if the columns together fit one word of 64 bits: a lookup in
        a bitmap for a narrow range, otherwise in a hash table. In other cases that of a sort of
        both. No communication.

    Guarantees:
        Deterministic.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.isin(jnp.array([5, 2, 5, 7]), jnp.array([7, 5, 1])).tolist()
        [True, False, True, True]
    """
    invert = as_flag(invert, "isin", "invert")
    sides, _ = as_key_sides(keys, test_keys, num_valid, "isin", ("keys", "test_keys"))
    return flag_members(sides) if not invert else _flag_others(sides)


@tiered
def _flag_others(sides: KeySides) -> Array:
    flags = flag_members(sides)
    return ~flags & (jax.lax.iota(jnp.int32, flags.shape[0]) < sides.num_a)


@tiered
def flag_members(sides: KeySides) -> Array:
    """Flags the valid rows of `a` with a key in `b`."""
    return flag_matches(*word_sides(sides))
